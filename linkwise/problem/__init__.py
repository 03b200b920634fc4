"""What follows from what was said: feasibility with proofs, closure, repair, and the problem an engine receives."""

from linkwise.problem._closure import close, must_links_within, neighbours_within
from linkwise.problem._conflicts import conflicts
from linkwise.problem._contract import Contraction
from linkwise.problem._explain import Explanation
from linkwise.problem._feasibility import Verdict, check
from linkwise.problem._onetree import LiveTriplets, onetree
from linkwise.problem._problem import Problem
from linkwise.problem._repair import Repair, repair

__all__ = [
    "Contraction",
    "Explanation",
    "LiveTriplets",
    "Problem",
    "Repair",
    "Verdict",
    "check",
    "close",
    "conflicts",
    "must_links_within",
    "neighbours_within",
    "onetree",
    "repair",
]
