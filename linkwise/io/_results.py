"""Results as files, written and read: labels as CSV or Parquet, trees as Newick, JSON or a linkage matrix."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._files import read_bytes, read_text_file, write_whole
from linkwise.exceptions import LinkwiseError
from linkwise.io._archive import array_of_npy, npy_of_array
from linkwise.io._arrow_files import PARQUET, tree_of_parquet, tree_parquet
from linkwise.io._columns import Columns
from linkwise.io._data import open_columns, sample_names
from linkwise.io._statements import escaped, unescaped
from linkwise.io._text import shown, source_name
from linkwise.result import Dendrogram

_LINES = 2**16  # worded at once
_SAMPLE = ("sample", "id", "name")
WRITTEN = ("sample", "cluster")  # the columns of `write_labels`
NAMED = (*WRITTEN, "cluster_name")  # and with names of clusters
_CLUSTER = ("cluster", "label", "class", "group")


def csv_line(*values: object, delimiter: str = ",") -> str:
    """Word one row of CSV; text that a spreadsheet would run as a formula gets a leading apostrophe.

    Examples
    --------
    >>> from linkwise.io import csv_line
    >>> print(csv_line("@cmd", "a,b", -5), end="")
    '@cmd,"a,b",-5
    """
    cells = []
    for value in values:
        text = escaped(str(value))
        if any(mark in text for mark in (delimiter, '"', "\n", "\r")):
            text = '"' + text.replace('"', '""') + '"'
        cells.append(text)
    return delimiter.join(cells) + "\n"


def labels_csv(ids: Any, labels: Any, *, delimiter: str = ",", names: Mapping[int, str] | None = None) -> str:
    r"""Word labels as CSV with a header, one row per sample; without ``ids`` samples are row numbers.

    With ``names`` of clusters there is a third column, empty for clusters without one.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise.io import labels_csv
    >>> labels_csv(np.array(["otter", "seal"]), np.array([0, 1]))
    'sample,cluster\notter,0\nseal,1\n'
    >>> labels_csv(np.array(["otter", "seal"]), np.array([0, 1]), names={1: "Phocidae"})
    'sample,cluster,cluster_name\notter,0,\nseal,1,Phocidae\n'
    """
    return "".join(label_lines(ids, labels, delimiter=delimiter, names=names))


def label_lines(
    ids: Any, labels: Any, *, delimiter: str = ",", names: Mapping[int, str] | None = None
) -> Iterator[str]:
    """Word labels as `labels_csv` does, in pieces of some lines, so that the whole need not be held."""
    yield csv_line(*(NAMED if names else WRITTEN), delimiter=delimiter)
    _require_as_many(ids, labels)
    for low in range(0, len(labels), _LINES):
        at = slice(low, min(low + _LINES, len(labels)))
        samples = range(at.start, at.stop) if ids is None else np.asarray(ids[at]).tolist()
        rows = zip(samples, np.asarray(labels[at]).tolist(), strict=True)
        if names:
            yield "".join([csv_line(*row, names.get(row[1], ""), delimiter=delimiter) for row in rows])
        else:
            yield "".join([csv_line(*row, delimiter=delimiter) for row in rows])


def _require_as_many(ids: Any, labels: Any) -> None:
    if ids is not None and len(ids) != len(labels):
        msg = f"there are {len(labels):,} labels for {len(ids):,} samples, expected one each."
        raise LinkwiseError(msg)


def write_labels(path: Any, labels: Any, ids: Any = None, *, names: Mapping[int, str] | None = None) -> None:
    r"""Write the cluster of each sample: .csv, .tsv or .parquet; the file appears whole or not at all.

    Parameters
    ----------
    path : str or Path
        Where to; the ending says in which form. Parquet needs pyarrow.
    labels : array-like of shape (n_samples,)
        The cluster of each sample.
    ids : array-like of shape (n_samples,), optional
        Names of the samples; by default row numbers. In CSV, one that a spreadsheet would run as a formula gets a
        leading apostrophe.
    names : mapping of int to str, optional
        Names of clusters, for a third column that is empty for clusters without one.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from linkwise.io import write_labels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_labels(pathlib.Path(folder, "labels.csv"), [0, 0, 1])
    ...     pathlib.Path(folder, "labels.csv").read_text()
    'sample,cluster\n0,0\n1,0\n2,1\n'
    """
    place = Path(path)
    ending = place.suffix.lower()
    if ending in (".csv", ".tsv"):
        lines = label_lines(ids, labels, delimiter="\t" if ending == ".tsv" else ",", names=names)
        write_whole(place, (some.encode() for some in lines))
    elif ending in PARQUET:
        write_whole(place, _labels_parquet(ids, labels, names))
    else:
        msg = f"write_labels: {place.name} ends in {ending!r}, expected .csv, .tsv or .parquet."
        raise LinkwiseError(msg)


def _labels_parquet(ids: Any, labels: Any, names: Mapping[int, str] | None) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as missing:
        msg = "write_labels needs pyarrow to write Parquet.\nHint: pip install 'linkwise[io]', or write .csv."
        raise LinkwiseError(msg) from missing
    _require_as_many(ids, labels)
    sink = io.BytesIO()
    samples, clusters = np.arange(len(labels)) if ids is None else np.asarray(ids), np.asarray(labels)
    columns = {"sample": pa.array(samples), "cluster": pa.array(clusters)}
    if names:
        columns["cluster_name"] = pa.array([names.get(cluster, "") for cluster in clusters.tolist()])
    pa.parquet.write_table(pa.table(columns), sink)
    return sink.getvalue()


def read_labels(
    source: Any,
    column: str | None = None,
    *,
    id: str | None = None,  # noqa: A002 - as in read_data
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    r"""Read the cluster or class of each sample from a column of a table.

    Parameters
    ----------
    source : str, Path, file, data frame or array
        As for `read_data`; what `write_labels` wrote, for example.
    column : str, optional
        The column of labels; by default ``cluster``, ``label``, ``class`` or ``group``, whichever is there.
    id : str, optional
        The column that names the samples; by default ``sample``, ``id`` or ``name`` if there is one, else they are
        0, 1, 2, ...

    Returns
    -------
    ids : ndarray of shape (n_samples,)
        Names as text, or row numbers.
    labels : ndarray of str, shape (n_samples,)
        The labels as text; "" where one is missing.

    Examples
    --------
    >>> import io
    >>> from linkwise.io import read_labels
    >>> ids, labels = read_labels(io.StringIO("sample,cluster\notter,0\nseal,1\n"))
    >>> ids.tolist(), labels.tolist()
    (['otter', 'seal'], ['0', '1'])
    """
    found, names = open_columns(source, None)
    if not isinstance(found, Columns):
        msg = f"{source_name(source)} is a sparse matrix, expected a table with a column of labels."
        raise LinkwiseError(msg)
    if column is None:
        column = next((name for name in _CLUSTER if name in found.names), None)
        if column is None:
            listed = ", ".join(map(str, found.names[:20]))
            msg = (
                f"{found.name} has no column of labels called {', '.join(_CLUSTER[:-1])} or {_CLUSTER[-1]}.\n"
                f"Hint: name the column; the table has {listed}."
            )
            raise LinkwiseError(msg)
    labels = np.array(found.words(found.find("the column of labels", [column])[0]))
    if not len(labels):
        msg = f"{found.name} has no rows."
        raise LinkwiseError(msg)
    if id is None and names is None:
        id = next((name for name in _SAMPLE if name in found.names and name != column), None)  # noqa: A001
    if id == column:
        msg = f"{found.name}: {shown(column)} cannot both name the samples and hold their labels."
        raise LinkwiseError(msg)
    ids = sample_names(found, id, names)
    if tuple(found.names) in (WRITTEN, NAMED) and not found.name.endswith(PARQUET):  # as `write_labels` does it
        ids = np.array([unescaped(name) for name in ids.tolist()])
    return ids, labels


def write_tree(
    path: Any,
    tree: Dendrogram,
    *,
    ids: Any = None,
    join: bool = False,
    node_names: Mapping[int, str] | None = None,
) -> None:
    r"""Write a hierarchy: .nwk (Newick), .json and .parquet (everything) or .npy (a SciPy linkage matrix).

    Parameters
    ----------
    path : str or Path
        Where to; the ending says in which form. The file appears whole or not at all. Parquet has a row for each node,
        the samples first, with its parent (-1: none) and height; it needs pyarrow, and suits millions of samples.
    tree : Dendrogram
        What to write. A linkage matrix holds one tree, of merges of two.
    ids : array-like of shape (n_samples,), optional
        Names of the samples, where the tree itself has none.
    join : bool, default=False
        Write the trees of a forest as one tree, joined above every merge as `Dendrogram.joined` does. Most programs
        read one tree only: of several lines of Newick they take the first, and a linkage matrix cannot hold more. In
        .nwk, .json and .parquet the join is marked, and `Dendrogram.parted` takes it away.
    node_names : mapping of int to str, optional
        Names of inner nodes by number; only Newick has a place for them.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from linkwise import Dendrogram
    >>> from linkwise.io import write_tree
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tree(pathlib.Path(folder, "tree.nwk"), Dendrogram(2, [2, 2, -1]), ids=["otter", "seal"])
    ...     pathlib.Path(folder, "tree.nwk").read_text()
    '(otter:1.0,seal:1.0);\n'
    """
    place = Path(path)
    ending = place.suffix.lower()
    if ids is not None and tree.ids is None:
        tree = Dendrogram(tree.n_samples, tree.parent, tree.raw_height, marked=tree.marked, ids=ids, joins=tree.joins)
    if join:
        tree = tree.joined()
    if ending in (".nwk", ".newick", ".tree", ".tre"):
        write_whole(place, tree.to_newick(node_names=node_names).encode())
    elif ending == ".json":
        write_whole(place, tree.to_json().encode() + b"\n")
    elif ending in PARQUET:
        write_whole(place, tree_parquet(tree))
    elif ending == ".npy":
        write_whole(place, npy_of_array(tree.to_linkage()))
    else:
        msg = f"write_tree: {place.name} ends in {ending!r}, expected .nwk, .json, .parquet or .npy."
        raise LinkwiseError(msg)


def read_tree(path: Any) -> Dendrogram:
    r"""Read a hierarchy: .json, .parquet as `write_tree` writes them, .npy (a linkage matrix), anything else as Newick.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Dendrogram
        As the file has it; `Dendrogram.parted` gives the forest that was joined for other programs.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from linkwise import Dendrogram
    >>> from linkwise.io import read_tree, write_tree
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tree(pathlib.Path(folder, "tree.json"), Dendrogram(2, [2, 2, -1]))
    ...     read_tree(pathlib.Path(folder, "tree.json")).parent.tolist()
    [2, 2, -1]
    """
    place = Path(path)
    ending = place.suffix.lower()
    try:
        if ending == ".npy":
            return Dendrogram.from_linkage(array_of_npy(read_bytes(place), str(place)))
        if ending in PARQUET:
            return tree_of_parquet(read_bytes(place), str(place))
        text = read_text_file(place)
        return Dendrogram.from_json(text) if ending == ".json" else Dendrogram.from_newick(text, forest=True)
    except (ValueError, KeyError, TypeError) as bad:
        if str(bad).startswith(str(place)):
            raise
        msg = f"{place} is not a readable tree: {str(bad) or type(bad).__name__}"
        raise LinkwiseError(msg) from bad
