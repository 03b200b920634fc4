"""Hold linkwise against other libraries: the same data, the same run, alternating turns, one table of ratios."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks._contenders import find_missing
from benchmarks._measure import Row, Spread
from benchmarks._sections import SECTIONS, Plan

__all__ = ["main"]

PEERS = ("fastcluster", "scipy", "scikit-learn", "genieclust", "tralda")
PACKAGES = ("numpy", "numba", *PEERS)


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="peers.py", description=__doc__)
    parser.add_argument("--section", choices=[*SECTIONS, "all"], default="all")
    parser.add_argument(
        "--sizes", type=int, nargs="+", metavar="N", help="numbers of samples instead of the section's own"
    )
    parser.add_argument(
        "--repeats", type=int, metavar="R", help="rounds in which everyone has a turn (default 5, quick 2)"
    )
    parser.add_argument("--peers", nargs="+", choices=PEERS, help="only these")
    parser.add_argument("--large", action="store_true", help="also Ward on 100,000 samples (section vectors)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows that it runs, the ratios mean nothing")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there as well")
    given = parser.parse_args(arguments)
    if given.repeats is None:
        given.repeats = 2 if given.quick else 5
    if given.repeats < 1:
        parser.error(f"--repeats is {given.repeats}, expected at least 1.")
    if given.sizes and min(given.sizes) < 100:
        parser.error(f"--sizes names {min(given.sizes)}, expected at least 100 samples.")
    return given


def describe_machine() -> dict[str, Any]:
    """What the figures depend on."""
    packages: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = None
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {"python": platform.python_version(), "cores": os.cpu_count(), "load": load, "packages": packages}


def _ratio(spread: Spread | None) -> str:
    if spread is None:
        return ""
    return f"[bold]{_short(spread.best)}[/bold] ({_short(spread.low)} {_short(spread.middle)} {_short(spread.high)})"


def _short(ratio: float) -> str:
    """Two digits after the point, or two that count when that would show nothing."""
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def _two(figures: tuple[float | None, float | None], digits: int) -> str:
    ours, theirs = figures
    shown = ["-" if value is None else f"{value:.{digits}g}" for value in (ours, theirs)]
    return "" if ours is None else " / ".join(shown if theirs is not None else shown[:1])


def _cells(row: Row) -> list[str]:
    names = escape(row.ours), escape(row.against)
    if row.failed:
        return [escape(row.case), *names, "[red]failed[/red]", "", "", "", "", escape(row.failed.splitlines()[0])]
    wall = _ratio(row.figures.get("wall"))
    for name, unit in (("per triplet", "µs"), ("seconds", "s")):
        if name in row.figures:
            wall = f"{_ratio(row.figures[name])} {unit}"
    peak = _two(row.peak_mb, 3)
    if "peak" in row.figures:
        peak += f" = [bold]{_short(row.figures['peak'].best)}[/bold]"
    words = {True: "[green]met[/green]", False: "[red]missed[/red]", None: "not measured"}
    verdict = "\n".join(f"{goal}: {words[met]}" for goal, met in row.verdicts())
    seconds = _two(row.seconds.get("wall", (None, None)), 3)
    return [
        escape(row.case),
        *names,
        seconds,
        wall,
        _ratio(row.figures.get("cpu")),
        peak,
        verdict,
        ", ".join(row.notes),
    ]


def draw(section: str, rows: list[Row]) -> Table:
    """One section as a table."""
    about = (SECTIONS[section].__doc__ or "").splitlines()[0]
    table = Table(title=f"{section}: {escape(about)}", title_justify="left", caption_justify="left", show_lines=False)
    for column in ("case", "linkwise", "against", "wall s", "wall ratio", "CPU ratio", "peak MB", "goal", "notes"):
        table.add_column(column, overflow="fold")
    before = ""
    for row in rows:
        cells = _cells(row)
        if row.case == before:
            cells[0] = ""
        elif before:
            table.add_section()
        before = row.case
        table.add_row(*cells)
    return table


def as_plain(row: Row) -> dict[str, Any]:
    """One row for the JSON file."""
    return {
        "section": row.section,
        "case": row.case,
        "linkwise": row.ours,
        "against": row.against,
        "figures": {name: vars(spread) for name, spread in row.figures.items()},
        "seconds": row.seconds,
        "peak_mb": row.peak_mb,
        "goals": [
            {"figure": goal.figure, "limit": goal.limit, "unit": goal.unit, "met": met} for goal, met in row.verdicts()
        ],
        "notes": row.notes,
        "failed": row.failed,
    }


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; return 0 whatever the goals say, and 1 only when linkwise itself failed."""
    given = read_arguments(arguments)
    console = Console(width=None if sys.stdout.isatty() else 200)
    machine = describe_machine()
    packages = ", ".join(f"{name} {number}" for name, number in machine["packages"].items() if number)
    load = "" if machine["load"] is None else f", load {machine['load']:.1f}"
    console.print(f"Python {machine['python']}, {machine['cores']} cores{load}; {packages}", highlight=False)
    for name, command in find_missing().items():
        console.print(f"{name} is not installed and takes no part: {escape(command)}", highlight=False)
    console.print(
        "Ratios are linkwise / peer: the ratio of the minima, in brackets least, median and most over "
        f"{given.repeats} rounds. Below 1 linkwise is faster.\n",
        highlight=False,
    )
    sizes = tuple(given.sizes) if given.sizes else None
    peers = tuple(given.peers) if given.peers else None
    plan = Plan(sizes, given.repeats, given.quick, given.large, peers)
    rows: list[Row] = []
    for section in SECTIONS if given.section == "all" else [given.section]:
        own = []
        for row in SECTIONS[section](plan):
            if given.quick:  # goals are about real sizes
                row.goals = []
            own.append(row)
            print(f"{section}: {row.case}: {row.ours} against {row.against}", file=sys.stderr, flush=True)
        rows += own
        console.print(draw(section, own))
        console.print()
    verdicts = [met for row in rows for _, met in row.verdicts()]
    console.print(
        f"{verdicts.count(True)} goals met, {verdicts.count(False)} missed, {verdicts.count(None)} not measured."
    )
    if given.json:
        plain = {"machine": machine, "repeats": given.repeats, "rows": [as_plain(row) for row in rows]}
        given.json.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    return int(any(row.ours_failed for row in rows))
