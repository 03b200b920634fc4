"""How many answers a hierarchy takes: trios by chance, far apart, and those that place samples in a growing tree.

    LINKWISE_DATA=folder python benchmarks/asking_trees.py --processes 4       an hour or more
    python benchmarks/asking_trees.py --data tree tree-noisy --seeds 5         planted trees need no folder
    python benchmarks/asking_trees.py --quick                                  tiny: does it run?

A taxonomy answers, "unsure" where it does not resolve a trio. Measured after so many answers is the share of the
taxonomy's triplets that the tree of the dialogue displays: ReCon with average linkage, told the answers and, as soft
statements, what the strategy believes. Texts are tf-idf of words in three documents or more, ten (twenty newsgroups) or
eighteen (Banksearch) documents a class drawn by the seed; planted trees have 200 leaves and fan-outs of 2 to 5, their
samples a random walk of unit steps down the tree in 50 dimensions, plus noise. Curves are kept in ``--cache``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # Run as a file, Python searches the folder of this file; the package lies in the one above.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np
import numpy.typing as npt
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import minmax_scale

from linkwise import Taxonomy
from linkwise.active import Dialogue, Inquiry, PlacingTrios, RandomTrios, Scene, Strategy, TreeAnswerer
from linkwise.datasets import load
from linkwise.metrics import h_correlation

Floats = npt.NDArray[np.float64]
DATA = ("zoo", "banksearch_lda", "newsgroups20", "tree", "tree-noisy")
GRID = (0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 75, 100, 125, 150, 175, 200, 225, 250, 275, 300, 350, 400, 500)
FURTHER = (600, 700, 800, 900, 1000, 1200, 1400, 1600, 1800, 2000)  # for chance, which needs more
GOAL = 0.9


class FarthestTrios(Strategy):
    """Ask about samples far from all asked about before, together with the two nearest of these."""

    def begin(self, scene: Scene) -> Inquiry:
        """Start to ask about a scene."""
        return _Farthest(scene)

    def companion(self) -> Any:
        """Return what random trios are fitted with."""
        return RandomTrios().companion()


class _Farthest(Inquiry):
    def propose(self) -> tuple[int, ...] | None:
        """Go round by round through a farthest-first order; with every round to a nearer pair of partners."""
        order, rows = self.scene.once("farthest", self._order)
        n = self.scene.n_samples
        for asked in range(len(self.scene.known.answers), n * n):
            turn, place = divmod(asked, n - 2)
            earlier = order[: place + 2]
            near = earlier[np.argsort(rows[order[place + 2], earlier], kind="stable")]
            pair = near[[turn % len(near), (turn + 1) % len(near)]]
            items = tuple(sorted({int(order[place + 2]), *pair.tolist()}))
            if len(items) == 3 and not self.scene.known.decides(items):
                return items
        return RandomTrios().begin(self.scene).propose()

    def _order(self) -> tuple[npt.NDArray[np.intp], Floats]:
        rows = np.array([self.scene.distances_from(i) for i in range(self.scene.n_samples)])
        order = [int(self.scene.rng(0).integers(len(rows)))]
        near = rows[order[0]].copy()
        while len(order) < len(rows):
            near[order] = -1.0
            order.append(int(near.argmax()))
            near = np.minimum(near, rows[order[-1]])
        return np.array(order), rows


STRATEGIES: dict[str, Strategy] = {
    "random": RandomTrios(),
    "farthest": FarthestTrios(),
    "placing": PlacingTrios(),
    "placing, checked": PlacingTrios(check=0.1),
}


def planted(n: int, noise: float, seed: int) -> tuple[Floats, Taxonomy]:
    """Draw a tree with n leaves, and one sample near each."""
    rng = np.random.default_rng(seed)
    parent, size, center = [-1], [n], [np.zeros(50)]
    leaves = []
    for v in range(2 * n):
        if v == len(parent):
            break
        if size[v] == 1:
            leaves.append(v)
            continue
        k = min(size[v], int(rng.integers(2, 6)))
        for below in 1 + rng.multinomial(size[v] - k, rng.dirichlet(np.full(k, 2.0))):
            parent.append(v)
            size.append(int(below))
            center.append(center[v] + rng.normal(size=50))
    leaf = rng.permutation(leaves)
    return np.array(center)[leaf] + noise * rng.normal(size=(n, 50)), Taxonomy(parent, leaf)


def draw(name: str, seed: int) -> tuple[Floats, Taxonomy]:
    """Draw samples and their taxonomy."""
    if name.startswith("tree"):
        return planted(60 if name == "tree-small" else 200, 2.0 if name == "tree-noisy" else 1.0, seed)
    data = load(name)
    tree: Any = data.taxonomy
    if name == "zoo":
        return minmax_scale(np.nan_to_num(np.asarray(data.X, dtype=np.float64))), tree
    rng = np.random.default_rng(seed)
    each = 200 // (int(data.y.max()) + 1)
    rows = np.concatenate([rng.choice(np.flatnonzero(data.y == c), each, replace=False) for c in np.unique(data.y)])
    words = data.X[rows]
    words = words[:, np.flatnonzero((words > 0).sum(axis=0) >= 3)]
    X = TfidfTransformer(sublinear_tf=True).fit_transform(words).toarray()
    return np.ascontiguousarray(X), Taxonomy(tree.parent, tree.node[rows])


def curve(name: str, strategy: str, seed: int, noise: float, most: int) -> dict[int, float]:
    """Share of the triplets recovered after so many answers."""
    X, truth = draw(name, seed)
    says = TreeAnswerer(truth, noise=noise, random_state=seed)
    talk = Dialogue(X, strategy=STRATEGIES[strategy], random_state=seed)
    found = {}
    for wanted in (*GRID, *(FURTHER if strategy in ("random", "farthest") else ())):
        if wanted > most:
            break
        while talk.n_asked < wanted and (query := talk.ask()) is not None:
            talk.tell(query, says(query))
        found[wanted] = float(h_correlation(truth, talk.fit().dendrogram_, weights="uniform"))
    return found


def _job(job: tuple[str, str, int, float, int, Path]) -> dict[int, float]:
    name, strategy, seed, noise, most, cache = job
    kept = cache / f"{name}-{strategy.replace(', ', '-')}-{seed}-{noise:g}-{most}.json"
    if kept.exists():
        return {int(k): v for k, v in json.loads(kept.read_text()).items()}
    found = curve(name, strategy, seed, noise, most)
    cache.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(found))
    return found


def needed(mean: dict[int, float]) -> float:
    """Answers from which on the mean curve stays at the goal, read off between two points of the grid."""
    points = list(mean.items())
    low = max((at for at, (_, share) in enumerate(points) if share < GOAL), default=-1)
    if low < 0:
        return 0.0
    if low == len(points) - 1:
        return float("inf")
    (asked, share), (later, more) = points[low : low + 2]
    return asked + (later - asked) * (GOAL - share) / (more - share)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--strategies", nargs="+", default=["random", "farthest", "placing"], choices=list(STRATEGIES))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--noise", type=float, default=0.0, help="share of wrong answers")
    parser.add_argument("--most", type=int, default=2000, help="answers at the most")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=Path("asking_trees_cache"))
    parser.add_argument("--quick", action="store_true", help="tiny: does it run?")
    given = parser.parse_args(arguments)
    names, seeds, most = (["tree-small"], 1, 10) if given.quick else (given.data, given.seeds, given.most)
    shown = (0, 5, 20, 100, 200, 300, 500, 1000)
    print("| data | strategy | answers for 90 % | " + " | ".join(map(str, shown)) + " |\n|" + "---|" * (3 + len(shown)))
    with ProcessPoolExecutor(given.processes) as pool:
        for name in names:
            for strategy in given.strategies:
                jobs = [(name, strategy, seed, given.noise, most, given.cache) for seed in range(seeds)]
                curves = list(pool.map(_job, jobs))
                mean = {asked: float(np.mean([found[asked] for found in curves])) for asked in curves[0]}
                cells = [f"{mean[asked]:.3f}" if asked in mean else "" for asked in shown]
                print(f"| {name} | {strategy} | {needed(mean):.0f} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
