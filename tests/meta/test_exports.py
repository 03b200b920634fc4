"""The public names: what a package lists is what it has, and every name is documented by an example."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

import linkwise

# Packages whose stub lists public names; the others serve linkwise itself.
PACKAGES = ["linkwise"] + [
    found.name
    for found in pkgutil.walk_packages(linkwise.__path__, "linkwise.")
    if found.ispkg
    and not any(part.startswith("_") for part in found.name.split(".")[1:])
    and getattr(importlib.import_module(found.name), "__all__", [])
]
PUBLIC = sorted(
    {
        (package, name)
        for package in PACKAGES
        for name in importlib.import_module(package).__all__
        if not name.startswith("_")
    }
)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_offers_what_its_stub_lists(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        getattr(module, name)
    assert list(module.__all__) == sorted(module.__all__)
    assert dir(module) == module.__all__
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
