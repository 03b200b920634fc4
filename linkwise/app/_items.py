"""The items of a project: what is compared, and what people see of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._typing import FloatArray
from linkwise.exceptions import LinkwiseError

if TYPE_CHECKING:
    from linkwise.io import Table

MOST_LETTERS = 20_000  # of one text on a card
MOST_SPARSE = 5_000  # texts are compared through all their distances
SEEN = ("number", "category", "show", "know")  # roles of columns that people see
Cells = list[str | None]


@dataclass(frozen=True, eq=False)
class Items:
    """Items by row.

    Attributes
    ----------
    X : array or sparse matrix
        What is compared; by cosine where it is sparse.
    ids : list of str
        Their names.
    columns : dict of str to list
        Cells of the columns that people see, as the file has them; None where a value is missing.
    numbers : dict of str to ndarray
        The same of columns that hold numbers, NaN where missing, to find those that tell items apart.
    compared : frozenset of str
        The columns that items are compared by.
    texts, pictures : list or None
        The text of each item, and the file name of its picture; None without such a column.
    """

    X: Any
    ids: list[str]
    columns: dict[str, Cells] = field(default_factory=dict)
    numbers: dict[str, FloatArray] = field(default_factory=dict)
    compared: frozenset[str] = frozenset()
    texts: list[str] | None = None
    pictures: Cells | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def sparse(self) -> bool:
        """Whether items are texts, compared by cosine."""
        return not isinstance(self.X, np.ndarray)

    @property
    def linkage(self) -> dict[str, Any]:
        """Parameters of the tree: ward between vectors, average where items are compared by cosine."""
        return {"linkage": "average", "metric": "cosine"} if self.sparse else {"linkage": "ward"}

    def require_size(self) -> None:
        """Refuse what no tree can be made of here."""
        if len(self) < 2:
            msg = f"the project has {len(self)} items, expected at least 2.\nHint: open a table with more rows."
            raise LinkwiseError(msg)
        if self.sparse and len(self) > MOST_SPARSE:
            msg = (
                f"the project has {len(self):,} texts; up to {MOST_SPARSE:,} can be compared, through all distances "
                "between them.\nHint: open a part of the rows, or give the texts the role show, so that numbers count."
            )
            raise LinkwiseError(msg)

    def listed(self) -> list[dict[str, Any]]:
        """Return all items as the table of the page reads them."""
        rows = zip(*self.columns.values(), strict=True) if self.columns else ([] for _ in self.ids)
        return [
            {"id": name, "values": list(values), "text": self.text(at), "picture": self.picture(at)}
            for at, (name, values) in enumerate(zip(self.ids, rows, strict=True))
        ]

    def text(self, row: int) -> str | None:
        """Return the text of an item."""
        return None if self.texts is None else self.texts[row][:MOST_LETTERS]

    def picture(self, row: int) -> str | None:
        """Return the file name of the picture of an item."""
        return None if self.pictures is None else self.pictures[row] or None

    def cards(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Return items as a card shows them side by side, each with all columns and how much these tell them apart."""
        differs = {column: self._differs(column, rows) for column in self.columns}
        order = sorted(self.columns, key=lambda column: -differs[column])
        return [
            {
                "n": row, "id": self.ids[row], "text": self.text(row), "picture": self.picture(row) is not None,
                "show": [
                    {"column": column, "value": self.columns[column][row], "differs": differs[column]}
                    for column in order
                ],
            }
            for row in rows
        ]  # fmt: skip

    def _differs(self, column: str, rows: Sequence[int]) -> float:
        """Return the largest difference of items in a column, in its standard deviations; 0 where it is not compared.

        Words differ or they do not, which counts as much as the standard deviation of this difference over all pairs.
        """
        if column not in self.compared:
            return 0.0
        if column in self.numbers:
            values = self.numbers[column]
            there = values[list(rows)]
            there = there[~np.isnan(there)]
            spread = float(np.nanstd(values))
            return float(np.ptp(there)) / spread if len(there) > 1 and spread > 0 else 0.0
        cells = self.columns[column]
        if len({cells[row] for row in rows}) < 2:
            return 0.0
        _, count = np.unique([str(cell) for cell in cells], return_counts=True)
        share = count / len(cells)
        odds = float(1 - (share**2).sum())
        return float(np.sqrt(1.0 / odds)) if odds > 0 else 0.0


def items_of(table: Table, roles: Mapping[str, str]) -> Items:
    """Return the items of a table that `read_data` read, with every column that has a role to be shown kept as text."""
    found: dict[str, list[str]] = {
        role: [c for c in roles if roles[c] == role] for role in dict.fromkeys(roles.values())
    }
    seen = [c for c in roles if roles[c] in SEEN]
    columns: dict[str, Cells] = {}
    numbers: dict[str, FloatArray] = {}
    values = table.values if isinstance(table.X, np.ndarray) else None
    for column in seen or list(table.preparation.columns):
        if values is not None and column in table.preparation.columns:
            numbers[column] = np.asarray(values[:, table.preparation.columns.index(column)], dtype=np.float64)
        if column in table.beside:
            columns[column] = [cell or None for cell in table.beside[column]]
        else:
            columns[column] = [None if np.isnan(value) else f"{value:g}" for value in numbers[column].tolist()]
    pictures = [cell or None for cell in table.beside[found["picture"][0]]] if found.get("picture") else None
    texts = list(table.texts) if table.preparation.text else None
    compared = frozenset(table.preparation.columns) | {column for column, _ in table.preparation.categories}
    X = table.X if isinstance(table.X, np.ndarray) else table.X.tocsr()
    return Items(X, [str(name) for name in table.ids.tolist()], columns, numbers, compared, texts, pictures)
