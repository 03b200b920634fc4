from __future__ import annotations

import ast
from pathlib import Path

import numpy as np

import linkwise
from linkwise._kernels import compiled_only, lca
from linkwise._kernels.inventory import compiled, kernels

HOME = Path(linkwise.__file__).parent


def test_the_inventory_lists_every_decorated_function_of_the_package():
    written = {
        ".".join((*file.relative_to(HOME).with_suffix("").parts, node.name))
        for file in HOME.rglob("*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(how).split("(")[0] in ("njit", "inner") for how in node.decorator_list)
    }
    assert set(kernels()) == written


def test_kernels_that_a_compiled_kernel_calls_count_as_compiled():
    with compiled_only():
        lca.query_many(lca.prepare(np.array([2, 2, -1])), np.array([0]), np.array([1]))
    assert {"_kernels.lca.query_many", "_kernels.lca.query"} <= compiled()
