from __future__ import annotations

from itertools import combinations

import pytest

from linkwise._kernels.condensed import condensed_pair, samples_from_length

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("n", [2, 3, 4, 7, 20])
def test_positions_follow_the_order_of_combinations(n):
    for position, (i, j) in enumerate(combinations(range(n), 2)):
        assert tuple(condensed_pair(n, position)) == (i, j)


# 32-bit arithmetic overflows in n * n from 46,341 on, in n (n - 1) from 46,342, in n (n - 1) / 2 from 65,537
@pytest.mark.parametrize("n", [46_341, 46_342, 65_536, 65_537, 100_000, 3_000_000])
def test_indices_are_64_bit(n):
    corners = [(0, 1), (0, n - 1), (1, 2), (n // 2, n // 2 + 1), (n // 2, n - 1), (n - 3, n - 1), (n - 2, n - 1)]
    for i, j in corners:
        exact = i * n - i * (i + 1) // 2 + j - i - 1  # Python integers do not overflow
        assert tuple(condensed_pair(n, exact)) == (i, j)


def test_number_of_samples_from_a_length():
    for n in [1, 2, 3, 65_537, 10**9]:
        assert samples_from_length(n * (n - 1) // 2) == n
    assert [samples_from_length(m) for m in (2, 4, 5, 11)] == [None] * 4
