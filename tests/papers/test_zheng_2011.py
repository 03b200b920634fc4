"""L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011: the rows of table IV without constraints."""

from __future__ import annotations

import pytest
from scipy.cluster.hierarchy import linkage
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import minmax_scale

from linkwise import Dendrogram
from linkwise.engines import agglomerate
from linkwise.metrics import hierarchy_fscore


def test_single_linkage_of_iris_has_the_printed_fscore():
    X, y = load_iris(return_X_y=True)
    assert round(hierarchy_fscore(y, agglomerate(X, method="single")), 4) == 0.8906


def test_single_linkage_of_scaled_wine_has_the_printed_fscore():
    X, y = load_wine(return_X_y=True)
    assert round(hierarchy_fscore(y, agglomerate(minmax_scale(X), method="single")), 4) == 0.7614


def test_equation_12_as_printed_is_far_above_1():
    """Its sum over the n levels of Iris; ties in the data let another order of merges give 48.75."""
    X, y = load_iris(return_X_y=True)
    tree = Dendrogram.from_linkage(linkage(X, "single"))
    assert hierarchy_fscore(y, tree, form="levels") * len(y) == pytest.approx(48.65, abs=0.005)
