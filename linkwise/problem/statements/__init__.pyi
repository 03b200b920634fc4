"""For other packages of linkwise."""

from linkwise.problem.statements._binding import (
    bind as bind,
    constraints_of as constraints_of,
)
from linkwise.problem.statements._budget import (
    STEPS as STEPS,
    Budget as Budget,
    read_limits as read_limits,
)
from linkwise.problem.statements._conflict_graph import (
    CLIQUE as CLIQUE,
    OTHER as OTHER,
    TREE as TREE,
    Apart as Apart,
    Contracted as Contracted,
    keep_apart as keep_apart,
    mean_rows as mean_rows,
)
from linkwise.problem.statements._hard import (
    Hard as Hard,
    renumber as renumber,
)
from linkwise.problem.statements._soft_pairs import (
    NetPairs as NetPairs,
    SoftPairs as SoftPairs,
    pairs_of_groups as pairs_of_groups,
    soft_pairs as soft_pairs,
)
