"""Who solves it: the estimators, and the functions behind them."""

from linkwise.engines._base import ConstrainedClusterer
from linkwise.engines._progress import progress
from linkwise.engines.hierarchical import (
    IHAC,
    AdaptiveRun,
    BiHAC,
    BiiHAC,
    ConstrainedAgglomerative,
    GammaRun,
    ReCon,
    agglomerate,
    bihac,
    biihac,
    constrained_linkage,
    gamma_linkage,
    ihac,
    recon,
)

__all__ = [  # noqa: RUF022 - IHAC is no constant
    "AdaptiveRun",
    "BiHAC",
    "BiiHAC",
    "ConstrainedAgglomerative",
    "ConstrainedClusterer",
    "GammaRun",
    "IHAC",
    "ReCon",
    "agglomerate",
    "bihac",
    "biihac",
    "constrained_linkage",
    "gamma_linkage",
    "ihac",
    "progress",
    "recon",
]
