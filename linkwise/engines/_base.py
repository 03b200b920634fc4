"""Base classes of all estimators, with the steps of `fit`: validate, bind, refuse, judge, solve, certify, keep."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClusterMixin

from linkwise._compat import fit_context, remember_features, validate_data
from linkwise._typing import IntArray
from linkwise._validation import require_finite, require_numbers, warn_user
from linkwise.constraints import (
    CHOICES,
    LINKS,
    Constraints,
    Kind,
    MaxCentroidDistance,
    MinSeparation,
    NeighborWithin,
    Rule,
    SizeBetween,
    require_understood,
)
from linkwise.engines._docstrings import inherit_entries
from linkwise.engines._saved import CACHE, FEATURES, Kept, gather, is_array, kept_count, kept_instance, kept_labels
from linkwise.exceptions import UnsupportedConstraintError, ViolationError
from linkwise.problem import Problem, repair
from linkwise.problem.statements import bind, constraints_of
from linkwise.result import Certificate, verify

# a method for each rule that is more than links
_KEEPS: dict[type[Rule], str] = {
    NeighborWithin: "ConstrainedAgglomerative",
    MaxCentroidDistance: "ConstrainedAgglomerative",
    SizeBetween: "COPKMeans",
}
# rules about distances, with what to do where there are none
_OF_DISTANCES: dict[type[Rule], str] = {
    MinSeparation: "pass must-links, as in `must_links_within(distances, delta, metric='precomputed')`",
    NeighborWithin: "pass samples and let the method compute affinities, or leave the rule out",
}


class ConstrainedEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of all estimators: validates data and constraints, refuses unsupported kinds, undoes a failed fit.

    A subclass sets ``understands``, implements `_learn`, and offers a documented ``fit`` that calls `_fit`. Its
    docstring and ``_parameter_constraints`` hold its own parameters and attributes only; those of its bases are added.

    Attributes
    ----------
    constraints_ : Constraints
        The statements in force, numbered like the rows of X.
    """

    understands: ClassVar[frozenset[Kind]] = frozenset()
    understands_rules: ClassVar[frozenset[type[Rule]]] = frozenset()
    # kinds and rules that `fit` turns into links before the method sees them
    resolves: ClassVar[frozenset[Kind]] = frozenset()
    resolves_rules: ClassVar[frozenset[type[Rule]]] = frozenset()
    # hint for sparse X where the tags do not accept it
    _dense_only: ClassVar[str] = "reduce the features first, as with sklearn.decomposition.TruncatedSVD."
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    # fitted attributes that a model file holds; a subclass lists its own only, those of its bases are added
    _saved: ClassVar[dict[str, Kept]] = {
        "constraints_": kept_instance(Constraints),
        FEATURES: kept_count(1),
        "feature_names_in_": Kept(lambda names, model: _fault_of_names(names, model.n_features_in_)),
        "_metadata_request": CACHE,
        "_sklearn_output_config": CACHE,
    }
    # parameters that files of older versions lack, with the values that give what the method did then
    _added_parameters: ClassVar[dict[str, Any]] = {}
    # a Pipeline passes constraints on by default when metadata routing is enabled
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"constraints": True}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own, names = cls.__dict__.get("_parameter_constraints", {}), inspect.signature(cls).parameters
        allowed = gather(cls, "_parameter_constraints")
        cls._parameter_constraints = {name: allowed[name] for name in allowed if name in names or name in own}
        inherit_entries(cls)

    def _fit(self, X: Any, y: Any, constraints: Constraints | None) -> Self:
        """Read, bind, refuse and learn; a failure leaves the estimator unchanged."""
        constraints = constraints_of(y, constraints)
        before = dict(self.__dict__)
        try:
            samples = self._read(X)
            self._learn(samples, self._refuse(bind(constraints, X, samples.shape[0])))
            remember_features(self, X)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _learn(self, samples: Any, constraints: Constraints) -> None:
        """Set the fitted attributes from validated samples and constraints."""
        raise NotImplementedError

    def _read(self, X: Any) -> Any:
        """Validate the X of `fit`."""
        return self._validate(X, reset=True)

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """Validate X; sparse input is accepted when the tags allow it.

        With ``reset`` X sets the number and names of features, otherwise it must match those of `fit`.
        """
        require_numbers(X)
        takes_sparse = self.__sklearn_tags__().input_tags.sparse
        if scipy.sparse.issparse(X) and not takes_sparse:
            msg = f"{type(self).__name__} needs dense X, but X is sparse.\nHint: {self._dense_only}"
            raise TypeError(msg)
        samples = validate_data(
            self,
            X,
            accept_sparse="csr" if takes_sparse else False,
            dtype=np.float64,
            order="C",
            ensure_all_finite=False,
            reset=reset,
        )
        require_finite(samples, X, who=type(self).__name__)
        return samples

    def _refuse(self, constraints: Constraints) -> Constraints:
        """Raise if there are kinds of statements or rules that this method does not understand."""
        kinds, rules = self.understands | self.resolves, self.understands_rules | self.resolves_rules
        foreign = [type(rule) for rule in constraints.rules if type(rule) not in rules and type(rule) in _KEEPS]
        hint = "; ".join(f"{_KEEPS[rule]} keeps {rule.__name__}" for rule in foreign)
        require_understood(constraints, type(self).__name__, kinds, rules, f"{hint}." if hint else None)
        return constraints


