"""For other packages of linkwise."""

from linkwise.engines.hierarchical.sparse._cell_search import (
    nearest_neighbors as nearest_neighbors,
)
from linkwise.engines.hierarchical.sparse._estimator import (
    SparseAgglomerative as SparseAgglomerative,
)
from linkwise.engines.hierarchical.sparse._graph_merging import (
    MOST_CLUSTERS as MOST_CLUSTERS,
)
from linkwise.engines.hierarchical.sparse._hand_over import (
    SparseAudit as SparseAudit,
)
from linkwise.engines.hierarchical.sparse._part_merging import (
    Part as Part,
    merge_clusters as merge_clusters,
    merge_part as merge_part,
)
