from linkwise.engines.mixture._constrained_mixture import (
    ConstrainedGaussianMixture as ConstrainedGaussianMixture,
)
from linkwise.engines.mixture._penalized_mixture import (
    PenalizedMixture as PenalizedMixture,
)

"""For other packages of linkwise."""

from linkwise.engines.mixture._constrained_mixture import (
    Given as Given,
)
from linkwise.engines.mixture._em import (
    Settings as Settings,
    climb_weighted as climb_weighted,
    random_source as random_source,
)
from linkwise.engines.mixture._factors import (
    read_chunklets as read_chunklets,
)
from linkwise.engines.mixture._gaussian import (
    COVARIANCE_TYPES as COVARIANCE_TYPES,
    Gaussians as Gaussians,
    log_density as log_density,
)
from linkwise.engines.mixture._kernels_gaussian import (
    normalize_rows as normalize_rows,
)
from linkwise.engines.mixture._mixture_mixin import (
    covariance_shape as covariance_shape,
    require_covariance_memory as require_covariance_memory,
)
