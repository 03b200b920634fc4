"""Bade and Nürnberger: hierarchies of texts when some classes are labeled and some are unknown, and refined ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from linkwise import datasets
from linkwise._typing import IntArray
from linkwise.engines import IHAC, BiHAC, BiiHAC
from linkwise.exceptions import LinkwiseWarning
from linkwise.metrics import class_f, h_correlation
from linkwise.sources import Taxonomy, refine
from studies.papers._computations import compute_all
from studies.papers._exhibit import Exhibit, Figure, Found, Paper, Settings, Table, mean_and_error
from studies.papers._prepared_sets import on_hand
from studies.papers._verdict_rules import Judged, all_hold

SETS = {"9": ("banksearch_lda_100", "reuters1_like"), "10": ("reuters2_like",)}
METHODS = ("HAC", "iHAC", "biHAC", "biiHAC")
MEASURES = ("H-correlation", "F, leaf classes", "F, higher classes")
SETTINGS = {1: "all classes known", 2: "one leaf class unknown", 3: "one subtree unknown"}
PER_CLASS = (5, 10, 15, 20, 25, 30)
TOLERANCE = 0.002  # of a difference between means
LITTLE = 0.05  # what "almost no improvement" and "about equal" may differ by; the paper names no number
REFINED = ("banksearch_lda_100", "reuters1_like", "reuters2_like", "news_tree_100")


class Texts(NamedTuple):
    """Weighted terms of documents, the tree of classes, and the node of each document."""

    X: Any
    parent: IntArray
    node: IntArray


@lru_cache(maxsize=4)
def read(name: str, n_terms: int, data_folder: Path | None) -> Texts:
    """Load a set; counts become tf-idf; terms of at least five documents, the ``n_terms`` that weigh most in all."""
    data = datasets.load(name, data_folder)
    X = scipy.sparse.csr_array(data.X, dtype=np.float64)
    share = np.asarray((X > 0).sum(axis=0)).ravel()
    if np.array_equal(X.data, np.round(X.data)):
        X = X @ scipy.sparse.diags_array(np.log(X.shape[0] / np.maximum(share, 1)))
    weight = np.where(share >= 5, np.asarray(X.sum(axis=0)).ravel(), -1.0)
    kept = np.sort(np.argsort(-weight, kind="stable")[: min(n_terms, int((share >= 5).sum()))])
    tree: Any = data.taxonomy
    return Texts(scipy.sparse.csr_array(scipy.sparse.csc_array(X)[:, kept]), tree.parent, tree.node)


def unknown_nodes(texts: Texts, setting: int, rng: np.random.Generator) -> IntArray:
    """Draw the classes without labels: none, a leaf, or a node with all below it."""
    parent = texts.parent
    nodes = np.arange(len(parent))
    inner, used = np.isin(nodes, parent), np.isin(nodes, texts.node)
    if setting == 1:
        return np.zeros(0, dtype=np.intp)
    if setting == 2:
        return rng.choice(np.flatnonzero(used & ~inner & (parent >= 0)), size=1)
    roots = parent < 0
    # the top of a subtree: a root, or a child of the root where there is only one
    tops = inner & (roots if roots.sum() > 1 else np.isin(parent, np.flatnonzero(roots)))
    below = {int(rng.choice(np.flatnonzero(tops)))}
    for _ in parent:
        below |= {v for v in range(len(parent)) if int(parent[v]) in below}
    return np.array(sorted(below), dtype=np.intp)


def label(texts: Texts, per_class: int, unknown: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw documents of each class, at most a third of a small one."""
    drawn = []
    for v in np.unique(texts.node):
        members = rng.permutation(np.flatnonzero(texts.node == v))
        if v not in unknown:
            drawn.append(members[: min(per_class, max(1, len(members) // 3))])
    return np.concatenate(drawn)


def score(
    data: str, setting: int, per_class: int, draw: int, runs: int, terms: int, data_folder: Path | None = None
) -> dict[str, Any]:
    """Return the three measures of the four methods on one draw of labels."""
    texts = read(data, terms, data_folder)
    rng = np.random.default_rng([setting, per_class, draw])
    told = label(texts, per_class, unknown_nodes(texts, setting, rng), rng)
    known = np.full(len(texts.node), -1)
    known[told] = texts.node[told]
    truth, said = Taxonomy(texts.parent, texts.node), Taxonomy(texts.parent, known).triplets()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)  # they do not guarantee triplets
        learned = BiHAC(max_iter=runs).fit(texts.X, constraints=said)
        stretched = texts.X @ scipy.sparse.diags_array(np.sqrt(learned.feature_weights_))
        models = {
            "HAC": BiHAC(max_iter=1, error_weights="uniform").fit(texts.X, constraints=said),
            "iHAC": IHAC().fit(texts.X, constraints=said),
            "biHAC": learned,
            "biiHAC": IHAC().fit(stretched, constraints=said),  # the tree of BiiHAC, which would learn again
        }
    found: dict[str, Any] = {}
    for name, model in models.items():
        tree = model.dendrogram_
        classes = class_f(truth, tree, labeled=told)
        found[name] = [h_correlation(truth, tree), classes.leaf, classes.higher]
    return found


def texts(number: str) -> Callable[[Settings], Iterator[Exhibit]]:
    """H-correlation and F over the number of labels per class, in three settings."""

    def show(settings: Settings) -> Iterator[Exhibit]:
        amounts = (10,) if settings.quick else PER_CLASS
        draws, runs, terms = settings.repeats(5, 1), settings.size(50, 10), settings.size(5000, 1000)
        for data in on_hand(settings, SETS[number]):
            places = [(setting, amount) for setting in SETTINGS for amount in amounts]
            tasks = [
                {"data": data, "setting": s, "per_class": a, "draw": d, "runs": runs, "terms": terms}
                for s, a in places
                for d in range(draws)
            ]
            made = iter(compute_all(settings, "bade2009", score, tasks))
            held: dict[tuple[int, int], list[Any]] = {place: [next(made) for _ in range(draws)] for place in places}
            for at, measure in enumerate(MEASURES):
                for setting, words in SETTINGS.items():
                    found = tuple(
                        Found(method, amount, *mean_and_error([row[method][at] for row in held[setting, amount]]))
                        for method in METHODS
                        for amount in amounts
                    )
                    yield Figure(
                        f"Figure {number}, {data}, {words}, {measure}",
                        f"{measure}, {words}",
                        found,
                        judge(data, held, amounts, at, setting),
                        x_label="labeled documents per class",
                        y_label=measure,
                    )

    return show


def judge(
    data: str, held: Mapping[tuple[int, int], list[Any]], amounts: Sequence[int], at: int, setting: int
) -> Judged:
    """Compare with what the paper says of this set, this measure and this setting."""

    def mean(method: str, setting: int, some: Sequence[int] = amounts) -> float:
        return float(np.mean([row[method][at] for amount in some for row in held[setting, amount]]))

    gain = {method: mean(method, setting) - mean("HAC", setting) for method in METHODS[1:]}
    lost = {method: mean(method, setting) - mean(method, 1) for method in METHODS[1:]}
    rise = {method: mean(method, setting, amounts[-1:]) - mean(method, setting, amounts[:1]) for method in METHODS[1:]}
    claims = all_known(data, at, gain) if setting == 1 else some_unknown(data, at, gain, lost)
    if len(amounts) > 1 and setting == 1 and data.startswith("banksearch") and at < 2:
        claims |= {f"{method} rises with labels": rise[method] for method in ("iHAC", "biiHAC")}
    if len(amounts) > 1 and setting == 3 and data == "reuters1_like" and at == 2:
        claims |= {"iHAC falls with labels": -rise["iHAC"]}
    told = f"Against HAC: {', '.join(f'{method} {value:+.3f}' for method, value in gain.items())}."
    if setting > 1:
        words = ", ".join(f"{method} {value:+.3f}" for method, value in lost.items())
        told += f" Against all classes known: {words}."
    return all_hold(
        claims,
        least=TOLERANCE,
        why=f"{told} What the paper says of it:",
        rule=(
            "Means over all amounts and draws are compared with those of HAC, and with those where all classes are "
            f"known. Little, or near, is up to {LITTLE:g}, which is ours."
        ),
    )


def all_known(data: str, at: int, gain: Mapping[str, float]) -> dict[str, float]:
    """What section 5.3 says of a set where all classes are known, as margins."""
    gains = {f"{method} gains": value for method, value in gain.items()}
    if data.startswith("banksearch"):
        if MEASURES[at] == "F, higher classes":
            return {f"{method} gains little": LITTLE - abs(value) for method, value in gain.items()}
        return gains | {"biiHAC is near iHAC": LITTLE - abs(gain["biiHAC"] - gain["iHAC"])}
    if data == "reuters1_like":
        del gains["biHAC gains"]  # "weighting can improve little"
        return gains | {"biHAC gains little": LITTLE - gain["biHAC"]}
    if MEASURES[at] == "H-correlation":
        return gains
    better = gain["biHAC"] - gain["iHAC"]
    ahead = {"biHAC is above iHAC": better} if MEASURES[at] == "F, leaf classes" else {"iHAC is above biHAC": -better}
    return ahead | {"biiHAC is above the worse of the two": gain["biiHAC"] - min(gain["iHAC"], gain["biHAC"])}


def some_unknown(data: str, at: int, gain: Mapping[str, float], lost: Mapping[str, float]) -> dict[str, float]:
    """What section 5.3 says of a set where some classes are unknown, as margins."""
    claims = {f"{method} loses less than iHAC": lost[method] - lost["iHAC"] for method in ("biHAC", "biiHAC")}
    if MEASURES[at] == "F, higher classes" and data.startswith("banksearch"):
        claims["iHAC is below HAC"] = -gain["iHAC"]
    if MEASURES[at] == "F, higher classes" and data == "reuters1_like":
        claims["iHAC is still above HAC"] = gain["iHAC"]
    return claims


def refined(
    data: str, setting: int, n_known: int, draw: int, runs: int, terms: int, data_folder: Path | None = None
) -> dict[str, float]:
    """Return what becomes of a hierarchy known for some documents: scores of the tree, and places of the others."""
    texts = read(data, terms, data_folder)
    rng = np.random.default_rng([setting, n_known, draw])
    unknown = unknown_nodes(texts, setting, rng)
    told = label(texts, n_known, unknown, rng)
    node = np.full(len(texts.node), -1)
    node[told] = texts.node[told]
    truth, known = Taxonomy(texts.parent, texts.node), Taxonomy(texts.parent, node)
    said = known.triplets(minimal=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)  # it does not guarantee triplets
        tree = BiiHAC(max_iter=runs, closure=True).fit(texts.X, constraints=said).dendrogram_
        plain = BiHAC(max_iter=1, error_weights="uniform").fit(texts.X, constraints=said).dendrogram_
    made = refine(tree, known)
    classes = class_f(truth, tree, labeled=told)
    hidden, new = np.isin(texts.node, unknown), made.taxonomy.node >= known.n_nodes
    fresh = (node < 0) & ~hidden
    found = {
        "H-correlation": h_correlation(truth, tree),
        "HAC": h_correlation(truth, plain),
        MEASURES[1]: classes.leaf,
        MEASURES[2]: classes.higher,
        "placed": float((made.taxonomy.node == texts.node)[fresh].mean()),
        "branches": float(made.n_new),
        "known, in branches": float(new[fresh].mean()),
    }
    return found | ({"unknown, in branches": float(new[hidden].mean())} if hidden.any() else {})


def refinement(settings: Settings) -> Iterator[Exhibit]:
    """Figure 3: a known hierarchy is refined by more documents, and extended by classes that were not known."""
    n_known, draws = settings.size(30, 10), settings.repeats(3, 1)
    runs, terms = settings.size(20, 5), settings.size(5000, 1000)
    sets = on_hand(settings, REFINED[:3] if settings.quick else REFINED)
    tasks = [
        # all triplets of 30 documents in each of 20 groups would take three gigabytes
        {"data": data, "setting": s, "n_known": min(n_known, 20) if data == REFINED[3] else n_known, "draw": d}
        | {"runs": runs, "terms": terms}
        for data in sets
        for s in SETTINGS
        for d in range(draws)
    ]
    made = list(compute_all(settings, "bade2009", refined, tasks))
    for data in sets:
        found, claims = [], {}
        for setting, words in SETTINGS.items():
            some = [
                one for task, one in zip(tasks, made, strict=True) if (task["data"], task["setting"]) == (data, setting)
            ]
            mean = {name: mean_and_error([one[name] for one in some]) for name in some[0]}
            found += [Found(words, name, *value) for name, value in mean.items()]
            if setting == 1:
                claims["H-correlation above HAC"] = mean["H-correlation"][0] - mean["HAC"][0]
            else:
                claims[f"{words}, discovered"] = mean["unknown, in branches"][0] - mean["known, in branches"][0]
        yield Table(
            f"Figure 3, {data}",
            "a known hierarchy refined by more documents",
            tuple(found),
            all_hold(
                claims,
                least=TOLERANCE,
                why="The figure draws the task: known relations are kept, and further clusters are discovered.",
                rule=(
                    "With all classes known biiHAC has a higher H-correlation than HAC; with unknown ones a larger "
                    "share of their documents than of others is in new branches."
                ),
            ),
        )


BADE = Paper(
    name="bade2009",
    citation="K. Bade and A. Nürnberger, Learning a Metric during Hierarchical Clustering based on Constraints, 2009",
    about=(
        "Texts with a tree of classes, of which some documents per class are labeled; everything the tree says about "
        "these is a constraint. Sets stand in for the paper's: the same trees, with other documents (Reuters 1 and 2) "
        "or other words (Banksearch); Figure 3 takes 20 Newsgroups as well, with 20 labels per group. Terms are those "
        "of at least five documents that weigh most, up to 5,000 (1,000 with --quick), of which the sets have fewer; "
        "biHAC makes up to 50 runs, with --quick 10. The paper prints no numbers; its curves are compared by what "
        "section 5.3 says of each set and measure."
    ),
    exhibits={"3": refinement} | {number: texts(number) for number in SETS},
)
