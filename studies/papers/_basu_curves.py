"""The tutorial's curves: metric and penalties apart, inference, asking, kernels, and trees, on the available sets."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.preprocessing import normalize

from linkwise import datasets
from linkwise._typing import FloatArray, IntArray
from linkwise.active import Dialogue, ExploreConsolidate
from linkwise.constraints import Constraints, Kind
from linkwise.engines import ConstrainedAgglomerative, COPKMeans, HMRFKMeans, KernelKMeans, MKMeans, MPCKMeans, PCKMeans
from linkwise.exceptions import LinkwiseWarning
from linkwise.metrics import confusion_matrix, constrained_rand, level_distortion, level_purity, nmi
from studies.papers._computations import compute_all
from studies.papers._exhibit import Exhibit, Figure, Found, Settings, Table, mean_and_error
from studies.papers._prepared_sets import complete, exactly, on_hand, random_pairs
from studies.papers._verdict_rules import Judged, Span, all_hold, beside_printed, every_line_rises

Curve = dict[tuple[str, int], list[float]]

DIGITS, NEWS = "digits_389", "news_related_3"
N_DIGITS = 300
PARTS = {DIGITS: ("K", "MK", "PCK", "MPCK"), NEWS: ("K", "PCK", "MPCK")}
INFERENCES = ("icm", "trees", "bp", "lp")
KERNELS = ("linear", "rbf")
WAYS = ("random pairs", "Explore and Consolidate")
PAIRS = (0, 50, 100, 200, 400)
QUERIES = (0, 20, 40, 60, 100)
WAGSTAFF = ("iris", "wine", "soybean")
# documents of each class in each of the three clusters, of 100, without constraints and after 20 queries
PRINTED_MATRIX = {
    ("Misc", 0): (71, 12, 17),
    ("Guns", 0): (25, 61, 14),
    ("Mideast", 0): (12, 36, 52),
    ("Misc", 20): (84, 7, 9),
    ("Guns", 20): (5, 91, 4),
    ("Mideast", 20): (7, 7, 86),
}
GROUPS = (
    "Misc",
    "Guns",
    "Mideast",
)  # as the slide orders talk.politics.misc, .guns, .mideast, each matched to a cluster
CLASSES = ("Guns", "Mideast", "Misc")  # as the set numbers them
# average distortion and purity over the dendrogram, without and with constraints
PRINTED_TREES = {
    "iris": ((3.2, 2.7), (0.58, 0.66)),
    "breast": ((8.0, 7.3), (0.53, 0.59)),
    "pendigits_38": ((17.1, 15.2), (0.35, 0.45)),
    "pima": ((9.8, 8.1), (0.61, 0.68)),
    "census_adult": ((26.3, 22.3), (0.56, 0.61)),
}
TOLERANCE = 0.005
ONLY_PICTURES = "The slide is a picture without numbers"


@lru_cache(maxsize=4)
def samples(name: str, data_folder: Path | None) -> tuple[Any, IntArray]:
    """The subsets of the slides: 300 digits 3, 8 and 9; news as tf-idf of words in ten documents, of length 1."""
    data = datasets.load(name, data_folder)
    if name != NEWS:
        X, y = complete(name, data_folder)
        if name == DIGITS:
            rows = np.sort(np.random.default_rng(0).choice(len(X), N_DIGITS, replace=False))
            X, y = X[rows], y[rows]
        return X, np.asarray(y)
    counts = scipy.sparse.csc_array(data.X, dtype=np.float64)
    share = np.diff(counts.indptr)
    often = np.flatnonzero(share >= 10)
    kept = counts[:, often] @ scipy.sparse.diags_array(np.log(counts.shape[0] / share[often]))
    return normalize(kept).toarray(), np.asarray(data.y)


def score(
    study: str, data: str, line: str, amount: int, seed: int, data_folder: Path | None = None
) -> dict[str, float]:
    """Mutual information of the half of the samples that no pair is drawn from, or what else the slide shows."""
    X, y = samples(data, data_folder)
    if study == "asked":
        return _ask(X, y, line, amount, seed)
    rng = np.random.default_rng([2, amount, seed])
    if study == "Wagstaff":
        return _constrained_rand(X, y, amount, seed, rng)
    order = rng.permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    drawn = random_pairs(y[train], amount, rng, 1.0)
    known = Constraints.build(
        len(y),
        must_link=train[drawn.of(Kind.MUST_LINK)],
        cannot_link=train[drawn.of(Kind.CANNOT_LINK)],
        weight=1.0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        model = _estimator(study, data, line, y, amount, seed)
        labels = model.fit(X, constraints=_weighed(study, data, line, X, y, known)).labels_
    labels = exactly(labels, len(np.unique(y)), line)
    found = {"nmi": float(nmi(y[test], labels[test]))}
    if study == "inference":
        found["objective"] = float(model.objective_)
    return found


def _estimator(study: str, data: str, line: str, y: IntArray, amount: int, seed: int) -> Any:
    k = len(np.unique(y))
    if study == "kernels":
        return KernelKMeans(k, kernel=line, random_state=seed)
    if study == "inference":
        return HMRFKMeans(k, inference=line, random_state=seed)
    init = "neighborhoods" if amount and line != "K" else "k-means++"
    if data == NEWS:
        form = "diagonal" if line == "MPCK" else "none"
        return HMRFKMeans(k, distortion="cosine", form=form, init=init, random_state=seed)
    named: Mapping[str, Any] = {"K": PCKMeans, "PCK": PCKMeans, "MK": MKMeans, "MPCK": MPCKMeans}
    return named[line](k, init=init, random_state=seed)


def _weighed(study: str, data: str, line: str, X: Any, y: IntArray, known: Constraints) -> Constraints:
    """Penalties on the scale of what they are traded against: pairs of samples, similarities, or nothing for K."""
    if line == "K":
        return Constraints.build(len(y))
    if study == "kernels" and known.n_statements:
        each = len(y) / (len(np.unique(y)) * known.n_statements)
        return known.with_weight(each * (1.0 if line == "rbf" else float(np.var(X, axis=0).sum())))
    if line in ("MK", "MPCK") or data == NEWS:
        return known
    return known.with_weight(2.0 * float(np.var(X, axis=0).sum()))


def _constrained_rand(X: FloatArray, y: IntArray, amount: int, seed: int, rng: np.random.Generator) -> dict[str, float]:
    known = random_pairs(y, amount, rng, np.inf)
    labels = COPKMeans(len(np.unique(y)), random_state=seed).fit(X, constraints=known).labels_
    return {"rand": float(constrained_rand(y, labels, known))}


def _ask(X: Any, y: IntArray, line: str, amount: int, seed: int) -> dict[str, float]:
    """Cluster three newsgroups after questions, drawn or chosen; also how many documents of each are where."""
    k, known = len(np.unique(y)), Constraints.build(len(y))
    if line == WAYS[1] and amount:
        with Dialogue(X, strategy=ExploreConsolidate(k), budget=amount, metric="cosine", random_state=seed) as talk:
            while (query := talk.ask()) is not None:
                a, b = query.items
                talk.tell(query, y[a] == y[b])
            known = talk.constraints
    elif amount:
        known = random_pairs(y, amount, np.random.default_rng([3, amount, seed]), np.inf)
    init = "neighborhoods" if amount else "k-means++"
    labels = HMRFKMeans(k, distortion="cosine", init=init, random_state=seed).fit(X, constraints=known).labels_
    matched = confusion_matrix(y, exactly(labels, k, line)).matrix  # cluster number c is the one of class number c
    counts = {f"{c} {cluster}": float(matched[c, cluster]) for c in range(k) for cluster in range(k)}
    return {"nmi": float(nmi(y, labels))} | counts


def dendrogram(data: str, seed: int, data_folder: Path | None = None) -> dict[str, float]:
    """Distortion and purity averaged over the levels of the tree, without and with as many pairs as a tenth of n."""
    X, y = complete(data, data_folder)
    found: dict[str, float] = {}
    known = random_pairs(y, len(y) // 10, np.random.default_rng([4, seed]), np.inf)
    for name, said in (("unconstrained", Constraints.build(len(y))), ("constrained", known)):
        tree = ConstrainedAgglomerative(None, linkage="centroid").fit(X, constraints=said).dendrogram_
        found[f"purity, {name}"] = float(level_purity(y, tree))
        found[f"distortion, {name}"] = float(level_distortion(X, tree))
    return found


def _curves(
    settings: Settings, study: str, data: str, lines: Sequence[str], grid: Sequence[int], what: str = "nmi"
) -> tuple[Curve, dict[tuple[str, int], list[dict[str, float]]]]:
    """Compute all lines at all amounts; return one value of each run, and all values."""
    draws = settings.repeats(10, 2)
    places = [(line, amount) for line in lines for amount in grid for _ in range(draws)]
    tasks = [
        {"study": study, "data": data, "line": line, "amount": amount, "seed": seed}
        for line in lines
        for amount in grid
        for seed in range(draws)
    ]
    runs: dict[tuple[str, int], list[dict[str, float]]] = {}
    for place, values in zip(places, compute_all(settings, "basu2006", score, tasks), strict=True):
        runs.setdefault(place, []).append(values)
    return {place: [values[what] for values in of] for place, of in runs.items()}, runs


def _figure(key: str, title: str, curve: Curve, judged: Judged, y_label: str = "mutual information") -> Figure:
    found = tuple(Found(line, amount, *mean_and_error(values)) for (line, amount), values in curve.items())
    return Figure(key, title, found, judged, x_label="pairs", y_label=y_label)


def _mean(curve: Curve, line: str) -> float:
    """Mean over all amounts above none."""
    return float(np.mean([np.mean(values) for (name, amount), values in curve.items() if name == line and amount]))


def _grid(settings: Settings, amounts: Sequence[int]) -> tuple[int, ...]:
    return tuple(amounts[:: settings.size(1, 2)])


def ablation(settings: Settings) -> Iterator[Exhibit]:
    """PenDigits and 20 Newsgroups: metric, penalties, both, neither; mutual information on held-out samples."""
    for data in on_hand(settings, PARTS):
        lines = PARTS[data]
        curve, _ = _curves(settings, "ablation", data, lines, _grid(settings, PAIRS))
        mean = {line: _mean(curve, line) for line in lines}
        yield _figure(
            f"Ablation, {data}",
            "metric learning and penalties, apart and together",
            curve,
            all_hold(
                {f"MPCK is above {line}": mean["MPCK"] - mean[line] for line in lines if line != "MPCK"},
                least=TOLERANCE,
                why=(
                    f"{ONLY_PICTURES}, shown for what metric learning and penalties do together. Means: "
                    f"{', '.join(f'{line} {value:.3f}' for line, value in mean.items())}."
                ),
                rule="Means over all amounts above none, of samples that no pair is drawn from, are compared.",
            ),
        )


def inference(settings: Settings) -> Iterator[Exhibit]:
    """Inference in HMRF-KMeans: mutual information on held-out samples, and the objective."""
    for data in on_hand(settings, [DIGITS]):
        curve, runs = _curves(settings, "inference", data, INFERENCES, _grid(settings, PAIRS)[1:])
        mean = {line: _mean(curve, line) for line in INFERENCES}
        energy = {
            line: float(np.mean([v["objective"] for (name, _), of in runs.items() if name == line for v in of]))
            for line in INFERENCES
        }
        yield _figure(
            f"Inference, {data}",
            "how the labels of linked samples are found",
            curve,
            all_hold(
                {},
                least=TOLERANCE,
                why=(
                    f"{ONLY_PICTURES}, and says nothing of the outcome. Mean mutual information and objective: "
                    f"{', '.join(f'{line} {mean[line]:.3f} at {energy[line]:,.0f}' for line in INFERENCES)}."
                ),
                rule="Nothing is claimed that could be compared.",
            ),
        )


def asking(settings: Settings) -> Iterator[Exhibit]:
    """20 Newsgroups: the curve of active selection, and the confusion matrices before and after 20 queries."""
    for data in on_hand(settings, [NEWS]):
        grid = (0, 20) if settings.quick else QUERIES
        curve, runs = _curves(settings, "asked", data, WAYS, grid)
        mean = {line: _mean(curve, line) for line in WAYS}
        yield _figure(
            f"Active learning, {data}",
            "questions that are chosen, and pairs that are drawn",
            curve,
            all_hold(
                {"chosen questions are above drawn pairs": mean[WAYS[1]] - mean[WAYS[0]]},
                least=TOLERANCE,
                why=f"{ONLY_PICTURES}. Means: {', '.join(f'{line} {value:.3f}' for line, value in mean.items())}.",
                rule="Means over all numbers of questions above none are compared.",
            ),
        )
        found = [
            Found(
                f"{name}, {amount} queries",
                f"cluster {at + 1}",
                *mean_and_error(
                    [run[f"{CLASSES.index(name)} {CLASSES.index(other)}"] / 100 for run in runs[WAYS[1], amount]]
                ),
                PRINTED_MATRIX[name, amount][at] / 100,
            )
            for amount in (0, 20)
            for name in GROUPS
            for at, other in enumerate(GROUPS)
        ]
        yield Table(
            "Confusion matrices",
            "share of three newsgroups in three clusters, before and after 20 queries",
            tuple(found),
            judge_matrices(found),
        )


def judge_matrices(found: Sequence[Found]) -> Judged:
    """Compare the share of each group in its own cluster with the printed one."""
    own = {name: f"cluster {at + 1}" for at, name in enumerate(GROUPS)}
    kept = [one for one in found if one.x == own[one.line.split(",")[0]]]
    rise = {n: float(np.mean([one.value for one in kept if f", {n} " in one.line])) for n in (0, 20)}
    return beside_printed(
        [Span(one.line, one.value, one.error, one.printed) for one in kept],
        slack=0.01,
        higher_is_better=True,
        rounding="a hundredth",
        leading=f"On the diagonal {rise[0]:.2f} without constraints and {rise[20]:.2f} after 20 queries. ",
    )


def kernels(settings: Settings) -> Iterator[Exhibit]:
    """PenDigits: semi-supervised kernel k-means with a linear and an exponential kernel."""
    for data in on_hand(settings, [DIGITS]):
        grid = _grid(settings, PAIRS)
        curve, _ = _curves(settings, "kernels", data, KERNELS, grid)
        rise = {line: float(np.mean(curve[line, grid[-1]]) - np.mean(curve[line, 0])) for line in KERNELS}
        yield _figure(
            f"Kernels, {data}",
            "kernel k-means with pairs, by kernel",
            curve,
            every_line_rises(
                rise,
                ["rbf"],
                least=TOLERANCE,
                what=(
                    f"From none to {grid[-1]} pairs (means above none: "
                    f"{', '.join(f'{line} {_mean(curve, line):.3f}' for line in KERNELS)})"
                ),
                said=f"{ONLY_PICTURES}, shown for pairs that help under an exponential kernel",
            ),
        )


def wagstaff(settings: Settings) -> Iterator[Exhibit]:
    """The curve of mean accuracy by the number of constraints, with COP-KMeans."""
    for data in on_hand(settings, WAGSTAFF[: settings.size(3, 1)]):
        grid = _grid(settings, (0, 25, 50, 100, 200))
        curve, _ = _curves(settings, "Wagstaff", data, ["COP-KMeans"], grid, "rand")
        rise = float(np.mean(curve["COP-KMeans", grid[-1]]) - np.mean(curve["COP-KMeans", 0]))
        yield _figure(
            f"Averaged performance, {data}",
            "COP-KMeans with more and more pairs",
            curve,
            every_line_rises(
                {"COP-KMeans": rise},
                ["COP-KMeans"],
                least=TOLERANCE,
                what=f"Mean constrained Rand index from none to {grid[-1]} pairs",
                said=f"{ONLY_PICTURES}, shown for averages that rise",
            ),
            "constrained Rand index",
        )


def trees(settings: Settings) -> Iterator[Exhibit]:
    """Table 2 of the agglomerative results: distortion and purity averaged over the dendrogram."""
    sets = on_hand(settings, ["iris"] if settings.quick else PRINTED_TREES)
    draws = settings.repeats(10, 2)
    tasks = [{"data": name, "seed": seed} for name in sets for seed in range(draws)]
    made = iter(compute_all(settings, "basu2006", dendrogram, tasks))
    found, claims = [], {}
    for name in sets:
        runs = [next(made) for _ in range(draws)]
        mean = {}
        for measure, printed in zip(("distortion", "purity"), PRINTED_TREES[name], strict=True):
            for column, said in zip(("unconstrained", "constrained"), printed, strict=True):
                values = [run[f"{measure}, {column}"] for run in runs]
                mean[measure, column] = float(np.mean(values))
                found.append(Found(f"{name}, {measure}", column, *mean_and_error(values), printed=said))
        before = mean["distortion", "unconstrained"]
        claims[f"{name}, purity rises"] = mean["purity", "constrained"] - mean["purity", "unconstrained"]
        claims[f"{name}, distortion falls by this share"] = 1.0 - mean["distortion", "constrained"] / before
    yield Table(
        "Table 2, trees",
        "distortion and purity averaged over the dendrogram, without and with pairs",
        tuple(found),
        all_hold(
            claims,
            least=0.001,
            why=(
                "How the printed figures average, the number of pairs and the scaling are not printed, so that figures "
                "cannot be compared, but what constraints do can."
            ),
            rule="With a tenth as many pairs as samples; each level of a tree counts once. Differences are compared.",
        ),
    )


CURVES: dict[str, Callable[[Settings], Iterator[Exhibit]]] = {
    "ablation": ablation,
    "inference": inference,
    "active": asking,
    "kernels": kernels,
    "averages": wagstaff,
    "trees": trees,
}
