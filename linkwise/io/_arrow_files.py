"""Parquet and Arrow files: tables, statements as the text of their rows, trees as columns of nodes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.exceptions import LinkwiseError
from linkwise.result import Dendrogram

PARQUET = (".parquet", ".pq")
_SAMPLES = b"linkwise.n_samples"


def is_arrow(raw: bytes) -> bool:
    """Whether a file begins as Parquet or Arrow files do."""
    return raw.startswith((b"PAR1", b"ARROW1", b"FEA1"))


def _pyarrow(name: str, advice: str) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError as missing:
        msg = f"{name} needs pyarrow.\nHint: pip install 'linkwise[io]', or {advice}"
        raise LinkwiseError(msg) from missing
    return pa


def read_arrow(raw: bytes, name: str) -> Any:
    """Read a table."""
    pa = _pyarrow(name, "save the data as CSV.")
    try:
        read = pa.parquet.read_table if raw.startswith(b"PAR1") else pa.feather.read_table
        return read(pa.BufferReader(raw))
    except (pa.ArrowException, OSError, ValueError, MemoryError) as bad:
        msg = f"{name} is not a readable Parquet or Arrow file ({str(bad)[:80]})."
        raise LinkwiseError(msg) from bad


def arrow_text(raw: bytes, name: str) -> str:
    """Word a table as CSV; row r, counted from 0, is line r + 2."""
    table = read_arrow(raw, name)
    pa = _pyarrow(name, "save it as CSV.")
    held = io.BytesIO()
    try:
        pa.csv.write_csv(table, held)
    except pa.ArrowException as bad:
        msg = f"{name} has a column that is neither text nor numbers ({str(bad)[:80]}).\nHint: save it as CSV."
        raise LinkwiseError(msg) from bad
    return held.getvalue().decode()


def tree_parquet(tree: Dendrogram) -> bytes:
    """Word a tree as Parquet: a row for each node, the samples first."""
    pa = _pyarrow("a tree in Parquet", "write .nwk.")
    nodes = len(tree.parent)
    columns = {"parent": pa.array(tree.parent, pa.int64()), "height": pa.array(tree.raw_height)}
    for name, at in (("marked", tree.marked), ("join", tree.joins if tree.is_joined else None)):
        if at is not None:
            flag = np.zeros(nodes, dtype=np.bool_)
            flag[at] = True
            columns[name] = pa.array(flag)
    if tree.ids is not None:
        blank = pa.nulls(nodes - tree.n_samples, pa.array(tree.ids[:1]).type)
        columns["sample"] = pa.concat_arrays([pa.array(tree.ids), blank])
    table = pa.table(columns).replace_schema_metadata({_SAMPLES: str(tree.n_samples).encode()})
    held = io.BytesIO()
    pa.parquet.write_table(table, held, compression="snappy")
    return held.getvalue()


def tree_of_parquet(raw: bytes, name: str) -> Dendrogram:
    """Read what `tree_parquet` words."""
    table = read_arrow(raw, name)
    meta = table.schema.metadata or {}
    if not {"parent", "height"} <= set(table.column_names) or _SAMPLES not in meta:
        msg = f"{name} has the columns {', '.join(table.column_names)}, expected parent and height, as linkwise writes."
        raise LinkwiseError(msg)
    n = int(meta[_SAMPLES])
    at = {key: np.flatnonzero(table.column(key).to_numpy()) for key in ("marked", "join") if key in table.column_names}
    ids = table.column("sample").slice(0, n).to_numpy() if "sample" in table.column_names else None
    if ids is not None and ids.dtype == object:
        ids = ids.astype(str)
    parent, height = (table.column(key).to_numpy() for key in ("parent", "height"))
    return Dendrogram(n, parent, height, marked=at.get("marked"), ids=ids, joins=at.get("join"))


def holds_tree(path: Path) -> bool:
    """Whether a Parquet file holds a tree, by its description."""
    pa = _pyarrow(str(path), "convert it where pyarrow is installed.")
    try:
        return _SAMPLES in (pa.parquet.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError):
        return False
