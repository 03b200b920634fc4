"""Zheng and Li (ICDM 2011): Tables II and IV, Figures 1 and 4 to 7, hierarchies from relative constraints."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from linkwise import Constraints, engines
from linkwise.datasets import Data
from linkwise.exceptions import LinkwiseWarning
from linkwise.metrics import hierarchy_fscore
from studies.experiments._drawn_statements import knowledge
from studies.papers._computations import compute_all
from studies.papers._exhibit import Exhibit, Figure, Found, Paper, Settings, Table, mean_and_error
from studies.papers._prepared_sets import on_hand, scaled
from studies.papers._verdict_rules import Judged, Span, beside_printed, every_line_rises, in_time

# name there -> (name here, scaling, triplets per run)
SETS = {
    "Iris": ("iris", "none", 100),
    "Wine": ("wine", "minmax", 100),
    "Ionosphere": ("ionosphere", "none", 100),
    "CSTR": ("cstr", "unit", 100),
    "WebACE": ("webace", "unit", 200),
    "Reuter (stand-in)": ("reuters10_2900", "unit", 200),
}
NOT_OBTAINED = {"IV": ("Protein", "Log"), "5": ("Protein",)}  # no file of these sizes was found
STAND_INS = ("Reuter (stand-in)",)
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
# one comparison per triplet, from either of its pair; conflicts, of which triplets of classes have none, at random
AS_PRINTED: dict[str, Any] = {"anchors": "random", "conflicts": "random"}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "HAC": ("ConstrainedAgglomerative", {"linkage": "single"}),
    "HACoc": ("HACoc", {"linkage": "average"}),
    "IPoptim": ("IPoptim", {"linkage": "single"}),
    "UltraTran": ("UltraTran", {"variant": "faithful"}),
    "IPoptim, as printed": ("IPoptim", {"linkage": "single", "margin": 0, **AS_PRINTED}),
    "UltraTran, as printed": ("UltraTran", {"variant": "faithful", "closure": True, **AS_PRINTED}),
    "average linkage, no triplets": ("ConstrainedAgglomerative", {"linkage": "average"}),
    "IPoptim, average linkage": ("IPoptim", {"linkage": "average"}),
    "UltraTran, strict": ("UltraTran", {"variant": "strict"}),
    "ReCon, single linkage": ("ReCon", {"linkage": "single"}),
    "ReCon, average linkage": ("ReCon", {"linkage": "average"}),
    "least squares": ("LeastSquaresUltrametric", {"n_kicks": 0}),
}
UNTOLD = ("HAC", "average linkage, no triplets")
OWN = ("IPoptim", "UltraTran")  # the paper's methods
AVERAGE = ("IPoptim, average linkage", "average linkage, no triplets")
SMALL = ("Iris", "Wine", "Ionosphere", "CSTR")
SEARCHED = ("Iris", "Wine")  # few enough samples for a search over trees
CURVES = {"5": ("Iris", "Wine"), "6": ("Ionosphere", "CSTR"), "7": ("WebACE",)}
AMOUNTS = (20, 40, 60, 80, 100, 150, 200)
DIGITS = 5e-5  # half of the last digit that is printed


def _data(there: str, data_folder: Path | None) -> Data:
    here, scale, _ = SETS[there]
    return scaled(here, scale, data=data_folder)


def _fit(data: Data, method: str, amount: int, seed: int) -> tuple[Any, Any, float]:
    engine, params = METHODS[method]
    told = knowledge(data.y, "triplets", amount, seed=seed)
    model = getattr(engines, engine)(n_clusters=None, **params)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    with threadpool_limits(limits=1), warnings.catch_warnings():  # one thread, so that times can be compared
        warnings.simplefilter("ignore", LinkwiseWarning)  # triplets that a method broke; the table counts them
        start = time.perf_counter()
        model.fit(data.X, constraints=told)
        seconds = time.perf_counter() - start
    return model.dendrogram_, told, seconds


@cache
def _warm_up(there: str, method: str, amount: int, data_folder: Path | None) -> None:
    """Run a method once on the same set, so that no figure counts compiling as its time."""
    _fit(_data(there, data_folder), method, min(amount, 20), 0)


def score(there: str, method: str, amount: int, seed: int, data_folder: Path | None = None) -> dict[str, float]:
    """FScore of the tree, milliseconds of the fit, and the share of triplets that the tree displays, for one draw."""
    data = _data(there, data_folder)
    _warm_up(there, method, amount, data_folder)
    tree, told, seconds = _fit(data, method, amount, seed)
    found = {"FScore": float(hierarchy_fscore(data.y, tree)), "milliseconds": 1000 * seconds}
    return found | ({"triplets kept": float(tree.satisfies(told).mean())} if told.n_statements else {})


Place = tuple[str, str, int]


def _held(settings: Settings, places: Sequence[Place]) -> dict[Place, list[dict[str, float]]]:
    """The draws of each place; without triplets there is one tree, fitted three times for the time alone."""
    tasks, of = [], []
    for there, method, amount in places:
        told = 0 if method in UNTOLD else amount
        for seed in range(settings.repeats(10, 2) if told else 3):
            tasks.append({"there": there, "method": method, "amount": told, "seed": seed})
            of.append((there, method, amount))
    held: dict[Place, list[dict[str, float]]] = {}
    for place, values in zip(of, compute_all(settings, "zheng2011", score, tasks), strict=True):
        held.setdefault(place, []).append(values)
    return held


def _sets(settings: Settings, number: str, wanted: Sequence[str]) -> list[str]:
    """The sets of an exhibit that can be had; the page names the others."""
    for there in NOT_OBTAINED.get(number, ()):
        note = f"Without {there}: no file of the paper's size was found."
        if note not in settings.notes:
            settings.notes.append(note)
            settings.say(note)
    real = on_hand(settings, [SETS[there][0] for there in wanted])
    return [there for there in wanted if SETS[there][0] in real]


def _methods(there: str) -> list[str]:
    only = {"HACoc": SMALL, "least squares": SEARCHED}
    return [method for method in METHODS if there in only.get(method, SETS)]


def table_4(settings: Settings) -> Iterator[Exhibit]:
    """FScore and time of all methods."""
    wanted = [there for there in SETS if not settings.quick or there in SMALL]
    places = [(there, method, SETS[there][2]) for there in _sets(settings, "IV", wanted) for method in _methods(there)]
    found = []
    for (there, method, _), held in _held(settings, places).items():
        printed = PRINTED.get((there, method), (None, None))
        line = f"{there}, {method}"
        found.append(Found(line, "FScore", *mean_and_error([v["FScore"] for v in held]), printed=printed[0]))
        found.append(Found(line, "milliseconds", *_median([v["milliseconds"] for v in held]), printed=printed[1]))
        kept = [v["triplets kept"] for v in held if "triplets kept" in v]
        found.append(Found(line, "triplets kept", *mean_and_error(kept)))
    yield Table("Table IV", "FScore of the hierarchy and running time", tuple(found), judge_table(found))


def _median(values: Sequence[float]) -> tuple[float, float, int]:
    return float(np.median(values)), float("nan"), len(values)


def judge_table(found: Sequence[Found]) -> Judged:
    """Compare with the printed rows; those of a set that stands in for the paper's are shown and not judged."""
    scores = [one for one in found if one.x == "FScore" and one.line.split(", ")[0] not in STAND_INS]
    times = [
        one.printed / one.value
        for one in found
        if one.x == "milliseconds" and one.printed is not None and one.value > 0
    ]
    own: dict[str, float] = {}
    best: dict[str, float] = {}
    for one in scores:
        there = one.line.split(", ")[0]
        own[there] = max(own.get(there, 0.0), one.value)
        best[there] = max(best.get(there, 0.0), one.printed or 0.0)
    below = [there for there in own if own[there] < best[there]]
    value = {one.line: one.value for one in scores}
    gained = [
        f"{there} {value[told] - value[untold]:+.4f}"
        for there in own
        for told, untold in [[f"{there}, {name}" for name in AVERAGE]]
        if told in value and untold in value
    ]
    leading = (
        f"Triplets change the FScore of average linkage (IPoptim) by {', '.join(gained) or 'nothing measured'}. The "
        f"best row of ours is below the best printed one on {', '.join(below) or 'no set'}. Printed times are "
        f"{min(times, default=float('nan')):,.1f} to {max(times, default=float('nan')):,.0f} times ours. "
    )
    return beside_printed(
        [Span(one.line, one.value, one.error, one.printed) for one in scores],
        slack=DIGITS,
        higher_is_better=True,
        rounding="half of the last printed digit",
        leading=leading,
    )


