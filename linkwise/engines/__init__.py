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
from linkwise.engines.partitional import COPKMeans, KMeansRun, cop_kmeans

__all__ = [
    "COPKMeans",
    "ConstrainedAgglomerative",
    "ConstrainedClusterer",
    "GammaRun",
    "HACoc",
    "IPoptim",
    "KMeansRun",
    "Projection",
    "ReCon",
    "UltraTran",
    "agglomerate",
    "constrained_linkage",
    "cop_kmeans",
    "fit_heights",
    "fit_ultrametric",
    "gamma_linkage",
    "hacoc",
    "ipoptim",
    "progress",
    "project_triplets",
    "recon",
    "subdominant_ultrametric",
    "ultratran",
]
