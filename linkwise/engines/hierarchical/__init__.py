"""Engines whose answer is a dendrogram."""

from typing import TYPE_CHECKING

from linkwise._lazy import loads_from

__all__ = [  # noqa: RUF022 - IHAC is no constant
    "ActiveCompleteLink",
    "AdaptiveRun",
    "BiHAC",
    "BiiHAC",
    "ConstrainedAgglomerative",
    "ConstrainedCompleteLink",
    "GammaRun",
    "HACoc",
    "IHAC",
    "IPoptim",
    "Projection",
    "ReCon",
    "UltraTran",
    "active_complete_link",
    "agglomerate",
    "bihac",
    "biihac",
    "constrained_linkage",
    "fit_heights",
    "fit_ultrametric",
    "gamma_linkage",
    "hacoc",
    "ihac",
    "ipoptim",
    "project_triplets",
    "propagated_linkage",
    "recon",
    "subdominant_ultrametric",
    "ultratran",
]

if TYPE_CHECKING:
    from linkwise.engines.hierarchical._active_link import ActiveCompleteLink, active_complete_link
    from linkwise.engines.hierarchical._adaptive import AdaptiveRun, bihac, biihac, ihac
    from linkwise.engines.hierarchical._adaptive_estimators import IHAC, BiHAC, BiiHAC
    from linkwise.engines.hierarchical._agglomerate import agglomerate
    from linkwise.engines.hierarchical._complete_link import ConstrainedCompleteLink, propagated_linkage
    from linkwise.engines.hierarchical._constrained import ConstrainedAgglomerative, constrained_linkage
    from linkwise.engines.hierarchical._pivots import GammaRun, gamma_linkage
    from linkwise.engines.hierarchical._recon import ReCon, recon
    from linkwise.engines.hierarchical.ultrametric import (
        HACoc,
        IPoptim,
        Projection,
        UltraTran,
        fit_heights,
        fit_ultrametric,
        hacoc,
        ipoptim,
        project_triplets,
        subdominant_ultrametric,
        ultratran,
    )
else:
    _MODULES = (
        "_constrained",
        "_recon",
        "_agglomerate",
        "_complete_link",
        "_pivots",
        "_active_link",
        "_adaptive",
        "_adaptive_estimators",
        "ultrametric",
    )
    __getattr__, __dir__ = loads_from(__name__, __all__, _MODULES)
