"""Clustering that knows what you know: knowledge in, a hierarchy or partition in which every hard statement holds out.

The names below are the public ones; each is loaded when first used, so importing linkwise compiles nothing and stays
light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "BiHAC": "linkwise.engines",
    "BiiHAC": "linkwise.engines",
    "COPKMeans": "linkwise.engines",
    "CVQE": "linkwise.engines",
    "Certificate": "linkwise.result",
    "ChunkletLDA": "linkwise.engines",
    "Clustering": "linkwise.engines",
    "ConstrainedAgglomerative": "linkwise.engines",
    "ConstrainedCompleteLink": "linkwise.engines",
    "ConstrainedGaussianMixture": "linkwise.engines",
    "ConstrainedKMeans": "linkwise.engines",
    "Constraints": "linkwise.constraints",
    "CorrelationClustering": "linkwise.engines",
    "Dendrogram": "linkwise.result",
    "DiscriminativeRCA": "linkwise.engines",
    "Explanation": "linkwise.problem",
    "HACoc": "linkwise.engines",
    "HMRFKMeans": "linkwise.engines",
    "IHAC": "linkwise.engines",
    "IPoptim": "linkwise.engines",
    "ITML": "linkwise.engines",
    "KernelKMeans": "linkwise.engines",
    "Kind": "linkwise.constraints",
    "LCVQE": "linkwise.engines",
    "LSML": "linkwise.engines",
    "MKMeans": "linkwise.engines",
    "MPCKMeans": "linkwise.engines",
    "MaxCentroidDistance": "linkwise.constraints",
    "MinSeparation": "linkwise.constraints",
    "NeighbourWithin": "linkwise.constraints",
    "NeighbourhoodPropagation": "linkwise.engines",
    "PCKMeans": "linkwise.engines",
    "PenalizedMixture": "linkwise.engines",
    "RCA": "linkwise.engines",
    "ReCon": "linkwise.engines",
    "Repair": "linkwise.problem",
    "SVMMetric": "linkwise.engines",
    "SeededKMeans": "linkwise.engines",
    "SizeBetween": "linkwise.constraints",
    "SpectralLearning": "linkwise.engines",
    "Taxonomy": "linkwise.sources",
    "UltraTran": "linkwise.engines",
    "Verdict": "linkwise.problem",
    "XingMetric": "linkwise.engines",
    "agglomerate": "linkwise.engines",
    "check": "linkwise.problem",
    "close": "linkwise.problem",
    "cluster": "linkwise.engines",
    "conflicts": "linkwise.problem",
    "implies": "linkwise.problem",
    "informative": "linkwise.problem",
    "minimal": "linkwise.problem",
    "propagate": "linkwise.engines",
    "repair": "linkwise.problem",
    "utility": "linkwise.problem",
    "verify": "linkwise.result",
}

__all__ = [  # noqa: RUF022 - IHAC is no constant
    "BiHAC",
    "BiiHAC",
    "COPKMeans",
    "CVQE",
    "Certificate",
    "ChunkletLDA",
    "Clustering",
    "ConstrainedAgglomerative",
    "ConstrainedCompleteLink",
    "ConstrainedGaussianMixture",
    "ConstrainedKMeans",
    "Constraints",
    "CorrelationClustering",
    "Dendrogram",
    "DiscriminativeRCA",
    "Explanation",
    "HACoc",
    "HMRFKMeans",
    "IHAC",
    "IPoptim",
    "ITML",
    "KernelKMeans",
    "Kind",
    "LCVQE",
    "LSML",
    "MKMeans",
    "MPCKMeans",
    "MaxCentroidDistance",
    "MinSeparation",
    "NeighbourWithin",
    "NeighbourhoodPropagation",
    "PCKMeans",
    "PenalizedMixture",
    "RCA",
    "ReCon",
    "Repair",
    "SVMMetric",
    "SeededKMeans",
    "SizeBetween",
    "SpectralLearning",
    "Taxonomy",
    "UltraTran",
    "Verdict",
    "XingMetric",
    "__version__",
    "agglomerate",
    "check",
    "close",
    "cluster",
    "conflicts",
    "implies",
    "informative",
    "minimal",
    "propagate",
    "repair",
    "utility",
    "verify",
]

if TYPE_CHECKING:
    from linkwise.constraints import (
        Constraints,
        Kind,
        MaxCentroidDistance,
        MinSeparation,
        NeighbourWithin,
        SizeBetween,
    )
    from linkwise.engines import (
        CVQE,
        IHAC,
        ITML,
        LCVQE,
        LSML,
        RCA,
        BiHAC,
        BiiHAC,
        ChunkletLDA,
        Clustering,
        ConstrainedAgglomerative,
        ConstrainedCompleteLink,
        ConstrainedGaussianMixture,
        ConstrainedKMeans,
        COPKMeans,
        CorrelationClustering,
        DiscriminativeRCA,
        HACoc,
        HMRFKMeans,
        IPoptim,
        KernelKMeans,
        MKMeans,
        MPCKMeans,
        NeighbourhoodPropagation,
        PCKMeans,
        PenalizedMixture,
        ReCon,
        SeededKMeans,
        SpectralLearning,
        SVMMetric,
        UltraTran,
        XingMetric,
        agglomerate,
        cluster,
        propagate,
    )
    from linkwise.problem import (
        Explanation,
        Repair,
        Verdict,
        check,
        close,
        conflicts,
        implies,
        informative,
        minimal,
        repair,
        utility,
    )
    from linkwise.result import (
        Certificate,
        Dendrogram,
        verify,
    )
    from linkwise.sources import (
        Taxonomy,
    )


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    msg = f"module 'linkwise' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
