"""For other packages of linkwise."""

from linkwise.problem.feasibility._check import (
    Verdict as Verdict,
    check as check,
    conflicts_of as conflicts_of,
    decide as decide,
    judge as judge,
    read_hard as read_hard,
    read_k as read_k,
    read_range as read_range,
)
from linkwise.problem.feasibility._choices import (
    Choices as Choices,
    choose_links as choose_links,
    links_in as links_in,
    make_choices as make_choices,
)
from linkwise.problem.feasibility._n_clusters import (
    decide_number as decide_number,
)
from linkwise.problem.feasibility._structure import (
    Structure as Structure,
    structure as structure,
)
