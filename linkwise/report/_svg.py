"""The dendrogram and the map as SVG text, without a library."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from linkwise.constraints import Kind
from linkwise.plots import Sketch, cluster_color, draw_lines, text_on
from linkwise.report._facts import Facts, Map
from linkwise.report._sentences import safe

WIDTH, LEFT, RIGHT = 1000, 46, 6
_TREE, _TOP = 330, 14
_STRIP, _GAP = 12, 5
_ARC_DEPTH = 92
_MAX_NAMES = 80
_NAME = 13  # height of the name of a node
_CLASS = {Kind.MUST_LINK: "together", Kind.CANNOT_LINK: "apart", Kind.TRIPLET: "closer"}


def tree_svg(facts: Facts) -> str:
    """Draw the tree, the cut, the clusters as a colored ground and the statements as arcs below it."""
    sketch = facts.sketch
    if sketch is None:
        return ""
    step = (WIDTH - LEFT - RIGHT) / max(sketch.n_leaves, 1)
    floor = _TOP + _TREE
    ground = floor + _GAP
    arc_line = ground + _STRIP + 6
    below = arc_line + (_deepest(facts, sketch) + 8 if facts.arcs else 0)
    named = 0 < len(facts.names) <= _MAX_NAMES
    height = below + (92 if named else 4)
    opening = (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="Dendrogram of {sketch.n_leaves} samples" '
        f'data-left="{LEFT}" data-step="{step:.6f}" data-floor="{floor}">'
    )
    parts = [
        opening,
        _axis(sketch, floor),
        _branches(sketch, step, floor),
        _cut(sketch, step, floor),
        _node_names(facts, sketch, step, floor),
        _strip(sketch, step, ground, facts.cluster_names),
        *_arcs(facts, sketch, step, arc_line),
        _leaf_names(facts, step, below + 4) if named else "",
        '<g class="pins"></g></svg>',
    ]
    return "\n".join(part for part in parts if part)


def before_svg(facts: Facts) -> str:
    """Draw the tree without constraints in the same way, without names."""
    found = facts.comparison
    if found is None or found.sketch is None:
        return ""
    return tree_svg(replace(facts, sketch=found.sketch, arcs=found.arcs, names=(), node_names=()))


def _y(height: float, top: float, floor: float) -> float:
    return floor - height / top * _TREE / 1.04


def _ticks(top: float) -> list[float]:
    rough = top / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
    return [i * step for i in range(int(top / step + 1e-9) + 1)]


def _axis(sketch: Sketch, floor: float) -> str:
    parts, top = ['<g class="axis">'], sketch.top
    for tick in _ticks(top):
        y = _y(tick, top, floor)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/><text x="{LEFT - 8}" y="{y + 4:.1f}">{tick:g}</text>')
    return "".join(parts) + "</g>"


def _branches(sketch: Sketch, step: float, floor: float) -> str:
    lines = draw_lines(sketch, pixels=(2 * WIDTH, 2 * _TREE))
    x = np.round(LEFT + lines.ends[:, :, 0] * step, 1).tolist()
    y = np.round(floor - lines.ends[:, :, 1] / sketch.top * _TREE / 1.04, 1).tolist()
    pieces: dict[int, list[str]] = {}
    for (x0, x1), (y0, y1), cluster in zip(x, y, lines.cluster.tolist(), strict=True):
        move = f"M{x0:g} {y0:g}" + (f"V{y1:g}" if x0 == x1 else f"H{x1:g}")
        pieces.setdefault(cluster, []).append(move)
    thin = ' class="thin"' if sketch.n_leaves > 400 else ""
    parts = []
    for cluster in sorted(pieces):
        color = "" if cluster < 0 else f' style="stroke:{cluster_color(cluster)}" data-cluster="{cluster}"'
        parts.append(f'<path d="{"".join(pieces[cluster])}"{color}/>')
    return f'<g class="branches"><g{thin}>' + "".join(parts) + "</g></g>"


def _cut(sketch: Sketch, step: float, floor: float) -> str:
    height = sketch.cut_height
    if height is not None:
        y = _y(height, sketch.top, floor)
        return f'<path class="cut" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
    tops = sketch.home_tops
    if (sketch.parent[tops] < 0).all() or len(tops) > 400:
        return ""
    caps, highest = [], sketch.top
    for top in tops.tolist():
        reach = min(max(0.25 * float(sketch.width[top]) * step, 3.0), 14.0)
        x, y = LEFT + float(sketch.x[top]) * step, _y(float(sketch.height[top]), highest, floor) - 3
        style = f"stroke:{cluster_color(int(sketch.cluster[top]))}"
        caps.append(f'<path style="{style}" d="M{x - reach:.1f} {y:.1f}H{x + reach:.1f}"/>')
    return '<g class="caps">' + "".join(caps) + "</g>"


def _node_names(facts: Facts, sketch: Sketch, step: float, floor: float) -> str:
    """Write names of inner nodes beside their stems, those of large branches first, where nothing else stands."""
    names = dict(facts.node_names)
    if not names:
        return ""
    inner = [v for v in range(sketch.n_leaves, len(sketch.node)) if int(sketch.node[v]) in names]
    taken: list[tuple[float, float, float]] = []
    parts = []
    for v in sorted(inner, key=lambda v: -int(sketch.size[v]))[:_MAX_NAMES]:
        name = names[int(sketch.node[v])]
        short = name if len(name) <= 24 else name[:23] + "…"
        x, y = LEFT + float(sketch.x[v]) * step + 4, _y(float(sketch.height[v]), sketch.top, floor) - 3
        end = x + 6.5 * len(short) + 6
        near = any(abs(y - other) < _NAME and x < stop and end > start for start, stop, other in taken)
        if near or end > WIDTH or y > floor - _NAME:  # among the leaves no name can be read
            continue
        taken.append((x, end, y))
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}">{safe(short)}<title>{safe(name)}</title></text>')
    return f'<g class="nodes">{"".join(parts)}</g>'


def _strip(sketch: Sketch, step: float, ground: float, names: dict[int, str]) -> str:
    parts = ['<g class="strip">']
    for start, stop, label, at_home in sketch.ground(2 * WIDTH):
        x, width = LEFT + start * step, (stop - start) * step
        what = f"cluster {label}" + (f", {names[label]}" if label in names else "")
        what += "" if at_home else ", outside its branch"
        number = str(label) if at_home else f"→ {label}"
        parts.append(
            f'<rect x="{x:.1f}" y="{ground}" width="{width:.1f}" height="{_STRIP}" fill="{cluster_color(label)}" '
            f'data-cluster="{label}"><title>{safe(what)}</title></rect>'
        )
        if not at_home:
            lines = "".join(f"M{x + at:.1f} {ground + _STRIP}l4 -{_STRIP}" for at in np.arange(0.0, width - 4, 5.0))
            parts.append(f'<path class="outside" d="{lines}"/>')
        if width > (18 if at_home else 30):
            ink = text_on(cluster_color(label))
            if at_home and label in names and 6.5 * (len(names[label]) + 4) < width:
                number += f"  {names[label]}"
            parts.append(
                f'<text x="{x + width / 2:.1f}" y="{ground + _STRIP - 2.5}" style="fill:{ink}">{safe(number)}</text>'
            )
    return "".join(parts) + "</g>"


def _depth(sketch: Sketch, span: float) -> float:
    return _ARC_DEPTH * math.sqrt(max(span, 0.2) / max(sketch.n_leaves, 1))


def _deepest(facts: Facts, sketch: Sketch) -> float:
    """Return the depth of the deepest arc; names are written directly below it."""
    spans = [abs(pair[1] - pair[0]) for _, _, slots in facts.arcs for pair in slots]
    return _depth(sketch, max(spans, default=0.0))


def _arcs(facts: Facts, sketch: Sketch, step: float, line: float) -> list[str]:
    parts = []
    for kind, held, slots in facts.arcs:
        ends = np.sort(slots, axis=1) + 0.5
        moves = []
        for first, second in ends.tolist():
            x0, x1 = LEFT + first * step, LEFT + second * step
            depth = _depth(sketch, second - first)
            moves.append(f"M{x0:.1f} {line}A{max((x1 - x0) / 2, 0.1):.1f} {depth:.1f} 0 0 0 {x1:.1f} {line}")
        dots = "".join(f"M{LEFT + slot * step:.1f} {line}h0" for slot in np.unique(ends).tolist())
        name = _CLASS[kind] + ("" if held else " broken")
        parts.append(f'<g class="{name}"><path d="{"".join(moves)}"/><path class="dots" d="{dots}"/></g>')
    return parts


def _leaf_names(facts: Facts, step: float, y: float) -> str:
    parts = ['<g class="leaves">']
    for slot, name in enumerate(facts.names):
        x = LEFT + (slot + 0.5) * step
        shown = safe(name if len(name) <= 14 else name[:13] + "…")
        parts.append(
            f'<text transform="translate({x + 3:.1f} {y:.1f}) rotate(90)">{shown}<title>{safe(name)}</title></text>'
        )
    return "".join(parts) + "</g>"


def map_svg(found: Map) -> str:
    """Draw the samples in the plane: one path of dots per cluster, its number in the middle."""
    width, height, edge = 1000, 560, 34
    low, high = found.points.min(axis=0), found.points.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    x = np.round(edge + (found.points[:, 0] - low[0]) / span[0] * (width - 2 * edge), 1)
    y = np.round(height - edge - (found.points[:, 1] - low[1]) / span[1] * (height - 2 * edge), 1)
    size = float(np.clip(120 / math.sqrt(max(len(x), 1)), 2.5, 8.0))
    dots, numbers = [], []
    kinds, counts = np.unique(found.labels, return_counts=True)
    for label in kinds[np.argsort(-counts, kind="stable")].tolist():  # small clusters on top
        mine = found.labels == label
        moves = "".join(f"M{a:g} {b:g}h0" for a, b in zip(x[mine].tolist(), y[mine].tolist(), strict=True))
        dots.append(f'<path data-cluster="{label}" style="stroke:{cluster_color(label)}" d="{moves}"/>')
        if mine.sum() >= 5 and len(kinds) <= 40:
            numbers.append((float(np.median(x[mine])), float(np.median(y[mine])), label))
    kept: list[tuple[float, float, int]] = []
    for one in numbers:
        if all(abs(one[0] - other[0]) > 22 or abs(one[1] - other[1]) > 18 for other in kept):
            kept.append(one)
    texts = "".join(f'<text x="{a:.1f}" y="{b + 6:.1f}">{label}</text>' for a, b, label in kept)
    names = (
        f'<text class="name" x="{width - edge}" y="{height - 8}" text-anchor="end">{safe(found.axes[0])} →</text>'
        f'<text class="name top" x="{edge}" y="7">↑ {safe(found.axes[1])}</text>'
    )
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Map of {len(x)} samples">'
        f'<g class="dots" style="stroke-width:{size:.1f}">{"".join(dots)}</g>'
        f'<g class="numbers">{texts}</g>{names}</svg>'
    )
