from linkwise.engines.partitional._alternative_kmeans import (
    AlternativeKMeans as AlternativeKMeans,
)
from linkwise.engines.partitional._cop_kmeans import (
    COPKMeans as COPKMeans,
)
from linkwise.engines.partitional._frequency_sensitive import (
    FrequencySensitiveKMeans as FrequencySensitiveKMeans,
)
from linkwise.engines.partitional._mpck_means import (
    HMRFKMeans as HMRFKMeans,
    MKMeans as MKMeans,
    MPCKMeans as MPCKMeans,
)
from linkwise.engines.partitional._seeded import (
    ConstrainedKMeans as ConstrainedKMeans,
    SeededKMeans as SeededKMeans,
)
from linkwise.engines.partitional._soft_kmeans import (
    CVQE as CVQE,
    LCVQE as LCVQE,
    PCKMeans as PCKMeans,
)

"""For other packages of linkwise."""

from linkwise.engines.partitional._cop_kmeans import (
    cop_kmeans as cop_kmeans,
)
from linkwise.engines.partitional._init import (
    draw_rows as draw_rows,
    neighborhoods as neighborhoods,
    spread_centers as spread_centers,
)
from linkwise.engines.partitional._loop import (
    Loop as Loop,
    run_lloyd as run_lloyd,
)
