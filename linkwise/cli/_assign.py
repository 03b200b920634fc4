"""``linkwise assign``: new rows into the clusters of a model."""

from __future__ import annotations

import click

from linkwise.cli._options import refuse_existing
from linkwise.cli._verb import answer, show, speaks_json, verb

__all__ = ["assign"]


@verb(short_help="Put new rows into the clusters of a model.")
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("data", metavar="[DATA]", default="-", type=click.Path(allow_dash=True))
@click.option("--id", "id_column", metavar="COLUMN", help="Column that names the rows; by default that of the model.")
@click.option("-o", "--output", metavar="FILE", default="-", type=click.Path(allow_dash=True), help="Where labels go.")
@click.option("--force", is_flag=True, help="Replace the file if it is there already.")
def assign(model: str, data: str, id_column: str | None, output: str, force: bool) -> None:
    """Read new rows from DATA (default: standard input) and say which cluster of MODEL each belongs to.

    MODEL is a file .lwm, or a folder that `linkwise cluster` wrote. Rows are prepared as those of the model were: same
    columns, same scale, same words. Writes sample,cluster as CSV (to standard output by default), .tsv or .parquet.
    """
    from pathlib import Path

    from linkwise.exceptions import LinkwiseError
    from linkwise.io import labels_csv, load, read_data, write_labels

    place, ending = Path(model), Path(output).suffix.lower()
    if output != "-":
        if ending not in (".csv", ".tsv", ".parquet", ".pq") and not Path(output).is_dir():
            msg = f"-o {output} ends in {ending!r}, expected .csv, .tsv or .parquet."
            raise click.UsageError(msg)
        refuse_existing(output, force=force, inputs=[model, data])
    fitted, prepared = load(place / "model.lwm" if place.is_dir() else place, with_data=True)
    engine = getattr(fitted, "estimator", fitted)
    if not hasattr(engine, "predict"):
        msg = f"{model} is a {type(engine).__name__}, which places no new samples.\nHint: cluster all of them together."
        raise LinkwiseError(msg)
    table = read_data(data, id=id_column) if prepared is None else read_data(data, id=id_column, like=prepared)
    labels = engine.predict(table.X)
    if output != "-":
        write_labels(output, labels, table.ids)
    elif not speaks_json():
        show(labels_csv(table.ids, labels), nl=False)
    told = [{"sample": name, "cluster": label} for name, label in zip(table.ids.tolist(), labels.tolist(), strict=True)]
    answer({"assigned": told, "written": None if output == "-" else output})
