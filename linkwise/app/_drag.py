"""Readings of a move of a branch: what it can mean, whether the tree shows each already, and what speaks against it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from linkwise._typing import IntArray
from linkwise.app._items import Items
from linkwise.app._log import READINGS, Statement, read_body
from linkwise.app._picture import Picture
from linkwise.app._standing import Standing
from linkwise.app._trusted import Conflicts, Roll, Trust, key_of, trust
from linkwise.exceptions import LinkwiseError


def branch_body(items: Items, picture: Picture, a: int, b: int) -> dict[str, Any]:
    """Return a move of the branch below node ``a`` onto that below ``b``, without its reading.

    S is the neighbor that A leaves: what else hangs below the parent of A, without B. The middle of a branch is the
    item nearest to its mean.
    """
    parent = picture.sketch.parent
    for node in (a, b):
        if not 0 <= node < len(parent):
            msg = f"there is no branch {node} in this tree, which has {len(parent):,}.\nHint: move a branch on screen."
            raise LinkwiseError(msg)
    A, B = picture.below(a), picture.below(b)
    if len(np.intersect1d(A, B)):
        msg = "a branch can be moved onto another one only that lies outside of it.\nHint: choose another target."
        raise LinkwiseError(msg)
    S = np.array([], dtype=np.intp)
    if parent[a] >= 0:
        S = picture.below(int(parent[a]))
        S = S[~np.isin(S, A) & ~np.isin(S, B)]

    def names(rows: IntArray) -> list[str]:
        return [items.ids[row] for row in rows.tolist()]

    return {
        "A": names(A), "B": names(B), "S": names(S),
        "a": items.ids[_middle(items, A)], "b": items.ids[_middle(items, B)],
        "s": items.ids[_middle(items, S)] if len(S) else None,
    }  # fmt: skip


def _middle(items: Items, rows: IntArray) -> int:
    few = items.X[rows]
    mean = np.asarray(few.mean(axis=0)).ravel()
    if items.sparse:
        return int(rows[int(np.asarray(few @ mean).ravel().argmax())])
    return int(rows[int(((few - mean) ** 2).sum(axis=1).argmin())])


def readings(
    roll: Roll, items: Items, picture: Picture, standing: Standing, chosen: Trust, a: int, b: int
) -> list[dict[str, Any]]:
    """Return what a move can mean, the strongest first: each with a body to say, and what it would contradict."""
    body = branch_body(items, picture, a, b)
    made = []
    for reading in READINGS:
        if reading in ("away", "apart") and body["s"] is None:
            continue
        one = read_body("move", body | {"reading": reading})
        said = Statement(standing.seq + 1, "", "", "drag", "move", one, standing.seq, "")
        after = replace(standing, seq=said.seq, statements=(*standing.statements, said))
        tried = trust(roll, after, chosen)
        mine = [unit for unit in tried.units if unit.seq == said.seq]
        already = _is_shown(roll, picture, mine, tried)
        contradicts = None
        if any(key_of(unit) in tried.doubted for unit in mine):
            cards = Conflicts(roll, after, tried, items.X).cards()
            card = next((card for card in cards if said.seq in card["seqs"]), None)
            others = [fix["seq"] for fix in card["fixes"] if fix["seq"] != said.seq] if card else []
            others = others or [seq for seq in (card["seqs"] if card else []) if seq != said.seq]
            contradicts = {"seqs": sorted(set(others))}
        made.append({"reading": reading, "already": already, "contradicts": contradicts, "body": one})
    return made


def _is_shown(roll: Roll, picture: Picture, mine: list[Any], tried: Trust) -> bool:
    """Whether the tree and the clusters on screen have it so."""
    table, _ = roll.table(mine, tried.bodies)
    return bool(picture.shows(table).all())
