"""Candidates of a search: models written out from grids, named, and fitted together where one tree serves many."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from linkwise._compat import InvalidParameterError
from linkwise._typing import IntArray
from linkwise.constraints import CHOICES, Constraints, Kind
from linkwise.engines import ReCon, progress
from linkwise.engines.hierarchical import HierarchyMixin, recut
from linkwise.exceptions import DeadEndError, InfeasibleConstraintsError, LinkwiseError, UnsupportedConstraintError


@dataclass(frozen=True, eq=False)
class Candidate:
    """One model to try: an estimator that is not fitted, and the parameters to set."""

    place: int  # of the estimator in the list given
    estimator: Any
    params: dict[str, Any]

    def make(self) -> Any:
        """A fresh estimator with the parameters set."""
        return clone(self.estimator).set_params(
            **{name: clone(value, safe=False) for name, value in self.params.items()}
        )

    @property
    def method(self) -> str:
        """The name of its class; for a pipeline those of the steps, joined by a plus."""
        if isinstance(self.estimator, Pipeline):
            return " + ".join(type(step).__name__ for _, step in self.estimator.steps)
        return type(self.estimator).__name__

    @property
    def words(self) -> str:
        """The parameters set, without the names of steps."""
        return ", ".join(f"{name.rpartition('__')[2]}={_word(value)}" for name, value in self.params.items())


class Outcome(NamedTuple):
    """The fit of one candidate: the model, or the reason why there is none, and the seconds it took."""

    model: Any
    trouble: str
    error: Exception | None
    seconds: float


def _word(value: Any) -> str:
    return f"{value.item()!r}" if isinstance(value, np.generic) else f"{value!r}"


def read_candidates(estimator: Any, param_grid: Any) -> list[Candidate]:
    """Write out the candidates of one estimator and grid, or of a list of such pairs."""
    pairs: Iterable[Any] = [(estimator, param_grid)]
    if isinstance(estimator, (list, tuple)):
        if param_grid is not None:
            msg = (
                "KnowledgeSearchCV: estimator is a list of (estimator, grid), so param_grid has to be None.\n"
                "Hint: write the grid beside each estimator."
            )
            raise LinkwiseError(msg)
        pairs = estimator
    found = []
    for place, pair in enumerate(pairs):
        if not (isinstance(pair, Sequence) and len(pair) == 2 and hasattr(pair[0], "fit")):
            msg = (
                f"KnowledgeSearchCV: {pair!r} is not an estimator with a grid.\n"
                "Hint: KnowledgeSearchCV(COPKMeans(), {'n_clusters': [2, 3]}), or a list of such pairs."
            )
            raise LinkwiseError(msg)
        grid = ParameterGrid(pair[1] if pair[1] is not None else {})
        found += [Candidate(place, pair[0], params) for params in grid]
    if not found:
        msg = "KnowledgeSearchCV: there is no candidate, expected at least one.\nHint: give a grid that is not empty."
        raise LinkwiseError(msg)
    return found


def last_step(model: Any) -> Any:
    """The clusterer itself, at the end of a pipeline or alone."""
    return model[-1] if isinstance(model, Pipeline) else model


# -- fitting -------------------------------------------------------------------------------------------------------


def fit_model(model: Any, X: Any, constraints: Constraints) -> Any:
    """Fit, and pass constraints to every step of a pipeline that takes them, or to the estimator."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    passed = {"constraints": constraints} if any(_takes_constraints(step) for step in steps) else {}
    routing: AbstractContextManager[Any] = nullcontext()
    if isinstance(model, Pipeline):
        routing = config_context(enable_metadata_routing=True)  # hands statements to all steps that take them
    with routing:
        return model.fit(X, **passed)


def _takes_constraints(step: Any) -> bool:
    return hasattr(step, "fit") and bool(has_fit_parameter(step, "constraints"))


def families(candidates: Sequence[Candidate], constraints: Constraints) -> list[list[int]]:
    """Group the positions of candidates that are cuts of one tree; every other is its own family."""
    found: dict[Any, list[int]] = {}
    for at, candidate in enumerate(candidates):
        name = _cut_name(candidate, constraints)
        rest = sorted((key, repr(value)) for key, value in candidate.params.items() if key != name)
        key = at if name is None else (candidate.place, tuple(rest))
        found.setdefault(key, []).append(at)
    return list(found.values())


