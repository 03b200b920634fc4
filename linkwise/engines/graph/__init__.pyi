from linkwise.engines.graph._correlation import (
    CorrelationClustering as CorrelationClustering,
)
from linkwise.engines.graph._kernel_kmeans import (
    KernelKMeans as KernelKMeans,
)
from linkwise.engines.graph._neighborhoods import (
    NeighborhoodPropagation as NeighborhoodPropagation,
)
from linkwise.engines.graph._spectral import (
    SpectralLearning as SpectralLearning,
)

"""For other packages of linkwise."""

from linkwise.engines.graph._similarity_columns import (
    Field as Field,
)
