"""A study: cells, a place where finished ones are kept, and what can be made of the results."""

from __future__ import annotations

import csv
import io
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import linkwise
from linkwise._files import write_whole
from linkwise._threads import cores
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from studies.experiments._cell import FIELDS, Cell, canonical
from studies.experiments._compute import DONE, FAILED, TIMEOUT, UNAVAILABLE, outcome
from studies.experiments._default_measures import Measure, default_measures
from studies.experiments._resolve import engine_named, require_found
from studies.experiments._store import Store, flat
from studies.experiments._study_plot import plot_records
from studies.experiments._workers import Answer, Task, compute_apart, compute_here

Callback = Callable[[int, int, dict[str, Any]], object]


@dataclass(frozen=True)
class Summary:
    """What a run did.

    Attributes
    ----------
    total : int
        How many different cells the study has.
    reused : int
        How many were finished before and not touched.
    done, failed, timed_out : int
        How many were computed now, and how it ended.
    unavailable : dict of str to str
        Data sets that could not be had, and why; their cells are tried again by the next run.

    Examples
    --------
    >>> from studies.experiments import Summary
    >>> print(Summary(total=12, reused=4, done=7, failed=1))
    12 cells: 4 finished before, 7 done, 1 failed, 0 out of time
    """

    total: int
    reused: int = 0
    done: int = 0
    failed: int = 0
    timed_out: int = 0
    unavailable: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        text = (
            f"{self.total} cells: {self.reused} finished before, {self.done} done, "
            f"{self.failed} failed, {self.timed_out} out of time"
        )
        for name, why in self.unavailable.items():
            text += f"\nwithout {name}: {why}"
        return text


