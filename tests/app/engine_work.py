"""Projects, logs and moves drawn at random, for tests of the engines and for measuring them."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_blobs

from linkwise.app._fitter import Fitter
from linkwise.app._items import Items
from linkwise.app._log import Statement, read_body

ODD = ("first", "second", "third")


def blobs(n, centers=6, features=8, spread=2.5, seed=0):
    """Items in groups that overlap a little, and the group of each."""
    X, y = make_blobs(n, features, centers=centers, cluster_std=spread, random_state=seed)
    ids = [f"i{at}" for at in range(n)]
    columns = {f"c{at}": [f"{value:.3g}" for value in X[:, at]] for at in range(features)}
    numbers = {f"c{at}": X[:, at] for at in range(features)}
    return Items(X, ids, columns, numbers, frozenset(columns)), y


def row(seq, op, body, *, who="me", via="menu"):
    return Statement(seq, f"id-{seq}", who, via, op, read_body(op, body), max(0, seq - 1), "")


def opened():
    return [row(1, "open", {"name": "a project"})]


def true_answer(rng, y, ids, trio):
    """The body of an answer that fits groups."""
    while True:
        rows = rng.choice(len(y), 3 if trio else 2, replace=False).tolist()
        names, groups = [ids[at] for at in rows], [int(y[at]) for at in rows]
        if not trio:
            return {"items": names, "answer": "yes" if groups[0] == groups[1] else "no"}
        if len(set(groups)) == 2:
            odd = next(at for at in range(3) if groups.count(groups[at]) == 1)
            return {"items": names, "answer": ODD[odd]}


def random_body(rng, y, ids, seq):
    """Any statement, most of them true; targets are rows of the log before ``seq``."""
    some = lambda count: [ids[at] for at in rng.choice(len(ids), count, replace=False)]  # noqa: E731
    of_group = lambda g, count: [ids[at] for at in rng.choice(np.flatnonzero(y == g), count, replace=False)]  # noqa: E731
    group, other = rng.choice(np.unique(y), 2, replace=False)
    a, b, s = of_group(group, 3), of_group(group, 4)[2:], of_group(other, 3)
    b = [name for name in b if name not in a] or s[:1]
    s = [name for name in s if name not in b] or [name for name in of_group(other, 3) if name not in b]
    match int(rng.integers(18)):
        case 0 | 1 | 2:
            return "answer", true_answer(rng, y, ids, trio=False)
        case 3 | 4 | 5:
            return "answer", true_answer(rng, y, ids, trio=True)
        case 6:
            return "say", {"kind": "cannot_link", "items": some(2), "weight": [None, 0.5][int(rng.integers(2))]}
        case 7:
            return "lock", {"items": of_group(group, 3)}
        case 8:
            return "split", {"parts": [of_group(group, 2), of_group(other, 2)]}
        case 9:
            return "cut", {"k": int(rng.integers(2, 9))}
        case 10:
            return "name", {"items": of_group(group, 5), "text": f"name {seq}"}
        case 11:
            reading = ["branch", "group", "away", "apart"][int(rng.integers(4))]
            return "move", {"A": a, "B": b, "S": s, "a": a[0], "b": b[0], "s": s[0], "reading": reading}
        case 12 if seq > 3:
            return "undo", {"target": int(rng.integers(2, seq))}
        case 13:
            return "note", {"items": some(1), "text": f"note {seq}"}
        case 14:
            return "flag", {"items": some(1), "text": ""}
        case 15:
            return "people", {"name": "me", "active": bool(rng.integers(2))}
        case 16 if seq > 3:
            action = ["drop", "soften", "flip"][int(rng.integers(3))]
            return "repair", {"targets": [{"seq": int(rng.integers(2, seq)), "action": action}]}
    return "import", {"name": "f.csv", "statements": [
        {"line": 2, "kind": "together", "items": of_group(group, 2)},
        {"line": 5, "kind": "triplet", "items": [*of_group(group, 2), of_group(other, 1)[0]]}]}  # fmt: skip


class Heard(list):
    """Events as they are sent."""

    def __call__(self, header, body=b""):
        self.append((header, body))

    def last(self, event):
        return next(((header, body) for header, body in reversed(self) if header["event"] == event), None)


def fitter(items, rows):
    """A fitter that has made its tree, and what it published."""
    heard = Heard()
    made = Fitter(items, rows, heard)
    made.work()
    return made, heard


def random_moves(rng, made, least=2, most=40):
    """Draw pairs of nodes that may be moved onto each other, for good."""
    sketch = made.now.picture.sketch
    size, start = sketch.width, sketch.start
    taken = np.flatnonzero((size >= least) & (size <= most) & (sketch.parent >= 0))
    while True:
        a, b = (int(v) for v in rng.choice(taken, 2, replace=False))
        if start[a] + size[a] <= start[b] or start[b] + size[b] <= start[a]:
            yield a, b


def smallest_branch(picture, rows):
    """Number of items in the smallest branch that holds some rows, by walking up the published tree."""
    parent, size = picture.arrays["parent"], picture.arrays["size"]
    start, slot = picture.arrays["start"], picture.arrays["start"][: picture.sketch.n_leaves][rows]
    at = int(rows[0])
    while not ((start[at] <= slot.min()) and (slot.max() < start[at] + size[at])):
        at = int(parent[at])
    return int(size[at])
