"""What follows from what was said: feasibility with proofs, closure, repair, and the problem an engine receives."""

from linkwise.constraints._distances import must_links_within, neighbours_within
from linkwise.problem._closure import close
from linkwise.problem._comparisons import close_comparisons
from linkwise.problem._conflicts import conflicts
from linkwise.problem._contract import Contraction
from linkwise.problem._explain import Explanation
from linkwise.problem._feasibility import Verdict, check
from linkwise.problem._implies import implies
from linkwise.problem._informative import Selection, informative, label_triplets
from linkwise.problem._minimal import minimal
from linkwise.problem._onetree import LiveTriplets, onetree
from linkwise.problem._problem import Problem
from linkwise.problem._repair import Repair, repair
from linkwise.problem._utility import Utility, utility
from linkwise.problem._why import Why, why

__all__ = [
    "Contraction",
    "Explanation",
    "LiveTriplets",
    "Problem",
    "Repair",
    "Selection",
    "Utility",
    "Verdict",
    "Why",
    "check",
    "close",
    "close_comparisons",
    "conflicts",
    "implies",
    "informative",
    "label_triplets",
    "minimal",
    "must_links_within",
    "neighbours_within",
    "onetree",
    "repair",
    "utility",
    "why",
]
