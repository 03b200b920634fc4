"""Engines that say how probable each cluster is: mixtures of Gaussians given statements, or weighed against them."""

from typing import TYPE_CHECKING

from linkwise._lazy import loads_from

__all__ = [
    "ConstrainedGaussianMixture",
    "Mixture",
    "PenalizedMixture",
    "constrained_mixture",
    "penalized_mixture",
]

if TYPE_CHECKING:
    from linkwise.engines.probabilistic._constrained import ConstrainedGaussianMixture, constrained_mixture
    from linkwise.engines.probabilistic._em import Mixture
    from linkwise.engines.probabilistic._penalized import PenalizedMixture, penalized_mixture
else:
    _MODULES = (
        "_constrained",
        "_em",
        "_penalized",
    )
    __getattr__, __dir__ = loads_from(__name__, __all__, _MODULES)
