"""Quality after 25, 50 and 100 answers: right ones and with 5 wrong, the number of clusters given and not.

    LINKWISE_DATA=... python benchmarks/questions.py                    the nine sets whose figures guided the design
    LINKWISE_DATA=... python benchmarks/questions.py --others           four that were looked at once, at the end
    LINKWISE_DATA=... python benchmarks/questions.py --pairs            random pairs in place of answers

A default `Dialogue` asks; the classes answer. For wrong answers, 5 of the first 100 are turned round, drawn by the
seed: the answer, not the pair, is wrong, so a question that is repeated may be answered rightly. ARI is that of the
clustering the dialogue would show. Nothing is timed. Sets are prepared as in ``asking.py``; of larger ones a random
part is used.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks._data import prepare
from linkwise import Constraints
from linkwise.active import Dialogue
from linkwise.engines import NeighborhoodPropagation

KNOWN = ["zoo", "iris", "wine", "crabs", "glass", "ionosphere", "soybean", "breast", "digits_389"]
OTHERS = ["letters_ijlt", "vote", "crabs_sexsp", "pendigits"]
SHOWN, PAIRS = (25, 50, 100), (25, 50, 100, 200)
MOST = 1000  # rows of a set that are used


def samples(name: str, most: int = MOST) -> tuple[Any, Any]:
    """A set as it is asked about: at most some of its rows, and classes numbered from 0."""
    X, y = prepare(name)
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:most])
    X = X[rows]
    return np.ascontiguousarray(X[:, X.std(axis=0) > 0]), np.unique(y[rows], return_inverse=True)[1]


def converse(X: Any, y: Any, seed: int, *, wrong: int, told: bool) -> list[tuple[float, int]]:
    """ARI and surplus clusters after each number of answers shown."""
    k = int(y.max()) + 1
    slips = set(np.random.default_rng(1000 + seed).permutation(SHOWN[-1])[:wrong].tolist())
    talk = Dialogue(X, n_clusters=k if told else None, budget=SHOWN[-1], random_state=seed)
    rows: list[tuple[float, int]] = []
    for at in SHOWN:
        while talk.n_asked < at and (query := talk.ask()) is not None:
            a, b = query.items
            talk.tell(query, bool((y[a] == y[b]) != (talk.n_asked in slips)))
        found = talk.fit()
        rows.append((float(adjusted_rand_score(y, found.labels_)), int(found.n_clusters_) - k))
    return rows


def random_pairs(X: Any, y: Any, seed: int, *, told: bool) -> list[tuple[float, int]]:
    """ARI of `NeighborhoodPropagation` and surplus clusters after each number of random pairs."""
    k, rng = int(y.max()) + 1, np.random.default_rng(seed)
    pairs = np.array([rng.choice(len(y), 2, replace=False) for _ in range(PAIRS[-1])])
    rows: list[tuple[float, int]] = []
    for m in PAIRS:
        same = y[pairs[:m, 0]] == y[pairs[:m, 1]]
        said = Constraints.build(len(y), must_link=pairs[:m][same], cannot_link=pairs[:m][~same])
        found = NeighborhoodPropagation(k if told else None).fit(X, constraints=said)
        rows.append((float(adjusted_rand_score(y, found.labels_)), int(found.n_clusters_) - k))
    return rows


def report(title: str, columns: tuple[int, ...], found: dict[str, Any]) -> str:
    """One line per set and their mean: ARI at each column; the clusters that are too many at the last, and off by."""
    lines = [f"| {title} | " + " | ".join(str(at) for at in columns) + " | clusters too many (off by) |"]
    lines.append("|---|" + "---|" * (len(columns) + 1))
    table = {**found, "mean": np.mean(list(found.values()), axis=0)}
    for name, rows in table.items():
        cells = [f"{row[0]:.2f}" for row in rows] + [f"{rows[-1][1]:+.2f} ({rows[-1][2]:.2f})"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="*", help="instead of the nine")
    parser.add_argument("--others", action="store_true", help="the four sets that nothing was chosen on")
    parser.add_argument("--pairs", action="store_true", help="random pairs in place of answers")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=MOST, help="rows of a set that are used")
    chosen = parser.parse_args(arguments)
    sets = {name: samples(name, chosen.most) for name in chosen.sets or (OTHERS if chosen.others else KNOWN)}
    for told in (False, True):
        for wrong in (0,) if chosen.pairs else (0, 5):
            found = {}
            for name, (X, y) in sets.items():
                runs = [
                    random_pairs(X, y, seed, told=told)
                    if chosen.pairs
                    else converse(X, y, seed, wrong=wrong, told=told)
                    for seed in range(chosen.seeds)
                ]
                found[name] = np.mean([[(*row, abs(row[1])) for row in rows] for rows in runs], axis=0)
            what = "random pairs" if chosen.pairs else f"answers, {wrong} wrong"
            given = "k given" if told else "k not given"
            print(report(f"{what}, {given}", PAIRS if chosen.pairs else SHOWN, found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
