"""The papers linkwise comes from, computed again: their figures and tables beside what they print."""

from studies.papers._exhibit import Exhibit, Figure, Found, Panel, Paper, Picture, Settings, Table, mean_and_error
from studies.papers._reproduce import find_paper, reproduce
from studies.papers._verdict_rules import Judged

__all__ = [
    "Exhibit",
    "Figure",
    "Found",
    "Judged",
    "Panel",
    "Paper",
    "Picture",
    "Settings",
    "Table",
    "find_paper",
    "mean_and_error",
    "reproduce",
]
