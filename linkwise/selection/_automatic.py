"""The candidates, the cut and the reasons for `cluster` with `n_clusters="auto"` or without a number of clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from linkwise._messages import hint, many
from linkwise._typing import IntArray
from linkwise.constraints import CHOICES, Constraints, Kind, SizeBetween
from linkwise.engines import (
    ConstrainedAgglomerative,
    ConstrainedCompleteLink,
    ConstrainedGaussianMixture,
    COPKMeans,
    MPCKMeans,
    PCKMeans,
    ReCon,
)
from linkwise.engines.hierarchical import mark
from linkwise.result import Certificate, Dendrogram, verify
from linkwise.selection._search_cv import KnowledgeSearchCV


class Cut(NamedTuple):
    """Clusters of a tree, and the reason for their number."""

    labels: IntArray
    tree: Dendrogram
    certificate: Certificate
    reason: str


def cut_by_steps(model: Any, X: Any, metric: Any, between: tuple[int, int] | None = None) -> Cut:
    """Cut a hierarchy that was fitted without a number of clusters: where statements force it, else where heights step.

    A number of clusters is taken only if all statements hold in it. Where the tree has no such cut with a number
    ``between`` two, the clusters are those of the model.
    """
    tree, known = model.dendrogram_, model.constraints_
    links = known.select(~np.isin(known.kind, list(CHOICES))) | model.chosen_
    low, high = between or (2, 20)
    if model.n_clusters_ > 1 and (between is None or low <= model.n_clusters_ <= high):
        reason = f"{model.n_clusters_} clusters: the fewest the statements leave to this method."
        return Cut(model.labels_, tree, model.certificate_, reason)
    for labels, cut in _by_steps(tree, links, max(low, 2), high, free=model._may_break):
        checked = verify(cut, known, X=X if known.rules else None, metric=metric)
        if checked.ok or (model._may_break and not checked.faults):
            return Cut(
                labels, cut, checked, f"{int(labels.max()) + 1} clusters: the largest step in the heights of the tree."
            )
    reason = "1 cluster: no step in the heights of the tree gives clusters in which all statements hold."
    return Cut(model.labels_, tree, model.certificate_, reason)


def _by_steps(
    tree: Dendrogram, known: Constraints, low: int, high: int, *, free: bool
) -> Iterator[tuple[IntArray, Dendrogram]]:
    """Cut into ``low`` to ``high`` clusters, first where the height of the tree makes its largest step.

    ``free`` cuts without regard to triplets, for trees that may break some.
    """
    heights = np.sort(tree.height[tree.n_samples :])[::-1]
    heights = heights[heights > 0]  # samples together at height 0 stay together
    numbers = np.arange(max(low, tree.n_roots + 1), min(high, len(heights) + tree.n_roots) + 1)
    merge = numbers - tree.n_roots - 1  # the last one that the cut divides
    steps = heights[merge] / heights[np.minimum(merge + 1, len(heights) - 1)]
    for k in numbers[np.argsort(-steps, kind="stable")].tolist():
        triplets = not free and (known.kind == Kind.TRIPLET).any()
        labels = tree.cut_constrained(known, k) if triplets else tree.cut(n_clusters=k)
        yield labels, mark(tree, labels)


Methods = list[tuple[Any, dict[str, list[Any]]]]
# Below this many held-out facts of a kind a share of them is close to noise.
FEWEST = 5
N_SPLITS = 10
# Samples up to which slow methods are compared: they take seconds for thousands.
COMPARE = 3_000
# Shares of the samples from which a cluster holds nearly all: of two clusters, and of more.
MOST_OF_TWO, MOST_OF_MORE, FEWEST_SAMPLES = 0.95, 0.85, 20
_TOGETHER = (Kind.MUST_LINK, Kind.TOGETHER)
_APART = (Kind.CANNOT_LINK, Kind.APART)


def too_little(known: Constraints) -> str:
    """The reason why there are too few statements to hold some out, in words; "" if there are enough."""
    if not known.n_statements:
        return "there are no statements to hold out"
    named = len(np.unique(np.concatenate([known.items[known.items >= 0], known.groups.member])))
    if (known.kind == Kind.TRIPLET).sum() >= FEWEST and named >= N_SPLITS:
        return ""
    together = len(known.must_links()[0])
    apart = int((known.kind == Kind.CANNOT_LINK).sum() + (known.groups_of(Kind.APART).sizes - 1).sum())
    if named >= N_SPLITS and min(together, apart) >= FEWEST:
        return ""
    said = f"{many(together, 'pair')} together and {many(apart, 'pair')} apart, about {many(named, 'sample')}"
    return (
        f"there are too few statements to hold some out ({said}; at least {FEWEST} of each about {N_SPLITS} are needed)"
    )


def nearly_all_in_one(model: Any, labels: Any, *, dense: bool, automatic: bool) -> tuple[str, ...]:
    """A reason that names a cluster of nearly all samples and arguments that often divide it; empty if there is none.

    ``dense`` tells whether samples are plain vectors, which Ward linkage needs, and ``automatic`` whether the number of
    clusters was compared already.
    """
    size = np.bincount(np.asarray(labels)[np.asarray(labels) >= 0])
    size = size[size > 0]
    n = int(size.sum())
    if len(size) < 2 or n < FEWEST_SAMPLES or size.max() < (MOST_OF_TWO if len(size) == 2 else MOST_OF_MORE) * n:
        return ()
    ways = []
    if dense and getattr(model, "linkage", "ward") != "ward":
        ways.append(hint(command="--linkage ward", python="linkage='ward'"))
    ways += [] if automatic else [hint(command="-k auto", python="n_clusters='auto'")]
    advice = f"; try {' or '.join(ways)}" if ways else ""
    return (f"one cluster holds {int(size.max()):,} of {many(n, 'sample')}{advice}.",)


def numbers_of_clusters(
    X: Any, known: Constraints, metric: Any = "euclidean", between: tuple[int, int] | None = None
) -> list[int]:
    """The numbers of clusters to try: those ``between`` two, else 2 to 12 or more.

    There are more where cannot-links force more on greedy merging.
    """
    n = known.n_samples
    if between is not None:
        return list(range(between[0], min(between[1], n) + 1))
    links = known.select(known.is_hard & np.isin(known.kind, _TOGETHER + _APART)).with_rules()
    top = 12
    if np.isin(links.kind, _APART).any() and n <= COMPARE:
        linkage = "ward" if metric == "euclidean" and not scipy.sparse.issparse(X) else "average"
        forced = ConstrainedAgglomerative(None, linkage=linkage, metric=metric).fit(X, constraints=links)
        top = max(top, int(forced.n_clusters_) + 4)
    return list(range(2, max(min(top, n - 1), 2) + 1))


def cluster_grid(
    X: Any, known: Constraints, metric: str = "euclidean", between: tuple[int, int] | None = None
) -> dict[str, list[Any]]:
    """The numbers of clusters to try, as a grid; None where all statements are triplets, which constrain no cut."""
    links = np.isin(known.kind, _TOGETHER + _APART).any()
    return {"n_clusters": numbers_of_clusters(X, known, metric, between) if links else [None]}


def candidate_methods(
    X: Any,
    known: Constraints,
    metric: str,
    random_state: Any,
    *,
    matrix: bool,
    between: tuple[int, int] | None = None,
) -> Methods:
    """Methods that understand the constraints and suit the data, each with a grid of parameters.

    ``matrix`` tells whether a matrix of all distances may be held, ``between`` the numbers of clusters to try.
    """
    n, plain = known.n_samples, metric == "euclidean" and not scipy.sparse.issparse(X)
    grid = cluster_grid(X, known, metric, between)
    if (known.kind == Kind.TRIPLET).any():
        linkages = ["centroid", "average"] if plain else ["average", "complete"]
        return [(ReCon(metric=metric), {"linkage": linkages, **grid})]
    if any(isinstance(rule, SizeBetween) for rule in known.rules):
        return [(COPKMeans(random_state=random_state), grid)]
    linkages = ["ward", "average"] if plain else ["average", "complete"]
    merging = (ConstrainedAgglomerative(metric=metric), {"linkage": linkages if matrix else linkages[:1], **grid})
    if known.rules:
        return [merging]
    found: Methods = [merging]
    small = n <= COMPARE
    if matrix and small:
        found.append((ConstrainedCompleteLink(metric=metric), {"linkage": ["average", "complete"], **grid}))
    if plain:
        found += [(kind(random_state=random_state), grid) for kind in (COPKMeans, PCKMeans)]
        if small:
            found.append((MPCKMeans(random_state=random_state), grid))
            found.append((ConstrainedGaussianMixture(random_state=random_state), grid))
    return found


def search_among(methods: Methods, X: Any, known: Constraints, random_state: Any) -> KnowledgeSearchCV:
    """Compare methods by statements held out."""
    seed = random_state if isinstance(random_state, (int, np.integer)) else 0
    search = KnowledgeSearchCV(methods, cv=N_SPLITS, random_state=seed)
    search.fit(X, constraints=known)
    return search


def explain(search: KnowledgeSearchCV, methods: Methods) -> list[str]:
    """The winner and its score, its closest rival, and the list of candidates, in a sentence each."""
    results, best = search.cv_results_, search.best_index_
    kept = [
        f"{results[f'{name}_kept'][best]:.0%} of the {word}"
        for name, word in (("must", "must-links"), ("cannot", "cannot-links"), ("triplets", "triplets"))
        if np.isfinite(results[f"{name}_kept"][best])
    ]
    won = f"{_name(results, best)}: fitted with a part of the statements, it kept {', '.join(kept)} held out."
    return [won, *_rivals(results, best), _compared(results, methods, len(search.folds_))]


def _name(results: dict[str, Any], at: int) -> str:
    return f"{results['method'][at]}({results['words'][at]})"


def _rivals(results: dict[str, Any], best: int) -> list[str]:
    """The score of the winner beside that of its closest rival."""
    mean = results["mean_test_score"]
    top = int(np.nanargmax(mean))
    score = f"score {mean[best]:.2f} +- {results['se_test_score'][best]:.2f}"
    others = [at for at in np.argsort(-np.nan_to_num(mean, nan=-np.inf), kind="stable") if at != best]
    others = [at for at in others if np.isfinite(mean[at])]
    if not others:
        return [f"{score}; it was the only candidate that could be fitted."]
    if mean[top] > mean[best]:
        alike = int(results["tied"].sum())
        ahead = f"{score}, and {mean[top]:.2f} for {_name(results, top)}"
        return [
            f"{ahead}: {alike} are within a standard error, of these it is the most stable with the fewest clusters."
        ]
    return [f"{score}, ahead of {_name(results, others[0])} with {mean[others[0]]:.2f}."]


def _compared(results: dict[str, Any], methods: Methods, n_folds: int) -> str:
    mean = results["mean_test_score"]
    names = list(dict.fromkeys(type(estimator).__name__ for estimator, _ in methods))
    ks = sorted({k for _, grid in methods for k in grid["n_clusters"] if k is not None})
    span = f" with {ks[0]} to {ks[-1]} clusters" if ks else ""
    text = f"compared: {', '.join(names)}{span}, {len(mean)} candidates in {n_folds} folds"
    failed = Counter(_kind_of(trouble) for trouble in results["trouble"][~np.isfinite(mean)])
    if failed:
        listed = ", ".join(f"{count} {word}" for word, count in failed.most_common())
        text += f"; {sum(failed.values())} failed: {listed}"
    return f"{text}."


def _kind_of(trouble: str) -> str:
    if "dead end" in trouble:
        return "met a dead end"
    return "too few or too many clusters for the statements" if "cannot hold" in trouble else "failed otherwise"
