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
    """One cluster: its label and size, names of its first members and of the most typical ones, and its traits.

    ``name`` is that of a clade, a class or its terms, "" without one; ``texts`` are those of the typical members and
    ``openings`` the beginnings of those of all listed ones.
    """

    label: int
    size: int
    members: tuple[str, ...]
    exemplars: tuple[str, ...] = ()
    traits: tuple[Trait, ...] = ()
    margin: float | None = None
    name: str = ""
    texts: tuple[str, ...] = ()
    openings: tuple[str, ...] = ()


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
    """A result compared with the result without constraints."""

    adjusted_rand: float
    n_before: int  # clusters without constraints
    held_before: int  # statements that hold without constraints
    held_after: int
    n_statements: int
    n_moved: int  # samples in another cluster than before; clusters are matched so that this number is smallest
    moves: tuple[Move, ...]  # the first of them, those that statements name first
    flows: tuple[Flow, ...]  # the largest first; clusters before carry the number of the one they are matched with
    branches_kept: int | None  # branches of the tree before (at least two samples, not all) that are branches after
    n_branches: int | None
    changes: tuple[Change, ...]  # the first statements that hold only with constraints
    n_changes: int
    sketch: Sketch | None = None  # the layout of the tree before, as in `Facts`
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
    text: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A soft statement, the probability that it is wrong, and whether it holds in the result."""

    text: str
    wrong: float
    held: bool


@dataclass(frozen=True, slots=True)
class Vote:
    """A view of the data: its share of the vote, and its agreement with statements held out, None if none were.

    ``missing`` is the reason why it has no vote, or an empty string.
    """

    view: str
    weight: float
    agreement: float | None
    missing: str


@dataclass(frozen=True, slots=True)
class Truth:
    """Known classes (rows) against clusters (columns), matched so that the diagonal is largest."""

    classes: tuple[str, ...]
    clusters: tuple[int, ...]
    counts: tuple[tuple[int, ...], ...]
    accuracy: float  # share of the samples on the diagonal
    adjusted_rand: float


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """Samples in the plane: positions, labels, names of the axes, and the number of all samples."""

    points: FloatArray
    labels: IntArray
    axes: tuple[str, str]
    n_samples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All facts of a report; made by `gather_facts`, worded by `render_html` and `render_markdown`.

    Attributes
    ----------
    title, method, recipe, reasons : str and tuple of str
        Heading, the method in one line, Python that repeats the result, why this method and number of clusters.
    n_samples, n_roots, k_min : int
        Samples, trees in the forest (0 without one), the smallest number of clusters if the method computes it.
    clusters, doubtful : tuple of Cluster and of Doubtful
        The clusters by label, and the samples with the smallest margins.
    statements, n_statements, n_soft, n_broken : tuple of Statement and int
        The first statements, broken ones first; how many there are, are soft, are hard and do not hold.
    kinds, rules, faults : tuple
        Counts of the kinds that were used; rules, None where one could not be checked; errors in the tree itself.
    conflicts, repairs : tuple of Conflict and of str
        Contradictions that were found, and statements that were left out, with the reason.
    judged, n_judged, n_contradicted : tuple of Judged, int or None, and int
        The statements that are most probably wrong; how many the method judged (None if it judges none), and how many
        are wrong with a probability of at least 0.5.
    votes : tuple of Vote
        The views that a `Consensus` compared, by falling weight, and then those without a vote.
    scores, comparison, truth : tuple of Score, Comparison or None, Truth or None
        Figures of merit before and after, the comparison with the result without constraints, and that with known
        classes.
    remarks, questions : tuple of str
        Remarks about the clusters, such as that small branches were given to others; questions to ask next.
    sketch, arcs, map
        The layout of the tree, the slots that statements join (empty if too many to draw), the samples in the plane.
    names, name_labels : tuple of str and of int
        Sample names from left to right, and their clusters; empty when there are too many to list.
    node_names : tuple of (int, str)
        Names of inner nodes of the tree, such as those of the clades of a taxonomy.
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
    judged: tuple[Judged, ...] = ()
    n_judged: int | None = None
    n_contradicted: int = 0
    votes: tuple[Vote, ...] = ()
    truth: Truth | None = None
    node_names: tuple[tuple[int, str], ...] = ()

    @property
    def cluster_names(self) -> dict[int, str]:
        """Names of the clusters that have one, by label."""
        return {cluster.label: cluster.name for cluster in self.clusters if cluster.name}
