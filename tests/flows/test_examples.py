"""The examples run from top to bottom, print what the docs say, and leave a picture where told."""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.views import few_views  # noqa: F401  # used by every test of this file

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path for path in (ROOT / "examples").glob("*.py") if not path.name.startswith("plot_"))
GALLERY = sorted((ROOT / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_runs_and_draws(script, tmp_path):
    picture = tmp_path / "picture.png"
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script), str(picture)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 20_000  # not an empty page
    before, after = (float(value) for value in re.findall(r"adjusted Rand index (\S+)", done.stdout))
    assert after > before + 0.15


def test_there_are_examples_and_the_pages_name_them():
    assert SCRIPTS
    text = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    assert [script.name for script in SCRIPTS if f"examples/{script.name}" not in text] == []


@pytest.mark.parametrize("script", GALLERY, ids=lambda script: script.stem)
def test_an_example_of_the_gallery_runs_and_draws(script):
    import matplotlib.pyplot as plt

    plt.close("all")
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(str(script))
        assert plt.get_fignums()
    finally:
        plt.close("all")
