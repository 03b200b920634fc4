"""Who solves it: the estimators, and the functions behind them."""

from linkwise.engines._base import ConstrainedClusterer
from linkwise.engines._progress import progress
from linkwise.engines.hierarchical import (
    ConstrainedAgglomerative,
    GammaRun,
    ReCon,
    agglomerate,
    constrained_linkage,
    gamma_linkage,
    recon,
)

__all__ = [
    "ConstrainedAgglomerative",
    "ConstrainedClusterer",
    "GammaRun",
    "ReCon",
    "agglomerate",
    "constrained_linkage",
    "gamma_linkage",
    "progress",
    "recon",
]
