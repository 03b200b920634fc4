"""Hierarchies as ultrametrics: the largest below given distances, fitted ones, and ones that listen to triplets."""

from linkwise.engines.hierarchical.ultrametric._hacoc import HACoc, hacoc
from linkwise.engines.hierarchical.ultrametric._heights import fit_heights, fit_ultrametric
from linkwise.engines.hierarchical.ultrametric._ipoptim import IPoptim, ipoptim
from linkwise.engines.hierarchical.ultrametric._projection import Projection, project_triplets
from linkwise.engines.hierarchical.ultrametric._subdominant import subdominant_ultrametric
from linkwise.engines.hierarchical.ultrametric._ultratran import UltraTran, ultratran

__all__ = [
    "HACoc",
    "IPoptim",
    "Projection",
    "UltraTran",
    "fit_heights",
    "fit_ultrametric",
    "hacoc",
    "ipoptim",
    "project_triplets",
    "subdominant_ultrametric",
    "ultratran",
]
