"""The plan of the house: the order of packages and families, doors, sizes of folders, names of modules."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import linkwise
from linkwise._lazy import read_stub
from tests.meta.single_importers import REASONS

ROOT = Path(linkwise.__file__).parent
# From the ground up: a room may import rooms in lines above its own.
ORDER = [
    "",
    "_typing exceptions _messages",
    "_sparse",
    "_compat _lazy _memory _notebook _random _threads _validation _value_columns",
    "_files _data_frames",
    "_kernels",
    "constraints",
    "trees",
    "result",
    "sources",
    "problem.statements",
    "problem.triplets",
    "problem.explain",
    "problem.feasibility",
    "problem.entailment",
    "problem.repairs problem.reasons",
    "problem",
    "engines.distances",
    "engines.assignment engines.agglomeration",
    "engines",
    "engines.partitional engines.mixture",
    "engines.hierarchical",
    "engines.graph engines.metric",
    "engines.consensus",
    "metrics datasets plots",
    "selection active report scale",
    "io",
    "app",
    "cli",
    "__main__",
    "",
]
RANK = {room: rank for rank, line in enumerate(ORDER) for room in line.split()}
# Modules of these names may stand in several packages: each holds that part of its own package.
SHARED_NAMES = {"__init__", "_base", "_estimator", "_kernels"}
MOST_MODULES = 20
FILES = sorted(ROOT.rglob("*.py"))
DOORS = {
    ".".join(stub.parent.relative_to(ROOT.parent).parts): read_stub(stub)[0] for stub in ROOT.rglob("__init__.pyi")
}


def room_of(module: str) -> str:
    """The package or family a module belongs to; modules of the root are rooms of their own."""
    parts = module.split(".")[1:]
    if not parts:
        return "linkwise"
    return ".".join(parts[:2]) if ".".join(parts[:2]) in RANK and parts[0] in ("problem", "engines") else parts[0]


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


def home_of(module: str, name: str) -> str:
    """The module behind a name of a door."""
    while name in DOORS.get(module, {}) and DOORS[module][name] != module:
        module = DOORS[module][name]
    return f"{module}.{name}" if (ROOT.parent.joinpath(*module.split(".")) / f"{name}.py").exists() else module


def imports(path: Path) -> list[tuple[str, str, str]]:
    """What a file imports from linkwise, but for type checkers only: the module as written, the name, and its home."""
    found, waiting = [], [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "linkwise":
            assert node.level == 0, "imports are absolute"
            found += [(node.module, alias.name, home_of(node.module, alias.name)) for alias in node.names]
        waiting += ast.iter_child_nodes(node)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_point_one_way(path):
    here = room_of(name_of(path))
    if path.name == "__init__.py":
        return  # a door: its stub names what lies behind it
    for module, name, home in imports(path):
        there = room_of(home)
        if there in (here, "linkwise"):
            continue
        assert RANK[there] < RANK[here], f"{here} must not import {name} of {home} ({module})"


def test_packages_are_entered_by_their_doors():
    """A private module is imported inside its own folder only; those of the root belong to all."""
    found = []
    for path in FILES:
        for module, name, _ in imports(path):
            folder, _, base = module.rpartition(".")
            whole = f"{module}.{name}" if (ROOT.parent.joinpath(*module.split(".")) / f"{name}.py").exists() else ""
            if whole and name.startswith("_"):
                folder, base = module, name
            home = ".".join(path.parent.relative_to(ROOT.parent).parts)
            if base.startswith("_") and folder not in ("linkwise", home) and base != "_kernels":
                found.append(f"{name_of(path)} imports {name} from {module}")
    assert found == []


def test_the_command_line_imports_no_engine():
    """It clusters through the front door; the little else it needs of engines comes through `selection`."""
    found = []
    for path in (ROOT / "cli").rglob("*.py"):
        for module, name, home in imports(path):
            through_the_door = module == "linkwise.selection"
            if not through_the_door and (module.startswith("linkwise.engines") or room_of(home).startswith("engines")):
                found.append(f"{name_of(path)} imports {name} from {module}")
    assert found == []


def test_no_folder_is_too_large():
    size = Counter(path.parent.relative_to(ROOT).as_posix() for path in FILES if path.name != "__init__.py")
    assert {folder: count for folder, count in size.items() if count > MOST_MODULES} == {}


def test_kernels_live_in_kernel_files():
    """An edit to Python code then compiles nothing again, and the kernels can be listed by walking the files."""
    found = [
        f"{name_of(path)}.{node.name}"
        for path in FILES
        if not path.name.startswith("_kernels") and path.parent != ROOT / "_kernels"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(how).split("(")[0].split(".")[-1] in ("njit", "inner") for how in node.decorator_list)
    ]
    assert found == []


def test_a_module_has_a_name_of_its_own():
    homes = defaultdict(list)
    for path in FILES:
        if path.stem not in SHARED_NAMES:
            homes[path.stem].append(path.parent.relative_to(ROOT).as_posix())
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_every_name_of_a_door_is_there():
    for door, homes in DOORS.items():
        module = __import__(door, fromlist=["__all__"])
        for name in homes:
            assert getattr(module, name) is not None


# Modules of engines that number connected components of something else than must-links.
OTHER_COMPONENTS = {
    "linkwise.engines.hierarchical.sparse._graph_merging": "clusters that share a class",
    "linkwise.engines.hierarchical.ultrametric._projection": "triplets that share a sample",
    "linkwise.engines.partitional.inference._energy": "samples tied by soft pairs",
    "linkwise.engines.mixture._wide_components": "chunklets tied by cannot-links",
    "linkwise.engines.mixture._exact": "chunklets tied by statements",
    "linkwise.engines.metric._pairs_and_comparisons": "closure of evidence: a metric learner contracts nothing",
    "linkwise.engines.metric._rca": "chunklets at a level of weight",
}


def test_only_problems_contract_must_links():
    """Engines get groups from `Problem`; those that number other components are listed with the reason."""
    found = set()
    for path in (ROOT / "engines").rglob("*.py"):
        if any(name == "components" for _, name, _ in imports(path)):
            found.add(name_of(path))
    assert found == set(OTHER_COMPONENTS)


def test_a_private_module_has_several_importers_or_a_reason():
    """Doors count for the public names behind them: a module that users import from has its users there."""
    importers = defaultdict(set)
    for path in FILES:
        for _, _, home in imports(path):
            importers[home].add(name_of(path))
    public = {
        home_of(door, name)
        for door in ("linkwise", *(one for one in DOORS if one.count(".") == 1))
        for name in DOORS.get(door, {})
    }
    alone = {
        module
        for module, who in importers.items()
        if len(who) == 1
        and module.rpartition(".")[2].startswith("_")
        and not module.rpartition(".")[2].startswith("_kernels")
        and module not in public
    }
    assert alone ^ set(REASONS) == set()  # nor is a reason left behind
