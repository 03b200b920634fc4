"""Who solves it: the estimators, and the functions behind them."""

from linkwise.engines._base import ConstrainedClusterer
from linkwise.engines._progress import progress
from linkwise.engines.hierarchical import (
    ConstrainedAgglomerative,
    GammaRun,
    HACoc,
    IPoptim,
    Projection,
    ReCon,
    UltraTran,
    agglomerate,
    constrained_linkage,
    fit_heights,
    fit_ultrametric,
    gamma_linkage,
    hacoc,
    ipoptim,
    project_triplets,
    recon,
    subdominant_ultrametric,
    ultratran,
)
from linkwise.engines.probabilistic import (
    ConstrainedGaussianMixture,
    Mixture,
    PenalizedMixture,
    constrained_mixture,
    penalized_mixture,
)

__all__ = [
    "ConstrainedAgglomerative",
    "ConstrainedClusterer",
    "ConstrainedGaussianMixture",
    "GammaRun",
    "HACoc",
    "IPoptim",
    "Mixture",
    "PenalizedMixture",
    "Projection",
    "ReCon",
    "UltraTran",
    "agglomerate",
    "constrained_linkage",
    "constrained_mixture",
    "fit_heights",
    "fit_ultrametric",
    "gamma_linkage",
    "hacoc",
    "ipoptim",
    "penalized_mixture",
    "progress",
    "project_triplets",
    "recon",
    "subdominant_ultrametric",
    "ultratran",
]
