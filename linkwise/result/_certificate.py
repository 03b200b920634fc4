"""The independent checker, which reads only ``parent`` and ``marked`` (or labels) and recomputes all it asserts.

It shares no code with the engines or with `Dendrogram`, so that a bug there cannot hide here. Array code only, no
compiled kernels. The rules about clusters are checked in ``_certificate_rules``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._messages import many, more_lines
from linkwise._notebook import Bar, Tone, bars, card
from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Constraints, Kind, Rule, require_constraints
from linkwise.exceptions import LinkwiseError
from linkwise.result._certificate_rules import Clustering, check_rules

_SHOWN = 20
_CHUNK = 1 << 18


@dataclass(frozen=True, eq=False, kw_only=True)
class Certificate:
    """Findings of the independent check; made by `verify`.

    Attributes
    ----------
    n_statements : int
        How many statements about samples were checked.
    held : ndarray of bool, shape (n_statements,)
        Whether each statement holds.
    counts : dict of str to (int, int)
        For ``"must_link"``, ``"cannot_link"`` and ``"triplets"``: how many hold, how many there are.
    violated, soft_violated : tuple of int
        Positions of the broken hard and soft statements.
    rules : tuple of (Rule, bool or None)
        Whether each rule holds; None when it could not be checked, with the reason in ``notes``.
    faults, shown, remarks : tuple of str
        Errors in the tree itself, with which no statement is certified; the first broken hard statements in words, at
        most 20; remarks about the clusters, such as that small branches were given to other clusters.

    Examples
    --------
    >>> from linkwise import Constraints, verify
    >>> print(verify([0, 0, 1], Constraints.build(3, must_link=[(0, 1)], cannot_link=[(0, 2)])))
    All 2 hard statements hold: 1 must-link, 1 cannot-link.
    """

    n_statements: int
    held: BoolArray
    counts: dict[str, tuple[int, int]]
    violated: tuple[int, ...]
    soft_violated: tuple[int, ...]
    rules: tuple[tuple[Rule, bool | None], ...] = ()
    faults: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    n_hard: int = 0
    notes: tuple[str, ...] = ()
    hard_counts: dict[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the tree is valid, every hard statement holds and no checked rule is broken."""
        return not self.faults and not self.violated and all(held is not False for _, held in self.rules)

    def __bool__(self) -> bool:
        msg = "a Certificate has no truth value.\nHint: use `certificate.ok`."
        raise TypeError(msg)

    def __str__(self) -> str:
        lines: list[str] = []
        if self.faults:
            lines.append("The tree is invalid, so no statement was checked:")
            lines += [f"  {fault}" for fault in self.faults]
        elif self.violated:
            verb = "is" if len(self.violated) == 1 else "are"
            lines.append(f"{len(self.violated):,} of {many(self.n_hard, 'hard statement')} {verb} broken:")
            lines += [f"  {line}" for line in self.shown] + more_lines(len(self.shown), len(self.violated))
        elif self.n_hard:
            kinds = [kind.count(self.hard_counts[kind.word]) for kind in Kind if self.hard_counts.get(kind.word)]
            lead = "The 1 hard statement holds" if self.n_hard == 1 else f"All {self.n_hard:,} hard statements hold"
            lines.append(f"{lead}: {', '.join(kinds)}.")
        else:
            lines.append("There are no hard statements.")
        soft = self.n_statements - self.n_hard
        if soft and not self.faults:
            verb = "holds" if soft == 1 else "hold"
            lines.append(f"{soft - len(self.soft_violated):,} of {many(soft, 'soft statement')} {verb}.")
        for (rule, held), note in zip(self.rules, self.notes, strict=True):
            word = {True: "holds", False: "is broken", None: "was not checked"}[held]
            lines.append(f"{rule} {word}{': ' + note if note else ''}.")
        return "\n".join([*lines, *self.remarks])

    def __repr__(self) -> str:
        n_soft = self.n_statements - self.n_hard
        parts = [f"{self.n_hard - len(self.violated):,} of {many(self.n_hard, 'hard statement')} held"]
        parts += [f"{n_soft - len(self.soft_violated):,} of {n_soft:,} soft"] if n_soft else []
        if self.rules:
            parts.append(f"{sum(held is True for _, held in self.rules):,} of {many(len(self.rules), 'rule')}")
        return f"Certificate({'invalid tree' if self.faults else ', '.join(parts)})"

    def _repr_html_(self) -> str:
        kinds = [(kind.count(2).partition(" ")[2], self.counts.get(kind.word, (0, 0))) for kind in Kind]
        rows = [
            Bar(name, held / total, f"{held:,} of {total:,} held", short=held < total)
            for name, (held, total) in kinds
            if total and not self.faults
        ]
        tone: Tone = "bad" if not self.ok else "good" if self.n_hard or self.rules else "none"
        return card(str(self), tone=tone, more=bars(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain values that ``json.dumps`` accepts.

        Examples
        --------
        >>> from linkwise import Constraints, verify
        >>> verify([0, 1], Constraints.build(2, must_link=[(0, 1)])).to_dict()["violated"]
        [0]
        """
        return {
            "ok": self.ok,
            "n_statements": self.n_statements,
            "n_hard": self.n_hard,
            "counts": {word: {"held": held, "total": total} for word, (held, total) in self.counts.items()},
            "violated": list(self.violated),
            "soft_violated": list(self.soft_violated),
            "shown": list(self.shown),
            "rules": [
                {"rule": repr(rule), "held": held, "note": note}
                for (rule, held), note in zip(self.rules, self.notes, strict=True)
            ],
            "faults": list(self.faults),
            "remarks": list(self.remarks),
        }


def verify(result: Any, constraints: Constraints, *, X: Any = None, metric: str = "euclidean") -> Certificate:
    """Check a hierarchy or a label vector against constraints, by independent code.

    Parameters
    ----------
    result : Dendrogram or array-like of shape (n_samples,)
        A hierarchy, with or without a marked cut, or one cluster label per sample.
    constraints : Constraints
        The statements and rules to check.
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples), optional
        The data, needed only for rules about distances; with ``metric="precomputed"`` the distances.
    metric : str, default="euclidean"
        Any metric SciPy's ``cdist`` knows, or ``"precomputed"``.

    Returns
    -------
    Certificate

    Notes
    -----
    In a hierarchy a must-link asks for one marked cluster, a cannot-link for two, and a triplet ab|c for a lowest
    common ancestor of a and b strictly below that of a and c, anywhere in the tree. Without a marked cut the trees of
    the forest count as the clusters, also where they were joined. Groups and choices are judged by the same clusters.
    In a label vector a triplet holds if c is with neither a nor b, or with both.

    **Cost** O((n + m) log depth) time and O(n log depth) memory; rules about distances O(n²) time in O(n) memory.
    **Guarantee** shares no code with the engines; a broken hard statement cannot pass.

    Examples
    --------
    >>> from linkwise import Constraints, verify
    >>> certificate = verify([0, 0, 1], Constraints.build(3, triplets=[(0, 2, 1)]))
    >>> certificate.ok
    False
    >>> print(certificate)
    1 of 1 hard statement is broken:
      #0 triplet(0, 2 | 1)
    """
    if hasattr(result, "parent"):
        clustering, faults, is_below = _read_tree(result, constraints)
        triplet = is_below
    else:
        require_constraints(constraints, "verify")
        labels = _read_labels(result, constraints.n_samples)
        clustering, faults = Clustering(labels, True), ()
        triplet = _definition_42(labels)
    a, b, c = constraints.items.T
    kind, label = constraints.kind, clustering.labels
    held = np.zeros(constraints.n_statements, dtype=np.bool_)
    if not faults:
        together = label[a] == label[b]
        held[:] = np.where(kind == Kind.MUST_LINK, together, (kind == Kind.CANNOT_LINK) & ~together)
        held[constraints.groups.statement] = _groups_held(constraints, label)
        rows = np.flatnonzero(kind == Kind.TRIPLET)
        held[rows] = triplet(a[rows], b[rows], c[rows])
    held.setflags(write=False)
    findings: list[tuple[Rule, bool | None, str]] = [(rule, None, "") for rule in constraints.rules]
    if not faults:
        findings = check_rules(constraints, clustering, X, metric)
    return _certify(constraints, held, faults, findings)


def _groups_held(constraints: Constraints, label: IntArray) -> BoolArray:
    """Return whether statements about groups hold, by the number of clusters of the samples of each."""
    statement, start, member = constraints.groups
    size = np.diff(start)
    owner = np.repeat(np.arange(len(size)), size)
    cells = np.unique(np.stack([owner, label[member]]), axis=1)
    clusters = np.bincount(cells[0], minlength=len(size))
    first = label[member[start[:-1]]]
    company = np.bincount(owner[label[member] == first[owner]], minlength=len(size)) - 1
    held = np.zeros(len(size), dtype=np.bool_)
    of = constraints.kind[statement]
    held[of == Kind.TOGETHER] = clusters[of == Kind.TOGETHER] == 1
    held[of == Kind.APART] = (clusters == size)[of == Kind.APART]
    held[of == Kind.MUST_LINK_ANY] = company[of == Kind.MUST_LINK_ANY] >= 1
    held[of == Kind.CANNOT_LINK_ANY] = clusters[of == Kind.CANNOT_LINK_ANY] >= 2
    for at in np.flatnonzero(of == Kind.EITHER):
        one, other = member[start[at] : start[at + 1]].reshape(-1, 2).T
        held[at] = ((label[one] == label[other]) == (one < other)).any()
    return held


def _certify(
    constraints: Constraints,
    held: BoolArray,
    faults: tuple[str, ...],
    findings: list[tuple[Rule, bool | None, str]],
) -> Certificate:
    hard = constraints.is_hard
    of_kind = [constraints.kind == kind for kind in Kind]
    violated = tuple(np.flatnonzero(hard & ~held).tolist())
    return Certificate(
        n_statements=constraints.n_statements,
        held=held,
        counts={
            kind.word: (int(held[mask].sum()), int(mask.sum()))
            for kind, mask in zip(Kind, of_kind, strict=True)
            if mask.any() or not kind.is_group
        },
        violated=violated,
        soft_violated=tuple(np.flatnonzero(~hard & ~held).tolist()),
        rules=tuple((rule, state) for rule, state, _ in findings),
        faults=faults,
        shown=constraints.describe_each(violated[:_SHOWN]),
        n_hard=int(hard.sum()),
        notes=tuple(note for _, _, note in findings),
        hard_counts={kind.word: int((mask & hard).sum()) for kind, mask in zip(Kind, of_kind, strict=True)},
    )


# -- label vectors ---------------------------------------------------------------------------------------------


def _read_labels(result: Any, n_samples: int) -> IntArray:
    try:
        labels = np.asarray(result)
    except TypeError as odd:
        msg = f"verify: the result is {type(result).__name__}, expected a Dendrogram or one label per sample."
        raise LinkwiseError(msg) from odd
    if labels.ndim != 1:
        msg = f"verify: labels have shape {labels.shape}, expected one label per sample."
        raise LinkwiseError(msg)
    if len(labels) != n_samples:
        msg = f"verify: constraints are about {n_samples:,} samples, but there are {len(labels):,} labels."
        raise LinkwiseError(msg)
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        msg = "verify: labels contain NaN, expected a label for every sample."
        raise LinkwiseError(msg)
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _definition_42(label: IntArray) -> Any:
    def holds(a: IntArray, b: IntArray, c: IntArray) -> BoolArray:
        with_a, with_b = label[a] == label[c], label[b] == label[c]
        return np.asarray(with_a == with_b)  # c is with neither, or with both and then a and b are together as well

    return holds


# -- trees -----------------------------------------------------------------------------------------------------


def _read_tree(result: Any, constraints: Constraints) -> tuple[Clustering, tuple[str, ...], Any]:
    n = int(result.n_samples)
    require_constraints(constraints, "verify", n, of="the tree")
    parent = np.asarray(result.parent)
    marked = None if result.marked is None else np.asarray(result.marked)
    faults = _tree_faults(n, parent)
    if faults:
        return Clustering(np.zeros(n, np.intp), False), faults, None
    joins = np.asarray(() if marked is not None else getattr(result, "joins", ()), dtype=np.intp)
    # A node above all roots makes a forest one tree, in which two samples of different trees meet at the very top.
    # A join is not a merge, so the trees below it are separate ones, unless there is a marked cut.
    is_root = (parent < 0) | np.isin(parent, joins)
    above = np.append(np.where(is_root, len(parent), parent), len(parent)).astype(np.intp)
    faults, owner = _marked_faults(n, above, marked)
    owner[joins] = len(parent)
    return Clustering(owner[:n], marked is not None, parent, owner), faults, _lifted(above)


def _tree_faults(n: int, parent: npt.NDArray[Any]) -> tuple[str, ...]:
    if parent.ndim != 1 or parent.dtype.kind not in "iu":
        return (f"parent is {parent.dtype} of shape {parent.shape}, expected one integer per node.",)
    nodes = len(parent)
    if nodes < n:
        return (f"parent has {nodes:,} entries, fewer than the {n:,} leaves.",)
    node = np.arange(nodes)
    faults = []
    for bad, words in (
        ((parent < -1) | (parent >= nodes), "points outside the tree"),
        ((parent >= 0) & (parent <= node), "does not come after its child"),
        ((parent >= 0) & (parent < n), "is a leaf"),
    ):
        if bad.any():
            first = int(np.flatnonzero(bad)[0])
            faults.append(f"the parent of node {first}, {int(parent[first])}, {words} ({int(bad.sum()):,} such).")
    if not faults:
        barren = np.bincount(parent[parent >= 0], minlength=nodes)[n:] == 0
        if barren.any():
            faults.append(
                f"inner node {n + int(np.flatnonzero(barren)[0])} has no children ({int(barren.sum()):,} such)."
            )
    return tuple(faults)


def _marked_faults(n: int, above: IntArray, marked: npt.NDArray[Any] | None) -> tuple[tuple[str, ...], IntArray]:
    """Check the cut and return, for every node, the marked node at or above it (without a cut: its root)."""
    top = len(above) - 1
    if marked is None:
        is_mark = above == top
    else:
        if marked.ndim != 1 or (len(marked) and marked.dtype.kind not in "iu"):
            return (f"marked is {marked.dtype} of shape {marked.shape}, expected node numbers.",), above
        if len(marked) and (marked.min() < 0 or marked.max() >= top):
            return (f"marked names node {int(marked.max())} or {int(marked.min())}, nodes are 0 to {top - 1}.",), above
        if len(np.unique(marked)) < len(marked):
            return ("marked names a node twice.",), above
        is_mark = np.zeros(top + 1, dtype=np.bool_)
        is_mark[marked] = True
    is_mark[top] = True
    owner = _chase(np.where(is_mark, np.arange(top + 1), above))
    if marked is None:
        return (), owner
    faults = []
    nested = np.flatnonzero(is_mark[:top] & (owner[above[:top]] != top))
    if len(nested):
        faults.append(f"marked node {int(nested[0])} lies below marked node {int(owner[above[nested[0]]])}.")
    bare = np.flatnonzero(owner[:n] == top)
    if len(bare):
        faults.append(f"sample {int(bare[0])} is in no marked cluster ({len(bare):,} such).")
    return tuple(faults), owner


def _chase(pointer: IntArray) -> IntArray:
    """Follow pointers to their ends, doubling the stride each round."""
    while True:
        further = pointer[pointer]
        if np.array_equal(further, pointer):
            return pointer
        pointer = further


def _lifted(above: IntArray) -> Any:
    """Return a test for lca(a, b) strictly below lca(a, c), by binary lifting.

    Both are ancestors of a, so the deeper one is the lower one, and then lca(b, c) = lca(a, c) follows.
    """
    steps = np.where(np.arange(len(above)) == above, 0, 1)
    jump = above.astype(np.int32 if len(above) < 2**31 else np.intp)
    table = [jump]
    depth = steps
    while True:
        depth = depth + depth[jump]
        jump = jump[jump]
        if (jump == len(above) - 1).all():
            break
        table.append(jump)

    def meeting_depth(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> IntArray:
        x, y = np.where(depth[x] >= depth[y], x, y), np.where(depth[x] >= depth[y], y, x)
        surplus = depth[x] - depth[y]
        for level, hop in enumerate(table):
            x = np.where((surplus >> level) & 1, hop[x], x)
        for hop in reversed(table):
            far_x, far_y = hop[x], hop[y]
            apart = far_x != far_y
            x, y = np.where(apart, far_x, x), np.where(apart, far_y, y)
        return np.asarray(np.where(x == y, depth[x], depth[x] - 1))

    def strictly_below(a: IntArray, b: IntArray, c: IntArray) -> BoolArray:
        held = np.empty(len(a), dtype=np.bool_)
        for start in range(0, len(a), _CHUNK):
            part = slice(start, start + _CHUNK)
            held[part] = meeting_depth(a[part], b[part]) > meeting_depth(a[part], c[part])
        return held

    return strictly_below
