"""Code in kernels that takes long to compile: each of these stands for a loop of two lines."""

from __future__ import annotations

import ast
from pathlib import Path

import linkwise

HOME = Path(linkwise.__file__).parent
# The value is one number; only arrays make Numba compile its texts for errors.
ONE_NUMBER = {("_kernels_arrangement.py", "_renew_bans")}


def kernels():
    """Every kernel: its file, and its function in the syntax tree."""
    for file in sorted(HOME.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                "njit" in ast.unparse(how) or ast.unparse(how) == "inner" for how in node.decorator_list
            ):
                yield file, node


def test_kernels_are_found():
    assert sum(1 for _ in kernels()) > 300


def test_no_kernel_assigns_an_array_to_a_slice():
    """Numba's error for shapes that do not fit takes two seconds to compile, with its words; a loop does not."""
    found = []
    for file, kernel in kernels():
        tables = tables_of(kernel)
        for node in ast.walk(kernel):
            if isinstance(node, (ast.Assign, ast.AugAssign)) and (file.name, kernel.name) not in ONE_NUMBER:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                parts = [part for target in targets for part in getattr(target, "elts", [target])]
                slices = [part for part in parts if isinstance(part, ast.Subscript) and is_stretch(part, tables)]
                if slices and not is_number(node.value):
                    found.append(f"{file.name}:{node.lineno} {ast.unparse(node)}")
    assert found == []


def test_no_kernel_lists_positions_by_numpy():
    """Each of these takes a third of a second to compile."""
    names = ("np.flatnonzero", "np.nonzero", "np.argwhere")
    found = [
        f"{file.name}:{node.lineno}"
        for file, kernel in kernels()
        for node in ast.walk(kernel)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in names
    ]
    assert found == []


def tables_of(kernel):
    """The names that the kernel reads or writes with two indices."""
    found = (node for node in ast.walk(kernel) if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple))
    return {ast.unparse(node.value) for node in found}


def is_stretch(target, tables):
    """Whether a target is a slice, or a row of a table."""
    row = ast.unparse(target.value) in tables and not isinstance(target.slice, ast.Tuple)
    return row or any(isinstance(part, ast.Slice) for part in ast.walk(target.slice))


def is_number(value):
    if isinstance(value, ast.IfExp):
        return is_number(value.body) and is_number(value.orelse)
    if isinstance(value, ast.UnaryOp):
        return is_number(value.operand)
    return isinstance(value, ast.Constant) or ast.unparse(value) == "np.inf"
