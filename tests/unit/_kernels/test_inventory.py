from __future__ import annotations

import ast
from pathlib import Path

import linkwise
from linkwise._kernels import lca
from linkwise._kernels.inventory import kernels, with_callees

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


def test_the_kernels_that_a_kernel_calls_are_known():
    assert {"_kernels.lca.query_many", "_kernels.lca.query"} <= with_callees([lca.query_many])
