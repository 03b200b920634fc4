from linkwise.selection._cluster import (
    Clustering as Clustering,
    cluster as cluster,
)
from linkwise.selection._folds import (
    Fold as Fold,
    knowledge_folds as knowledge_folds,
)
from linkwise.selection._search_cv import (
    KnowledgeSearchCV as KnowledgeSearchCV,
)

"""For other packages of linkwise."""

from linkwise.selection._automatic import (
    decide_cut as decide_cut,
    nearly_all_in_one as nearly_all_in_one,
)
from linkwise.selection._cluster import (
    UNEQUAL as UNEQUAL,
)
