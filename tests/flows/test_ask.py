"""Questions in the terminal: the whole command, and death at any moment without losing an acknowledged answer."""

from __future__ import annotations

import os
import re
import signal
from io import FileIO

import numpy as np
import pytest

from linkwise._messages import notice
from linkwise.active import Dialogue, LabelAnswerer, RandomPairs, _answer_log as log_module
from linkwise.cli import main
from linkwise.cli._ask_verb import Interview
from linkwise.io import Table
from tests.profile import examples

N, ANSWERS = 30, 50
X = np.random.default_rng(0).normal(size=(N, 3))
Y = np.arange(N) % 10
TABLE = Table(X, np.array([f"s{i}" for i in range(N)]), ("a", "b", "c"))


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    rows = "\n".join(f"s{i},{a:.3f},{b:.3f},{c:.3f}" for i, (a, b, c) in enumerate(X))
    path.write_text(f"name,a,b,c\n{rows}\n")
    return path


def run(monkeypatch, capsys, keys, *arguments):
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(keys))
    code = main(["ask", *map(str, arguments)])
    return code, capsys.readouterr()


def test_answers_are_kept_taken_back_and_gone_on_with(data, tmp_path, monkeypatch, capsys):
    log = tmp_path / "answers.jsonl"
    code, said = run(monkeypatch, capsys, "y\nwhat\nn\nb\nu\n", data, "--id", "name", "-l", log, "--who", "ann")
    assert code == 0
    assert re.findall(r"saved \d: \w+", said.out) == ["saved 1: yes", "saved 2: no", "saved 2: unsure"]
    assert "took back answer 2" in said.out
    assert "y yes   n no" in said.out
    assert re.search(r"s\d+ +s\d+", said.out), "samples are called by their names"
    code, said = run(monkeypatch, capsys, "q\n", data, "--id", "name", "-l", log)
    assert code == 0
    assert "going on after 2 answers" in said.out
    assert '"who":"ann"' in log.read_text()
    assert '"names":["s' in log.read_text()


def test_no_notice_comes_between_two_questions(data, tmp_path, monkeypatch, capsys):
    asks, asked = Dialogue.ask, []

    def compile_and_ask(self):
        asked.append(self)
        notice(f"compiling for question {len(asked)}")
        return asks(self)

    monkeypatch.setattr(Dialogue, "ask", compile_and_ask)
    code, said = run(
        monkeypatch, capsys, "y\nn\n", data, "--id", "name", "-l", tmp_path / "log", "--strategy", "random"
    )
    assert (code, len(asked) > 2) == (0, True)
    assert "question 1\n" in said.err
    assert "question 2" not in said.err
    assert "compiling" not in said.out


def test_three_samples_the_budget_and_what_is_known(data, tmp_path, monkeypatch, capsys):
    known = tmp_path / "known.csv"
    known.write_text("type,a,b\nmust_link,s0,s10\n")
    options = (data, "--id", "name", "-c", known, "--strategy", "random-triplets", "--budget", 3)
    code, said = run(monkeypatch, capsys, "1\n2\n3\n", *options, "-l", tmp_path / "log")
    assert code == 0
    assert re.findall(r"saved \d: (\w+)", said.out) == ["first", "second", "third"]
    assert "that was the last question of --budget." in said.out
    assert "3 of 3 answers" in said.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--strategy", "explore"], 2, "needs to know the number of clusters"),
        (["--budget", "0"], 2, "budget"),
        (["--seed", "-1"], 2, "seed"),
        (["-c", "nowhere.csv"], 1, "nowhere.csv"),
    ],
)
def test_wrong_options_are_explained(data, tmp_path, monkeypatch, capsys, arguments, code, message):
    got, said = run(monkeypatch, capsys, "q\n", data, "--id", "name", "-l", tmp_path / "log", *arguments)
    assert got == code
    assert message in said.err


@pytest.mark.parametrize("strategy", ["pairs", "random", "explore", "minmax", "uncertainty", "merges"])
def test_every_strategy_can_be_chosen(data, tmp_path, monkeypatch, capsys, strategy):
    options = ("--strategy", strategy, "-k", 3, "--budget", 4, "-l", tmp_path / "log")
    code, said = run(monkeypatch, capsys, "y\nn\ny\nn\n", data, "--id", "name", *options)
    assert code == 0
    assert "saved 3" in said.out


