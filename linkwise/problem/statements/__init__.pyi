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
    keep_apart as keep_apart,
)
from linkwise.problem.statements._contraction import (
    Contraction as Contraction,
    contract_constraints as contract_constraints,
)
from linkwise.problem.statements._hard import (
    Hard as Hard,
    renumber as renumber,
)
from linkwise.problem.statements._said import (
    Leanings as Leanings,
    apart_pairs as apart_pairs,
    read_leanings as read_leanings,
)
from linkwise.problem.statements._soft_pairs import (
    SoftPairs as SoftPairs,
    soft_pairs as soft_pairs,
)
