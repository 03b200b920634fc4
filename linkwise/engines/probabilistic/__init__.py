"""Engines that say how probable each cluster is: mixtures of Gaussians given statements, or weighed against them."""

from linkwise.engines.probabilistic._constrained import ConstrainedGaussianMixture, constrained_mixture
from linkwise.engines.probabilistic._em import Mixture
from linkwise.engines.probabilistic._penalized import PenalizedMixture, penalized_mixture

__all__ = [
    "ConstrainedGaussianMixture",
    "Mixture",
    "PenalizedMixture",
    "constrained_mixture",
    "penalized_mixture",
]
