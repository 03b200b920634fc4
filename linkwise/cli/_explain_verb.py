"""``linkwise explain``: the verb that lists every conflict in some files, with its fixes and its proof by line."""

from __future__ import annotations

from typing import Any

import click

from linkwise._messages import many
from linkwise.cli._check_verb import about, can_hold, code_of, conflict_dict, read_inputs
from linkwise.cli._options import CLUSTERS, FORMATS, Amount, table_options
from linkwise.cli._verb import FAILED, answer, verb


@verb(short_help="List every conflict: its fixes, then the proof.")
@click.argument("constraints", metavar="STATEMENTS...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--data",
    "data_path",
    metavar="DATA",
    type=click.Path(allow_dash=True),
    help="The samples that the statements name.",
)
@table_options
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="The form of the files; without it, recognized by their content.",
)
@click.option("-k", "--clusters", type=CLUSTERS, metavar="N", help="Ask for exactly N clusters.")
@click.option(
    "--budget",
    type=Amount(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="Counted work, about a second each.",
)
@click.option("--time-limit", type=Amount(min=0, min_open=True), help="Seconds after which to stop with work left.")
def explain(
    constraints: tuple[str, ...],
    data_path: str | None,
    form: str | None,
    clusters: int | None,
    budget: float,
    time_limit: float | None,
    **options: Any,
) -> int:
    """List conflicts that share no row, each with its fixes first and then the proof, by file and line.

    Named are the rows of files of groups and labels, members of groups, and statements. With --data, the fixes
    that agree best with the data come first. `linkwise repair` drops the fewest statements so that the rest holds.

    Exits with 0 when there is no conflict, 3 when there is one, 4 when it is only about the number of clusters,
    1 when it could not be decided.
    """
    from linkwise.problem import check, conflicts

    statements, table = read_inputs(constraints, data_path, form, clusters, options)
    said, X = statements.constraints, None if table is None else table.X
    found = conflicts(said, n_clusters=clusters, X=X, budget=budget, time_limit=time_limit)
    more = found[-1].more if found else False
    told = {
        "statements": said.n_statements,
        "samples": said.n_samples,
        "conflicts": [conflict_dict(statements, why) for why in found],
        "more": more,
        "cut": bool(found and found[-1].cut),
    }
    if not found:
        verdict = check(said, n_clusters=clusters, X=X)
        sure = verdict.status == "feasible"
        answer(told, f"{about(statements)} {can_hold(statements) if sure else f': not decided. {verdict.because}'}")
        return 0 if sure else FAILED
    parts = [f"{about(statements)} cannot all hold: {many(len(found), 'conflict')}."]
    for number, why in enumerate(found, start=1):
        parts.append((f"\nConflict {number}\n" if len(found) > 1 else "") + statements.explain(why))
    if more:
        parts.append(
            "\nThere are more conflicts than these; repair some and look again, or give "
            f"{'more time with --time-limit' if found[-1].cut else 'more work with --budget'}."
        )
    answer(told, "\n".join(parts))
    return min(code_of(why) for why in found)
