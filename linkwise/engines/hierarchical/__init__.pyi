from linkwise.engines.agglomeration import (
    GammaRun as GammaRun,
    agglomerate as agglomerate,
    gamma_linkage as gamma_linkage,
)
from linkwise.engines.hierarchical._active_complete_link import (
    ActiveCompleteLink as ActiveCompleteLink,
    active_complete_link as active_complete_link,
)
from linkwise.engines.hierarchical._agglomerative import (
    ConstrainedAgglomerative as ConstrainedAgglomerative,
)
from linkwise.engines.hierarchical._complete_link import (
    ConstrainedCompleteLink as ConstrainedCompleteLink,
)
from linkwise.engines.hierarchical.biased import (
    IHAC as IHAC,
    BiHAC as BiHAC,
    BiiHAC as BiiHAC,
)
from linkwise.engines.hierarchical.relative import (
    ReCon as ReCon,
)
from linkwise.engines.hierarchical.sparse import (
    SparseAgglomerative as SparseAgglomerative,
    SparseAudit as SparseAudit,
    nearest_neighbors as nearest_neighbors,
)
from linkwise.engines.hierarchical.ultrametric import (
    HACoc as HACoc,
    IPoptim as IPoptim,
    LeastSquaresUltrametric as LeastSquaresUltrametric,
    Projection as Projection,
    UltraTran as UltraTran,
    fit_heights as fit_heights,
    fit_ultrametric as fit_ultrametric,
    project_triplets as project_triplets,
    subdominant_ultrametric as subdominant_ultrametric,
)

"""For other packages of linkwise."""

from linkwise.engines.hierarchical._dead_ends import (
    detour_words as detour_words,
    detours as detours,
    grow_within as grow_within,
    join_trees as join_trees,
    regroup as regroup,
    stated as stated,
)
from linkwise.engines.hierarchical._hierarchy_mixin import (
    HierarchyMixin as HierarchyMixin,
    dead_end_message as dead_end_message,
    mark as mark,
    recut as recut,
)
from linkwise.engines.hierarchical._new_samples import (
    CHUNK as CHUNK,
    Places as Places,
    insert as insert,
)
from linkwise.engines.hierarchical.sparse import (
    MOST_CLUSTERS as MOST_CLUSTERS,
)
