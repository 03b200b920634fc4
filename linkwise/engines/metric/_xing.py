"""The metric of Xing, Ng, Jordan and Russell: must-links short, cannot-links long, as far as a convex problem goes."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from linkwise._compat import Interval, StrOptions
from linkwise.constraints import Constraints, Kind
from linkwise.engines._reading import warn_user
from linkwise.engines._units import in_unit, unit_of
from linkwise.engines.metric._farthest import spread_diagonal, spread_full, spread_full_by_projection
from linkwise.engines.metric._learner import LearnedMetric, MetricLearner, identity_metric
from linkwise.engines.metric._matrices import SHRINKAGE, root, shrink_values, span, whiten
from linkwise.engines.metric._statements import apart_pairs, together_scatter, without_coincident

__all__ = ["XingMetric", "xing_metric"]


def xing_metric(
    X: Any,
    constraints: Constraints,
    *,
    form: str = "full",
    solver: str = "lbfgs",
    shrinkage: float | str = "auto",
    max_iter: int = 2000,
    tol: float = 1e-6,
) -> LearnedMetric:
    """Stretch and turn the space so that cannot-linked samples are far apart while must-linked ones stay near.

    Maximises the sum of distances over cannot-links, such that the sum of *squared* distances over must-links is 1.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Finite vectors; sparse only with ``form="diagonal"``. Not modified.
    constraints : Constraints
        Must-links, cannot-links, groups together (see Notes) or apart; other kinds are not looked at.
    form : {"full", "diagonal"}, default="full"
        Whether axes may turn, or features are only weighed.
    solver : {"lbfgs", "projection"}, default="lbfgs"
        How the full form is solved: quasi-Newton steps on a root of the matrix, or projected gradient steps.
    shrinkage : "auto" or float between 0 and 1, default="auto"
        Share of the must-links' scatter that is replaced by a round one of the same trace. Where must-links say
        nothing about a direction the problem is unbounded; "auto" replaces 0.1 then, and nothing otherwise.
    max_iter : int, default=2000
        Most rounds of the solver.
    tol : float, default=1e-6
        Relative gap to the optimum at which it stops; proved, not guessed.

    Returns
    -------
    LearnedMetric
        ``components`` is the symmetric root of the matrix; ``objective`` the sum over cannot-links.

    Notes
    -----
    **Cost** per round O(m d²) for m cannot-links in the full form, and one eigendecomposition, O(d³), every 25; in the
    diagonal form Newton's method, O(m d²), up to 600 features, then O(m d). **Guarantee** ``gap`` bounds what any
    metric of this form could do better; the full form does not depend on how the axes of X are turned. **Departure
    from** [1]_ the matrix is measured in units of the must-links' scatter, where the two constraint sets of the paper
    become one with an exact projection; pairs that coincide are dropped with a warning, since their slope is 0/0; a
    group together counts like as many must-links as it takes to say it, spread evenly over its pairs. Without a
    must-link or without a cannot-link there is no trade-off, and the metric stays Euclidean with a warning.

    References
    ----------
    .. [1] E. P. Xing, A. Y. Ng, M. I. Jordan, S. Russell, "Distance metric learning, with application to clustering
       with side-information", NIPS 15, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import xing_metric
    >>> X = np.array([[0.0, 0.0], [0.1, 2.0], [1.0, 0.1], [1.1, 2.1]])
    >>> said = Constraints.build(4, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (1, 3)])
    >>> found = xing_metric(X, said, form="diagonal")
    >>> (found.components / found.components.max()).round(3).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    X = X if scipy.sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if not constraints.n_statements:
        return identity_metric(X)
    unit = unit_of(X)
    X = in_unit(X, unit)
    rows, weight = together_scatter(X, constraints)
    near = _second_moments(rows, weight, form)
    far, spread = without_coincident(X, apart_pairs(constraints), who="Xing's metric")
    if not far.shape[0] or not near.any():
        what = "cannot-links" if not far.shape[0] else "must-links"
        warn_user(
            f"Xing's metric weighs must-links against cannot-links, but there are no {what} between samples that "
            "differ; the metric stays Euclidean.\n"
            "Hint: `RCA` learns from must-links alone, `SVMMetric` and `LSML` from triplets."
        )
        return identity_metric(X)
    total = float(spread.sum())
    if form == "diagonal":
        near, share = shrink_values(near, shrinkage)
        V = far.multiply(far) @ scipy.sparse.diags(1 / near) if scipy.sparse.issparse(far) else far * far / near
        found = spread_diagonal(V, spread / total, max_iter=max_iter, tol=tol)
        weights = found.root / np.sqrt(near)
        components = (
            scipy.sparse.csr_array(scipy.sparse.diags(weights)) if scipy.sparse.issparse(X) else np.diag(weights)
        )
    else:
        white, _, share = whiten(near, shrinkage)
        U = far @ white
        axes = span(U) if len(U) < U.shape[1] else np.eye(U.shape[1])
        solve = spread_full if solver == "lbfgs" else spread_full_by_projection
        found = solve(U @ axes, spread / total, max_iter=max_iter, tol=tol)
        M = found.root @ axes.T @ white
        components = root(M.T @ M)
    return LearnedMetric(components, found.value * total, found.n_iter, found.gap, share).of_unit(unit)


