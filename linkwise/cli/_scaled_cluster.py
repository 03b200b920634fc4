"""``linkwise cluster --workers``: the options of runs over blocks, and the run on Dask workers or in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from linkwise._files import visible
from linkwise._messages import many
from linkwise.cli._options import Whole
from linkwise.cli._verb import answer, speaks_json

F = TypeVar("F", bound=Callable[..., Any])
_OPTIONS = (
    click.option(
        "--workers",
        type=Whole(0, "a number of workers"),
        metavar="N",
        help="Read DATA (Parquet files, a folder or pattern of them, or .npy) in blocks on N worker processes of this "
        "machine; 0: in this process. Needs -k, must-links and cannot-links only.",
    ),
    click.option(
        "--scheduler", metavar="ADDRESS", help="The same on the workers of a Dask scheduler, tcp://host:8786."
    ),
    click.option("--memory-limit", metavar="SIZE", help="Memory of each of the --workers, such as 1GiB."),
    click.option(
        "--block-rows", type=Whole(1, "a number of rows"), metavar="N", help="Rows in a block.  [default: 262144]"
    ),
    click.option(
        "--checkpoint", type=click.Path(), metavar="FOLDER", help="Go on from here after a run over blocks has died."
    ),
    click.option(
        "--block-tree",
        is_flag=True,
        default=None,
        help="Make a tree in a run over blocks as well: tree/part-*.parquet with columns left, right, height.",
    ),
)
NAMES = ("workers", "scheduler", "memory_limit", "block_rows", "checkpoint", "block_tree")


def block_options(function: F) -> F:
    """Add the options of runs over blocks."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def wants_blocks(blocks: dict[str, Any]) -> bool:
    """Whether the options ask for a run over blocks; refuse those that go only with one."""
    asked = blocks["workers"] is not None or blocks["scheduler"] is not None
    if blocks["workers"] is not None and blocks["scheduler"] is not None:
        msg = "--workers starts workers and --scheduler names one that has some.\nHint: give one of them."
        raise click.UsageError(msg)
    if blocks["memory_limit"] is not None and not blocks["workers"]:
        msg = "--memory-limit is about the workers that --workers starts.\nHint: --workers 2"
        raise click.UsageError(msg)
    rest = [name for name in NAMES if blocks[name] is not None]
    if rest and not asked:
        msg = f"--{rest[0].replace('_', '-')} is about runs over blocks.\nHint: --workers 0 runs over blocks here."
        raise click.UsageError(msg)
    return asked


def cluster_blocks(
    data: str, files: tuple[str, ...], k: Any, output: str, blocks: dict[str, Any], given: dict[str, Any]
) -> None:
    """Cluster files in blocks, and show the certificate."""
    from linkwise.cli._drawing import working
    from linkwise.scale import cluster

    if not isinstance(k, int):
        msg = "a run over blocks needs a number of clusters.\nHint: -k 20"
        raise click.UsageError(msg)
    refused = [name for name, value in given["others"].items() if value]
    if refused:
        msg = f"{refused[0]} does not go together with --workers and --scheduler.\nHint: leave it out."
        raise click.UsageError(msg)
    if "-" in (data, *files):
        msg = "a run over blocks reads files many times, so it cannot read standard input.\nHint: name a file."
        raise click.UsageError(msg)
    silent = given["quiet"] or speaks_json()
    options = {name: blocks[name] for name in ("block_rows", "checkpoint") if blocks[name] is not None}
    options["tree"] = bool(blocks["block_tree"])
    with _client(blocks) as client, working("clustering", quiet=silent):
        found = cluster(
            data,
            list(files) or None,
            k,
            client=client,
            out=output,
            columns=[name.strip() for one in given["columns"] for name in one.split(",")] or None,
            id=given["id_column"],
            force=given["force"],
            verbose=not silent,
            **options,
        )
    certificate = found.certificate
    full = sum(size > 0 for size in certificate.sizes)
    lines = [f"{many(certificate.n_rows, 'sample')} in {many(full, 'cluster')} after {many(found.n_passes, 'pass')}."]
    proof = found.tree_certificate
    lines += [str(certificate), *([] if proof is None else [f"{str(proof)[0].upper()}{str(proof)[1:]}"])]
    made = ["labels", "centers.npy", "certificate.json", *([] if proof is None else ["tree"])]
    lines += [f"  {visible(found.folder / name)}" for name in made if name != "centers.npy"]
    told = {
        "samples": certificate.n_rows,
        "clusters": full,
        "sizes": certificate.sizes,
        "passes": found.n_passes,
        "converged": found.converged,
        "cost": found.cost,
        "hard_statements_hold": certificate.ok,
        "certificate": str(certificate),
        "tree": None if proof is None else proof.as_dict(),
        "files": {name: str(found.folder / name) for name in made},
    }
    answer(told, "\n".join(lines), quiet=given["quiet"])


@contextmanager
def _client(blocks: dict[str, Any]) -> Iterator[Any]:
    if blocks["scheduler"] is not None:
        from linkwise.scale import remote_workers

        with remote_workers(blocks["scheduler"]) as client:
            yield client
    elif blocks["workers"]:
        from linkwise.scale import local_workers

        with local_workers(blocks["workers"], blocks["memory_limit"] or "auto") as client:
            yield client
    else:
        yield None
