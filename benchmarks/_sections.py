"""What is compared with what, and what is wanted: the workloads of ``peers.py`` and their goals."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks._contenders import MODULE, find_missing
from benchmarks._data import SHAPES
from benchmarks._measure import Comparison, Goal, Pair, Row, Spread, import_time, measure, run_child

__all__ = ["SECTIONS", "Plan"]

LINKAGES = ("single", "complete", "average", "weighted", "ward", "centroid", "median")
FULL, SMALL = 10_000, 1_000  # the sizes that the dense goals are about


@dataclass(frozen=True)
class Plan:
    """What the command line asked for."""

    sizes: tuple[int, ...] | None = None
    repeats: int = 5
    quick: bool = False
    large: bool = False
    peers: tuple[str, ...] | None = None

    def sizes_or(self, *default: int) -> tuple[int, ...]:
        """The sizes asked for, else tiny ones for a quick look, else the section's own."""
        return self.sizes or ((120,) if self.quick else default)

    def takes_part(self, who: str) -> bool:
        """Whether a peer is installed and wanted."""
        module = MODULE[who]
        return module not in find_missing() and (self.peers is None or who.partition(".")[0] in self.peers)


def _against(plan: Plan, ours: dict[str, Any], rivals: list[str], goals: dict[str, tuple[Goal, ...]]) -> dict[str, Any]:
    """One of ours against every rival that takes part, all with the same linkage."""
    present = [who for who in rivals if plan.takes_part(who)]
    contenders = [ours, *({"who": who, "method": ours["method"]} for who in present)]
    pairs = [Pair(0, i + 1, goals.get(who, ())) for i, who in enumerate(present)]
    return {"contenders": contenders, "pairs": pairs}


def _rivals(method: str) -> list[str]:
    """Every peer that offers a linkage on vectors."""
    rivals = ["fastcluster", "scipy"]
    if method in ("single", "complete", "average", "ward"):
        rivals.append("scikit-learn")
    return rivals


# real data and how many samples they have; those in the catalog take part if LINKWISE_DATA names their folder
REAL: tuple[tuple[int, dict[str, Any]], ...] = (
    (1_797, {"make": "digits"}),
    (10_992, {"make": "catalogued", "name": "pendigits"}),
    (20_000, {"make": "catalogued", "name": "letter"}),
)


