"""Comparison of a result with the result for the same data without constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Kind
from linkwise.exceptions import LinkwiseError
from linkwise.metrics import adjusted_rand
from linkwise.plots import Sketch, lay_out, match_labels
from linkwise.report._facts import Change, Comparison, Flow, Move
from linkwise.result import verify

if TYPE_CHECKING:
    from linkwise.constraints import Constraints
    from linkwise.result import Dendrogram, Outcome

_MAX_ARCS = 150
_MOVES = 60
_FLOWS = 40
_CHANGES = 60


def compare(
    before: Outcome,
    after: Outcome,
    labels: npt.NDArray[Any],
    constraints: Constraints | None,
    held: BoolArray | None,
    names: npt.NDArray[Any] | None,
    drawn: Sketch | None,
) -> Comparison:
    """Compare two results on the same samples; ``labels``, ``held`` and ``drawn`` belong to the later one."""
    if before.n_samples != len(labels):
        msg = f"report: before has {before.n_samples:,} samples, but the result has {len(labels):,}."
        raise LinkwiseError(msg)
    old = before.labels
    if old is None:
        old = before.tree.cut(n_clusters=len(np.unique(labels))) if before.tree is not None else np.zeros_like(labels)
    renamed = match_labels(old, labels)
    moved = np.flatnonzero(renamed != labels)
    named = count_statements(constraints, len(labels)) > 0
    first = moved[np.lexsort((moved, ~named[moved]))][:_MOVES]
    called = [str(s) if names is None else str(names[s]) for s in first.tolist()]
    moves = zip(called, renamed[first].tolist(), labels[first].tolist(), named[first].tolist(), strict=True)
    pairs, size = np.unique(np.column_stack([renamed, labels]), axis=0, return_counts=True)
    order = np.argsort(-size, kind="stable")[:_FLOWS]
    flows = tuple(Flow(int(pairs[i, 0]), int(pairs[i, 1]), int(size[i])) for i in order.tolist())
    sketch = None if before.tree is None else lay_out(before.tree, renamed)
    kept, total = _branches(sketch, drawn)
    earlier = None if constraints is None else _held_without(before, old, constraints)
    changes: tuple[Change, ...] = ()
    needed = np.zeros(0, dtype=np.intp)
    if constraints is not None and held is not None and earlier is not None:
        needed = np.flatnonzero(held & ~earlier)
        changes = _changes(constraints, needed[:_CHANGES], before.tree, after.tree)
    return Comparison(
        adjusted_rand=adjusted_rand(*(np.unique(some, return_inverse=True)[1].ravel() for some in (old, labels))),
        n_before=len(np.unique(old)),
        held_before=0 if earlier is None else int(earlier.sum()),
        held_after=0 if held is None else int(held.sum()),
        n_statements=0 if constraints is None else constraints.n_statements,
        n_moved=len(moved),
        moves=tuple(Move(*row) for row in moves),
        flows=flows,
        branches_kept=kept,
        n_branches=total,
        changes=changes,
        n_changes=len(needed),
        sketch=sketch,
        arcs=slots_joined(constraints, earlier, sketch),
    )


def count_statements(constraints: Constraints | None, n_samples: int) -> IntArray:
    """Count the statements that name each sample."""
    count = np.zeros(n_samples, dtype=np.intp)
    if constraints is not None:
        np.add.at(count, constraints.items[constraints.items >= 0], 1)
        np.add.at(count, constraints.groups.member, 1)
    return count


def _held_without(before: Outcome, old: npt.NDArray[Any], constraints: Constraints) -> BoolArray:
    """Return the statements that hold in the earlier result: pairs in its clusters, triplets in its tree if any."""
    held = np.array(verify(old, constraints.with_rules()).held)
    triplet = constraints.kind == Kind.TRIPLET
    if triplet.any():
        held[triplet] = False if before.tree is None else before.tree.satisfies(constraints)[triplet]
    return held


def _changes(
    constraints: Constraints, statements: IntArray, before: Dendrogram | None, after: Dendrogram | None
) -> tuple[Change, ...]:
    words, pairs = constraints.describe_each(statements), constraints.items[statements, :2]
    kinds = [Kind(code) for code in constraints.kind[statements].tolist()]
    return tuple(map(Change, words, kinds, *(_meeting_heights(tree, pairs) for tree in (before, after))))


def _meeting_heights(tree: Dendrogram | None, pairs: IntArray) -> list[float | None]:
    """Return the height at which two samples meet; None where they do not, or the statement is about a group."""
    height = np.full(len(pairs), np.inf)
    named = pairs[:, 0] >= 0
    if tree is not None:
        height[named] = tree.cophenetic(*pairs[named].T)
    return [value if np.isfinite(value) else None for value in height.tolist()]


def _branches(before: Sketch | None, after: Sketch | None) -> tuple[int | None, int | None]:
    """Count the branches of one tree that are branches of the other, by random sums that equal sets share."""
    if before is None or after is None:
        return None, None
    rng = np.random.default_rng(0)
    code = rng.integers(1, 1 << 63, size=(before.n_leaves, 2), dtype=np.uint64)
    old, new = (_sums(sketch, code) for sketch in (before, after))
    kept = len(old & new)
    return kept, len(old)


def _sums(sketch: Sketch, code: npt.NDArray[np.uint64]) -> set[tuple[int, int]]:
    """Return the sum of codes for each branch with two samples or more, but not all; its leaves are neighbors."""
    total = np.zeros((sketch.n_leaves + 1, 2), dtype=np.uint64)
    np.cumsum(code[np.argsort(sketch.slot)], axis=0, out=total[1:])
    inner = sketch.n_leaves + np.flatnonzero(sketch.size[sketch.n_leaves :] < sketch.n_leaves)
    start = sketch.start[inner]
    sums = total[start + sketch.size[inner]] - total[start]
    return set(map(tuple, sums.tolist()))


def slots_joined(
    constraints: Constraints | None, held: BoolArray | None, sketch: Sketch | None
) -> tuple[tuple[Kind, bool, IntArray], ...]:
    """Return the leaves that statements join, by kind and whether they hold; empty when there are too many to draw."""
    if constraints is None or held is None or sketch is None or not 0 < constraints.n_statements <= _MAX_ARCS:
        return ()
    slots = sketch.slot[constraints.items[:, :2]]
    found = (
        (kind, keeps, slots[(constraints.kind == kind) & (held == keeps)])
        for kind in Kind
        if not kind.is_group
        for keeps in (True, False)
    )
    return tuple((kind, keeps, pairs) for kind, keeps, pairs in found if len(pairs))
