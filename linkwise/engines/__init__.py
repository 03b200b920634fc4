"""Who solves it: the estimators, and the functions behind them."""

from linkwise.engines._base import ConstrainedClusterer
from linkwise.engines._progress import progress
from linkwise.engines.hierarchical import (
    ActiveCompleteLink,
    ConstrainedAgglomerative,
    ConstrainedCompleteLink,
    GammaRun,
    ReCon,
    active_complete_link,
    agglomerate,
    constrained_linkage,
    gamma_linkage,
    propagated_linkage,
    recon,
)
from linkwise.engines.metric import propagate

__all__ = [
    "ActiveCompleteLink",
    "ConstrainedAgglomerative",
    "ConstrainedClusterer",
    "ConstrainedCompleteLink",
    "GammaRun",
    "ReCon",
    "active_complete_link",
    "agglomerate",
    "constrained_linkage",
    "gamma_linkage",
    "progress",
    "propagate",
    "propagated_linkage",
    "recon",
]
