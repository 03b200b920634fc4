"""The pages of the reference: one for each package, and one for each public name, at its shortest import."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

# From the shortest way to import a name to the longest; the title of each page.
PACKAGES = {
    "linkwise": "Constraints, checks, methods",
    "linkwise.constraints": "Statements and rules",
    "linkwise.sources": "Where statements come from",
    "linkwise.problem": "Checks, proofs, repairs",
    "linkwise.engines": "All methods",
    "linkwise.selection": "Choosing a method, and doubt",
    "linkwise.active": "Questions",
    "linkwise.result": "Results and certificates",
    "linkwise.metrics": "Measures",
    "linkwise.plots": "Pictures",
    "linkwise.report": "Reports",
    "linkwise.io": "Files",
    "linkwise.scale": "Many machines",
    "linkwise.app": "The workbench",
    "linkwise.datasets": "Data sets",
    "linkwise.exceptions": "Errors and warnings",
}
FAMILIES = {
    "consensus": "The vote of many views",
    "hierarchical": "Hierarchies",
    "partitional": "Partitions",
    "mixture": "Mixtures",
    "graph": "Graphs and kernels",
    "metric": "Learned metrics",
}


def public(package: str) -> list[str]:
    """The public names of a package, in alphabetical order."""
    module = importlib.import_module(package)
    own = [name for name, thing in vars(module).items() if inspect.isclass(thing) and thing.__module__ == package]
    return sorted(name for name in getattr(module, "__all__", own) if not name.startswith("_"))


def homes() -> dict[str, str]:
    """The page of every public name: ``{"ReCon": "linkwise.ReCon", "linkwise.engines.ReCon": "linkwise.ReCon"}``."""
    found: dict[str, str] = {}
    first: dict[int, str] = {}
    for package in PACKAGES:
        for name in public(package):
            thing = getattr(importlib.import_module(package), name)
            if inspect.ismodule(thing):
                continue
            home = first.setdefault(id(thing), f"{package}.{name}")
            found.setdefault(name, home)
            found[f"{package}.{name}"] = home
            found[f"{thing.__module__}.{name}" if hasattr(thing, "__module__") else name] = home
    return found


def section(title: str, names: list[str]) -> list[str]:
    """A table of names, each with a page of its own."""
    table = [f"   {name}" for name in names]
    return [
        title,
        "-" * len(title),
        "",
        ".. autosummary::",
        "   :toctree: generated",
        "   :nosignatures:",
        "",
        *table,
        "",
    ]


def kinds(package: str, names: list[str]) -> dict[str, list[str]]:
    """Names in sections: by family where a package has families, else classes and functions."""
    found: dict[str, list[str]] = {}
    for name in names:
        thing = getattr(importlib.import_module(package), name)
        where = (getattr(thing, "__module__", "") or "").split(".")
        if package == "linkwise.engines":
            title = FAMILIES.get(where[2] if len(where) > 2 else "", "Bases and parts")
        elif inspect.isclass(thing):
            title = "Classes"
        else:
            title = "Functions"
        found.setdefault(title, []).append(name)
    order = [*FAMILIES.values(), "Bases and parts", "Classes", "Functions"]
    return {title: found[title] for title in order if title in found}


def write_reference(folder: Path) -> None:
    """Write the pages of all packages."""
    folder.mkdir(parents=True)
    known = homes()
    for package, title in PACKAGES.items():
        mine = [name for name in public(package) if known.get(f"{package}.{name}") == f"{package}.{name}"]
        others = sorted(
            {known[f"{package}.{name}"] for name in public(package) if f"{package}.{name}" in known}
            - {f"{package}.{name}" for name in mine}
        )
        heading = f"{package}: {title[0].lower()}{title[1:]}"
        said = (inspect.getdoc(importlib.import_module(package)) or "").split("\n\n")[0]
        lines = [heading, "=" * len(heading), "", said, "", f".. currentmodule:: {package}", ""]
        for kind, names in kinds(package, mine).items():
            lines += section(kind, names)
        if others:
            lines += ["Also offered here: " + ", ".join(f":py:obj:`{other}`" for other in others) + ".", ""]
        (folder / f"{package}.rst").write_text("\n".join(lines), encoding="utf-8")
    pages = [f"   {package}" for package in PACKAGES]
    title = "Reference"
    text = (
        "Every public name, with what it costs, what it guarantees, and an example that runs. Which names are public, "
        "and how long they stay, is the subject of the :doc:`policy <../policy>`; :doc:`../names` says each in a line."
    )
    lines = [title, "=" * len(title), "", text, "", ".. toctree::", "   :maxdepth: 1", "", *pages, ""]
    (folder / "index.rst").write_text("\n".join(lines), encoding="utf-8")
