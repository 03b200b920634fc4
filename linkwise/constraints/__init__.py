"""What was said: the table of statements, the rules about clusters, and where both come from."""

from linkwise.constraints._container import Constraints
from linkwise.constraints._entries import Entry
from linkwise.constraints._groups import Groups
from linkwise.constraints._labels import Labels
from linkwise.constraints._read import Kind
from linkwise.constraints._rules import MaxCentroidDistance, MinSeparation, NeighbourWithin, Rule, SizeBetween

__all__ = [
    "Constraints",
    "Entry",
    "Groups",
    "Kind",
    "Labels",
    "MaxCentroidDistance",
    "MinSeparation",
    "NeighbourWithin",
    "Rule",
    "SizeBetween",
]
