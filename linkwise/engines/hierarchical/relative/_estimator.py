"""`ReCon`: agglomeration under relative statements ab|c that always ends in one tree displaying all of them.

With statements about pairs and groups as well, the tree gets a marked cut: must-linked samples meet at or below it,
samples apart meet above it. First every block of the finest clustering possible is merged into one cluster. From then
on clusters and blocks are the same, so a merge keeps all statements attainable if the triplets allow it and no two
samples apart meet: no further test is needed and no dead end can come from the triplets. Above the cut only triplets
count.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse

from linkwise._compat import Interval, StrOptions
from linkwise._typing import IntArray
from linkwise._validation import warn_user
from linkwise.constraints import LINKS, Constraints, Kind, NeighborWithin, Rule, SizeBetween
from linkwise.engines import CACHE, REPORTED, ConstrainedClusterer, Kept, current_progress, kept_count
from linkwise.engines.agglomeration import EUCLIDEAN_ONLY, LINKAGES
from linkwise.engines.distances import as_dense
from linkwise.engines.hierarchical import HierarchyMixin, dead_end_message, mark
from linkwise.engines.hierarchical.relative._kernels import clusters_after
from linkwise.engines.hierarchical.relative._kernels_search import BELOW, FREE, INSIDE, N_NOTED, NEVER, WANTED, WHEN
from linkwise.engines.hierarchical.relative._ruled_cut import ruled_cut
from linkwise.engines.hierarchical.relative._run import Run, make_past, make_state
from linkwise.engines.hierarchical.relative._warm_start import Memory, Statements, carry, over_clusters
from linkwise.exceptions import DeadEndError, LinkwiseError, UnsupportedConstraintError
from linkwise.problem import LiveTriplets, Problem
from linkwise.result import Dendrogram, OutlierCut, cut_without_outliers, samples_outside, shortfalls


def recon(
    problem: Problem,
    *,
    method: str = "centroid",
    distance_threshold: float | None = None,
    record: bool = False,
    memory: Memory | None = None,
) -> tuple[Dendrogram, Memory | None, int]:
    """Build the tree of `ReCon`, marked where there are pairs or groups; return it with memory and merges reused.

    With ``record`` there is a memory for a later run; ``memory`` is that of an earlier one.
    """
    code, n, known = LINKAGES[method], problem.n_samples, problem.constraints
    X, metric = as_dense(problem.X, problem.metric)
    settings = (method, metric, problem.n_clusters, distance_threshold)
    if memory is not None and not memory.fits(settings, X):
        memory = None
    statements = Statements.of(known, problem.blocks if _is_mixed(known) else None)
    wanted = 1 if problem.n_clusters is None else problem.n_clusters
    kept, end, at = 0, -1, np.arange(n)
    if memory is not None:
        end = memory.cut_after(statements, wanted, _limit(distance_threshold, memory.factor, code))
        kept = memory.n_kept(statements, end)
        if kept == n - 1:
            return *_unchanged(memory, statements, end, known.ids), kept
        at = clusters_after(memory.tree.parent, n, max(kept, 0))
    triplets = over_clusters(statements.triplets, at)
    live = None if triplets is None else LiveTriplets(len(triplets.involved), len(triplets.origin))
    if kept < 0 or triplets is None or live is None or live.add_many(triplets.items) >= 0:
        problem.require_consistent()
        msg = "recon met a contradiction where there is none; please report the input."
        raise LinkwiseError(msg)
    vectors = code in EUCLIDEAN_ONLY and metric == "euclidean"
    state, factor = make_state(X, code, metric, len(triplets.involved), vectors=vectors)
    past = None
    if record or memory is not None:
        room = 6 * n + 64 if vectors else 0
        past = make_past(len(state.size), len(triplets.origin), memory, record=record, room=room)
    run = Run(state, past, live.layers, code, vectors, current_progress())
    if statements.block is not None:
        run.watch(statements.links, statements.groups, statements.block)
    if memory is not None:
        run.redo(memory.tree, memory.height[:kept])
    run.name_items(triplets.involved)
    marked = None
    if statements.block is not None:
        n_blocks = int(statements.block.max()) + 1
        if run.n_alive > n_blocks:
            run.phase(INSIDE)
        if run.n_alive > n_blocks:
            msg = "recon could not join the samples of a block, which cannot be; please report the input."
            raise LinkwiseError(msg)
        if memory is None or kept <= end:
            run.state.limit[0] = _limit(distance_threshold, factor, code)
            run.state.count[WANTED] = wanted
            run.phase(BELOW)
            marked, end = run.clusters(), run.n_merged
        else:
            marked = np.unique(clusters_after(memory.tree.parent, n, end))
    run.phase(FREE)
    height = run.state.height * factor
    if code in EUCLIDEAN_ONLY:
        height = np.sqrt(np.maximum(run.state.height, 0.0)) * factor
    tree = Dendrogram.from_merges(n, run.state.pairs, height, marked=marked, ids=known.ids)
    if not record:
        return tree, None, kept
    return tree, _remember(run, settings, X, statements, tree, factor, end, triplets.origin, memory, kept), kept


def _limit(distance_threshold: float | None, factor: float, code: int) -> float:
    """Return the threshold on the scale of the loop, squared where the loop's distances are."""
    limit = np.inf if distance_threshold is None else distance_threshold / factor
    return limit * limit if code in EUCLIDEAN_ONLY else limit


