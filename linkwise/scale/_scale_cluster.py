"""`cluster` over blocks of rows: the plan, the passes, the checkpoint, the labels and their certificate."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from linkwise._files import is_partial, parse_json, visible, write_whole
from linkwise._messages import hint, many, notice
from linkwise._typing import FloatArray
from linkwise._validation import read_count, read_number, warn_user
from linkwise.engines import current_progress
from linkwise.engines.hierarchical import MOST_CLUSTERS
from linkwise.exceptions import InfeasibleConstraintsError, ScaleError, ViolationError
from linkwise.problem import check
from linkwise.scale._block_certificate import BlockCertificate, certify_blocks
from linkwise.scale._block_tasks import Shared, digest_of, write
from linkwise.scale._cell_trees import CellPlan, divide, grow_tree, place_groups
from linkwise.scale._kmeans import Start, State, fetch_all, one_pass, resolve, sample_size, share_centers, start_centers
from linkwise.scale._row_blocks import Source, open_source
from linkwise.scale._runner import MIB, DaskRunner, LocalRunner
from linkwise.scale._statement_files import Statements, gather_statements
from linkwise.scale._tree_certificate import TreeCertificate, certify_tree, read_merges

if TYPE_CHECKING:
    from linkwise.result import Dendrogram

_WORKER, _NAMED = 300 * MIB, 24  # of a worker with libraries, before it reads rows; for each row that is named
_MERGING = 80 * MIB  # of a worker with libraries for merging besides
_WORK = ".linkwise"
_LONG, _LINES = 40, 10  # blocks of a pass that is long, and lines about one


@dataclass(frozen=True)
class ScalePlan:
    """The size of a run before it starts.

    Attributes
    ----------
    n_rows, n_features, n_clusters, n_blocks, n_named, n_workers : int
        Rows, columns of numbers, clusters, blocks, rows that statements name, and workers; 0 for this process.
    n_passes : int
        Most passes of k-means over the rows; two more fetch rows and write labels.
    worker_bytes, driver_bytes : int
        Memory that a worker needs, and that statements and sums need where the run is started from.

    Examples
    --------
    >>> from linkwise.scale import ScalePlan
    >>> print(ScalePlan(1_000_000, 16, 20, 4, 0, 2, 30, 3 * 2**28, 2**26))
    1,000,000 rows of 16 numbers in 4 blocks, 20 clusters, 0 rows named by statements; at most 32 passes over the rows.
    A worker needs 768 MiB, this process 64 MiB besides.
    """

    n_rows: int
    n_features: int
    n_clusters: int
    n_blocks: int
    n_named: int
    n_workers: int
    n_passes: int
    worker_bytes: int
    driver_bytes: int

    def __str__(self) -> str:
        return (
            f"{self.n_rows:,} rows of {self.n_features:,} numbers in {many(self.n_blocks, 'block')}, "
            f"{many(self.n_clusters, 'cluster')}, {self.n_named:,} rows named by statements; at most "
            f"{self.n_passes + 2} passes over the rows.\n"
            f"A worker needs {self.worker_bytes / MIB:,.0f} MiB, this process {self.driver_bytes / MIB:,.0f} MiB "
            "besides."
        )


@dataclass(frozen=True, eq=False)
class ScaleClustering:
    """The result of `linkwise.scale.cluster`; labels stay in files until they are asked for.

    Attributes
    ----------
    centers : ndarray of float64, shape (n_clusters, n_features)
        Means of the clusters before the last assignment.
    cost : float
        Sum of squared distances to the centers in the last pass.
    n_passes, converged : int, bool
        Passes of k-means, and whether the centers had stopped moving.
    folder : Path
        Holds ``labels/part-*.parquet``, ``centers.npy`` and ``certificate.json``.
    certificate : BlockCertificate
        What other code found in the label files.
    plan : ScalePlan
        The size of the run.
    tree_certificate : TreeCertificate or None
        What other code found in the files of the tree, if one was asked for.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from linkwise.scale import cluster
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> with tempfile.TemporaryDirectory() as place:
    ...     found = cluster(X, None, 2, out=f"{place}/result")
    ...     labels = found.labels
    >>> bool(labels[0] == labels[1]), bool(labels[0] == labels[2]), found.certificate.n_rows
    (True, False, 4)
    """

    centers: FloatArray
    cost: float
    n_passes: int
    converged: bool
    folder: Path
    certificate: BlockCertificate
    plan: ScalePlan
    tree_certificate: TreeCertificate | None = None

    @property
    def dendrogram(self) -> Dendrogram | None:
        """Read the tree from its files, about 60 bytes for each row; None if none was asked for."""
        if self.tree_certificate is None:
            return None
        from linkwise.result import Dendrogram

        return Dendrogram.from_merges(self.certificate.n_rows, *read_merges(self.folder / "tree"))

    @property
    def labels(self) -> npt.NDArray[np.int32]:
        """Read the labels of all rows from the files: 4 bytes for each row."""
        import pyarrow.parquet as pq

        files = sorted((self.folder / "labels").glob("part-*.parquet"))
        return np.concatenate([pq.read_table(file).column("cluster").to_numpy() for file in files])


def cluster(
    source: Any,
    constraints: Any,
    n_clusters: int,
    *,
    client: Any = None,
    block_rows: int = 262_144,
    checkpoint: str | Path | None = None,
    out: str | Path,
    columns: Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002 - as in read_data
    max_passes: int = 30,
    tree: bool = False,
    top: int = 3_000,
    random_state: int = 0,
    stall_after: float | None = None,
    force: bool = False,
    verbose: bool = False,
) -> ScaleClustering:
    """Divide the rows of files into clusters by k-means, block by block, so that every must- and cannot-link holds.

    Parameters
    ----------
    source : str, Path, Dask array, Dask data frame or ndarray
        A Parquet file, a folder or pattern of them, a ``.npy`` file, or a Dask collection. Files must be readable
        under the same name by all workers; addresses such as ``s3://...`` are opened by pyarrow.
    constraints : Constraints, str, Path, sequence of paths or None
        Must-links, cannot-links and groups about row numbers, counted from 0; or Parquet or CSV files with columns
        kind, a, b, which hold row numbers or, with ``id``, names.
    n_clusters : int
        Number of clusters.
    client : distributed.Client, optional
        Where tasks run; by default in this process, with the same result.
    block_rows : int, default=262_144
        Rows that one task reads. The result depends on it, but not on how rows are divided into files.
    checkpoint : str or Path, optional
        Folder that holds the state after each pass. A run with the same input goes on from there.
    out : str or Path
        Folder for the results, which all workers can write to. Results appear all together at the end.
    columns : sequence of str, optional
        Columns to compare by; by default all but ``id``.
    id : str, optional
        Column of names, words or whole numbers, by which files of statements name rows; without it they name row
        numbers from 0. Label files hold the names. ``007`` and ``7`` are different names.
    max_passes : int, default=30
        Most passes of k-means.
    tree : bool, default=False
        Merge the rows of each cluster to a tree as well, and the clusters as far as cannot-links allow.
    top : int, default=3000
        Branches, about, that are compared with all others of their cluster to finish the tree.
    random_state : int, default=0
        Decides the sample that the first centers come from.
    stall_after : float, optional
        Seconds without a finished block after which the run ends with an error that names the workers; by default the
        longer of a minute and 20 times the median time of a block.
    force : bool, default=False
        Replace results that exist.
    verbose : bool, default=False
        Print the plan, each pass and the time left.

    Returns
    -------
    ScaleClustering

    See Also
    --------
    linkwise.COPKMeans : the same for rows in memory.

    Notes
    -----
    Workers add up the rows that no statement names; those that one does are placed here, by connected component of
    cannot-links, at minimum cost where a component is a clique or has no cycles. Sums are added pairwise by block
    number.

    For a tree each cluster is divided into cells of at most about a quarter of a block, around centers from the sample;
    must-linked rows share a cell. Rows are written by cell once. A task merges the rows of a cell along nearest
    neighbors, as `SparseAgglomerative` does, down to its share of ``top`` branches; those of all cells of a cluster are
    compared here with Ward linkage, and then the clusters. The size of the largest cell is reported before rows are
    moved, and a cell that no worker can hold is refused then.

    **Cost** one pass reads all rows; O(k d) time for each. Memory of a worker does not depend on the number of rows,
    that of this process only through the rows that statements name.
    **Guarantee** every statement holds in the label files, counted by code that shares nothing with this; or an error.
    The same bytes for any number of workers, any timing, workers that end, and any division of rows into files, on
    processors of one family. The cost never rises from one pass to the next, unless an empty cluster is moved.
    **Departure from** [1]_ k-means|| runs on a sample of about 65,536 rows, eight times from its candidates, and then
    up to 30 times a center is put elsewhere if that lowers the cost, fewer times or never where clusters and columns
    are many; a cluster may stay empty where fewer different rows than clusters exist.

    References
    ----------
    .. [1] B. Bahmani, B. Moseley, A. Vattani, R. Kumar, S. Vassilvitskii, "Scalable K-Means++", VLDB 2012.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.scale import cluster
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> known = Constraints.build(1000, must_link=[(0, 1)], cannot_link=[(0, 2)])
    >>> with tempfile.TemporaryDirectory() as place:
    ...     found = cluster(X, known, 3, block_rows=300, out=f"{place}/result")
    >>> print(found.certificate)
    1 of 1 must-links and 1 of 1 cannot-links hold in 1,000 labels.
    """
    k = read_count(n_clusters, "n_clusters", "scale.cluster", low=1)
    rows = read_count(block_rows, "block_rows", "scale.cluster", low=1)
    place = Path(os.fspath(out))
    _require_folder(place, "out")
    if checkpoint is not None:
        _require_folder(Path(checkpoint), "checkpoint")
    if (place / "labels").exists() and not force:
        instead = hint(command="--force", python="force=True")
        msg = f"{place / 'labels'} holds results already.\nHint: {instead} replaces them, or choose another folder."
        raise ScaleError(msg)
    opened = open_source(source, rows, columns, id)
    if k > opened.n_rows:
        msg = f"scale.cluster: n_clusters is {k:,}, but the data have {many(opened.n_rows, 'row')}."
        raise ScaleError(msg)
    passes = read_count(max_passes, "max_passes", "scale.cluster", low=1)
    seed = read_count(random_state, "random_state", "scale.cluster", low=0)
    if stall_after is not None:
        stall_after = read_number(stall_after, "stall_after", "scale.cluster")
    statements = gather_statements(constraints, opened, "scale.cluster")
    _require_possible(statements, k)
    say: Callable[[str], None] = notice if verbose else lambda _: None
    runner = LocalRunner() if client is None else DaskRunner(client, stall_after, say)
    plan = _plan(opened, statements, k, passes, runner.n_workers, rows)
    say(str(plan))
    if isinstance(runner, DaskRunner):
        _require_room(plan, runner.memory_limit(), rows)
    branches = read_count(top, "top", "scale.cluster", low=1, high=MOST_CLUSTERS) if tree else 0
    made = _Run(opened, statements, constraints, plan, runner, place, say, seed, branches, rows)
    return made.work(None if checkpoint is None else Path(checkpoint))


def _require_folder(path: Path, name: str) -> None:
    if path.exists() and not path.is_dir():
        msg = f"scale.cluster: {name} is {visible(path)}, which is a file, expected a folder."
        raise ScaleError(msg)


def _require_possible(statements: Statements, k: int) -> None:
    """Raise with the statements at fault if they contradict each other or keep more than k groups apart."""
    if not len(statements.names):
        return
    verdict = check(statements.table)
    verdict.raise_if_infeasible()
    if (verdict.k_min or 1) > k:
        check(statements.table, n_clusters=k).raise_if_infeasible()
        msg = f"the statements need at least {verdict.k_min} clusters, but n_clusters is {k}."
        raise InfeasibleConstraintsError(msg)


def _plan(source: Source, statements: Statements, k: int, passes: int, workers: int, block_rows: int) -> ScalePlan:
    d, named = source.n_features, len(statements.names)
    block = min(block_rows, source.n_rows) * 8 * d
    driver = named * (24 * d + 24 * k + 100) + 8 * d * sample_size(k, d) + len(source.blocks) * (8 * k * d + 1_000)
    worker = _WORKER + _NAMED * named + 3 * block
    return ScalePlan(source.n_rows, d, k, len(source.blocks), named, workers, passes, worker, driver)


def _require_room(plan: ScalePlan, limit: int | None, block_rows: int) -> None:
    if limit is None or plan.worker_bytes <= limit:
        return
    smaller = (limit - _WORKER - _NAMED * plan.n_named) // (24 * plan.n_features)
    fitting = hint(command=f"--block-rows {smaller}", python=f"block_rows={smaller}")
    way = f"{fitting} fits." if smaller >= 1_000 else "give workers more memory."
    msg = (
        f"a block of {block_rows:,} rows of {plan.n_features:,} numbers needs a worker of "
        f"{plan.worker_bytes / MIB:,.0f} MiB, but the smallest has {limit / MIB:,.0f} MiB.\nHint: {way}"
    )
    raise ScaleError(msg)


class _Run:
    """One run: its inputs, and how far it has come."""

    def __init__(
        self,
        source: Source,
        statements: Statements,
        given: Any,
        plan: ScalePlan,
        runner: LocalRunner | DaskRunner,
        place: Path,
        say: Callable[[str], None],
        seed: int,
        top: int,
        block_rows: int,
    ) -> None:
        self.top, self.block_rows = top, block_rows
        self.source, self.statements, self.given, self.plan = source, statements, given, plan
        self.runner, self.place, self.say, self.seed = runner, place, say, seed
        self.done, self.total = 0, (plan.n_passes + 2) * plan.n_blocks
        self.began = time.monotonic()
        self.key = "-".join([source.digest[:16], statements.digest[:16], str(plan.n_clusters), str(seed)])

    def over(self, phase: str, function: Any, blocks: Any, given: Any, take: Any) -> None:
        """Run one pass and report every block."""
        report = current_progress()
        before = self.done

        def taken(place: int, result: Any) -> None:
            take(place, result)
            self.done += 1
            if report is not None:
                report(self.done, self.total)
            here, count = self.done - before, len(blocks)
            if _LONG <= count > here and here * _LINES // count > (here - 1) * _LINES // count:
                self._say_time(f"{phase}: {here:,} of {many(count, 'block')} done")

        self.runner.run(function, blocks, given, taken)
        self._say_time(f"{phase} done")

    def _say_time(self, what: str) -> None:
        spent = time.monotonic() - self.began
        left = spent / max(self.done, 1) * max(self.total - self.done, 0)
        self.say(f"{what} after {spent:.0f} s; at most about {left:.0f} s left.")

    def work(self, checkpoint: Path | None) -> ScaleClustering:
        """Fetch, pass, write, certify, publish; on any failure remove unfinished files unless there is a checkpoint."""
        before = None if checkpoint is None else self._resume(checkpoint)
        work = self.place / _WORK / digest_of(np.frombuffer(self.key.encode(), dtype=np.uint8))  # not of another run
        made = not self.place.exists()
        work.mkdir(parents=True, exist_ok=True)
        shared = Shared(str(work.absolute()), self.source.columns, self.source.id_column)
        done = False
        try:
            found = self._work(shared, checkpoint, before)
            done = True
            return found
        finally:
            if checkpoint is None or done:
                shutil.rmtree(work.parent if done else work, ignore_errors=True)
            with contextlib.suppress(OSError):  # another run is under way there
                work.parent.rmdir()
            if made and self.place.exists() and not any(self.place.iterdir()):
                self.place.rmdir()

    def _work(self, shared: Shared, checkpoint: Path | None, before: State | None) -> ScaleClustering:
        k = self.plan.n_clusters
        start = fetch_all(self.source, self.statements, self.given, k, self.over, shared, self.seed)
        shared.put("rows", start.known.rows)
        state = before
        if state is None:
            first = start_centers(start.sample, k, self.seed)
            state = State(first, np.empty(0, dtype=np.intp), 0, np.inf, converged=False)
        else:
            self.say(f"going on after pass {state.n_passes} of {checkpoint}.")
        while not state.converged and state.n_passes < self.plan.n_passes:
            state = one_pass(self.source, start, state, self.over, shared, self.say)
            if checkpoint is not None:
                self._keep(checkpoint, state)
        labels, _ = resolve(start.known, state.centers, state.labels)
        name = share_centers(shared, state.centers)
        named = labels[start.known.group].astype(np.int32)
        shared.put(f"labels-{name}", named)
        aside = Path(shared.folder) / f"labels-{digest_of(state.centers, named)}"
        aside.mkdir(exist_ok=True)
        self.total = self.done + self.plan.n_blocks
        self.over("writing", write, self.source.blocks, (shared, name, str(aside)), lambda *_: None)
        certificate = certify_blocks(aside, self.given, k)
        if not certificate.ok or certificate.n_rows != self.source.n_rows:
            msg = (
                f"the label files break statements: {certificate}\nHint: this is a fault of linkwise; please report it."
            )
            raise ViolationError(msg)
        proof = self._grow(aside, start, state, labels, shared, certificate.sizes) if self.top else None
        self._publish(aside, state, certificate, proof)
        return ScaleClustering(
            state.centers, state.cost, state.n_passes, state.converged, self.place, certificate, self.plan, proof
        )

    def _grow(
        self, aside: Path, start: Start, state: State, labels: Any, shared: Shared, sizes: tuple[int, ...]
    ) -> TreeCertificate:
        """Write the tree of the labels, and read it back."""
        k, folder = self.plan.n_clusters, aside.with_name("tree")
        cells = divide(start, state.centers, sizes, shared, max(1, self.block_rows // 4))
        place_groups(start, labels, cells, shared)
        self.total = self.done + 2 * self.plan.n_blocks + 2 * cells.n_cells

        def accept(plan: CellPlan) -> None:
            self.say(str(plan))
            limit = self.runner.memory_limit() if isinstance(self.runner, DaskRunner) else None
            need = _WORKER + _MERGING + _NAMED * self.plan.n_named + plan.worker_bytes
            if limit is not None and need > limit:
                rows = hint(command="--block-rows", python="block_rows")
                msg = (
                    f"a worker needs {need / MIB:,.0f} MiB, but the smallest has "
                    f"{limit / MIB:,.0f} MiB: {plan}\nHint: a smaller {rows} makes more cells, except of equal "
                    "rows and of rows that must-links join."
                )
                raise ScaleError(msg)

        apart = start.known.apart(labels, k)
        grow_tree(
            self.source,
            cells,
            aside,
            folder,
            self.over,
            shared,
            top=self.top,
            seed=self.seed,
            k=k,
            apart=apart,
            accept=accept,
        )
        proof = certify_tree(folder, aside, self.given)
        if not proof.ok:
            msg = f"the tree breaks statements: {proof}\nHint: this is a fault of linkwise; please report it."
            raise ViolationError(msg)
        self.say(str(proof))
        return proof

    def _publish(self, aside: Path, state: State, certificate: BlockCertificate, proof: TreeCertificate | None) -> None:
        (self.place / "certificate.json").unlink(missing_ok=True)  # it is about the results that go now
        for made, name in ((aside, "labels"), (aside.with_name("tree"), "tree")):
            final = self.place / name
            if final.exists():
                shutil.rmtree(final)
            if made.exists():
                for left in filter(is_partial, list(made.rglob("*"))):  # of a worker that ended while it wrote
                    left.unlink(missing_ok=True)
                made.rename(final)
        held = io.BytesIO()
        np.save(held, state.centers, allow_pickle=False)
        write_whole(self.place / "centers.npy", held.getvalue())
        told = {**json.loads(certificate.to_json()), **({} if proof is None else {"tree": proof.as_dict()})}
        write_whole(self.place / "certificate.json", json.dumps(told, indent=2).encode())
        self.say(str(certificate))
        empty = certificate.sizes.count(0)
        if empty:
            warn_user(
                f"{empty:,} of the {len(certificate.sizes):,} clusters {'is' if empty == 1 else 'are'} empty.\n"
                "Hint: ask for fewer clusters; equal rows mostly share one."
            )

    # -- the checkpoint --------------------------------------------------------------------------------------------

    def _keep(self, folder: Path, state: State) -> None:
        held = io.BytesIO()
        np.savez(held, centers=state.centers, labels=state.labels)
        name = f"state-{state.n_passes:04d}.npz"
        write_whole(folder / name, held.getvalue())
        facts = {"key": self.key, "state": name, "n_passes": state.n_passes, "cost": state.cost}
        write_whole(folder / "checkpoint.json", json.dumps(facts | {"converged": state.converged}).encode())
        for old in folder.glob("state-*.npz"):
            if old.name != name:
                old.unlink(missing_ok=True)

    def _resume(self, folder: Path) -> State | None:
        path = folder / "checkpoint.json"
        if not path.exists():
            return None
        try:
            facts = parse_json(path.read_bytes())
            key, name = str(facts["key"]), str(facts["state"])
            with np.load(io.BytesIO((folder / name).read_bytes()), allow_pickle=False) as held:
                centers, labels = held["centers"], held["labels"]
            state = State(centers, labels, int(facts["n_passes"]), float(facts["cost"]), bool(facts["converged"]))
        except (ValueError, LookupError, TypeError, OSError, EOFError, BadZipFile) as bad:
            msg = f"{folder} holds a checkpoint that cannot be read ({bad}).\nHint: remove the folder, and begin again."
            raise ScaleError(msg) from bad
        if key != self.key:
            msg = (
                f"{folder} holds the checkpoint of a run with other data, statements, block_rows, n_clusters or "
                "random_state.\nHint: give the same input, or another folder."
            )
            raise ScaleError(msg)
        return state