def _cut_name(candidate: Candidate, constraints: Constraints) -> str | None:
    """The parameter that only sets where the tree is cut; None where the number of clusters changes the tree too."""
    model = candidate.make()
    step = last_step(model)
    name = f"{model.steps[-1][0]}__n_clusters" if isinstance(model, Pipeline) else "n_clusters"
    k = candidate.params.get(name)
    if not isinstance(step, HierarchyMixin) or not isinstance(k, Integral) or isinstance(k, bool):
        return None
    if getattr(step, "distance_threshold", None) is not None or constraints.rules or not constraints.is_hard.all():
        return None
    if np.isin(constraints.kind, list(CHOICES)).any():  # links are chosen for a number of clusters
        return None
    if isinstance(step, ReCon) and (
        step.min_cluster_size is not None or step.warm_start or (constraints.kind != Kind.TRIPLET).any()
    ):
        return None
    return name


def fit_family(candidates: Sequence[Candidate], X: Any, constraints: Constraints) -> list[Outcome]:
    """Fit candidates that are one family; one tree is grown for all of them."""
    if len(candidates) == 1:
        return [_attempt(lambda: fit_model(candidates[0].make(), X, constraints))]
    whole = candidates[0].make()
    last_step(whole).set_params(n_clusters=None)
    grown = _attempt(lambda: fit_model(whole, X, constraints))
    if grown.model is None:
        return [grown] * len(candidates)
    cuts = [
        _attempt(lambda c=candidate: _cut_again(grown.model, c, X, constraints))  # type: ignore[misc]
        for candidate in candidates
    ]
    share = grown.seconds / len(candidates)
    return [cut._replace(seconds=cut.seconds + share) for cut in cuts]


def _cut_again(model: Any, candidate: Candidate, X: Any, constraints: Constraints) -> Any:
    """Cut a tree once more; where it has too many roots, fit a method that can regroup them."""
    step = last_step(candidate.make())
    wanted = step.n_clusters
    if last_step(model).constraints_.rules:  # these may need the data to be checked
        return fit_model(candidate.make(), X, constraints)
    if getattr(step, "dead_end", "raise") == "regroup" and wanted < last_step(model).k_min_:
        return fit_model(candidate.make(), X, constraints)
    if not isinstance(model, Pipeline):
        return recut(model, wanted)
    twin = copy.copy(model)
    twin.steps = [*model.steps[:-1], (model.steps[-1][0], recut(model[-1], wanted))]
    return twin


def _attempt(fit: Callable[[], Any]) -> Outcome:
    """Fit without warnings about single folds; a failure is an outcome, not an error."""
    start = time.perf_counter()
    with warnings.catch_warnings(), progress(_ignore):
        warnings.simplefilter("ignore")
        try:
            model, trouble, error = fit(), "", None
        except InvalidParameterError:
            raise
        except (ValueError, ArithmeticError) as failure:
            model, trouble, error = None, _reason(failure), failure
    return Outcome(model, trouble, error, time.perf_counter() - start)


def _ignore(done: int, total: int) -> None:
    pass


def _reason(error: Exception) -> str:
    """A few words for a table."""
    if isinstance(error, DeadEndError):
        return f"dead end at {error.k_min} clusters"
    if isinstance(error, InfeasibleConstraintsError):
        return "statements cannot hold in that many clusters"
    if isinstance(error, UnsupportedConstraintError):
        return f"does not understand {', '.join(error.kinds)}"
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:80]


def labels_of(model: Any, n_samples: int) -> IntArray:
    """The labels a fitted model gave, one per sample."""
    labels = getattr(last_step(model), "labels_", None)
    if labels is None or np.shape(labels) != (n_samples,):
        msg = (
            f"KnowledgeSearchCV: {type(last_step(model)).__name__} has no labels_ for the samples it was fitted to.\n"
            "Hint: search among clusterers, alone or at the end of a pipeline."
        )
        raise LinkwiseError(msg)
    return np.unique(labels, return_inverse=True)[1].astype(np.intp).reshape(-1)
