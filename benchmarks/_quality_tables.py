"""What ``quality.py`` says: areas under curves, ranks with intervals, who is hurt; as tables, CSV and a picture."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks._quality_contenders import CONTENDERS

Place = tuple[str, float]  # a source and a share of wrong answers
HARM = 0.02  # a result that is worse by this much than without knowledge was hurt
DRAWS = 2000


# -- numbers -------------------------------------------------------------------------------------------------------


def area(values: Sequence[float]) -> float:
    """Area under a curve whose amounts stand at equal distances, divided by the length: a mean, the ends count half."""
    return float(np.trapezoid(values) / (len(values) - 1)) if len(values) > 1 else float(values[0])


def rank_all(areas: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Rank on each set, 1 for the largest area, the mean of their ranks for equals (to a thousandth)."""
    table = np.round(np.array(list(areas.values()), dtype=np.float64), 3)
    return dict(zip(areas, rankdata(-table, axis=0), strict=True))


def interval(values: Any, seed: int = 0) -> tuple[float, float]:
    """Where the mean over sets lies in 95 of 100 draws of as many sets, with replacement."""
    values = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(seed)
    means = values[rng.integers(len(values), size=(DRAWS, len(values)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


class Results:
    """All points of all contenders that are finished."""

    def __init__(self, records: Iterable[tuple[dict[str, Any], dict[str, Any]]]) -> None:
        self.points: dict[tuple[str, str, str, float, int], list[dict[str, Any]]] = {
            (task["curve"], task["set"], task["source"], task["wrong"], task["seed"]): values["points"]
            for task, values in records
        }
        self._seeds: dict[str, set[int]] = defaultdict(set)
        for name, *_, seed in self.points:
            self._seeds[name].add(seed)

    def curve(self, name: str, data: str, place: Place, seed: int) -> list[dict[str, Any]] | None:
        """Points from no statement on; who takes no statements stays where it is; None if they are not all there."""
        start, rest = self.points.get((name, data, "none", 0.0, seed)), self.points.get((name, data, *place, seed))
        if CONTENDERS[name].takes in ("nothing", "sizes"):
            rest = []
        return None if start is None or rest is None else start + rest

    def seeds(self, name: str) -> list[int]:
        """The seeds it was run for."""
        return sorted(self._seeds[name])

    def curves(self, name: str, data: str, place: Place) -> list[list[dict[str, Any]]]:
        """Those of all seeds."""
        found = (self.curve(name, data, place, seed) for seed in self.seeds(name))
        return [curve for curve in found if curve]

    def areas(self, name: str, sets: Sequence[str], place: Place, measure: str = "ari") -> Any:
        """Mean area over seeds on each set; None unless it is there for every set."""
        rows = []
        for data in sets:
            here = [area([p[measure] for p in c if p[measure] is not None]) for c in self.curves(name, data, place)]
            if not here:
                return None
            rows.append(float(np.mean(here)))
        return np.array(rows)


# -- words ---------------------------------------------------------------------------------------------------------


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table in Markdown."""
    return [
        f"| {' | '.join(head)} |",
        "|---|" + "---:|" * (len(head) - 1),
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]


def main_tables(results: Results, names: Sequence[str], sets: Sequence[str], places: Sequence[Place]) -> list[str]:
    """Areas and ranks; those told pairs and those told triplets are ranked apart, each among plain methods."""
    lines = []
    for kind, others in (("pairs", ("nothing", "questions")), ("triplets", ("nothing",))):
        group = [name for name in names if CONTENDERS[name].takes in (kind, *others)]
        if any(CONTENDERS[name].takes == kind for name in group):
            here = [place for place in places if kind == "pairs" or place[0] != "active"]
            lines += [f"## Told {kind}", "", *_areas_and_ranks(results, group, sets, here)]
    apart = [name for name in names if CONTENDERS[name].takes == "sizes"]
    for name in apart:
        found = results.areas(name, sets, ("random", 0.0))
        if found is not None:
            lines += [
                f"Told the sizes of the smallest and the largest class instead: {name}, area {found.mean():.3f}.",
                "",
            ]
    return lines


def _areas_and_ranks(results: Results, names: Sequence[str], sets: Sequence[str], places: Sequence[Place]) -> list[str]:
    areas: dict[Place, dict[str, Any]] = {}
    ranks: dict[Place, dict[str, Any]] = {}
    for place in places:
        found = {name: results.areas(name, sets, place) for name in names}
        areas[place] = {name: values for name, values in found.items() if values is not None}
        ranks[place] = rank_all(areas[place]) if areas[place] else {}
    everywhere = {
        name: np.mean([ranks[place][name] for place in places], axis=0)
        for name in names
        if all(name in ranks[place] for place in places)
    }
    order = sorted(names, key=lambda name: everywhere[name].mean() if name in everywhere else np.inf)
    heads = [f"{source} {100 * share:.0f} %" for source, share in places]
    first = []
    for name in order:
        mean = [areas[place][name].mean() if name in areas[place] else None for place in places]
        whole = np.mean(mean) if None not in mean else None
        cells = [_number(whole), *map(_number, mean), *_facts(results, name, sets, places)]
        first.append([f"{name}{_mark(name)}", *cells])
    lines = ["Area under the curve of the adjusted Rand index, mean over sets", ""]
    more = ["free", "held", "hurt", "failed", "dead ends", "ms"]
    lines += markdown(["", "all", *heads, *more], first)
    second = []
    for name in order:
        cells = [_ranked(everywhere.get(name)), *(_ranked(ranks[place].get(name)) for place in places)]
        second.append([f"{name}{_mark(name)}", *cells])
    count = len(next(iter(ranks.values()), {}))
    lines += [f"Mean rank over {len(sets)} sets among {count} (95 % interval over sets)", ""]
    return lines + markdown(["", "all", *heads], second)


def _mark(name: str) -> str:
    return {"peer": " (peer)", "plain": " (plain)"}.get(CONTENDERS[name].whose, "")


def _number(value: Any, form: str = ".3f") -> str:
    return "" if value is None else format(value, form)


def _ranked(values: Any) -> str:
    if values is None:
        return ""
    low, high = interval(values)
    return f"{values.mean():.1f} ({low:.1f} {high:.1f})"


def _facts(results: Results, name: str, sets: Sequence[str], places: Sequence[Place]) -> list[str]:
    """Area over samples nobody named; held and hurt without wrong answers; failures, dead ends, milliseconds."""
    points = [p for place in places for data in sets for c in results.curves(name, data, place) for p in c[1:]]
    right = [place for place in places if place[1] == 0.0]
    held = [
        p["held"]
        for place in right
        for data in sets
        for c in results.curves(name, data, place)
        for p in c[1:]
        if p["held"] is not None
    ]
    free = results.areas(name, sets, right[0], "free") if right else None
    if not points:
        return [_number(free.mean()) if free is not None else "", *[""] * 5]
    return [
        _number(free.mean()) if free is not None else "",
        f"{np.mean(held):.0%}" if held else "",
        f"{harm(results, name, sets, right)[0]:.0%}" if right else "",
        f"{np.mean([p['error'] is not None for p in points]):.1%}",
        f"{np.mean([p['dead_end'] for p in points]):.0%}",
        f"{1000 * np.mean([p['seconds'] for p in points]):.0f}",
    ]


def harm(results: Results, name: str, sets: Sequence[str], places: Sequence[Place]) -> tuple[float, float]:
    """Share of results worse than the same contender's without knowledge, and how much these lose on average."""
    changes = [
        p["ari"] - c[0]["ari"]
        for place in places
        for data in sets
        for c in results.curves(name, data, place)
        for p in c[1:]
    ]
    lost = [-change for change in changes if change < -HARM]
    return (len(lost) / len(changes), float(np.mean(lost)) if lost else 0.0) if changes else (float("nan"), 0.0)


def set_table(results: Results, names: Sequence[str], sets: Sequence[str], place: Place) -> list[str]:
    """Areas on each set, best first."""
    found = {name: results.areas(name, sets, place) for name in names}
    known = {name: values for name, values in found.items() if values is not None}
    order = sorted(known, key=lambda name: -known[name].mean())
    lines = [f"## Area on each set, {place[0]} statements, {100 * place[1]:.0f} % wrong", ""]
    rows = [[f"{name}{_mark(name)}", *(f"{value:.2f}" for value in known[name])] for name in order]
    return lines + markdown(["", *sets], rows)


def harm_list(results: Results, names: Sequence[str], sets: Sequence[str], places: Sequence[Place]) -> list[str]:
    """Who loses against its own result without knowledge, most often first."""
    right = [place for place in places if place[1] == 0.0]
    told = [name for name in names if CONTENDERS[name].takes not in ("nothing", "sizes")]
    found = {name: harm(results, name, sets, right) for name in told if right}
    order = sorted((name for name in found if found[name][0] > 0), key=lambda name: -found[name][0])
    lines = ["## Hurt by true statements", ""]
    lines += [f"Share of results worse by more than {HARM} than its own without knowledge (mean loss):", ""]
    return [*lines, *(f"- {name}: {found[name][0]:.0%} ({found[name][1]:.2f})" for name in order), ""]


def error_list(results: Results, names: Sequence[str]) -> list[str]:
    """What went wrong, by contender, with the first words of the commonest error."""
    wrong: dict[str, list[str]] = defaultdict(list)
    for (name, *_), points in results.points.items():
        wrong[name] += [p["error"].partition("\n")[0][:110] for p in points if p["error"]]
    rows = []
    for name in (name for name in names if wrong[name]):
        words, counts = np.unique(wrong[name], return_counts=True)
        rows.append(f"- {name}: {len(wrong[name])}, mostly `{words[counts.argmax()]}`")
    return ["## Failures", "", *rows, ""] if rows else []


# -- files ---------------------------------------------------------------------------------------------------------


def write_csv(results: Results, path: Path) -> None:
    """Every point of every curve."""
    fields = [
        "contender",
        "set",
        "source",
        "wrong",
        "seed",
        "amount",
        "ari",
        "free",
        "held",
        "k",
        "dead_end",
        "seconds",
        "error",
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(fields)
        for place, points in results.points.items():
            writer.writerows([*place, *(p[field] for field in fields[5:])] for p in points)


def draw_curves(results: Results, names: Sequence[str], sets: Sequence[str], place: Place, path: Path) -> None:
    """The mean over sets at 0, 10, 25, 50, 100 and n pairs: the best of ours, of the peers, and k-means."""
    from matplotlib.figure import Figure

    from linkwise.plots import plot_curve

    found = {name: results.areas(name, sets, place) for name in names}
    order = sorted((n for n in found if found[n] is not None), key=lambda name: -found[name].mean())
    ours = [name for name in order if CONTENDERS[name].whose == "linkwise" and CONTENDERS[name].takes == "pairs"][:8]
    peers = [name for name in order if CONTENDERS[name].whose == "peer" and CONTENDERS[name].takes != "sizes"][:4]
    lines = {}
    ticks = ["0", "10", "25", "50", "100", "n"]
    for name in [*ours, *peers, *(["KMeans"] if "KMeans" in order else [])]:
        rows = []
        for data in sets:
            here = []
            for c in results.curves(name, data, place):
                at = {p["amount"]: p["ari"] for p in c}
                last = c[-1]["ari"]
                here.append([*(at.get(m, last) for m in (0, 10, 25, 50, 100)), last])
            rows.append(np.mean(here, axis=0))
        lines[name] = (np.arange(len(ticks)), np.array(rows))
    if not lines:
        return
    figure = Figure(figsize=(9, 6))
    axes = figure.subplots()
    mean = {name: (at, rows.mean(axis=0)) for name, (at, rows) in lines.items()}
    plot_curve(mean, ax=axes, ylabel=f"adjusted Rand index, mean of {len(sets)} sets", title=f"{place[0]} pairs")
    axes.set_xticks(range(len(ticks)), ticks)
    figure.savefig(path, bbox_inches="tight", dpi=120)
