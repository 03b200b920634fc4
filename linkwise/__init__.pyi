from linkwise.constraints import (
    Constraints as Constraints,
    Kind as Kind,
)
from linkwise.engines.consensus import (
    Consensus as Consensus,
)
from linkwise.engines.hierarchical import (
    ConstrainedAgglomerative as ConstrainedAgglomerative,
    ConstrainedCompleteLink as ConstrainedCompleteLink,
    ReCon as ReCon,
    SparseAgglomerative as SparseAgglomerative,
)
from linkwise.engines.mixture import (
    ConstrainedGaussianMixture as ConstrainedGaussianMixture,
)
from linkwise.engines.partitional import (
    COPKMeans as COPKMeans,
    MPCKMeans as MPCKMeans,
    PCKMeans as PCKMeans,
)
from linkwise.io import (
    load as load,
    read_data as read_data,
    read_knowledge as read_knowledge,
    save as save,
)
from linkwise.problem import (
    check as check,
    close as close,
    conflicts as conflicts,
    implies as implies,
    informative as informative,
    repair as repair,
    why as why,
)
from linkwise.result import (
    Dendrogram as Dendrogram,
    verify as verify,
)
from linkwise.selection import (
    KnowledgeSearchCV as KnowledgeSearchCV,
    cluster as cluster,
    suspects as suspects,
)
from linkwise.sources import (
    Taxonomy as Taxonomy,
)

__version__: str

"""Packages, which are loaded when first used as well."""

from linkwise import (
    active as active,
    constraints as constraints,
    datasets as datasets,
    engines as engines,
    exceptions as exceptions,
    io as io,
    metrics as metrics,
    plots as plots,
    problem as problem,
    report as report,
    result as result,
    scale as scale,
    selection as selection,
    sources as sources,
)
from linkwise.engines import (
    graph as graph,
    hierarchical as hierarchical,
    metric as metric,
    mixture as mixture,
    partitional as partitional,
)
