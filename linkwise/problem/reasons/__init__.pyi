"""For other packages of linkwise."""

from linkwise.problem.reasons._all_conflicts import (
    conflicts as conflicts,
)
from linkwise.problem.reasons._why_pair import (
    Why as Why,
    why as why,
)
