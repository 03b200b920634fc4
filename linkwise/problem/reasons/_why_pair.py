"""`why`: the reasons why two samples are together or apart, and the statements that would change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from linkwise._messages import in_words, many, more_lines
from linkwise._notebook import card
from linkwise.constraints import NO_LABELS, Constraints, Kind
from linkwise.exceptions import LinkwiseError
from linkwise.problem.reasons._forced import Knowledge, Proof
from linkwise.problem.reasons._meeting import Bound, Change, bounds, pair_changes, proof_lines, tree_changes
from linkwise.result import Outcome, place_of, read_outcome, samples_outside

_SHOWN = 20
_AIMS = {"together": "together", "apart": "apart", "closer": "meet earlier", "farther": "meet later"}


@dataclass(frozen=True, kw_only=True)
class Why:
    """The reasons why two samples are together or apart; made by `why`. Print it to read it.

    Attributes
    ----------
    samples, names : tuple of int, tuple of str
        The two samples, and their names.
    together : bool or None
        Whether they share a cluster; None for a tree without a cut.
    clusters : tuple of int or None
        Their labels.
    height, size : float or None, int or None
        Where they meet in the tree, ``inf`` for different trees, and the number of samples below; None without a tree.
    forced : {"together", "apart", ""}
        What the hard statements force; empty when they leave both open.
    statements : tuple of int
        Positions of the statements that force it: they do so alone, and none of them can be left out.
    lines, steps : tuple of str
        The wording of these statements, and the argument from supposing the contrary.
    minimal : bool
        False if the budget was used up before the set was proven minimal.
    bounds : tuple of Bound
        What is forced about where they meet in the tree: the lowest meeting with a third sample that must come after,
        and the highest that must come before.
    changes : tuple of Change
        What one could say to have it otherwise.
    before : bool or None
        Whether they share a cluster in the result without the knowledge, if that was given.
    notes : tuple of str
        What was not reasoned about.
    moved : tuple of (int, int, int, int)
        For each of the two that is outside the branch of its cluster: the sample, the size of the branch it came with,
        the cluster that branch was given to, and the size below which branches were given away (0 when unknown).

    Examples
    --------
    >>> from linkwise import Constraints, why
    >>> said = Constraints.build(4, must_link=[(0, 1)], cannot_link=[(1, 2)])
    >>> told = why([0, 0, 1, 1], 0, 2, said)
    >>> told.forced, told.statements
    ('apart', (0, 1))
    """

    samples: tuple[int, int]
    names: tuple[str, str]
    together: bool | None
    clusters: tuple[int, int] | None = None
    height: float | None = None
    size: int | None = None
    forced: str = ""
    statements: tuple[int, ...] = ()
    lines: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    minimal: bool = True
    bounds: tuple[Bound, ...] = ()
    changes: tuple[Change, ...] = ()
    before: bool | None = None
    notes: tuple[str, ...] = ()
    moved: tuple[tuple[int, int, int, int], ...] = ()

    @property
    def broken(self) -> bool:
        """Whether the result is not as the hard statements force it to be."""
        return self.together is not None and self.forced != "" and self.together != (self.forced == "together")

    def __str__(self) -> str:
        return _tell(self)

    def __repr__(self) -> str:
        state = {None: "the tree is not cut", True: "in one cluster", False: "in two clusters"}[self.together]
        by = f", forced {self.forced} by {many(len(self.statements), 'statement')}" if self.forced else ""
        return f"Why({self.names[0]} and {self.names[1]}: {state}{by})"

    def _repr_html_(self) -> str:
        return card(str(self), tone="bad" if self.broken else "none")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists, strings, numbers and booleans, ready for JSON (an infinite height as None).

        Examples
        --------
        >>> from linkwise import Constraints, why
        >>> told = why([0, 0], 0, 1, Constraints.build(2, must_link=[(0, 1)])).to_dict()
        >>> told["forced"], told["lines"]
        ('together', ['#0 must_link(0, 1)'])
        """

        def plain(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: plain(inner) for key, inner in value.items()}
            if isinstance(value, (list, tuple)):
                return [plain(inner) for inner in value]
            return None if isinstance(value, float) and not np.isfinite(value) else value

        told: dict[str, Any] = plain(asdict(self))
        return told


