"""Threads over slices: all of them, each once, with the caller's help; an error ends the others."""

import threading

import numpy as np
import pytest

from linkwise import _threads
from linkwise._threads import Workers, threads_at_most


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


def test_an_error_reaches_the_caller_and_ends_the_others(monkeypatch):
    done, used_up = [], threading.Event()

    class Slices:
        """The slices to come; tells when none is left."""

        def __init__(self, *limits):
            self.left = iter(range(*limits))

        def __iter__(self):
            return self

        def __next__(self):
            for start in self.left:
                return start
            used_up.set()
            raise StopIteration

    def kernel(start, stop):
        if start == 0:
            msg = "no"
            raise ValueError(msg)
        assert used_up.wait(600)  # the others are at work when the error comes
        done.append(start)

    monkeypatch.setattr(_threads, "range", Slices, raising=False)
    with Workers(4) as workers, pytest.raises(ValueError, match="no"):
        workers.over(kernel, 10_000, 10**6)  # a hundred slices
    assert len(done) <= 3  # what each of them had begun


def test_fewer_threads_where_so_asked():
    with threads_at_most(1):
        assert Workers().threads == 1
