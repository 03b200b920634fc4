"""Studies: engines over data sets, kinds and amounts of knowledge, noise and seeds; computed once and kept."""

from studies.experiments._cell import Cell, grid
from studies.experiments._drawn_statements import knowledge
from studies.experiments._store import read_records
from studies.experiments._study import Study, Summary
from studies.experiments._study_plot import plot_records

__all__ = ["Cell", "Study", "Summary", "grid", "knowledge", "plot_records", "read_records"]
