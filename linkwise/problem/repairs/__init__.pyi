"""For other packages of linkwise."""

from linkwise.problem.repairs._annealing import (
    best_partition as best_partition,
    broken_in as broken_in,
)
from linkwise.problem.repairs._repair import (
    repair as repair,
)
from linkwise.problem.repairs._repair_outcome import (
    Repair as Repair,
)