def curves(number: str) -> Callable[[Settings], Iterator[Exhibit]]:
    """FScore and time over the number of triplets: Figures 5, 6 and 7."""

    def show(settings: Settings) -> Iterator[Exhibit]:
        amounts = AMOUNTS[::3] if settings.quick else AMOUNTS
        for there in _sets(settings, number, CURVES[number]):
            held = _held(settings, [(there, m, a) for m in _methods(there) for a in amounts])
            usual = SETS[there][2]
            for what in ("FScore", "milliseconds"):
                found = []
                for (_, method, amount), values in held.items():
                    printed = PRINTED.get((there, method), (None, None))[what != "FScore"] if amount == usual else None
                    center = mean_and_error if what == "FScore" else _median
                    found.append(Found(method, amount, *center([v[what] for v in values]), printed=printed))
                yield Figure(
                    f"Figure {number}, {there}, {what}",
                    f"{what} over the number of triplets",
                    tuple(found),
                    judge_scores(found) if what == "FScore" else judge_times(found, there),
                    x_label="triplets",
                    y_label=what,
                    log_y=what != "FScore",
                )

    return show


def judge_scores(found: Sequence[Found]) -> Judged:
    """Compare with what the paper says: more triplets, a better tree."""
    value = {(one.line, one.x): one.value for one in found}
    first, last = min(float(one.x) for one in found), max(float(one.x) for one in found)
    rise = {line: value[line, last] - value[line, first] for line in dict.fromkeys(one.line for one in found)}
    return every_line_rises(
        rise,
        [line for line in OWN if line in rise],
        least=0.005,
        what=f"FScore, from {first:g} to {last:g} triplets",
        said="In the paper the gain is generally greater with more constraints, for its own methods as well",
    )


