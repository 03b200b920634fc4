"""The gate: contradictions in files are those of `check` on a table, each with must-links that prove it."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from linkwise import Constraints, check
from linkwise.cli import main
from linkwise.exceptions import ConstraintError
from linkwise.scale import _statement_files, check_files

WORDS = ("must_link", "cannot_link")


def write(folder, kind, ends, files=2):
    folder.mkdir(exist_ok=True)
    cuts = np.linspace(0, len(kind), files + 1).astype(int)
    paths = []
    for i in range(files):
        at = slice(cuts[i], cuts[i + 1])
        words = [WORDS[code] for code in kind[at]]
        paths.append(folder / f"{i}.parquet")
        pq.write_table(pa.table({"kind": words, "a": ends[at, 0], "b": ends[at, 1]}), paths[-1])
    return paths, cuts


def random_pairs(rng, n, m, must):
    kind = (rng.random(m) > must).astype(int)
    ends = rng.integers(0, n, (m, 2))
    ends[:, 1] = np.where(ends[:, 0] == ends[:, 1], (ends[:, 1] + 1) % n, ends[:, 1])
    return kind, ends


def named(name, form):
    return {"rows": name, "large": name * 10**15 + 7, "words": np.char.add("s", name.astype(str))}[form]


@pytest.mark.parametrize("form", ["rows", "large", "words"])
def test_contradictions_are_all_found_and_proven(tmp_path, monkeypatch, form):
    monkeypatch.setattr(_statement_files, "_BATCH", 17)
    rng = np.random.default_rng(0)
    verdicts = set()
    for turn in range(12):
        n = int(rng.integers(20, 400))
        kind, ends = random_pairs(rng, n, 120, 0.5)
        paths, cuts = write(tmp_path / str(turn), kind, named(ends, form))
        verdict = check_files(paths)
        table = Constraints.build(n, must_link=ends[kind == 0], cannot_link=ends[kind == 1])
        assert verdict.status == check(table).status
        verdicts.add(verdict.status)
        group = np.arange(n)
        for a, b in ends[kind == 0]:
            group[group == group[a]] = group[b]
        inside = {
            (paths[int(i >= cuts[1])], int(i - cuts[int(i >= cuts[1])]))
            for i in np.flatnonzero((kind == 1) & (group[ends[:, 0]] == group[ends[:, 1]]))
        }
        assert verdict.n_contradictions == len(verdict.contradictions) == len(inside)
        for one in verdict.contradictions:
            inside.discard((type(paths[0])(one.cannot_link.file), one.cannot_link.row))
            at = one.cannot_link.a
            for link in one.must_links:
                row = pq.read_table(link.file).slice(link.row, 1).to_pylist()[0]
                assert row["kind"] == "must_link"
                assert {row["a"], row["b"]} == {link.a, link.b}
                assert link.a == at
                at = link.b
            assert at == one.cannot_link.b
        assert not inside
    assert verdicts == {"feasible", "infeasible"}


def test_a_number_of_clusters_is_decided_as_by_check(tmp_path):
    rng = np.random.default_rng(1)
    seen = set()
    for turn in range(25):
        n = 24
        kind, ends = random_pairs(rng, n, int(rng.integers(20, 90)), 0.08)
        table = Constraints.build(n, must_link=ends[kind == 0], cannot_link=ends[kind == 1])
        if check(table).status == "infeasible":
            continue
        paths, _ = write(tmp_path / str(turn), kind, ends)
        for k in (2, 3, 4, 24):
            verdict = check_files(paths, k, n_rows=n)
            assert verdict.status == check(table, n_clusters=k).status
            seen.add((k, verdict.status))
            if verdict.conflict:
                few = Constraints.build(
                    n, must_link=ends[kind == 0], cannot_link=[(row.a, row.b) for row in verdict.conflict]
                )
                assert check(few, n_clusters=k).status == "infeasible"
    assert {(3, "feasible"), (3, "infeasible"), (4, "feasible"), (24, "infeasible")} <= seen


def test_long_ways_and_stars_take_few_steps(tmp_path):
    """A chain of 3,000 must-links whose ends are apart, given in a bad order; and a star of cannot-links."""
    order = np.random.default_rng(0).permutation(3000)
    chain = np.column_stack([order, order + 1])
    star = np.column_stack([np.full(3000, 5000), 5001 + np.arange(3000)])
    kind = np.repeat([0, 1, 1], [3000, 3000, 1])
    paths, _ = write(tmp_path / "x", kind, np.concatenate([chain, star, [[0, 3000]]]))
    verdict = check_files(paths)
    assert verdict.n_contradictions == 1
    assert len(verdict.contradictions[0].must_links) == 3000
    assert "2,994 must-links between" in str(verdict)
    paths, _ = write(tmp_path / "x", kind[:-1], np.concatenate([chain, star]))
    assert check_files(paths, 2).ok


def test_rows_beyond_the_data_are_refused(tmp_path):
    paths, _ = write(tmp_path / "x", np.array([0, 1]), np.array([[0, 1], [2, 9]]), files=1)
    with pytest.raises(ConstraintError, match=r"0\.parquet, row 1 is about rows 2, 9, but the data have rows 0 to 8"):
        check_files(paths, n_rows=9)


def test_the_command_streams_pairs(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, np.array([0, 0, 1, 1, 1]), np.array([[1, 2], [2, 3], [3, 4], [4, 1], [7, 8]]), files=1)
    assert main(["check", "0.parquet", "--stream", "-k", "2"]) == 0
    assert "2 must-links and 3 cannot-links can all hold: 2 clusters" in capsys.readouterr().out
    assert main(["check", "0.parquet", "--stream", "-k", "1"]) == 4
    assert "cannot_link 0.parquet, row 2 (3, 4)" in capsys.readouterr().out
    (tmp_path / "more.csv").write_text("kind,a,b\ncannot_link,1,3\n")
    assert main(["check", "0.parquet", "more.csv", "--stream", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert [link["row"] for link in told["conflicts"][0]["must_links"]] == [0, 1]
    assert main(["check", "0.parquet", "--stream", "--data", "0.parquet"]) == 2
    assert "--stream reads pairs from files alone" in capsys.readouterr().err