def _three_kinds(n: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name ``n`` samples whose classes are apart, ``n`` whose classes overlap, and ``n`` of the smallest real set."""
    yield "separated", {"make": "blobs", "n": n}
    yield "overlapping", {"make": "overlapping", "n": n}
    for size, data in REAL:
        if n <= size:
            if not _is_out_of_reach(data, n, size):
                yield data.get("name", "digits"), {**data, "n": n}
            return


# -- dense -------------------------------------------------------------------------------------------------------------


def dense(plan: Plan) -> Iterator[Row]:
    """Average and complete linkage of n vectors: first call of a process in float32, later calls in float64."""
    for n in plan.sizes_or(SMALL, 3_000, FULL):
        for name, data in _three_kinds(n):
            for method in ("average", "complete"):
                goals = (Goal("wall", 0.2), Goal("peak", 0.7)) if n >= FULL else ()
                ours = {"who": "linkwise", "method": method, "dtype": "float32"}
                sides = _against(plan, ours, _rivals(method), {"fastcluster": goals})
                case = f"{method}, {name} n={n:,}, first call"
                yield from measure(Comparison("dense", case, data, **sides, fresh=True), plan.repeats)
            for method in LINKAGES if n <= SMALL else ("average", "complete"):
                wanted = (Goal("wall", 1.2),) if n <= SMALL else (Goal("wall", 0.45),) if n >= FULL else ()
                ours = {"who": "linkwise", "method": method, "dtype": "float64"}
                # the other peers had their turn above; here the point is the same tree in less time
                rivals = _rivals(method) if n <= SMALL else ["fastcluster"]
                sides = _against(plan, ours, rivals, {"fastcluster": wanted})
                yield from measure(Comparison("dense", f"{method}, {name} n={n:,}, warm", data, **sides), plan.repeats)


# -- vectors -----------------------------------------------------------------------------------------------------------


# Few samples get a matrix even here; the warm-up must be large enough to load the code that does without.
WARM_UP = 1_300


# name, sizes, data; those in the catalog take part if LINKWISE_DATA names their folder
VECTOR_CASES: tuple[tuple[str, tuple[int, ...], dict[str, Any]], ...] = (
    ("separated", (3_000, FULL, 20_000), {"make": "blobs"}),
    ("overlapping", (3_000, FULL, 20_000), {"make": "overlapping"}),
    ("digits", (1_797,), {"make": "digits"}),
    ("pendigits", (10_992,), {"make": "catalogued", "name": "pendigits"}),
    ("letter", (20_000,), {"make": "catalogued", "name": "letter"}),
)


def vectors(plan: Plan) -> Iterator[Row]:
    """Linkages that need no distance matrix, float64, first call of a process, against peers that need none either.

    Classes that are apart, classes that overlap, and real data.
    """
    for name, sizes, data in VECTOR_CASES:
        for n in plan.sizes_or(*sizes):
            if _is_out_of_reach(data, n, sizes[-1]):
                continue
            for method in ("ward", "centroid", "single"):
                goals: tuple[Goal, ...] = (Goal("wall", 0.6),) if data["make"] in ("blobs", "overlapping") else ()
                if n >= FULL:  # below, the peak is lost among what importing left behind
                    goals += (Goal("peak of ours", 20.0, "x data"),)
                ours = {"who": "linkwise", "method": method, "dtype": "float64"}
                rivals = ["fastcluster.linkage_vector", *(["genieclust"] if method == "single" else [])]
                sides = _against(plan, ours, rivals, {"fastcluster.linkage_vector": goals})
                case = f"{method}, {name} n={n:,}, first call"
                yield from measure(
                    Comparison("vectors", case, {**data, "n": n}, **sides, fresh=True, warm_up=WARM_UP), plan.repeats
                )
    if plan.large:
        yield _large()


def _is_out_of_reach(data: dict[str, Any], n: int, size: int) -> bool:
    """Whether a data set has fewer samples, or lies in a folder that is not named."""
    drawn = data["make"] in ("blobs", "overlapping")
    return (not drawn and n > size) or (data["make"] == "catalogued" and not os.environ.get("LINKWISE_DATA"))


def _large() -> Row:
    job = {"job": "compare", "data": {"make": "blobs", "n": 100_000}, "fresh": True, "rounds": 1, "warm-up": WARM_UP}
    (one,) = run_child({**job, "contenders": [{"who": "linkwise", "method": "ward"}]})
    row = Row("vectors", "ward n=100,000, first call, once", "linkwise float64", "the clock")
    row.failed, row.ours_failed = one.get("error", ""), "error" in one
    if not row.failed:
        row.figures = {"seconds": Spread.of(one["wall"])}
        row.seconds = {"wall": (one["wall"][0], None), "cpu": (one["cpu"][0], None)}
        row.peak_mb = (one["peak"] / 2**20 if "peak" in one else None, None)
    row.goals = [Goal("seconds", 90.0, "s")]
    return row


# -- constrained -------------------------------------------------------------------------------------------------------


def constrained(plan: Plan) -> Iterator[Row]:
    """Must-links and cannot-links, half and half, or cannot-links alone, against our own unconstrained run."""
    for n in plan.sizes_or(3_000, FULL):
        for name, data in _three_kinds(n):
            for method in ("average", "complete", "ward"):
                contenders: list[dict[str, Any]] = [{"who": "linkwise", "method": method}]
                pairs = []
                for who in ("ConstrainedAgglomerative, tree alone", "ConstrainedAgglomerative"):
                    wanted = (Goal("wall", 1.15),) if who.endswith("tree alone") else ()
                    for said in (
                        ("links", 0),
                        ("links", n),
                        ("links", 10 * n),
                        ("cannot-links", n),
                        ("cannot-links", 10 * n),
                    ):
                        pairs.append(Pair(len(contenders), 0, wanted))
                        contenders.append({"who": who, "method": method, "said": said})
                # with a number of clusters merging may meet a dead end, and leaves it
                free = len(contenders)
                k = 26 if name == "letter" else 20
                whole = {"who": "ConstrainedAgglomerative", "method": method, "n_clusters": k}
                contenders.append({**whole, "said": ("links", 0)})
                for said in (("links", 4 * n), ("links", 10 * n)):
                    pairs.append(Pair(len(contenders), free, (Goal("cpu", 2.5),)))
                    contenders.append({**whole, "said": said})
                case = f"{method}, {name} n={n:,}, warm"
                yield from measure(Comparison("constrained", case, data, contenders, pairs), plan.repeats)


# -- rivals ------------------------------------------------------------------------------------------------------------


def rivals(plan: Plan) -> Iterator[Row]:
    """Average linkage under links, against packages that offer it; what is broken in as many clusters as classes."""
    sets: list[tuple[str, dict[str, Any], int]] = []
    for n in plan.sizes_or(2_000):
        sets.append((f"average n={n:,}", {"make": "blobs", "n": n}, 20))
        sets.append((f"average, 10 mixed classes n={n:,}", {"make": "blobs", "n": n, **MIXED}, 10))
    sets.append(("average, iris", {"make": "catalogued", "name": "iris"}, 3))
    for case, data, k in sets:
        m = data["n"] // 10 if "n" in data else 80
        said = {"method": "average", "said": ("links", m), "k": k}
        who = [name for name in ("constrained-linkage", "pyannote.core") if plan.takes_part(name)]
        contenders = [{"who": name, **said} for name in ("ConstrainedAgglomerative, tree alone", *who)]
        # the others take half a minute a time; two of them will do
        pairs = [Pair(0, 1 + at, (Goal("wall", 0.01),) if "n=" in case else ()) for at in range(len(who))]
        if pairs:
            comparison = Comparison("rivals", f"{case}, {m} links, warm", data, contenders, pairs)
            yield from measure(comparison, min(plan.repeats, 2))


# -- propagate ---------------------------------------------------------------------------------------------------------


def propagate(plan: Plan) -> Iterator[Row]:
    """Shortest paths through must-links against NumPy's plain loop; the whole method against plain complete link."""
    for n in plan.sizes_or(3_000):
        for d, classes, dtype in ((16, 20, "float64"), (16, 20, "float32"), (2, 3, "float64")):
            linked = n // 3
            job = {"job": "propagation", "n": n, "d": d, "classes": classes, "linked": linked, "dtype": dtype}
            # the loop takes half a minute a time; two of them will do
            ours, theirs = run_child({**job, "rounds": min(plan.repeats, 2)})
            case = f"{ours['linked']:,} of {n:,} samples linked, {d} features, {dtype}, warm"
            row = Row("propagate", case, "propagate", "loop over pivots in NumPy")
            row.goals = [Goal("wall", 0.2)] if n >= 3_000 else []
            for clock in ("wall", "cpu"):
                row.figures[clock] = Spread.of_ratio(ours[clock], theirs[clock])
                row.seconds[clock] = min(ours[clock]), min(theirs[clock])
            row.notes.append(f"largest difference {ours['off']:.0e} of the largest distance")
            yield row
        contenders: list[dict[str, Any]] = [{"who": "linkwise", "method": "complete"}]
        pairs = []
        for who in ("ConstrainedCompleteLink, tree alone", "ConstrainedCompleteLink"):
            for said in (("must-links", n // 20), ("must-links", n // 6), ("links", n), ("cannot-links", n)):
                pairs.append(Pair(len(contenders), 0))
                contenders.append({"who": who, "method": "complete", "said": said})
        for name, data in _three_kinds(n):
            case = f"complete, {name} n={n:,}, warm"
            yield from measure(Comparison("propagate", case, data, contenders, pairs), plan.repeats)
    yield from _against_free_links(plan)


def _against_free_links(plan: Plan) -> Iterator[Row]:
    """Complete link where must-links bend distances, against complete link on the same links where they do not."""
    for n in plan.sizes_or(3_000, FULL):
        for name, data in _three_kinds(n):
            options = {"method": "complete", "said": ("links", max(2, n // 10))}
            who = ("ConstrainedCompleteLink, tree alone", "ConstrainedAgglomerative, tree alone")
            contenders = [{"who": one, **options} for one in who]
            case, pairs = f"complete, {name} n={n:,}, warm", [Pair(0, 1, (Goal("cpu", 2.0),))]
            comparison = Comparison("propagate", case, data, contenders, pairs)
            yield from measure(comparison, min(plan.repeats, 3))


# -- recon -------------------------------------------------------------------------------------------------------------

# name, size the goal is about, data, kind of triplets, goal
TRIPLET_CASES: tuple[tuple[str, int, dict[str, Any], str, float | None], ...] = (
    ("digits", 1_797, {"make": "digits"}, "triplets", 1.3),
    ("digits_389", 3_165, {"make": "catalogued", "name": "digits_389"}, "triplets", 1.3),
    ("letters_ijlt", 3_059, {"make": "catalogued", "name": "letters_ijlt"}, "triplets", 1.3),
    ("3 classes", 3_000, {"make": "blobs", "classes": 3}, "triplets", 2.0),
    ("26 classes, spread 1", 3_000, {"make": "blobs", "classes": 26, "spread": 1.0}, "triplets", 4.0),
    ("26 classes, spread 0.5", 3_000, {"make": "blobs", "classes": 26, "spread": 0.5}, "triplets", None),
    ("10 classes, spread 1", 10_000, {"make": "blobs", "classes": 10, "spread": 1.0}, "triplets", 3.0),
    ("random tree unrelated to the data", 3_000, {"make": "blobs"}, "tree", 10.0),
    ("3 classes, overlapping", 3_000, {"make": "overlapping", "classes": 3}, "triplets", None),
    ("26 classes, overlapping", 3_000, {"make": "overlapping", "classes": 26}, "triplets", None),
    ("10 classes, overlapping", 10_000, {"make": "overlapping", "classes": 10}, "triplets", None),
    ("pendigits", 10_992, {"make": "catalogued", "name": "pendigits"}, "triplets", None),
)


def recon(plan: Plan) -> Iterator[Row]:
    """As many triplets as samples, against the unconstrained centroid linkage of fastcluster in the same process."""
    cases = [TRIPLET_CASES[i] for i in (0, 3, 7, 8)] if plan.quick else TRIPLET_CASES
    for name, size, data, kind, limit in cases:
        for n in plan.sizes_or(size):
            if _is_out_of_reach(data, n, size):
                continue
            said, mixes = (kind, n), data["make"] == "overlapping"
            contenders: list[dict[str, Any]] = [{"who": "ReCon, tree alone", "said": said}]
            if name == "digits":  # with checks, cut and certificate
                contenders.append({"who": "ReCon", "said": said})
            pairs = []
            for who in ("fastcluster", "fastcluster.linkage_vector"):
                if plan.takes_part(who):
                    contenders.append({"who": who, "method": "centroid"})
                    wanted = (Goal("wall", limit),) if who == "fastcluster" and limit and n == size else ()
                    if who == "fastcluster.linkage_vector" and n == size and (mixes or name == "digits"):
                        wanted = (Goal("wall", 2.0 if mixes else 1.0),)
                    pairs.append(Pair(0, len(contenders) - 1, wanted))
                    if name == "digits" and who == "fastcluster":
                        pairs.append(Pair(1, len(contenders) - 1))
            comparison = Comparison("recon", f"{name} n={n:,}, warm", {**data, "n": n}, contenders, pairs)
            yield from measure(comparison, plan.repeats)
    yield from _live(plan)


def _live(plan: Plan) -> Iterator[Row]:
    n, m = (100, 1_000) if plan.quick else (5_000, 50_000)
    found = run_child({"job": "live", "n": n, "m": m, "rounds": plan.repeats})
    labels = {"add_many": "all in one call", "add": "one call each", "refuse": "1,000 contradictions, one call each"}
    for key, label in labels.items():
        row = Row("recon", f"live set of {m:,} triplets, {label}", "LiveTriplets", "the clock")
        row.figures = {"per triplet": Spread.of([1e6 * value for value in found[key]])}
        if key != "refuse":
            row.goals = [Goal("per triplet", 10.0, "µs")]
        if key == "add":
            row.notes.append(f"slowest single call {1e3 * min(found['worst']):.2f} ms")
        yield row


# -- build -------------------------------------------------------------------------------------------------------------

LEAVES, TRIPLETS = 100_000, 1_000_000  # what must be done within half a minute, whatever the shape of the tree


def build(plan: Plan) -> Iterator[Row]:
    """The tree of triplets (BUILD): those of a random tree against tralda, many of every shape against the clock."""
    cases = [(1_000, 1_000), (1_000, 50_000), (5_000, 50_000)]
    if plan.sizes or plan.quick:
        cases = [(n, 10 * n) for n in plan.sizes_or()]
    if plan.takes_part("tralda"):
        for n, m in cases:
            job = {"job": "build", "n": n, "m": m, "shape": "random", "contenders": ["onetree", "tralda"]}
            ours, theirs = run_child({**job, "rounds": plan.repeats})
            row = Row(
                "build", f"{m:,} triplets about {n:,} leaves, warm", "onetree", "tralda", goals=[Goal("wall", 0.04)]
            )
            for clock in ("wall", "cpu"):
                row.figures[clock] = Spread.of_ratio(ours[clock], theirs[clock])
                row.seconds[clock] = min(ours[clock]), min(theirs[clock])
            row.notes.append("same tree" if ours["tree"] == theirs["tree"] else "another tree")
            yield row
    n, m = (120, 1_200) if plan.quick else (LEAVES, TRIPLETS)
    for shape in (*SHAPES, "chain"):
        job = {"job": "build", "n": n, "m": m, "shape": shape, "contenders": ["onetree"], "rounds": plan.repeats}
        (ours,) = run_child(job)
        said = n - 2 if shape == "chain" else m
        row = Row("build", f"{said:,} triplets about {n:,} leaves, {shape}, warm", "onetree", "the clock")
        row.figures = {"seconds": Spread.of(ours["wall"])}
        row.seconds = {clock: (min(ours[clock]), None) for clock in ("wall", "cpu")}
        row.goals = [Goal("seconds", 30.0, "s")]
        yield row


# -- ultrametric -------------------------------------------------------------------------------------------------------

MIXED = {"classes": 10, "spread": 1.0}


def ultrametric(plan: Plan) -> Iterator[Row]:
    """Methods that do not guarantee triplets, as many as samples, against single linkage and the plain method."""
    for n in plan.sizes_or(3_000):
        said = ("triplets", n)
        if plan.takes_part("fastcluster + cophenet"):
            contenders: list[dict[str, Any]] = [
                {"who": "UltraTran, tree alone", "said": said},
                {"who": "fastcluster + cophenet", "method": "single"},
            ]
            pairs = [Pair(0, 1, (Goal("wall", 0.3),))]
            for name, data in _three_kinds(n):
                case = f"faithful, {name} n={n:,}, warm"
                yield from measure(Comparison("ultrametric", case, data, contenders, pairs), plan.repeats)
        contenders = [{"who": "linkwise on a matrix", "method": "average"}]
        contenders += [{"who": f"{who}, tree alone", "method": "average", "said": said} for who in ("IPoptim", "HACoc")]
        pairs = [Pair(1, 0, (Goal("wall", 1.1),)), Pair(2, 0)]
        data = {"make": "distances", "n": n}
        yield from measure(
            Comparison("ultrametric", f"average on a matrix n={n:,}, warm", data, contenders, pairs), plan.repeats
        )
    for n in plan.sizes_or(FULL):
        for name, options in (("20 classes", {}), ("10 classes, spread 1", MIXED)):
            for kind in ("triplets", "tree"):
                said = (kind, n)
                ours = ("UltraTran, tree alone", "UltraTran, strict, tree alone", "UltraTran, strict")
                contenders = [{"who": who, "said": said} for who in ours]
                pairs = [Pair(1, 0, (Goal("wall", 3.0),)), Pair(2, 0)]
                data = {"make": "blobs", "n": n, **options}
                case = f"strict, {kind}, {name} n={n:,}, warm"
                yield from measure(Comparison("ultrametric", case, data, contenders, pairs), plan.repeats)


# -- start -------------------------------------------------------------------------------------------------------------


def start(plan: Plan) -> Iterator[Row]:
    """Import against scikit-learn's clustering; the first fit of a process, compiling or with kernels on disk."""
    modules = ("linkwise", "linkwise.engines", "sklearn.cluster")  # the second is what a first fit loads
    times: dict[str, list[dict[str, float]]] = {module: [] for module in modules}
    for module in modules:
        import_time(module)  # not kept: brings the files into memory
    for turn in range(plan.repeats):
        for module in modules if turn % 2 == 0 else reversed(modules):
            times[module].append(import_time(module))
    for module in modules[:2]:
        row = Row("start", "import, fresh process", module, "sklearn.cluster")
        row.goals = [Goal("wall", 0.25)] if module == "linkwise" else []
        for clock in ("wall", "cpu"):
            ours, theirs = ([one[clock] for one in times[name]] for name in (module, "sklearn.cluster"))
            row.figures[clock] = Spread.of_ratio(ours, theirs)
            row.seconds[clock] = min(ours), min(theirs)
        yield row
    estimators = (("ConstrainedAgglomerative", "links"), ("ConstrainedCompleteLink", "links"), ("ReCon", "triplets"))
    for estimator, said in estimators:
        yield from _first_fits(plan, {"job": "first_fit", "estimator": estimator, "said": said, "n": 500})


def _first_fits(plan: Plan, job: dict[str, Any]) -> Iterator[Row]:
    environment = {key: value for key, value in os.environ.items() if key.startswith("NUMBA_")}
    with tempfile.TemporaryDirectory() as empty:
        environment["NUMBA_CACHE_DIR"] = empty
        fits = [run_child(job, **environment) for _ in range(1 + plan.repeats)]
    for case, some, limit in (
        ("first fit, nothing compiled yet, once", fits[:1], 20.0),
        ("first fit, compiled before", fits[1:], 1.0),
    ):
        row = Row("start", case, job["estimator"], "the clock", goals=[Goal("seconds", limit, "s")])
        row.figures = {"seconds": Spread.of([one["wall"] for one in some])}
        row.seconds = {clock: (min(one[clock] for one in some), None) for clock in ("wall", "cpu")}
        row.notes.append(f"after an import of {min(one['import'] for one in some):.2f} s")
        yield row


SECTIONS = {
    "dense": dense,
    "vectors": vectors,
    "constrained": constrained,
    "recon": recon,
    "build": build,
    "ultrametric": ultrametric,
    "propagate": propagate,
    "rivals": rivals,
    "start": start,
}
