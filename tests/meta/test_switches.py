"""How often ``linkwise cluster`` crosses from one package to another: many small calls across a boundary are one
call with an array that was not written."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

import linkwise
from linkwise.cli._main import main

ROOT = Path(linkwise.__file__).parent
MOST = 150


def module_of(code: CodeType) -> str | None:
    """The module of a function below a package of linkwise; modules of the root are helpers of all, and not counted.

    Nor are kernels, which have no frames once they are compiled.
    """
    path = Path(code.co_filename)
    if not path.is_relative_to(ROOT) or path.parent == ROOT or code.co_name == "<module>":
        return None
    parts = path.relative_to(ROOT).with_suffix("").parts
    return None if any(part.startswith("_kernels") for part in parts) else ".".join(parts)


def switches(run: Any) -> Counter[tuple[str, str]]:
    """Count calls from a function of one package to a function of another, with helpers between them passed over."""
    modules: dict[CodeType, str | None] = {}
    found: Counter[tuple[str, str]] = Counter()

    def known(frame: FrameType) -> str | None:
        if frame.f_code not in modules:
            modules[frame.f_code] = module_of(frame.f_code)
        return modules[frame.f_code]

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (here := known(frame)) is None:
            return
        above = frame.f_back
        while above is not None and known(above) is None:
            above = above.f_back
        if above is None:
            return
        there = known(above)
        if there.split(".")[0] != here.split(".")[0]:
            found[f"{there}:{above.f_code.co_qualname}", f"{here}:{frame.f_code.co_qualname}"] += 1

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


def test_clustering_from_files_rarely_crosses_packages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = load_iris(return_X_y=True)
    rows = (",".join(map(str, row)) for row in X.tolist())
    Path("data.csv").write_text("\n".join(["a,b,c,d", *rows]) + "\n")
    pairs = np.random.default_rng(0).permutation(len(X))[:80].reshape(-1, 2).tolist()
    said = (f"{'must_link' if y[i] == y[j] else 'cannot_link'},{i},{j}" for i, j in pairs)
    Path("knowledge.csv").write_text("\n".join(["kind,a,b", *said]) + "\n")

    def run(output: str) -> None:
        assert main(["cluster", "data.csv", "-c", "knowledge.csv", "-k", "3", "--effort", "quick", "-o", output]) in (
            0,
            None,
        )

    run("first")  # imports modules and compiles kernels
    found = switches(lambda: run("second"))
    listed = "\n".join(f"{count:3} {here} -> {there}" for (here, there), count in found.most_common())
    print(listed)  # shown by pytest -s
    assert 0 < sum(found.values()) <= MOST, listed
