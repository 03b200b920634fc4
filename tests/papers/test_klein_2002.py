"""D. Klein, S. D. Kamvar, C. D. Manning, "From Instance-level Constraints to Space-Level Constraints", ICML 2002.

The paper prints no table; what its text and figures say is tested, on points of our own.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.testing import assert_allclose

from linkwise import ConstrainedAgglomerative, ConstrainedCompleteLink, Constraints
from linkwise.engines import propagate
from linkwise.exceptions import LinkwiseWarning
from linkwise.metrics import constrained_rand
from linkwise.sources import label_pairs


def heaps(n=10, seed=0):
    """Four heaps at the corners of a wide rectangle, n points each: top left, top right, bottom left, bottom right."""
    rng = np.random.default_rng(seed)
    corners = np.array([[0.0, 3.0], [4.0, 3.0], [0.0, 0.0], [4.0, 0.0]])
    return np.repeat(corners, n, axis=0) + rng.uniform(-0.4, 0.4, size=(4 * n, 2)), np.repeat(np.arange(4), n)


def test_figure_1_two_diagonal_must_links_turn_the_clusters_around_and_leave_no_outliers():
    X, heap = heaps()
    diagonal = np.array([0, 1, 1, 0])[heap]
    said = Constraints.build(40, must_link=[(0, 30), (10, 20)])
    assert (ConstrainedCompleteLink(2).fit(X, constraints=said).labels_ == diagonal).all()
    alone = ConstrainedAgglomerative(2, linkage="complete").fit(X, constraints=said).labels_
    assert 0 < (alone != diagonal).sum() < 40


def test_figure_3_neighbors_follow():
    """X and Z are very close: a must-link of X and Y pulls Z towards Y, a cannot-link pushes it away."""
    x, y, z, other = range(4)
    P = np.array([[0.0, 0.0], [10.0, 0.0], [0.1, 0.0], [5.0, 7.0]])
    pulled = propagate(P, Constraints.build(4, must_link=[(x, y)]))
    assert_allclose(pulled[z, y], 0.1)
    near = np.array([[0.0, 0.0], [1.0, 0.0], [0.1, 0.0], [5.0, 7.0]])
    pushed = ConstrainedCompleteLink(2).fit_predict(near, constraints=Constraints.build(4, cannot_link=[(x, y)]))
    assert pushed[z] == pushed[x] != pushed[y]
    assert ConstrainedCompleteLink(2).fit_predict(near)[other] != pushed[x]


def test_figure_4_distant_clusters_are_brought_together():
    X, heap = heaps()
    D = propagate(X, Constraints.build(40, must_link=[(0, 30)]))
    joined, others = D[np.ix_(heap == 0, heap == 3)], D[np.ix_(heap == 0, heap == 2)]
    assert joined.max() < others.min()
    assert np.hypot(4, 3) > 2 * joined.max()


def test_section_4_1_paths_through_linked_samples_are_enough_in_a_metric():
    X, _ = heaps(5)
    said = Constraints.build(20, must_link=[(0, 19), (3, 7), (7, 12)])
    assert_allclose(
        propagate(X, said, metric_input=True), propagate(X, said, metric_input=False), rtol=1e-12, atol=1e-12
    )


def test_section_4_3_a_cannot_link_spreads_by_merging():
    """If A is cannot-linked to B, merging A and C makes C cannot-linked to B: no cluster ever holds B and C."""
    a, b, c, d = range(4)
    X = np.array([[0.0], [2.0], [0.5], [9.0]])
    labels = ConstrainedCompleteLink(None).fit_predict(X, constraints=Constraints.build(4, cannot_link=[(a, b)]))
    assert labels[c] == labels[a] != labels[b] == labels[d]


def test_section_5_2_few_statements_find_two_circles_and_propagation_finds_them_sooner():
    """Means over ten draws of 20 pairs, always two clusters: 0.91 with propagation, 0.68 imposed, 0.52 without any."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    angle = rng.uniform(0, 2 * np.pi, 120)
    X = np.where(y, 0.4, 1.0)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    X += 0.06 * rng.normal(size=X.shape)
    scores = {"nothing": [], "imposed": [], "propagated": []}
    for seed in range(10):
        said = label_pairs(y, 20, seed)
        for name, model, known in (
            ("nothing", ConstrainedCompleteLink(2), Constraints.build(120)),
            ("imposed", ConstrainedAgglomerative(2, linkage="complete"), said),
            ("propagated", ConstrainedCompleteLink(2), said),
        ):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "(.|\n)*dead end", LinkwiseWarning)
                labels = model.fit(X, constraints=known).labels_
            assert len(np.unique(labels)) == 2
            scores[name].append(constrained_rand(y, labels, said))
    mean = {name: np.mean(values) for name, values in scores.items()}
    assert mean["propagated"] > 0.85
    assert mean["propagated"] - 0.1 > mean["imposed"] > mean["nothing"] + 0.1
