"""Data sets in a folder: ``<name>.csv[.gz]``, ``<name>.npz``, and sets derived from these by rows and columns.

The format, described in `docs/datasets.md`: a CSV file has a header, ``label`` as its last column, columns named
``id_*`` that are not features, and an empty cell where a value is missing. An NPZ file holds the parts of a CSR matrix.
The files are checked against ``SHA256SUMS`` and ``MANIFEST.md``, where present.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from linkwise._typing import FloatArray, IntArray
from linkwise.datasets._dataset import Data
from linkwise.exceptions import DamagedDatasetError, LinkwiseError
from linkwise.sources import Taxonomy

ENDINGS = (".csv", ".csv.gz", ".npz")
COARSE = {"k1b": "k1a"}  # the same matrix; the file holds a second, coarser column of labels
_ROW = re.compile(r"^\|\s*([\w.-]+)\s*\|[^|]*\|\s*(\d+)×(\d+|var\.)×(\d+)")


class Folder:
    """A folder of data sets."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        if not self.path.is_dir():
            msg = (
                f"the data folder {self.path} does not exist, or is not a folder.\n"
                "Hint: set LINKWISE_DATA, or the argument `data`, to a folder with files such as glass.csv."
            )
            raise LinkwiseError(msg)
        self._derived: dict[str, Any] | None = None

    @property
    def derived(self) -> dict[str, Any]:
        """Definitions of sets that are rows and columns of another, from ``derived.json``."""
        if self._derived is None:
            self._derived = self._json("derived.json")
        return self._derived

    def names(self) -> list[str]:
        """Return the names of all sets in the folder, sorted."""
        files = {file.name[: -len(end)] for file in self.path.iterdir() for end in ENDINGS if file.name.endswith(end)}
        coarse = {fine_of for fine_of, fine in COARSE.items() if fine in files}
        return sorted(files | coarse | {name for name, how in self.derived.items() if str(how.get("base")) in files})

    def load(self, name: str) -> Data:
        """Read one of the sets that `names` lists."""
        data = self._plain(name) if name not in self.derived else self._cut(name, self.derived[name])
        tree = self._json("hierarchies.json").get(COARSE.get(name, name))
        if tree:
            data = replace(data, taxonomy=_taxonomy(tree, data, self.path / "hierarchies.json"))
        self._check_shape(data)
        return data

    # -- the kinds of files ------------------------------------------------------------------------------------

    def _plain(self, name: str) -> Data:
        stem = COARSE.get(name, name)
        for end in ENDINGS:
            path = self.path / f"{stem}{end}"
            if path.is_file():
                content = self._bytes(path)
                with _damage(path):
                    return _read_npz(name, content, path) if end == ".npz" else _read_csv(name, content, path)
        msg = f"{self.path} holds no file for the data set {name}."
        raise DamagedDatasetError(msg, str(self.path))

    def _cut(self, name: str, how: dict[str, Any]) -> Data:
        base = self._plain(how["base"])
        path = self.path / "derived.json"
        with _damage(path):
            rows = np.array(how["rows"], dtype=np.intp)
            columns = np.array(how["columns"], dtype=np.intp) if "columns" in how else None
            for what, places, size in (("row", rows, base.n_samples), ("column", columns, base.n_features)):
                if places is not None and len(places) and not 0 <= places.min() <= places.max() < size:
                    msg = f"{name} names a {what} outside the {size:,} of {base.name}"
                    raise ValueError(msg)
            X = base.X[rows]
            if columns is None and how.get("drop_empty_columns"):
                columns = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
            labels = how.get("labels")
            if labels is None:
                used, y = np.unique(base.y[rows], return_inverse=True)
                label_names = tuple(base.label_names[i] for i in used)
            else:
                y, label_names = encode(labels)
                if len(y) != len(rows):
                    msg = f"{name} has {len(y):,} labels for {len(rows):,} rows"
                    raise ValueError(msg)
        features, categorical = base.feature_names, base.categorical
        if columns is not None:
            X = X[:, columns]
            features = tuple(features[i] for i in columns) if features else ()
            categorical = None if categorical is None else categorical[columns]
        return Data(
            X, y.astype(np.intp), name, features, label_names, f"{path}, from {how['base']}", "", categorical,
            {key: column[rows] for key, column in base.ids.items()},
        )  # fmt: skip

    # -- checks against the files that describe the folder -----------------------------------------------------

    def _bytes(self, path: Path) -> bytes:
        """Read a whole file and compare it with its checksum, if the folder has one."""
        try:
            content = path.read_bytes()
        except OSError as error:
            msg = f"{path} cannot be read: {error.strerror or error}."
            raise DamagedDatasetError(msg, str(path)) from None
        wanted = self._sums().get(path.name)
        if wanted is not None and hashlib.sha256(content).hexdigest() != wanted:
            msg = (
                f"{path} differs from its checksum in SHA256SUMS: it was altered or truncated.\n"
                "Hint: copy it again; if the change is intended, remove its line from SHA256SUMS."
            )
            raise DamagedDatasetError(msg, str(path))
        return content

    def _sums(self) -> dict[str, str]:
        path = self.path / "SHA256SUMS"
        if not path.is_file():
            return {}
        with _damage(path):
            lines = path.read_text(encoding="utf-8").splitlines()
            parts = [line.split(maxsplit=1) for line in lines if line.strip()]
            return {file.lstrip("*").strip(): digest.lower() for digest, file in parts}

    def _json(self, name: str) -> dict[str, Any]:
        path = self.path / name
        if not path.is_file():
            return {}
        content = self._bytes(path)
        with _damage(path):
            made = json.loads(content)
            if not isinstance(made, dict) or not all(isinstance(value, dict) for value in made.values()):
                msg = "the file is not an object of objects"
                raise ValueError(msg)
        return made

    def _check_shape(self, data: Data) -> None:
        path = self.path / "MANIFEST.md"
        if not path.is_file():
            return
        with _damage(path):
            rows = [_ROW.match(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            if row is None or row[1] != data.name:
                continue
            wanted = (int(row[2]), data.n_features if row[3] == "var." else int(row[3]), int(row[4]))
            found = (data.n_samples, data.n_features, data.n_classes)
            if found != wanted:
                msg = (
                    f"{data.name} has {_size(found)}, but {path} lists {_size(wanted)}.\n"
                    "Hint: the file is another edition or damaged; copy it again."
                )
                raise DamagedDatasetError(msg, str(path))


def _size(shape: tuple[int, int, int]) -> str:
    return f"{shape[0]:,} samples, {shape[1]:,} features, {shape[2]:,} classes"


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turn any error of a parser into one error about the file."""
    try:
        yield
    except DamagedDatasetError:
        raise
    except (
        ValueError, KeyError, IndexError, TypeError, EOFError, OSError, zipfile.BadZipFile, zlib.error, csv.Error,
        OverflowError, NotImplementedError,
    ) as error:  # fmt: skip
        why = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) and error.args else str(error)
        msg = f"{path} cannot be read as a data set: {why.rstrip('.')}.\nHint: the file is damaged; copy it again."
        raise DamagedDatasetError(msg, str(path)) from None


def encode(labels: Sequence[str]) -> tuple[IntArray, tuple[str, ...]]:
    """Number classes in the order of their names, or of their values if all are numbers."""
    try:
        names = sorted(set(labels), key=float)
    except ValueError:
        names = sorted(set(labels))
    code = {name: i for i, name in enumerate(names)}
    return np.array([code[label] for label in labels], dtype=np.intp), tuple(names)


def read_column(cells: Sequence[str]) -> tuple[FloatArray, bool]:
    """Read a column as numbers, or as ranks of words in sorted order; an empty cell is NaN."""
    try:
        return np.array([float(cell) if cell else np.nan for cell in cells]), False
    except ValueError:
        rank = {word: float(i) for i, word in enumerate(sorted({cell for cell in cells if cell}))}
        return np.array([rank.get(cell, np.nan) for cell in cells]), True


def _read_csv(name: str, content: bytes, path: Path) -> Data:
    if path.suffix == ".gz":
        import gzip

        content = gzip.decompress(content)
    table = list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))
    if len(table) < 2:
        msg = "it has no samples"
        raise ValueError(msg)
    header, rows = table[0], table[1:]
    if header[-1] != "label":
        msg = f"the last column is {header[-1]!r}, expected 'label'"
        raise ValueError(msg)
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            msg = f"row {number} has {len(row)} cells, the header {len(header)}"
            raise ValueError(msg)
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    features = tuple(word for word in header[:-1] if not word.startswith("id_"))
    if not features or len(columns) != len(header):
        msg = "it has no features, or two columns of one name"
        raise ValueError(msg)
    read = [read_column(columns[word]) for word in features]
    y, label_names = encode(columns["label"])
    return Data(
        np.column_stack([values for values, _ in read]), y, name, features, label_names, str(path), "",
        np.array([wordy for _, wordy in read]),
        {word[3:]: np.array(columns[word]) for word in header[:-1] if word.startswith("id_")},
    )  # fmt: skip


def _read_npz(name: str, content: bytes, path: Path) -> Data:
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        part = {key: file[key] for key in file.files}
    n, d = (int(size) for size in part["shape"])
    X = sparse.csr_array((part["data"].astype(np.float64), part["indices"], part["indptr"]), shape=(n, d))
    X.check_format(full_check=True)
    if "topic_indices" in part:
        label_names = tuple(str(word) for word in part["topic_names"])
        ones = np.ones(len(part["topic_indices"]), dtype=np.int8)
        y = sparse.csr_array((ones, part["topic_indices"], part["topic_indptr"]), shape=(n, len(label_names)))
        y.check_format(full_check=True)
    else:
        y = part["labels_coarse" if name in COARSE else "labels"].astype(np.intp)
        words = part.get("coarse_names" if name in COARSE else "label_names", np.arange(y.max(initial=-1) + 1))
        label_names = tuple(str(word) for word in words)
        if y.shape != (n,) or (n and not 0 <= y.min() <= y.max() < len(label_names)):
            msg = f"the labels do not name one of {len(label_names)} classes for each of {n:,} samples"
            raise ValueError(msg)
    words = part.get("vocabulary", ())
    if len(words) not in (0, d):
        msg = f"the vocabulary has {len(words):,} words for {d:,} columns"
        raise ValueError(msg)
    return Data(X, y, name, tuple(str(word) for word in words), label_names, str(path))


def _taxonomy(tree: dict[str, str], data: Data, path: Path) -> Taxonomy:
    with _damage(path):
        place = {name: i for i, name in enumerate(tree)}
        parent = np.array([place[above] if above else -1 for above in tree.values()], dtype=np.intp)
        node = np.full(data.n_samples, -1, dtype=np.intp)
        if data.y.ndim == 1:
            node = np.array([place.get(name, -1) for name in data.label_names], dtype=np.intp)[data.y]
        return Taxonomy(parent, node, names=list(tree))
