"""What ``linkwise cluster`` fits: a method and a linkage that suit what was said, and how large the data are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

if TYPE_CHECKING:
    from linkwise.io import Knowledge, Table


GIB = 2**30
LEAN = ("ward", "centroid", "median")  # on Euclidean vectors these keep centroids instead of distances


class Distances(NamedTuple):
    """What decides how many distances between samples are kept at once."""

    n: int
    linkage: str
    method: str
    sparse: bool
    said: bool

    @property
    def size(self) -> int:
        """In bytes; 0 where none are kept."""
        if self.method == "copkmeans":
            return 0
        if self.sparse:
            return 2 * 8 * self.n**2  # vectors become distances, and these are worked upon in a copy
        if self.linkage in LEAN or (self.linkage == "single" and self.method == "agglomerative" and not self.said):
            return 0
        return 8 * self.n**2


def require_room(kept: Distances, *, quiet: bool) -> None:
    """Say a large amount of memory before it is taken; refuse what cannot be had, and name what takes less."""
    from linkwise._memory import available_memory
    from linkwise.exceptions import MemoryLimitError

    needed, free = kept.size, available_memory()
    what = f"{kept.linkage} linkage of {kept.n:,} samples takes about {needed / GIB:,.1f} GiB of memory for distances"
    if free is not None and needed > free:
        ways = [] if kept.sparse else [f"--linkage {LEAN[0]} (or {', '.join(LEAN[1:])}) keeps no distances"]
        hint = ", or ".join([*ways, "--method copkmeans makes no tree and keeps none", "cluster some of the rows"])
        msg = f"{what}, and {free / GIB:,.1f} GiB are free; nothing was begun.\nHint: {hint}."
        raise MemoryLimitError(msg, needed=needed, available=free)
    if needed > GIB and not quiet:
        click.echo(f"{what}" + ("." if free is None else f"; {free / GIB:,.1f} GiB are free."), err=True)


LINKAGES = ("average", "complete", "single", "ward", "weighted", "centroid", "median")
METHODS = ("agglomerative", "recon", "copkmeans")


class Cut(NamedTuple):
    """Where the tree of a linkage is cut: into a number of clusters, or at a height; and how small clusters may be."""

    clusters: int | None
    height: float | None
    linkage: str
    min_size: int | str | None = None


def is_sparse(table: Table) -> bool:
    return hasattr(table.X, "tocsr")


def require_words(data: str, table: Table, linkage: str | None) -> None:
    """Refuse what texts, which are compared by the angle between them, cannot be asked for."""
    import numpy as np

    from linkwise.exceptions import LinkwiseError

    if linkage in LEAN:
        msg = f"--linkage {linkage} needs columns of numbers, but texts are compared.\nHint: --linkage average"
        raise click.UsageError(msg)
    silent = np.flatnonzero(np.diff(table.X.tocsr().indptr) == 0)
    if len(silent):
        shown = ", ".join(repr(str(one)[:40]) for one in table.ids[silent[:5]].tolist())
        more = f" and {len(silent) - 5:,} more" if len(silent) > 5 else ""
        msg = (
            f"{data}: {len(silent):,} of {len(table):,} samples have no word to be compared by: {shown}{more}.\n"
            "Hint: leave these rows out, or compare by further columns."
        )
        raise LinkwiseError(msg)


def choose_method(method: str, statements: Knowledge | None) -> str:
    """Which method: what was asked for, else what understands all that was said."""
    from linkwise import Kind, SizeBetween

    if method != "auto":
        return method
    if statements is not None and any(isinstance(rule, SizeBetween) for rule in statements.constraints.rules):
        return "copkmeans"
    triplets = statements is not None and (statements.constraints.kind == Kind.TRIPLET).any()
    return "recon" if triplets else "agglomerative"


def require_agreement(method: str, clusters: int | str | None, height: float | None, linkage: str | None) -> None:
    """Refuse what means nothing to a method without a tree."""
    given = ["-k auto"] if clusters == "auto" else [] if height is None else ["--height"]
    given += [] if linkage is None else [f"--linkage {linkage}"]
    if method == "copkmeans" and given:
        msg = (
            f"{given[0]} belongs to methods that make a tree; rules about sizes, and --method copkmeans, make none.\n"
            "Hint: give the number of clusters, as in -k 5, and no linkage."
        )
        raise click.UsageError(msg)


def require_fitting_size(
    size: int | str | None, method: str, clusters: int | str | None, statements: Knowledge | None
) -> None:
    """Refuse a smallest size of clusters where nothing would come of it."""
    from linkwise import Kind

    if size in (None, 1):
        return
    given = f"--min-cluster-size {size}"
    if method != "recon":
        msg = (
            f"{given} belongs to --method recon, but the method is {method}.\n"
            "Hint: leave it out, or give --method recon."
        )
        raise click.UsageError(msg)
    if not isinstance(clusters, int):
        msg = f"{given} goes with a number of clusters.\nHint: give one, as in -k 5."
        raise click.UsageError(msg)
    if statements is not None and (statements.constraints.kind != Kind.TRIPLET).any():
        msg = (
            f"{given} goes with triplets alone, but there are statements about pairs or groups, which would break.\n"
            "Hint: leave it out; every cluster is then a branch of the tree."
        )
        raise click.UsageError(msg)


def _is_large(table: Table) -> bool:
    """Whether a table of all distances would be too much to take without being asked."""
    from linkwise._memory import MATRIX

    return len(table) > MATRIX and not is_sparse(table)


def choose_linkage(table: Table, method: str, linkage: str | None) -> tuple[str, tuple[str, ...]]:
    """The linkage, and why where that is no matter of course: many samples have too many distances to keep."""
    n = len(table)
    if method == "agglomerative" and linkage is None and _is_large(table):
        return "ward", (f"ward linkage, which keeps no table of the {n:,} x {n:,} distances.",)
    return linkage or ("centroid" if method == "recon" and not is_sparse(table) else "average"), ()


def decide(
    table: Table, statements: Knowledge | None, method: str, linkage: str | None
) -> tuple[int, str, tuple[str, ...]]:
    """Number of clusters and linkage when neither is given, and why."""
    from linkwise import ConstrainedAgglomerative, Constraints, ReCon
    from linkwise.selection import decide_cut

    compare = "cosine" if is_sparse(table) else "euclidean"
    estimator = (ReCon if method == "recon" else ConstrainedAgglomerative)(metric=compare)
    usual: tuple[str, ...] = ("centroid", "average") if method == "recon" else ("average", "ward", "complete")
    if compare == "cosine":
        usual = ("average", "complete")
    elif _is_large(table):
        usual = tuple(linkage for linkage in usual if linkage in LEAN)
    known = Constraints.build(len(table)) if statements is None else statements.constraints
    with explained(statements):
        return decide_cut(estimator, (linkage,) if linkage else usual, table.X, known)


def fit(table: Table, statements: Knowledge | None, method: str, cut: Cut) -> Any:
    from linkwise import ConstrainedAgglomerative, COPKMeans, ReCon

    model: Any
    if method == "copkmeans":
        model = COPKMeans(n_clusters=cast("int", cut.clusters), random_state=0)
    else:
        model = (ReCon if method == "recon" else ConstrainedAgglomerative)(
            n_clusters=cut.clusters,
            distance_threshold=cut.height,
            linkage=cut.linkage,
            metric="cosine" if is_sparse(table) else "euclidean",
        )
        if method == "recon":
            model.set_params(min_cluster_size=cut.min_size)
    with explained(statements):
        return model.fit(table.X, constraints=None if statements is None else statements.constraints)


@contextmanager
def explained(statements: Knowledge | None) -> Iterator[None]:
    """Tell a contradiction in the words of the file, and what to do about statements a method does not know."""
    from linkwise.exceptions import InfeasibleConstraintsError, UnsupportedConstraintError

    try:
        yield
    except UnsupportedConstraintError as stranger:
        triplets = any("triplet" in kind for kind in stranger.kinds)
        hint = "--method recon" if triplets else "leave them out; `linkwise.cluster` in Python has more methods."
        msg = f"{str(stranger).split(chr(10), 1)[0]}\nHint: {hint}"
        raise UnsupportedConstraintError(msg, stranger.kinds) from stranger
    except InfeasibleConstraintsError as conflict:
        if conflict.explanation is None or statements is None:
            raise
        text = statements.explain(conflict.explanation)
        msg = f"the statements cannot all hold.\n{text}"
        raise InfeasibleConstraintsError(msg, conflict.explanation) from conflict
