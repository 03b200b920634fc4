"""Engines whose answer is a dendrogram."""

from linkwise.engines.hierarchical._agglomerate import agglomerate
from linkwise.engines.hierarchical._constrained import ConstrainedAgglomerative, constrained_linkage
from linkwise.engines.hierarchical._pivots import GammaRun, gamma_linkage
from linkwise.engines.hierarchical._recon import ReCon, recon

__all__ = [
    "ConstrainedAgglomerative",
    "GammaRun",
    "ReCon",
    "agglomerate",
    "constrained_linkage",
    "gamma_linkage",
    "recon",
]
