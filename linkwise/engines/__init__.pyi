from linkwise.engines._base import (
    ConstrainedClusterer as ConstrainedClusterer,
)
from linkwise.engines._progress import (
    progress as progress,
)
from linkwise.engines.agglomeration import (
    GammaRun as GammaRun,
    agglomerate as agglomerate,
    gamma_linkage as gamma_linkage,
)
from linkwise.engines.distances import (
    propagate as propagate,
)
from linkwise.engines.graph import (
    CorrelationClustering as CorrelationClustering,
    KernelKMeans as KernelKMeans,
    NeighborhoodPropagation as NeighborhoodPropagation,
    SpectralLearning as SpectralLearning,
)
from linkwise.engines.hierarchical import (
    ActiveCompleteLink as ActiveCompleteLink,
    ConstrainedAgglomerative as ConstrainedAgglomerative,
    ConstrainedCompleteLink as ConstrainedCompleteLink,
    active_complete_link as active_complete_link,
)
from linkwise.engines.hierarchical.biased import (
    IHAC as IHAC,
    BiHAC as BiHAC,
    BiiHAC as BiiHAC,
)
from linkwise.engines.hierarchical.relative import (
    ReCon as ReCon,
)
from linkwise.engines.hierarchical.ultrametric import (
    HACoc as HACoc,
    IPoptim as IPoptim,
    Projection as Projection,
    UltraTran as UltraTran,
    fit_heights as fit_heights,
    fit_ultrametric as fit_ultrametric,
    project_triplets as project_triplets,
    subdominant_ultrametric as subdominant_ultrametric,
)
from linkwise.engines.metric import (
    ITML as ITML,
    LSML as LSML,
    RCA as RCA,
    ChunkletLDA as ChunkletLDA,
    DiscriminativeRCA as DiscriminativeRCA,
    DistanceLearner as DistanceLearner,
    DistBoost as DistBoost,
    MetricLearner as MetricLearner,
    SVMMetric as SVMMetric,
    XingMetric as XingMetric,
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

"""For other packages of linkwise."""

from linkwise.engines._base import (
    ConstrainedEstimator as ConstrainedEstimator,
)
from linkwise.engines._labels_mixin import (
    PartitionMixin as PartitionMixin,
)
from linkwise.engines._progress import (
    Progress as Progress,
    current_progress as current_progress,
)
from linkwise.engines._saved import (
    CACHE as CACHE,
    FEATURES as FEATURES,
    REPORTED as REPORTED,
    SAMPLES as SAMPLES,
    Kept as Kept,
    gather as gather,
    is_array as is_array,
    is_count as is_count,
    is_table as is_table,
    kept_count as kept_count,
    kept_floats as kept_floats,
    kept_instance as kept_instance,
    kept_labels as kept_labels,
    require_sound as require_sound,
)
