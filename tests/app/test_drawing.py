"""Large trees on the canvas: level of detail spares work and shows the same picture."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from linkwise import Dendrogram
from linkwise.plots import lay_out
from tests.app.stand_in import pack

WIDTH, HEIGHT = 1000, 640
LOAD = """
  const { unpack, indexTree } = await import('/static/arrays.js');
  const { View, paintBranches, pick } = await import('/static/draw.js');
  const tree = indexTree(unpack(await (await fetch('/api/big')).arrayBuffer())), width = 1000, height = 640;
  const canvas = new OffscreenCanvas(width, height), ctx = canvas.getContext('2d', { willReadFrequently: true });
  const view = new View(), all = height / tree.n_leaves;
  const look = (zoom, top) => Object.assign(view, { width, height, scale: zoom * all, top: top * tree.n_leaves });
"""
# Every branch with its own two lines, whatever their size: what level of detail leaves out.
PLAIN = """
  const plain = (ctx) => {
    const right = Math.ceil(view.right);
    for (let v = tree.n_leaves; v < tree.parent.length; v++) {
      const column = Math.floor(view.x(tree.height[v]));
      let low = Infinity, high = -Infinity;
      for (let c = tree.first[v]; c >= 0; c = tree.next[c]) {
        const y = (tree.y[c] - view.top) * view.scale;
        const to = tree.first[c] < 0 ? right : Math.floor(view.x(tree.height[c]));
        low = Math.min(low, y); high = Math.max(high, y);
        ctx.fillRect(column, Math.floor(y), Math.max(1, to - column + 1), 1);
      }
      ctx.fillRect(column, Math.floor(low), 1, Math.floor(high) - Math.floor(low) + 1);
    }
  };
  const ink = (paint) => {
    ctx.clearRect(0, 0, width, height); paint(ctx); return ctx.getImageData(0, 0, width, height).data;
  };
"""
ZOOMS = ((1, 0), (1.5, 0.1), (2, 0.4), (3, 0.2), (5, 0.6), (8, 0.3), (13, 0.8), (21, 0.5), (34, 0.05), (55, 0.7))


def chain(n):
    """A caterpillar, the worst case: every merge adds one leaf."""
    parent = np.full(2 * n - 1, -1)
    parent[0], parent[1:n], parent[n : 2 * n - 2] = n, np.arange(n, 2 * n - 1), np.arange(n + 1, 2 * n - 1)
    return Dendrogram(n, parent, np.concatenate([np.zeros(n), np.sqrt(np.linspace(0.01, 1, n - 1))]))


def ward(n):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, 4)) + 8 * rng.integers(0, 3, size=(n, 1))
    return Dendrogram.from_linkage(linkage(points, "ward"))


def balanced(n):
    """A tree of a hundred thousand leaves, made without distances."""
    parent = np.full(2 * n - 1, -1)
    parent[:-1] = n + np.arange(2 * n - 2) // 2
    height = np.zeros(2 * n - 1)
    for node in range(n, 2 * n - 1):
        height[node] = height[2 * (node - n) : 2 * (node - n) + 2].max() + 0.5 + (node * 7 % 10) / 10
    return Dendrogram(n, parent, height)


def forest(n):
    """Several roots, and nodes of up to nine branches."""
    rng = np.random.default_rng(1)
    parent, height, tops = [-1] * n, [0.0] * n, list(range(n))
    while len(tops) > 12:
        many = int(rng.integers(2, 10))
        taken, tops = tops[:many], [*tops[many:], len(parent)]
        for one in taken:
            parent[one] = len(parent)
        height.append(max(height[one] for one in taken) + float(rng.random()) + 0.1)
        parent.append(-1)
    return Dendrogram(n, np.array(parent), np.array(height))


def serve(page, tree):
    sketch = lay_out(tree, np.arange(tree.n_samples) * 12 // tree.n_samples)
    arrays = {
        "parent": sketch.parent.astype("<i4"),
        "height": (sketch.height / sketch.top).astype("<f4"),
        "start": sketch.start.astype("<i4"),
        "size": sketch.size.astype("<i4"),
        "y": sketch.x.astype("<f4"),
        "cluster": sketch.cluster.astype("<i2"),
    }
    page.route("**/api/big", lambda route: route.fulfill(body=pack(arrays, n_leaves=tree.n_samples)))


@pytest.mark.parametrize("make", [chain, balanced])
def test_a_hundred_thousand_leaves_are_drawn_with_few_rectangles(page, make):
    """Rectangles follow the pixels at every zoom, not the leaves, and a branch is found without a search."""
    n = 100_000
    serve(page, make(n))
    counts = page.evaluate(f"""async () => {{ {LOAD}
      const found = [];
      for (const zoom of [1, 3, 20, 400]) {{ look(zoom, 0.4); found.push(paintBranches(ctx, tree, view)); }}
      return found; }}""")
    assert all(0 < one["drawn"] <= 4 * (WIDTH + HEIGHT) and one["visited"] <= n for one in counts)


@pytest.mark.parametrize("make", [ward, chain, forest])
def test_level_of_detail_shows_the_same_picture(page, make):
    """Ten zooms: the ink of all branches, and the ink with level of detail, differ in few pixels."""
    serve(page, make(2_000))
    shares = page.evaluate(f"""async () => {{ {LOAD} {PLAIN}
      const found = [];
      for (const [zoom, top] of {[list(one) for one in ZOOMS]}) {{
        look(zoom, top);
        const whole = ink(plain), spared = ink((to) => paintBranches(to, tree, view));
        let differ = 0;
        for (let i = 3; i < whole.length; i += 4) if ((whole[i] > 0) !== (spared[i] > 0)) differ++;
        found.push(differ / (whole.length / 4));
      }}
      return found; }}""")
    assert max(shares) <= 0.005, shares
