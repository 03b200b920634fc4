"""The node where two samples meet in a tree: triplets that fix it, and statements that would change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.constraints import Constraints, Kind
from linkwise.problem.reasons._forced import Knowledge, Proof
from linkwise.result import Dendrogram


@dataclass(frozen=True)
class Bound:
    """A forced fact about the meeting of two samples: a triplet with a third sample that always holds."""

    triplet: tuple[int, int, int]  # samples x, y, z; in every hierarchy x and y meet before either meets z
    text: str  # the same in words
    statements: tuple[int, ...]  # those that force it; none can be left out
    lines: tuple[str, ...]  # their wording
    held: bool  # whether the result agrees


@dataclass(frozen=True)
class Change:
    """A statement that does not hold in the result; where it holds, something about the two samples is different."""

    aim: str  # what it would bring about: "together", "apart", "closer" or "farther"
    statement: tuple[Any, ...]  # as in ("must_link", 3, 8) or ("triplet", 3, 8, 5), with sample numbers
    text: str  # the same with the samples' names
    possible: bool  # whether it can be added to all hard statements
    against: tuple[int, ...] = ()  # otherwise the statements that contradict it; none can be left out
    lines: tuple[str, ...] = ()  # their wording
    keys: tuple[int, ...] = ()  # those of the first 60 of them that each, dropped alone, make room for it


def proof_lines(said: Constraints, proof: Proof | None) -> tuple[str, ...]:
    """The statements of a proof in words."""
    return () if proof is None else said.describe_each(proof.statements)


def bounds(known: Knowledge, said: Constraints, tree: Dendrogram, a: int, b: int) -> tuple[Bound, ...]:
    """Return the tightest forced triplets with a third sample, which must join later or must have joined before."""
    found = known.resolved_with(a, b)
    if found is None:
        return ()
    third, later, with_a, with_b = found
    made = []
    if later.any():
        c = third[later]
        made.append((a, b, int(c[np.argmin(tree.cophenetic(a, c))])))
    earlier = [(x, y, third[mask]) for x, y, mask in ((a, b, with_a), (b, a, with_b)) if mask.any()]
    if earlier:
        best = [(x, int(c[np.argmax(tree.cophenetic(x, c))]), y) for x, y, c in earlier]
        made.append(max(best, key=lambda t: float(tree.cophenetic(t[0], t[1]))))
    return tuple(_bound(known, said, tree, *triplet) for triplet in made)


def _bound(known: Knowledge, said: Constraints, tree: Dendrogram, x: int, y: int, z: int) -> Bound:
    proof = known.proves(x, y, z)
    if proof is None:  # entailment and feasibility answer the same question by different code
        msg = f"why: triplet({x}, {y} | {z}) was found to be implied, but has no proof"
        raise AssertionError(msg)
    x, y = sorted((x, y), key=said.name)
    text = f"{said.name(x)} and {said.name(y)} meet before {said.name(z)} joins them"
    meets = tree.lca(x, y)
    held = bool(meets >= 0 and (tree.lca(x, z) < 0 or not tree.is_below(z, meets)))
    return Bound((x, y, z), text, proof.statements, proof_lines(said, proof), held)


def pair_changes(known: Knowledge, said: Constraints, together: bool | None, a: int, b: int) -> tuple[Change, ...]:
    """The pair that would make it otherwise; nothing for a tree without a cut."""
    if together is None:
        return ()
    aim, kind = ("apart", Kind.CANNOT_LINK) if together else ("together", Kind.MUST_LINK)
    return (_change(known, said, aim, kind, a, b),)


def _change(known: Knowledge, said: Constraints, aim: str, kind: Kind, *samples: int) -> Change:
    word = "triplet" if kind is Kind.TRIPLET else kind.word
    called = [said.name(s) for s in samples]
    text = f"{word}({called[0]}, {called[1]} | {called[2]})" if len(called) == 3 else f"{word}({', '.join(called)})"
    proof = known.against(kind, *samples)
    if proof is None:
        return Change(aim, (word, *samples), text, True)
    keys = known.single_keys(proof, kind, *samples)
    return Change(aim, (word, *samples), text, False, proof.statements, proof_lines(said, proof), keys)


def tree_changes(known: Knowledge, said: Constraints, tree: Dendrogram | None, a: int, b: int) -> tuple[Change, ...]:
    """Return triplets that the tree breaks: one in which the two meet earlier, one in which they meet later."""
    if tree is None:
        return ()
    node = int(tree.lca(a, b))
    made = []
    if node >= 0:
        inside = _company(tree, node, a, b)
        if inside >= 0:
            made.append(_change(known, said, "closer", Kind.TRIPLET, a, b, inside))
        above = int(tree.parent[node])
        if above >= 0:
            outside = _some_leaf(tree, next(int(c) for c in tree.children(above) if c != node))
            made.append(_change(known, said, "farther", Kind.TRIPLET, a, outside, b))
    return tuple(made)


def _company(tree: Dendrogram, node: int, a: int, b: int) -> int:
    """A sample other than the two below their meeting point, from where the last one came in; -1 if there is none."""
    sides = [int(c) for c in tree.children(node)]
    for x in (a, b):
        mine = next(c for c in sides if tree.is_below(x, c))
        if mine != x:
            return _some_leaf(tree, next(int(c) for c in tree.children(mine) if not tree.is_below(x, int(c))))
    others = [c for c in sides if not tree.is_below(a, c) and not tree.is_below(b, c)]
    return _some_leaf(tree, others[0]) if others else -1


def _some_leaf(tree: Dendrogram, node: int) -> int:
    while node >= tree.n_samples:
        node = int(tree.children(node)[0])  # children are in rising order: samples come first
    return node
