"""For other packages of linkwise."""

from linkwise.engines.distances._bent_by_links import (
    adjust as adjust,
    adjust_groups as adjust_groups,
    fresh_distances as fresh_distances,
    obeys_triangle as obeys_triangle,
    propagate as propagate,
    read_source as read_source,
)
from linkwise.engines.distances._clusters import (
    ClustersOfVectors as ClustersOfVectors,
)
from linkwise.engines.distances._dense import (
    Metric as Metric,
    as_dense as as_dense,
    metric_name as metric_name,
    read_dissimilarities as read_dissimilarities,
    read_vectors as read_vectors,
    require_sparse_metric as require_sparse_metric,
    scaled as scaled,
    sparse_distances as sparse_distances,
    square_distances as square_distances,
    warn_of_distances as warn_of_distances,
)
from linkwise.engines.distances._kernels_clusters import (
    LARGEST as LARGEST,
    MEAN as MEAN,
    WEIGHTED_MEAN as WEIGHTED_MEAN,
)
from linkwise.engines.distances._kernels_dense import (
    Neighbors as Neighbors,
)
from linkwise.engines.distances._kernels_rows import (
    squared_to_own as squared_to_own,
    sum_rows as sum_rows,
    write_nearest as write_nearest,
    write_squared as write_squared,
)
from linkwise.engines.distances._kernels_shortest_paths import (
    mirror as mirror,
)
from linkwise.engines.distances._nearest_metric import (
    nearest_metric as nearest_metric,
)
from linkwise.engines.distances._rows import (
    is_small as is_small,
    is_wide as is_wide,
    means as means,
    nearest as nearest,
    one_row as one_row,
    squared as squared,
    squared_to as squared_to,
    typical_variance as typical_variance,
)
from linkwise.engines.distances._shortest_paths import (
    shorten as shorten,
)
from linkwise.engines.distances._units import (
    in_unit as in_unit,
    unit_of as unit_of,
)
