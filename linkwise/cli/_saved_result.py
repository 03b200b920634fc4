"""Results that were written earlier: a model, a folder that ``cluster`` made, a file of labels, or a tree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from linkwise.exceptions import LinkwiseError

TREES = (".nwk", ".newick", ".tree", ".tre", ".nh", ".json", ".npy")


@dataclass(frozen=True, eq=False)
class Result:
    """The clustering in a file or folder; None for parts it does not hold."""

    name: str  # in messages
    result: Any  # a fitted estimator, a clustering, a dendrogram or labels, as the library takes them
    ids: Any  # names of the samples, or row numbers
    labels: Any = None
    table: Any = None
    names: dict[int, str] = field(default_factory=dict)  # of clusters that have one

    @property
    def tree(self) -> Any:
        """The hierarchy, or an error that there is none."""
        from linkwise.result import read_outcome

        found = read_outcome(self.result, who=self.name).tree
        if found is None:
            msg = f"{self.name} holds no tree.\nHint: give a model of a hierarchical method, such as OUT/model.lwm."
            raise LinkwiseError(msg)
        return found

    @property
    def constraints(self) -> Any:
        """The constraints of the fit, or None."""
        from linkwise.result import read_outcome

        return read_outcome(self.result, who=self.name).constraints

    def need_table(self) -> Any:
        """The samples, or an error that they are not there."""
        if self.table is None:
            msg = f"{self.name} does not hold the samples.\nHint: give a model that `linkwise cluster` wrote."
            raise LinkwiseError(msg)
        return self.table


def open_result(path: str) -> Result:
    """Read a result from wherever it was written."""
    from linkwise.io import PARQUET, holds_tree

    place = Path(path)
    if place.is_dir():
        return _of_folder(place)
    ending = place.suffix.lower()
    if ending == ".lwm":
        return _of_model(place)
    if ending in TREES or (ending in PARQUET and holds_tree(place)):
        return _of_tree(place)
    return _of_labels(path)


def _of_folder(place: Path) -> Result:
    for name in ("model.lwm", "labels.csv", "tree.nwk", "tree.parquet"):
        if (place / name).exists():
            return replace(open_result(str(place / name)), names=_cluster_names(place / "labels.csv"))
    msg = (
        f"{place} holds neither model.lwm nor labels.csv, so it is not a folder of results.\n"
        "Hint: `linkwise cluster DATA -o FOLDER` makes one."
    )
    raise LinkwiseError(msg)


def _cluster_names(path: Path) -> dict[int, str]:
    """The names of clusters in a file of labels, if it has a column of them."""
    from linkwise.io import read_data

    if not path.exists() or "cluster_name" not in path.read_text(encoding="utf-8").partition("\n")[0]:
        return {}
    table = read_data(path, id="sample", columns=["cluster"], keep=["cluster_name"])
    labels, names = table.X[:, 0].astype(int).tolist(), table.beside["cluster_name"]
    return {label: name for label, name in zip(labels, names, strict=True) if name}


def _of_model(place: Path) -> Result:
    import numpy as np

    from linkwise import load
    from linkwise.io import Table
    from linkwise.result import read_outcome

    model, data = load(place, with_data=True)
    outcome = read_outcome(model, who=str(place))
    table = data if isinstance(data, Table) else None
    ids = table.ids if table is not None else outcome.names(None, None)
    return Result(str(place), model, np.arange(outcome.n_samples) if ids is None else ids, outcome.labels, table)


def _of_tree(place: Path) -> Result:
    import numpy as np

    from linkwise.io import read_tree

    tree = read_tree(place).parted()  # a join is for other programs
    ids = np.arange(tree.n_samples) if tree.ids is None else tree.ids
    return Result(str(place), tree, ids, None if tree.marked is None else tree.cut_marked())


def _of_labels(path: str) -> Result:
    import numpy as np

    from linkwise.io import read_labels

    ids, words = read_labels(path)
    labels = np.unique(words, return_inverse=True)[1]
    if all(_is_number(word) for word in words.tolist()):
        labels = words.astype(np.intp)
    return Result("standard input" if path == "-" else path, labels, ids, labels)


def _is_number(word: str) -> bool:
    """Whether a label is a whole number that an array can hold; the others are taken as words."""
    digits = word.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and len(digits) < 18
