"""Data sets to try things on: the papers' sets, shapes ordinary clustering gets wrong, and planted knowledge."""

from linkwise.datasets._data import Data
from linkwise.datasets._load import load, names
from linkwise.datasets._planted import Planted, blobs_with_knowledge
from linkwise.datasets._shapes import cellwalls, circles, stormclouds, xor
from linkwise.datasets._taxonomy import noisy_taxonomy

__all__ = [
    "Data",
    "Planted",
    "blobs_with_knowledge",
    "cellwalls",
    "circles",
    "load",
    "names",
    "noisy_taxonomy",
    "stormclouds",
    "xor",
]