class Deadly:
    """Lets the process die at one of the moments of writing: before, in the middle, after, before and after syncing."""

    def __init__(self, at: int) -> None:
        self.left = at

    def moment(self) -> None:
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1

    def install(self) -> None:
        deadly, sync = self, os.fsync

        class File(FileIO):
            def write(self, line):  # type: ignore[override]
                deadly.moment()
                half = len(line) // 2
                super().write(line[:half])
                deadly.moment()
                super().write(line[half:])
                deadly.moment()
                return len(line)

        log_module.FileIO = File  # type: ignore[misc]
        log_module.os = type("Os", (), {"fsync": lambda _, f: (deadly.moment(), sync(f), deadly.moment())})()


class AcknowledgesFirst(Interview):
    """The planted mistake: says that an answer is saved before it is."""

    def _answer(self, query):
        self.write(f"saved {len(self.talk.answers) + 1}: maybe.")
        return super()._answer(query)


def converse(log, kind, write):
    says = LabelAnswerer(Y)
    talk = Dialogue(X, strategy=RandomPairs(), budget=ANSWERS, log=log)
    kind(talk, TABLE, read=lambda: str(says(talk.ask())), write=write).run()


def acknowledged_before_death(log, kind, at):
    """Run a dialogue in a process that is killed at its ``at``-th moment; return the answers it acknowledged."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            Deadly(at).install()
            converse(log, kind, lambda text: os.write(writing, text.encode() + b"\n"))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        heard = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return len(set(re.findall(r"saved (\d+)", heard))), os.WIFSIGNALED(status)


def lost_answers(folder, kind, step):
    """For every ``step``-th moment: how many acknowledged answers are missing when the log is opened again."""
    lost, at, killed = [], 0, True
    while killed:
        log = folder / f"log{at}"
        heard, killed = acknowledged_before_death(log, kind, at)
        with Dialogue(X, strategy=RandomPairs(), budget=ANSWERS, log=log) as again:
            lost.append(max(heard - len(again.answers), 0))
            assert len(again.answers) <= heard + 1
            if not killed:
                assert heard == len(again.answers)
        at += step
    return lost


def test_no_acknowledged_answer_is_lost_at_whatever_moment_the_process_dies(tmp_path):
    lost = lost_answers(tmp_path, Interview, examples(4, 1))
    assert len(lost) > examples(7, 180)
    assert sum(lost) == 0


def test_the_same_trial_catches_a_program_that_acknowledges_first(tmp_path):
    assert sum(lost_answers(tmp_path, AcknowledgesFirst, examples(4, 1))) > 0


def test_of_many_rows_some_are_asked_about_and_the_log_is_read_by_name(data, tmp_path, monkeypatch, capsys):
    known, log = tmp_path / "known.csv", tmp_path / "log.jsonl"
    known.write_text("kind,a,b\nmust_link,s28,s29\n")
    monkeypatch.setattr("linkwise.cli._ask_verb.MOST_ROWS", 8)
    options = (data, "--id", "name", "--scale", "standard", "-c", known, "-l", log, "--strategy", "random")
    code, said = run(monkeypatch, capsys, "y\nn\n", *options, "--budget", 2)
    assert code == 0
    asked_about = int(re.findall(r"30 rows: questions are about (\d+) of them", said.out)[0])
    assert 8 <= asked_about <= 10
    assert re.findall(r"^[* ] +a +(-?[\d.]+)", said.out, flags=re.MULTILINE)[0] in data.read_text()  # not scaled
    names = re.findall(r'"names":\["(s\d+)","(s\d+)"\]', log.read_text())
    assert main(["convert", str(log), str(tmp_path / "with.csv"), "--data", str(data), "--id", "name"]) == 0
    assert main(["convert", str(log), str(tmp_path / "alone.csv")]) == 0
    for path in (tmp_path / "with.csv", tmp_path / "alone.csv"):
        rows = [line.split(",")[:3] for line in path.read_text().splitlines()[2:]]
        assert [{row[1], row[2]} for row in rows] == [set(pair) for pair in names]
    code, said = run(monkeypatch, capsys, "", *options, "--budget", 3)
    assert "going on after 2 answers" in said.out
