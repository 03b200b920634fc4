"""Collection of the facts of a report from a result, constraints and data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise import __version__
from linkwise._messages import more_lines
from linkwise._typing import IntArray
from linkwise.constraints import Kind
from linkwise.exceptions import LinkwiseError
from linkwise.metrics import adjusted_rand, confusion_matrix
from linkwise.plots import lay_out, to_plane
from linkwise.report._cluster_names import name_clusters
from linkwise.report._comparison import compare, count_statements, slots_joined
from linkwise.report._facts import (
    Cluster,
    Conflict,
    Doubtful,
    Facts,
    Judged,
    KindCount,
    Map,
    Score,
    Statement,
    Truth,
    Vote,
)
from linkwise.report._profiles import Profiles, profile
from linkwise.result import read_outcome, samples_outside, verify

if TYPE_CHECKING:
    from linkwise.constraints import Constraints
    from linkwise.result import Certificate

_MAX_NAMES = 20_000
_MAX_POINTS = 5_000
_DOUBTFUL = 12
_CLEAR = 0.5  # samples with a larger margin are not doubtful; three are listed in any case
_QUESTIONS = 5
_JUDGED = 20
_OPENING, _SHORT, _OPENINGS = 120, 80, 200  # letters of a text that are shown, fewer in lists, and of how many members
_DOUBTED, _CONTRADICTED = 0.25, 0.5  # probabilities from which on statements are listed, and counted as contradicted


def gather_facts(
    result: Any,
    *,
    X: Any = None,
    metric: str | None = None,
    features: Any = None,
    values: Any = None,
    labels: Any = None,
    constraints: Constraints | None = None,
    certificate: Certificate | None = None,
    ids: Any = None,
    before: Any = None,
    repair: Any = None,
    conflicts: Sequence[Any] = (),
    questions: Sequence[Any] = (),
    scores: Sequence[Score] = (),
    truth: Any = None,
    texts: Sequence[str] = (),
    taxonomies: Sequence[Any] = (),
    names: Mapping[int, str] | None = None,
    title: str = "Clusters and constraints",
    method: str | None = None,
    reasons: Sequence[str] = (),
    recipe: str = "",
    max_members: int = 2_000,
    max_statements: int = 500,
) -> Facts:
    """Collect the facts of a report from a fitted estimator, a clustering, a dendrogram or labels.

    Parameters
    ----------
    result : fitted estimator, Clustering, Dendrogram or labels
        An estimator has labels and constraints; for a dendrogram these are given below.
    X, metric : array-like or sparse matrix, and {"euclidean", "cosine", "precomputed"}, optional
        The data, and how samples are compared (by default cosine for sparse data, Euclidean for other); with them the
        report describes clusters, their typical members and the doubtful samples.
    features : array-like of shape (n_features,), optional
        Names of the features; for sparse texts, their terms.
    values : array-like of shape (n_samples, n_features), optional
        The data for means, where X was scaled or filled: in the units of the source, NaN for missing values, as in
        ``Table.values``. By default X.
    labels : array-like of shape (n_samples,), optional
        Cluster of every sample; the marked cut, else the trees of the forest, when left out.
    constraints : Constraints, optional
        The constraints. Give them with an estimator too when soft statements were left out, so that they are reported.
    certificate : Certificate, optional
        The check of the constraints; made with `verify` when left out.
    ids : array-like of shape (n_samples,), optional
        Names of the samples.
    before : fitted estimator, Clustering, Dendrogram or labels, optional
        The result without constraints; the report then shows the effect of the constraints.
    repair, conflicts : Repair, and sequence of Explanation or Conflict, optional
        The repair that dropped statements so that the rest holds together; contradictions that were found.
    questions : sequence of str or of objects with ``text(names)``
        Questions to ask next, such as queries of `linkwise.active`; the first five are reported.
    scores : sequence of Score
        Before-after figures to report as well.
    truth : array-like of shape (n_samples,), optional
        Known classes, None or NaN where a class is not known: the report then shows classes against clusters.
    texts : sequence of str
        The text of every sample, as in ``Table.texts``; the report shows how they begin, with distinguishing terms
        marked.
    taxonomies : sequence of Taxonomy
        Hierarchies of the samples with named nodes, as in ``Knowledge.taxonomies``: clusters and nodes of the tree
        are named after their clades.
    names : mapping of int to str, optional
        Names of clusters by label, instead of those found.
    title, method, recipe, reasons : str and sequence of str
        Heading, the method in one line (by default the ``repr`` of the estimator), Python that repeats the result, and
        reasons for the method; a `Clustering` has them.
    max_members, max_statements : int
        How many members of a cluster and how many statements are listed by name.

    Returns
    -------
    Facts

    Notes
    -----
    **Cost** O(n log n + m), and O(n k d) with data. **Guarantee** statements reported to hold were checked by `verify`,
    not by the engine.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints, Dendrogram
    >>> from linkwise.report import gather_facts
    >>> tree = Dendrogram.from_merges(3, np.array([[0, 1], [2, 3]]), np.array([1.0, 2.0]))
    >>> constraints = Constraints.build(3, must_link=[(0, 1)])
    >>> facts = gather_facts(tree, labels=[0, 0, 1], constraints=constraints)
    >>> [(cluster.label, cluster.size) for cluster in facts.clusters], facts.n_broken
    ([(0, 2), (1, 1)], 0)
    """
    outcome = read_outcome(result, labels, who="report")
    tree, found = outcome.tree, outcome.labels
    if found is None and tree is not None:
        found = tree.cut(n_clusters=tree.n_roots)
    clusters = np.asarray(found)
    if constraints is None:
        constraints = outcome.constraints
        if labels is None and certificate is None:  # an estimator's certificate is about its own statements and cut
            certificate = getattr(result, "certificate_", getattr(result, "certificate", None))
    if constraints is not None and certificate is None:
        certificate = verify(tree if tree is not None and tree.marked is not None else clusters, constraints)
    called = outcome.names(ids, constraints)
    sketch = None if tree is None else lay_out(tree, clusters)
    in_order = np.argsort(clusters, kind="stable") if sketch is None else np.argsort(sketch.slot)
    listed = in_order if len(in_order) <= _MAX_NAMES else in_order[:0]
    facts = Facts(
        title=title,
        method=(repr(outcome.estimator) if outcome.estimator is not None else "") if method is None else method,
        recipe=recipe,
        n_samples=outcome.n_samples,
        n_roots=0 if tree is None else tree.n_roots,
        k_min=getattr(outcome.estimator, "k_min_", None),
        clusters=_clusters(clusters, called, max_members),
        kinds=_kinds(certificate),
        statements=_statements(constraints, certificate, max_statements),
        n_statements=0 if constraints is None else constraints.n_statements,
        n_broken=0 if certificate is None else len(certificate.violated),
        rules=() if certificate is None else tuple((str(rule), held) for rule, held in certificate.rules),
        faults=() if certificate is None else certificate.faults,
        conflicts=tuple(_conflict(one) for one in conflicts),
        scores=tuple(scores),
        sketch=sketch,
        arcs=slots_joined(constraints, None if certificate is None else certificate.held, sketch),
        names=tuple(_names(listed, called)),
        version=__version__,
        name_labels=tuple(clusters[listed].tolist()),
        n_soft=0 if constraints is None else int((~constraints.is_hard).sum()),
        reasons=tuple(reasons) or tuple(getattr(result, "reasons", ())),
        repairs=_repairs(repair, outcome.estimator),
        questions=tuple(_question(one, called) for one in list(questions)[:_QUESTIONS]),
        remarks=_remarks(outcome.estimator, tree, clusters),
        votes=tuple(_vote(view) for view in getattr(outcome.estimator, "views_", ())),
        truth=None if truth is None else _truth(truth, clusters),
    )
    facts = _with_judgments(facts, outcome.estimator, clusters)
    if before is not None:
        held = None if certificate is None else certificate.held
        earlier = read_outcome(before, who="report")
        facts = replace(facts, comparison=compare(earlier, outcome, clusters, constraints, held, called, sketch))
    if X is not None:
        facts = _with_data(facts, X, values, metric, features, clusters, constraints, called, list(texts))
    return _with_names(facts, tree, clusters, constraints, taxonomies, names or {}, samples=called is not None)


def _with_names(
    facts: Facts,
    tree: Any,
    labels: npt.NDArray[Any],
    constraints: Constraints | None,
    taxonomies: Sequence[Any],
    given: Mapping[int, str],
    *,
    samples: bool,
) -> Facts:
    """Name clusters and nodes; names that are given come before those that are found.

    Where ``samples`` have names and other clusters, too, a cluster of one sample is called like it.
    """
    terms = [cluster.traits for cluster in facts.clusters] if facts.texts else ()
    found = name_clusters(labels, tree, constraints, taxonomies, terms)
    alone = {one.label: one.members[0] for one in facts.clusters if one.size == 1 and samples and found.clusters}
    names = alone | found.clusters | dict(given)
    named = tuple(replace(cluster, name=names.get(cluster.label, "")) for cluster in facts.clusters)
    return replace(facts, clusters=named, node_names=tuple(sorted(found.nodes.items())))


def _truth(classes: Any, labels: npt.NDArray[Any]) -> Truth:
    found = confusion_matrix(classes, labels, unlabeled=None)
    return Truth(
        tuple(map(str, found.classes)),
        tuple(found.clusters.tolist()),
        tuple(map(tuple, found.matrix.tolist())),
        found.accuracy,
        adjusted_rand(classes, labels, unlabeled=None),
    )


def _with_data(
    facts: Facts,
    X: Any,
    values: Any,
    metric: str | None,
    features: Any,
    labels: npt.NDArray[Any],
    constraints: Constraints | None,
    names: npt.NDArray[Any] | None,
    texts: list[str],
) -> Facts:
    if texts and len(texts) != len(labels):
        msg = f"report: texts has {len(texts):,} entries for {len(labels):,} samples, expected one each."
        raise LinkwiseError(msg)
    sparse = hasattr(X, "tocsr")
    if features is None and hasattr(X, "columns"):
        features = list(X.columns)
    if metric is None:
        metric = "cosine" if sparse else "euclidean"
    found = profile(X, labels, metric, features, values)
    described = []
    order = np.argsort(labels, kind="stable")
    groups = np.split(order, np.cumsum([cluster.size for cluster in facts.clusters])[:-1])
    for cluster, traits, typical, mine in zip(facts.clusters, found.traits, found.exemplars, groups, strict=True):
        margin = float(found.margin[mine].mean())
        exemplars = tuple(_names(np.array(typical, dtype=np.intp), names)) if cluster.size > 1 else ()
        one = replace(cluster, traits=traits, exemplars=exemplars, margin=margin)
        if texts:
            members = mine[: min(len(cluster.members), _OPENINGS)].tolist()
            openings = tuple(opening(texts[i], _SHORT) for i in members)
            one = replace(one, texts=tuple(opening(texts[i]) for i in typical), openings=openings)
        described.append(one)
    return replace(
        facts,
        clusters=tuple(described),
        doubtful=_doubtful(found, labels, constraints, names, texts),
        map=None if metric == "precomputed" else _map(X, labels),
        texts=sparse,
        n_missing=found.n_missing,
    )


def _doubtful(
    found: Profiles,
    labels: npt.NDArray[Any],
    constraints: Constraints | None,
    names: npt.NDArray[Any] | None,
    texts: list[str],
) -> tuple[Doubtful, ...]:
    if len(np.unique(labels)) < 2:
        return ()
    first = np.argsort(found.margin, kind="stable")[:_DOUBTFUL]
    first = first[(found.margin[first] < _CLEAR) | (np.arange(len(first)) < 3)]
    rows = zip(
        _names(first, names),
        labels[first].tolist(),
        found.other[first].tolist(),
        found.margin[first].tolist(),
        count_statements(constraints, len(labels))[first].tolist(),
        [opening(texts[i]) if texts else "" for i in first.tolist()],
        strict=True,
    )
    return tuple(Doubtful(*row) for row in rows)


def opening(text: str, longest: int = _OPENING) -> str:
    """How a text begins, on one line and cut after a word."""
    words = " ".join(text[: 4 * longest].split())
    if len(words) <= longest and len(text) <= 4 * longest:
        return words
    cut = words[: longest - 1]
    kept = cut.rsplit(" ", 1)[0] if " " in cut[longest // 2 :] else cut
    return f"{kept}…"


def _map(X: Any, labels: npt.NDArray[Any]) -> Map:
    points, axes = to_plane(X)
    n = len(labels)
    some = np.arange(n) if n <= _MAX_POINTS else np.linspace(0, n - 1, _MAX_POINTS).astype(np.intp)
    return Map(points[some], labels[some].astype(np.intp), axes, n)


def _vote(view: Any) -> Vote:
    return Vote(view.name, view.weight, None if np.isnan(view.agreement) else view.agreement, view.missing)


def _with_judgments(facts: Facts, estimator: Any, labels: npt.NDArray[Any]) -> Facts:
    """Add the statements that an estimator judged, the most probably wrong first."""
    doubt, said = getattr(estimator, "doubt_", None), getattr(estimator, "constraints_", None)
    if doubt is None or said is None or not said.n_statements:
        return facts
    judged = np.flatnonzero(~np.isnan(doubt))
    own = np.array_equal(estimator.labels_, labels)
    held = estimator.certificate_.held if own else verify(labels, said).held
    order = judged[np.argsort(-doubt[judged], kind="stable")]
    first = order[:_JUDGED]
    first = first[(doubt[first] > _DOUBTED) | (np.arange(len(first)) < 3)]
    words = said.with_weight(np.inf).describe_each(first)  # the weight is the trust before the data were looked at
    rows = zip(words, doubt[first].tolist(), held[first].tolist(), strict=True)
    contradicted = int((doubt[judged] >= _CONTRADICTED).sum())
    listed = tuple(Judged(*row) for row in rows)
    return replace(facts, judged=listed, n_judged=len(judged), n_contradicted=contradicted)


def _remarks(estimator: Any, tree: Any, labels: npt.NDArray[Any]) -> tuple[str, ...]:
    """Return remarks about small branches: those of the estimator, if these are its clusters."""
    own = getattr(estimator, "certificate_", None)
    if own is not None and own.remarks and np.array_equal(estimator.labels_, labels):
        return tuple(own.remarks)
    outside = None if tree is None else samples_outside(tree, labels)
    return () if outside is None or not len(outside) else (str(outside),)


def _conflict(one: Any) -> Conflict:
    """Read a `Conflict`, or an explanation of `check` or `conflicts`."""
    if isinstance(one, Conflict):
        return one
    lines = (*one.lines, *one.rules, *more_lines(len(one.lines), len(one.core), "... "))
    return Conflict(lines, one.because, tuple(one.fixes))


def _repairs(repair: Any, estimator: Any) -> tuple[str, ...]:
    if repair is not None:
        return (*repair.because, *more_lines(len(repair.because), len(repair.dropped), "... "))
    dropped = getattr(estimator, "dropped_", None)
    if dropped is None:
        return ()
    return dropped.describe_each(range(min(dropped.n_statements, 20)))  # type: ignore[no-any-return]


def _question(one: Any, names: npt.NDArray[Any] | None) -> str:
    return one if isinstance(one, str) else str(one.text(names) if hasattr(one, "text") else one)


def _names(samples: IntArray, names: npt.NDArray[Any] | None) -> list[str]:
    return [str(value) for value in (samples if names is None else names[samples]).tolist()]


def _clusters(labels: npt.NDArray[Any], names: npt.NDArray[Any] | None, max_members: int) -> tuple[Cluster, ...]:
    order = np.argsort(labels, kind="stable")
    kinds, start, size = np.unique(labels[order], return_index=True, return_counts=True)
    return tuple(
        Cluster(label, count, tuple(_names(order[first : first + min(count, max_members)], names)))
        for label, first, count in zip(kinds.tolist(), start.tolist(), size.tolist(), strict=True)
    )


def _kinds(certificate: Certificate | None) -> tuple[KindCount, ...]:
    if certificate is None:
        return ()
    found = ((kind, *certificate.counts[kind.word]) for kind in Kind if kind.word in certificate.counts)
    return tuple(KindCount(kind, said, held) for kind, held, said in found if said)


def _statements(
    constraints: Constraints | None, certificate: Certificate | None, max_statements: int
) -> tuple[Statement, ...]:
    if constraints is None or certificate is None:
        return ()
    broken_first = np.argsort(certificate.held, kind="stable")[:max_statements]
    words = constraints.describe_each(broken_first)
    return tuple(map(Statement, words, certificate.held[broken_first].tolist()))
