"""Style of statements in pictures: color and line by kind, width by whether they hold or are blamed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Kind
from linkwise.exceptions import LinkwiseError
from linkwise.plots._palette import APART, BLAMED, CLOSER, TOGETHER

if TYPE_CHECKING:
    from linkwise.constraints import Constraints
    from linkwise.result import Dendrogram


# kind: (color, matplotlib line style, words for the legend)
ARC_STYLES: dict[Kind, tuple[str, Any, str]] = {
    Kind.MUST_LINK: (TOGETHER, "solid", "must-link"),
    Kind.CANNOT_LINK: (APART, (0, (4, 2)), "cannot-link"),
    Kind.TRIPLET: (CLOSER, (0, (1, 1.5)), "triplet ab|c"),
}
HELD_WIDTH, BROKEN_WIDTH, BLAMED_WIDTH = 0.9, 2.2, 5.0


@dataclass(frozen=True, eq=False)
class Drawn:
    """The statements of one kind that are drawn.

    Attributes
    ----------
    kind : Kind
    items : ndarray of intp, shape (k, arity)
        Their samples.
    broken, blamed : ndarray of bool, shape (k,)
    n_all : int
        How many of this kind there are.
    """

    kind: Kind
    items: IntArray
    broken: BoolArray
    blamed: BoolArray
    n_all: int


def broken_in(constraints: Constraints, tree: Dendrogram | None, labels: Any) -> BoolArray:
    """Return a mask of the statements that do not hold: triplets in the tree, pairs in the labels, if given."""
    broken = np.zeros(constraints.n_statements, dtype=np.bool_)
    triplet = constraints.kind == Kind.TRIPLET
    if tree is not None:
        broken[triplet] = ~tree.satisfies(constraints)[triplet]
    if labels is not None:
        pair = constraints.kind <= Kind.CANNOT_LINK
        a, b, _ = constraints.items[pair].T
        together = np.asarray(labels)[a] == np.asarray(labels)[b]
        broken[pair] = together != (constraints.kind[pair] == Kind.MUST_LINK)
    return broken


def choose_drawn(constraints: Constraints, broken: BoolArray, blamed: Any, most: int) -> list[Drawn]:
    """Choose at most ``most`` statements about two or three samples: the blamed first, then the broken, then the rest.

    The rest is thinned evenly, so that the picture still represents all statements.
    """
    accused = np.zeros(constraints.n_statements, dtype=np.bool_)
    if blamed is not None:
        at = np.asarray(getattr(blamed, "core", blamed), dtype=np.intp).ravel()
        if len(at) and (at.min() < 0 or at.max() >= len(accused)):
            msg = f"blamed names statement {int(at.max())}, but statements are numbered 0 to {len(accused) - 1}."
            raise LinkwiseError(msg)
        accused[at] = True
    plain = np.flatnonzero(constraints.kind <= Kind.TRIPLET)
    chosen = plain
    if len(plain) > most:
        first = plain[np.lexsort((plain, ~broken[plain], ~accused[plain]))]
        urgent = int((accused[plain] | broken[plain]).sum())
        room = max(most - urgent, 0)
        rest = first[urgent:]
        spread = rest[np.linspace(0, len(rest) - 1, room).astype(np.intp)] if room and len(rest) else rest[:0]
        chosen = np.sort(np.concatenate([first[: min(urgent, most)], spread]))
    found = []
    for kind in ARC_STYLES:
        mine = chosen[constraints.kind[chosen] == kind]
        n_all = int((constraints.kind == kind).sum())
        if n_all:
            found.append(Drawn(kind, constraints.items[mine, : kind.arity], broken[mine], accused[mine], n_all))
    return found


def legend_handles(drawn: list[Drawn]) -> list[Any]:
    """Return legend entries: one per kind with its count, one for broken and one for blamed statements."""
    from matplotlib.lines import Line2D

    made = []
    for part in drawn:
        color, dashes, words = ARC_STYLES[part.kind]
        some = f"{len(part.items):,} of {part.n_all:,} drawn" if len(part.items) < part.n_all else f"{part.n_all:,}"
        made.append(Line2D([], [], color=color, linestyle=dashes, linewidth=1.3, label=f"{words} ({some})"))
    broken, blamed = (sum(int(getattr(part, name).sum()) for part in drawn) for name in ("broken", "blamed"))
    if broken:
        made.append(Line2D([], [], color="#374151", linewidth=BROKEN_WIDTH, label=f"thick: broken ({broken:,})"))
    if blamed:
        made.append(Line2D([], [], color=BLAMED, linewidth=BLAMED_WIDTH, alpha=0.7, label=f"blamed ({blamed:,})"))
    return made