def why(
    result: Any,
    a: Any,
    b: Any,
    constraints: Constraints | None = None,
    *,
    ids: Any = None,
    labels: Any = None,
    before: Any = None,
) -> Why:
    """Explain why two samples are together or apart: statements that force it, and statements that would change it.

    Parameters
    ----------
    result : fitted estimator, Clustering, Dendrogram or labels
        What to explain.
    a, b : name or number
        Two different samples; by name where there are names, else by number.
    constraints : Constraints, optional
        What was said; an estimator brings what it obeyed. Soft statements, choices and rules are not reasoned from.
    ids : array-like of shape (n_samples,), optional
        Names of the samples; those of the tree or the constraints when left out.
    labels : array-like of shape (n_samples,), optional
        Cluster of every sample, where the result has none or another cut is meant.
    before : fitted estimator, Clustering, Dendrogram or labels, optional
        The result without the knowledge, to be told whether it already had them so.

    Returns
    -------
    Why

    Raises
    ------
    InfeasibleConstraintsError
        The hard statements contradict each other, so that anything would follow.
    LinkwiseError
        There is no such sample, or both are the same.

    See Also
    --------
    implies : yes or no, for many statements at once.
    check : why statements cannot hold together.

    Notes
    -----
    What is *forced* holds in every hierarchy with a cut in which the hard statements hold. The statements named for it
    force it alone, and without any one of them the others do not; there may be other such sets. "The distances decided"
    means that the statements leave it open; they may still have steered what the method did with other samples.

    **Cost** a few tests of feasibility, near-linear each, and for trees the entailment of triplets with every sample
    that was spoken of. **Guarantee** every claim about statements is exact; `minimal` says if one set could not be made
    minimal in time.

    Examples
    --------
    >>> from linkwise import Constraints, Dendrogram, why
    >>> tree = Dendrogram.from_merges(4, [(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 5.0], marked=[4, 5])
    >>> said = Constraints.from_ids(
    ...     ["otter", "mink", "seal", "walrus"], must_link=[("otter", "mink")], cannot_link=[("mink", "seal")]
    ... )
    >>> print(why(tree, "otter", "seal", said))
    otter and seal are in different clusters, 0 and 1.
    They meet at height 5, in a group of 4 samples, above the cut.
    2 statements force them apart, and none of them can be left out:
      #0 must_link(otter, mink)
      #1 cannot_link(mink, seal)
    Suppose they were together: mink = otter (#0) = seal (the supposition), but #1 keeps mink and seal apart.
    In the tree, mink and otter meet before seal joins them; #0 and #1 force that.
    To have them together: must_link(otter, seal) contradicts #0 and #1; dropping #0 or #1 makes room for it.
    To have them meet earlier: triplet(otter, seal | mink) contradicts #0 and #1; dropping #0 or #1 makes room for it.
    """
    outcome = read_outcome(result, labels, who="why")
    said = constraints if constraints is not None else outcome.constraints
    if said is None:
        said = Constraints.build(outcome.n_samples)
    if said.n_samples != outcome.n_samples:
        msg = (
            f"why: the result is about {outcome.n_samples:,} samples, but the constraints about {said.n_samples:,}.\n"
            "Hint: take the same rows of both."
        )
        raise LinkwiseError(msg)
    names = outcome.names(ids, said)
    first, second = (place_of(x, names, outcome.n_samples, who="why") for x in (a, b))
    if first == second:
        msg = f"why: both samples are {a!r}, expected two different ones."
        raise LinkwiseError(msg)
    if names is not None:  # several samples may have the same one
        said = said._replace(ids=names.copy(), labels=NO_LABELS)
    return _explain(outcome, said, first, second, before)


