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
    "Clustering": "linkwise.choosing",
    "ConstrainedAgglomerative": "linkwise.engines",
    "ConstrainedCompleteLink": "linkwise.engines",
    "ConstrainedGaussianMixture": "linkwise.engines",
    "ConstrainedKMeans": "linkwise.engines",
    "Constraints": "linkwise.constraints",
    "CorrelationClustering": "linkwise.engines",
    "Dendrogram": "linkwise.result",
    "DiscriminativeRCA": "linkwise.engines",
    "DistBoost": "linkwise.engines",
    "Explanation": "linkwise.problem",
    "HACoc": "linkwise.engines",
    "HMRFKMeans": "linkwise.engines",
    "IHAC": "linkwise.engines",
    "IPoptim": "linkwise.engines",
    "ITML": "linkwise.engines",
    "KernelKMeans": "linkwise.engines",
    "Kind": "linkwise.constraints",
    "KnowledgeSearchCV": "linkwise.choosing",
    "LCVQE": "linkwise.engines",
    "LSML": "linkwise.engines",
    "MKMeans": "linkwise.engines",
    "MPCKMeans": "linkwise.engines",
    "MaxCentroidDistance": "linkwise.constraints",
    "MinSeparation": "linkwise.constraints",
    "NeighbourWithin": "linkwise.constraints",
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
    "Why": "linkwise.problem",
    "XingMetric": "linkwise.engines",
    "agglomerate": "linkwise.engines",
    "check": "linkwise.problem",
    "close": "linkwise.problem",
    "cluster": "linkwise.choosing",
    "conflicts": "linkwise.problem",
    "implies": "linkwise.problem",
    "informative": "linkwise.problem",
    "load": "linkwise.io",
    "minimal": "linkwise.problem",
    "propagate": "linkwise.engines",
    "read_data": "linkwise.io",
    "read_knowledge": "linkwise.io",
    "repair": "linkwise.problem",
    "save": "linkwise.io",
    "utility": "linkwise.problem",
    "verify": "linkwise.result",
    "why": "linkwise.problem",
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
    "DistBoost",
    "Explanation",
    "HACoc",
    "HMRFKMeans",
    "IHAC",
    "IPoptim",
    "ITML",
    "KernelKMeans",
    "Kind",
    "KnowledgeSearchCV",
    "LCVQE",
    "LSML",
    "MKMeans",
    "MPCKMeans",
    "MaxCentroidDistance",
    "MinSeparation",
    "NeighbourWithin",
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
    "Why",
    "XingMetric",
    "__version__",
    "agglomerate",
    "check",
    "close",
    "cluster",
    "conflicts",
    "implies",
    "informative",
    "load",
    "minimal",
    "propagate",
    "read_data",
    "read_knowledge",
    "repair",
    "save",
    "utility",
    "verify",
    "why",
]

if TYPE_CHECKING:
    from linkwise.choosing import (
        Clustering,
        KnowledgeSearchCV,
        cluster,
    )
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
        ConstrainedAgglomerative,
        ConstrainedCompleteLink,
        ConstrainedGaussianMixture,
        ConstrainedKMeans,
        COPKMeans,
        CorrelationClustering,
        DiscriminativeRCA,
        DistBoost,
        HACoc,
        HMRFKMeans,
        IPoptim,
        KernelKMeans,
        MKMeans,
        MPCKMeans,
        PCKMeans,
        PenalizedMixture,
        ReCon,
        SeededKMeans,
        SpectralLearning,
        SVMMetric,
        UltraTran,
        XingMetric,
        agglomerate,
        propagate,
    )
    from linkwise.io import (
        load,
        read_data,
        read_knowledge,
        save,
    )
    from linkwise.problem import (
        Explanation,
        Repair,
        Verdict,
        Why,
        check,
        close,
        conflicts,
        implies,
        informative,
        minimal,
        repair,
        utility,
        why,
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
