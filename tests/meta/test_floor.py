"""The oldest versions that the package promises are those that it is tested with."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Of what only the tests need, frames that users hand over. Other versions there do not matter to a user.
FRAMES = {"pandas", "polars"}


def promised() -> dict[str, tuple[int, ...]]:
    """The lower bounds of what a user installs, or hands over."""
    extras = PROJECT["optional-dependencies"]
    frames = [text for text in extras["test"] if text.partition(">=")[0] in FRAMES]
    wanted = [*PROJECT["dependencies"], *extras["plot"], *extras["io"], *extras["exact"], *extras["scale"], *frames]
    return {name: numbers(version) for name, _, version in (text.partition(">=") for text in wanted)}


def pinned() -> dict[str, tuple[int, ...]]:
    lines = (ROOT / "scripts" / "floor.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split("#")[0].strip().partition("==") for line in lines if not line.startswith("#"))
    return {name: numbers(version) for name, _, version in rows}


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.fullmatch(r"\d+(?:\.\d+)*", version).group().split(".")))


def test_what_is_promised_is_what_is_tested():
    bounds, tried = promised(), pinned()
    assert {"numpy", "scipy", "matplotlib", "pyarrow", "ortools", *FRAMES} <= set(bounds)
    assert not set(bounds) - set(tried)
    for name, bound in bounds.items():
        rest = tried[name][len(bound) :]
        # 1.26 means 1.26.0; OR-Tools' third number is that of a build
        assert tried[name][: len(bound)] == bound, name
        assert not any(rest) or name == "ortools", name


def test_the_oldest_python_is_the_one_the_floor_is_tested_with():
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert f"python{oldest}" in (ROOT / "scripts" / "test-floor").read_text(encoding="utf-8")


def test_the_gate_runs_every_kind_of_test():
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for script in ("test", "test-kernels", "test-floor"):
        assert re.search(rf"bash scripts/{script}$", gate, re.MULTILINE)


def test_the_source_archive_holds_what_these_tests_read():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    held = build["targets"]["sdist"]["include"]
    assert {"/tests", "/linkwise", "/scripts", "/docs", "/changes", "/.ci", "/README.md", "/CHANGELOG.md"} <= set(held)
