"""Formats of trees: SciPy linkage, scikit-learn children, JSON, nested dictionaries, networkx graphs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._files import parse_json
from linkwise._messages import hint
from linkwise._typing import FloatArray, IntArray
from linkwise._value_columns import first_repeat
from linkwise.exceptions import LinkwiseError
from linkwise.trees._assemble import Assembled, assemble
from linkwise.trees._kernels import _linkage_rows

if TYPE_CHECKING:
    from linkwise.trees._parent_array import Tree


FORMAT = "linkwise.dendrogram/1"


def merges_of_linkage(Z: Any) -> tuple[int, FloatArray, FloatArray]:
    """Take a SciPy linkage apart into the number of samples, merges and heights; counts are checked."""
    try:
        table = np.asarray(Z, dtype=np.float64)
    except (TypeError, ValueError) as bad:
        msg = "from_linkage: Z does not hold numbers, expected a SciPy linkage matrix."
        raise LinkwiseError(msg) from bad
    if table.ndim != 2 or table.shape[1] != 4:
        msg = f"from_linkage: Z has shape {table.shape}, expected (n_samples - 1, 4) as SciPy's `linkage` returns."
        raise LinkwiseError(msg)
    return len(table) + 1, table[:, :2], table[:, 2]


def check_counts(tree: Tree, count: Any) -> None:
    """Refuse a linkage whose fourth column contradicts its merges."""
    wrong = np.flatnonzero(np.asarray(count, dtype=np.float64) != tree.leaf_count[tree.n_samples :])
    if len(wrong):
        t = int(wrong[0])
        msg = (
            f"from_linkage: row {t} of Z counts {count[t]:g} samples, but its merges hold "
            f"{tree.leaf_count[tree.n_samples + t]}.\nHint: is Z sorted or cut off? Rows must stay in merge order."
        )
        raise LinkwiseError(msg)


def write_linkage(tree: Tree, binary: bool) -> FloatArray:
    """Write the monotone heights as a SciPy linkage, rows by height."""
    if not tree.is_tree:
        msg = (
            f"to_linkage: the forest has {tree.n_roots} roots, but a linkage matrix holds one tree.\n"
            "Hint: `to_linkage(join=True)` joins the roots above the highest merge; `to_json`, `to_newick` and "
            "`to_networkx` keep forests."
        )
        raise LinkwiseError(msg)
    fan = np.diff(tree.child_start)
    fan[tree.joins] = 0  # joins are not merges, so no order of merges is lost
    wide = -1 if binary else int(np.argmax(fan))
    if wide >= 0 and fan[wide] > 2:
        way = hint(
            command="write .nwk or .json instead.",
            python="`to_linkage(binary=True)` splits such nodes into merges at equal height.",
        )
        msg = (
            f"to_linkage: node {wide} has {len(tree.children(wide))} children, but a linkage joins two at a time.\n"
            f"Hint: {way}"
        )
        raise LinkwiseError(msg)
    n = tree.n_samples
    order = n + np.argsort(tree.height[n:], kind="stable")
    return _linkage_rows(n, order, tree.child_start, tree.child, tree.height, tree.leaf_count)  # type: ignore[no-any-return]


def write_children(tree: Tree) -> IntArray:
    """Write scikit-learn's ``children_``: row t holds the two children of node n + t."""
    if not tree.is_binary:
        msg = (
            "to_children: the tree has many-way nodes, but scikit-learn's `children_` joins two at a time.\n"
            "Hint: `Dendrogram.from_linkage(tree.to_linkage(binary=True)).to_children()`."
        )
        raise LinkwiseError(msg)
    return tree.child.reshape(-1, 2).copy()


# -- JSON --------------------------------------------------------------------------------------------------------------


