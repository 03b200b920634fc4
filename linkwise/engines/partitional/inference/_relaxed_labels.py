"""Scores of labels on a graph of charges, by loopy belief propagation and by a linear program.

Both relax the search for labels of least energy: beliefs pass along links for a counted number of rounds, fractions of
labels are the optimum of the linear program over pairwise marginals. Without cycles both are exact.
"""

from __future__ import annotations

import numpy as np

from linkwise._sparse import fractional_programme
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.partitional.inference._kernels_energy import Charges, Graph
from linkwise.exceptions import LinkwiseError

ROUNDS = 200  # of messages along all links
_DAMPING = 0.5  # share of the old message in the new one, where cycles make messages swing
_SETTLED = 1e-12  # change of all messages, relative to the costs, after which they count as settled
_TIES = 1e-9  # share of the costs that is added to break ties, so that the best label of each node is one
_MOST_CELLS = 2_000_000  # variables of the linear program


def link_tables(charges: Charges) -> FloatArray:
    """Return the charge of each link for each pair of labels; shape (n_links, n_clusters, n_clusters)."""
    table = charges.left[:, :, None] + charges.right[:, None, :]
    if len(charges.between):
        table = table + charges.weight[:, None, None] * charges.between
    k = table.shape[1]
    table[:, np.arange(k), np.arange(k)] = charges.same
    return np.asarray(table)


def believe(own: FloatArray, graph: Graph, charges: Charges, part: IntArray) -> FloatArray:
    """Return the beliefs of nodes in labels as costs, by min-sum messages along links (loopy belief propagation).

    All messages are sent at once, up to `ROUNDS` times. A message is the least cost of its sender for each label of
    its receiver, given what other neighbors sent; where a part has cycles, half of the message before stays.
    """
    n, k = own.shape
    spread = float(own.max() - own.min()) if own.size else 0.0
    golden = (np.arange(n * k) * 0.6180339887498949) % 1.0
    own = own + _TIES * spread * golden.reshape(n, k)
    table = link_tables(charges)
    to = np.concatenate([table, table.transpose(0, 2, 1)])  # for a sender at the left end, then at the right end
    sender = np.concatenate([graph.ends[:, 0], graph.ends[:, 1]])
    receiver = np.concatenate([graph.ends[:, 1], graph.ends[:, 0]])
    back = np.roll(np.arange(len(sender)), len(sender) // 2)  # the message in the other direction
    kept = np.where(graph.tree[part[sender]], 0.0, _DAMPING)[:, None]
    message = np.zeros((len(sender), k))
    into = (receiver[:, None] * k + np.arange(k)).ravel()
    belief = own
    finite = to[np.isfinite(to)]
    scale = spread + float(np.abs(finite).max(initial=0.0))
    for _ in range(ROUNDS if len(sender) else 0):
        sent = ((belief[sender] - message[back])[:, :, None] + to).min(axis=1)
        sent -= sent.min(axis=1, keepdims=True)
        sent = kept * message + (1.0 - kept) * sent
        change, message = float(np.abs(sent - message).max()), sent
        belief = own + np.bincount(into, weights=message.ravel(), minlength=n * k).reshape(n, k)
        if change <= _SETTLED * scale:
            break
    return np.asarray(belief)


def relax(own: FloatArray, graph: Graph, charges: Charges) -> tuple[FloatArray, float]:
    """Return the fractions of labels of each node that the linear program finds best, and its value, a lower bound.

    The variables are a fraction for each node and label and one for each link and pair of labels, whose sums over one
    end are the fractions of the other.
    """
    from scipy.sparse import coo_array, vstack

    (n, k), m = own.shape, len(graph.ends)
    cells = n * k + m * k * k
    if cells > _MOST_CELLS:
        msg = (
            f'inference="lp": the linear program has {cells:,} variables, expected at most {_MOST_CELLS:,}.\n'
            'Hint: use inference="trees" or inference="bp".'
        )
        raise LinkwiseError(msg)
    table = link_tables(charges)
    banned = ~np.isfinite(table)
    cost = np.concatenate([own.ravel(), np.where(banned, 0.0, table).ravel()])
    node = np.arange(n * k)
    one = coo_array((np.ones(n * k), (node // k, node)), shape=(n, cells))
    link, a, b = np.unravel_index(np.arange(m * k * k), (m, k, k))
    pair = n * k + np.arange(m * k * k)
    parts = [one]
    for end, label in ((0, a), (1, b)):  # the sum over the other label minus the fraction of this one is 0
        row = link * k + label
        column = np.concatenate([pair, (graph.ends[:, end][:, None] * k + np.arange(k)).ravel()])
        value = np.concatenate([np.ones(len(pair)), -np.ones(m * k)])
        parts.append(coo_array((value, (np.concatenate([row, np.arange(m * k)]), column)), shape=(m * k, cells)))
    equal = vstack(parts).tocsr()
    right = np.concatenate([np.ones(n), np.zeros(2 * m * k)])
    forbidden = np.concatenate([np.zeros(n * k), banned.ravel()])
    at = np.flatnonzero(forbidden)
    never = coo_array((-np.ones(len(at)), (np.zeros(len(at), dtype=np.intp), at)), shape=(1, cells))
    matrix = vstack([equal, -equal, never])
    answer = fractional_programme(cost, matrix, np.concatenate([right, -right, [0.0]]), method="highs")
    if answer.x is None:
        msg = f'inference="lp": the linear program was not solved ({answer.message}).\nHint: use inference="trees".'
        raise LinkwiseError(msg)
    return np.asarray(answer.x[: n * k].reshape(n, k)), float(answer.fun)
