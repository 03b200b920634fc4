from linkwise.constraints import (
    Constraints as Constraints,
    Entry as Entry,
    Kind as Kind,
    MaxCentroidDistance as MaxCentroidDistance,
    MinSeparation as MinSeparation,
    NeighborWithin as NeighborWithin,
    SizeBetween as SizeBetween,
)
from linkwise.engines.graph import (
    CorrelationClustering as CorrelationClustering,
    KernelKMeans as KernelKMeans,
    NeighborhoodPropagation as NeighborhoodPropagation,
    SpectralLearning as SpectralLearning,
)
from linkwise.engines.hierarchical import (
    IHAC as IHAC,
    BiHAC as BiHAC,
    BiiHAC as BiiHAC,
    ConstrainedAgglomerative as ConstrainedAgglomerative,
    ConstrainedCompleteLink as ConstrainedCompleteLink,
    HACoc as HACoc,
    IPoptim as IPoptim,
    ReCon as ReCon,
    UltraTran as UltraTran,
    agglomerate as agglomerate,
)
from linkwise.engines.metric import (
    ITML as ITML,
    LSML as LSML,
    RCA as RCA,
    ChunkletLDA as ChunkletLDA,
    DiscriminativeRCA as DiscriminativeRCA,
    DistBoost as DistBoost,
    SVMMetric as SVMMetric,
    XingMetric as XingMetric,
    propagate as propagate,
)
from linkwise.engines.mixture import (
    ConstrainedGaussianMixture as ConstrainedGaussianMixture,
    PenalizedMixture as PenalizedMixture,
)
from linkwise.engines.partitional import (
    CVQE as CVQE,
    LCVQE as LCVQE,
    ConstrainedKMeans as ConstrainedKMeans,
    COPKMeans as COPKMeans,
    HMRFKMeans as HMRFKMeans,
    MKMeans as MKMeans,
    MPCKMeans as MPCKMeans,
    PCKMeans as PCKMeans,
    SeededKMeans as SeededKMeans,
)
from linkwise.io import (
    load as load,
    read_data as read_data,
    read_knowledge as read_knowledge,
    save as save,
)
from linkwise.problem import (
    Explanation as Explanation,
    Repair as Repair,
    Verdict as Verdict,
    Why as Why,
    check as check,
    close as close,
    conflicts as conflicts,
    implies as implies,
    informative as informative,
    minimal as minimal,
    repair as repair,
    utility as utility,
    why as why,
)
from linkwise.result import (
    Certificate as Certificate,
    Dendrogram as Dendrogram,
    verify as verify,
)
from linkwise.selection import (
    Clustering as Clustering,
    KnowledgeSearchCV as KnowledgeSearchCV,
    cluster as cluster,
)
from linkwise.sources import (
    Taxonomy as Taxonomy,
)

__version__: str
