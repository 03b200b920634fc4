"""Clusters are renamed so that the fewest samples change their label, without a table of all pairs of clusters."""

from __future__ import annotations

import tracemalloc

import numpy as np
from scipy.optimize import linear_sum_assignment

from linkwise.plots import match_labels
from tests.profile import examples


def test_no_other_names_keep_more_labels():
    for seed in range(examples(60, 1000)):
        draw = np.random.default_rng(seed)
        old, new = (draw.integers(-1, draw.integers(1, 12), size=30) for _ in range(2))
        found = match_labels(old, new)
        names = set(zip(old.tolist(), found.tolist(), strict=True))
        assert len(names) == len(set(found.tolist())) == len(set(old.tolist()))
        _, i = np.unique(old, return_inverse=True)
        _, j = np.unique(new, return_inverse=True)
        table = np.zeros((i.max() + 1, j.max() + 1))
        np.add.at(table, (i, j), 1)
        assert (found == new).sum() == table[linear_sum_assignment(-table)].sum()


def test_thousands_of_clusters_take_no_table_of_all_pairs():
    old = np.arange(8_000) // 2
    new = old[::-1].copy()
    new[:2] = 9_000
    tracemalloc.start()
    found = match_labels(old, new)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000  # a table of all pairs takes 128 MB
    assert (found == new).all()