def _unchanged(memory: Memory, statements: Statements, end: int, ids: Any) -> tuple[Dendrogram, Memory]:
    """Return the tree of the earlier run, with the cut where the statements now put it."""
    tree, n = memory.tree, statements.n
    marked = None if end < 0 else np.unique(clusters_after(tree.parent, n, end))
    tree = Dendrogram(n, tree.parent, tree.raw_height, marked=marked, ids=ids)
    used = carry(memory.statements.triplet_keys, memory.used, statements.triplet_keys, n)
    parted = carry(memory.statements.link_keys, memory.parted, statements.link_keys, n)
    return tree, replace(memory, statements=statements, tree=tree, end=end, used=used, parted=parted)


def _remember(
    run: Run,
    settings: tuple[Any, ...],
    X: npt.NDArray[Any],
    statements: Statements,
    tree: Dendrogram,
    factor: float,
    end: int,
    origin: IntArray,
    memory: Memory | None,
    kept: int,
) -> Memory:
    """Append the record of the run to that of the merges that stayed in place."""
    used, parted = run.past.used, run.state.stamp[1, : len(statements.links)]
    early = np.full(len(statements.triplets), NEVER, np.int64)
    noted = int(run.state.count[N_NOTED])
    entry, far = run.past.note[:, :noted], run.past.note_far[:noted]
    if memory is not None:
        early = carry(memory.statements.triplet_keys, memory.used, statements.triplet_keys, kept)
        parted = np.minimum(parted, carry(memory.statements.link_keys, memory.parted, statements.link_keys, kept))
        before = memory.entry[WHEN] < kept
        entry = np.concatenate([memory.entry[:, before], entry], axis=1)
        far = np.concatenate([memory.far[before], far])
    early[origin] = np.minimum(early[origin], used)
    X = memory.X if memory is not None else np.array(X)
    return Memory(settings, X, statements, tree, run.state.height, factor, end, early, parted, entry, far)


def _is_mixed(constraints: Constraints) -> bool:
    """Whether there are statements about pairs or groups, so that the tree gets a marked cut."""
    return bool((constraints.kind != Kind.TRIPLET).any())


