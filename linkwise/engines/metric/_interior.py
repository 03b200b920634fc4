"""A quadratic program of soft margins over non-negative weights, by a primal-dual interior-point method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse

__all__ = ["Margin", "largest_margin"]

FloatArray = npt.NDArray[np.float64]

# rounds without a smaller gap after which rounding errors are taken to forbid one
STALLED = 15


class Margin(NamedTuple):
    """Weights, the objective there, the relative gap to the dual, and the number of rounds."""

    weights: FloatArray
    objective: float
    gap: float
    n_iter: int


class Inside(NamedTuple):
    """A point strictly inside: weights, slacks ξ, D w + ξ - 1, and the multipliers of these three being ≥ 0."""

    w: FloatArray
    slack: FloatArray
    ahead: FloatArray
    alpha: FloatArray
    rest: FloatArray
    hold: FloatArray


def largest_margin(D: Any, cost: FloatArray, H: FloatArray | None = None, *, max_iter: int, tol: float) -> Margin:
    """Minimise ½ w'Hw + Σ cost ξ over w ≥ 0, ξ ≥ 0, such that D w ≥ 1 - ξ.

    ``H`` is the identity if not given; then the dual is Σ α - ½ ‖max(D'α, 0)‖² over 0 ≤ α ≤ cost.

    Notes
    -----
    Mehrotra's predictor and corrector: the steps are those of Newton's method on the optimality conditions with
    complementarity relaxed and driven to 0. Each round solves one system of the size of the weights or, if there are
    more weights than rows and H is the identity, of the rows.
    """
    m, d = D.shape
    # measured so that the largest entry of D is 1, all numbers stay in reach of each other
    unit = float(abs(D).max()) or 1.0
    D, c = D / unit, cost * unit**2
    # a start whose products are near each other, however dear a miss is
    w, slack = np.ones(d), np.ones(m)
    ahead = np.maximum(np.asarray(D @ w) + slack - 1.0, 1.0)
    at: Inside | None = Inside(w, slack, ahead, c / 2, c / 2, np.full(d, max(1.0, float(c.mean()) / 2)))
    best = Margin(w, np.inf, np.inf, 0)
    for round_ in range(1, max_iter + 1):
        if at is None:
            break
        found = _judge(D, c, H, at, unit, round_, tol)
        if found.gap < best.gap:
            best = found
        if best.gap <= tol or round_ > best.n_iter + STALLED:
            break
        at = _inwards(D, c, H, at)
    return best


def _inwards(D: Any, c: FloatArray, H: FloatArray | None, at: Inside) -> Inside | None:
    """One round: a step that aims at the optimum, corrected for how far the last such step would have missed it."""
    w, slack, ahead, alpha, rest, hold = at
    r_dual = (w if H is None else H @ w) - D.T @ alpha - hold
    r_cost = c - alpha - rest
    r_ahead = D @ w + slack - 1.0 - ahead
    width = ahead + alpha * slack / rest
    scale = alpha / width
    solve = _factor(D, H, scale, hold / w)
    if solve is None:
        return None

    def newton(t_ahead: FloatArray, t_slack: FloatArray, t_w: FloatArray) -> Inside:
        """The step that brings the three products to their targets, to first order."""
        e = (t_ahead - alpha * r_ahead - alpha * (t_slack - slack * r_cost) / rest) / width
        dw = solve(-r_dual + D.T @ e + t_w / w)
        dalpha = e - scale * (D @ dw)
        drest = r_cost - dalpha
        dslack = (t_slack - slack * drest) / rest
        return Inside(dw, dslack, D @ dw + dslack + r_ahead, dalpha, drest, (t_w - hold * dw) / w)

    n = 2 * len(alpha) + len(w)
    mean = (ahead @ alpha + slack @ rest + w @ hold) / n
    first = newton(-ahead * alpha, -slack * rest, -w * hold)
    p, q = _reach(at[:3], first[:3]), _reach(at[3:], first[3:])
    after = (
        (ahead + p * first.ahead) @ (alpha + q * first.alpha)
        + (slack + p * first.slack) @ (rest + q * first.rest)
        + (w + p * first.w) @ (hold + q * first.hold)
    ) / n
    target = mean * (after / mean) ** 3
    step = newton(
        target - ahead * alpha - first.ahead * first.alpha,
        target - slack * rest - first.slack * first.rest,
        target - w * hold - first.w * first.hold,
    )
    size = 0.995 * _reach(at, step)
    return Inside(*(value + size * change for value, change in zip(at, step, strict=True)))


def _reach(at: Sequence[FloatArray], step: Sequence[FloatArray]) -> float:
    """How far a step can go, at most 1, before a number turns negative."""
    longest = 1.0
    for value, change in zip(at, step, strict=True):
        down = change < 0
        if down.any():
            longest = min(longest, float((-value[down] / change[down]).min()))
    return longest


def _factor(D: Any, H: FloatArray | None, scale: FloatArray, extra: FloatArray) -> Any:
    """Return a solver of (H + D' diag(scale) D + diag(extra)) x = b; None where rounding errors leave no such thing."""
    m, d = D.shape
    sparse = scipy.sparse.issparse(D)
    try:
        if H is None and d > m:
            weight = 1.0 / (1.0 + extra)
            inner = D @ (scipy.sparse.diags(weight) @ D.T) if sparse else (D * weight) @ D.T
            inner = np.asarray(inner.toarray() if sparse else inner)
            inner[np.diag_indices(m)] += 1.0 / np.maximum(scale, 1e-300)
            factor = scipy.linalg.cho_factor(inner)

            def solve(b: FloatArray) -> Any:
                return weight * (b - D.T @ scipy.linalg.cho_solve(factor, D @ (weight * b)))

            def refined(b: FloatArray) -> Any:  # the detour over the rows loses digits; one correction brings them back
                x = solve(b)
                return x + solve(b - x / weight - D.T @ (scale * (D @ x)))

            return refined
        K = (D.T @ (scipy.sparse.diags(scale) @ D)).toarray() if sparse else (D * scale[:, None]).T @ D
        K = K + (np.eye(d) if H is None else H)
        K[np.diag_indices(d)] += extra
        unit = 1.0 / np.sqrt(np.diagonal(K))
        factor = scipy.linalg.cho_factor(K * unit * unit[:, None])
    except (np.linalg.LinAlgError, ValueError):
        return None
    return lambda b: unit * scipy.linalg.cho_solve(factor, unit * b)


def _judge(D: Any, c: FloatArray, H: FloatArray | None, at: Inside, unit: float, round_: int, tol: float) -> Margin:
    """Compare the objective at feasible weights with that of a feasible dual: they enclose the optimum."""
    price = np.clip(at.alpha, 0.0, c)
    force = np.asarray(D.T @ price)
    candidates = [np.maximum(at.w, 0.0)]
    if H is None:
        best = np.maximum(force, 0.0)  # the best weights for these prices, exactly 0 where features are not wanted
        dual = float(price.sum() - 0.5 * best @ best)
        candidates.append(best)
    else:
        z = np.linalg.lstsq(H, force + np.maximum(at.hold, 0.0), rcond=None)[0]
        dual = float(price.sum() - 0.5 * z @ H @ z)
    found = []
    for v in candidates:
        short = np.maximum(1.0 - np.asarray(D @ v), 0.0)
        found.append(0.5 * float(v @ (v if H is None else H @ v)) + float(c @ short))
    k = int(np.argmin(found))
    if found[-1] <= found[k] + tol * abs(found[k]):
        k = len(found) - 1
    gap = (found[k] - dual) / found[k] if found[k] > 0 else 0.0
    return Margin(candidates[k] / unit, found[k] / unit**2, max(gap, 0.0), round_)
