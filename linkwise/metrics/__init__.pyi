from linkwise.metrics._confusion import (
    Confusion as Confusion,
    confusion_matrix as confusion_matrix,
)
from linkwise.metrics._kept_constraints import (
    satisfaction as satisfaction,
    triplet_accuracy as triplet_accuracy,
)
from linkwise.metrics._label_measures import (
    adjusted_mutual_info as adjusted_mutual_info,
    adjusted_rand as adjusted_rand,
    nmi as nmi,
    purity as purity,
    silhouette as silhouette,
)
from linkwise.metrics._level_measures import (
    level_distortion as level_distortion,
    level_purity as level_purity,
)
from linkwise.metrics._pair_measures import (
    PairScores as PairScores,
    constrained_rand as constrained_rand,
    pairwise_f as pairwise_f,
    pairwise_precision as pairwise_precision,
    pairwise_recall as pairwise_recall,
    pairwise_scores as pairwise_scores,
    rand as rand,
)
from linkwise.metrics._tree_measures import (
    ClassF as ClassF,
    class_f as class_f,
    dasgupta_cost as dasgupta_cost,
    dendrogram_purity as dendrogram_purity,
    hierarchy_fscore as hierarchy_fscore,
)
from linkwise.metrics._triple_measures import (
    count_triples as count_triples,
    h_correlation as h_correlation,
)
