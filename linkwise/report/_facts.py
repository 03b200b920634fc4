"""Numbers only: everything a report says, collected from a result and what was said about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise import __version__
from linkwise.constraints import Kind
from linkwise.plots._layout import Sketch, lay_out
from linkwise.result import verify

if TYPE_CHECKING:
    from linkwise.constraints import Constraints
    from linkwise.result import Certificate, Dendrogram

__all__ = ["Cluster", "Conflict", "Facts", "KindCount", "Score", "Statement", "gather_facts"]

_MAX_ARCS = 150
_MAX_NAMES = 20_000


@dataclass(frozen=True, slots=True)
class KindCount:
    """How many statements of one kind were made, and how many hold."""

    kind: Kind
    said: int
    held: int


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement in words, and whether it holds."""

    text: str
    held: bool


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster: its label, its size and the names of its first members."""

    label: int
    size: int
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Statements that cannot hold together, why, and which single ones would resolve it if dropped."""

    statements: tuple[str, ...]
    because: str
    suspects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """A figure of merit without and with what was said."""

    name: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything a report tells; made by `gather_facts`, worded by `render_html`.

    Attributes
    ----------
    title, method, recipe : str
        Heading, the method in one line, and Python that repeats the result.
    n_samples, n_roots : int
        Samples, and trees in the forest (1 for an ordinary tree).
    k_min : int or None
        The fewest clusters what was said allows to reach, where the method knows it.
    clusters : tuple of Cluster
        By label.
    kinds : tuple of KindCount
        Only kinds that were used.
    statements : tuple of Statement
        The first statements, broken ones first; ``n_statements`` counts all.
    n_broken : int
        Hard statements that do not hold.
    rules : tuple of (str, bool or None)
        Rules about clusters; None where one could not be checked.
    faults : tuple of str
        What is wrong with the tree itself; empty for a sound one.
    conflicts : tuple of Conflict
        Contradictions that were found.
    scores : tuple of Score
        Before and after.
    sketch : Sketch
        Where the tree is drawn.
    arcs : tuple of (Kind, bool, ndarray of shape (k, 2))
        Slots that statements join, by kind and by whether they hold; empty when there are too many to draw.
    names : tuple of str
        Sample names from left to right; empty when there are too many to list.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Dendrogram
    >>> from linkwise.report import gather_facts
    >>> facts = gather_facts(Dendrogram.from_merges(2, np.array([[0, 1]]), np.array([1.0])), ids=["otter", "mink"])
    >>> facts.n_samples, facts.names
    (2, ('otter', 'mink'))
    """

    title: str
    method: str
    recipe: str
    n_samples: int
    n_roots: int
    k_min: int | None
    clusters: tuple[Cluster, ...]
    kinds: tuple[KindCount, ...]
    statements: tuple[Statement, ...]
    n_statements: int
    n_broken: int
    rules: tuple[tuple[str, bool | None], ...]
    faults: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    scores: tuple[Score, ...]
    sketch: Sketch
    arcs: tuple[tuple[Kind, bool, npt.NDArray[np.intp]], ...]
    names: tuple[str, ...]
    version: str


def gather_facts(
    result: Any,
    *,
    labels: Any = None,
    constraints: Constraints | None = None,
    certificate: Certificate | None = None,
    ids: Any = None,
    title: str = "Clusters and what was known",
    method: str | None = None,
    recipe: str = "",
    conflicts: Sequence[Conflict] = (),
    scores: Sequence[Score] = (),
    max_members: int = 2_000,
    max_statements: int = 500,
) -> Facts:
    """Collect what a report tells from a fitted estimator or a dendrogram.

    Parameters
    ----------
    result : fitted estimator or Dendrogram
        An estimator brings its labels and the statements it obeyed; a dendrogram is told them below.
    labels : array-like of shape (n_samples,), optional
        Cluster of every sample; the marked cut, else the trees of the forest, when left out.
    constraints : Constraints, optional
        What was said. Give it with an estimator too when soft statements were left out, so that they are told.
    certificate : Certificate, optional
        What held; found out with `verify` when left out.
    ids : array-like of shape (n_samples,), optional
        Names of the samples.
    title, method, recipe : str
        Heading, the method in one line (an estimator words it itself), Python that repeats the result.
    conflicts, scores : sequences
        Contradictions and before-after figures to tell as well.
    max_members, max_statements : int
        How many members of a cluster and how many statements are listed by name.

    Returns
    -------
    Facts

    Notes
    -----
    **Cost** O(n log n + m). **Guarantee** what is said to hold was checked by `verify`, not by the engine.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints, Dendrogram
    >>> from linkwise.report import gather_facts
    >>> tree = Dendrogram.from_merges(3, np.array([[0, 1], [2, 3]]), np.array([1.0, 2.0]))
    >>> said = Constraints.build(3, must_link=[(0, 1)])
    >>> facts = gather_facts(tree, labels=[0, 0, 1], constraints=said)
    >>> [(cluster.label, cluster.size) for cluster in facts.clusters], facts.n_broken
    ([(0, 2), (1, 1)], 0)
    """
    k_min = None
    dendrogram: Dendrogram = result
    if hasattr(result, "dendrogram_"):
        dendrogram = result.dendrogram_
        labels = result.labels_ if labels is None else labels
        if constraints is None:  # an estimator's certificate is about its own statements only
            constraints = result.constraints_
            certificate = result.certificate_ if certificate is None else certificate
        k_min = getattr(result, "k_min_", None)
        method = repr(result) if method is None else method
    if labels is None:
        labels = (
            dendrogram.cut_marked() if dendrogram.marked is not None else dendrogram.cut(n_clusters=dendrogram.n_roots)
        )
    if constraints is not None and certificate is None:
        certificate = verify(dendrogram if dendrogram.marked is not None else labels, constraints)
    given = ids if ids is not None else dendrogram.ids
    if given is None and constraints is not None:
        given = constraints.ids
    sketch = lay_out(dendrogram, labels)
    names = None if given is None else np.asarray(given)
    in_order = np.argsort(sketch.slot)
    return Facts(
        title=title,
        method=method or "",
        recipe=recipe,
        n_samples=int(dendrogram.n_samples),
        n_roots=int((sketch.parent < 0).sum()),
        k_min=None if k_min is None else int(k_min),
        clusters=_clusters(np.asarray(labels), names, max_members),
        kinds=_kinds(certificate),
        statements=_statements(constraints, certificate, max_statements),
        n_statements=0 if constraints is None else constraints.n_statements,
        n_broken=0 if certificate is None else len(certificate.violated),
        rules=() if certificate is None else tuple((repr(rule), held) for rule, held in certificate.rules),
        faults=() if certificate is None else certificate.faults,
        conflicts=tuple(conflicts),
        scores=tuple(scores),
        sketch=sketch,
        arcs=_arcs(constraints, certificate, sketch),
        names=tuple(_names(in_order, names)) if len(in_order) <= _MAX_NAMES else (),
        version=__version__,
    )


def _names(samples: npt.NDArray[np.intp], names: npt.NDArray[Any] | None) -> list[str]:
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
    return tuple(Statement(constraints.describe(i), bool(certificate.held[i])) for i in broken_first.tolist())


def _arcs(
    constraints: Constraints | None, certificate: Certificate | None, sketch: Sketch
) -> tuple[tuple[Kind, bool, npt.NDArray[np.intp]], ...]:
    if constraints is None or certificate is None or not 0 < constraints.n_statements <= _MAX_ARCS:
        return ()
    slots = sketch.slot[constraints.items[:, :2]]
    found = (
        (kind, held, slots[(constraints.kind == kind) & (certificate.held == held)])
        for kind in Kind
        if not kind.is_group
        for held in (True, False)
    )
    return tuple((kind, held, pairs) for kind, held, pairs in found if len(pairs))
