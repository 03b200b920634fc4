"""A study in one picture: the mean of a measure over seeds, with the band in which it lies."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from linkwise.exceptions import LinkwiseError
from linkwise.plots import plot_curve
from studies.experiments._cell import FIELDS, canonical


def plot_records(
    records: Iterable[Mapping[str, Any]],
    x: str = "amount",
    y: str = "pairwise_f",
    *,
    by: str = "engine",
    where: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a measure over a field, one line per engine, with the confidence band of the mean over seeds.

    Parameters
    ----------
    records : iterable of dict
        What `Study.records` or `read_records` returns. Cells that are done are drawn; the legend counts the others.
    x : str, default="amount"
        The field along the horizontal axis.
    y : str, default="pairwise_f"
        The measure, or ``"seconds"``.
    by : str, default="engine"
        The field that makes lines; for engines their parameters count, too.
    where : mapping, optional
        Draw only the records with these values, for instance ``{"data": "iris"}``.
    confidence : float, default=0.95
        Of the band (Student's t, seeds taken as independent). A single seed has no band.
    title : str, optional
        Heading; by default the data set.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    LinkwiseError
        Nothing to draw, or records differ in a field that is neither drawn nor chosen: their mean would mean nothing.

    Examples
    --------
    >>> from studies.experiments import plot_records
    >>> cell = {"engine": "A", "params": {}, "data": "iris", "status": "done"}
    >>> records = [cell | {"seed": s, "amount": a, "f": a / 9 + s / 20} for s in (0, 1) for a in (0, 5)]
    >>> plot_records(records, "amount", "f").get_ylabel()
    'f'
    """
    if not 0 < confidence < 1:
        msg = f"plot_records: confidence is {confidence!r}, expected a number between 0 and 1."
        raise LinkwiseError(msg)
    records = list(records)
    chosen = _choose(records, x, y, where or {})
    missing = Counter(
        _line(record, by) for record in records if record["status"] != "done" and _fits(record, where or {})
    )
    _require_alike(chosen, {x, by, "seed", *(("params",) if by == "engine" else ())})
    lines: dict[str, dict[Any, list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in chosen:
        lines[_line(record, by)][record[x]].append(float(record[y]))
    data = {record["data"] for record in chosen}
    heading = title if title is not None else data.pop() if len(data) == 1 else ""
    curves = {_legend(name, missing[name]): points for name, points in lines.items()}
    return plot_curve(curves, confidence=confidence, xlabel=x, ylabel=y, title=heading, ax=ax)


def _choose(records: Iterable[Mapping[str, Any]], x: str, y: str, where: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    done = [record for record in records if record["status"] == "done"]
    for name in (x, y, *where):
        if done and not any(name in record for record in done):
            known = sorted({key for record in done for key in record})
            msg = f"no record has a field {name!r}; there are {', '.join(known)}."
            raise LinkwiseError(msg)
    chosen = [
        record for record in done if _fits(record, where) and record.get(y) is not None and np.isfinite(record[y])
    ]
    if not chosen:
        msg = f"there is nothing to draw: no finished record has a number for {y!r}"
        msg += (
            f" where {dict(where)}."
            if where
            else ".\nHint: `study.run()` computes them; failed ones say why in 'error'."
        )
        raise LinkwiseError(msg)
    return chosen


def _fits(record: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    return all(_same(record.get(name), value) for name, value in where.items())


def _legend(name: str, missing: int) -> str:
    """Say how many cells are not in the line, lest it look better than it is."""
    return f"{name}, without {missing} that failed" if missing else name


def _same(value: Any, wanted: Any) -> bool:
    return canonical(value) == canonical(wanted) if isinstance(wanted, (dict, list, tuple)) else bool(value == wanted)


def _require_alike(records: list[Mapping[str, Any]], drawn: set[str]) -> None:
    for name in (*FIELDS, "version", "code"):
        if name in drawn:
            continue
        values = sorted({canonical(record.get(name)) for record in records})
        if len(values) > 1:
            msg = (
                f"the records differ in {name}: {', '.join(values[:5])}{' and more' if len(values) > 5 else ''}; "
                "a mean over these would mean nothing.\n"
                f"Hint: choose one with where={{{name!r}: ...}}, or draw a line for each with by={name!r}."
            )
            raise LinkwiseError(msg)


def _line(record: Mapping[str, Any], by: str) -> str:
    if by != "engine":
        return f"{by} {record[by]}"
    inside = ", ".join(f"{name}={value}" for name, value in record["params"].items())
    name = str(record["engine"]).rpartition(":")[2]
    return f"{name}({inside})" if inside else name
