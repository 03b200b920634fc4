"""`KnowledgeSearchCV`: the choice of a model by statements held out, and the table of its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from linkwise._compat import Interval, StrOptions, fit_context
from linkwise._data_frames import make_frame
from linkwise._messages import hint
from linkwise._notebook import Table, card, grid
from linkwise._typing import IntArray
from linkwise._validation import warn_user
from linkwise.constraints import Constraints, Kind
from linkwise.engines import current_progress
from linkwise.exceptions import LinkwiseError
from linkwise.problem.entailment import Fold, knowledge_folds
from linkwise.problem.statements import bind, constraints_of
from linkwise.selection._candidates import (
    Candidate,
    Outcome,
    families,
    fit_family,
    fit_model,
    labels_of,
    last_step,
    read_candidates,
)
from linkwise.selection._scores import KINDS, SCORES, tally
from linkwise.selection._search_results import Results, choose, collect

_HEADS = {"must": "must-links", "cannot": "cannot-links", "triplets": "triplets"}


def table_of(results: dict[str, Any], best: int, n_rows: int | None) -> Table:
    """Word and draw the results: the winner, those tied with it, the others by score, those that failed."""
    mean = results["mean_test_score"]
    order = sorted(range(len(mean)), key=lambda at: (at != best, results["rank_test_score"][at], at))
    fine = [at for at in order if np.isfinite(mean[at])]
    shown = fine if n_rows is None else fine[:n_rows]
    asked = [name for name in KINDS if np.isfinite(results[f"{name}_kept"][fine]).any()]
    rows = [["", "method", "parameters", "score", *(f"{_HEADS[name]} kept" for name in asked), "stability", "clusters"]]
    for at in shown:
        error = results["se_test_score"][at]
        rows.append(
            [
                "*" if at == best else "=" if results["tied"][at] else "",
                str(results["method"][at]),
                str(results["words"][at]),
                f"{mean[at]:.3f}" + (f" +- {error:.3f}" if np.isfinite(error) else ""),
                *(_percent(results[f"{name}_kept"][at]) for name in asked),
                f"{results['stability'][at]:.2f}",
                str(results["n_clusters"][at]),
            ]
        )
    lines, below = _align(rows), list[str]()
    if len(shown) < len(fine):
        below.append(f"and {len(fine) - len(shown)} more.")
    below.append("* chosen" + ("; = within one standard error of the best" if results["tied"].sum() > 1 else ""))
    failed = [at for at in order if not np.isfinite(mean[at])]
    if failed:
        below.append(f"{len(failed)} of {len(mean)} failed:")
        limit = len(failed) if n_rows is None else n_rows
        below += [
            f"  {results['method'][at]}({results['words'][at]}): {results['trouble'][at]}" for at in failed[:limit]
        ]
        below += [f"  and {len(failed) - limit} more."] if len(failed) > limit else []
    head = f"{results['method'][best]}({results['words'][best]}): score {mean[best]:.3f}"
    drawn = card("\n".join([head, *below]), more=grid(rows[0], rows[1:], chosen=0 if fine[:1] == [best] else -1))
    return Table("\n".join([*lines, *below]), drawn)


def _percent(share: float) -> str:
    return f"{share:.0%}" if np.isfinite(share) else "-"


def _align(rows: list[list[str]]) -> list[str]:
    width = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(size) for cell, size in zip(row, width, strict=True)).rstrip() for row in rows]


def _can(name: str) -> Callable[[Any], bool]:
    """Whether the chosen model has a method; before fitting, whether a candidate may."""

    def check(self: Any) -> bool:
        if hasattr(self, "best_estimator_"):
            return hasattr(self.best_estimator_, name)
        given = self.estimator
        return (
            any(hasattr(pair[0], name) for pair in given) if isinstance(given, (list, tuple)) else hasattr(given, name)
        )

    return check


class KnowledgeSearchCV(ClusterMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Choose method, parameters and number of clusters by how well each predicts statements held out.

    Every candidate clusters all samples several times, each time with a part of the statements, and is judged by the
    rest. The one that keeps most of the statements held out is fitted again with all of them.

    Parameters
    ----------
    estimator : estimator, or list of (estimator, grid)
        A clusterer of this library, a `Pipeline` that ends in one (say with a metric learner before it), or any
        scikit-learn clusterer, which gets no constraints. A list of pairs searches several of them together.
    param_grid : dict or list of dict, optional
        Parameters to try, as in `GridSearchCV`; None with a list of pairs.
    cv : int or list of Fold, default=10
        How many folds `knowledge_folds` makes, or the folds themselves.
    scoring : {"kappa", "balanced", "f", "mcc", "accuracy"} or callable, default="kappa"
        The score of the held-out links kept and broken, over all folds together; see Notes. A callable gets a
        fitted model and the statements held out, and returns a number per fold, larger for better. Of triplets the
        share kept counts, and where there are links too the mean of both scores.
    ties : {"simple", "stable", "best"}, default="simple"
        Which candidate wins among those whose score is within one standard error of the best: the one with the fewest
        clusters and of several the most stable, the one whose clusters change least between folds, or the best.
    refit : bool, default=True
        Fit the winner again with all constraints.
    n_jobs : int, optional
        Processes to use, as in joblib; -1 for all cores.
    random_state : int, RandomState or None, default=None
        Decides which samples are held out in which fold. Estimators have their own ``random_state``.

    Attributes
    ----------
    best_estimator_ : estimator
        The winner, fitted with all constraints.
    best_params_, best_score_, best_index_
        Its parameters, score and place in ``cv_results_``.
    labels_, n_clusters_
        Its clusters.
    cv_results_ : dict of ndarray
        One entry per candidate, named as in `GridSearchCV`. ``mean_test_score`` is the score of all folds together,
        ``se_test_score`` its standard error by the jackknife, ``split0_test_score`` and so on those of single folds;
        ``must_kept``, ``cannot_kept``, ``triplets_kept`` shares of the held-out statements; ``stability`` the adjusted
        Rand index between the clusters with all constraints and those of each fold, on average; ``tied`` the
        candidates within a standard error of the best; ``trouble`` why a candidate could not be fitted, or "".
    folds_ : list of Fold
        The parts of the constraints to fit with and to judge by.

    See Also
    --------
    knowledge_folds : splits constraints without leaks.
    linkwise.cluster : with ``n_clusters="auto"`` it searches among sensible candidates.
    linkwise.plots.plot_search : score against parameter.

    Notes
    -----
    Few clusters keep all must-links, many keep all cannot-links, and of random pairs most are cannot-links; so the
    plain share kept ("accuracy") likes many clusters. "kappa" is the share of pairs kept, less what a clustering with
    as many pairs together would keep by chance: on pairs drawn at random it estimates the adjusted Rand index between
    clusters and truth. "balanced" is the mean of the shares of must- and of cannot-links kept, whatever their numbers;
    "f" the F-measure of pairs put together, "mcc" the correlation. All folds are counted together before the score is
    taken, since single folds hold few statements. The standard error of a difference between two candidates is that of
    the jackknife over folds, both seen on the same ones.

    Candidates that fail (fewer clusters than cannot-links need, a dead end, a kind of statement not understood)
    are listed with the reason and cannot win. Candidates that differ in the number of clusters only and are cuts of one
    tree share its growing, with the same results.

    **Cost** a fit per candidate (per tree) and fold, and one with all constraints. `linkwise.engines.progress` reports
    fits done and fits in all. **Guarantee** no statement held out follows from those in the fit. **Departure from
    [1]_** see `knowledge_folds`: there both samples of a test pair are held out, which leaves one pair in a hundred of
    those drawn for each of ten folds; here one suffices.

    References
    ----------
    .. [1] M. Pourrajabi, D. Moulavi, R. J. G. B. Campello, A. Zimek, J. Sander, R. Goebel, "Model Selection for
       Semi-Supervised Clustering", EDBT 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from linkwise import COPKMeans, KnowledgeSearchCV
    >>> from linkwise.sources import label_pairs
    >>> X, y = load_iris(return_X_y=True)
    >>> search = KnowledgeSearchCV(COPKMeans(random_state=0), {"n_clusters": [2, 3, 4, 5]}, random_state=0)
    >>> search.fit(X, constraints=label_pairs(y, 100, 0)).best_params_
    {'n_clusters': 3}
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [object],
        "param_grid": [dict, list, None],
        "cv": [Interval(Integral, 2, None, closed="left"), list],
        "scoring": [StrOptions(set(SCORES)), callable],
        "ties": [StrOptions({"simple", "stable", "best"})],
        "refit": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"constraints": True}

    best_estimator_: Any
    best_index_: int
    best_params_: dict[str, Any]
    best_score_: float
    cv_results_: Results
    labels_: IntArray
    n_clusters_: int

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        cv: int | list[Fold] = 10,
        scoring: Any = "kappa",
        ties: str = "simple",
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.ties = ties
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = [pair[0] for pair in self.estimator] if isinstance(self.estimator, (list, tuple)) else [self.estimator]
        inner = [get_tags(estimator).input_tags for estimator in given]
        tags.input_tags.sparse = all(one.sparse for one in inner)
        tags.input_tags.pairwise = all(one.pairwise for one in inner)
        return tags

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Try every candidate on every fold and fit the best one with everything.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All samples; every fit sees all of them. Not modified.
        y : None
            Constraints passed here are used as ``constraints``; anything else is ignored.
        constraints : Constraints
            Statements to fit with in part, to judge by in part.

        Returns
        -------
        self

        Raises
        ------
        InfeasibleConstraintsError
            Hard statements contradict each other.
        LinkwiseError
            Too little is known to hold something out, or no candidate could be fitted.
        """
        n = np.shape(X)[0] if np.ndim(X) or hasattr(X, "shape") else 0
        known = bind(constraints_of(y, constraints), X, n)
        candidates = read_candidates(self.estimator, self.param_grid)
        folds = self._folds(known)
        outcomes = self._fit_all(candidates, X, known, folds)
        _raise_if_all_failed(candidates, outcomes)
        self.folds_ = folds
        self.cv_results_ = collect(candidates, outcomes, self.scoring)
        self.best_index_ = choose(self.cv_results_, self.ties)
        self.best_params_ = dict(candidates[self.best_index_].params)
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self._candidates = candidates
        if self.refit:
            self.best_estimator_ = fit_model(candidates[self.best_index_].make(), X, known)
            self.labels_ = last_step(self.best_estimator_).labels_
            self.n_clusters_ = len(np.unique(self.labels_))
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(self.best_estimator_, name):
                    setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> IntArray:
        """Search, fit the best candidate and return its ``labels_``; the arguments are those of `fit`."""
        labels: IntArray = self.fit(X, y, **fit_params).labels_
        return labels

    def _folds(self, known: Constraints) -> list[Fold]:
        if isinstance(self.cv, list):
            if not (self.cv and all(isinstance(fold, Fold) for fold in self.cv)):
                msg = (
                    "KnowledgeSearchCV: cv is a list without folds, expected a number or the result of knowledge_folds."
                )
                raise LinkwiseError(msg)
            return self.cv
        if not known.n_statements:
            msg = (
                f"KnowledgeSearchCV: there are no statements about X (n_samples={known.n_samples}), so none can be "
                "held out to choose by.\n"
                "Hint: pass statements, as in search.fit(X, constraints=...); without any there is "
                '`linkwise.cluster(X, n_clusters="auto")`.'
            )
            raise LinkwiseError(msg)
        folds = knowledge_folds(known, self.cv, random_state=self.random_state)
        asked = np.concatenate([fold.test.kind for fold in folds])
        if not len(asked):
            msg = (
                "KnowledgeSearchCV: all statements are disjunctions, which trivial clusterings satisfy, so there are "
                "none to choose by.\nHint: add links or triplets, or choose n_clusters yourself."
            )
            raise LinkwiseError(msg)
        if len(np.unique(asked)) == 1 and asked[0] != Kind.TRIPLET and not callable(self.scoring):
            warn_user(
                f"KnowledgeSearchCV: all statements to hold out are {Kind(int(asked[0])).word}, which cannot tell "
                "too few clusters from too many.\n"
                "Hint: add statements that put samples together and others that keep them apart."
            )
        return folds

    def _fit_all(
        self, candidates: Sequence[Candidate], X: Any, known: Constraints, folds: Sequence[Fold]
    ) -> list[list[_Judged]]:
        """The outcome of each candidate (row) with all constraints (first) and in each fold."""
        tasks = [Fold(known, known, np.empty(0, dtype=np.intp)), *folds]
        groups = families(candidates, tasks[0].train)
        jobs = [(group, fold) for fold in range(len(tasks)) for group in groups]
        found: list[list[Any]] = [[None] * len(tasks) for _ in candidates]
        report = current_progress()
        calls = ([candidates[at] for at in group] for group, _ in jobs)
        answers = self._run(
            (family, X, tasks[fold], self.scoring) for family, (_, fold) in zip(calls, jobs, strict=True)
        )
        for done, ((group, fold), answer) in enumerate(zip(jobs, answers, strict=True)):
            for at, one in zip(group, answer, strict=True):
                found[at][fold] = one
            if report is not None:
                report(done + 1, len(jobs))
        return found

    def _run(self, calls: Iterator[tuple[Any, ...]]) -> Iterator[list[_Judged]]:
        if self.n_jobs in (None, 1):
            return (_judge_family(*call) for call in calls)
        from joblib import Parallel, delayed

        answers: Iterator[list[_Judged]] = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(_judge_family)(*call) for call in calls
        )
        return answers

    @available_if(_can("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> IntArray:
        """Return the cluster of new samples, as the chosen model predicts."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict(X))

    @available_if(_can("transform"))  # type: ignore[untyped-decorator]
    def transform(self, X: Any) -> Any:
        """Transform samples as the chosen model does."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.transform(X)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return ``cv_results_`` as a data frame, one row per candidate; parameters that one lacks are missing there.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from linkwise import COPKMeans, KnowledgeSearchCV
        >>> from linkwise.sources import label_pairs
        >>> X, y = load_iris(return_X_y=True)
        >>> search = KnowledgeSearchCV(COPKMeans(random_state=0), {"n_clusters": [2, 3]}, cv=3, random_state=0)
        >>> search.fit(X, constraints=label_pairs(y, 60, 0)).to_frame()[["param_n_clusters", "rank_test_score"]]
           param_n_clusters  rank_test_score
        0                 2                2
        1                 3                1
        """
        check_is_fitted(self, "cv_results_")
        columns = {
            name: [
                None if gone else value
                for value, gone in zip(np.ma.getdata(column).tolist(), np.ma.getmaskarray(column), strict=True)
            ]
            for name, column in self.cv_results_.items()
            if name != "params"  # the same as the columns param_...
        }
        return make_frame("to_frame", columns, backend)

    @property
    def _repr_html_(self) -> Any:
        return super()._repr_html_ if not hasattr(self, "cv_results_") else self._html_of_results

    def _html_of_results(self) -> str:
        return self.table().html

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        if not hasattr(self, "cv_results_"):
            shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
            return shown
        return {"text/plain": repr(self), "text/html": self._html_of_results()}

    def table(self, n_rows: int | None = 12) -> Table:
        """Word the comparison: best candidates first, then those that failed, and why; in a notebook, a table.

        Parameters
        ----------
        n_rows : int or None, default=12
            How many candidates at most; None for all.

        Examples
        --------
        >>> import numpy as np
        >>> from linkwise import COPKMeans, Constraints, KnowledgeSearchCV
        >>> X = np.repeat([[0.0], [5.0], [9.0]], 8, axis=0) + np.random.default_rng(0).normal(size=(24, 1))
        >>> known = Constraints.from_labels([0, 0, 0, -1, -1, -1, -1, -1, 1, 1, 1, -1] + [-1] * 4 + [2] * 3 + [-1] * 5)
        >>> grid = {"n_clusters": [2, 3]}
        >>> search = KnowledgeSearchCV(COPKMeans(random_state=0), grid, cv=3, random_state=0).fit(X, constraints=known)
        >>> print(search.table())
           method     parameters    score           must-links kept  cannot-links kept  stability  clusters
        *  COPKMeans  n_clusters=3  1.000 +- 0.000  100%             100%               1.00       3
        * chosen
        1 of 2 failed:
          COPKMeans(n_clusters=2): statements cannot hold in that many clusters
        """
        check_is_fitted(self, "cv_results_")
        return table_of(self.cv_results_, self.best_index_, n_rows)


class _Judged:
    """One fit in short: labels, the counts of held-out statements kept, and the rest of its outcome."""

    def __init__(self, outcome: Outcome, fold: Fold, scoring: Any) -> None:
        self.trouble, self.error, self.seconds = outcome.trouble, outcome.error, outcome.seconds
        self.labels: IntArray | None = None
        self.counts = np.zeros((3, 2))
        self.score = float("nan")
        if outcome.model is not None:
            self.labels = labels_of(outcome.model, fold.train.n_samples)
            tree = getattr(last_step(outcome.model), "dendrogram_", None)
            self.counts = tally(self.labels, tree, fold.test)
            if callable(scoring) and len(fold.held_out):
                self.score = float(scoring(outcome.model, fold.test))


def _judge_family(family: Sequence[Candidate], X: Any, fold: Fold, scoring: Any) -> list[_Judged]:
    return [_Judged(outcome, fold, scoring) for outcome in fit_family(family, X, fold.train)]


def _raise_if_all_failed(candidates: Sequence[Candidate], outcomes: list[list[_Judged]]) -> None:
    """Raise the first error if no candidate could be fitted; it tells what is wrong with the data or the statements."""
    if any(row[0].labels is not None and any(one.labels is not None for one in row[1:]) for row in outcomes):
        return
    first = next(one.error for row in outcomes for one in row if one.error is not None)
    if len({one.trouble for row in outcomes for one in row if one.trouble}) == 1:
        raise first
    listed = "\n".join(
        f"  {candidate.method}({candidate.words}): {next(one.trouble for one in row if one.trouble)}"
        for candidate, row in list(zip(candidates, outcomes, strict=True))[:5]
    )
    more = f"\n  and {len(candidates) - 5} more" if len(candidates) > 5 else ""
    bounds = hint(command="`linkwise check`", python="`check(constraints)`")
    msg = (
        f"KnowledgeSearchCV: none of {len(candidates)} candidates could be fitted:\n{listed}{more}\n"
        f"Hint: try more clusters; {bounds} finds how few there can be."
    )
    raise LinkwiseError(msg) from first
