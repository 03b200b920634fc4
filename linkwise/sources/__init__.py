"""Where statements come from: taxonomies, labels, groups, traces, duplicates and existing clusterings."""

from linkwise.sources._clustering import from_dendrogram
from linkwise.sources._duplicates import duplicates, near_duplicates
from linkwise.sources._flip import flip
from linkwise.sources._groups import groups
from linkwise.sources._labels import label_pairs, label_triplets_sample
from linkwise.sources._taxonomy import Taxonomy
from linkwise.sources._traces import contiguity, max_separation

__all__ = [
    "Taxonomy",
    "contiguity",
    "duplicates",
    "flip",
    "from_dendrogram",
    "groups",
    "label_pairs",
    "label_triplets_sample",
    "max_separation",
    "near_duplicates",
]
