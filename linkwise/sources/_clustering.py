"""Constraints made from an existing clustering."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.constraints import Constraints, Kind
from linkwise.exceptions import LinkwiseError
from linkwise.result import Dendrogram, require_dendrogram
from linkwise.sources._taxonomy import named


def from_dendrogram(
    dendrogram: Dendrogram,
    *,
    triplets: bool = True,
    cut: str | int | None = None,
    height: float | None = None,
    weight: Any = np.inf,
) -> Constraints:
    """Turn an existing hierarchy into constraints: its minimal triplets, the clusters of a cut through it, or both.

    Parameters
    ----------
    dendrogram : Dendrogram
        The clustering to keep.
    triplets : bool, default=True
        Whether to list the triplets that carry the hierarchy (see `Dendrogram.triplets`).
    cut : "marked" or int, optional
        The cut whose clusters become must-links and cannot-links: the marked one, or the one into that many clusters.
    height : float, optional
        Instead of ``cut``, the height of the cut.
    weight : float or mapping, default=inf
        Cost of breaking one statement; or a mapping from ``"must_link"``, ``"cannot_link"``, ``"triplets"`` to costs.

    Returns
    -------
    Constraints
        Must-links, cannot-links, then triplets.

    Notes
    -----
    A finite weight makes the old clustering a suggestion that new statements may overrule. The triplets of a tree do
    not follow from the statements it was built from: they are stronger. The decomposition is that of Liu, Zhang and
    Wang (KDD 2011), section 4.3. **Cost** that of `Dendrogram.triplets`; a chain of must-links per cluster and a
    cannot-link per two clusters.

    Examples
    --------
    >>> from linkwise import Dendrogram
    >>> from linkwise.sources import from_dendrogram
    >>> tree = Dendrogram.from_newick("(((0:1,1:1):1,2:2):1,3:3);")
    >>> from_dendrogram(tree, weight=0.5).describe(1)
    '#1 triplet(0, 2 | 3) weight 0.5'
    >>> from_dendrogram(tree, cut=2, triplets=False)
    Constraints(4 samples: 2 must-links, 1 cannot-link; all hard)
    """
    require_dendrogram(dendrogram, "from_dendrogram")
    if cut is not None and height is not None:
        msg = "from_dendrogram got both cut and height, expected one of them."
        raise LinkwiseError(msg)
    if not triplets and cut is None and height is None:
        msg = "from_dendrogram got neither triplets nor a cut, expected one of them.\nHint: `cut='marked'`."
        raise LinkwiseError(msg)
    n = dendrogram.n_samples
    labels = _labels(dendrogram, cut, height)
    links = Constraints.build(n) if labels is None else Constraints.from_labels(labels)
    rows = dendrogram.triplets(minimal=True).of(Kind.TRIPLET) if triplets else ()
    made = Constraints.build(
        n,
        must_link=links.of(Kind.MUST_LINK),
        cannot_link=links.of(Kind.CANNOT_LINK),
        triplets=rows,
        weight=weight,
    )
    return named(made, dendrogram.ids)


def _labels(dendrogram: Dendrogram, cut: Any, height: Any) -> Any:
    if height is not None:
        return dendrogram.cut(height=height)
    if cut is None:
        return None
    if not isinstance(cut, str):
        return dendrogram.cut(n_clusters=cut)
    if cut != "marked":
        msg = f"from_dendrogram: cut is {cut!r}, expected 'marked' or a number of clusters."
        raise LinkwiseError(msg)
    return dendrogram.cut_marked()
