"""Readers of the names and labels of samples from any table, as `write_labels` wrote it; other columns are ignored."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.exceptions import LinkwiseError
from linkwise.io._columns import Columns
from linkwise.io._data import _ids, _open
from linkwise.io._statements import unescaped
from linkwise.io._text import shown, source_name

_SAMPLE = ("sample", "id", "name")
WRITTEN = ("sample", "cluster")  # the columns of `write_labels`
_CLUSTER = ("cluster", "label", "class", "group")


def read_names(source: Any, id: str | None = None) -> npt.NDArray[Any]:  # noqa: A002 - as in read_data
    r"""Read only the names of the samples of a table; its other columns may hold anything.

    Parameters
    ----------
    source : str, Path, file, data frame or array
        As for `read_data`.
    id : str, optional
        The column that names the samples; without it they are 0, 1, 2, ...

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> import io
    >>> from linkwise.io import read_names
    >>> read_names(io.StringIO("name,color\notter,brown\nseal,grey\n"), id="name").tolist()
    ['otter', 'seal']
    """
    found, names = _open(source, None)
    if not isinstance(found, Columns):
        return np.arange(found.shape[0]) if names is None else names
    return _ids(found, id, names)


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

    Raises
    ------
    LinkwiseError
        There is no such column.

    See Also
    --------
    write_labels : the way back.

    Examples
    --------
    >>> import io
    >>> from linkwise.io import read_labels
    >>> ids, labels = read_labels(io.StringIO("sample,cluster\notter,0\nseal,1\n"))
    >>> ids.tolist(), labels.tolist()
    (['otter', 'seal'], ['0', '1'])
    """
    found, names = _open(source, None)
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
    ids = _ids(found, id, names)
    if tuple(found.names) == WRITTEN and not found.name.endswith((".parquet", ".pq")):  # as `write_labels` does it
        ids = np.array([unescaped(name) for name in ids.tolist()])
    return ids, labels
