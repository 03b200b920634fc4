"""The recipe of a result: lines of Python, and a command, that repeat the run of ``linkwise cluster``."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwise.cli._options import reading_of

if TYPE_CHECKING:
    from linkwise.selection import Clustering

_OPTIONS = {
    "n_clusters": "-k",
    "distance_threshold": "--height",
    "method": "--method",
    "linkage": "--linkage",
    "min_cluster_size": "--min-cluster-size",
}


def recipe(data: str, files: Sequence[str], options: dict[str, Any], found: Clustering) -> str:
    """Python, and after it a command, that read the same files and run the same method with the same parameters."""
    from linkwise.selection import arguments_of

    reading = {key: value for key, value in reading_of(options).items() if value}
    arguments = arguments_of(found)
    lines = ["import linkwise as lw", "", f"table = lw.read_data({data!r}{_listed(reading)})"]
    said = ""
    if files:
        lines.append(f"said = lw.read_knowledge({list(files)!r}, table)")
        said = ", said.constraints"
    lines += [f"found = lw.cluster(table.X{said}{_listed(arguments)})", "found.labels", ""]
    words = [shlex.quote(data)]
    for key, value in reading.items():
        words += [f"--{key} {shlex.quote(one)}" for one in ([value] if isinstance(value, str) else value)]
    words += [f"-c {shlex.quote(file)}" for file in files]
    for key, value in arguments.items():
        words += [f"{_OPTIONS[key]} {1 if value is None else value}"] if key in _OPTIONS else []
    settings = {key: value for key, value in arguments.items() if key == "metric"} | arguments.get("params", {})
    words += [f"--set {shlex.quote(f'{name}={_typed(value)}')}" for name, value in settings.items()]
    return "\n".join([*lines, f"# in a shell: linkwise cluster {' '.join([*words, '-o OUT'])}"])


def _listed(arguments: dict[str, Any]) -> str:
    return "".join(f", {key}={value!r}" for key, value in arguments.items())


def _typed(value: Any) -> str:
    """A value as it is typed after ``--set``; a string that would be read as something else keeps its quotes."""
    if not isinstance(value, str):
        return repr(value)
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    return repr(value)
