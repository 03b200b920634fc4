"""Hierarchies as ultrametrics: the largest below given distances, fitted ones, and ones that listen to triplets."""

from linkwise.engines.hierarchical.ultrametric._heights import fit_heights, fit_ultrametric
from linkwise.engines.hierarchical.ultrametric._subdominant import subdominant_ultrametric
from linkwise.engines.hierarchical.ultrametric._ultratran import UltraTran, ultratran

__all__ = [
    "UltraTran",
    "fit_heights",
    "fit_ultrametric",
    "subdominant_ultrametric",
    "ultratran",
]
