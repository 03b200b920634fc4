"""What labels are likely given that every statement holds: the E-step of constrained EM, exact."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.engines.probabilistic._chunklets import Chunklets, too_wide
from linkwise.engines.probabilistic._exact import divide
from linkwise.engines.probabilistic._gaussian import normalise_rows
from linkwise.engines.probabilistic._weights import Normaliser
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError

__all__ = ["Given"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]


class Given:
    """Beliefs about the labels of chunklets, given the data and that every statement holds.

    ``sampling`` says how often the weight of a cluster counts for a chunklet: once ("chunklets") or once for each of
    its samples ("points").
    """

    rough_samples = 0

    def __init__(self, graph: Chunklets, k: int, sampling: str, max_states: int, who: str) -> None:
        self.graph = graph
        self.power = graph.size.astype(np.float64) if sampling == "points" else np.ones(graph.n)
        everywhere = np.ones(len(graph.pairs), dtype=np.bool_)
        self.exact, wide = divide(graph, np.unique(graph.pairs), everywhere, k, max_states)
        if len(wide.node):
            worst = int(np.argmax(wide.width))
            many = int((wide.component == worst).sum())
            what = "one connected set of cannot-links"
            raise LinkwiseError(too_wide(who, many, int(wide.width[worst]), k, max_states, what))
        self.free = np.ones(graph.n, dtype=np.bool_)
        self.free[self.exact.node] = False
        self.normaliser = Normaliser(graph, self.exact, self.power, k, max_states)

    def log_weight(self, log_density: FloatArray, weights: FloatArray) -> FloatArray:
        """Log of density times prior of every chunklet in every cluster, statements left aside."""
        return self.graph.gather(log_density) + self.power[:, None] * np.log(weights)

    def expect(self, log_density: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
        """Return the log-likelihood of the data given the statements, and the label probabilities of each chunklet."""
        unary = self.log_weight(log_density, weights)
        total, chance = np.empty(len(unary)), np.empty_like(unary)
        normalise_rows(unary, chance, total)
        if not len(self.exact.node):
            value = float(total.sum())
        else:
            sums, chance[self.exact.node] = self.exact.marginals(unary[self.exact.node])
            self._require_possible(sums)
            value = float(total[self.free].sum() + sums.sum())
        if not self.normaliser.is_one:
            value -= self.normaliser.log_z(np.log(weights))[0]
        return value, chance

    def counts(self, chance: FloatArray) -> FloatArray:
        """How often the weight of each cluster is expected to count."""
        return np.asarray(self.power @ chance + 10 * np.finfo(np.float64).eps)

    def weigh(self, chance: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the mixing weights that make these beliefs most likely."""
        return self.normaliser.best_weights(self.counts(chance), weights)

    def forget(self) -> None:
        """Nothing is carried from one E-step to the next."""

    def decide(self, unary: FloatArray) -> IntArray:
        """Return the most probable label of every chunklet, jointly in each component of the cannot-links."""
        labels: IntArray = np.argmax(unary, axis=1)
        if len(self.exact.node):
            sums, labels[self.exact.node] = self.exact.best(unary[self.exact.node])
            self._require_possible(sums)
        return labels

    def _require_possible(self, sums: FloatArray) -> None:
        if (sums == -np.inf).any():
            msg = (
                "the cannot-links of one connected set cannot all hold with so few clusters: no labelling is left.\n"
                "Hint: a larger n_clusters, or fewer cannot-links; `repair(constraints)` finds which to drop."
            )
            raise InfeasibleConstraintsError(msg)
