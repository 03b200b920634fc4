"""Checks of constraints, certificates and tables from a file, before they reach kernels, which do no bounds checks.

Fitted attributes are checked as their estimator declares (`linkwise.engines._saved`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.constraints import Constraints, Kind, Labels, Rule, says_all
from linkwise.engines import is_array, is_count, is_table

_LAST = max(Kind)


def _require(holds: Any, fault: str) -> None:
    if not holds:
        raise ValueError(fault)


def _are_texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)


def check_constraints(said: Constraints) -> None:
    """Refuse constraints that `Constraints.build` would never make."""
    n, m = said.n_samples, len(said.kind) if isinstance(said.kind, np.ndarray) else -1
    _require(is_count(n) and is_array(said.kind, "i", m), "the kinds of statements are not an array of integers")
    _require(said.kind.dtype == np.int8 and said.items.dtype == np.intp, "statements have the wrong type")
    _require(is_array(said.items, "i", m, 3) and is_array(said.row, "i", m), "statements have the wrong shape")
    _require(is_array(said.weight, "f", m) and (said.weight > 0).all(), "a weight is not above 0")
    _require(((said.kind >= 0) & (said.kind <= _LAST)).all(), "a statement has an unknown kind")
    _require((said.items >= -1).all() and (said.items < n).all(), "a statement names a sample that does not exist")
    arity = np.array([kind.arity for kind in Kind])[said.kind]
    _require(((said.items >= 0) == (np.arange(3) < arity[:, None])).all(), "a statement names too few samples")
    few = arity > 0
    a, b, c = said.items.T
    _require((a[few] < b[few]).all() and ((c != a) & (c != b))[arity == 3].all(), "a statement names a sample twice")
    _check_groups(said)
    for source in range(len(said.labels.apart)):
        complete = not (said.labels.owner == source).any() or says_all(
            said.labels, source, n, said.kind, said.items, said.groups
        )
        _require(complete, "statements that follow from labels are missing")
    _require(
        isinstance(said.rules, tuple) and all(isinstance(r, Rule) for r in said.rules), "a rule is of an unknown type"
    )
    _require(
        said.ids is None or (isinstance(said.ids, np.ndarray) and said.ids.shape == (n,)),
        "the samples do not have one identifier each",
    )


def _check_groups(said: Constraints) -> None:
    groups = said.groups
    g = len(groups.statement)
    fits = (
        is_array(groups.statement, "i", g) and is_array(groups.start, "i", g + 1) and is_array(groups.member, "i", None)
    )
    _require(fits, "groups have the wrong shape")
    _require(groups.start[0] == 0 and groups.start[-1] == len(groups.member), "groups do not cover their members")
    _require((np.diff(groups.start) >= 2).all() or g == 0, "a group has fewer than two samples")
    expected = np.flatnonzero(said.kind >= Kind.TOGETHER)
    _require(np.array_equal(groups.statement, expected), "groups do not match their statements")
    exist = ((groups.member >= 0) & (groups.member < said.n_samples)).all()
    _require(exist, "a group names a sample that does not exist")
    either = said.groups_of(Kind.EITHER)
    _require((either.sizes % 2 == 0).all(), "a link of a disjunction names one sample")
    ends = either.member.reshape(-1, 2)
    _require((ends[:, 0] != ends[:, 1]).all(), "a link of a disjunction names a sample twice")


def check_labels(labels: Labels, n: int, m: int) -> None:
    """Refuse rows of labels that do not fit ``m`` statements about ``n`` samples."""
    count = len(labels.sample) if isinstance(labels.sample, np.ndarray) else -1
    fits = all(is_array(part, "i", count) for part in (labels.sample, labels.label, labels.row))
    fits = fits and is_array(labels.name, "U", None) and is_array(labels.owner, "i", m)
    _require(fits, "labels have the wrong shape")
    sources = len(labels.apart) if isinstance(labels.apart, np.ndarray) else -1
    fits = is_array(labels.source, "i", len(labels.name)) and is_array(labels.apart, "b", sources)
    _require(fits, "the sources of labels have the wrong shape")
    for part, low, high in (
        (labels.sample, 0, n),
        (labels.label, 0, len(labels.name)),
        (labels.source, 0, sources),
        (labels.owner, -1, sources),
    ):
        _require(((part >= low) & (part < high)).all(), "a label names a sample or a source that does not exist")


def check_random_state(state: Any) -> None:
    """Refuse a state that NumPy would read beyond the end of."""
    name, key, position, has_gauss, _ = state
    fits = name == "MT19937" and is_array(key, "u", 624) and is_count(position) and position <= 624
    _require(fits and has_gauss in (0, 1), "a random state is not valid")


def check_record(made: Any) -> None:
    """Refuse a certificate, table, preparation or clustering whose parts do not fit each other."""
    if check := _CHECKS.get(type(made).__name__):
        check(made)


def _check_certificate(made: Any) -> None:
    _require(is_count(made.n_statements) and is_array(made.held, "b", made.n_statements), "a certificate is incomplete")
    pairs = [pair for pair in made.counts.values() if isinstance(pair, tuple) and len(pair) == 2]
    counts = [made.n_hard, *made.hard_counts.values(), *(count for pair in pairs for count in pair)]
    _require(
        len(pairs) == len(made.counts) and all(map(is_count, counts)),
        "a certificate has counts that are not whole numbers",
    )
    for rule, held in made.rules:
        _require(isinstance(rule, Rule) and held in (True, False, None), "a certificate has an unknown rule")
    for values in (made.violated, made.soft_violated):
        numbered = isinstance(values, tuple) and all(map(is_count, values))
        _require(numbered, "a certificate does not number the violated statements")
    texts = (*made.faults, *made.shown, *made.notes, *made.remarks)
    _require(_are_texts(texts), "a certificate has notes that are not text")
    _require(len(made.rules) == len(made.notes), "a certificate lacks the notes of its rules")


def _check_table(made: Any) -> None:
    n, d = made.X.shape if len(getattr(made.X, "shape", ())) == 2 else (-1, -1)
    _require(n >= 0, "the samples are not a table")
    _require(is_array(made.ids, "iuU", n), "the samples do not have one identifier each")
    _require(len(made.columns) == d and is_table(made.X, n, d), "the samples do not fit their columns")
    _require(type(made.preparation).__name__ == "Preparation", "the samples lack a preparation")
    gaps = made.missing
    _require(is_array(gaps, "i", None, 2), "missing values are not listed by row and column")
    ends = (n, len(made.preparation.columns))
    _require(((gaps >= 0) & (gaps < ends)).all(), "a missing value is outside the table")
    for cells in made.beside.values():
        _require(len(cells) == n and _are_texts(cells), "a column beside the table is not one text per sample")
    _require(is_array(made.lines, "i", None) and len(made.lines) in (0, n), "lines are not one number per sample")


def _check_preparation(made: Any) -> None:
    for array in (made.fill, made.shift, made.factor):
        fits = is_table(array, None) and len(array) in (len(made.columns), 0)
        _require(fits, "a preparation does not have one finite number per column")
    _require((made.factor > 0).all(), "a preparation divides by 0 or less")
    _require(is_table(made.idf, len(made.words)), "a preparation does not have one finite weight per word")
    for texts in (made.columns, made.text, made.words):  # a column of texts may hold its own name as a word
        _require(_are_texts(texts), "a feature does not have a name")
        _require(len(set(texts)) == len(texts), "a feature is named twice")
    _require(made.decimal in (".", ","), "a preparation has an unknown decimal mark")
    _require(
        isinstance(made.missing, tuple) and _are_texts(made.missing),
        "a preparation has missing values that are not text",
    )


def _check_clustering(made: Any) -> None:
    n = made.estimator.labels_.shape[0]
    _require(is_array(made.labels, "i", n) and (made.labels >= 0).all(), "labels are out of range")
    _require(is_count(made.n_clusters, 1) and made.labels.max() < made.n_clusters, "labels are out of range")
    _require(made.dendrogram is None or made.dendrogram.n_samples == n, "the tree is about other samples")


_CHECKS = {
    "Certificate": _check_certificate,
    "Clustering": _check_clustering,
    "Preparation": _check_preparation,
    "Table": _check_table,
}
