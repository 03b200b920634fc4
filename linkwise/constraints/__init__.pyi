from linkwise.constraints._entries import (
    Entry as Entry,
)
from linkwise.constraints._groups import (
    Groups as Groups,
)
from linkwise.constraints._kinds import (
    Kind as Kind,
)
from linkwise.constraints._label_statements import (
    Labels as Labels,
)
from linkwise.constraints._rules import (
    MaxCentroidDistance as MaxCentroidDistance,
    MinSeparation as MinSeparation,
    NeighborWithin as NeighborWithin,
    Rule as Rule,
    SizeBetween as SizeBetween,
)
from linkwise.constraints._table import (
    Constraints as Constraints,
)

"""For other packages of linkwise."""

from linkwise.constraints._disjunctions import (
    links_of as links_of,
    links_said as links_said,
    orient as orient,
    write_links as write_links,
)
from linkwise.constraints._entries import (
    Entries as Entries,
    entry_key as entry_key,
    has_parts as has_parts,
    list_entries as list_entries,
    take_away as take_away,
)
from linkwise.constraints._from_labels_and_ids import (
    read_ids as read_ids,
)
from linkwise.constraints._groups import (
    gather as gather,
    run_starts as run_starts,
    take_groups as take_groups,
)
from linkwise.constraints._kinds import (
    CHOICES as CHOICES,
    LINKS as LINKS,
)
from linkwise.constraints._label_statements import (
    NO_LABELS as NO_LABELS,
    says_all as says_all,
)
from linkwise.constraints._near_pairs import (
    TREE_NORMS as TREE_NORMS,
    close_pairs as close_pairs,
    must_links_within as must_links_within,
    neighbors_within as neighbors_within,
    read_data as read_data,
)
from linkwise.constraints._understood import (
    require_constraints as require_constraints,
    require_understood as require_understood,
)
