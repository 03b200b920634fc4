"""The public names: what a package lists is what it has, and every name is documented by an example."""

from __future__ import annotations

import difflib
import importlib
import inspect
import subprocess
import sys

import numpy as np
import pytest

from linkwise import Constraints
from tests.meta.public_interface import KEPT, interface, packages, public_names
from tests.meta.typed_calls import types_survive, wrong_names_are_found

PACKAGES = packages()
PUBLIC = public_names()


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_offers_what_its_stub_lists(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        getattr(module, name)
    assert list(module.__all__) == sorted(module.__all__)
    rooms = [name for name in dir(module) if name not in module.__all__]
    assert sorted([*rooms, *module.__all__]) == dir(module)
    assert all(getattr(module, room).__name__ == f"{package}.{room}" for room in rooms)  # packages, for completion
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        module.nothing  # noqa: B018


@pytest.mark.parametrize(("package", "name"), PUBLIC)
def test_every_public_thing_has_a_docstring_with_an_example(package, name):
    thing = getattr(importlib.import_module(package), name)
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return
    text = inspect.getdoc(thing) or ""
    assert "Examples\n--------" in text, f"{package}.{name} shows no example"
    assert ">>>" in text


@pytest.mark.parametrize(("package", "name"), PUBLIC)
def test_every_public_method_has_a_docstring(package, name):
    thing = getattr(importlib.import_module(package), name)
    if not inspect.isclass(thing):
        return
    for label, member in vars(thing).items():
        if label.startswith("_") or not (inspect.isroutine(member) or isinstance(member, property)):
            continue
        assert inspect.getdoc(member), f"{package}.{name}.{label} has no docstring"


def test_the_public_interface_is_the_one_that_is_kept():
    """A change of it is a decision: write it down with ``python -m tests.meta.public_interface``."""
    kept, found = KEPT.read_text(encoding="utf-8").splitlines(), list(interface())
    assert list(difflib.unified_diff(kept, found, "kept", "found", lineterm="", n=0)) == []


def test_calls_that_a_type_checker_reads_are_right_when_they_run():
    X = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 9.0]], 4, axis=0) + np.arange(12)[:, None] / 50
    said = Constraints.from_labels([0, 0, -1, -1, 1, 1, -1, -1, 2, 2, -1, -1])
    types_survive(X, said)
    for call in wrong_names_are_found(said):
        with pytest.raises(AttributeError):
            call()


def test_packages_are_offered_and_loaded_when_used():
    code = "import linkwise as lw, sys; print('linkwise.plots' in sys.modules, 'plots' in dir(lw), lw.plots.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "linkwise.plots"]
