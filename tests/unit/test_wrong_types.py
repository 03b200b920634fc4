"""Every top-level function, given things of the wrong kind: errors in words, never a raw one of Python."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import linkwise
from linkwise import Constraints
from linkwise.exceptions import LinkwiseError

X = np.random.default_rng(0).normal(size=(6, 2))
SAID = Constraints.build(6, must_link=[(0, 1)], cannot_link=[(0, 2)])
ODD = [None, 5, "abc", [1, 2], object(), float("nan"), {"a": 1}, True, SAID, [[1, "a"]], [None, "a"]]
GOOD = {"X": X, "n_clusters": 2}
# the verbs of the top level, and functions of packages that stand for a method without an estimator
NAMES = [(linkwise, name) for name in linkwise.__all__]
NAMES += [(linkwise.problem, "minimal"), (linkwise.problem, "utility")]
NAMES += [(linkwise.engines, "agglomerate"), (linkwise.engines, "propagate")]
FUNCTIONS = {name: getattr(home, name) for home, name in NAMES if inspect.isfunction(getattr(home, name))}
# what is computed with before it can be looked at: seconds, switches and callbacks
UNCHECKED = {("conflicts", "time_limit"), ("agglomerate", "progress")}


def calls(name):
    """Each parameter in turn as something odd, the others as they should be."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    plain = [p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    good = {p.name: GOOD.get(p.name, SAID) for p in plain if p.default is p.empty}
    for p in plain:
        for odd in ODD:
            if (name, p.name) not in UNCHECKED:
                yield p.name, odd, good | {p.name: odd}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_types_are_refused_in_words(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    raw = []
    for parameter, odd, given in calls(name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                FUNCTIONS[name](**given)
            except (LinkwiseError, OSError):
                pass
            except (TypeError, ValueError) as error:
                if "expected" not in str(error).lower() and "must be" not in str(error) and "convert" not in str(error):
                    raw.append(f"{parameter}={odd!r}: {error!r}")
            except Exception as error:  # noqa: BLE001 - this is what must not happen
                raw.append(f"{parameter}={odd!r}: {error!r}")
    assert raw == []
