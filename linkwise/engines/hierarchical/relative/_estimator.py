"""ReCon: agglomeration under relative statements ab|c that always ends in one tree displaying all of them.

With statements about pairs and groups as well, the tree gets a marked cut: must-linked samples meet at or below it,
samples apart meet above it. First every block of the finest clustering possible is merged into one cluster. From then
on clusters and blocks are the same, so a merge keeps everything attainable if the triplets allow it and no two samples
apart meet: no further test is needed and no dead end can come from the triplets. Above the cut only triplets count.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise._compat import Interval, StrOptions
from linkwise._typing import IntArray
from linkwise._validation import warn_user
from linkwise.constraints import Constraints, Kind
from linkwise.engines import CACHE, REPORTED, ConstrainedClusterer, Kept, current_progress, kept_count
from linkwise.engines.agglomeration import EUCLIDEAN_ONLY, LINKAGES, linkage_code, require_fitting
from linkwise.engines.distances import as_dense
from linkwise.engines.hierarchical import HierarchyMixin, dead_end_message, mark
from linkwise.engines.hierarchical.relative._kernels import clusters_after
from linkwise.engines.hierarchical.relative._kernels_search import BELOW, FREE, INSIDE, N_NOTED, NEVER, WANTED, WHEN
from linkwise.engines.hierarchical.relative._run import Run, make_past, make_state
from linkwise.engines.hierarchical.relative._warm_start import Contracted, Memory, Said, carry, contract
from linkwise.exceptions import DeadEndError, LinkwiseError, UnsupportedConstraintError
from linkwise.problem import LiveTriplets, Problem, check
from linkwise.problem.statements import Hard
from linkwise.problem.triplets import blocks_or_none
from linkwise.result import Dendrogram, OutlierCut, cut_without_outliers, samples_outside, shortfalls


def recon(
    X: Any,
    constraints: Constraints,
    *,
    method: str = "centroid",
    metric: Any = "euclidean",
    n_clusters: int | None = None,
    distance_threshold: float | None = None,
) -> Dendrogram:
    """Build the tree that merges closest clusters first among the merges that leave every triplet attainable.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite vectors, or square dissimilarities with ``metric="precomputed"``. Not modified.
    constraints : Constraints
        Triplets ab|c, must-links, cannot-links and groups together and apart; all are taken as hard.
    method : {"centroid", "single", "complete", "average", "weighted", "ward", "median"}, default="centroid"
        How the distance of two clusters follows from their members; the paper uses centroid.
    metric : str or callable, default="euclidean"
        How vectors are compared.
    n_clusters : int, optional
        Size of the marked cut when there are statements about pairs or groups; default: as few clusters as merging
        reaches. More are marked when greedy merging ends before (fewer may be NP-hard to find).
    distance_threshold : float, optional
        Draw the marked cut before the first merge at a larger distance.

    Returns
    -------
    Dendrogram
        One binary tree that displays every triplet. ``raw_height`` holds the distances at which clusters merged, which
        need not rise; ``height`` does. With statements about pairs or groups, the clusters they hold for are marked.

    Raises
    ------
    InfeasibleConstraintsError
        No hierarchy with a cut satisfies all statements; the explanation names the few at fault.

    Notes
    -----
    **Cost** O(n d) memory for centroid, ward and median on Euclidean vectors, one n x n matrix otherwise, plus the sum
    of the depths of the items in the BUILD tree of the triplets. Time is that of the unconstrained generic algorithm
    plus one test per merge of constrained clusters and per refuted block of pairs.
    **Guarantee** n - 1 merges whenever the triplets are consistent, each the closest compatible pair at its turn: the
    merges of the paper's algorithm, up to ties.
    **Departure from** [1]_ the compatibility test is not run afresh: an incremental BUILD structure answers it and
    rolls back, and a failed test refutes all pairs between two sets at once. Heights, left open there, are the merge
    distances, raised to those of the merges below where they would go down. Ties go to the pair whose younger cluster
    is oldest. Pairs and groups, future work there, are merged in phases: what belongs together first, then up to the
    marked cut, then to the root.

    References
    ----------
    .. [1] E. Y. Liu, Z. Zhang, W. Wang, "Clustering with relative constraints", KDD 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import recon
    >>> X = np.array([[0.0], [1.0], [5.0], [6.5]])
    >>> tree = recon(X, Constraints.build(4, triplets=[(0, 2, 1)]))
    >>> tree.satisfies(Constraints.build(4, triplets=[(0, 2, 1)])).all()
    np.True_
    """
    return _grow(X, constraints, method, metric, n_clusters, distance_threshold)[0]


def _grow(
    X: Any,
    constraints: Constraints,
    method: str,
    metric: Any,
    n_clusters: int | None,
    distance_threshold: float | None,
    *,
    record: bool = False,
    memory: Memory | None = None,
) -> tuple[Dendrogram, Memory | None, int]:
    """Run `recon`; return the tree, with ``record`` what a later run can use, and how many merges stayed in place."""
    code = linkage_code(method, who="recon")
    require_fitting(method, metric if isinstance(metric, str) else "callable", who="recon")
    X = np.asarray(X)
    n = constraints.n_samples
    settings = (method, metric, n_clusters, distance_threshold)
    if memory is not None and not memory.fits(settings, X):
        memory = None
    mixed = bool((constraints.kind != Kind.TRIPLET).any())
    said = Said.of(constraints, _blocks(constraints, n_clusters) if mixed else None)
    wanted = 1 if n_clusters is None else n_clusters
    kept, end, at = 0, -1, np.arange(n)
    if memory is not None:
        end = memory.cut_after(said, wanted, _limit(distance_threshold, memory.factor, code))
        kept = memory.n_kept(said, end)
        if kept == n - 1:
            return *_unchanged(memory, said, end, constraints.ids), kept
        at = clusters_after(memory.tree.parent, n, max(kept, 0))
    contracted = contract(said.triplets, at)
    live = None if contracted is None else LiveTriplets(len(contracted.involved), len(contracted.origin))
    if kept < 0 or contracted is None or live is None or live.add_many(contracted.items) >= 0:
        check(constraints.with_weight(np.inf)).raise_if_infeasible()
        msg = "check found a way where there is none; please report the input."
        raise LinkwiseError(msg)
    vectors = code in EUCLIDEAN_ONLY and metric == "euclidean"
    state, factor = make_state(X, code, metric, len(contracted.involved), vectors=vectors)
    past = None
    if record or memory is not None:
        room = 6 * n + 64 if vectors else 0
        past = make_past(len(state.size), len(contracted.origin), memory, record=record, room=room)
    run = Run(state, past, live.layers, code, vectors, current_progress())
    if said.block is not None:
        run.watch(said.links, said.groups, said.block)
    if memory is not None:
        run.redo(memory.tree, memory.height[:kept])
    run.name_items(contracted.involved)
    marked = None
    if said.block is not None:
        n_blocks = int(said.block.max()) + 1
        if run.n_alive > n_blocks:
            run.phase(INSIDE)
        if run.n_alive > n_blocks:
            msg = "recon could not join what belongs together, which cannot be; please report the input."
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
    tree = Dendrogram.from_merges(n, run.state.pairs, height, marked=marked, ids=constraints.ids)
    if not record:
        return tree, None, kept
    return tree, _remember(run, settings, X, said, tree, factor, end, contracted, memory, kept), kept


def _limit(distance_threshold: float | None, factor: float, code: int) -> float:
    """The threshold on the scale of the loop, squared where the loop's distances are."""
    limit = np.inf if distance_threshold is None else distance_threshold / factor
    return limit * limit if code in EUCLIDEAN_ONLY else limit


