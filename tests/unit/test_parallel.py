"""Threads over slices: all of them, each once, with the caller's help; an error ends the others."""

import threading
import time

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
    who, meet = set(), threading.Barrier(3, timeout=30)

    def kernel(start, stop):
        if threading.get_ident() not in who:
            who.add(threading.get_ident())
            meet.wait()

    with Workers(3) as workers:
        workers.over(kernel, 100, 1)
    assert len(who) == 3
    assert threading.get_ident() in who


def test_an_error_reaches_the_caller_and_ends_the_others():
    done, failed = [], threading.Event()

    def kernel(start, stop):
        if start == 0:
            failed.set()
            msg = "no"
            raise ValueError(msg)
        failed.wait(30)
        time.sleep(0.01)  # the error is on its way
        done.append(start)

    with Workers(4) as workers, pytest.raises(ValueError, match="no"):
        workers.over(kernel, 10_000, 10**6)  # a hundred slices
    assert len(done) < 50


def test_fewer_threads_where_so_asked():
    with threads_at_most(1):
        assert Workers().threads == 1