def _fault_of_names(names: Any, n_features: int) -> str:
    is_text = is_array(names, "O", n_features) and all(isinstance(name, str) for name in names)
    return "" if is_text and len(set(names.tolist())) == n_features else "does not have one distinct name per feature"


class ConstrainedClusterer(ClusterMixin, ConstrainedEstimator):  # type: ignore[misc]
    """Base of all clusterers: defines `fit`; a subclass implements ``_solve`` and sets ``understands``.

    Think three times before adding anything here: it is a base of every method.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.
    n_clusters_ : int
        Number of clusters found.
    certificate_ : Certificate
        Result of the independent check: which statements hold, and which do not.
    dropped_ : Constraints
        The soft statements that were left out because they contradict others; ``dropped_.row`` says where they stood.
        Empty if the method weighs soft statements.
    chosen_ : Constraints
        The links that stand for choices (``must_link_any``, ``cannot_link_any``): one of each choice, so that all
        statements can hold. Empty without choices.

    Notes
    -----
    A fit that fails or is interrupted leaves the estimator as it was. An estimator must not be fitted from two threads
    at once; give each thread its own `clone`.

    Examples
    --------
    >>> from linkwise import ReCon
    >>> from linkwise.engines import ConstrainedClusterer
    >>> issubclass(ReCon, ConstrainedClusterer), sorted(kind.word for kind in ReCon.understands)
    (True, ['apart', 'cannot_link', 'must_link', 'together', 'triplets'])
    """

    # True for methods of the literature without a guarantee: a broken statement then causes a warning and is listed in
    # the certificate, where every other method raises and returns no result
    best_effort: ClassVar[bool] = False
    _keeps_instead: ClassVar[str] = "ReCon builds a tree in which all triplets hold."
    # True for methods that weigh soft statements against the data: the engine receives them with their weights, where
    # for every other method they become hard or, if they contradict others, are left out
    weighs: ClassVar[bool] = False
    # False for methods that judge each statement, so that none may be replaced by links
    _links_will_do: ClassVar[bool] = True

    _saved: ClassVar[dict[str, Kept]] = {
        "n_clusters_": kept_count(1),
        "labels_": kept_labels(),
        "certificate_": kept_instance(Certificate),
        "dropped_": kept_instance(Constraints, required=False),
        "chosen_": kept_instance(Constraints, required=False),
    }

    labels_: IntArray
    n_clusters_: int
    certificate_: Certificate
    constraints_: Constraints
    dropped_: Constraints
    chosen_: Constraints

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls._links_will_do and cls.understands >= LINKS:
            cls.resolves = CHOICES
            cls.resolves_rules = frozenset({MinSeparation}) - cls.understands_rules
        else:
            cls.resolves, cls.resolves_rules = frozenset(), frozenset()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Cluster X so that every hard statement holds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, one per row, or a square matrix of dissimilarities with ``metric="precomputed"``. Not modified.
        y : None
            Ignored, unless it is a `Constraints`: then it is used as ``constraints``. To use class labels, pass
            ``constraints=Constraints.from_labels(labels)``.
        constraints : Constraints, optional
            Statements about the rows of X, and rules; none by default. A hard statement (infinite weight) holds in the
            result; if the hard statements cannot all hold, an error explains why. A soft statement (finite weight)
            holds unless it contradicts others; soft statements left out are listed in a warning and in ``dropped_``.
            A method with ``weighs = True`` trades the weights of soft statements against the fit to the data instead.
            Of each choice one link is chosen so that all can hold: if possible with the nearest sample of a
            ``must_link_any``, the farthest of a ``cannot_link_any``. A `MinSeparation` becomes must-links.
            A method with ``best_effort = True`` gives no guarantee: it may break any statement, and then warns and
            lists the broken ones in ``certificate_``. Contradictions between hard statements are errors there as well.

        Returns
        -------
        self
            The fitted estimator, with ``labels_`` and ``certificate_``.

        Raises
        ------
        InfeasibleConstraintsError
            The hard statements cannot all hold, with this number of clusters and these rules.
        UnsupportedConstraintError
            The method does not understand a kind of statement or a rule.
        """
        return self._fit(X, y, constraints)

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> IntArray:
        """Cluster X and return ``labels_``; the arguments are those of `fit`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, as in `fit`.
        y : None
            Ignored, unless it is a `Constraints`, as in `fit`.
        **fit_params : dict
            ``constraints``, as in `fit`.

        Returns
        -------
        ndarray of intp, shape (n_samples,)
            Cluster of each sample.
        """
        labels: IntArray = self.fit(X, y, **fit_params).labels_
        return labels

    def _learn(self, samples: Any, constraints: Constraints) -> None:
        problem = self._pose(samples, constraints)
        if constraints.rules or np.isin(constraints.kind, list(CHOICES)).any():
            problem = problem.with_links(self.understands_rules, compares=self._compares_rows)
        if problem.constraints:
            self._judge(problem)
        self._keep(self._solve(problem), problem)
        self.constraints_ = problem.given
        if problem.chosen is not None:
            self.chosen_ = problem.chosen

    # -- implemented by subclasses ------------------------------------------------------------------------------

    def _solve(self, problem: Problem) -> Any:
        """Solve one validated problem that passed `_judge`."""
        raise NotImplementedError

    def _keep(self, outcome: Any, problem: Problem) -> None:
        """Set the fitted attributes, including `certificate_`."""
        raise NotImplementedError

    def _metric(self) -> Any:
        return getattr(self, "metric", "euclidean")

    @property
    def _may_break(self) -> bool:
        """Whether broken statements cause a warning, not an error."""
        return self.best_effort

    @property
    def _breaker(self) -> str:
        """What a warning about broken statements names."""
        return type(self).__name__

    @property
    def _compares_rows(self) -> bool:
        """Whether the rows of X are samples or distances, not similarities."""
        return "precomputed" not in (getattr(self, "affinity", None), getattr(self, "kernel", None))

    # -- the steps of fit ---------------------------------------------------------------------------------------

    def _refuse(self, constraints: Constraints) -> Constraints:
        """Raise as well for soft choices where statements are weighed, and for distances where there are none."""
        constraints = super()._refuse(constraints)
        who = type(self).__name__
        soft = np.isin(constraints.kind, list(self.resolves)) & ~constraints.is_hard
        if self.weighs and soft.any():
            words = tuple(kind.word for kind in Kind if (constraints.kind[soft] == kind).any())
            msg = (
                f"{who} weighs soft statements, but not {' and '.join(words)}.\n"
                "Hint: make choices hard with weight inf, or use COPKMeans, which keeps what it can of them."
            )
            raise UnsupportedConstraintError(msg, words)
        about = next((type(rule) for rule in constraints.rules if type(rule) in _OF_DISTANCES), None)
        if not self._compares_rows and about is not None:
            msg = (
                f"{who} got similarities as X, but {about.__name__} is about distances.\nHint: {_OF_DISTANCES[about]}."
            )
            raise UnsupportedConstraintError(msg, (about.__name__,))
        return constraints

    def _judge(self, problem: Problem) -> None:
        """Raise if the statements cannot hold; overridden by engines that detect conflicts more cheaply themselves."""
        problem.verdict.raise_if_infeasible()

    def _pose(self, samples: Any, constraints: Constraints) -> Problem:
        """Return the problem with the statements in force: soft ones that contradict others are left out.

        A method that weighs soft statements receives all of them, with their weights.
        """
        k, who = getattr(self, "n_clusters", None), type(self).__name__

        def pose(table: Constraints) -> Problem:
            return Problem(samples, table, metric=self._metric(), n_clusters=k, who=who)

        self.dropped_ = self.chosen_ = constraints.with_rules().select(np.zeros(0, np.intp))
        given = pose(constraints)
        if self.weighs or constraints.is_hard.all():
            return given
        given.verdict.raise_if_infeasible()
        wanted = constraints.with_weight(np.inf)
        problem = pose(wanted)
        if problem.verdict.status != "infeasible":
            return problem
        kept = np.setdiff1d(np.arange(constraints.n_statements), repair(constraints, keep="hard").dropped)
        # The others hold together, but perhaps not in this number of clusters or under these rules.
        while (why := (problem := pose(wanted.select(kept))).verdict.explanation) is not None:
            core = kept[np.array(why.core, dtype=np.intp)]
            soft = core[~constraints.is_hard[core]]
            if not len(soft):
                problem.verdict.raise_if_infeasible()
            kept = kept[kept != soft[np.argmin(constraints.weight[soft])]]
        dropped = np.setdiff1d(np.arange(constraints.n_statements), kept)
        self.dropped_ = constraints.with_rules().select(dropped)
        listed = "\n".join(f"  {constraints.describe(int(i))}" for i in dropped[:5])
        more = len(dropped) - 5
        warn_user(
            f"{len(dropped)} soft statement(s) contradict others, n_clusters or a rule, and were left out:\n{listed}"
            + (f"\n  and {more} more" if more > 0 else "")
        )
        return problem

    def _certify(self, result: Any, problem: Problem) -> Certificate:
        """Check a result by code that shares nothing with the engines; warn about violations, or raise."""
        data = problem.X if problem.given.rules else None
        certificate = verify(result, problem.given, X=data, metric=self._metric())
        if self._may_break and certificate.violated and not certificate.faults:
            warn_user(
                f"{self._breaker} promises nothing and broke {len(certificate.violated):,} of "
                f"{certificate.n_hard:,} statements; `certificate_.violated` lists them.\n"
                f"Hint: {self._keeps_instead}"
            )
        elif not certificate.ok:
            msg = (
                f"{type(self).__name__} produced a result that breaks hard statements or rules; it is not returned.\n"
                f"{certificate}\n"
                "Hint: this is a bug in linkwise; please report it together with the data and constraints."
            )
            raise ViolationError(msg, certificate)
        return certificate