def _second_moments(rows: Any, weight: Any, form: str) -> Any:
    """Σ w r r', or its diagonal."""
    if form == "full":
        return (rows * weight[:, None]).T @ rows
    return (rows.multiply(rows) if scipy.sparse.issparse(rows) else rows * rows).T @ weight


class XingMetric(MetricLearner):
    """Stretch and turn the space so that cannot-linked samples are far apart while must-linked ones stay near.

    Parameters
    ----------
    form : {"full", "diagonal"}, default="full"
        Whether axes may turn, or features are only weighed; the diagonal form takes sparse X and keeps feature names.
    solver : {"lbfgs", "projection"}, default="lbfgs"
        How the full form is solved; both end at the same optimum.
    shrinkage : "auto" or float between 0 and 1, default="auto"
        Share of the must-links' scatter that is replaced by a round one; "auto" is 0.1 where the scatter is singular.
    max_iter : int, default=2000
        Most rounds of the solver.
    tol : float, default=1e-6
        Relative gap to the optimum that is good enough.

    Attributes
    ----------
    components_ : ndarray or sparse array of shape (n_features, n_features)
        The symmetric root of the learned matrix, scaled so that must-links' squared distances sum to 1.
    objective_, gap_ : float
        The sum of distances over cannot-links, and how much larger, relative to it, any metric could make it.
    n_iter_ : int
        Rounds of the solver.
    shrinkage_ : float
        The share that was replaced.

    See Also
    --------
    xing_metric : the function behind it, with cost, guarantee and reference.

    Examples
    --------
    Two features, of which the second is loud and says nothing:

    >>> import numpy as np
    >>> from linkwise import Constraints, ConstrainedAgglomerative, XingMetric
    >>> from sklearn.pipeline import make_pipeline
    >>> X = np.array([[0.0, 0.0], [0.1, 2.0], [1.0, 0.1], [1.1, 2.1], [0.1, 1.9], [1.0, 2.2]])
    >>> said = Constraints.build(6, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (1, 3)])
    >>> ConstrainedAgglomerative(2).fit_predict(X).tolist()
    [0, 1, 0, 1, 1, 1]
    >>> both = make_pipeline(XingMetric(), ConstrainedAgglomerative(2))
    >>> both.fit_predict(X, xingmetric__constraints=said).tolist()
    [0, 0, 1, 1, 0, 1]
    """

    understands = frozenset({Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TOGETHER, Kind.APART})
    _dense_only = 'use form="diagonal", which weighs features and takes sparse X.'
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "form": [StrOptions({"full", "diagonal"})],
        "solver": [StrOptions({"lbfgs", "projection"})],
        "shrinkage": SHRINKAGE,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        form: str = "full",
        *,
        solver: str = "lbfgs",
        shrinkage: float | str = "auto",
        max_iter: int = 2000,
        tol: float = 1e-6,
    ) -> None:
        self.form = form
        self.solver = solver
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.tol = tol

    def _takes_sparse(self) -> bool:
        return self.form == "diagonal"

    def _keeps_features(self) -> bool:
        return self.form == "diagonal"

    def _metric_from(self, samples: Any, constraints: Constraints) -> LearnedMetric:
        return xing_metric(
            samples,
            constraints,
            form=self.form,
            solver=self.solver,
            shrinkage=self.shrinkage,
            max_iter=self.max_iter,
            tol=self.tol,
        )
