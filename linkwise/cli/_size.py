"""How much memory a clustering will take, said before any of it is taken, with what takes less."""

from __future__ import annotations

import click

__all__ = ["estimate", "require_room"]

GIB = 2**30
LEAN = ("ward", "centroid", "median")  # on Euclidean vectors these keep centroids instead of distances


def estimate(n: int, *, linkage: str, method: str, sparse: bool, said: bool) -> int:
    """Bytes that the distances between ``n`` samples will take; 0 where none are kept."""
    if sparse:
        return 2 * 8 * n * n  # vectors become distances, and these are worked upon in a copy
    if linkage in LEAN or (linkage == "single" and method == "agglomerative" and not said):
        return 0
    return 8 * n * n


def require_room(n: int, *, linkage: str, method: str, sparse: bool, said: bool, quiet: bool) -> None:
    """Say a large amount of memory before it is taken; refuse what cannot be had, and name what takes less."""
    from linkwise.engines.hierarchical._memory import available_memory
    from linkwise.exceptions import MemoryLimitError

    needed, free = estimate(n, linkage=linkage, method=method, sparse=sparse, said=said), available_memory()
    what = f"{linkage} linkage of {n:,} samples takes about {needed / GIB:,.1f} GiB of memory for their distances"
    if free is not None and needed > free:
        less = "" if sparse else f"--linkage {LEAN[0]} (or {', '.join(LEAN[1:])}) keeps no distances; "
        msg = f"{what}, and {free / GIB:,.1f} GiB are free; nothing was begun.\nHint: {less}or cluster some of the rows."
        raise MemoryLimitError(msg.replace("Hint: or", "Hint:"), needed=needed, available=free)
    if needed > GIB and not quiet:
        click.echo(f"{what}" + ("." if free is None else f"; {free / GIB:,.1f} GiB are free."), err=True)
