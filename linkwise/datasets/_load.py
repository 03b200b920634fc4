"""One door to real data sets: bundled with scikit-learn, in a folder of the user's, or downloaded when asked."""

from __future__ import annotations

import difflib
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.datasets._catalogue import BUNDLED, CATALOGUE, Entry
from linkwise.datasets._data import Data
from linkwise.datasets._folder import Folder, encode, read_column
from linkwise.exceptions import DamagedDatasetError, DatasetNotFoundError

__all__ = ["load", "names"]

VARIABLE = "LINKWISE_DATA"


def names(data: str | Path | None = None, *, available: bool = False) -> tuple[str, ...]:
    """List the data sets that `load` knows by name.

    Parameters
    ----------
    data : path, optional
        A folder of data sets; by default the one the environment variable ``LINKWISE_DATA`` names, if any.
    available : bool, default=False
        Leave out what is neither bundled nor in the folder, and would have to be found first.

    Returns
    -------
    tuple of str
        Sorted names.

    Examples
    --------
    >>> from linkwise.datasets import names
    >>> "iris" in names(available=True), "soybean" in names()
    (True, True)
    """
    folder = _folder(data)
    found = set(BUNDLED) | set(folder.names() if folder else ())
    return tuple(sorted(found if available else found | set(CATALOGUE)))


def load(name: str, data: str | Path | None = None, *, download: bool = False) -> Data:
    """Load a real data set by name.

    A folder given as ``data`` is asked first, then what scikit-learn brings, then the folder that the environment
    variable ``LINKWISE_DATA`` names, then, with ``download=True``, OpenML.

    Parameters
    ----------
    name : str
        One of `names`.
    data : path, optional
        A folder of data sets; ``docs/datasets.md`` describes the format.
    download : bool, default=False
        Whether the network may be asked. What was downloaded stays in scikit-learn's own folder of data.

    Returns
    -------
    Data

    Raises
    ------
    DatasetNotFoundError
        The set is not there; ``ways`` says how to get it.
    DamagedDatasetError
        A file is there, but does not hold what it should.

    Notes
    -----
    **Guarantee** files of a folder are held against its ``SHA256SUMS`` and ``MANIFEST.md`` where it has them, other
    sets against the sizes linkwise knows; a set that differs is refused. Words are read as ranks
    (see ``Data.categorical``), gaps as NaN.

    Examples
    --------
    >>> from linkwise.datasets import load
    >>> load("iris")
    Data(iris: 150 samples, 4 features, 3 classes)
    """
    given = Folder(data) if data is not None else None
    if given is not None and name in given.names():
        return _describe(given.load(name))
    if name in BUNDLED:
        return _describe(_bundled(name))
    elsewhere = _folder(None) if given is None else None
    if elsewhere is not None and name in elsewhere.names():
        return _describe(elsewhere.load(name))
    entry = CATALOGUE.get(name)
    if download and entry is not None and entry.openml is not None:
        return _describe(_openml(name, entry))
    raise _missing(name, given or elsewhere)


def _folder(data: str | Path | None) -> Folder | None:
    where = data if data is not None else os.environ.get(VARIABLE)
    return Folder(where) if where else None


def _describe(data: Data) -> Data:
    entry = CATALOGUE.get(data.name)
    return data if entry is None or data.description else replace(data, description=entry.what)


def _bundled(name: str) -> Data:
    from sklearn import datasets

    bunch = getattr(datasets, BUNDLED[name])()
    made = Data(
        bunch.data,
        bunch.target.astype(np.intp),
        name,
        tuple(bunch.feature_names),
        tuple(str(label) for label in bunch.target_names),
        f"scikit-learn, {BUNDLED[name]}",
    )
    _check_size(made, CATALOGUE[name])
    return made


def _openml(name: str, entry: Entry) -> Data:
    from sklearn.datasets import fetch_openml

    title, version = entry.openml or ("", 0)
    try:
        # this parser needs no pandas
        bunch = fetch_openml(title, version=version, as_frame=False, parser="liac-arff")
    except (OSError, ValueError) as error:
        msg = (
            f"{name} could not be downloaded from OpenML, where it is called {title!r}, version {version}: {error}\n"
            f"Hint: try again later, or put the set into a folder and name it with {VARIABLE} or `data`."
        )
        raise DatasetNotFoundError(msg, name, _ways(name)) from error
    table = bunch.data.toarray() if hasattr(bunch.data, "toarray") else np.asarray(bunch.data)
    words = set(bunch.categories or ()) if bunch.categories else set()
    columns = [i for i, word in enumerate(bunch.feature_names) if word not in entry.drop]
    read = [_column(table[:, i]) for i in columns]
    X = np.column_stack([values for values, _ in read])
    labels = np.array([str(label) for label in bunch.target])
    keep = np.ones(len(labels), dtype=bool)
    if entry.keep:
        keep &= np.isin(labels, entry.keep)
    if entry.complete:
        keep &= ~np.isnan(X).any(axis=1)
    y, label_names = encode(labels[keep].tolist())
    features = tuple(bunch.feature_names[i] for i in columns)
    categorical = np.array([wordy or word in words for (_, wordy), word in zip(read, features, strict=True)])
    made = Data(X[keep], y, name, features, label_names, f"OpenML, {title}, version {version}", "", categorical)
    _check_size(made, entry)
    return made


def _column(values: Any) -> tuple[Any, bool]:
    try:
        return values.astype(np.float64), False
    except (TypeError, ValueError):
        return read_column(["" if value is None or value != value else str(value) for value in values])  # noqa: PLR0124


def _check_size(data: Data, entry: Entry) -> None:
    found = (data.n_samples, data.n_features, data.n_classes)
    if found != entry.shape:
        msg = (
            f"{data.name} from {data.source} has {found[0]:,} samples, {found[1]:,} features and {found[2]} classes, "
            f"expected {entry.shape[0]:,}, {entry.shape[1]:,} and {entry.shape[2]}: it is another edition."
        )
        raise DamagedDatasetError(msg, data.source)


def _ways(name: str) -> tuple[str, ...]:
    ways = [
        f"set {VARIABLE} to a folder that holds {name}.csv, {name}.csv.gz or {name}.npz (docs/datasets.md: the format)",
        f"load({name!r}, data='path/to/that/folder')",
    ]
    entry = CATALOGUE.get(name)
    if entry is not None and entry.openml is not None:
        ways.append(f"load({name!r}, download=True) asks OpenML over the network")
    return tuple(ways)


def _missing(name: str, folder: Folder | None) -> DatasetNotFoundError:
    if name in CATALOGUE:
        where = f"is not in {folder.path}" if folder else f"is not bundled, and {VARIABLE} names no folder"
        ways = _ways(name)
        listed = "\n".join(f"  - {way}" for way in ways)
        return DatasetNotFoundError(f"the data set {name} {where}.\nHint: any of these gets it:\n{listed}", name, ways)
    known = sorted(set(CATALOGUE) | set(folder.names() if folder else ()))
    close = difflib.get_close_matches(str(name), known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else "`linkwise.datasets.names()` lists all of them."
    return DatasetNotFoundError(f"there is no data set called {name!r}.\nHint: {hint}", str(name))
