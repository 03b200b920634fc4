"""``linkwise score``: the verb that compares clusters with known classes."""

from __future__ import annotations

from typing import Any

import click

from linkwise._messages import many
from linkwise.cli._options import constraints_option
from linkwise.cli._verb import answer, verb


@verb(short_help="Judge clusters by known classes.")
@click.argument("result", metavar="RESULT", type=click.Path(allow_dash=True))
@click.argument("truth", metavar="TRUTH", type=click.Path(allow_dash=True))
@click.option("--column", metavar="COLUMN", help="Column of TRUTH with the classes; default: cluster, label or class.")
@click.option("--id", "id_column", metavar="COLUMN", help="Column of TRUTH that names the samples; default: by row.")
@constraints_option("Statements: pairs that they decide do not count in the constrained Rand index.")
def score(result: str, truth: str, column: str | None, id_column: str | None, constraints: tuple[str, ...]) -> None:
    """Compare the clusters of RESULT (labels.csv, a model or a folder) with the classes in a column of TRUTH.

    Samples are found by name where both have names, else by row. Where the class is empty a sample does not count.
    """
    import numpy as np

    from linkwise import metrics
    from linkwise.cli._options import one_standard_input
    from linkwise.cli._saved_result import open_result
    from linkwise.exceptions import LinkwiseError
    from linkwise.io import read_knowledge, read_labels

    one_standard_input([result, truth])
    found = open_result(result)
    if found.labels is None:
        msg = f"{found.name} holds no clusters.\nHint: give labels.csv or a model."
        raise LinkwiseError(msg)
    ids, classes = read_labels(truth, column, id=id_column)
    rows = match_samples(found.ids, ids, found.name, truth)
    known = np.array([word != "" for word in classes[rows].tolist()])
    codes = np.where(known, np.unique(classes[rows], return_inverse=True)[1], -1)
    if not known.any():
        msg = f"{truth}: the column of classes is empty."
        raise LinkwiseError(msg)
    pairs = metrics.pairwise_scores(codes, found.labels)
    told: dict[str, Any] = {
        "samples": int(known.sum()),
        "adjusted_rand": metrics.adjusted_rand(codes, found.labels),
        "nmi": metrics.nmi(codes, found.labels),
        "pairwise_precision": pairs.precision,
        "pairwise_recall": pairs.recall,
        "pairwise_f": pairs.f,
        "purity": metrics.purity(codes, found.labels),
    }
    said = read_knowledge(list(constraints), found.ids).constraints if constraints else found.constraints
    if said is not None and said.n_statements:
        told["constrained_rand"] = metrics.constrained_rand(codes, found.labels, said)
    lines = [f"{many(told['samples'], 'sample')} judged."]
    lines += [f"  {key.replace('_', ' '):<20} {value:.4f}" for key, value in told.items() if key != "samples"]
    answer(told, "\n".join(lines))


def match_samples(ids: Any, others: Any, name: str, other: str) -> Any:
    """Where each sample stands in the other table: by name where both have names, else by row."""
    import numpy as np

    from linkwise.exceptions import LinkwiseError

    mine, theirs = [str(one) for one in ids.tolist()], [str(one) for one in others.tolist()]
    at = {one: row for row, one in enumerate(theirs)}
    missing = [one for one in mine if one not in at]
    if not missing:
        return np.array([at[one] for one in mine], dtype=np.intp)
    by_row = others.dtype.kind in "iu" or ids.dtype.kind in "iu"
    if by_row and len(mine) == len(theirs):
        return np.arange(len(mine))
    hint = "\nHint: name the column that holds the names with --id." if by_row else ""
    msg = f"{len(missing):,} of {len(mine):,} samples of {name} are not in {other}, such as {missing[0][:60]!r}.{hint}"
    raise LinkwiseError(msg)
