"""Names of the clusterers that `cluster` and the command line can run; reading them loads no clusterer."""

from __future__ import annotations

import difflib
import os
from typing import Any

from linkwise._lazy import read_stub
from linkwise._messages import hint
from linkwise.exceptions import InvalidArgumentError

_ENGINES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "engines")  # noqa: PTH118, PTH120 - light to load
_FAMILIES = ("consensus", "graph", "hierarchical", "mixture", "partitional")
# Public classes of these families that are results, not methods.
_RESULTS = ("ActiveCompleteLink", "GammaRun", "Projection", "SparseAudit", "ViewReport")
METHODS = tuple(
    sorted(
        (
            name
            for family in _FAMILIES
            for name in read_stub(os.path.join(_ENGINES, family, "__init__.pyi"))[1]  # noqa: PTH118
            if name[0].isupper() and name not in _RESULTS
        ),
        key=str.lower,
    )
)
SHORT_NAMES = {"agglomerative": "ConstrainedAgglomerative"}
# The methods that find the number of clusters themselves and take none.
WITHOUT_NUMBER = ("CorrelationClustering",)
EFFORTS = ("full", "quick")
LINKAGES = ("average", "complete", "single", "ward", "weighted", "centroid", "median")


def method_name(given: Any) -> str:
    """Return the class name of a method given by any of its names, in upper or lower case.

    Examples
    --------
    >>> from linkwise.selection import method_name
    >>> method_name("copkmeans"), method_name("agglomerative")
    ('COPKMeans', 'ConstrainedAgglomerative')
    """
    names = {name.lower(): name for name in METHODS} | SHORT_NAMES
    found = names.get(given.lower()) if isinstance(given, str) else None
    if found is not None:
        return found
    near = difflib.get_close_matches(str(given).lower(), names, n=1)
    name = names[near[0]] if near else "ReCon"
    advice = hint(command=f"--method {name}", python=f"method={name!r}")
    msg = f"cluster: there is no method {given!r}, expected one of {', '.join(METHODS)}.\nHint: {advice}"
    raise InvalidArgumentError(msg)


def load_method(name: str) -> Any:
    """Load the class of a method by its class name."""
    from linkwise import engines

    return getattr(engines, name)
