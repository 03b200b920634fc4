"""Partitions around centres under must-links, cannot-links and sizes."""

from typing import TYPE_CHECKING

from linkwise._lazy import loads_from

__all__ = [  # noqa: RUF022 - plain order: CVQE and LCVQE are names of methods, not of constants
    "COPKMeans",
    "CVQE",
    "ConstrainedKMeans",
    "HMRFKMeans",
    "KMeansRun",
    "LCVQE",
    "MKMeans",
    "MPCKMeans",
    "PCKMeans",
    "SeededKMeans",
    "SoftRun",
    "constrained_kmeans",
    "cop_kmeans",
    "cvqe",
    "hmrf_kmeans",
    "lcvqe",
    "mk_means",
    "mpck_means",
    "pck_means",
    "seeded_kmeans",
]

if TYPE_CHECKING:
    from linkwise.engines.partitional._cop_kmeans import COPKMeans, cop_kmeans
    from linkwise.engines.partitional._cvqe import CVQE, LCVQE, cvqe, lcvqe
    from linkwise.engines.partitional._hmrf_kmeans import HMRFKMeans, hmrf_kmeans
    from linkwise.engines.partitional._lloyd import KMeansRun
    from linkwise.engines.partitional._mpck_means import MKMeans, MPCKMeans, mk_means, mpck_means
    from linkwise.engines.partitional._pck_means import PCKMeans, pck_means
    from linkwise.engines.partitional._seeded import (
        ConstrainedKMeans,
        SeededKMeans,
        constrained_kmeans,
        seeded_kmeans,
    )
    from linkwise.engines.partitional._soft import SoftRun
else:
    _MODULES = (
        "_cop_kmeans",
        "_cvqe",
        "_hmrf_kmeans",
        "_lloyd",
        "_mpck_means",
        "_pck_means",
        "_seeded",
        "_soft",
    )
    __getattr__, __dir__ = loads_from(__name__, __all__, _MODULES)
