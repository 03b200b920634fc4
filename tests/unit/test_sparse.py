"""Sparse arrays for SciPy's graph algorithms and solvers have 32-bit indices, whatever they were made from."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import scipy.sparse.csgraph

from linkwise import Constraints, check, repair
from linkwise._sparse import breadth_first, connected_parts, fractional_programme, integer_programme, narrow
from linkwise.exceptions import LinkwiseError


def wide(rows, columns, shape):
    """A sparse array with 64-bit indices."""
    made = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    made.indices, made.indptr = made.indices.astype(np.int64), made.indptr.astype(np.int64)
    return made


def test_an_entry_written_twice_is_one():
    given = scipy.sparse.csr_array((2, 2))
    given.data, given.indices, given.indptr = np.ones(2), np.array([1, 1], np.int32), np.array([0, 2, 2], np.int32)
    made = narrow(given)
    assert (made.nnz, made[0, 1], given.nnz) == (1, 2.0, 2)
    assert connected_parts(given, directed=True)[0] == 2  # without end on repeated entries


def test_indices_become_narrow_and_values_stay():
    given = wide([0, 1, 3], [2, 0, 3], (4, 4))
    for array in (given, given.tocoo(), given.tocsc(), given.toarray()):
        made = narrow(array)
        assert made.indices.dtype == made.indptr.dtype == np.int32
        assert (made.toarray() == given.toarray()).all()
    assert given.indices.dtype == np.int64
    same = narrow(given)
    assert np.shares_memory(narrow(same).indices, same.indices)


def test_more_than_32_bits_can_number_is_refused():
    with pytest.raises(LinkwiseError, match=r"1 x 3,000,000,000 with 0 entries.*\nHint: "):
        narrow(scipy.sparse.csr_array((1, 3_000_000_000)))


def test_parts_and_paths():
    chain = wide([0, 1, 3], [1, 2, 4], (6, 6))
    count, part = connected_parts(chain)
    assert (count, part.tolist()) == (3, [0, 0, 0, 1, 1, 2])
    assert connected_parts(chain, directed=True)[0] == 6
    assert connected_parts(wide([0, 1, 2], [1, 2, 0], (3, 3)), directed=True)[0] == 1
    order, before = breadth_first(chain, 0)
    assert order.tolist() == [0, 1, 2]
    assert before.tolist() == [-9999, 0, 1, -9999, -9999, -9999]


def test_programmes():
    cover = wide([0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 0, 2], (3, 3))
    assert fractional_programme(np.ones(3), cover, np.ones(3), method="highs-ds").fun == pytest.approx(1.5)
    assert integer_programme(np.ones(3), cover, np.ones(3), np.inf).fun == pytest.approx(2.0)


def test_the_library_hands_over_narrow_indices_only(monkeypatch):
    seen = []

    def watch(home, name, read):
        def call(*args, **kwargs):
            seen.append((name, read(*args, **kwargs).indices.dtype))
            return plain(*args, **kwargs)

        plain = getattr(home, name)
        monkeypatch.setattr(home, name, call)

    watch(scipy.sparse.csgraph, "connected_components", lambda graph, **_: graph)
    watch(scipy.sparse.csgraph, "breadth_first_order", lambda graph, *_, **__: graph)
    watch(scipy.optimize, "milp", lambda _, constraints, **__: constraints.A)
    watch(scipy.optimize, "linprog", lambda _, A_ub, **__: A_ub)
    said = Constraints.build(3, must_link=[(0, 1)], cannot_link=[(1, 2)], triplets=[(0, 2, 1)])
    assert len(repair(said).dropped) == 1
    knot = Constraints.build(4, triplets=[(0, 1, 2), (1, 2, 3), (2, 3, 0), (0, 3, 1)])
    assert check(knot).status == "infeasible"
    assert check(Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])).explanation.suspects
    odd = [(i, (i + 1) % 5) for i in range(5)] + [(i, (i + 2) % 5) for i in range(5)]
    both = Constraints.build(5, must_link=odd[:5], cannot_link=odd[5:])
    assert repair(both).optimal
    assert {name for name, _ in seen} >= {"connected_components", "breadth_first_order", "linprog"}
    assert {dtype for _, dtype in seen} == {np.dtype(np.int32)}
