"""Zheng and Li (ICDM 2011): Table IV and Figures 5 to 7, hierarchies from relative constraints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from linkwise.experiments import Cell
from linkwise.papers._cells import run_cells
from linkwise.papers._exhibit import Exhibit, Figure, Found, Paper, Settings, Table, mean_and_error
from linkwise.papers._sets import SCALED, on_hand

__all__ = ["ZHENG"]

# name there -> (name here, scaling, triplets per run); Protein and Log are not public
SETS = {
    "Iris": ("iris", "none", 100),
    "Wine": ("wine", "minmax", 100),
    "Ionosphere": ("ionosphere", "none", 100),
    "CSTR": ("cstr", "unit", 100),
    "WebACE": ("webace", "unit", 200),
    "Reuter (stand-in)": ("reuters10_2900", "unit", 200),
}
PRINTED = {  # FScore, milliseconds
    ("Iris", "HAC"): (0.8906, 107),
    ("Iris", "HACoc"): (0.96, 233694),
    ("Iris", "IPoptim"): (0.9293, 18917),
    ("Iris", "UltraTran"): (0.9211, 18490),
    ("Wine", "HAC"): (0.7614, 109),
    ("Wine", "HACoc"): (0.9346, 573002),
    ("Wine", "IPoptim"): (0.86, 30034),
    ("Wine", "UltraTran"): (0.8456, 32636),
    ("Ionosphere", "HAC"): (0.7401, 361),
    ("Ionosphere", "HACoc"): (0.7446, 1392259),
    ("Ionosphere", "IPoptim"): (0.7503, 270198),
    ("Ionosphere", "UltraTran"): (0.7501, 251164),
    ("CSTR", "HAC"): (0.653, 784),
    ("CSTR", "HACoc"): (0.6524, 4911106),
    ("CSTR", "IPoptim"): (0.6632, 577451),
    ("CSTR", "UltraTran"): (0.6631, 570320),
    ("WebACE", "HAC"): (0.5471, 19580),
    ("WebACE", "IPoptim"): (0.5492, 1.0081e8),
    ("WebACE", "UltraTran"): (0.5514, 1.0090e8),
    ("Reuter (stand-in)", "HAC"): (0.6154, 33000),
    ("Reuter (stand-in)", "IPoptim"): (0.6187, 1.7682e8),
    ("Reuter (stand-in)", "UltraTran"): (0.6178, 1.7694e8),
}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "HAC": ("ConstrainedAgglomerative", {"linkage": "single"}),
    "HACoc": ("HACoc", {"linkage": "average"}),
    "IPoptim": ("IPoptim", {"linkage": "single"}),
    "UltraTran": ("UltraTran", {"variant": "faithful"}),
    "IPoptim, average linkage": ("IPoptim", {"linkage": "average"}),
    "UltraTran, strict": ("UltraTran", {"variant": "strict"}),
    "ReCon, single linkage": ("ReCon", {"linkage": "single"}),
    "ReCon, average linkage": ("ReCon", {"linkage": "average"}),
}
SMALL = ("Iris", "Wine", "Ionosphere", "CSTR")
CURVES = {"5": ("Iris", "Wine"), "6": ("Ionosphere", "CSTR"), "7": ("WebACE",)}
AMOUNTS = (20, 40, 60, 80, 100, 150, 200)


def _cells(settings: Settings, there: str, method: str, amount: int | None) -> list[Cell]:
    """The repetitions of one method on one set; by default with as many triplets as Table IV."""
    (here, scale, usual), (engine, params) = SETS[there], METHODS[method]
    told = 0 if method == "HAC" else (usual if amount is None else amount)
    return [
        Cell(
            engine,
            SCALED,
            knowledge="triplets" if told else "none",
            amount=told,
            seed=seed,
            params={**params, "n_clusters": None},
            data_params={"name": here, "scale": scale},
        )
        for seed in range(settings.repeats(10, 2) if told else 3)  # without triplets for the time alone
    ]


def _sets(settings: Settings) -> list[str]:
    wanted = [there for there in SETS if not settings.quick or there in SMALL]
    real = on_hand(settings, [SETS[there][0] for there in wanted])
    return [there for there in wanted if SETS[there][0] in real]


def table_4(settings: Settings) -> Iterator[Exhibit]:
    """FScore and time of all methods."""
    wanted = {
        (there, method): _cells(settings, there, method, None)
        for there in _sets(settings)
        for method in METHODS
        if not (method == "HACoc" and there not in SMALL)
    }
    records = run_cells(settings, "zheng2011", wanted)
    found = []
    for (there, method), held in records.items():
        printed = PRINTED.get((there, method), (None, None))
        line = f"{there}, {method}"
        found.append(Found(line, "FScore", *mean_and_error([r["hierarchy_fscore"] for r in held]), printed=printed[0]))
        found.append(Found(line, "milliseconds", *_median([1000 * r["seconds"] for r in held]), printed=printed[1]))
        found.append(Found(line, "triplets kept", *mean_and_error([r["satisfaction"] for r in held])))
    yield Table("Table IV", "FScore of the hierarchy and running time", tuple(found), *_judge_table(found))


def _median(seconds: Sequence[float]) -> tuple[float, float, int]:
    """The middle of several times: the first fit in a process also loads compiled code."""
    return float(np.median(seconds)), float("nan"), len(seconds)


def _judge_table(found: list[Found]) -> tuple[Any, str]:
    score = {one.line: one for one in found if one.x == "FScore"}
    below = [
        line.replace(", ", " ", 1)
        for line, one in score.items()
        if one.printed is not None
        and one.value + 2 * (0.0 if math.isnan(one.error) else one.error) < one.printed - 5e-5
    ]
    equal = [line for line, one in score.items() if one.printed is not None and abs(one.value - one.printed) < 5e-5]
    times = [
        one.printed / one.value
        for one in found
        if one.x == "milliseconds" and one.printed is not None and one.value > 0
    ]
    best: dict[str, float] = {}
    for line, one in score.items():
        there = line.split(", ")[0]
        best[there] = max(best.get(there, 0.0), one.value)
    top = max((one.printed or 0.0) - best[line.split(", ")[0]] for line, one in score.items())
    why = (
        f"To four digits: {'; '.join(equal) or 'none'}. More than two standard errors below the paper: "
        f"{'; '.join(below) or 'none'}. HAC is single linkage; how the other sets were prepared is not said, and their "
        "HAC rows differ for every preparation we tried. IPoptim and UltraTran as printed never enforce the triplets "
        "they are given (see the errata), so from single linkage they move little, and the rise the paper reports for "
        "Iris and Wine needs more than its algorithms do; the strict variant, ReCon and average linkage keep what they "
        f"are told. The best of ours is {'never' if top <= 0 else 'sometimes'} below the best printed row of a set. "
        f"Running times printed are {min(times, default=1):,.0f} to {max(times, default=1):,.0f} times ours, on a "
        "machine of 2008."
    )
    return ("same" if not below else "different"), why


def curves(number: str) -> Callable[[Settings], Iterator[Exhibit]]:
    """FScore and time over the number of triplets: Figures 5, 6 and 7."""

    def show(settings: Settings) -> Iterator[Exhibit]:
        amounts = AMOUNTS[::3] if settings.quick else AMOUNTS
        for there in CURVES[number]:
            if there not in _sets(settings):
                continue
            chosen = [m for m in METHODS if not (m == "HACoc" and there not in SMALL)]
            wanted = {(m, a): _cells(settings, there, m, a) for m in chosen for a in amounts}
            records = run_cells(settings, "zheng2011", wanted)
            usual = SETS[there][2]
            for what, measure, factor in (("FScore", "hierarchy_fscore", 1.0), ("milliseconds", "seconds", 1000.0)):
                found = []
                for (method, amount), held in records.items():
                    printed = PRINTED.get((there, method), (None, None))[what != "FScore"] if amount == usual else None
                    centre = mean_and_error if what == "FScore" else _median
                    values = [factor * r[measure] for r in held]
                    found.append(Found(method, amount, *centre(values), printed=printed))
                yield Figure(
                    f"Figure {number}, {there}, {what}",
                    f"{what} over the number of triplets",
                    tuple(found),
                    "different" if what == "FScore" else "better",
                    _judge_curve(found, what),
                    x_label="triplets",
                    y_label=what,
                    log_y=what != "FScore",
                )

    return show


def _judge_curve(found: list[Found], what: str) -> str:
    if what != "FScore":
        return "Times hardly grow with the number of triplets, as in the paper, and are smaller by orders of magnitude."
    last = max(float(one.x) for one in found)
    rise = {
        line: one.value - start.value
        for line in dict.fromkeys(one.line for one in found)
        for one in found
        for start in found
        if one.line == start.line == line and one.x == last and start.x == min(o.x for o in found if o.line == line)
    }
    grows = [line for line, value in rise.items() if value > 0.005]
    return (
        f"From the fewest to the most triplets, FScore rises for {', '.join(grows) or 'none'}. The paper's curves rise "
        "for its own methods, too; with its algorithms as printed we see little of that, see Table IV."
    )


ZHENG = Paper(
    name="zheng2011",
    citation="L. Zheng and T. Li, Semi-supervised Hierarchical Clustering, ICDM 2011",
    about=(
        "Hierarchies under triplets drawn from classes: 100 for small sets, 200 for large ones, 10 runs. Iris, Wine, "
        "Ionosphere, CSTR and WebACE are the paper's sets; Reuter stands in for another sample of Reuters-21578 of the "
        "same size. Protein and Log could not be had. Methods after the first four are ours."
    ),
    exhibits={"IV": table_4, **{number: curves(number) for number in CURVES}},
)
