"""Engines whose answer is a dendrogram."""

from linkwise.engines.hierarchical._adaptive import AdaptiveRun, bihac, biihac, ihac
from linkwise.engines.hierarchical._adaptive_estimators import IHAC, BiHAC, BiiHAC
from linkwise.engines.hierarchical._agglomerate import agglomerate
from linkwise.engines.hierarchical._constrained import ConstrainedAgglomerative, constrained_linkage
from linkwise.engines.hierarchical._pivots import GammaRun, gamma_linkage
from linkwise.engines.hierarchical._recon import ReCon, recon

__all__ = [  # noqa: RUF022 - IHAC is no constant
    "AdaptiveRun",
    "BiHAC",
    "BiiHAC",
    "ConstrainedAgglomerative",
    "GammaRun",
    "IHAC",
    "ReCon",
    "agglomerate",
    "bihac",
    "biihac",
    "constrained_linkage",
    "gamma_linkage",
    "ihac",
    "recon",
]
