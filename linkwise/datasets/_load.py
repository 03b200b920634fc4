"""Loader of real data sets: bundled with scikit-learn, from a folder of the user, or downloaded on request."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from linkwise._messages import did_you_mean
from linkwise.datasets._dataset import Data
from linkwise.datasets._local_files import Folder, encode, read_column
from linkwise.exceptions import DamagedDatasetError, DatasetNotFoundError


@dataclass(frozen=True)
class Entry:
    """One set of the catalogue.

    ``shape`` is samples, features and classes. ``openml`` is the name and version there; ``keep`` and ``drop`` then
    list the classes and columns of the set, ``complete`` leaves out samples with missing values.
    """

    shape: tuple[int, int, int]
    what: str
    openml: tuple[str, int] | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    complete: bool = False


# Bundled with scikit-learn, so always available.
BUNDLED = {
    "iris": "load_iris",
    "wine": "load_wine",
    "digits": "load_digits",
    "breast_cancer": "load_breast_cancer",
}

CATALOGUE: dict[str, Entry] = {
    "iris": Entry((150, 4, 3), "Three species of iris, measured in four ways."),
    "wine": Entry((178, 13, 3), "Chemical analyses of wines from three growers."),
    "digits": Entry((1797, 64, 10), "Written digits as pictures of 8 by 8 dots."),
    "breast_cancer": Entry((569, 30, 2), "Diagnostic Wisconsin breast cancer: cell nuclei in images."),
    "breast": Entry((699, 9, 2), "Original Wisconsin breast cancer; 16 values are missing.", ("breast-w", 1)),
    "census_adult": Entry((48842, 14, 2), "Adults of a census and whether they earn above 50,000.", ("adult", 2)),
    "crabs": Entry((200, 5, 2), "Rock crabs of two species; their first principal component is mere size."),
    "crabs_sexsp": Entry((200, 5, 4), "The same crabs by species and sex: two levels of classes."),
    "digits_389": Entry((3165, 16, 3), "Pen strokes of the digits 3, 8 and 9.", ("pendigits", 1), ("3", "8", "9")),
    "glass": Entry((214, 9, 6), "Splinters of glass and the kind of glass they come from.", ("glass", 1)),
    "ionosphere": Entry((351, 34, 2), "Radar echoes of the ionosphere, good and bad.", ("ionosphere", 1)),
    "letter": Entry((20000, 16, 26), "Printed capital letters, described by 16 numbers.", ("letter", 1)),
    "letters_ijlt": Entry((3059, 16, 4), "The letters I, J, L and T of `letter`.", ("letter", 1), ("I", "J", "L", "T")),
    "pendigits": Entry((10992, 16, 10), "Pen strokes of the ten digits.", ("pendigits", 1)),
    "pendigits_38": Entry((2110, 16, 2), "Pen strokes of the digits 3 and 8.", ("pendigits", 1), ("3", "8")),
    "pima": Entry((768, 8, 2), "Diabetes among the Pima.", ("diabetes", 1)),
    "soybean": Entry((562, 35, 15), "Diseases of soybeans, samples without gaps.", ("soybean", 1), complete=True),
    "soybean_large_all": Entry((683, 35, 19), "Diseases of soybeans, all samples.", ("soybean", 1)),
    "transfusion": Entry(
        (748, 4, 2), "Blood donors and whether they came back.", ("blood-transfusion-service-center", 1)
    ),
    "vote": Entry((435, 16, 2), "Votes in the House of 1984 by party.", ("vote", 1)),
    "zoo": Entry(
        (101, 16, 7), "Animals and what they have; a taxonomy of their classes.", ("zoo", 1), drop=("animal",)
    ),
    "re0": Entry((1504, 2886, 13), "Reuters news, counts of words.", ("re0.wc", 1)),
    "re1": Entry((1657, 3758, 25), "Reuters news, counts of words.", ("re1.wc", 1)),
    "tr11": Entry((414, 6429, 9), "TREC news, counts of words.", ("tr11.wc", 1)),
    "tr23": Entry((204, 5832, 6), "TREC news, counts of words.", ("tr23.wc", 1)),
    "tr31": Entry((927, 10128, 7), "TREC news, counts of words.", ("tr31.wc", 1)),
    "tr41": Entry((878, 7454, 10), "TREC news, counts of words.", ("tr41.wc", 1)),
    "banksearch_lda": Entry((10970, 4005, 11), "Web pages on a taxonomy; stand-in features, not the pages' own words."),
    "banksearch_lda_100": Entry((1100, 2275, 11), "The first hundred pages of each class of `banksearch_lda`."),
    "classic3": Entry((3891, 4303, 3), "Abstracts from medicine, information science and aeronautics."),
    "cstr": Entry((475, 1000, 4), "Abstracts of technical reports in computer science."),
    "k1a": Entry((2340, 21839, 20), "WebACE pages with all terms; classes nest in those of `k1b`."),
    "k1b": Entry((2340, 21839, 6), "The pages of `k1a` with coarse classes."),
    "webace": Entry((2340, 1000, 20), "Web pages, a thousand terms."),
    "newsgroups20": Entry((18820, 32896, 20), "Postings to twenty newsgroups, with the tree of their names."),
    "news_different_3": Entry((300, 8762, 3), "Postings to three newsgroups that have little in common."),
    "news_related_3": Entry((300, 9529, 3), "Postings to three related newsgroups."),
    "news_similar_3": Entry((300, 7161, 3), "Postings to three similar newsgroups."),
    "news_tree_100": Entry((2000, 22196, 20), "A hundred postings to each of twenty newsgroups."),
    "rcv1_topics": Entry((27613, 47236, 101), "Reuters news with their topics, several for each text."),
    "reuters1_like": Entry((785, 47236, 11), "Reuters news on eleven nodes of the topic tree, inner ones too."),
    "reuters2_like": Entry((711, 47236, 8), "Reuters news about markets: alike topics, inner nodes too."),
    "reuters21578": Entry((8293, 18933, 65), "Reuters news of 1987, counts of words."),
    "reuters10": Entry((7285, 18221, 10), "The ten largest classes of `reuters21578`."),
    "reuters10_2900": Entry((2900, 1000, 10), "A sample of `reuters10` with a thousand terms."),
    "reuters_r52": Entry((9100, 8622, 52), "Reuters news of one topic each."),
    "reuters_r8": Entry((7674, 8342, 8), "The eight largest topics of `reuters_r52`."),
}


VARIABLE = "LINKWISE_DATA"


def names(data: str | Path | None = None, *, available: bool = False) -> tuple[str, ...]:
    """List the data sets that `load` knows by name.

    Parameters
    ----------
    data : path, optional
        A folder of data sets; by default the one the environment variable ``LINKWISE_DATA`` names, if any.
    available : bool, default=False
        Leave out sets that are neither bundled nor in the folder.

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

    A folder given as ``data`` comes first, then the sets of scikit-learn, then the folder that the environment variable
    ``LINKWISE_DATA`` names, then, with ``download=True``, OpenML.

    Parameters
    ----------
    name : str
        One of `names`.
    data : path, optional
        A folder of data sets; ``docs/datasets.md`` describes the format.
    download : bool, default=False
        Whether the set may be downloaded. Downloads stay in the data folder of scikit-learn.

    Returns
    -------
    Data

    Raises
    ------
    DatasetNotFoundError
        The set is not available; ``ways`` lists ways to get it.
    DamagedDatasetError
        A file is damaged, or differs from the expected set.

    Notes
    -----
    **Guarantee** files of a folder are compared with its ``SHA256SUMS`` and ``MANIFEST.md`` if it has them, other sets
    with their known sizes; a set that differs is refused. Words are read as ranks (see ``Data.categorical``), gaps as
    NaN.

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
            f"{name} could not be downloaded from OpenML as {title!r}, version {version}: {error}\n"
            f"Hint: try again later, or put the set into a folder and name that folder with {VARIABLE} or `data`."
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
            f"expected {entry.shape[0]:,}, {entry.shape[1]:,} and {entry.shape[2]}. It is another edition."
        )
        raise DamagedDatasetError(msg, data.source)


def _ways(name: str) -> tuple[str, ...]:
    ways = [
        f"set {VARIABLE} to a folder that holds {name}.csv, {name}.csv.gz or {name}.npz (format: docs/datasets.md)",
        f"load({name!r}, data='path/to/that/folder')",
    ]
    entry = CATALOGUE.get(name)
    if entry is not None and entry.openml is not None:
        ways.append(f"load({name!r}, download=True) downloads it from OpenML")
    return tuple(ways)


def _missing(name: str, folder: Folder | None) -> DatasetNotFoundError:
    if name in CATALOGUE:
        where = f"is not in {folder.path}" if folder else f"is not bundled, and {VARIABLE} names no folder"
        ways = _ways(name)
        listed = "\n".join(f"  - {way}" for way in ways)
        return DatasetNotFoundError(f"the data set {name} {where}.\nHint: one of these gets it:\n{listed}", name, ways)
    known = sorted(set(CATALOGUE) | set(folder.names() if folder else ()))
    hint = did_you_mean(name, known, "`linkwise.datasets.names()` lists all of them.")
    return DatasetNotFoundError(f"there is no data set called {name!r}.\nHint: {hint}", str(name))