class ReCon(HierarchyMixin, ConstrainedClusterer):
    """Build a tree that displays every relative statement ab|c, merging closest compatible clusters first.

    Must-links, cannot-links and groups may be given as well: they hold in the clusters, which are marked in the tree.

    Parameters
    ----------
    cut : {"constraints", "merges"}, default="constraints"
        ``"constraints"`` splits first where a statement separates c from a and b, then the latest merges;
        ``"merges"`` undoes the latest merges only. With statements about pairs or groups the cut is drawn while
        merging, and this plays no role; with a ``min_cluster_size`` above 1 it is always ``"constraints"``.
    min_cluster_size : int, "auto" or None, default=None
        None or 1: every cluster is a branch of the tree. Above 1: branches with fewer samples count as outliers; they
        are ignored while cutting and then given to the nearest cluster in which no statement breaks, so that clusters
        need not be branches (``moved_`` lists the samples, ``certificate_`` mentions it). A branch that no cluster may
        take is one of the ``n_clusters`` itself. If no such cut has ``n_clusters`` clusters, the size is lowered until
        one has, with a warning. Not together with statements about pairs or groups. "auto" takes two fifths of an
        average cluster, without a warning, and 1 where there are pairs or groups; the paper names no number, this one
        is ours. It can miss classes of fewer samples, even where triplets separate them.
    warm_start : bool, default=False
        Keep the searches of a fit, so that fitting the same X again with a few statements more or fewer takes a
        fraction of the time. The result is that of a fit from scratch, merge for merge.

    Attributes
    ----------
    dendrogram_ : Dendrogram
        The tree; the clusters of ``labels_`` are marked when they are branches of it, as they are unless ``moved_``
        holds samples.
    min_cluster_size_ : int
        The size below which branches counted as outliers; 1 when none did.
    moved_ : Moved
        Samples of small branches that were given to another cluster: which, with which branch, to which cluster.
    n_reused_ : int
        How many of the first merges were taken over from the fit before, of ``n_samples - 1``; 0 without a warm start.

    See Also
    --------
    ConstrainedAgglomerative : hierarchies under must- and cannot-links.

    Notes
    -----
    **Cost** O(n d) memory for centroid, ward and median on Euclidean vectors, one n x n matrix otherwise, plus the sum
    of the depths of the items in the BUILD tree of the triplets. Time is that of the unconstrained generic algorithm
    plus one test per merge of constrained clusters and per refuted block of pairs.
    **Guarantee** the tree displays every hard triplet and no dead end is ever met: there are n - 1 merges, each the
    closest compatible pair at its turn, which are those of the paper's algorithm, up to ties. Labels satisfy Definition
    4.2 of [1]_: if c shares a cluster with a or b, all three share it. With triplets alone there are exactly
    ``n_clusters`` clusters, whatever ``min_cluster_size``. Under ε (`NeighborWithin`) and bounds on sizes
    (`SizeBetween`) the tree is the same, and of all its cuts in which these hold that of the lowest clusters is taken;
    if there is none, an error says which numbers of clusters can be had. Hard links and groups hold in the labels;
    with cannot-links, greedy merging may end above a wanted ``n_clusters``: this raises `InfeasibleConstraintsError`
    where no clustering has that few clusters, as far as `check` finds out, else `DeadEndError` (fewer may be NP-hard
    to find).
    **Departure from** [1]_ the compatibility test is not run afresh: an incremental BUILD structure answers it and
    rolls back, and a failed test refutes all pairs between two sets at once. Heights, left open there, are the merge
    distances, raised to those of the merges below where they would go down (``dendrogram_.raw_height`` has them as they
    were). Ties go to the pair whose younger cluster is oldest. Pairs and groups, future work there, are merged in
    phases: blocks first, then up to the marked cut, then to the root. Outliers go to the nearest *compatible* cluster,
    where the paper's nearest one can break statements.

    A **warm start** compares the statements with those of the last fit on equal data under equal parameters. Merges
    stay in place up to the first one that a new triplet or cannot-link forbids, and up to the first refusal that a
    withdrawn one had a part in; the tree is resumed there. Where a statement changes the blocks, as must-links
    do, no merge stays, but on Euclidean vectors with centroid, ward or median linkage the searches for
    nearest clusters are recalled. It costs a copy of X and O(n) memory; a fit that records takes up to a quarter
    longer, and where statements and data disagree a change may cost as much as a fit from scratch. Not in [1]_.

    References
    ----------
    .. [1] E. Y. Liu, Z. Zhang, W. Wang, "Clustering with relative constraints", KDD 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints, ReCon
    >>> X = np.array([[0.0], [1.0], [5.0], [6.5]])
    >>> model = ReCon(n_clusters=2).fit(X, constraints=Constraints.build(4, triplets=[(0, 2, 1), (0, 2, 3)]))
    >>> model.labels_[0] == model.labels_[2]
    np.True_
    >>> print(model.certificate_)
    All 2 hard statements hold: 2 triplets.

    One more statement, and only the merges it can change are made again:

    >>> model = ReCon(n_clusters=2, warm_start=True).fit(X, constraints=Constraints.build(4, triplets=[(0, 1, 2)]))
    >>> model.fit(X, constraints=Constraints.build(4, triplets=[(0, 1, 2), (0, 2, 3)])).n_reused_
    1
    """

    understands: ClassVar[frozenset[Kind]] = LINKS | {Kind.TRIPLET}
    understands_rules: ClassVar[frozenset[type[Rule]]] = frozenset({NeighborWithin, SizeBetween})
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cut": [StrOptions({"constraints", "merges"})],
        "min_cluster_size": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "warm_start": ["boolean"],
    }
    _saved: ClassVar[dict[str, Kept]] = {
        "min_cluster_size_": kept_count(1, required=False),
        "n_reused_": REPORTED,
        "_memory": CACHE,
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: str = "centroid",
        metric: Any = "euclidean",
        distance_threshold: float | None = None,
        cut: str = "constraints",
        min_cluster_size: int | str | None = None,
        warm_start: bool = False,
    ) -> None:
        super().__init__(n_clusters, linkage=linkage, metric=metric, distance_threshold=distance_threshold)
        self.cut = cut
        self.min_cluster_size = min_cluster_size
        self.warm_start = warm_start

    def _judge(self, problem: Problem) -> None:
        if not _is_mixed(problem.constraints):
            return  # contradictory triplets have no BUILD tree, which merging needs
        most = int(problem.blocks.max(initial=-1)) + 1
        if self.n_clusters is not None and self.n_clusters > most:
            problem.verdict.raise_if_infeasible()

    def _solve(self, problem: Problem) -> Dendrogram:
        tree, self._memory, self.n_reused_ = recon(
            problem,
            method=self.linkage,
            distance_threshold=self.distance_threshold,
            record=self.warm_start,
            memory=getattr(self, "_memory", None) if self.warm_start else None,
        )
        if tree.marked is not None and self.n_clusters is not None and len(tree.marked) > self.n_clusters:
            problem.verdict.raise_if_infeasible()
            reached = len(tree.marked)
            raise DeadEndError(dead_end_message(reached, self.n_clusters), tree, reached)
        return tree

    def _refuse(self, constraints: Constraints) -> Constraints:
        if isinstance(self.min_cluster_size, Integral) and self.min_cluster_size > 1 and _is_mixed(constraints):
            msg = (
                f"ReCon with min_cluster_size={self.min_cluster_size} understands triplets only: giving outliers to "
                "other clusters can break statements about pairs.\nHint: leave min_cluster_size out."
            )
            words = tuple(kind.word for kind in Kind if kind is not Kind.TRIPLET and (constraints.kind == kind).any())
            raise UnsupportedConstraintError(msg, words)
        ruled = tuple(type(rule).__name__ for rule in constraints.rules if type(rule) in self.understands_rules)
        sized = isinstance(self.min_cluster_size, Integral) and self.min_cluster_size > 1
        if ruled and (sized or self.distance_threshold is not None):
            what = f"min_cluster_size={self.min_cluster_size}" if sized else "a distance_threshold"
            msg = (
                f"ReCon with {what} does not keep {' and '.join(ruled)}, which decide where the tree is cut.\n"
                "Hint: leave it out; `SizeBetween(low)` gives every cluster at least that many samples."
            )
            raise UnsupportedConstraintError(msg, ruled)
        return super()._refuse(constraints)

    def _cut(self, tree: Dendrogram, constraints: Constraints) -> IntArray:
        if self.n_clusters is None or self.cut == "merges":
            return super()._cut(tree, constraints)
        return tree.cut_constrained(constraints, self.n_clusters)

    def _keep(self, outcome: Dendrogram, problem: Problem) -> None:
        if any(type(rule) in self.understands_rules for rule in problem.constraints.rules):
            self._keep_ruled(outcome, problem)
            return
        cut = self._cut_outliers(outcome, problem)
        self.min_cluster_size_ = 1 if cut is None else cut.min_size_used
        if cut is not None:
            labels = cut.labels
            self._certify(labels, problem)
        else:
            labels = self._cut(outcome, problem.constraints) if outcome.marked is None else outcome.cut_marked()
        are_branches = cut is None or not len(samples_outside(outcome, labels))
        tree = mark(outcome, labels) if outcome.marked is None and are_branches else outcome
        certificate = self._certify(tree, problem)
        self._keep_tree(tree, labels, certificate, problem.X)
        if cut is not None:
            self.certificate_ = replace(certificate, remarks=self._remarks(cut))

    def _keep_ruled(self, outcome: Dendrogram, problem: Problem) -> None:
        """Cut where the rules about clusters hold."""
        labels = ruled_cut(outcome, problem, self.n_clusters)
        tree = mark(outcome, labels)
        self.min_cluster_size_ = 1
        self._keep_tree(tree, labels, self._certify(tree, problem), problem.X)

    def _cut_outliers(self, outcome: Dendrogram, problem: Problem) -> OutlierCut | None:
        """Return the cut that takes small branches for outliers; None where none is asked for or needed."""
        k = self.n_clusters
        if k is None and isinstance(self.min_cluster_size, Integral) and self.min_cluster_size > 1:
            warn_user(
                f"ReCon: min_cluster_size={self.min_cluster_size} plays no role without n_clusters; the clusters are "
                "branches of any size.\nHint: set n_clusters."
            )
        if k is None or outcome.marked is not None:
            return None
        least = self._least(outcome.n_samples)
        if least < 2:
            return None
        plain = self.metric == "euclidean" and not scipy.sparse.issparse(problem.X)
        vectors = problem.X if plain else None
        found = cut_without_outliers(outcome, k, least, problem.constraints, vectors, exact=True)
        words = shortfalls(found, k, least, name="min_cluster_size", exact=True)
        for text in words if isinstance(self.min_cluster_size, Integral) else words[found.min_size_used < least :]:
            warn_user(f"ReCon: {text}")
        return found

    def _least(self, n_samples: int) -> int:
        """Return the size below which branches are asked to count as outliers."""
        if self.min_cluster_size == "auto":
            return 2 * n_samples // (5 * int(self.n_clusters or 1))
        return int(self.min_cluster_size or 1)

    def _remarks(self, cut: OutlierCut) -> tuple[str, ...]:
        """Word what became of small branches."""
        size, least = cut.min_size_used, self._least(len(cut.labels))
        remarks = []
        if size < least:
            instead = f"those below {size} samples count" if size > 1 else "no branch counts"
            remarks.append(
                f"Branches below {least} samples were to count as outliers, but no {self.n_clusters} clusters in which "
                f"all statements hold were found so; {instead} as outliers instead."
            )
        moved = self.moved_
        if len(moved):
            verb = "was" if len(moved) == 1 else "were"
            where = "another cluster" if moved.n_branches == 1 else "other clusters"
            remarks.append(
                f"{moved.counted()} of fewer than {size} samples {verb} given to {where}, so {moved.listed()}."
            )
        if cut.apart:
            one = len(cut.apart) == 1
            which = f"{len(cut.apart)} branch{'' if one else 'es'} of fewer than {size} samples"
            remarks.append(
                f"{which} fits no other cluster and is a cluster of its own."
                if one
                else f"{which} fit no other cluster and are clusters of their own."
            )
        return tuple(remarks)
