from linkwise.result._certificate import (
    Certificate as Certificate,
    verify as verify,
)
from linkwise.result._dendrogram import (
    Dendrogram as Dendrogram,
)
from linkwise.result._moved_branches import (
    Moved as Moved,
)
from linkwise.result._small_branches import (
    OutlierCut as OutlierCut,
)

"""For other packages of linkwise."""

from linkwise.result._kernels_cuts import (
    cluster_tops as cluster_tops,
)
from linkwise.result._moved_branches import (
    are_home as are_home,
    samples_outside as samples_outside,
)
from linkwise.result._outcome import (
    Outcome as Outcome,
    place_of as place_of,
    read_outcome as read_outcome,
    require_dendrogram as require_dendrogram,
)
from linkwise.result._small_branches import (
    cut_without_outliers as cut_without_outliers,
    shortfalls as shortfalls,
)
from linkwise.result._triplets import (
    stretches as stretches,
)
