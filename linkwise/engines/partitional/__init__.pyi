from linkwise.engines.partitional._cop_kmeans import (
    COPKMeans as COPKMeans,
)
from linkwise.engines.partitional._cvqe import (
    CVQE as CVQE,
    LCVQE as LCVQE,
    cvqe as cvqe,
    lcvqe as lcvqe,
)
from linkwise.engines.partitional._hmrf_kmeans import (
    HMRFKMeans as HMRFKMeans,
    hmrf_kmeans as hmrf_kmeans,
)
from linkwise.engines.partitional._mpck_means import (
    MKMeans as MKMeans,
    MPCKMeans as MPCKMeans,
    mk_means as mk_means,
    mpck_means as mpck_means,
)
from linkwise.engines.partitional._pck_means import (
    PCKMeans as PCKMeans,
    pck_means as pck_means,
)
from linkwise.engines.partitional._seeded import (
    ConstrainedKMeans as ConstrainedKMeans,
    SeededKMeans as SeededKMeans,
)
from linkwise.engines.partitional._soft_mixin import (
    SoftRun as SoftRun,
)

"""For other packages of linkwise."""

from linkwise.engines.partitional._centroid_mixin import (
    LINKS as LINKS,
)
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
