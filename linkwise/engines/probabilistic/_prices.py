"""What labels are likely when breaking a statement has a price: the E-step of penalised probabilistic clustering."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.engines.probabilistic._chunklets import Chunklets, too_wide
from linkwise.engines.probabilistic._exact import divide
from linkwise.engines.probabilistic._gaussian import normalise_rows
from linkwise.engines.probabilistic._gibbs import Gibbs
from linkwise.engines.probabilistic._meanfield import MeanField
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError

__all__ = ["Penalised"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]


class Penalised:
    """Beliefs about the labels of chunklets under factors of pairs: exact where narrow, else as ``wide`` says.

    ``allowed`` gives each chunklet a label such that all hard statements hold; only Gibbs sampling needs it.
    """

    def __init__(
        self,
        graph: Chunklets,
        k: int,
        wide: str,
        max_states: int,
        n_sweeps: int,
        allowed: IntArray | None,
        seed: int,
        who: str,
    ) -> None:
        self.graph, self.size = graph, graph.size.astype(np.float64)
        everywhere = np.ones(len(graph.pairs), dtype=np.bool_)
        self.exact, rest = divide(graph, np.unique(graph.pairs), everywhere, k, max_states)
        self.rough: MeanField | Gibbs | None = None
        self.rough_samples = int(graph.size[rest.node].sum())
        if len(rest.node):
            if wide == "refuse":
                worst = int(np.argmax(rest.width))
                many = int((rest.component == worst).sum())
                what = "one connected set of statements"
                raise LinkwiseError(too_wide(who, many, int(rest.width[worst]), k, max_states, what))
            if wide == "mean_field":
                self.rough = MeanField(graph, rest.node, k, max_states, n_sweeps, who)
            else:
                self.rough = Gibbs(graph, rest.node, self._begin(graph, rest.node, allowed, who), n_sweeps, seed)
        self.free = np.ones(graph.n, dtype=np.bool_)
        self.free[self.exact.node] = False
        self.free[rest.node] = False

    @staticmethod
    def _begin(graph: Chunklets, nodes: IntArray, allowed: IntArray | None, who: str) -> IntArray:
        forbids = np.isin(graph.pairs[:, 0], nodes) & (graph.same == -np.inf)
        if allowed is None and forbids.any():
            msg = (
                f"{who}: no labelling is known in which all hard statements hold, and sampling has to begin at one.\n"
                "Hint: a larger n_clusters, fewer cannot-links, or a finite weight for them."
            )
            raise LinkwiseError(msg)
        return np.zeros(len(nodes), dtype=np.intp) if allowed is None else allowed[nodes]

    def log_weight(self, log_density: FloatArray, weights: FloatArray) -> FloatArray:
        """Log of density times prior of every chunklet in every cluster, statements left aside."""
        return self.graph.gather(log_density) + self.size[:, None] * np.log(weights)

    def expect(self, log_density: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective, log of the sum of prior, price and density, and the label probabilities."""
        unary = self.log_weight(log_density, weights)
        total, chance = np.empty(len(unary)), np.empty_like(unary)
        normalise_rows(unary, chance, total)
        value = float(total[self.free].sum()) + self.graph.constant
        if len(self.exact.node):
            sums, chance[self.exact.node] = self.exact.marginals(unary[self.exact.node])
            self._require_possible(sums)
            value += float(sums.sum())
        if self.rough is not None:
            bound, chance[self.rough.node] = self.rough.expect(unary[self.rough.node])
            self._require_possible(np.array([bound]))
            value += bound
        return value, chance

    def counts(self, chance: FloatArray) -> FloatArray:
        """How many samples each cluster is expected to have."""
        return np.asarray(self.size @ chance + 10 * np.finfo(np.float64).eps)

    def weigh(self, chance: FloatArray, weights: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return the share of the samples each cluster is expected to have."""
        counts = self.counts(chance)
        return np.asarray(counts / counts.sum())

    def decide(self, unary: FloatArray) -> IntArray:
        """Return the most probable label of every chunklet, jointly where that can be had."""
        labels: IntArray = np.argmax(unary, axis=1)
        if len(self.exact.node):
            sums, labels[self.exact.node] = self.exact.best(unary[self.exact.node])
            self._require_possible(sums)
        if self.rough is not None:
            labels[self.rough.node] = self.rough.decide(unary[self.rough.node])
        return labels

    def forget(self) -> None:
        """Begin anew: another start is tried."""
        if self.rough is not None:
            self.rough.forget()

    @staticmethod
    def _require_possible(sums: FloatArray) -> None:
        if not (sums > -np.inf).all():
            msg = (
                "the hard cannot-links of one connected set cannot all hold with so few clusters: no labelling is "
                "left.\nHint: a larger n_clusters, or a finite weight for some of them."
            )
            raise InfeasibleConstraintsError(msg)
