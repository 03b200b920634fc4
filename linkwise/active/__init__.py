"""What to ask next: a dialogue that is a fold of its log, strategies that choose questions, and simulated answerers."""

from linkwise.active._answerers import Answerer, LabelAnswerer, TreeAnswerer
from linkwise.active._dialogue import Dialogue, Progress
from linkwise.active._explore import ExploreConsolidate, MinMax
from linkwise.active._known import Known
from linkwise.active._merging import DoubtfulMerges
from linkwise.active._mixed import PairsAndTrios
from linkwise.active._query import Answer, Query, Told
from linkwise.active._scene import Scene
from linkwise.active._strategy import Inquiry, RandomPairs, RandomTrios, Strategy
from linkwise.active._triplets import PlacingTrios
from linkwise.active._uncertainty import Uncertainty

__all__ = [
    "Answer",
    "Answerer",
    "Dialogue",
    "DoubtfulMerges",
    "ExploreConsolidate",
    "Inquiry",
    "Known",
    "LabelAnswerer",
    "MinMax",
    "PairsAndTrios",
    "PlacingTrios",
    "Progress",
    "Query",
    "RandomPairs",
    "RandomTrios",
    "Scene",
    "Strategy",
    "Told",
    "TreeAnswerer",
    "Uncertainty",
]
