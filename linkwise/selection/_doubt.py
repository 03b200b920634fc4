"""Doubtful statements: `suspects` finds those that the data contradict, and `Suspects` lists them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from linkwise._messages import and_more, many
from linkwise._notebook import card
from linkwise._typing import FloatArray
from linkwise.constraints import Constraints, require_constraints
from linkwise.engines.consensus import Consensus
from linkwise.exceptions import InvalidArgumentError, LinkwiseError
from linkwise.problem.statements import bind

_SHOWN = 5
_BEST_VIEWS = 3
THRESHOLD = 0.25  # probability of being wrong from which a statement is worth a second look
_CONTRADICTED = 0.5  # and from which the reasons for a result name it


class Suspect(NamedTuple):
    """A statement that the data speak against.

    Attributes
    ----------
    statement : int
        Its number in the constraints.
    probability : float
        Probability that it is wrong.
    text : str
        The statement in words.

    Examples
    --------
    >>> from linkwise.selection import Suspect
    >>> print(Suspect(0, 0.9, "#0 must_link(3, 7)"))
    #0 must_link(3, 7): wrong with probability 0.90
    """

    statement: int
    probability: float
    text: str

    def __str__(self) -> str:
        return f"{self.text}: wrong with probability {self.probability:.2f}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Suspects:
    """Statements with the probability that each is wrong, given views of the data that were not told it.

    Attributes
    ----------
    constraints : Constraints
        All statements, with the log odds that they are right as weights: input for `repair`.
    wrong : ndarray of shape (n_statements,)
        Probability that each statement is wrong.
    threshold : float
        Probability from which a statement is listed.
    model : Consensus
        The fitted model whose views voted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from linkwise import Constraints, suspects
    >>> X, y = load_iris(return_X_y=True)
    >>> told = Constraints.build(150, must_link=[(i, i + 1) for i in range(0, 49, 2)], cannot_link=[(5, 10)])
    >>> found = suspects(X, told, 3)
    >>> len(found), [one.statement for one in found], found.drop().n_statements
    (1, [25], 25)
    """

    constraints: Constraints
    wrong: FloatArray
    threshold: float
    model: Consensus

    def __iter__(self) -> Iterator[Suspect]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    @property
    def judged(self) -> bool:
        """Whether there were enough statements to hold some out; otherwise probabilities are those given."""
        return any(not np.isnan(view.agreement) for view in self.model.views_)

    @property
    def _listed(self) -> list[Suspect]:
        order = np.argsort(-self.wrong, kind="stable")
        chosen = order[self.wrong[order] >= self.threshold].tolist()
        named = self.constraints.with_weight(np.inf)  # the weight is not part of the statement
        return [Suspect(at, float(self.wrong[at]), named.describe(at)) for at in chosen]

    def drop(self) -> Constraints:
        """Return the statements without those listed."""
        return self.constraints.select(self.wrong < self.threshold)

    @property
    def summary(self) -> str:
        """What was found in one line, without the statements."""
        n, statements = len(self), many(len(self.wrong), "statement")
        few = "there are too few statements to hold some out"
        if not n:
            return (
                f"None of {statements} is doubtful, given the data."
                if self.judged
                else f"None of {statements} was judged by the data: {few}."
            )
        verb = "is" if n == 1 else "are"
        why = "given the data" if self.judged else f"by their trust alone, since {few}"
        return f"{n:,} of {statements} {verb} doubtful, {why}:"

    def __str__(self) -> str:
        return "\n".join([self.summary, *(f"  {one}" for one in self)])

    def _repr_html_(self) -> str:
        return card(str(self))

    def __repr__(self) -> str:
        return f"Suspects({len(self)} of {many(len(self.wrong), 'statement')})"


def suspects(
    X: Any,
    constraints: Constraints,
    n_clusters: int,
    *,
    trust: Any = "doubtful",
    threshold: float = THRESHOLD,
    random_state: Any = 0,
) -> Suspects:
    """Find statements that the data speak against, each with the probability that it is wrong.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples.
    constraints : Constraints
        Statements of any kind; rules are not judged.
    n_clusters : int
        Number of clusters.
    trust : "doubtful", float or array-like of shape (n_statements,), default="doubtful"
        Probability that a hard statement is right before the data are looked at; soft statements keep their weights.
    threshold : float, default=0.25
        Statements that are wrong with at least this probability are listed.
    random_state : int, RandomState or None, default=0
        Seed of the methods that begin at random.

    Returns
    -------
    Suspects
        An iterable of `Suspect`, the most probable first; ``drop()`` returns the other statements.

    See Also
    --------
    linkwise.repair : the fewest statements to drop so that the others can hold together, without data.

    Notes
    -----
    Each statement is judged by views that were not told it; see `Consensus`. **Cost** that of a `Consensus`.
    **Guarantee** nothing is dropped; the same seed gives the same list.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from linkwise import Constraints, suspects
    >>> X, y = load_iris(return_X_y=True)
    >>> told = Constraints.build(150, must_link=[(i, i + 1) for i in range(0, 49, 2)], cannot_link=[(5, 10)])
    >>> print(suspects(X, told, 3))
    1 of 26 statements is doubtful, given the data:
      #25 cannot_link(5, 10): wrong with probability 0.69
    """
    shape = np.shape(X)
    if len(shape) != 2 or not shape[0]:
        msg = f"suspects: X has shape {shape}, expected (n_samples, n_features) with at least one sample."
        raise LinkwiseError(msg)
    require_constraints(constraints, "suspects")
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 <= threshold <= 1:
        msg = f"suspects: threshold is {threshold!r}, expected a probability from 0 to 1."
        raise InvalidArgumentError(msg)
    known = bind(constraints, X, shape[0]).with_trust(trust, keep_weights=True).with_rules()
    model = Consensus(n_clusters, random_state=random_state).fit(X, constraints=known)
    right = np.clip(model.trust_, 1e-9, 1 - 1e-9)
    weighed = constraints.with_weight(np.maximum(np.log(right) - np.log1p(-right), 1e-6))
    return Suspects(constraints=weighed, wrong=1 - model.trust_, threshold=threshold, model=model)


def about_views(model: Any) -> list[str]:
    """The views that decided and the statements in doubt, as reasons for a result."""
    if not isinstance(model, Consensus):
        return []
    voting = [view for view in model.views_ if not view.missing]
    reasons = []
    if voting and not np.isnan(voting[0].agreement):
        best = "; ".join(f"{view.name} ({view.agreement:.2f})" for view in voting[:_BEST_VIEWS])
        reasons.append(f"{many(len(voting), 'view')} voted; those that best predict statements held out: {best}.")
    missing = len(model.views_) - len(voting)
    if missing:
        reasons.append(f"{many(missing, 'view')} could not be fitted and had no vote.")
    hard = model.constraints_.is_hard
    contradicted = np.flatnonzero(model.doubt_ > _CONTRADICTED)
    contradicted = contradicted[np.argsort(-model.doubt_[contradicted], kind="stable")]
    for kind, of_kind in (("doubtful", ~hard), ("hard", hard)):
        some = contradicted[of_kind[contradicted]]
        if not len(some):
            continue
        listed = "; ".join(model.constraints_.describe_each(some[:_SHOWN]))
        more = and_more(min(len(some), _SHOWN), len(some))
        told = f"the data contradict {many(len(some), f'{kind} statement')}: {listed}{more}."
        if kind == "hard":
            holds, it = ("It holds", "it") if len(some) == 1 else ("They hold", "they")
            told += f" {holds} in the result; told as doubtful, {it} would be weighed."
        reasons.append(told)
    return reasons
