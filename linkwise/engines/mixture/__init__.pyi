from linkwise.engines.mixture._constrained_mixture import (
    ConstrainedGaussianMixture as ConstrainedGaussianMixture,
    constrained_mixture as constrained_mixture,
)
from linkwise.engines.mixture._em import (
    Mixture as Mixture,
)
from linkwise.engines.mixture._penalized_mixture import (
    PenalizedMixture as PenalizedMixture,
    penalized_mixture as penalized_mixture,
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
    require_understood as require_understood,
)
from linkwise.engines.mixture._gaussian import (
    COVARIANCE_TYPES as COVARIANCE_TYPES,
    Gaussians as Gaussians,
    log_density as log_density,
    normalize_rows as normalize_rows,
)
from linkwise.engines.mixture._mixture_mixin import (
    covariance_shape as covariance_shape,
    read_data as read_data,
    read_settings as read_settings,
)
