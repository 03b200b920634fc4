"""For other packages of linkwise."""

from linkwise.engines.agglomeration._choose_loop import (
    Merges as Merges,
    agglomerate as agglomerate,
    merge_all as merge_all,
    merge_groups as merge_groups,
    require_fitting as require_fitting,
)
from linkwise.engines.agglomeration._gamma_linkage import (
    GammaRun as GammaRun,
    gamma_linkage as gamma_linkage,
)
from linkwise.engines.agglomeration._kernels_linkages import (
    AVERAGE as AVERAGE,
    CENTROID as CENTROID,
    COMPLETE as COMPLETE,
    MEDIAN as MEDIAN,
    SINGLE as SINGLE,
    WARD as WARD,
    lance_williams as lance_williams,
)
from linkwise.engines.agglomeration._linkages import (
    EUCLIDEAN_ONLY as EUCLIDEAN_ONLY,
    LINKAGES as LINKAGES,
    linkage_code as linkage_code,
    plan_memory as plan_memory,
)
from linkwise.engines.agglomeration._spanning_tree import (
    join_edges as join_edges,
)
