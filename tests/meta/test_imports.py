"""Importing the library is nearly free, and a method loads what it needs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import linkwise

ROOT = Path(linkwise.__file__).parent


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
    assert not {"dask", "distributed", "pyarrow"} & loaded
    assert len(loaded) < 40  # scikit-learn's clustering loads more than a thousand modules


def test_runs_over_blocks_load_dask_only_when_it_is_used():
    loaded = set(run("import sys; from linkwise.scale import cluster; print(*sys.modules)").split())
    assert not {"dask", "distributed", "pyarrow", "pandas"} & loaded


def test_files_are_read_without_loading_any_method():
    loaded = set(run("import sys; from linkwise.io import read_data, read_knowledge; print(*sys.modules)").split())
    assert not {"sklearn", "matplotlib", "pandas", "linkwise.engines"} & loaded


def test_a_method_loads_no_others():
    loaded = set(run("import sys; from linkwise import ConstrainedAgglomerative; print(*sys.modules)").split())
    assert (
        not {"sklearn.cluster", "matplotlib", "linkwise.engines.partitional._cop_kmeans", "linkwise.selection"} & loaded
    )


def test_names_that_are_nowhere_are_refused():
    import linkwise.engines

    with pytest.raises(AttributeError, match=r"module 'linkwise.engines' has no attribute 'nothing'"):
        linkwise.engines.nothing  # noqa: B018
    assert linkwise.engines.graph.__name__ == "linkwise.engines.graph"
    assert "ReCon" in dir(linkwise.engines)


def test_the_command_line_helps_without_loading_anything_heavy():
    code = (
        "import sys; from linkwise.cli import main; from linkwise.cli._main import commands; main(['--help']); "
        "[main([verb, '--help']) for verb in commands.commands]; print(*sys.modules)"
    )
    loaded = set(run(code).split())
    assert not {"numba", "sklearn", "matplotlib", "scipy", "numpy", "rich"} & loaded


def test_a_few_statements_are_checked_without_loading_numba_or_scipy(tmp_path):
    """Loading them takes longer than the work."""
    (tmp_path / "said.csv").write_text(
        "kind,a,b\nmust_link,a,b\nmust_link,b,c\nmust_link,d,e\ncannot_link,a,d\ncannot_link,b,f\n"
    )
    code = f"from linkwise.cli import main; assert main(['check', {str(tmp_path / 'said.csv')!r}]) == 0"
    loaded = set(run(f"import sys; {code}; print(*sys.modules)").split())
    assert not {"numba", "llvmlite", "scipy", "sklearn", "matplotlib", "rich", "narwhals"} & loaded
    assert loads(code) < 400  # 341


def loads(code: str) -> int:
    """How many modules some code loads."""
    return int(run(f"import sys; before = len(sys.modules)\n{code}\nprint(len(sys.modules) - before)").split()[-1])


def test_importing_loads_less_than_a_tenth_of_what_scikit_learns_clustering_does():
    assert loads("import linkwise") < loads("import sklearn.cluster") / 10


def test_help_loads_little():
    assert loads("from linkwise.cli import main; main(['--help'])") < 250  # 140
