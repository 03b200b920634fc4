"""For other packages of linkwise."""

from linkwise.problem.entailment._closure import (
    all_entailed as all_entailed,
    close as close,
)
from linkwise.problem.entailment._comparisons import (
    close_comparisons as close_comparisons,
    read_comparisons as read_comparisons,
    repair_comparisons as repair_comparisons,
    require_no_circle as require_no_circle,
)
from linkwise.problem.entailment._folds import (
    Fold as Fold,
    knowledge_folds as knowledge_folds,
)
from linkwise.problem.entailment._implies import (
    Entailment as Entailment,
    implies as implies,
)
from linkwise.problem.entailment._informative import (
    Selection as Selection,
    informative as informative,
)
from linkwise.problem.entailment._minimal import (
    label_triplets as label_triplets,
    minimal as minimal,
)
from linkwise.problem.entailment._utility import (
    Utility as Utility,
    utility as utility,
)
