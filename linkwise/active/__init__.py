"""What to ask next: a dialogue that is a fold of its log, strategies that choose questions, and simulated answerers."""

from linkwise.active._answerers import Answerer, LabelAnswerer, TreeAnswerer
from linkwise.active._dialogue import Dialogue, Progress
from linkwise.active._known import Known
from linkwise.active._mixed import PairsAndTrios
from linkwise.active._query import Answer, Query, Told
from linkwise.active._scene import Scene
from linkwise.active._strategy import Inquiry, RandomPairs, RandomTrios, Strategy
from linkwise.active._triplets import PlacingTrios

__all__ = [
    "Answer",
    "Answerer",
    "Dialogue",
    "Inquiry",
    "Known",
    "LabelAnswerer",
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
]
