"""What an engine receives: samples plus what follows from the constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from linkwise._typing import FloatArray
from linkwise.constraints import Constraints
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from linkwise.problem.explain import contradiction
from linkwise.problem.statements import Contraction, Hard, contract_constraints
from linkwise.problem.triplets import blocks_or_none


@dataclass(frozen=True, eq=False)
class Problem:
    """Samples and what was said about them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features) or (n_samples, n_samples)
        Samples, or with ``metric="precomputed"`` their distances.
    constraints : Constraints
        Statements about these samples.
    metric : str, default="euclidean"
        Any metric scikit-learn's ``pairwise_distances`` knows, or ``"precomputed"``.
    weight : ndarray of shape (n_samples,), optional
        How many original samples each sample stands for; default 1.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.problem import Problem
    >>> problem = Problem(np.array([[0.0], [2.0], [5.0]]), Constraints.build(3, must_link=[(0, 1)]))
    >>> small, contraction = problem.contract()
    >>> small.X.ravel().tolist(), small.weight.tolist()
    ([1.0, 5.0], [2.0, 1.0])
    >>> contraction.expand([0, 1]).tolist()
    [0, 0, 1]
    """

    X: Any
    constraints: Constraints
    metric: str = "euclidean"
    weight: FloatArray | None = None

    def __post_init__(self) -> None:
        shape, n = np.shape(self.X), self.constraints.n_samples
        if len(shape) != 2 or shape[0] != n:
            msg = f"Problem: X has shape {shape}, expected a row for each of the {n:,} samples of the constraints."
            raise LinkwiseError(msg)
        if self.metric == "precomputed" and shape[1] != n:
            msg = f"Problem: X has shape {shape}, expected a square matrix of distances."
            raise LinkwiseError(msg)
        given = np.ones(n) if self.weight is None else np.array(self.weight, dtype=np.float64)
        given.setflags(write=False)
        object.__setattr__(self, "weight", given)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.constraints.n_samples

    def distances(self) -> FloatArray:
        """Return the distances between all samples as a square float64 matrix.

        Notes
        -----
        **Cost** O(n²) memory. A precomputed matrix is returned as it is when it is float64 already.
        """
        if self.metric == "precomputed":
            return np.asarray(self.X, dtype=np.float64)
        from sklearn.metrics import pairwise_distances

        return np.asarray(pairwise_distances(self.X, metric=self.metric), dtype=np.float64)

    def contract(self) -> tuple[Problem, Contraction]:
        """Make must-linked samples one sample, at their mean and with their number as weight.

        Returns
        -------
        problem : Problem
            The contracted problem. Cannot-links and triplets speak about the groups, must-links are gone.
        contraction : Contraction
            The way back.

        Raises
        ------
        InfeasibleConstraintsError
            The hard statements contradict each other.
        LinkwiseError
            The metric is "precomputed": distances between means do not follow from distances.

        Notes
        -----
        With triplets the groups are the finest clusters that must-links *and* triplets leave possible, so the
        triplets that remain are about different groups. Triplets inside a group cannot be expressed over groups; a
        hierarchy that must satisfy them has to arrange the group's samples itself. Soft must-links do not contract.
        """
        hard = Hard.of(self.constraints)
        block = blocks_or_none(hard)
        if block is None:
            why = contradiction(hard)
            raise InfeasibleConstraintsError(why.message(), why)
        contraction = Contraction.of(block)
        if self.metric == "precomputed" and contraction.n_groups < self.n_samples:
            msg = (
                "Problem.contract: X holds distances, and the mean of must-linked samples has none.\n"
                "Hint: pass the samples themselves, or keep the must-links for the engine."
            )
            raise LinkwiseError(msg)
        constraints = contract_constraints(self.constraints, block, contraction.n_groups)
        if contraction.n_groups == self.n_samples:
            return Problem(self.X, constraints, self.metric, self.weight), contraction
        own = np.ones(self.n_samples) if self.weight is None else self.weight
        weight = np.bincount(block, weights=own).astype(np.float64)
        if scipy.sparse.issparse(self.X):
            pick = scipy.sparse.csr_array((own / weight[block], (block, np.arange(len(block)))))
            return Problem(scipy.sparse.csr_array(pick @ self.X), constraints, self.metric, weight), contraction
        X = np.asarray(self.X, dtype=np.float64)
        total = np.zeros((contraction.n_groups, X.shape[1]))
        np.add.at(total, block, X * own[:, None])
        return Problem(total / weight[:, None], constraints, self.metric, weight), contraction
