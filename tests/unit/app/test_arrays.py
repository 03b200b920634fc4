"""LWA1: what is packed comes back, aligned, and nothing else is read."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st

from linkwise.app._arrays import DTYPES, pack, unpack
from linkwise.exceptions import LinkwiseError
from tests.app.stand_in import pack as written_by_hand

NAMED = st.dictionaries(st.text(max_size=8), st.tuples(st.sampled_from(DTYPES), st.lists(st.integers(0, 100))))


@given(NAMED, st.text())
def test_arrays_and_facts_come_back(named, word):
    arrays = {name: np.array(values, dtype=dtype) for name, (dtype, values) in named.items()}
    message = pack(arrays, v=3, cut=None, word=word)
    facts, found = unpack(message)
    assert facts == {"v": 3, "cut": None, "word": word}
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].tolist() == array.tolist()
        assert found[name].__array_interface__["data"][0] % 2 == 0 or not array.size
    for cut in (0, 7, len(message) // 2):
        with pytest.raises(LinkwiseError, match="not arrays of linkwise"):
            unpack(message[:cut])


def test_bytes_are_those_the_page_is_tested_with():
    arrays = {"parent": np.array([2, 2, -1], dtype="<i4"), "cluster": np.array([0, 1, -1], dtype="<i2")}
    assert pack(arrays, n_leaves=2, cut=0.5) == written_by_hand(arrays, n_leaves=2, cut=0.5)


def test_what_the_page_does_not_know_is_not_packed():
    with pytest.raises(LinkwiseError, match="x is float64"):
        pack({"x": np.zeros(2)})


def test_the_layout_of_trees_loads_no_matplotlib():
    code = "import sys; from linkwise.plots import lay_out, match_labels, to_plane; print('matplotlib' in sys.modules)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "False"
