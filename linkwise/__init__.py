"""Clustering that knows what you know: knowledge in, a hierarchy or partition in which every hard statement holds out.

The names below are the public ones; each is loaded when first used, so importing linkwise compiles nothing and stays
light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Certificate": "linkwise.result",
    "ConstrainedAgglomerative": "linkwise.engines",
    "ConstrainedCompleteLink": "linkwise.engines",
    "Constraints": "linkwise.constraints",
    "Dendrogram": "linkwise.result",
    "Explanation": "linkwise.problem",
    "Kind": "linkwise.constraints",
    "MaxCentroidDistance": "linkwise.constraints",
    "MinSeparation": "linkwise.constraints",
    "NeighbourWithin": "linkwise.constraints",
    "ReCon": "linkwise.engines",
    "Repair": "linkwise.problem",
    "SizeBetween": "linkwise.constraints",
    "Taxonomy": "linkwise.sources",
    "Verdict": "linkwise.problem",
    "agglomerate": "linkwise.engines",
    "check": "linkwise.problem",
    "close": "linkwise.problem",
    "propagate": "linkwise.engines",
    "repair": "linkwise.problem",
    "verify": "linkwise.result",
}

__all__ = [
    "Certificate",
    "ConstrainedAgglomerative",
    "ConstrainedCompleteLink",
    "Constraints",
    "Dendrogram",
    "Explanation",
    "Kind",
    "MaxCentroidDistance",
    "MinSeparation",
    "NeighbourWithin",
    "ReCon",
    "Repair",
    "SizeBetween",
    "Taxonomy",
    "Verdict",
    "__version__",
    "agglomerate",
    "check",
    "close",
    "propagate",
    "repair",
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
    from linkwise.engines import ConstrainedAgglomerative, ConstrainedCompleteLink, ReCon, agglomerate, propagate
    from linkwise.problem import Explanation, Repair, Verdict, check, close, repair
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
