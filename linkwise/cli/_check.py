"""``linkwise check``: can these statements hold together, and if not, which few are at fault."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from linkwise.io import Knowledge
    from linkwise.problem import Explanation, Verdict

__all__ = ["check"]

UNDECIDED, CONFLICT = 1, 3


@click.command(short_help="Say whether statements can hold together, and why not.")
@click.argument("constraints", metavar="STATEMENTS", type=click.Path())
@click.option(
    "--data", "data_path", metavar="DATA.csv", type=click.Path(), help="The samples the statements speak about."
)
@click.option("--id", "id_column", metavar="COLUMN", help="Column of DATA.csv that names the samples.")
@click.option("-k", "--clusters", type=click.IntRange(min=1), metavar="N", help="Ask for exactly N clusters.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
def check(constraints: str, data_path: str | None, id_column: str | None, clusters: int | None, as_json: bool) -> int:
    """Say whether the statements in a file can all hold together.

    STATEMENTS is a CSV file with the columns type,a,b,c,weight, or one JSON object with these keys per line; type is
    must_link, cannot_link or triplet (a and b are closer to each other than to c), and no weight means that the
    statement may not be broken. The types together and apart name any number of samples in a column samples, divided
    by semicolons (in JSON a list): all in one cluster, or no two in the same one; must_link_any and cannot_link_any let
    the first choose among the others. Without --data the samples are those that the file names.

    Exits with 0 when they can hold, 3 when they cannot, 1 when it could not be decided.
    """
    from linkwise.io import read_data, read_knowledge
    from linkwise.problem import check as decide

    if id_column is not None and data_path is None:
        msg = "--id names a column of the data, so it needs --data DATA.csv."
        raise click.UsageError(msg)
    ids = None
    if data_path is not None:
        ids = read_data(data_path, id=id_column).ids
    statements = read_knowledge(constraints, ids)
    said = statements.constraints
    if clusters is not None and clusters > said.n_samples:
        msg = f"-k {clusters}: there are only {said.n_samples} samples."
        raise click.UsageError(msg)
    verdict = decide(said, n_clusters=clusters)
    click.echo(_as_json(verdict, statements) if as_json else _as_text(verdict, statements))
    return {"feasible": 0, "infeasible": CONFLICT}.get(verdict.status, UNDECIDED)


def _as_text(verdict: Verdict, statements: Knowledge) -> str:
    said = statements.constraints
    about = f"{said.n_statements:,} statements about {said.n_samples:,} samples"
    if verdict.status == "feasible":
        fewest = f" They allow {verdict.k_min:,} to {verdict.k_max:,} clusters." if verdict.k_min is not None else ""
        return f"{about} can all hold together.{fewest}"
    if verdict.explanation is not None:
        return f"{about} cannot all hold.\n{statements.explain(verdict.explanation)}"
    return f"{about}: not decided. {verdict.because}"


def _as_json(verdict: Verdict, statements: Knowledge) -> str:
    why = verdict.explanation
    told = {
        "status": verdict.status,
        "statements": statements.constraints.n_statements,
        "samples": statements.constraints.n_samples,
        "k_min": verdict.k_min,
        "k_max": verdict.k_max,
        "because": verdict.because if why is None else why.because,
        "conflict": [] if why is None else [_as_dict(statements, s) for s in why.core],
        "fixes": [] if why is None else [_as_dict(statements, s) for (s,) in _single(why)],
        "repairs": [] if why is None else [[_as_dict(statements, s) for s in group] for group in why.suspects],
    }
    return json.dumps(told, indent=2, ensure_ascii=False)


def _as_dict(statements: Knowledge, statement: int) -> dict[str, object]:
    words = statements.constraints.describe(statement).split(" ", 1)[1]
    return {"line": statements.line_of(statement), "statement": words}


def _single(why: Explanation) -> list[tuple[int, ...]]:
    return [group for group in why.suspects if len(group) == 1]