def _unchanged(memory: Memory, said: Said, end: int, ids: Any) -> tuple[Dendrogram, Memory]:
    """The tree of the earlier run, with the cut where the statements now put it."""
    tree, n = memory.tree, said.n
    marked = None if end < 0 else np.unique(clusters_after(tree.parent, n, end))
    tree = Dendrogram(n, tree.parent, tree.raw_height, marked=marked, ids=ids)
    used = carry(memory.said.triplet_keys, memory.used, said.triplet_keys, n)
    parted = carry(memory.said.link_keys, memory.parted, said.link_keys, n)
    return tree, replace(memory, said=said, tree=tree, end=end, used=used, parted=parted)


def _remember(
    run: Run,
    settings: tuple[Any, ...],
    X: npt.NDArray[Any],
    said: Said,
    tree: Dendrogram,
    factor: float,
    end: int,
    contracted: Contracted,
    memory: Memory | None,
    kept: int,
) -> Memory:
    """Put what the run recorded after what the merges that stayed in place had left."""
    used, parted = run.past.used, run.state.stamp[1, : len(said.links)]
    early = np.full(len(said.triplets), NEVER, np.int64)
    noted = int(run.state.count[N_NOTED])
    entry, far = run.past.note[:, :noted], run.past.note_far[:noted]
    if memory is not None:
        early = carry(memory.said.triplet_keys, memory.used, said.triplet_keys, kept)
        parted = np.minimum(parted, carry(memory.said.link_keys, memory.parted, said.link_keys, kept))
        before = memory.entry[WHEN] < kept
        entry = np.concatenate([memory.entry[:, before], entry], axis=1)
        far = np.concatenate([memory.far[before], far])
    early[contracted.origin] = np.minimum(early[contracted.origin], used)
    X = memory.X if memory is not None else np.array(X)
    return Memory(settings, X, said, tree, run.state.height, factor, end, early, parted, entry, far)


