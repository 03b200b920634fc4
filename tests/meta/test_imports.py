"""Imports point one way, and importing the library is nearly free."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import linkwise

ROOT = Path(linkwise.__file__).parent
BASE = {"exceptions", "_random", "_wording"}
ALLOWED = {
    "__main__": {"cli"},
    "exceptions": set(),
    "_kernels": BASE,
    "constraints": BASE | {"_kernels"},
    "_sparse": BASE,
    "result": BASE | {"_kernels", "_sparse", "constraints"},
    "problem": BASE | {"_kernels", "_sparse", "constraints", "result"},
    "engines": BASE | {"_kernels", "_lazy", "_parallel", "_sparse", "constraints", "result", "problem", "_compat"},
    "sources": BASE | {"_kernels", "_files", "constraints", "result"},
    "choosing": BASE | {"_kernels", "constraints", "result", "problem", "engines", "metrics", "_compat"},
    "_compat": set(),
    "_random": {"exceptions"},
    "_wording": set(),
    "_cores": set(),
    "_lazy": set(),
    "_parallel": {"_cores"},
    "_files": BASE,
    "metrics": BASE | {"_kernels", "constraints", "result", "sources"},
    "plots": BASE | {"constraints", "result"},
    "report": BASE | {"constraints", "result", "metrics", "plots", "choosing"},
    "datasets": BASE | {"constraints", "sources"},
    "active": BASE
    | {"_kernels", "_files", "_parallel", "constraints", "result", "sources", "problem", "engines", "choosing"},
    "io": BASE | {"_files", "_lazy", "constraints", "result", "sources", "problem", "engines", "choosing", "active"},
    "experiments": BASE
    | {
        "_cores",
        "_files",
        "constraints",
        "result",
        "sources",
        "problem",
        "engines",
        "metrics",
        "datasets",
        "plots",
        "choosing",
    },
    "papers": BASE
    | {"_files", "_sparse", "constraints", "result", "sources", "problem", "engines", "metrics", "datasets", "plots"}
    | {"experiments", "active"},
    "cli": BASE
    | {
        "_cores",
        "_files",
        "_kernels",
        "_parallel",
        "constraints",
        "result",
        "problem",
        "engines",
        "metrics",
        "plots",
        "report",
        "sources",
        "datasets",
        "experiments",
        "active",
        "papers",
        "choosing",
        "io",
    },
}
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def imported(tree: ast.AST) -> list[str]:
    """Names of modules imported anywhere, except for type checkers only."""
    found: list[str] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module == "linkwise":
                found += [
                    f"linkwise.{alias.name}" if alias.name in ALLOWED else linkwise._HOME.get(alias.name, "linkwise")
                    for alias in node.names
                ]
            else:
                found.append(node.module or "")
        waiting += ast.iter_child_nodes(node)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_point_one_way(path):
    home = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for name in imported(ast.parse(path.read_text(encoding="utf-8"))):
        parts = name.split(".")
        if parts[0] == "linkwise" and len(parts) > 1 and parts[1] != home:
            assert parts[1] in ALLOWED[home], f"{home} must not import {name}"


def names_in(path: Path) -> set[str]:
    """Every name, attribute and imported module of a file, the parts of dotted ones apart."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found |= {*(node.module or "").split("."), *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {part for alias in node.names for part in alias.name.split(".")}
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
    return found


def test_only_the_module_that_narrows_indices_calls_graph_algorithms_and_solvers():
    for path in ROOT.rglob("*.py"):
        called = {"csgraph", "milp", "linprog"} & names_in(path)
        assert bool(called) == (path == ROOT / "_sparse.py"), f"{path.name} uses {called}"


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_loads_nothing_heavy():
    code = "import sys; before = set(sys.modules); import linkwise; print(*(set(sys.modules) - before))"
    loaded = set(run(code).split())
    assert not {"numba", "sklearn", "matplotlib", "scipy", "click", "rich", "pandas", "numpy"} & loaded
    assert len(loaded) < 40  # scikit-learn's clustering loads more than a thousand modules


def test_files_are_read_without_loading_any_method():
    loaded = set(run("import sys; from linkwise.io import read_data, read_knowledge; print(*sys.modules)").split())
    assert not {"sklearn", "matplotlib", "pandas", "linkwise.engines"} & loaded


def test_a_method_loads_no_others():
    loaded = set(run("import sys; from linkwise import ConstrainedAgglomerative; print(*sys.modules)").split())
    assert (
        not {"sklearn.cluster", "matplotlib", "linkwise.engines.partitional._cop_kmeans", "linkwise.choosing"} & loaded
    )


def test_names_that_are_nowhere_are_refused():
    import linkwise.engines

    with pytest.raises(AttributeError, match=r"module 'linkwise.engines' has no attribute 'nothing'"):
        linkwise.engines.nothing  # noqa: B018
    assert linkwise.engines.spectral.__name__ == "linkwise.engines.spectral"
    assert "ReCon" in dir(linkwise.engines)


def test_the_command_line_helps_without_loading_anything_heavy():
    code = (
        "import sys; from linkwise.cli import main; from linkwise.cli._main import commands; main(['--help']); "
        "[main([verb, '--help']) for verb in commands.commands]; print(*sys.modules)"
    )
    loaded = set(run(code).split())
    assert not {"numba", "sklearn", "matplotlib", "scipy", "numpy", "rich"} & loaded


def loads(code: str) -> int:
    """How many modules some code loads."""
    return int(run(f"import sys; before = len(sys.modules)\n{code}\nprint(len(sys.modules) - before)").split()[-1])


def test_importing_loads_less_than_a_tenth_of_what_scikit_learns_clustering_does():
    assert loads("import linkwise") < loads("import sklearn.cluster") / 10


def test_help_loads_little():
    assert loads("from linkwise.cli import main; main(['--help'])") < 250  # 140
