"""For other packages of linkwise."""

from linkwise.problem.triplets._blocks import (
    _over as _over,
    blocks_or_none as blocks_or_none,
    finest_blocks as finest_blocks,
    incidence as incidence,
    unite_blocks as unite_blocks,
)
from linkwise.problem.triplets._comparison_tree import (
    comparison_tree as comparison_tree,
)
from linkwise.problem.triplets._kernels_blocks import (
    BY_ITSELF as BY_ITSELF,
    BY_THIRD as BY_THIRD,
)
from linkwise.problem.triplets._kernels_incremental import (
    CONFLICT as CONFLICT,
    ROOM as ROOM,
    SPLIT_LEVEL as SPLIT_LEVEL,
    Layers as Layers,
    find as find,
    grow as grow,
    rings as rings,
    top as top,
    try_merge as try_merge,
    undo as undo,
    weigh as weigh,
)
from linkwise.problem.triplets._kernels_proof_forest import (
    grow_forest as grow_forest,
    needed_links as needed_links,
    path as path,
)
from linkwise.problem.triplets._kernels_spans import (
    HOLDS as HOLDS,
    WRITE as WRITE,
    Layout as Layout,
    join_clades as join_clades,
    make_desk as make_desk,
    trace as trace,
)
from linkwise.problem.triplets._onetree import (
    LiveTriplets as LiveTriplets,
    onetree as onetree,
)
from linkwise.problem.triplets._proof_forest import (
    bridges as bridges,
    smallest_knot as smallest_knot,
)
from linkwise.problem.triplets._spans import (
    Spans as Spans,
)
