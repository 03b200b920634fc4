from linkwise.engines.graph._correlation import (
    CorrelationClustering as CorrelationClustering,
    CorrelationRun as CorrelationRun,
    correlation_clustering as correlation_clustering,
)
from linkwise.engines.graph._kernel_kmeans import (
    KernelKMeans as KernelKMeans,
    KernelRun as KernelRun,
    kernel_kmeans as kernel_kmeans,
)
from linkwise.engines.graph._neighborhoods import (
    NeighborhoodPropagation as NeighborhoodPropagation,
    PropagationRun as PropagationRun,
    propagate_neighborhoods as propagate_neighborhoods,
)
from linkwise.engines.graph._spectral import (
    SpectralLearning as SpectralLearning,
    SpectralRun as SpectralRun,
    spectral_learning as spectral_learning,
)

"""For other packages of linkwise."""

from linkwise.engines.graph._similarity_columns import (
    Field as Field,
)
