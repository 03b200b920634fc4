"""How good a result is: labels against classes, trees against classes and hierarchies, and what was said."""

from linkwise.metrics._class_f import ClassF, class_f
from linkwise.metrics._knowledge import satisfaction, triplet_accuracy
from linkwise.metrics._labels import adjusted_mutual_info, adjusted_rand, nmi, purity, silhouette
from linkwise.metrics._pairs import (
    PairScores,
    constrained_rand,
    pairwise_f,
    pairwise_precision,
    pairwise_recall,
    pairwise_scores,
    rand,
)
from linkwise.metrics._trees import dasgupta_cost, dendrogram_purity, hierarchy_fscore
from linkwise.metrics._triples import count_triples, h_correlation

__all__ = [
    "ClassF",
    "PairScores",
    "adjusted_mutual_info",
    "adjusted_rand",
    "class_f",
    "constrained_rand",
    "count_triples",
    "dasgupta_cost",
    "dendrogram_purity",
    "h_correlation",
    "hierarchy_fscore",
    "nmi",
    "pairwise_f",
    "pairwise_precision",
    "pairwise_recall",
    "pairwise_scores",
    "purity",
    "rand",
    "satisfaction",
    "silhouette",
    "triplet_accuracy",
]
