"""ETE 3 reads every tree that linkwise writes: forests, many-way nodes, odd names, names of inner nodes.

``python -m tests.ete3_trees`` where ete3 is installed, with Python 3.12 or older: it does not load with newer ones, so
that the suite cannot hold it. The other readers, Biopython, DendroPy and SciPy, are in
``tests/unit/result/test_join.py``.
"""

from __future__ import annotations

import sys

from tests.unit.result.test_join import NAMES, forest_of


def lost(seed: int) -> str:
    """What ETE 3 does not read of one forest as it was written, "" if it reads all."""
    from ete3 import Tree

    forest = forest_of(seed, named=True)
    called = {v: f"{NAMES[v % len(NAMES)]} clade {v}" for v in range(forest.n_samples, forest.n_nodes)}
    text = forest.to_newick(join=True, node_names=called).strip()
    tree = Tree(text.replace("''", "’"), format=1, quoted_node_names=True)  # it knows no doubled quotes
    leaves = sorted(leaf.name.replace("’", "'") for leaf in tree.iter_leaves())
    inner = sorted(node.name.replace("’", "'") for node in tree.traverse() if node.name and not node.is_leaf())
    if (leaves, inner) != (sorted(forest.ids.tolist()), sorted(called.values())):
        return f"{text}: read {leaves} and {inner}"
    if not forest.is_tree and tree.linkwise_join != str(forest.n_roots):
        return f"{text}: the mark of the join is lost"
    depth = {leaf.name: tree.get_distance(leaf) for leaf in tree.iter_leaves()}
    top = float(forest.joined().height.max())
    return "" if all(abs(one - top) < 1e-6 * max(top, 1.0) for one in depth.values()) else f"{text}: {depth}"


def main() -> int:
    """Read many forests, and say which are not read."""
    found = [words for words in map(lost, range(500)) if words]
    print("\n".join([*found[:5], f"{500 - len(found)} of 500 forests are read completely."]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
