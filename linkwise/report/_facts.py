"""Facts of a report as plain records, without wording; made by `gather_facts`."""

from __future__ import annotations

from dataclasses import dataclass

from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Kind
from linkwise.plots import Sketch


@dataclass(frozen=True, slots=True)
class KindCount:
    """Number of statements of one kind, and of those that hold."""

    kind: Kind
    said: int
    held: int


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement in words, and whether it holds."""

    text: str
    held: bool


@dataclass(frozen=True, slots=True)
class Trait:
    """One feature of a cluster: its mean there and over all samples, and their difference in standard deviations.

    Only samples with a value count; ``missing`` is the number of samples of the cluster without one.
    """

    feature: str
    mean: float
    overall: float
    difference: float
    spread: float = 0.0
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster: its label and size, names of its first members and of the most typical ones, and its traits."""

    label: int
    size: int
    members: tuple[str, ...]
    exemplars: tuple[str, ...] = ()
    traits: tuple[Trait, ...] = ()
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Statements that cannot hold together, the reason, and the single ones whose removal resolves the conflict."""

    statements: tuple[str, ...]
    because: str
    suspects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """A figure of merit without and with constraints.

    Examples
    --------
    >>> from linkwise.report import Score
    >>> Score("adjusted Rand index", 0.61, 0.93).after
    0.93
    """

    name: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Change:
    """A statement that holds with constraints but not without, and the heights at which a and b meet in both trees.

    Heights are None without a tree and for samples in different trees; a group has none.
    """

    text: str
    kind: Kind
    height_before: float | None
    height_after: float | None


@dataclass(frozen=True, slots=True)
class Flow:
    """Number of samples that are in one cluster before and in one cluster after."""

    before: int
    after: int
    size: int


@dataclass(frozen=True, slots=True)
class Move:
    """A sample that changed cluster, and whether a statement names it."""

    name: str
    before: int
    after: int
    named: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """A result compared with the result without constraints.

    Attributes
    ----------
    adjusted_rand : float
        Agreement of the two clusterings; 1 when they are the same, 0 by chance.
    n_before : int
        Number of clusters without constraints.
    held_before, held_after, n_statements : int
        Statements that hold without and with constraints, and all statements.
    n_moved : int
        Samples in another cluster than before, where clusters are matched so that this number is smallest.
    moves : tuple of Move
        The first of them, those that statements name first.
    flows : tuple of Flow
        Sizes of the overlaps, the largest first; clusters before carry the number of the one they are matched with.
    branches_kept, n_branches : int or None
        Branches of the tree before (with at least two samples, not all) that are branches after, and all of them.
    changes : tuple of Change
        Statements that hold only with constraints; ``n_changes`` counts all.
    sketch, arcs
        The layout of the tree before, as in `Facts`.
    """

    adjusted_rand: float
    n_before: int
    held_before: int
    held_after: int
    n_statements: int
    n_moved: int
    moves: tuple[Move, ...]
    flows: tuple[Flow, ...]
    branches_kept: int | None
    n_branches: int | None
    changes: tuple[Change, ...]
    n_changes: int
    sketch: Sketch | None = None
    arcs: tuple[tuple[Kind, bool, IntArray], ...] = ()


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A sample nearly as close to another cluster as to its own.

    The margin is (b - a) / max(a, b) for the distances a to the center of its own and b to the nearest other cluster;
    below 0 it is closer to the other. ``statements`` counts those that name it.
    """

    name: str
    cluster: int
    other: int
    margin: float
    statements: int


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """Samples in the plane: positions, labels, names of the axes, and the number of all samples."""

    points: FloatArray
    labels: IntArray
    axes: tuple[str, str]
    n_samples: int


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts of a report; made by `gather_facts`, worded by `render_html` and `render_markdown`.

    Attributes
    ----------
    title, method, recipe : str
        Heading, the method in one line, and Python that repeats the result.
    reasons : tuple of str
        Why this method and this number of clusters.
    n_samples, n_roots : int
        Samples, and trees in the forest (1 for an ordinary tree, 0 without one).
    k_min : int or None
        The smallest number of clusters under the constraints, if the method computes it.
    clusters : tuple of Cluster
        By label.
    kinds : tuple of KindCount
        Only kinds that were used.
    statements : tuple of Statement
        The first statements, broken ones first; ``n_statements`` counts all, ``n_soft`` the soft ones.
    n_broken : int
        Hard statements that do not hold.
    rules : tuple of (str, bool or None)
        Rules about clusters; None where one could not be checked.
    faults : tuple of str
        Errors in the tree itself; empty for a valid one.
    conflicts : tuple of Conflict
        Contradictions that were found.
    repairs : tuple of str
        Statements that were left out, with the reason.
    scores : tuple of Score
        Figures of merit, before and after.
    comparison : Comparison or None
        Comparison with the result without constraints.
    remarks : tuple of str
        Remarks about the clusters, such as that small branches were given to other clusters.
    doubtful : tuple of Doubtful
        The samples with the smallest margins.
    questions : tuple of str
        Questions to ask next.
    sketch : Sketch or None
        The layout of the tree.
    arcs : tuple of (Kind, bool, ndarray of shape (k, 2))
        Slots that statements join, by kind and by whether they hold; empty when there are too many to draw.
    map : Map or None
        The samples in the plane.
    names : tuple of str
        Sample names from left to right; empty when there are too many to list.
    name_labels : tuple of int
        The cluster of each of ``names``.
    n_missing : int
        Values that are missing in the data and were filled in to compare samples.

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
    sketch: Sketch | None
    arcs: tuple[tuple[Kind, bool, IntArray], ...]
    names: tuple[str, ...]
    version: str
    name_labels: tuple[int, ...] = ()
    n_soft: int = 0
    reasons: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    comparison: Comparison | None = None
    doubtful: tuple[Doubtful, ...] = ()
    questions: tuple[str, ...] = ()
    map: Map | None = None
    remarks: tuple[str, ...] = ()
    texts: bool = False  # whether features are terms, which are worded differently
    n_missing: int = 0
