"""Threads over slices: all of them, each once, with the caller's help; an error ends the others."""

import sys
import threading
import traceback

import numpy as np
import pytest

from linkwise._parallel import Workers, threads_at_most


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("n_items", [0, 1, 3, 1000])
def test_every_item_is_met_once(threads, n_items):
    seen = np.zeros(n_items, dtype=int)

    def kernel(out, start, stop):
        out[start:stop] += 1

    with Workers(threads) as workers:
        workers.over(kernel, n_items, 1, seen)
        later = workers.begin(kernel, n_items, 1, seen)
        later()
    assert (seen == 2).all()


def test_the_caller_helps_and_so_do_others():
    who, meet = set(), threading.Barrier(3, timeout=600)

    def kernel(start, stop):
        if threading.get_ident() not in who:
            who.add(threading.get_ident())
            meet.wait()

    with Workers(3) as workers:
        workers.over(kernel, 100, 1)
    assert len(who) == 3
    assert threading.get_ident() in who


def test_an_error_reaches_the_caller_and_ends_the_others():
    done, failing = [], []

    def over_there():
        """Whether the thread that failed has not left its work yet."""
        return any(frame.name == "work" for frame in traceback.extract_stack(sys._current_frames()[failing[0]]))

    def kernel(start, stop):
        if start == 0:
            failing.append(threading.get_ident())
            msg = "no"
            raise ValueError(msg)
        while not failing or over_there():
            pass
        done.append(start)

    with Workers(4) as workers, pytest.raises(ValueError, match="no"):
        workers.over(kernel, 10_000, 10**6)  # a hundred slices
    assert len(done) <= 3  # those that others had in hand


def test_fewer_threads_where_so_asked():
    with threads_at_most(1):
        assert Workers().threads == 1
