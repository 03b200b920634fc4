"""Clustering that knows what you know: knowledge in, a hierarchy or partition in which every hard statement holds out.

The names below are the public ones; each is loaded when first used, so importing linkwise compiles nothing and stays
light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "COPKMeans": "linkwise.engines",
    "CVQE": "linkwise.engines",
    "Certificate": "linkwise.result",
    "ConstrainedAgglomerative": "linkwise.engines",
    "ConstrainedKMeans": "linkwise.engines",
    "Constraints": "linkwise.constraints",
    "Dendrogram": "linkwise.result",
    "Explanation": "linkwise.problem",
    "HACoc": "linkwise.engines",
    "HMRFKMeans": "linkwise.engines",
    "IPoptim": "linkwise.engines",
    "Kind": "linkwise.constraints",
    "LCVQE": "linkwise.engines",
    "MKMeans": "linkwise.engines",
    "MPCKMeans": "linkwise.engines",
    "MaxCentroidDistance": "linkwise.constraints",
    "MinSeparation": "linkwise.constraints",
    "NeighbourWithin": "linkwise.constraints",
    "PCKMeans": "linkwise.engines",
    "ReCon": "linkwise.engines",
    "Repair": "linkwise.problem",
    "SeededKMeans": "linkwise.engines",
    "SizeBetween": "linkwise.constraints",
    "Taxonomy": "linkwise.sources",
    "UltraTran": "linkwise.engines",
    "Verdict": "linkwise.problem",
    "agglomerate": "linkwise.engines",
    "check": "linkwise.problem",
    "close": "linkwise.problem",
    "conflicts": "linkwise.problem",
    "implies": "linkwise.problem",
    "informative": "linkwise.problem",
    "minimal": "linkwise.problem",
    "repair": "linkwise.problem",
    "utility": "linkwise.problem",
    "verify": "linkwise.result",
}

__all__ = [  # noqa: RUF022 - plain order: CVQE and LCVQE are names of methods, not of constants
    "COPKMeans",
    "CVQE",
    "Certificate",
    "ConstrainedAgglomerative",
    "ConstrainedKMeans",
    "Constraints",
    "Dendrogram",
    "Explanation",
    "HACoc",
    "HMRFKMeans",
    "IPoptim",
    "Kind",
    "LCVQE",
    "MKMeans",
    "MPCKMeans",
    "MaxCentroidDistance",
    "MinSeparation",
    "NeighbourWithin",
    "PCKMeans",
    "ReCon",
    "Repair",
    "SeededKMeans",
    "SizeBetween",
    "Taxonomy",
    "UltraTran",
    "Verdict",
    "__version__",
    "agglomerate",
    "check",
    "close",
    "conflicts",
    "implies",
    "informative",
    "minimal",
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
        LCVQE,
        ConstrainedAgglomerative,
        ConstrainedKMeans,
        COPKMeans,
        HACoc,
        HMRFKMeans,
        IPoptim,
        MKMeans,
        MPCKMeans,
        PCKMeans,
        ReCon,
        SeededKMeans,
        UltraTran,
        agglomerate,
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
    from linkwise.result import Certificate, Dendrogram, verify
    from linkwise.sources import Taxonomy


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    msg = f"module 'linkwise' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
