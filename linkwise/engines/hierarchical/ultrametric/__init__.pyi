from linkwise.engines.hierarchical.ultrametric._hacoc import (
    HACoc as HACoc,
)
from linkwise.engines.hierarchical.ultrametric._heights import (
    fit_heights as fit_heights,
    fit_ultrametric as fit_ultrametric,
)
from linkwise.engines.hierarchical.ultrametric._ipoptim import (
    IPoptim as IPoptim,
)
from linkwise.engines.hierarchical.ultrametric._least_squares import (
    LeastSquaresUltrametric as LeastSquaresUltrametric,
)
from linkwise.engines.hierarchical.ultrametric._projection import (
    Projection as Projection,
    project_triplets as project_triplets,
)
from linkwise.engines.hierarchical.ultrametric._ultratran import (
    UltraTran as UltraTran,
    subdominant_ultrametric as subdominant_ultrametric,
)
