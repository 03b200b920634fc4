"""How it comes and goes: samples, knowledge, results and models as files."""

from typing import TYPE_CHECKING

from linkwise._lazy import loads_from

__all__ = [
    "Folder",
    "Knowledge",
    "Preparation",
    "Table",
    "csv_line",
    "labels_csv",
    "load",
    "read_data",
    "read_knowledge",
    "read_labels",
    "read_names",
    "read_tree",
    "save",
    "write_knowledge",
    "write_labels",
    "write_tree",
]

if TYPE_CHECKING:
    from linkwise.io._data import read_data
    from linkwise.io._folder import Folder
    from linkwise.io._knowledge import Knowledge, read_knowledge
    from linkwise.io._labels import read_labels, read_names
    from linkwise.io._model import load, save
    from linkwise.io._prepare import Preparation, Table
    from linkwise.io._results import csv_line, labels_csv, read_tree, write_labels, write_tree
    from linkwise.io._write import write_knowledge
else:
    _MODULES = (
        "_prepare",
        "_data",
        "_knowledge",
        "_labels",
        "_results",
        "_folder",
        "_write",
        "_model",
    )
    __getattr__, __dir__ = loads_from(__name__, __all__, _MODULES)
