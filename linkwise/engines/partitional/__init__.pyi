from linkwise.engines.partitional._cop_kmeans import (
    COPKMeans as COPKMeans,
)
from linkwise.engines.partitional._cvqe import (
    CVQE as CVQE,
    LCVQE as LCVQE,
)
from linkwise.engines.partitional._hmrf_kmeans import (
    HMRFKMeans as HMRFKMeans,
)
from linkwise.engines.partitional._mpck_means import (
    MKMeans as MKMeans,
    MPCKMeans as MPCKMeans,
)
from linkwise.engines.partitional._pck_means import (
    PCKMeans as PCKMeans,
)
from linkwise.engines.partitional._seeded import (
    ConstrainedKMeans as ConstrainedKMeans,
    SeededKMeans as SeededKMeans,
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
    KMeansRun as KMeansRun,
    Loop as Loop,
    run_lloyd as run_lloyd,
)
