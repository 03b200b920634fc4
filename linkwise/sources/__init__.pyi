from linkwise.sources._clustering import (
    from_dendrogram as from_dendrogram,
)
from linkwise.sources._duplicates import (
    duplicates as duplicates,
    near_duplicates as near_duplicates,
)
from linkwise.sources._easy_pairs import (
    easy_label_pairs as easy_label_pairs,
)
from linkwise.sources._edges import (
    from_co_occurrence as from_co_occurrence,
    from_edges as from_edges,
)
from linkwise.sources._labels import (
    groups as groups,
    label_pairs as label_pairs,
    label_triplets_sample as label_triplets_sample,
)
from linkwise.sources._noise import (
    flip as flip,
)
from linkwise.sources._ontology import (
    from_ontology as from_ontology,
)
from linkwise.sources._refine import (
    Refinement as Refinement,
    refine as refine,
)
from linkwise.sources._taxonomy import (
    Taxonomy as Taxonomy,
)
from linkwise.sources._traces import (
    contiguity as contiguity,
    max_separation as max_separation,
)

"""For other packages of linkwise."""

from linkwise.sources._random_ranks import (
    draw_ranks as draw_ranks,
)
