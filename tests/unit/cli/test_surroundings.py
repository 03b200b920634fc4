"""What a command meets outside its arguments: streams, signals, terminals, disks."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from linkwise._threads import cores
from linkwise.cli import main
from linkwise.io import read_labels, read_tree

DATA = "name,x,y\notter,0,0\nmink,0,1\nstoat,1,0\nseal,9,9\nwalrus,9,8\norca,30,1\n"
SAID = "kind,a,b\nmust_link,otter,orca\ncannot_link,otter,mink\n"
CLUSTER = ["cluster", "data.csv", "--id", "name"]
# Root may write anywhere; without these two rights it is refused what anybody would be.
OBEY = (
    "import ctypes, os, sys\n"
    "if os.geteuid() == 0:\n"
    "    for right in (1, 2):\n"
    "        ctypes.CDLL(None).prctl(24, right, 0, 0, 0)\n"
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])\n"
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(DATA)
    (tmp_path / "said.csv").write_text(SAID)
    return tmp_path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A result, made once."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "data.csv").write_text(DATA)
    assert main(["cluster", str(folder / "data.csv"), "--id", "name", "--quiet", "-o", str(folder / "out")]) == 0
    return folder / "out"


def run(code: str, cwd: Path, *, python: tuple[str, ...] = (), obey: bool = False, only: bool = False, **environment):
    """Run Python code in a process of its own."""
    start = [sys.executable, "-c", OBEY] if obey else [sys.executable]
    known = {"PATH": os.environ["PATH"]} if only else os.environ
    return subprocess.run(
        [*start, *python, "-c", code],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env={**known, "PYTHONPATH": os.pathsep.join(sys.path), "LINKWISE_QUIET": "1", **environment},
    )


def command(*arguments: str) -> str:
    return f"import sys\nfrom linkwise.cli import main\nsys.exit(main({list(arguments)!r}))\n"


# -- what comes in -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b"", "standard input is empty", id="empty"),
        pytest.param(None, "standard input is closed", id="closed"),
        pytest.param(b"\x80\x04rest", "never read", id="pickle"),
        pytest.param(b"x,y\n1,\x00\n", "standard input holds a NUL byte at offset 6", id="NUL byte"),
    ],
)
def test_standard_input_that_is_none(here, capsys, monkeypatch, content, words):
    stream = io.TextIOWrapper(io.BytesIO(content or b""))
    if content is None:
        stream.close()
    monkeypatch.setattr("sys.stdin", stream)
    assert main(["cluster", "-", "-o", "out"]) == 1
    assert words in capsys.readouterr().err
    assert not (here / "out").exists()


def test_what_is_too_big_is_refused_before_it_is_begun(here, capsys, monkeypatch):
    def begun(*_, **__):
        raise AssertionError

    monkeypatch.setattr("linkwise._memory.available_memory", lambda: 200)
    monkeypatch.setattr("linkwise._memory.GIB", 16)
    monkeypatch.setattr("linkwise.engines.agglomeration._linkages.FEW", 5)
    with monkeypatch.context() as patched:
        patched.setattr("linkwise.engines.ConstrainedClusterer.fit", begun)
        assert main([*CLUSTER, "-o", "out", "--linkage", "average"]) == 1
        told = capsys.readouterr().err
        assert "average linkage of 6 samples by ConstrainedAgglomerative needs 18.0 GiB, but only 12.5 GiB" in told
        assert "Hint: --linkage ward (or centroid, median) holds no distances, or --method COPKMeans" in told
        assert main([*CLUSTER, "-c", "said.csv", "-k", "2", "-o", "out"]) == 1
        assert "Hint: --method agglomerative --linkage ward (or centroid" in capsys.readouterr().err
        assert not (here / "out").exists()
    assert main([*CLUSTER, "-o", "out"]) == 0


def test_much_memory_is_said_before_it_is_taken(here, capsys, monkeypatch):
    monkeypatch.setattr("linkwise._memory.available_memory", lambda: 2**35)
    monkeypatch.setattr("linkwise._memory.GIB", 16)
    words = "linkwise: average linkage of 6 samples by ConstrainedAgglomerative allocates 18.0 GiB.\n"
    assert main([*CLUSTER, "--linkage", "average", "-o", "out"]) == 0
    assert capsys.readouterr().err == words
    assert main([*CLUSTER, "--linkage", "average", "-o", "out", "--force", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_odd_names_of_files_work(here, capsys):
    for name in ("with space", "quo'te\"", "new\nline", "ünï", "x" * 251):
        (here / f"{name}.csv").write_text("kind,a,b\ncannot_link,u,v\n")
        assert main(["check", f"{name}.csv"]) == 0, capsys.readouterr().err
        assert main(["convert", f"{name}.csv", f"o/{name}.tsv", "--quiet"]) == 0, capsys.readouterr().err
        assert main(["convert", f"o/{name}.tsv", f"o/{name[:247]}.jsonl", "--quiet"]) == 0, capsys.readouterr().err


def test_hard_conditions(here):
    """No home, no temporary folder, no language, junk in the environment, a folder one may not write to."""
    probe = "import sys\ntry:\n    open('probe', 'w')\nexcept OSError:\n    pass\nelse:\n    sys.exit('may write')\n"
    target = here.parent / f"{here.name}-out"
    here.chmod(0o555)
    done = run(
        probe + command(*CLUSTER, "-c", "said.csv", "-o", str(target)),
        here,
        python=("-W", "error", "-O"),
        obey=True,
        only=True,
        TMPDIR=str(here / "nowhere"),
        LANG="C",
        LC_ALL="C",
        LINKWISE_DEBUG="junk",
        COLUMNS="junk",
    )
    here.chmod(0o755)
    assert (done.returncode, done.stderr) == (0, "")
    assert "All 2 hard statements hold" in done.stdout
    assert len(list(target.iterdir())) == 5


def test_without_a_place_for_compiled_code_all_works(here):
    nowhere = str(here / "said.csv" / "cache")  # below a file
    soon = "from linkwise._kernels import _announcement\n_announcement.LONG = 0\n"
    loud = {"LINKWISE_QUIET": "0", "LINKWISE_INTERPRET": "0", "NUMBA_CACHE_DIR": nowhere}
    done = run(soon + command("check", "said.csv", "--json"), here, **loud)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "feasible"
    words = json.loads(done.stderr)["note"]
    assert "each time, since no folder for compiled code can be written; NUMBA_CACHE_DIR can name one" in words


def test_help_loads_nothing_heavy(here):
    code = (
        "import sys\nfrom linkwise.cli import main\n"
        "codes = [main(words) for words in (['--version'], ['--help'], ['cluster', '--help'])]\n"
        "assert codes == [0, 0, 0]\n"
        "assert not {'numba', 'numpy', 'sklearn', 'rich'} & set(sys.modules)\n"
    )
    done = run(code, here, python=("-W", "error", "-O"), only=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_threads_are_limited_for_one_command_only(here, monkeypatch):
    from linkwise import _threads

    seen = []
    fit = _threads.Workers.__init__

    def watch(self, threads=None):
        fit(self, threads)
        seen.append(self.threads)

    monkeypatch.setattr(_threads.Workers, "__init__", watch)
    assert main([*CLUSTER, "--threads", "1", "-o", "out"]) == 0
    assert set(seen) == {1}
    seen.clear()
    assert main([*CLUSTER, "-o", "out2"]) == 0
    assert set(seen) == {cores()}


# -- what goes out -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        ([*CLUSTER, "-o", "a/b/out"], "a/b/out/labels.csv"),
        (["repair", "said.csv", "--auto", "-o", "a/b/left.csv"], "a/b/left.csv"),
        (["select", "said.csv", "-m", "1", "-o", "a/b/best.csv"], "a/b/best.csv"),
        (["convert", "said.csv", "a/b/said.jsonl"], "a/b/said.jsonl"),
        (["ask", "data.csv", "--id", "name", "-l", "a/b/log.jsonl"], "a/b/log.jsonl"),
        (["assign", "MADE", "data.csv", "-o", "a/b/labels.csv"], "a/b/labels.csv"),
        (["plot", "MADE", "-o", "a/b/tree.svg"], "a/b/tree.svg"),
        (["report", "MADE", "-o", "a/b/page.md"], "a/b/page.md"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_folders_on_the_way_are_made(here, made, capsys, monkeypatch, arguments, written):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main([str(made) if word == "MADE" else word for word in arguments]) == 0, capsys.readouterr().err
    assert (here / written).stat().st_size > 0


def test_a_place_that_cannot_be_written_leaves_nothing_behind(here):
    (here / "locked").mkdir(mode=0o555)
    uses = [[*CLUSTER, "-o", "locked/out"], ["convert", "said.csv", "locked/said.jsonl"]]
    done = run(
        f"from linkwise.cli import main\nprint([main([*words, '--quiet']) for words in {uses!r}])", here, obey=True
    )
    assert done.stdout == "[1, 1]\n"
    assert re.fullmatch(r"(error: locked/\S+: Permission denied\n){2}", done.stderr)
    assert list((here / "locked").iterdir()) == []


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_streams_that_are_closed_break_nothing(here, capsys, monkeypatch, stream):
    monkeypatch.setattr(f"sys.{stream}", None)
    assert main(["check", "said.csv"]) == 0
    assert main(["check", "none.csv"]) == 1
    if stream == "stdin":
        assert main(["ask", "data.csv", "--id", "name", "-l", "log"]) == 1
        assert "standard input is closed, so no answer can be given" in capsys.readouterr().err
        (here / "bad.csv").write_text(SAID + "must_link,mink,orca\n")
        assert main(["repair", "bad.csv", "--ask", "-o", "left.csv"]) == 130


def test_a_file_that_cannot_be_finished_is_named(here, capsys, monkeypatch):
    def large(_):
        raise OSError(27, "File too large")

    monkeypatch.setattr("os.fsync", large)
    assert main([*CLUSTER, "-o", "out"]) == 1
    assert main(["convert", "said.csv", "new.jsonl"]) == 1
    assert capsys.readouterr().err == "error: out/labels.csv: File too large\nerror: new.jsonl: File too large\n"
    assert not (here / "new.jsonl").exists()


def test_a_full_disk_leaves_nothing_behind(here, capsys, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "out/model.lwm")

    monkeypatch.setattr("linkwise.io.save", full)
    assert main([*CLUSTER, "-o", "out"]) == 1
    assert capsys.readouterr().err == "error: out/model.lwm: No space left on device\n"
    assert list((here / "out").iterdir()) == []


def test_a_reader_that_goes_away_causes_no_complaint(here):
    done = subprocess.run(
        ["bash", "-c", f"{shlex.quote(sys.executable)} -m linkwise info | true"],
        cwd=here,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stderr == ""


class Terminal(io.StringIO):
    """A screen that keeps what it shows."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def story(here, monkeypatch):
    """Run the one command that uses colors, and return what it shows."""
    monkeypatch.setattr("linkwise.cli._drawing.can_draw", lambda: False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")

    def tell(screen: io.StringIO) -> str:
        monkeypatch.setattr("sys.stdout", screen)
        assert main(["demo", "--data", "iris", "-o", "demo", "--force"]) == 0
        return screen.getvalue()

    return tell


COLOR = re.compile(r"\x1b\[[0-9;]*3[0-9][0-9;]*m")


def test_colors_only_on_a_terminal_that_wants_them(story, monkeypatch):
    shown = story(Terminal())
    assert COLOR.search(shown)
    piped = story(io.StringIO())
    assert "\x1b" not in piped
    monkeypatch.setenv("NO_COLOR", "1")
    plain = story(Terminal())
    assert not COLOR.search(plain)
    assert plain.count("\n") == piped.count("\n")


def test_a_narrow_terminal_loses_no_word(story, capsys, monkeypatch):
    wide = story(io.StringIO())
    monkeypatch.setenv("COLUMNS", "20")
    narrow = story(io.StringIO())
    assert "…" not in narrow
    squeezed = "".join(narrow.split())  # words may go on in the next line
    assert [word for word in wide.replace("─", "").split() if word not in squeezed] == []
    for verb in ("cluster", "ask", "repair"):
        assert main([verb, "--help"]) == 0


def test_long_names_are_shortened_on_the_screen_only(here, capsys, monkeypatch):
    first, second = "n" * 10_239 + "a", "n" * 10_239 + "b"
    (here / "data.csv").write_text(f"name,x,y\n{first},0,0\nmink,0,1\nstoat,9,0\n{second},9,9\n")
    (here / "said.csv").write_text(f"kind,a,b\nmust_link,{first},{second}\n")
    (here / "bad.csv").write_text(f"kind,a,b\nmust_link,{first},{second}\ncannot_link,{first},{second}\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    assert main([*CLUSTER, "-c", "said.csv", "-o", "out"]) == 0
    assert main(["why", "out", first, second]) == 0
    assert main(["check", "bad.csv"]) == 3
    assert main(["explain", "bad.csv"]) == 3
    assert main([*CLUSTER, "-c", "bad.csv", "-o", "new"]) == 3
    assert main(["select", "said.csv", "-m", "1"]) == 0
    assert main(["repair", "bad.csv", "--auto", "-o", "left.csv"]) == 0
    assert main(["compare", "out", "out"]) == 0
    assert main(["ask", "data.csv", "--id", "name", "-l", "log"]) == 0
    assert main(["check", "x" * 10_000]) == 1
    told = capsys.readouterr()
    lines = (told.out + told.err).splitlines()
    assert max(map(len, lines)) < 1000
    assert any("more characters)…" in line for line in lines)
    assert {first, second} <= set(read_labels("out/labels.csv")[0].tolist())
    assert {first, second} <= set(read_tree("out/tree.nwk").ids.tolist())
    assert first in (here / "left.csv").read_text()
    assert main(["check", "bad.csv", "--json"]) == 3
    assert first in capsys.readouterr().out


def test_a_line_that_would_flood_the_screen_is_shortened(here, capsys):
    name = "so many words " * 1000
    (here / "bad.csv").write_text(f"kind,a,b\nmust_link,{name}x,mink\ncannot_link,{name}x,mink\n")
    assert main(["check", "bad.csv"]) == 3
    assert max(map(len, capsys.readouterr().out.splitlines())) < 4000


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGKILL", -9)])
def test_a_signal_while_writing_keeps_what_was_there(here, made, name, code):
    (here / "out").mkdir()
    old = {path.name: path.read_bytes() for path in made.iterdir()}
    for file, content in old.items():
        (here / "out" / file).write_bytes(content)
    script = (
        "import os, signal, sys, linkwise.io as files\n"
        "def stop(*_, **__):\n"
        "    print('writing', flush=True)\n"
        f"    os.kill(os.getpid(), signal.{name})\n"
        "files.save = stop\n"
    )
    done = run(script + command(*CLUSTER, "-c", "said.csv", "-k", "3", "-o", "out", "--force"), here)
    assert done.stdout.splitlines()[-1] == "writing"  # nothing came after the signal
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    left = {path.name: path.read_bytes() for path in (here / "out").iterdir()}
    if name == "SIGKILL":  # nobody can tidy up after that
        left = {file: content for file, content in left.items() if not file.startswith(".")}
    assert left == old


def test_an_interruption_is_said_and_has_its_own_code(monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("linkwise.cli._installation_verbs.cores", interrupt)
    assert main(["info"]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_what_others_warn_of_is_not_shown(here, capsys, monkeypatch):
    import linkwise.io as files

    plain = files.save

    def noisy(*arguments, **options):
        warnings.warn("an old way of doing it", DeprecationWarning, stacklevel=1)
        warnings.warn("something went badly", RuntimeWarning, stacklevel=1)
        plain(*arguments, **options)

    monkeypatch.setattr("linkwise.io.save", noisy)
    assert main([*CLUSTER, "-o", "out"]) == 0
    assert capsys.readouterr().err == ""


def test_what_nobody_foresaw_is_no_traceback(here, capsys, monkeypatch):
    def break_down(*_, **__):
        raise KeyError("left")

    monkeypatch.setattr("linkwise.io.save", break_down)
    assert main([*CLUSTER, "-o", "out"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("error: something went wrong that should not have: KeyError: 'left'\nHint: ")
    assert list((here / "out").iterdir()) == []
    monkeypatch.setenv("LINKWISE_DEBUG", "1")
    with pytest.raises(KeyError):
        main([*CLUSTER, "-o", "out"])


def test_completion_is_offered(here):
    done = subprocess.run(
        [sys.executable, "-m", "linkwise"],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "_LINKWISE_COMPLETE": "bash_complete",
            "COMP_WORDS": "linkwise con",
            "COMP_CWORD": "1",
        },
    )
    assert done.stdout == "plain,convert\n"