def write_json(tree: Tree) -> str:
    """Write the arrays of a tree under a versioned header."""
    document = {
        "format": FORMAT,
        "n_samples": tree.n_samples,
        "parent": tree.parent.tolist(),
        "raw_height": tree.raw_height.tolist(),
        "marked": None if tree.marked is None else tree.marked.tolist(),
        "ids": None if tree.ids is None else tree.ids.tolist(),
    }
    if tree.is_joined:
        document["joins"] = tree.joins.tolist()
    try:
        return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as bad:
        msg = f"to_json: the ids cannot be written as JSON ({bad}).\nHint: use text or numbers as ids."
        raise LinkwiseError(msg) from bad


def read_json(text: Any) -> dict[str, Any]:
    """Read a document of `write_json`; refuse other documents and versions."""
    if not isinstance(text, (str, bytes, bytearray)):
        msg = f"from_json got {type(text).__name__}, expected text.\nHint: `Dendrogram.from_json(path.read_text())`."
        raise LinkwiseError(msg)
    try:
        document = parse_json(bytes(text) if isinstance(text, bytearray) else text)
    except ValueError as bad:
        msg = f"from_json: the text is not valid JSON ({bad}).\nHint: write it with `to_json`."
        raise LinkwiseError(msg) from bad
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        found = document.get("format") if isinstance(document, dict) else type(document).__name__
        msg = f"from_json: the document is {found!r}, expected the format {FORMAT!r} that `to_json` writes."
        raise LinkwiseError(msg)
    keys = {"format", "n_samples", "parent", "raw_height", "marked", "ids"}
    if set(document) - {"joins"} != keys:
        odd = min((set(document) - {"joins"}) ^ keys)
        msg = f"from_json: the key {odd!r} is {'missing' if odd in keys else 'unknown'}, expected {sorted(keys)}."
        raise LinkwiseError(msg)
    for key in ("parent", "raw_height", "marked", "ids", "joins"):
        value = document.get(key, [])
        if not isinstance(value, list) and not (value is None and key in ("marked", "ids")):
            msg = f"from_json: {key!r} is {type(value).__name__}, expected a list."
            raise LinkwiseError(msg)
    return document


# -- nested dictionaries and graphs ------------------------------------------------------------------------------------


def _node_facts(tree: Tree) -> list[dict[str, Any]]:
    """Return a dictionary per node: name of a sample, height, raw height where it differs, mark."""
    facts: list[dict[str, Any]] = [{} for _ in range(tree.n_nodes)]
    names = list(range(tree.n_samples)) if tree.ids is None else tree.ids.tolist()
    for fact, name in zip(facts, names, strict=False):
        fact["name"] = name
    for fact, high, raw in zip(facts, tree.height.tolist(), tree.raw_height.tolist(), strict=True):
        fact["height"] = high
        if raw != high:
            fact["raw_height"] = raw
    for node in () if tree.marked is None else tree.marked.tolist():
        facts[node]["marked"] = True
    for node in tree.joins.tolist():
        facts[node]["join"] = True
    return facts


def write_nested(tree: Tree) -> Any:
    """Write one dictionary per node, children inside; a list of dictionaries for a forest."""
    facts = _node_facts(tree)
    for v, above in enumerate(tree.parent.tolist()):
        if above >= 0:
            facts[above].setdefault("children", []).append(facts[v])
    trees = [facts[root] for root in tree.roots.tolist()]
    return trees[0] if tree.is_tree else trees


def nodes_of_nested(nested: Any, ids: Any) -> tuple[Assembled, list[int] | None, list[int]]:
    """Read nested dictionaries into arrays, and the marked nodes and joins."""
    todo: list[tuple[Any, int]] = [(one, -1) for one in reversed(nested if isinstance(nested, list) else [nested])]
    above: list[int] = []
    facts: list[dict[str, Any]] = []
    leaf: list[bool] = []
    open_nodes: set[int] = set()
    while todo:
        fact, up = todo.pop()
        if not isinstance(fact, dict):
            msg = f"from_nested found {type(fact).__name__}, expected a dictionary for every node."
            raise LinkwiseError(msg)
        if id(fact) in open_nodes:
            msg = "from_nested: one dictionary appears twice in the tree, expected a separate one for every node."
            raise LinkwiseError(msg)
        open_nodes.add(id(fact))
        below = fact.get("children") or []
        if not isinstance(below, (list, tuple)):
            msg = f"from_nested: 'children' is {type(below).__name__}, expected a list of dictionaries."
            raise LinkwiseError(msg)
        todo.extend((one, len(above)) for one in reversed(below))
        above.append(up)
        facts.append(fact)
        leaf.append(not below)
    return _from_facts("from_nested", above, leaf, facts, ids)