def _blocks(constraints: Constraints, n_clusters: int | None) -> IntArray:
    """The finest clustering that must-links, groups and triplets leave possible, or the error that says why none."""
    block = blocks_or_none(Hard.of(constraints.with_weight(np.inf)))
    if block is None or (n_clusters is not None and n_clusters > int(block.max(initial=-1)) + 1):
        check(constraints.with_weight(np.inf), n_clusters=n_clusters).raise_if_infeasible()
        msg = "check found a way where there is none; please report the input."
        raise LinkwiseError(msg)
    return block


class ReCon(HierarchyMixin, ConstrainedClusterer):
    """Build a tree that displays every relative statement ab|c, merging closest compatible clusters first.

    Must-links, cannot-links and groups may be said as well: they hold in the clusters, which are marked in the tree.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters of the cut; None with no ``distance_threshold`` gives as few as the statements allow.
    linkage : {"centroid", "average", "single", "complete", "weighted", "ward", "median"}, default="centroid"
        How the distance of two clusters follows from their members.
    metric : str or callable, default="euclidean"
        How samples are compared, or ``"precomputed"``.
    distance_threshold : float or None, default=None
        Cut at this height instead of at a number of clusters; needs ``n_clusters=None``.
    cut : {"constraints", "merges"}, default="constraints"
        ``"constraints"`` splits first where a statement separates c from a and b, then the latest merges;
        ``"merges"`` undoes the latest merges only. With statements about pairs or groups the cut is drawn while
        merging, and this plays no role; with a ``min_cluster_size`` above 1 it is always ``"constraints"``.
    min_cluster_size : int, "auto" or None, default=None
        None or 1: every cluster is a branch of the tree. Above 1: branches with fewer samples count as outliers; they
        are ignored while cutting and then given to the nearest cluster in which no statement breaks, so that clusters
        need not be branches (``moved_`` tells which samples, ``certificate_`` says so). A branch that no cluster may
        take is one of the ``n_clusters`` itself. If no such cut has ``n_clusters`` clusters, the size is lowered until
        one has, with a warning. Not together with statements about pairs or groups. "auto" takes two fifths of an
        average cluster, without a warning, and 1 where there are pairs or groups; the paper names no number, this one
        is ours. It can miss classes of fewer samples, even where triplets tell them.
    warm_start : bool, default=False
        Keep what a fit has found out, so that fitting the same X again with a few statements more or fewer takes a
        fraction of the time. The result is that of a fit from scratch, merge for merge.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, numbered by first appearance.
    dendrogram_ : Dendrogram
        The tree; the clusters of ``labels_`` are marked when they are branches of it, as they are unless ``moved_``
        holds samples.
    certificate_ : Certificate
        What the independent check found to hold.
    n_clusters_, n_leaves_, n_connected_components_, children_, distances_, k_min_
        As in `ConstrainedAgglomerative`.
    constraints_ : Constraints
        The statements in force, numbered like the rows of X.
    dropped_ : Constraints
        The soft statements that were left out because they contradict others; ``dropped_.row`` says where they stood.
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
    **Cost** see `recon`. **Guarantee** the tree displays every hard triplet and no dead end is ever met; labels satisfy
    Definition 4.2 of [1]_: if c shares a cluster with a or b, all three share it. With triplets alone there are exactly
    ``n_clusters`` clusters, whatever ``min_cluster_size``. Hard links and groups hold in the labels; with cannot-links,
    greedy merging may end above a wanted ``n_clusters``: this raises `InfeasibleConstraintsError` where no clustering
    has so few clusters, as far as `check` finds out, else `DeadEndError`. **Departure from** [1]_ see
    `recon`; outliers go to the nearest *compatible* cluster, where the paper's nearest one can break statements.

    A **warm start** compares the statements with those of the last fit on equal data under equal parameters. Merges
    stay in place up to the first one that a new triplet or cannot-link forbids, and up to the first refusal that a
    withdrawn one had a part in; the tree is resumed there. Where a statement changes what belongs together, as
    must-links do, no merge stays, but on Euclidean vectors with centroid, ward or median linkage the searches for
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

    One more answer, and only what it can change is done again:

    >>> model = ReCon(n_clusters=2, warm_start=True).fit(X, constraints=Constraints.build(4, triplets=[(0, 1, 2)]))
    >>> model.fit(X, constraints=Constraints.build(4, triplets=[(0, 1, 2), (0, 2, 3)])).n_reused_
    1
    """

    understands: ClassVar[frozenset[Kind]] = frozenset(
        {Kind.TRIPLET, Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TOGETHER, Kind.APART}
    )
    _explains_itself: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HierarchyMixin._parameter_constraints,
        "linkage": [StrOptions(set(LINKAGES))],
        "metric": [str, callable],
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
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.metric = metric
        self.distance_threshold = distance_threshold
        self.cut = cut
        self.min_cluster_size = min_cluster_size
        self.warm_start = warm_start

    def _solve(self, problem: Problem) -> Dendrogram:
        X, metric = as_dense(problem.X, problem.metric)
        tree, self._memory, self.n_reused_ = _grow(
            X,
            problem.constraints,
            self.linkage,
            metric,
            self.n_clusters,
            self.distance_threshold,
            record=self.warm_start,
            memory=getattr(self, "_memory", None) if self.warm_start else None,
        )
        if tree.marked is not None and self.n_clusters is not None and len(tree.marked) > self.n_clusters:
            reached = len(tree.marked)
            check(problem.constraints.with_weight(np.inf), n_clusters=self.n_clusters).raise_if_infeasible()
            raise DeadEndError(dead_end_message(reached, self.n_clusters), tree, reached)
        return tree

    def _refuse(self, constraints: Constraints) -> Constraints:
        if (
            isinstance(self.min_cluster_size, Integral)
            and self.min_cluster_size > 1
            and (constraints.kind != Kind.TRIPLET).any()
        ):
            msg = (
                f"ReCon with min_cluster_size={self.min_cluster_size} understands triplets only: giving outliers to "
                "other clusters can break statements about pairs.\nHint: leave min_cluster_size out."
            )
            words = tuple(kind.word for kind in Kind if kind is not Kind.TRIPLET and (constraints.kind == kind).any())
            raise UnsupportedConstraintError(msg, words)
        return super()._refuse(constraints)

    def _cut(self, tree: Dendrogram, constraints: Constraints) -> IntArray:
        if self.n_clusters is None or self.cut == "merges":
            return super()._cut(tree, constraints)
        return tree.cut_constrained(constraints, self.n_clusters)

    def _keep(self, outcome: Dendrogram, samples: Any, constraints: Constraints) -> None:
        cut = self._cut_outliers(outcome, samples, constraints)
        self.min_cluster_size_ = 1 if cut is None else cut.min_size_used
        if cut is not None:
            labels = cut.labels
            self._certify(labels, constraints, samples)
        else:
            labels = self._cut(outcome, constraints) if outcome.marked is None else outcome.cut_marked()
        are_branches = cut is None or not len(samples_outside(outcome, labels))
        tree = mark(outcome, labels) if outcome.marked is None and are_branches else outcome
        certificate = self._certify(tree, constraints, samples)
        self._keep_tree(tree, labels, certificate, samples)
        if cut is not None:
            self.certificate_ = replace(certificate, remarks=self._remarks(cut))

    def _cut_outliers(self, outcome: Dendrogram, samples: Any, constraints: Constraints) -> OutlierCut | None:
        """The cut that takes small branches for outliers; None where none is asked for, or there is nothing to do."""
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
        vectors = samples if self.metric == "euclidean" and not hasattr(samples, "tocsr") else None
        found = cut_without_outliers(outcome, k, least, constraints, vectors, exact=True)
        said = shortfalls(found, k, least, name="min_cluster_size", exact=True)
        for words in said if isinstance(self.min_cluster_size, Integral) else said[found.min_size_used < least :]:
            warn_user(f"ReCon: {words}")
        return found

    def _least(self, n_samples: int) -> int:
        """The size below which branches are asked to count as outliers."""
        if self.min_cluster_size == "auto":
            return 2 * n_samples // (5 * int(self.n_clusters or 1))
        return int(self.min_cluster_size or 1)

    def _remarks(self, cut: OutlierCut) -> tuple[str, ...]:
        """What became of small branches, in words."""
        size, least = cut.min_size_used, self._least(len(cut.labels))
        told = []
        if size < least:
            instead = f"those below {size} samples count" if size > 1 else "no branch counts"
            told.append(
                f"Branches below {least} samples were to count as outliers, but no {self.n_clusters} clusters in which "
                f"all statements hold were found so; {instead} as outliers instead."
            )
        moved = self.moved_
        if len(moved):
            verb = "was" if len(moved) == 1 else "were"
            where = "another cluster" if moved.n_branches == 1 else "other clusters"
            told.append(f"{moved.counted()} of fewer than {size} samples {verb} given to {where}, so {moved.listed()}.")
        if cut.apart:
            one = len(cut.apart) == 1
            which = f"{len(cut.apart)} branch{'' if one else 'es'} of fewer than {size} samples"
            told.append(
                f"{which} fits no other cluster and is a cluster of its own."
                if one
                else f"{which} fit no other cluster and are clusters of their own."
            )
        return tuple(told)
