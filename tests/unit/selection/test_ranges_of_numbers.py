"""cluster() with a range of numbers of clusters: the number found lies in it, and every statement holds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from linkwise import Constraints, check, cluster, verify
from linkwise.constraints import SizeBetween
from linkwise.exceptions import InfeasibleConstraintsError, InvalidArgumentError, LinkwiseError
from linkwise.sources import label_pairs

X, Y = load_iris(return_X_y=True)
FAR = np.random.default_rng(0).random((12, 2))


def test_statements_held_out_choose_among_the_numbers_of_the_range():
    said = label_pairs(Y[::3], 40, random_state=0)
    found = cluster(X[::3], said, n_clusters=(3, 5), effort="quick")
    assert 3 <= found.n_clusters <= 5
    assert found.certificate.ok
    assert any("with 3 to 5 clusters" in reason for reason in found.reasons)
    assert set(found.search.cv_results_["param_n_clusters"]) == {3, 4, 5}


def test_heights_choose_where_there_are_few_statements():
    found = cluster(X, Constraints.build(150, cannot_link=[(0, 1)]), n_clusters=(4, 6))
    assert 4 <= found.n_clusters <= 6
    assert found.labels[0] != found.labels[1]


@pytest.mark.parametrize(("low", "high"), [(1, 3), (2, 12), (5, 30), (11, 12)])
@pytest.mark.parametrize("method", [None, "COPKMeans", "ReCon", "ConstrainedAgglomerative"])
def test_the_number_lies_in_the_range_whatever_the_method(low, high, method):
    said = Constraints.build(12, cannot_link=[(0, 1), (2, 3)])
    found = cluster(FAR, said, n_clusters=(low, high), method=method)
    assert low <= found.n_clusters <= high
    assert verify(found.labels, said).ok


def test_triplets_alone_are_cut_within_the_range():
    said = Constraints.build(30, triplets=[(0, 1, 20), (21, 22, 3), (10, 11, 29), (2, 4, 12), (13, 15, 5), (6, 7, 27)])
    found = cluster(X[::5], said, n_clusters=(6, 8))
    assert 6 <= found.n_clusters <= 8
    assert found.certificate.ok


def test_merging_that_ends_above_the_range_divides_again():
    rng = np.random.default_rng(3)
    for _ in range(20):
        Z = rng.random((9, 2))
        cannot = [tuple(rng.choice(9, 2, replace=False).tolist()) for _ in range(9)]
        said = Constraints.build(9, cannot_link=cannot)
        fewest = next(k for k in range(1, 10) if check(said, n_clusters=k).status == "feasible")
        found = cluster(Z, said, n_clusters=(max(1, fewest - 1), fewest))
        assert found.n_clusters == fewest
        assert found.certificate.ok


def test_sizes_are_kept_for_some_number_of_the_range():
    said = Constraints.build(12, rules=[SizeBetween(3, 3)])
    assert cluster(FAR, said, n_clusters=(2, 6)).n_clusters == 4


def test_a_range_of_one_number_is_that_number():
    assert cluster(FAR, n_clusters=(4, 4)).n_clusters == 4


def test_an_impossible_range_is_explained():
    said = Constraints.build(12, apart=[[0, 1, 2, 3]])
    with pytest.raises(InfeasibleConstraintsError, match="cannot hold in 2 to 3 clusters") as error:
        cluster(FAR, said, n_clusters=(2, 3))
    assert error.value.explanation.core == (0,)


def test_ranges_are_refused_where_they_mean_nothing():
    with pytest.raises(LinkwiseError, match=r"cluster: n_clusters is \(5, 2\)"):
        cluster(FAR, n_clusters=(5, 2))
    with pytest.raises(InvalidArgumentError, match="finds the number of clusters itself"):
        cluster(FAR, n_clusters=(2, 5), method="CorrelationClustering")
