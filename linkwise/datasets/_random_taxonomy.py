"""Random taxonomies with items on their nodes, inner ones included, as vectors or as words."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from linkwise._typing import FloatArray, IntArray
from linkwise._validation import read_choice, read_count, read_share
from linkwise.datasets._dataset import Data
from linkwise.datasets._shapes import read_sizes
from linkwise.sources import Taxonomy

SHRINK = 0.6  # ratio of the lengths of steps from node to child between a level and the one above
WORDS = 80  # words of an item, on average
OWN_WORDS = 10  # words that stand out in a node


def noisy_taxonomy(
    n_samples: int = 300,
    *,
    n_nodes: int = 12,
    features: str = "gaussian",
    n_features: int = 30,
    inner: float = 0.25,
    noise: float = 0.1,
    random_state: Any = None,
) -> Data:
    """Draw a random taxonomy and items that belong to its nodes, some of them to inner ones.

    Parameters
    ----------
    n_samples : int, default=300
        How many items; each node below the top holds at least one.
    n_nodes : int, default=12
        How many nodes, the top one included.
    features : {"gaussian", "text"}, default="gaussian"
        ``"gaussian"``: an item scatters around its node, and a node lies a step away from its parent, a shorter one the
        deeper it is. ``"text"``: an item is a count of words; a node uses its own words and those of the nodes above.
    n_features : int, default=30
        Dimensions, or words in the vocabulary.
    inner : float, default=0.25
        Share of the items that belong to inner nodes.
    noise : float, default=0.1
        ``"gaussian"``: standard deviation of an item in each dimension, where the step below the top is 1.
        ``"text"``: share of the words that do not depend on the node, at most 1.
    random_state : None, int or numpy.random.Generator
        Seed; an int gives the same items every time.

    Returns
    -------
    Data
        ``y`` is the class of each item, ``taxonomy`` the tree with the items on its nodes. Text is sparse.

    Notes
    -----
    **Cost** O(n_samples × n_features) time and memory, for text as well.
    **Guarantee** node 0 is the top and holds no items; parents have smaller numbers than their children.

    Examples
    --------
    >>> from linkwise.datasets import noisy_taxonomy
    >>> data = noisy_taxonomy(n_samples=60, n_nodes=6, random_state=0)
    >>> data
    Data(noisy_taxonomy: 60 samples, 30 features, 5 classes, a taxonomy of 6 nodes)
    >>> data.taxonomy
    Taxonomy(60 of 60 samples: 6 nodes, 4 levels)
    >>> data.taxonomy.parent.tolist()
    [-1, 0, 1, 2, 2, 2]
    """
    rng = read_sizes("noisy_taxonomy", n_samples, noise, random_state)
    _check(n_samples, n_nodes, features, n_features, inner, noise)
    parent = np.array([-1, 0, 1, *(int(rng.integers(node)) for node in range(3, n_nodes))], dtype=np.intp)
    node = _assign(rng, n_samples, parent, inner)
    names = tuple(f"node {i}" for i in range(n_nodes))
    tree = Taxonomy(parent, node, names=names)
    draw = _vectors if features == "gaussian" else _texts
    return Data(
        draw(rng, tree, n_features, float(noise)),
        node - 1,
        "noisy_taxonomy",
        tuple(f"x{i}" if features == "gaussian" else f"word {i}" for i in range(n_features)),
        names[1:],
        "generated",
        "Items on a random tree of classes; inner nodes hold items too.",
        taxonomy=tree,
    )


def _check(n_samples: int, n_nodes: int, features: str, n_features: int, inner: float, noise: float) -> None:
    who = "noisy_taxonomy"
    read_count(n_nodes, "n_nodes", who, low=4, high=n_samples + 1, note=" (n_samples + 1)")
    read_choice(features, "features", who, ("gaussian", "text"))
    read_count(n_features, "n_features", who, low=2)
    read_share(inner, "inner", who, n_samples)
    if features == "text":
        read_share(noise, "noise", who, n_samples)


def _assign(rng: np.random.Generator, n_samples: int, parent: IntArray, inner: float) -> IntArray:
    """Give every node but the top one item, and the rest by ``inner`` to inner nodes or to leaves."""
    nodes = np.arange(1, len(parent))
    is_inner = np.isin(nodes, parent)
    want = min(max(round(inner * n_samples), int(is_inner.sum())), n_samples - int((~is_inner).sum()))
    extra_inner = rng.choice(nodes[is_inner], size=want - int(is_inner.sum()))
    extra_leaf = rng.choice(nodes[~is_inner], size=n_samples - want - int((~is_inner).sum()))
    return rng.permutation(np.concatenate([nodes, extra_inner, extra_leaf])).astype(np.intp)


def _vectors(rng: np.random.Generator, tree: Taxonomy, n_features: int, noise: float) -> FloatArray:
    step = rng.standard_normal((tree.n_nodes, n_features))
    step *= (SHRINK ** (tree.depth - 1.0) / np.linalg.norm(step, axis=1))[:, None]
    center = np.zeros_like(step)
    for i in range(1, tree.n_nodes):  # parents come first
        center[i] = center[tree.parent[i]] + step[i]
    return center[tree.node] + noise * rng.standard_normal((tree.n_samples, n_features))


def _texts(rng: np.random.Generator, tree: Taxonomy, n_features: int, noise: float) -> sparse.csr_array:
    common = rng.dirichlet(np.full(n_features, 0.5))
    use = np.zeros((tree.n_nodes, n_features))
    own = min(OWN_WORDS, n_features)
    for i in range(1, tree.n_nodes):
        use[i] = use[tree.parent[i]]
        use[i, rng.choice(n_features, size=own, replace=False)] += 1.0 / own
    chance = use[tree.node] / use[tree.node].sum(axis=1, keepdims=True)
    chance = (1.0 - noise) * chance + noise * common
    counts = rng.multinomial(1 + rng.poisson(WORDS - 1, size=tree.n_samples), chance)
    return sparse.csr_array(counts.astype(np.float64))
