"""Engines whose answer is a dendrogram."""

from linkwise.engines.hierarchical._active_link import ActiveCompleteLink, active_complete_link
from linkwise.engines.hierarchical._agglomerate import agglomerate
from linkwise.engines.hierarchical._complete_link import ConstrainedCompleteLink, propagated_linkage
from linkwise.engines.hierarchical._constrained import ConstrainedAgglomerative, constrained_linkage
from linkwise.engines.hierarchical._pivots import GammaRun, gamma_linkage
from linkwise.engines.hierarchical._recon import ReCon, recon

__all__ = [
    "ActiveCompleteLink",
    "ConstrainedAgglomerative",
    "ConstrainedCompleteLink",
    "GammaRun",
    "ReCon",
    "active_complete_link",
    "agglomerate",
    "constrained_linkage",
    "gamma_linkage",
    "propagated_linkage",
    "recon",
]