class Study:
    """Engines, data sets and knowledge crossed into cells, computed once and kept.

    Parameters
    ----------
    cells : iterable of Cell
        What to compute, see `grid`. Cells of the same content count once.
    store : path
        Folder for the results; several studies may share one.
    code : str, default=""
        A tag of the caller's for whatever else decides the results, such as the version of an engine of one's own.
        Results under another tag, or another version of linkwise, are not taken for these.
    measures : mapping from str to callable, optional
        ``name -> f(data, labels, dendrogram, constraints)``, a number each; ``data`` is the `Data` with ``y`` and
        ``taxonomy``, ``dendrogram`` is None for engines that give none. By default ``pairwise_f``, ``rand``,
        ``adjusted_rand``, ``nmi``, ``constrained_rand``, ``hierarchy_fscore`` and ``h_correlation`` of
        `linkwise.metrics`, and ``satisfaction``, the share of the statements that hold. What a result cannot be judged
        by is null: a tree where there is none, a taxonomy where the data have none.
    data : path, optional
        Folder of data sets, as for `linkwise.datasets.load`.

    Notes
    -----
    **Guarantee** a cell whose record was written is not computed again, whatever happens to the process; a record is
    read only if it is whole. A cell that was being computed when the process died is computed again. The same cell
    gives the same measures, whatever the number of processes and the order.

    Examples
    --------
    >>> import tempfile
    >>> from studies.experiments import Study, grid
    >>> cells = grid(engine="ConstrainedAgglomerative", data="xor", amount=[0, 30], data_params={"n_samples": 40})
    >>> study = Study(cells, tempfile.mkdtemp())
    >>> print(study.run())
    2 cells: 0 finished before, 2 done, 0 failed, 0 out of time
    >>> print(study.run())
    2 cells: 2 finished before, 0 done, 0 failed, 0 out of time
    >>> [record["n_statements"] for record in study.records()]
    [0, 30]
    """

    def __init__(
        self,
        cells: Iterable[Cell],
        store: str | Path,
        *,
        code: str = "",
        measures: Mapping[str, Measure] | None = None,
        data: str | Path | None = None,
    ) -> None:
        self.measures = dict(default_measures() if measures is None else measures)
        self.code = code
        self.data = data
        self._store = Store(store)
        taken = set(self.measures) & {*FIELDS, *outcome(DONE, None), "version", "code", "key", "time_limit"}
        if taken:
            msg = f"a measure is called {', '.join(sorted(taken))}, which is a field of every record.\nHint: rename it."
            raise LinkwiseError(msg)
        self._context = {"version": linkwise.__version__, "code": code, "measures": sorted(self.measures)}
        self._cells = {cell.key(**self._context): cell for cell in cells}

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The different cells, in the order given."""
        return tuple(self._cells.values())

    def run(
        self,
        *,
        n_jobs: int = 1,
        time_limit: float | None = None,
        retry: bool = False,
        progress: Callback | bool | None = None,
    ) -> Summary:
        """Compute the cells that are not finished, and keep each as soon as it is.

        Parameters
        ----------
        n_jobs : int, default=1
            How many processes; -1 for one per core. 1 without a time limit computes in this process.
        time_limit : float, optional
            Seconds a cell may take before it is stopped and recorded as out of time. A later run with a higher limit
            tries it again.
        retry : bool, default=False
            Whether cells that failed or ran out of time are computed again.
        progress : callable or bool, optional
            ``callback(finished, total, record)`` after every cell. By default a bar if the error stream is a terminal;
            True and False force and forbid it.

        Returns
        -------
        Summary

        Warns
        -----
        LinkwiseWarning
            Data sets that could not be had, once each, after everything else is computed.

        Raises
        ------
        LinkwiseError
            An engine does not exist, or another run is at work in the same folder.
        """
        processes = _n_processes(n_jobs)
        if time_limit is not None and not 0 < time_limit < float("inf"):
            msg = f"time_limit is {time_limit!r}, expected a number of seconds > 0, or None."
            raise LinkwiseError(msg)
        for name in sorted({cell.engine for cell in self._cells.values()}):
            engine_named(name)
        for name in sorted({cell.data for cell in self._cells.values()}):
            require_found(name)
        unavailable: dict[str, str] = {}
        counts: Counter[str] = Counter()
        with self._store.working(), _shown(progress, len(self._cells)) as tell:
            pending = [task for task in self._cells.items() if not self._finished(task[0], time_limit, retry)]
            reused = len(self._cells) - len(pending)
            # read one by one, so that no further cell is begun on a set that could not be had
            wanted = (task for task in pending if task[1].data not in unavailable)
            with closing(self._answers(wanted, len(pending), processes, time_limit)) as answers:
                for (key, cell), found in answers:
                    if found["status"] == UNAVAILABLE:
                        unavailable.setdefault(cell.data, found["error"])
                        continue
                    record = cell.fields() | {"version": linkwise.__version__, "code": self.code} | found
                    self._store.put(key, record)
                    counts[found["status"]] += 1
                    tell(reused + counts.total(), len(self._cells), flat(record | {"key": key}))
        for name, why in unavailable.items():
            warnings.warn(f"without {name}, the study went on: {why}", LinkwiseWarning, stacklevel=2)
        return Summary(len(self._cells), reused, counts[DONE], counts[FAILED], counts[TIMEOUT], unavailable)

    def records(self) -> list[dict[str, Any]]:
        """Return the finished cells in the order given: fields, measures, time, and what went wrong if anything.

        ``status`` is ``"done"``, ``"failed"`` or ``"timeout"``; ``seconds`` is the time of the fit alone, which for the
        first in a process includes loading compiled code. Where merging met a dead end, ``dead_end`` is the number of
        clusters it reached and the measures are those of these clusters.
        """
        found = (self._store.get(key) for key in self._cells)
        return [flat(record) for record in found if record is not None]

    def record(self, cell: Cell) -> dict[str, Any] | None:
        """Return the record of one cell, or None if it is not finished; see `records`."""
        found = self._store.get(cell.key(**self._context))
        return None if found is None else flat(found)

    def to_csv(self, path: str | Path) -> None:
        """Write the records as CSV; parameters and warnings are JSON inside their cell."""
        columns, rows = self._table()
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([row[name] for name in columns] for row in rows)
        write_whole(Path(path), text.getvalue().encode())

    def to_parquet(self, path: str | Path) -> None:
        """Write the records as Parquet; needs pyarrow, which ``pip install 'linkwise[io]'`` brings."""
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as missing:
            msg = "Parquet is written with pyarrow, which is not installed.\nHint: pip install 'linkwise[io]'"
            raise ImportError(msg) from missing
        columns, rows = self._table()
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({name: [row[name] for row in rows] for name in columns}), sink)
        write_whole(Path(path), sink.getvalue().to_pybytes())

    def plot(self, x: str = "amount", y: str = "pairwise_f", **options: Any) -> Any:
        """Draw ``y`` over ``x``, one line per engine with the band of its mean over seeds; see `plot_records`."""
        return plot_records(self.records(), x, y, **options)

    def __repr__(self) -> str:
        return f"Study({len(self._cells)} cells, results in {self._store.folder})"

    # -- inside ------------------------------------------------------------------------------------------------

    def _finished(self, key: str, time_limit: float | None, retry: bool) -> bool:
        record = self._store.get(key)
        if record is None or record["status"] == DONE:
            return record is not None
        if record["status"] == TIMEOUT and record["time_limit"] < (float("inf") if time_limit is None else time_limit):
            return False
        return not retry

    def _answers(
        self, tasks: Iterator[Task], n_tasks: int, processes: int, time_limit: float | None
    ) -> Generator[Answer, None, None]:
        if processes == 1 and time_limit is None:
            return compute_here(tasks, self.measures, self.data)
        needed = min(processes, n_tasks)
        return compute_apart(tasks, self.measures, self.data, n_jobs=needed, time_limit=time_limit)

    def _table(self) -> tuple[list[str], list[dict[str, Any]]]:
        """All records with the same columns, nested values as JSON."""
        records = self.records()
        first = [*FIELDS, "status", *sorted(self.measures), "seconds"]
        columns = first + sorted({name for record in records for name in record} - set(first))
        rows = [
            {
                name: canonical(value) if isinstance(value, (dict, list, tuple)) else value
                for name, value in (dict.fromkeys(columns) | record).items()
            }
            for record in records
        ]
        return columns, rows


def _n_processes(n_jobs: int) -> int:
    if n_jobs == -1:
        return cores()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs < 1:
        msg = f"n_jobs is {n_jobs!r}, expected a whole number >= 1, or -1 for all cores."
        raise LinkwiseError(msg)
    return n_jobs


@contextmanager
def _shown(progress: Callback | bool | None, total: int) -> Iterator[Callback]:
    """What to call after each cell: the caller's function, a bar, or nothing."""
    if callable(progress):
        yield progress
        return
    from rich.console import Console

    console = Console(stderr=True)
    if progress is False or (progress is None and not console.is_terminal):
        yield lambda _finished, _total, _record: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console) as bar:
        shown = bar.add_task("", total=total)

        def tell(finished: int, _total: int, record: dict[str, Any]) -> None:
            bar.update(shown, completed=finished, description=f"{record['engine']} on {record['data']}")

        yield tell
