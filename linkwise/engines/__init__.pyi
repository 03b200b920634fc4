from linkwise.engines._base import (
    ConstrainedClusterer as ConstrainedClusterer,
)
from linkwise.engines._progress import (
    progress as progress,
)
from linkwise.engines.consensus import *
from linkwise.engines.graph import *
from linkwise.engines.hierarchical import *
from linkwise.engines.metric import *
from linkwise.engines.mixture import *
from linkwise.engines.partitional import *

"""For other packages of linkwise."""

from linkwise.engines._base import (
    ConstrainedEstimator as ConstrainedEstimator,
)
from linkwise.engines._labels_mixin import (
    PartitionMixin as PartitionMixin,
)
from linkwise.engines._progress import (
    Progress as Progress,
    current_progress as current_progress,
)
from linkwise.engines._saved import (
    CACHE as CACHE,
    FEATURES as FEATURES,
    REPORTED as REPORTED,
    SAMPLES as SAMPLES,
    Kept as Kept,
    gather as gather,
    is_array as is_array,
    is_count as is_count,
    is_table as is_table,
    kept_count as kept_count,
    kept_floats as kept_floats,
    kept_instance as kept_instance,
    kept_labels as kept_labels,
    require_sound as require_sound,
)
