"""The words of messages, docstrings and identifiers: plain English prose, American names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import linkwise

ROOT = Path(linkwise.__file__).parent
ROOMS = [folder.name for folder in sorted(ROOT.iterdir()) if (folder / "__init__.py").exists()]
FILES = {
    "root": sorted(ROOT.glob("*.py")),
    **{
        room: [path for path in sorted((ROOT / room).rglob("*.py")) if not path.stem.startswith("_kernels")]
        for room in ROOMS
    },
}
HABITS = {
    "is not a X": r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer|more|less|better|worse|larger|close|farther|high)",
    "the name of the thing": r"\b[Nn]othing was said|\bwhat (?:was|is|were|are) (?:said|known|told|asked|to be)\b",
    "the passive": r"\b(?:nobody|somebody|anybody|everybody|whom)\b|\b(?:is|are|was|were) told\b",
    "are about": r"\bspeaks? (?:about|of)\b",
    "a modern adverb": r"\b(?:anew|so many|hence|thus|whence|now and then|at hand|at least cost)\b",
}
OPENING = r"(?:What|How|Where|Who|Whom|Whose|Which|When|Why)\b"
BRITISH = (
    r"neighbour|centre|colour|behaviour|favour|labell(?:ed|ing)|(?:normal|optim|minim|maxim|penal|initial)is(?:e|ing)"
)
SPEAKING = {"warn", "warn_user", "notice", "fail", "echo"}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def words_of(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The text constants below a node, the fixed parts of an f-string as one."""
    if isinstance(node, ast.JoinedStr):
        yield node.lineno, "".join(part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from words_of(child)


def is_message(node: ast.AST) -> bool:
    """Whether a node raises, warns, notifies or assigns a message or a hint."""
    if isinstance(node, ast.Call):
        function = node.func
        return getattr(function, "attr", getattr(function, "id", "")) in SPEAKING
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(isinstance(target, ast.Name) and target.id in ("msg", "hint") for target in targets)
    return isinstance(node, ast.Raise)


def texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Messages, and the first lines of docstrings of modules and of public classes and functions."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            if not getattr(node, "name", "").startswith("_"):
                yield node.body[0].lineno if node.body else 1, (ast.get_docstring(node) or "").split("\n")[0]
        elif is_message(node):
            yield from words_of(node)


@pytest.mark.parametrize("room", FILES)
@pytest.mark.parametrize("instead", HABITS)
def test_messages_and_first_lines_are_plain_english(room, instead):
    hits = [
        f"{path.relative_to(ROOT.parent)}:{line}: say {instead}: {text}"
        for path in FILES[room]
        for line, text in texts(parsed(path))
        if re.search(HABITS[instead], text)
    ]
    assert hits == []


def explanations(path: Path) -> Iterator[tuple[int, str]]:
    """Comments, runs of lines as one, and docstrings of all kinds, on one line each."""
    text = path.read_text(encoding="utf-8")
    for comment in re.finditer(r"(?:(?:^|(?<=  ))# .*\n(?: *(?=# ))?)+", text, re.MULTILINE):
        yield text.count("\n", 0, comment.start()) + 1, " ".join(comment[0].replace("# ", "").split())
    for node in ast.walk(parsed(path)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (words := ast.get_docstring(node)):
            yield node.body[0].lineno, " ".join(words.split())


def test_comments_and_docstrings_are_plain_english():
    hits = [
        f"{path.relative_to(ROOT.parent)}:{line}: say {instead}: {text[max(found.start() - 30, 0) : found.end() + 30]}"
        for path in sorted(ROOT.rglob("*.py"))
        for line, text in explanations(path)
        for instead, habit in HABITS.items()
        if (found := re.search(habit, text))
    ]
    assert hits == []


@pytest.mark.parametrize("room", FILES)
def test_docstrings_of_modules_name_the_thing_they_hold(room):
    modules = {path: ast.get_docstring(parsed(path)) or "" for path in FILES[room]}
    assert [f"{path}: {text}" for path, text in modules.items() if re.match(OPENING, text)] == []


PAGES = [
    path
    for path in [ROOT.parent / "README.md", *sorted((ROOT.parent / "docs").glob("*.md"))]
    if path.stem not in ("errata", "papers", "reproduced")  # titles and words of papers
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_are_plain_english(page):
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert [line for habit in HABITS.values() for line in prose.splitlines() if re.search(habit, line)] == []


def identifiers(tree: ast.Module) -> Iterator[str]:
    """Names that a module defines, and the arguments it passes by keyword."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.name
        elif isinstance(node, (ast.arg, ast.keyword)):
            yield node.arg or ""
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_identifiers_are_spelled_as_in_scikit_learn(path):
    names = {path.stem, *identifiers(parsed(path))}
    assert {name for name in names if re.search(BRITISH, name, re.IGNORECASE)} == set()
