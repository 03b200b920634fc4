"""A small picture of a tree for notebooks: its top, with wedges for branches of several samples."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from linkwise._messages import many

if TYPE_CHECKING:
    from linkwise.result._dendrogram import Dendrogram

_MOST = 60  # branches shown
_WIDTH, _HEIGHT, _EDGE = 720.0, 150.0, 6.0


def sketch(tree: Dendrogram) -> str:
    """Draw the top of a tree as SVG, and tell below what was left out."""
    roots = sorted(tree.roots.tolist(), key=lambda root: -int(tree.leaf_count[root]))[:_MOST]
    opened = _open(tree, roots)
    ends, order = _walk(tree, roots, opened)
    step = (_WIDTH - 2 * _EDGE) / max(len(ends), 1)
    top = max(float(tree.height[root]) for root in roots) or 1.0
    x = {node: _EDGE + (at + 0.5) * step for at, node in enumerate(ends)}

    def y(node: int) -> float:
        return _EDGE + (_HEIGHT - 2 * _EDGE) * (1 - float(tree.height[node]) / top)

    marked = set() if tree.marked is None else set(tree.marked.tolist())
    inside: dict[int, bool] = {}
    lines: dict[bool, list[str]] = {True: [], False: []}
    for node in order:  # children before parents
        if node in opened:
            below = [x[child] for child in tree.children(node).tolist()]
            x[node] = (min(below) + max(below)) / 2
    for node in reversed(order):  # parents before children
        parent = int(tree.parent[node])
        inside[node] = node in marked or inside.get(parent, False)
        into = lines[inside[node]]
        if node in opened:
            below = [x[child] for child in tree.children(node).tolist()]
            into.append(f"M{min(below):.1f} {y(node):.1f}H{max(below):.1f}")
        elif tree.leaf_count[node] > 1:
            at, foot, wide = x[node], _HEIGHT - _EDGE, 0.36 * step
            into.append(f"M{at - wide:.1f} {foot:.1f}L{at:.1f} {y(node):.1f}L{at + wide:.1f} {foot:.1f}Z")
        if parent in opened:
            lines[inside[parent]].append(f"M{x[node]:.1f} {y(node):.1f}V{y(parent):.1f}")
    paths = "".join(
        f'<path d="{"".join(drawn)}" fill="none" stroke="var(--{"accent" if within else "branch"})"/>'
        for within, drawn in lines.items()
        if drawn
    )
    label = f"{type(tree).__name__} of {many(tree.n_samples, 'sample')}"
    picture = f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" aria-label="{label}">{paths}</svg>'
    return f"{picture}<p>{_told(tree, ends, len(roots))}</p>"


def _open(tree: Dendrogram, roots: list[int]) -> set[int]:
    """The nodes whose children are shown: the highest ones, as long as there is room."""
    waiting = [(-float(tree.height[root]), root) for root in roots if tree.leaf_count[root] > 1]
    heapq.heapify(waiting)
    shown, opened = len(roots), set[int]()
    while waiting:
        _, node = heapq.heappop(waiting)
        children = tree.children(node).tolist()
        if shown + len(children) - 1 > _MOST:
            continue
        shown += len(children) - 1
        opened.add(node)
        for child in children:
            if tree.leaf_count[child] > 1:
                heapq.heappush(waiting, (-float(tree.height[child]), child))
    return opened


def _walk(tree: Dendrogram, roots: list[int], opened: set[int]) -> tuple[list[int], list[int]]:
    """The branches that are not opened from left to right, and all nodes shown, children before parents."""
    ends, order, stack = [], [], roots[::-1]
    while stack:
        node = stack.pop()
        order.append(node)
        if node in opened:
            stack += tree.children(node).tolist()[::-1]
        else:
            ends.append(node)
    return ends, order[::-1]


def _told(tree: Dendrogram, ends: list[int], n_roots: int) -> str:
    several = [node for node in ends if tree.leaf_count[node] > 1]
    parts = []
    if several:
        held = int(tree.leaf_count[several].sum())
        parts.append(f"{many(len(several), 'wedge')}: {many(held, 'sample')} further down")
    if tree.marked is not None:
        parts.append("colored: the marked clusters")
    if tree.n_roots > n_roots:
        parts.append(f"{many(tree.n_roots - n_roots, 'smaller tree')} not shown")
    return "; ".join(parts)
