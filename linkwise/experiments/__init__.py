"""Studies: engines over data sets, kinds and amounts of knowledge, noise and seeds; computed once and kept."""

from linkwise.experiments._cell import Cell, grid
from linkwise.experiments._knowledge import knowledge
from linkwise.experiments._plot import plot_records
from linkwise.experiments._store import read_records
from linkwise.experiments._study import Study, Summary

__all__ = ["Cell", "Study", "Summary", "grid", "knowledge", "plot_records", "read_records"]
