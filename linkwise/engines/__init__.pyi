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
    CorrelationRun as CorrelationRun,
    KernelKMeans as KernelKMeans,
    KernelRun as KernelRun,
    NeighborhoodPropagation as NeighborhoodPropagation,
    PropagationRun as PropagationRun,
    SpectralLearning as SpectralLearning,
    SpectralRun as SpectralRun,
    correlation_clustering as correlation_clustering,
    kernel_kmeans as kernel_kmeans,
    propagate_neighborhoods as propagate_neighborhoods,
    spectral_learning as spectral_learning,
)
from linkwise.engines.hierarchical import (
    ActiveCompleteLink as ActiveCompleteLink,
    ConstrainedAgglomerative as ConstrainedAgglomerative,
    ConstrainedCompleteLink as ConstrainedCompleteLink,
    active_complete_link as active_complete_link,
    constrained_linkage as constrained_linkage,
    propagated_linkage as propagated_linkage,
)
from linkwise.engines.hierarchical.biased import (
    IHAC as IHAC,
    AdaptiveRun as AdaptiveRun,
    BiHAC as BiHAC,
    BiiHAC as BiiHAC,
    bihac as bihac,
    biihac as biihac,
    ihac as ihac,
)
from linkwise.engines.hierarchical.relative import (
    ReCon as ReCon,
    recon as recon,
)
from linkwise.engines.hierarchical.ultrametric import (
    HACoc as HACoc,
    IPoptim as IPoptim,
    Projection as Projection,
    UltraTran as UltraTran,
    fit_heights as fit_heights,
    fit_ultrametric as fit_ultrametric,
    hacoc as hacoc,
    ipoptim as ipoptim,
    project_triplets as project_triplets,
    subdominant_ultrametric as subdominant_ultrametric,
    ultratran as ultratran,
)
from linkwise.engines.metric import (
    ITML as ITML,
    LSML as LSML,
    RCA as RCA,
    BoostedDistance as BoostedDistance,
    ChunkletLDA as ChunkletLDA,
    DiscriminativeRCA as DiscriminativeRCA,
    DistanceLearner as DistanceLearner,
    DistBoost as DistBoost,
    LearnedMetric as LearnedMetric,
    MetricLearner as MetricLearner,
    SVMMetric as SVMMetric,
    XingMetric as XingMetric,
    chunklet_lda as chunklet_lda,
    discriminative_components as discriminative_components,
    distboost as distboost,
    itml as itml,
    lsml as lsml,
    relevant_components as relevant_components,
    svm_metric as svm_metric,
    xing_metric as xing_metric,
)
from linkwise.engines.mixture import (
    ConstrainedGaussianMixture as ConstrainedGaussianMixture,
    Mixture as Mixture,
    PenalizedMixture as PenalizedMixture,
    constrained_mixture as constrained_mixture,
    penalized_mixture as penalized_mixture,
)
from linkwise.engines.partitional import (
    CVQE as CVQE,
    LCVQE as LCVQE,
    ConstrainedKMeans as ConstrainedKMeans,
    COPKMeans as COPKMeans,
    HMRFKMeans as HMRFKMeans,
    KMeansRun as KMeansRun,
    MKMeans as MKMeans,
    MPCKMeans as MPCKMeans,
    PCKMeans as PCKMeans,
    SeededKMeans as SeededKMeans,
    SoftRun as SoftRun,
    constrained_kmeans as constrained_kmeans,
    cop_kmeans as cop_kmeans,
    cvqe as cvqe,
    hmrf_kmeans as hmrf_kmeans,
    lcvqe as lcvqe,
    mk_means as mk_means,
    mpck_means as mpck_means,
    pck_means as pck_means,
    seeded_kmeans as seeded_kmeans,
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
