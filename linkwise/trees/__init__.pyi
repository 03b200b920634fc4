"""For other packages of linkwise."""

from linkwise.trees._assemble import (
    sample_numbers as sample_numbers,
)
from linkwise.trees._exchange import (
    Exchange as Exchange,
)
from linkwise.trees._kernels import (
    by_first_appearance as by_first_appearance,
    nearest_flagged as nearest_flagged,
)
from linkwise.trees._named_nodes import (
    NamedNodes as NamedNodes,
    edges_of_columns as edges_of_columns,
    edges_of_obo as edges_of_obo,
    nodes_of_levels as nodes_of_levels,
    nodes_of_nested as nodes_of_nested,
    nodes_of_newick as nodes_of_newick,
    nodes_of_obo as nodes_of_obo,
    nodes_of_parents as nodes_of_parents,
    nodes_of_paths as nodes_of_paths,
)
from linkwise.trees._parent_array import (
    Immutable as Immutable,
    Tree as Tree,
    equal_arrays as equal_arrays,
    frozen as frozen,
    read_names as read_names,
    read_nodes as read_nodes,
    read_pairs as read_pairs,
    refuse_cycle as refuse_cycle,
)