def judge_times(found: Sequence[Found], there: str) -> Judged:
    """Compare with the printed times of the paper's own methods, and say how much times grow."""
    own = [one for one in found if one.line in OWN]
    seconds = [one.value / 1000 for one in own]
    printed = min(PRINTED[there, line][1] for line in OWN) / 1000
    return in_time(
        max(seconds),
        max(seconds) / min(seconds),
        printed=printed,
        said=f"the paper prints at least {printed:,.0f} s for {' and '.join(OWN)} in Table IV",
    )


# -- the worked example ------------------------------------------------------------------------------------------------

# Table I, of whose two entries for 3 and 5 the Euclidean one (U2); samples count from 1, as there
PAIRS = [(i, j) for i in range(5) for j in range(i + 1, 5)]
TABLE_1 = dict(zip(PAIRS, (138.0, 300.0, 262.0, 230.0, 164.0, 289.0, 272.0, 400.0, 384.0, 85.0), strict=True))
TABLE_2 = dict(zip(PAIRS, (138.0, 164.0, 230.0, 230.0, 164.0, 230.0, 230.0, 230.0, 230.0, 85.0), strict=True))
# ours: the matrix and the constraints of Figure 1 are in its picture only
FOUR = ((0, 4, 1), (0, 1, 2), (3, 4, 1), (3, 4, 0))
EXAMPLE: dict[str, tuple[str, dict[str, Any]]] = {
    "IPoptim": ("IPoptim", {"linkage": "single", "margin": 0, **AS_PRINTED, "anchors": [row[0] for row in FOUR]}),
    "UltraTran": ("UltraTran", {"closure": True, **AS_PRINTED, "anchors": [row[0] for row in FOUR]}),
    "IPoptim, joint": ("IPoptim", {"linkage": "single", "enforce": "joint"}),
    "UltraTran, strict": ("UltraTran", {"variant": "strict"}),
    "least squares": ("LeastSquaresUltrametric", {}),
}