def _explain(outcome: Outcome, said: Constraints, a: int, b: int, before: Any) -> Why:
    known = Knowledge.of(said)
    labels, tree = outcome.labels, outcome.tree
    together = None if labels is None else bool(labels[a] == labels[b])
    proofs = {"apart": known.against(Kind.MUST_LINK, a, b), "together": known.against(Kind.CANNOT_LINK, a, b)}
    forced = next((word for word, proof in proofs.items() if proof is not None), "")
    proof = proofs.get(forced) or Proof((), ())
    node = -1 if tree is None else int(tree.lca(a, b))
    earlier = None if before is None else read_outcome(before, who="why").labels
    return Why(
        samples=(a, b),
        names=(said.name(a), said.name(b)),
        together=together,
        clusters=None if labels is None else (int(labels[a]), int(labels[b])),
        height=None if tree is None else float(tree.height[node]) if node >= 0 else float("inf"),
        size=None if tree is None or node < 0 else int(tree.leaf_count[node]),
        forced=forced,
        statements=proof.statements,
        lines=proof_lines(said, proof),
        steps=proof.steps,
        minimal=proof.minimal,
        bounds=() if tree is None else bounds(known, said, tree, a, b),
        changes=(*pair_changes(known, said, together, a, b), *tree_changes(known, said, tree, a, b)),
        before=None if earlier is None else bool(earlier[a] == earlier[b]),
        notes=_notes(said, known, a, b),
        moved=_moved(outcome, a, b),
    )


def _moved(outcome: Outcome, a: int, b: int) -> tuple[tuple[int, int, int, int], ...]:
    """Which of two samples came to its cluster with a branch from elsewhere, unless both came with the same one."""
    if outcome.tree is None or outcome.labels is None:
        return ()
    found = samples_outside(outcome.tree, outcome.labels)
    size = int(getattr(outcome.estimator, "min_cluster_size_", 0))
    came = {}
    for sample in (a, b):
        at = int(np.searchsorted(found.samples, sample))
        if at < len(found) and found.samples[at] == sample:
            came[sample] = int(found.branch[at])
    if len(came) == 2 and came[a] == came[b]:
        return ()
    return tuple(
        (sample, int(outcome.tree.leaf_count[node]), int(outcome.labels[sample]), size if size > 1 else 0)
        for sample, node in came.items()
    )


def _notes(said: Constraints, known: Knowledge, a: int, b: int) -> tuple[str, ...]:
    notes = []
    soft = np.flatnonzero(~said.is_hard)
    if len(soft):
        about = soft[((said.items[soft] == a) | (said.items[soft] == b)).sum(axis=1) == 2]
        named = ", ".join(said.describe_each(about[:3]))
        which = "s are not binding and force" if len(soft) > 1 else " is not binding and forces"
        tail = f"; about these two: {named}." if len(about) else "."
        notes.append(f"{len(soft):,} soft statement{which} nothing{tail}")
    choices = int((said.is_hard & (said.kind >= Kind.MUST_LINK_ANY)).sum())
    if choices:
        notes.append(f"{choices:,} choice{'s were' if choices > 1 else ' was'} not reasoned from.")
    if said.rules:
        notes.append(f"Rules were not reasoned from: {', '.join(map(repr, said.rules))}.")
    if known.written_out is None:
        notes.append("Where they meet was not reasoned about: the groups apart are too large to write out.")
    return tuple(notes)


# -- in words ------------------------------------------------------------------------------------------------------


def _tell(why: Why) -> str:
    """Write the result of `why` as text."""
    lines = [_where(why), *_meeting(why), *_told_moves(why), *_told_reason(why)]
    lines += [_told_bound(bound.text, bound.lines, bound.held) for bound in why.bounds]
    lines += [_told_change(change, bool(why.notes)) for change in why.changes]
    return "\n".join([*lines, *(f"Note: {note}" for note in why.notes)])


