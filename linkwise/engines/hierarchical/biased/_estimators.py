"""`IHAC`, which chooses merges by triplets, `BiHAC`, which learns feature weights, and `BiiHAC`, which does both."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from linkwise._compat import Interval, StrOptions
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Kind
from linkwise.engines import FEATURES, REPORTED, ConstrainedClusterer, Kept, kept_floats
from linkwise.engines.agglomeration import AVERAGE
from linkwise.engines.hierarchical import CHUNK, HierarchyMixin
from linkwise.engines.hierarchical.biased._runs import METHODS, AdaptiveRun, bihac, biihac, ihac
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem
from linkwise.problem.entailment import all_entailed
from linkwise.result import Dendrogram

MOST_TRIPLETS, MOST_SAMPLES = 20_000_000, 800  # of a closure: some gigabytes


class _Biased(HierarchyMixin, ConstrainedClusterer):
    """Base of the three: triplets about vectors compared by cosine, without a guarantee that they hold.

    Parameters
    ----------
    linkage : {"average", "centroid"}
        Similarity of two clusters: the mean cosine of their members, or the cosine of their centroids.
    closure : bool
        Take all triplets that follow from the given ones as well, as of all samples of a known hierarchy, which a few
        triplets determine. Each triplet counts where merges and weights are chosen. Up to 800 samples that triplets
        name, and 20 million triplets, for which some gigabytes are needed.

    Attributes
    ----------
    broken_ : ndarray of shape (n_samples - 1,)
        How many statements each merge broke.
    """

    understands: ClassVar[frozenset[Kind]] = frozenset({Kind.TRIPLET})
    best_effort: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "linkage": [StrOptions(set(METHODS))],
        "closure": ["boolean"],
    }
    _added_parameters: ClassVar[dict[str, Any]] = {"closure": False}

    _saved: ClassVar[dict[str, Kept]] = {"broken_": REPORTED}

    closure: bool
    broken_: IntArray

    def __sklearn_tags__(self) -> Any:
        tags = ConstrainedClusterer.__sklearn_tags__(self)
        tags.input_tags.sparse = True
        return tags

    def _read(self, X: Any) -> Any:
        samples = ConstrainedClusterer._read(self, X)
        self._read_cut(samples.shape[0])
        return samples

    def _metric(self) -> str:
        return "cosine"

    def _judge(self, problem: Problem) -> None:
        problem.require_consistent()  # triplets alone leave every number of clusters possible

    def _closed(self, problem: Problem) -> Problem:
        """Return the problem with all triplets that follow, if these are asked for."""
        if not self.closure:
            return problem
        given = problem.constraints
        who, hint = f"{problem.who}(closure=True)", "with closure=False the given triplets alone count."
        every = given | all_entailed(given, MOST_TRIPLETS, MOST_SAMPLES, who=who, hint=hint)
        return Problem(problem.X, every, metric=problem.metric, n_clusters=problem.n_clusters, who=problem.who)

    def _gaps(self, new: Any) -> tuple[Iterator[FloatArray], int, bool]:
        """One minus the mean cosine with a cluster's samples, under the learned weights if there are any."""
        from sklearn.metrics.pairwise import cosine_distances

        scale = np.sqrt(getattr(self, "feature_weights_", np.ones(new.shape[1])))
        tables: tuple[Any, Any] = (new, self._samples)
        new, old = (table.multiply(scale).tocsr() if issparse(table) else table * scale for table in tables)
        step = max(1, CHUNK // (8 * old.shape[0]))
        parts = (cosine_distances(new[start : start + step], old) for start in range(0, new.shape[0], step))
        return parts, AVERAGE, False


class IHAC(_Biased):
    """Merge the most similar clusters first among the merges that break no triplet: iHAC.

    **Best effort: statements may be broken even if they do not contradict each other.** When every merge left breaks
    one, the most similar pair is merged all the same; a warning says how many are broken, ``certificate_`` which.

    See Also
    --------
    ReCon : keeps every triplet attainable, so that all hold.
    BiHAC : learns feature weights instead.
    BiiHAC : both.

    Notes
    -----
    Triplets ab|c are the must-link-before constraints of [1]_. A merge breaks xy|z if it joins z with exactly one of x
    and y. A row of zeros has similarity 0 to every other.

    **Cost** one n x n matrix of float64, and one of counts for the k samples that triplets name; O(n²) time in
    practice, plus O(m log m + k²) for m triplets.
    **Guarantee** contradictory triplets are an error that explains; consistent ones may still be broken, since the
    method is greedy. The merges before the first one that breaks a triplet break none.
    **Departure from** [1]_: [2]_ only cites the method and leaves open what happens when no merge is allowed; of a
    broken xy|z it names only x. Ties go to the lowest-numbered pair.

    References
    ----------
    .. [1] K. Bade, A. Nürnberger, "Creating a Cluster Hierarchy under Constraints of a Partially Known Hierarchy",
       SDM 2008.
    .. [2] K. Bade, A. Nürnberger, "Learning a Metric during Hierarchical Clustering based on Constraints", 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import IHAC
    >>> X = np.array([[4.0, 0.0, 1.0], [3.0, 1.0, 0.0], [0.0, 4.0, 0.0], [1.0, 4.0, 1.0]])
    >>> model = IHAC(n_clusters=2).fit(X, constraints=Constraints.build(4, triplets=[(0, 2, 1)]))
    >>> print(model.certificate_)
    The 1 hard statement holds: 1 triplet.
    """

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: str = "average",
        distance_threshold: float | None = None,
        closure: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.closure = closure

    def _solve(self, problem: Problem) -> Dendrogram:
        run = ihac(self._closed(problem), method=self.linkage, error_weights="uniform")
        self.broken_ = run.broken
        return run.dendrogram


class _Learned(_Biased):
    """Learned feature weights, and how the learning went.

    Parameters
    ----------
    learning_rate : float
        Length of a step. The default is that of [1]_ for tf-idf vectors of 5,000 terms; a few dense features want much
        less, such as 0.1.
    max_iter : int
        Most learning runs.
    n_iter_no_change : int or None
        End learning after that many runs without a smaller error; None: never for that reason.
    tol : float
        End learning when no weight has changed by more in a run.
    error_weights : {"node", "uniform"}
        The error that decides between runs is one minus the H-correlation with equal weight to all nodes of the known
        hierarchy, or one minus the share of triplets that hold.
    learn : {"during", "before"}
        When weights are learned: during the runs, from merges that break triplets, or before a single run, from the
        triplets alone, each read as two comparisons of cosines.
    validation_fraction : float or None
        Share of the samples named by triplets that is kept back: triplets about any of these do not change the
        weights, and the error that decides between runs is that on them alone. None: the error on all triplets.
    random_state : int, RandomState, Generator or None
        Which samples are kept back.

    Attributes
    ----------
    feature_weights_ : ndarray of shape (n_features,)
        Weight of each feature, at least 0; they sum to the number of features. Named by `top_features`.
    objective_ : float
        Cluster error of the tree on the statements, or, of `BiHAC`, on those kept back.
    objectives_, steps_ : ndarray of shape (n_iterations,)
        Cluster error of every learning run, and how many times it changed the weights. With ``learn="before"`` the
        share of comparisons that fail before each step, and whether it changed the weights.
    n_iter_ : int
        Number of learning runs, or of steps with ``learn="before"``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "learning_rate": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "error_weights": [StrOptions({"node", "uniform"})],
        "learn": [StrOptions({"during", "before"})],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), None],
        "random_state": ["random_state", np.random.Generator],
    }
    _added_parameters: ClassVar[dict[str, Any]] = {
        "closure": False,
        "learn": "during",
        "validation_fraction": None,
        "random_state": None,
    }

    _saved: ClassVar[dict[str, Kept]] = {
        "feature_weights_": kept_floats(FEATURES, least=0),
        **dict.fromkeys(("objective_", "objectives_", "steps_", "n_iter_"), REPORTED),
    }

    feature_weights_: FloatArray
    objective_: float
    objectives_: FloatArray
    steps_: IntArray
    n_iter_: int

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: str = "average",
        distance_threshold: float | None = None,
        learning_rate: float = 5.0,
        max_iter: int = 50,
        n_iter_no_change: int | None = None,
        tol: float = 1e-6,
        error_weights: str = "node",
        learn: str = "during",
        validation_fraction: float | None = None,
        random_state: Any = None,
        closure: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.error_weights = error_weights
        self.learn = learn
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.closure = closure

    def _options(self) -> dict[str, Any]:
        return {
            "method": self.linkage,
            "learning_rate": self.learning_rate,
            "max_iter": self.max_iter,
            "n_iter_no_change": self.n_iter_no_change,
            "tol": self.tol,
            "error_weights": self.error_weights,
            "learn": self.learn,
            "validation_fraction": self.validation_fraction,
            "random_state": self.random_state,
        }

    def _remember(self, run: AdaptiveRun) -> Dendrogram:
        self.feature_weights_ = run.weights
        self.broken_ = run.broken
        self.objective_, self.objectives_, self.steps_ = run.error, run.errors, run.steps
        self.n_iter_ = len(run.errors)
        return run.dendrogram

    def top_features(self, k: int = 10, *, names: Any = None) -> list[tuple[Any, float]]:
        """List the features that gained most weight, heaviest first; 1 is the weight all began with.

        Parameters
        ----------
        k : int, default=10
            How many.
        names : array-like of shape (n_features,) or a vectorizer, optional
            What the features are called, or anything with ``get_feature_names_out``; default: the columns of the data
            frame the estimator was fitted on, or else numbers.

        Returns
        -------
        list of (name, weight)

        Raises
        ------
        LinkwiseError
            There are more or fewer names than features.

        Examples
        --------
        >>> from sklearn.feature_extraction.text import TfidfVectorizer
        >>> from linkwise import Constraints
        >>> from linkwise.engines import BiHAC
        >>> words = TfidfVectorizer()
        >>> X = words.fit_transform(["red apple", "green apple", "red car", "green car"])
        >>> model = BiHAC(learning_rate=0.5).fit(X, constraints=Constraints.build(4, triplets=[(0, 2, 1)]))
        >>> [name for name, weight in model.top_features(1, names=words)]
        ['red']
        """
        if not hasattr(self, "feature_weights_"):
            from sklearn.exceptions import NotFittedError

            msg = f"{type(self).__name__} is not fitted yet, so it has learned no weights.\nHint: call `fit` first."
            raise NotFittedError(msg)
        d = len(self.feature_weights_)
        if names is None:
            names = getattr(self, "feature_names_in_", np.arange(d))
        elif hasattr(names, "get_feature_names_out"):
            names = names.get_feature_names_out()
        called = np.asarray(names).tolist()
        if len(called) != d:
            msg = f"top_features: {len(called):,} names for {d:,} features."
            raise LinkwiseError(msg)
        order = np.argsort(-self.feature_weights_, kind="stable")[:k]
        return [(called[i], float(self.feature_weights_[i])) for i in order.tolist()]


class BiHAC(_Learned):
    """Learn feature weights under which plain agglomeration breaks few triplets: biHAC.

    **Best effort: statements may be broken even if they do not contradict each other.** They only change the weights
    of the features; a warning says how many are broken, ``certificate_`` which.

    Attributes
    ----------
    dendrogram_ : Dendrogram
        The tree of the run with the least error, with the clusters marked.

    See Also
    --------
    BiiHAC : lets triplets choose merges as well, under the learned weights.
    IHAC : only lets them choose merges.

    Notes
    -----
    Each run clusters all samples under fixed weights. Wherever two clusters c1 and c2 meet and the merge is the first
    to break triplets in both, the weights are changed so that c1 becomes more similar to the most similar cluster it
    may join than to c2, and then likewise for c2. The next run uses the changed weights. The tree with the least error
    is kept; it is the tree of a run with ``feature_weights_``.

    **Cost** one n x n matrix of float64; for each run O(n²) time in practice, the products of the rows (sparse rows
    stay sparse), O(m log m + k²) for m triplets about k samples, and for each change of weights one look at the samples
    of four clusters.
    **Guarantee** contradictory triplets are an error that explains; consistent ones may still be broken, often many of
    them: for clusters of texts take `linkwise.cluster` or `ReCon`, which keep every triplet. The error is never above
    that of plain agglomeration, except with ``learn="before"``, where the tree is not judged.
    **Departure from** [1]_ the weights are fixed during a run. The cluster a wrongly merged one should have met is
    looked for among all but its partner. A step that leaves no weight above 0 is not taken, nor one for a cluster of
    weighted norm 0. H-correlation weighs nodes as `linkwise.metrics.h_correlation` does. The hold-out error that [1]_
    mentions keeps samples back, not triplets, so that nothing known of them enters the weights. ``learn="before"`` is
    our reading of the first approach of [2]_, which [1]_ cites and does not print: gradient steps of (5) to (7) on
    samples in place of clusters, each along the mean over all comparisons that fail; the weights with the fewest of
    these are kept.

    References
    ----------
    .. [1] K. Bade, A. Nürnberger, "Learning a Metric during Hierarchical Clustering based on Constraints", 2009.
    .. [2] K. Bade, A. Nürnberger, "Creating a Cluster Hierarchy under Constraints of a Partially Known Hierarchy",
       SDM 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import BiHAC
    >>> X = np.array([[4.0, 0.0, 1.0], [3.0, 1.0, 0.0], [0.0, 4.0, 0.9], [1.0, 4.0, 0.0]])
    >>> model = BiHAC(learning_rate=0.3).fit(X, constraints=Constraints.build(4, triplets=[(0, 2, 1)]))
    >>> model.certificate_.ok, model.top_features(1)[0][0]
    (True, 2)
    """

    def _solve(self, problem: Problem) -> Dendrogram:
        return self._remember(bihac(self._closed(problem), **self._options()))


class BiiHAC(_Learned):
    """Learn feature weights from triplets, then merge under them only what breaks no triplet: biiHAC.

    **Best effort: statements may be broken even if they do not contradict each other**, as in `IHAC`; a warning says
    how many are, ``certificate_`` which.

    Parameters
    ----------
    max_iter : int, default=50
        Most learning runs; one run of `IHAC` follows.

    See Also
    --------
    BiHAC : only learns the weights.
    IHAC : only chooses merges.

    Notes
    -----
    **Cost** that of `BiHAC` and one `IHAC`.
    **Guarantee** contradictory triplets are an error that explains; consistent ones may still be broken, as in `IHAC`.
    **Departure from** [1]_ as in `IHAC` and `BiHAC`.

    References
    ----------
    .. [1] K. Bade, A. Nürnberger, "Learning a Metric during Hierarchical Clustering based on Constraints", 2009, last
       paragraph of section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import BiiHAC
    >>> X = np.array([[4.0, 0.0, 1.0], [3.0, 1.0, 0.0], [0.0, 4.0, 0.9], [1.0, 4.0, 0.0]])
    >>> model = BiiHAC(learning_rate=0.3).fit(X, constraints=Constraints.build(4, triplets=[(0, 2, 1)]))
    >>> model.objective_, model.broken_.tolist()
    (0.0, [0, 0, 0])
    """

    def _solve(self, problem: Problem) -> Dendrogram:
        return self._remember(biihac(self._closed(problem), **self._options()))
