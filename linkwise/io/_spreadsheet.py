"""The first sheet of an .xlsx file as CSV text, whose lines have the numbers of the sheet's rows."""

from __future__ import annotations

import csv
import io
import zipfile
from typing import Any

from linkwise._messages import some_of
from linkwise._validation import warn_user
from linkwise.exceptions import LinkwiseError
from linkwise.io._text import shown

_LARGE, _USUAL = 2**28, 200  # a file that unpacks to more than 256 MiB and two hundred times its size is not a table
_MAGIC = b"PK\x03\x04"


def is_spreadsheet(raw: bytes) -> bool:
    """Whether bytes are those of an .xlsx file."""
    if not raw.startswith(_MAGIC):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except zipfile.BadZipFile:
        return False


def sheet_text(raw: bytes, name: str, decimal: str = ".") -> str:
    """Write the first sheet as CSV text: values, not formulas; numbers with ``decimal``, dates as in 2024-01-31."""
    try:
        import openpyxl
    except ImportError as missing:
        msg = f"{name} needs openpyxl to be read.\nHint: pip install 'linkwise[excel]', or save the sheet as CSV."
        raise LinkwiseError(msg) from missing
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > max(_LARGE, _USUAL * len(raw)):
        msg = f"{name} unpacks to {size // 2**20:,} MiB, expected a table. Nothing was read."
        raise LinkwiseError(msg)
    try:
        book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
        sheets = book.worksheets
        rows = [[_cell(value, decimal) for value in row] for row in sheets[0].iter_rows(values_only=True)]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, zipfile.BadZipFile, SyntaxError) as bad:
        msg = f"{name} is not a readable spreadsheet ({str(bad)[:80]}).\nHint: save the sheet as CSV."
        raise LinkwiseError(msg) from bad
    if len(sheets) > 1:
        others = some_of([shown(sheet.title) for sheet in sheets[1:]])
        warn_user(f"{name}: only the first sheet, {shown(sheets[0].title)}, was read, not {others}.")
    width = max((at + 1 for row in rows for at, cell in enumerate(row) if cell), default=0)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        writer.writerow([*row[:width], *[""] * (width - len(row))])
    if not width:
        msg = f"{name} is empty."
        raise LinkwiseError(msg)
    return out.getvalue()


def _cell(value: Any, decimal: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (int, float)):
        return repr(value).replace(".", decimal)
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).removesuffix("T00:00:00")
    return " ".join(str(value).split())