def work(step: str, data_folder: Path | None = None) -> dict[str, float]:  # noqa: ARG001
    """The ten distances after one step of the example, and how many of the four constraints its tree keeps."""
    D = np.zeros((5, 5))
    for (i, j), apart in TABLE_1.items():
        D[i, j] = D[j, i] = apart
    told = Constraints.build(5, triplets=FOUR)
    if step == "Algorithm 1":
        moved = engines.project_triplets(D, FOUR, margin=0, metric="precomputed")
        at = TABLE_1 | dict(zip(map(tuple, moved.pairs.tolist()), moved.after.tolist(), strict=True))
        return {_name(pair): at[pair] for pair in PAIRS} | {"kept": float(sum(_agrees(at, *row) for row in FOUR))}
    if step == "transitive":
        tree = engines.subdominant_ultrametric(D, metric="precomputed")
    else:
        engine, params = EXAMPLE[step]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkwiseWarning)
            model = getattr(engines, engine)(metric="precomputed", random_state=0, **params)
            tree = model.fit(D, constraints=told).dendrogram_
    i, j = np.transpose(PAIRS)
    heights = dict(zip(map(_name, PAIRS), tree.cophenetic(i, j).tolist(), strict=True))
    return heights | {"kept": float(tree.satisfies(told).sum())}


def _name(pair: tuple[int, int]) -> str:
    return f"d{pair[0] + 1}{pair[1] + 1}"


def _agrees(at: dict[tuple[int, int], float], a: int, b: int, c: int) -> bool:
    """Whether d(a, b) <= d(a, c), as (9) has it."""
    return at[min(a, b), max(a, b)] <= at[min(a, c), max(a, c)] + 1e-9


def _worked(settings: Settings, steps: Sequence[str]) -> dict[str, dict[str, float]]:
    return dict(zip(steps, compute_all(settings, "zheng2011", work, [{"step": step} for step in steps]), strict=True))


def table_2(settings: Settings) -> Iterator[Exhibit]:
    """The transitive dissimilarities of Table I, every one of which is printed."""
    held = _worked(settings, ["transitive"])["transitive"]
    found = [Found(_name(pair), "transitive", held[_name(pair)], printed=TABLE_2[pair]) for pair in PAIRS]
    judged = beside_printed(
        [Span(one.line, one.value, one.error, one.printed) for one in found],
        slack=0.5,
        higher_is_better=True,
        rounding="half of the last printed digit",
    )
    yield Table("Table II", "Transitive dissimilarities of Table I", tuple(found), judged)


def example(settings: Settings) -> Iterator[Exhibit]:
    """Figures 1 and 4: from a matrix and four constraints to a constrained ultrametric."""
    steps = ["Algorithm 1", "transitive", *EXAMPLE]
    held = _worked(settings, steps)
    titles = {
        "Figure 4": "Distances that Algorithm 1 moves as four comparisons ask",
        "Figure 1": "From dissimilarities and four constraints to a constrained ultrametric",
    }
    for key, shown in (("Figure 4", steps[:1]), ("Figure 1", steps[1:])):
        found = [Found("given", _name(pair), TABLE_1[pair]) for pair in PAIRS]
        found += [Found(step, x, held[step][x]) for step in shown for x in (*map(_name, PAIRS), "kept")]
        kept = ", ".join(f"{step} {held[step]['kept']:g}" for step in shown)
        judged = beside_printed(
            [Span(one.line, one.value, one.error, one.printed) for one in found],
            slack=0.5,
            higher_is_better=True,
            rounding="half of the last printed digit",
            leading=(
                "The numbers of the figure are in its picture, which we do not have: the matrix is Table I, the "
                f"constraints are ours. Kept of {len(FOUR)} constraints: {kept}. "
            ),
        )
        yield Table(key, titles[key], tuple(found), judged)


ZHENG = Paper(
    name="zheng2011",
    citation="L. Zheng and T. Li, Semi-supervised Hierarchical Clustering, ICDM 2011",
    about=(
        "Hierarchies under triplets drawn from classes: 100 for small sets, 200 for large ones; the paper has 10 runs. "
        "Iris, Wine, Ionosphere, CSTR and WebACE are the paper's sets; Reuter stands in for another sample of "
        "Reuters-21578 of the same size, is shown, and not judged. Protein and Log were not obtained. Methods after "
        "the first four are ours, but for 'as printed': one comparison per triplet, closure, random removal of "
        "conflicts, no margin. HAC, IPoptim and UltraTran are single linkage, HACoc average; the paper names no "
        "linkage. The paper that describes HACoc was not available: the rule is ours. Every method was "
        "run once before it was timed."
    ),
    exhibits={"II": table_2, "1": example, "IV": table_4, **{number: curves(number) for number in CURVES}},
)