def _where(why: Why) -> str:
    one, other = why.names
    if why.together is None or why.clusters is None:
        return f"{one} and {other}: the tree is not cut, so they are in no clusters."
    if why.together:
        return f"{one} and {other} are in the same cluster, {why.clusters[0]}."
    return f"{one} and {other} are in different clusters, {why.clusters[0]} and {why.clusters[1]}."


def _meeting(why: Why) -> list[str]:
    if why.height is None:
        return []
    if why.size is None:
        return ["They never meet: they are in different trees."]
    side = "" if why.together is None or why.moved else ", below the cut" if why.together else ", above the cut"
    return [f"They meet at height {why.height:.4g}, in a group of {why.size:,} samples{side}."]


def _told_moves(why: Why) -> list[str]:
    """Describe a branch that is not part of the branch of its cluster."""
    names = dict(zip(why.samples, why.names, strict=True))
    lines = []
    for sample, size, cluster, least in why.moved:
        branch = f"a branch of {many(size, 'sample')}"
        lines.append(
            f"{names[sample]} came with {branch}; it was too small to be a cluster (fewer than {least:,}) and was "
            f"given to cluster {cluster}."
            if least
            else f"{names[sample]} is in {branch} outside the branch of its cluster, {cluster}."
        )
    return lines


def _told_reason(why: Why) -> list[str]:
    if why.forced:
        count = len(why.statements)
        if count == 1:
            head = f"One statement forces them {why.forced}:"
        elif why.minimal:
            head = f"{count:,} statements force them {why.forced}, and none of them can be left out:"
        else:
            head = f"{count:,} statements force them {why.forced} (perhaps fewer would; the budget was used up):"
        lines = [head, *(f"  {line}" for line in why.lines[:_SHOWN]), *more_lines(_SHOWN, len(why.lines))]
        if why.broken:
            lines.insert(0, f"The result breaks hard statements: they should be {why.forced}.")
        if count > 1 and why.steps:
            contrary = "apart" if why.forced == "together" else "together"
            lines.append(f"Suppose they were {contrary}: {' '.join(why.steps)}")
        return lines
    if why.together is None:
        return ["No statement forces them into one cluster or into two."]
    state, contrary = ("together", "apart") if why.together else ("apart", "together")
    decided = "the distances and the sizes of branches decided" if why.moved else "the distances decided"
    lines = [f"No statement forces them {state} or {contrary}: {decided}."]
    if why.notes:
        lines = [f"No hard statement forces them {state} or {contrary}: {decided}, or the statements in the notes."]
    if why.before is not None and why.before != why.together:
        lines.append(f"Without the statements they would be {contrary}: statements about other samples moved them.")
    elif why.before is not None:
        lines.append(f"Without the statements they would be {state} as well.")
    return lines


def _numbers(lines: Sequence[str]) -> str:
    """The numbers of statements, as in ``#0, #4 and #7``."""
    rows = [line.partition(" ")[0] for line in lines]
    return in_words(rows if len(rows) <= 8 else [*rows[:7], f"{len(rows) - 7:,} more"])


def _told_bound(text: str, lines: Sequence[str], held: bool) -> str:
    verb = "forces" if len(lines) == 1 else "force"
    if not held:
        return f"The tree breaks statements: {_numbers(lines)} {verb} that {text}."
    return f"In the tree, {text}; {_numbers(lines)} {verb} that."


def _told_change(change: Change, noted: bool) -> str:
    head = f"To have them {_AIMS[change.aim]}:"
    if change.possible:
        what = "the hard statements, except those in the notes" if noted else "all statements"
        return f"{head} add {change.text}; it is consistent with {what}."
    single = len(change.against) == 1
    told = f"{head} {change.text} contradicts {_numbers(change.lines)}"
    if not change.keys:
        return f"{told}; {'dropping it' if single else 'dropping one of them'} is not enough to make room for it."
    rows = [line.partition(" ")[0] for s, line in zip(change.against, change.lines, strict=True) if s in change.keys]
    shown = rows if len(rows) <= 8 else [*rows[:7], f"one of {len(rows) - 7:,} more"]
    return f"{told}; dropping {in_words(shown, 'or')} makes room for it."
