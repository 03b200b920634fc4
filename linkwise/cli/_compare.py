"""``linkwise compare``: how far two results agree, and which samples moved."""

from __future__ import annotations

import click

from linkwise._wording import many
from linkwise.cli._options import Whole
from linkwise.cli._score import match_samples
from linkwise.cli._verb import answer, verb

__all__ = ["compare"]


@verb(short_help="Say how far two results agree, and which samples moved.")
@click.argument("first", metavar="FIRST", type=click.Path(allow_dash=True))
@click.argument("second", metavar="SECOND", type=click.Path(allow_dash=True))
@click.option("--shown", type=Whole(0), default=20, show_default=True, help="How many samples to name.")
def compare(first: str, second: str, shown: int) -> None:
    """Compare two results, each labels.csv, a model or a folder that `linkwise cluster` wrote.

    Clusters of SECOND are named after those of FIRST so that as few samples as possible have moved.
    """
    import numpy as np

    from linkwise import metrics
    from linkwise.cli._options import one_standard_input
    from linkwise.cli._result import open_result
    from linkwise.exceptions import LinkwiseError
    from linkwise.plots import match_labels

    one_standard_input([first, second])
    old, new = open_result(first), open_result(second)
    for one in (old, new):
        if one.labels is None:
            msg = f"{one.name} says nothing about clusters.\nHint: give labels.csv or a model."
            raise LinkwiseError(msg)
    labels = new.labels[match_samples(old.ids, new.ids, old.name, new.name)]
    renamed = match_labels(labels, old.labels)
    moved = np.flatnonzero(renamed != old.labels)
    sizes = [len(np.unique(old.labels)), len(np.unique(labels))]
    agreement = metrics.adjusted_rand(old.labels, labels)
    told = {
        "samples": len(labels),
        "clusters": sizes,
        "adjusted_rand": agreement,
        "nmi": metrics.nmi(old.labels, labels),
        "moved": [
            {"sample": old.ids[i].item(), "from": int(old.labels[i]), "to": int(renamed[i])} for i in moved.tolist()
        ],
    }
    head = f"{many(len(labels), 'sample')} in {sizes[0]:,} and {many(sizes[1], 'cluster')}"
    lines = [
        f"{head}; adjusted Rand index {agreement:.4f}.",
        f"{many(len(moved), 'sample')} moved" + (":" if len(moved) and shown else "."),
    ]
    lines += [f"  {old.ids[i]}: {old.labels[i]} -> {renamed[i]}" for i in moved[:shown].tolist()]
    lines += [f"  ... and {len(moved) - shown:,} more"] if shown and len(moved) > shown else []
    answer(told, "\n".join(lines))
