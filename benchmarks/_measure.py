"""Measure contenders side by side and turn the figures into rows: ratios with their spread, goals, verdicts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

__all__ = ["Comparison", "Goal", "Pair", "Row", "Spread", "import_time", "measure", "run_child"]

ROOT = Path(__file__).resolve().parents[1]


IMPORT = """
import time
wall, cpu = time.perf_counter(), time.process_time()
import {module}
cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
print('{{"wall": %r, "cpu": %r}}' % (wall, cpu))
"""


def import_time(module: str) -> dict[str, float]:
    """Import a module in a fresh process that has loaded nothing else; return wall and CPU seconds."""
    report: dict[str, float] = _report_of(["-c", IMPORT.format(module=module)], {})
    return report


def run_child(job: dict[str, Any], **environment: str) -> Any:
    """Do a job of `benchmarks._child` in a fresh process and return what it reports."""
    return _report_of(["-m", "benchmarks._child", json.dumps(job)], environment)


def _report_of(arguments: list[str], environment: dict[str, str]) -> Any:
    # compiled kernels throughout: they are interpreted while a process has done little with them
    env = {**os.environ, "LINKWISE_QUIET": "1", "LINKWISE_INTERPRET": "0", **environment}
    # this clone first, whatever else is installed
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        msg = f"the measurement {arguments[-1]} failed:\n{done.stderr[-2000:]}"
        raise RuntimeError(msg)
    return json.loads(done.stdout.splitlines()[-1])


@dataclass(frozen=True)
class Goal:
    """A figure of a row and the largest value that is still good."""

    figure: str
    limit: float
    unit: str = "x"

    def __str__(self) -> str:
        return f"{self.figure} ≤ {self.limit:g} {self.unit}"


@dataclass(frozen=True)
class Spread:
    """A figure over rounds; ``best`` is what goals are judged by."""

    best: float
    low: float
    middle: float
    high: float

    @classmethod
    def of_ratio(cls, ours: list[float], theirs: list[float]) -> Spread:
        """Ratio of the minima, and the ratio round by round."""
        rounds = [a / b for a, b in zip(ours, theirs, strict=True)]
        return cls(min(ours) / min(theirs), min(rounds), median(rounds), max(rounds))

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        """A figure that stands for itself: the minimum, and the spread around it."""
        return cls(min(values), min(values), median(values), max(values))


@dataclass
class Row:
    """One line of the table: a case of ours, what it is held against, figures and goals."""

    section: str
    case: str
    ours: str
    against: str
    figures: dict[str, Spread] = field(default_factory=dict)
    seconds: dict[str, tuple[float, float | None]] = field(default_factory=dict)  # least of ours, least of theirs
    peak_mb: tuple[float | None, float | None] = (None, None)
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: str = ""
    ours_failed: bool = False

    def verdicts(self) -> list[tuple[Goal, bool | None]]:
        """Say for each goal whether it was met; None when its figure could not be measured."""
        return [
            (goal, self.figures[goal.figure].best <= goal.limit if goal.figure in self.figures else None)
            for goal in self.goals
        ]


@dataclass(frozen=True)
class Pair:
    """Which contender is held against which, by position, and what is wanted of it."""

    ours: int
    theirs: int
    goals: tuple[Goal, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Contenders on the same data; ``fresh`` gives every call a process of its own and measures its memory."""

    section: str
    case: str
    data: dict[str, Any]
    contenders: list[dict[str, Any]]
    pairs: list[Pair]
    fresh: bool = False
    notes: tuple[str, ...] = ()
    warm_up: int = 50  # samples of the small call that loads the code


def name_of(spec: dict[str, Any]) -> str:
    """How the table calls a contender."""
    words = [spec["who"]]
    if spec["who"].startswith("linkwise") and "dtype" in spec:
        words.append(spec["dtype"])
    if "said" in spec:
        kind, count = spec["said"]
        words.append(f"{count:,} {'triplets' if kind == 'tree' else kind}")
    return " ".join(words)


def measure(comparison: Comparison, rounds: int) -> list[Row]:
    """Run a comparison and return one row per pair."""
    if not comparison.pairs:  # no peer takes part
        return []
    job = {"job": "compare", "data": comparison.data, "fresh": comparison.fresh, "warm-up": comparison.warm_up}
    if comparison.fresh:
        results = _in_fresh_processes(job, comparison, rounds)
    else:
        results = run_child({**job, "contenders": comparison.contenders, "rounds": rounds})
    return [_row(comparison, pair, results) for pair in comparison.pairs]


def _in_fresh_processes(job: dict[str, Any], comparison: Comparison, rounds: int) -> list[dict[str, Any]]:
    """One process per call, alternating within each round; peaks are the largest seen, not the luckiest."""
    results: list[dict[str, Any]] = [{"wall": [], "cpu": []} for _ in comparison.contenders]
    ours = {pair.ours for pair in comparison.pairs}
    for i in ours:  # not kept: sees to it that no later process compiles, which would hide its peak
        run_child({**job, "contenders": [comparison.contenders[i]], "rounds": 1})
    for turn in range(rounds):
        order = list(range(len(results)))
        for i in order if turn % 2 == 0 else reversed(order):
            (one,) = run_child({**job, "contenders": [comparison.contenders[i]], "rounds": 1})
            for key, value in one.items():
                if key in ("wall", "cpu"):
                    results[i][key] += value
                elif key == "peak":
                    results[i][key] = max(value, results[i].get(key, 0))
                else:
                    results[i][key] = value
    return results


def _row(comparison: Comparison, pair: Pair, results: list[dict[str, Any]]) -> Row:
    ours, theirs = results[pair.ours], results[pair.theirs]
    specs = comparison.contenders[pair.ours], comparison.contenders[pair.theirs]
    row = Row(comparison.section, comparison.case, name_of(specs[0]), name_of(specs[1]), goals=list(pair.goals))
    row.notes += comparison.notes
    row.ours_failed = "error" in ours
    row.failed = ours.get("error") or theirs.get("error", "")
    if row.failed:
        return row
    for clock in ("wall", "cpu"):
        row.figures[clock] = Spread.of_ratio(ours[clock], theirs[clock])
        row.seconds[clock] = min(ours[clock]), min(theirs[clock])
    if "peak" in ours and "peak" in theirs:
        row.peak_mb = ours["peak"] / 2**20, theirs["peak"] / 2**20
        # a peak may hide in memory that the import left free, so a ratio of less than a page means nothing
        row.figures["peak"] = Spread.of([ours["peak"] / max(theirs["peak"], 4096)])
        row.figures["peak of ours"] = Spread.of([ours["peak"] / ours["data_bytes"]])
    if not any(spec.get("said", ("links", 0))[1] for spec in specs):
        row.notes.append("same tree" if ours["tree"] == theirs["tree"] else "another tree")
    if ours.get("broken") is not None:
        row.notes.append(f"{ours['broken']} statements broken")
    if theirs.get("broken") is not None and "k" in specs[1]:
        row.notes.append(f"{theirs['broken']} by the other")
    return row