def _from_facts(
    who: str, above: list[int], leaf: list[bool], facts: list[dict[str, Any]], ids: Any
) -> tuple[Assembled, list[int] | None, list[int]]:
    names = [fact.get("name") for fact in facts]
    called = [name for name, is_leaf in zip(names, leaf, strict=True) if is_leaf]
    if None in called or "" in called:
        msg = f"{who}: a leaf has no 'name', expected one for every leaf."
        raise LinkwiseError(msg)
    if not called:
        msg = f"{who} got no nodes, expected a tree."
        raise LinkwiseError(msg)
    odd = next((name for name in called if not isinstance(name, (str, int, float, np.generic))), None)
    if odd is not None:
        msg = f"{who}: a leaf has the name {odd!r}, expected text or a number."
        raise LinkwiseError(msg)
    twice = first_repeat(map(str, called))
    if twice is not None:
        msg = f"{who}: the leaf name {twice!r} appears twice, expected unique names."
        raise LinkwiseError(msg)
    heights = [fact.get("raw_height", fact.get("height")) for fact in facts]
    inner = [h for h, is_leaf in zip(heights, leaf, strict=True) if not is_leaf]
    known = (
        None
        if inner and all(h is None for h in inner)
        else [_height(who, h, ok) for h, ok in zip(heights, leaf, strict=True)]
    )
    made = assemble(above, leaf, names, known, ids)
    marks = [int(made.number[v]) for v, fact in enumerate(facts) if fact.get("marked")]
    return made, marks or None, made.numbers([v for v, fact in enumerate(facts) if fact.get("join")])


def _height(who: str, value: Any, is_leaf: bool) -> float:
    if value is None and is_leaf:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        msg = f"{who}: a node has the height {value!r}, expected a number for every inner node, or for none."
        raise LinkwiseError(msg)
    return float(value)


def write_graph(tree: Tree) -> Any:
    """Write a networkx DiGraph with edges from parents to children."""
    import networkx as nx

    graph = nx.DiGraph(n_samples=tree.n_samples)
    graph.add_nodes_from(enumerate(_node_facts(tree)))
    child = np.flatnonzero(tree.parent >= 0)
    graph.add_edges_from(zip(tree.parent[child].tolist(), child.tolist(), strict=True))
    return graph


def nodes_of_graph(graph: Any, ids: Any) -> tuple[Assembled, list[int] | None, list[int]]:
    """Read a directed forest into arrays; a node's name is its 'name' attribute or the node itself."""
    if not getattr(graph, "is_directed", lambda: False)():
        msg = f"from_networkx got {type(graph).__name__}, expected a networkx DiGraph, edges from parents to children."
        raise LinkwiseError(msg)
    for node, degree in graph.in_degree():
        if degree > 1:
            msg = f"from_networkx: node {node!r} has {degree} parents, expected at most one."
            raise LinkwiseError(msg)
    place: dict[Any, int] = {}
    above: list[int] = []
    todo: list[tuple[Any, int]] = [(node, -1) for node, degree in graph.in_degree() if degree == 0][::-1]
    while todo:
        node, up = todo.pop()
        place[node] = len(above)
        todo.extend((below, len(above)) for below in reversed(list(graph.successors(node))))
        above.append(up)
    if len(place) < graph.number_of_nodes():
        stray = next(node for node in graph if node not in place)
        msg = f"from_networkx: node {stray!r} lies on a cycle, expected a tree or a forest."
        raise LinkwiseError(msg)
    leaf = [graph.out_degree(node) == 0 for node in place]
    facts = [{"name": node, **graph.nodes[node]} for node in place]
    return _from_facts("from_networkx", above, leaf, facts, ids)
