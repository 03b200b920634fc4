from linkwise.constraints import (
    must_links_within as must_links_within,
    neighbors_within as neighbors_within,
)
from linkwise.problem._problem import (
    Problem as Problem,
)
from linkwise.problem.entailment import (
    Selection as Selection,
    Utility as Utility,
    close as close,
    close_comparisons as close_comparisons,
    implies as implies,
    informative as informative,
    label_triplets as label_triplets,
    minimal as minimal,
    repair_comparisons as repair_comparisons,
    utility as utility,
)
from linkwise.problem.explain import (
    Explanation as Explanation,
)
from linkwise.problem.feasibility import (
    Structure as Structure,
    Verdict as Verdict,
    check as check,
    structure as structure,
)
from linkwise.problem.reasons import (
    Why as Why,
    conflicts as conflicts,
    why as why,
)
from linkwise.problem.repairs import (
    Repair as Repair,
    repair as repair,
)
from linkwise.problem.triplets import (
    LiveTriplets as LiveTriplets,
    comparison_tree as comparison_tree,
    onetree as onetree,
)
