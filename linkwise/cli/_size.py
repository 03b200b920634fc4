"""How much memory a clustering will take, said before any of it is taken, with what takes less."""

from __future__ import annotations

from typing import NamedTuple

import click

__all__ = ["LEAN", "Distances", "require_room"]

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
    from linkwise.engines.hierarchical._memory import available_memory
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
