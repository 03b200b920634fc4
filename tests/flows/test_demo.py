"""The first thing a newcomer runs: the demonstration, as a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from linkwise import Dendrogram


def run(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "linkwise", "demo", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.mark.parametrize(("data", "n"), [("wine", 178), ("iris", 150)])
def test_the_demo_tells_its_story_and_leaves_its_files(tmp_path, data, n):
    done = run("--data", data, "-o", "my demo", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    story = done.stdout
    assert "40 hard statements hold" in story
    before, after = map(float, re.search(r"agreement with the true groups\s+(-?[\d.]+)\s+(-?[\d.]+)", story).groups())
    assert after > before
    held = re.search(r"In the plain tree (\d+) of them hold, in the tree built by ReCon\s+(\d+)", story)
    assert int(held[1]) < int(held[2]) == 60
    assert "contradict each other" in story
    files = {path.name: path for path in (tmp_path / "my demo").iterdir()}
    assert set(files) == {"dendrogram.png", "report.html", "labels.csv", "tree.nwk"}
    assert len(files["labels.csv"].read_text().splitlines()) == n + 1
    assert Dendrogram.from_newick(files["tree.nwk"].read_text(), forest=True).n_samples == n
    assert "All 40 statements hold." in files["report.html"].read_text(encoding="utf-8")
    again = run("--data", data, "-o", "my demo", cwd=tmp_path)
    assert again.returncode == 1
    assert "give --force" in again.stderr


def test_the_demo_is_the_same_every_time(tmp_path):
    first, second = (run("-o", name, cwd=tmp_path).stdout for name in ("a", "b"))
    assert first.replace("a/", "b/") == second
    for name in ("report.html", "labels.csv", "tree.nwk"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
