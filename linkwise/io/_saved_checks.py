"""What must be true of a value from a file before compiled code, which checks no bounds, may see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from linkwise.constraints import Constraints, Kind, Labels, Rule, says_all
from linkwise.engines import ConstrainedClusterer

_CLOSE = 1e-8
_LAST = max(Kind)


def _require(holds: Any, what: str) -> None:
    if not holds:
        raise ValueError(what)


def _is(array: Any, kinds: str, *shape: int | None) -> bool:
    """Whether a value is an array of such types and sides; None is any side."""
    return (
        isinstance(array, np.ndarray)
        and array.dtype.kind in kinds
        and array.ndim == len(shape)
        and all(want is None or side == want for side, want in zip(array.shape, shape, strict=True))
    )


def _is_count(value: Any, least: int = 0) -> bool:
    return type(value) is int and value >= least


def check_constraints(said: Constraints) -> None:
    """Refuse a table of statements that `Constraints.build` would never make."""
    n, m = said.n_samples, len(said.kind) if isinstance(said.kind, np.ndarray) else -1
    _require(_is_count(n) and _is(said.kind, "i", m), "the kinds of statements are no list")
    _require(said.kind.dtype == np.int8 and said.items.dtype == np.intp, "statements have the wrong type")
    _require(_is(said.items, "i", m, 3) and _is(said.row, "i", m), "statements have the wrong shape")
    _require(
        _is(said.weight, "f", m) and not (np.isnan(said.weight) | (said.weight <= 0)).any(), "a weight is not above 0"
    )
    _require(((said.kind >= 0) & (said.kind <= _LAST)).all(), "a statement is of no known kind")
    _require((said.items >= -1).all() and (said.items < n).all(), "a statement names a sample that does not exist")
    arity = np.array([kind.arity for kind in Kind])[said.kind]
    _require(((said.items >= 0) == (np.arange(3) < arity[:, None])).all(), "a statement names too few samples")
    few = arity > 0
    a, b, c = said.items.T
    _require((a[few] < b[few]).all() and ((c != a) & (c != b))[arity == 3].all(), "a statement names a sample twice")
    _check_groups(said)
    for source in range(len(said.labels.apart)):
        mine = (said.labels.owner == source).any()
        _require(
            not mine or says_all(said.labels, source, n, said.kind, said.items, said.groups), "labels are not said"
        )
    _require(isinstance(said.rules, tuple) and all(isinstance(r, Rule) for r in said.rules), "a rule is none")
    _require(said.ids is None or (isinstance(said.ids, np.ndarray) and said.ids.shape == (n,)), "names are missing")


def _check_groups(said: Constraints) -> None:
    groups = said.groups
    g = len(groups.statement)
    fits = _is(groups.statement, "i", g) and _is(groups.start, "i", g + 1) and _is(groups.member, "i", None)
    _require(fits, "groups have the wrong shape")
    _require(groups.start[0] == 0 and groups.start[-1] == len(groups.member), "groups have no ends")
    _require((np.diff(groups.start) >= 2).all() or g == 0, "a group has fewer than two samples")
    expected = np.flatnonzero(said.kind >= Kind.TOGETHER)
    _require(np.array_equal(groups.statement, expected), "groups belong to no statement")
    _require(
        ((groups.member >= 0) & (groups.member < said.n_samples)).all(), "a group names a sample that does not exist"
    )


def check_labels(labels: Labels, n: int, m: int) -> None:
    """Refuse rows of labels that belong to no table of ``m`` statements about ``n`` samples."""
    count = len(labels.sample) if isinstance(labels.sample, np.ndarray) else -1
    fits = all(_is(part, "i", count) for part in (labels.sample, labels.label, labels.row))
    _require(fits and _is(labels.name, "U", None) and _is(labels.owner, "i", m), "labels have the wrong shape")
    sources = len(labels.apart) if isinstance(labels.apart, np.ndarray) else -1
    _require(_is(labels.source, "i", len(labels.name)) and _is(labels.apart, "b", sources), "labels have no source")
    for part, low, high in (
        (labels.sample, 0, n),
        (labels.label, 0, len(labels.name)),
        (labels.source, 0, sources),
        (labels.owner, -1, sources),
    ):
        _require(((part >= low) & (part < high)).all(), "a label belongs to nothing")


def check_random_state(state: Any) -> None:
    """Refuse a state that NumPy would read beyond the end of."""
    name, key, position, has_gauss, _ = state
    fits = name == "MT19937" and _is(key, "u", 624) and _is_count(position) and position <= 624
    _require(fits and has_gauss in (0, 1), "a random state is none")


def check_record(made: Any) -> None:
    """Refuse a certificate, table or the like whose parts do not fit each other."""
    name = type(made).__name__
    if name == "Certificate":
        _require(_is_count(made.n_statements) and _is(made.held, "b", made.n_statements), "a certificate is incomplete")
        pairs = [pair for pair in made.counts.values() if isinstance(pair, tuple) and len(pair) == 2]
        counts = [made.n_hard, *made.hard_counts.values(), *(count for pair in pairs for count in pair)]
        _require(len(pairs) == len(made.counts) and all(map(_is_count, counts)), "a certificate counts nothing")
        for rule, held in made.rules:
            _require(isinstance(rule, Rule) and held in (True, False, None), "a certificate is about no rules")
        for values in (made.violated, made.soft_violated):
            _require(
                isinstance(values, tuple) and all(_is_count(v) for v in values), "a certificate names no statements"
            )
        _require(
            all(isinstance(v, str) for v in (*made.faults, *made.shown, *made.notes, *made.remarks)),
            "a certificate has no words",
        )
        _require(len(made.rules) == len(made.notes), "a certificate lacks the notes of its rules")
    elif name == "Table":
        _require(len(getattr(made.X, "shape", ())) == 2, "the samples are no table")
        _require(_is(made.ids, "iuU", made.X.shape[0]), "the samples have no names")
        _require(len(made.columns) == made.X.shape[1] and _is_finite(made.X), "the samples do not fit their columns")
        _require(type(made.preparation).__name__ == "Preparation", "the samples have no preparation")
        gaps = made.missing
        _require(getattr(gaps, "shape", (0,))[1:] == (2,) and gaps.dtype.kind == "i", "missing values have no place")
        ends = (made.X.shape[0], len(made.preparation.columns))
        _require(((gaps >= 0) & (gaps < ends)).all(), "missing values have no place")
    elif name == "Preparation":
        d = len(made.columns)
        for array in (made.fill, made.shift, made.factor):
            _require(
                _is(array, "f", None) and len(array) in (d, 0) and _is_finite(array), "a preparation has no numbers"
            )
        _require((made.factor > 0).all(), "a preparation divides by nothing")
        _require(_is(made.idf, "f", len(made.words)) and _is_finite(made.idf), "a preparation has no weights of words")
        for texts in (made.columns, made.text, made.words):  # a column of texts may well hold the word it is called
            _require(all(isinstance(v, str) for v in texts), "a feature has no name")
            _require(len(set(texts)) == len(texts), "a feature is named twice")
        _require(made.decimal in (".", ","), "a preparation has no decimal mark")
        _require(
            isinstance(made.missing, tuple) and all(isinstance(v, str) for v in made.missing),
            "a preparation has no words for what is missing",
        )
    elif name == "Clustering":
        n = made.estimator.labels_.shape[0]
        _require(_is(made.labels, "i", n) and (made.labels >= 0).all(), "labels are out of range")
        _require(_is_count(made.n_clusters, 1) and made.labels.max() < made.n_clusters, "labels are out of range")
        _require(made.dendrogram is None or made.dendrogram.n_samples == n, "the tree is of other samples")
    elif name == "Reach":
        _check_reach(made)
    elif name == "WeakMixture":
        _check_mixture(made)


def _is_table(values: Any, *shape: int | None) -> bool:
    """Whether a value is a table of finite numbers, sparse or not, of such sides."""
    return len(np.shape(values)) == len(shape) and _sides(values, shape) and _is_finite(values)


def _check_reach(made: Any) -> None:
    """Samples, seeds and what they say fit each other."""
    n, d = np.shape(made.rows) if len(np.shape(made.rows)) == 2 else (0, 0)
    s, k = made.weights.shape
    _require(n and d and _is_table(made.rows, n, d) and _is_count(made.n_neighbors, 1), "a reach has no samples")
    _require(_is_table(made.scale, n) and (made.scale > 0).all(), "a reach has no scale")
    _require(_is_table(made.weights, s, k) and _is_table(made.along, n, k), "a reach has no values")
    sides = [d] if made.axes is None else [d, made.axes.shape[1]]
    whitens = made.axes is None or (_is_table(made.axes, d, sides[1]) and _is_table(made.middle, d))
    _require(whitens and type(made.cosine) is bool, "a reach turns rows into nothing")
    _require(len(made.spots) == len(made.widths) == len(sides), "a reach has too few spaces")
    fits = all(_is_table(spots, s, side) for spots, side in zip(made.spots, sides, strict=True))
    _require(fits and all(type(w) is float and w > 0 for w in made.widths), "a reach has no seeds")


def _check_mixture(made: Any) -> None:
    """Weights, means and precisions fit each other."""
    k, d = made.means.shape
    shapes = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}
    _require(made.covariance_type in shapes, "a mixture has no covariances")
    fits = _is_table(made.means, k, d) and _is_table(made.precisions_cholesky, *shapes[made.covariance_type])
    _require(fits and _is_table(made.weights, k) and (made.weights >= 0).all(), "a mixture has the wrong shape")


def _is_finite(values: Any) -> bool:
    return bool(np.isfinite(values.data if scipy.sparse.issparse(values) else values).all())


def check_estimator(made: Any) -> None:
    """Refuse a fitted estimator whose arrays do not fit each other."""
    has = vars(made)
    said, d = has.get("constraints_"), has.get("n_features_in_")
    _require(isinstance(said, Constraints) and _is_count(d, 1), "what was learned is missing")
    n = said.n_samples  # type: ignore[union-attr]
    if isinstance(made, ConstrainedClusterer):
        _check_labels(has, n)
    names = has.get("feature_names_in_")
    if names is not None:
        fits = _is(names, "O", d) and all(isinstance(name, str) for name in names)
        _require(fits and len(set(names.tolist())) == d, "features have no names of their own")
    for name, array, shape in _shaped(has, n, d):  # type: ignore[arg-type]
        absent = array is None and name == "_samples"  # the fit was to distances
        fits = absent or (len(np.shape(array)) == len(shape) and _sides(array, shape) and _is_finite(array))
        _require(fits, f"{name} has the wrong shape, or values that are not finite")
    mixtures, reach = has.get("mixtures_"), has.get("_reach")
    if mixtures is not None:
        _require(all(mixture.means.shape[1] == d for mixture in mixtures), "mixtures_ are of other features")
        fits = _is_table(has.get("weights_"), len(mixtures)) and _is_table(has.get("losses_"), None)
        _require(mixtures and fits and _is_count(has.get("n_iter_"), 1), "mixtures_ have no weights")
    if reach is not None:
        _require(np.shape(reach.rows) == (n, d) and reach.along.shape[1] == has["n_clusters_"], "_reach does not fit")
    _check_spread(made, has)


def _check_labels(has: dict[str, Any], n: int) -> None:
    labels, k = has.get("labels_"), has.get("n_clusters_")
    _require(_is(labels, "i", n) and n and _is_count(k, 1), "labels_ has the wrong shape")
    centers = has.get("cluster_centers_", has.get("means_"))
    top = k if centers is None else max(k, len(centers))  # type: ignore[type-var,arg-type]
    _require((labels >= -1).all() and (labels < top).all(), "labels_ names clusters that do not exist")  # type: ignore[operator,union-attr]
    certificate = has.get("certificate_")
    _require(type(certificate).__name__ == "Certificate", "certificate_ is missing")
    _require(_is_count(has.get("min_cluster_size_", 1), 1), "min_cluster_size_ is no size")
    for name in ("dendrogram_", "dropped_"):
        if name in has:
            _require(getattr(has[name], "n_samples", None) == n, f"{name} is of other samples")


def _sides(array: Any, shape: tuple[int | None, ...]) -> bool:
    return (
        getattr(array, "dtype", None) is not None
        and array.dtype.kind == "f"
        and all(want in (None, side) for side, want in zip(array.shape, shape, strict=True))
    )


def _shaped(has: dict[str, Any], n: int, d: int) -> Iterator[tuple[str, Any, tuple[int | None, ...]]]:
    """Arrays whose shape follows from the numbers of samples and features."""
    expected: dict[str, tuple[int | None, ...]] = {
        "_samples": (n, d),
        "cluster_centers_": (None, d),
        "means_": (None, d),
        "components_": (None, d),
        "feature_weights_": (d,),
        "embedding_": (n, None),
        "responsibilities_": (n, None),
    }
    for name, shape in expected.items():
        if name in has:
            yield name, has[name], shape
    if "means_" in has and hasattr(has["means_"], "shape"):
        k = len(has["means_"])
        shapes = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}
        for name in ("covariances_", "precisions_cholesky_"):
            yield name, has.get(name), shapes[has["covariance_type"]]
        yield "weights_", has.get("weights_"), (k,)
    if "metric_" in has:
        full = (d, d) if has["form"] == "full" else (d,)
        k = len(has["cluster_centers_"])
        yield "metric_", has["metric_"], (k, *full) if has["per_cluster"] else full
        yield "_ridge", has.get("_ridge"), full


def _check_spread(made: Any, has: dict[str, Any]) -> None:
    """Weights are chances, metrics measure no negative squares."""
    if "weights_" in has:
        weights = has["weights_"]
        _require((weights >= 0).all() and abs(weights.sum() - 1) < 1e-6, "weights_ are no chances")
    if "feature_weights_" in has:
        _require((has["feature_weights_"] >= 0).all(), "feature_weights_ are negative")
    metric = has.get("metric_")
    if metric is None:
        return
    if made.form != "full":
        _require((metric >= 0).all(), "metric_ is negative")
        return
    turned = np.swapaxes(metric, -1, -2)
    _require(np.allclose(metric, turned, rtol=_CLOSE, atol=_CLOSE * np.abs(metric).max()), "metric_ is not symmetric")
    least = np.linalg.eigvalsh((metric + turned) / 2).min()
    _require(least >= -_CLOSE * np.abs(metric).max(), "metric_ is not positive semidefinite")
