from linkwise.problem.entailment import (
    Fold as Fold,
    knowledge_folds as knowledge_folds,
)
from linkwise.selection._cluster import (
    Clustering as Clustering,
    cluster as cluster,
)
from linkwise.selection._doubt import (
    Suspect as Suspect,
    Suspects as Suspects,
    suspects as suspects,
)
from linkwise.selection._records import (
    Evidence as Evidence,
    RecordGroups as RecordGroups,
    group_records as group_records,
)
from linkwise.selection._search_cv import (
    KnowledgeSearchCV as KnowledgeSearchCV,
)

"""For other packages of linkwise."""

from linkwise.engines import (
    progress as progress,
)
from linkwise.selection._cluster import (
    arguments_of as arguments_of,
    fit_without_constraints as fit_without_constraints,
    uneven_features as uneven_features,
)
from linkwise.selection._methods import (
    EFFORTS as EFFORTS,
    LINKAGES as LINKAGES,
    METHODS as METHODS,
    SHORT_NAMES as SHORT_NAMES,
    WITHOUT_NUMBER as WITHOUT_NUMBER,
    method_name as method_name,
)
