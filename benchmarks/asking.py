"""How many answers it takes: the strategies of linkwise.active beside COBRAS and NPU, on twelve data sets.

COBRAS and active-semi-supervised-clustering do not run on current versions of NumPy; they get an environment, once:

    python -m venv ENV && ENV/bin/pip install "numpy<1.24" "scipy<1.11" "scikit-learn<1.3" \\
        active-semi-supervised-clustering==0.0.1 && ENV/bin/pip install --no-deps cobras-ts==0.1.3
    LINKWISE_DATA=... python benchmarks/asking.py --peer ENV/bin/python --keep FOLDER        everything (hours)
    LINKWISE_DATA=... python benchmarks/asking.py --peer ENV/bin/python --keep FOLDER --quick    does it run?

Every contender gets the same samples: gaps filled with means, nominal columns written out as zeros and ones, others
standardized. Whether an answer is wrong depends on the seed, the pair and how often it was asked, so whoever asks the
same hears the same. After each answer the labels the contender would show are compared with the classes. Only those
that need the number of clusters are told it: Explore/Consolidate, NPU and random pairs with k-means.

Results are kept in FOLDER, one file per run; what is there is not computed again.
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks._data import ONE_THREAD, SETS, prepare
from linkwise import Constraints, PCKMeans
from linkwise.active import Dialogue, ExpectedGain, ExploreConsolidate, RandomPairs, Uncertainty
from linkwise.engines.graph._neighborhoods import propagate_neighborhoods
from linkwise.engines.graph._similarity_columns import Field
from linkwise.metrics import constrained_rand
from linkwise.problem import Problem

BUDGET, SEEDS = 150, 20
WRONG = (0.0, 0.05, 0.1)
SHOWN = (5, 10, 20, 30, 50, 75, 100, 150)


prepared = functools.cache(prepare)


@functools.cache
def field_of(name: str) -> Field:
    """The field of a set, made once."""
    return Field(prepared(name)[0])


class Person:
    """Answers by classes, and errs now and then; the twin of the one in ``_asking_child.py``."""

    def __init__(self, y: Any, seed: int, wrong: float) -> None:
        self.y, self.seed, self.wrong = y, seed, wrong
        self.times: dict[tuple[int, ...], int] = {}

    def __call__(self, items: tuple[int, ...]) -> bool:
        times = self.times[items] = self.times.get(items, 0) + 1
        salt = [self.seed, *items] + [times] * (times > 1)
        slip = np.random.default_rng(salt).random() < self.wrong
        return bool((self.y[items[0]] == self.y[items[1]]) != slip)


def shown(number: int) -> bool:
    """Whether labels are taken after so many answers: every time at first, later now and then; the last ones count."""
    return number <= 30 or (number <= 60 and number % 2 == 0) or number % 5 == 0


def converse(
    X: Any, y: Any, seed: int, wrong: float, strategy: Any, show: Callable[[Dialogue], Any]
) -> tuple[list[Any], list[Any]]:
    """Labels after each answer of one dialogue, and what was asked."""
    talk, person = Dialogue(X, strategy=strategy, budget=BUDGET, random_state=seed), Person(y, seed, wrong)
    labels = [show(talk)]
    while (query := talk.ask()) is not None:
        talk.tell(query, person(query.items))
        labels.append(show(talk) if shown(talk.n_asked) else labels[-1])
    return labels, [(*told.items, told.answer == "yes") for told in talk.answers]


def propagated(X: Any, made: Field) -> Callable[[Dialogue], Any]:
    """Show what NeighborhoodPropagation makes of the answers; the field of the samples is made once."""
    return lambda talk: propagate_neighborhoods(Problem(X, talk.constraints), made=made).labels


def k_means(X: Any, k: int) -> Callable[[Dialogue], Any]:
    """Show what PCKMeans makes of the answers, told the number of clusters."""
    model = PCKMeans(k, n_init=1, random_state=0)
    return lambda talk: model.fit(X, constraints=talk.constraints.with_weight(1.0)).labels_


OURS: dict[str, Callable[..., Any]] = {
    "ours": lambda X, made, _: (ExpectedGain(), propagated(X, made)),
    "random": lambda X, made, _: (RandomPairs(), propagated(X, made)),
    "random k-means": lambda X, _, k: (RandomPairs(), k_means(X, k)),
    "explore": lambda X, _, k: (ExploreConsolidate(k), k_means(X, k)),
    "uncertainty": lambda X, _, k: (Uncertainty(k), k_means(X, k)),
}
PEERS = ("cobras", "npu")


class Run(NamedTuple):
    """What is kept of one run: ARI after each answer, the constrained Rand index after some, and CPU seconds."""

    ari: Any
    rand: Any
    seconds: Any


def score(y: Any, labels: Any, asked: Any) -> tuple[list[float], list[float]]:
    """ARI after each answer, and at some of them the Rand index over pairs that answers do not decide."""
    aris: list[float] = []
    for number, row in enumerate(labels):
        same = number > 0 and np.array_equal(row, labels[number - 1])
        aris.append(aris[-1] if same else adjusted_rand_score(y, row))
    rands = []
    for at in SHOWN:
        pairs = np.array([row for row in asked[:at] if row[0] >= 0], dtype=np.intp).reshape(-1, 3)
        yes = pairs[:, 2] == 1
        told = Constraints.build(len(y), must_link=pairs[yes, :2], cannot_link=pairs[~yes, :2])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on a small set everything may be decided, which gives nan
            rands.append(constrained_rand(y, np.asarray(labels[at], dtype=np.intp), told))
    return aris, rands


def run(name: str, data: str, wrong: float, seed: int, chosen: argparse.Namespace) -> Run | None:
    """What was kept of a run, or what is computed now; None if there is neither."""
    file = chosen.keep / f"{name.replace(' ', '_')}-{data}-{wrong:g}-{seed}.npz"
    if not file.exists():
        if chosen.kept or (name in PEERS and not chosen.peer):
            return None
        X, y = prepared(data)
        if name in PEERS:
            labels, asked, seconds = ask_peer(name, X, y, wrong, seed, chosen.peer, chosen.keep)
        else:
            start = time.process_time()
            labels, asked = converse(X, y, seed, wrong, *OURS[name](X, field_of(data), len(np.unique(y))))
            seconds = time.process_time() - start
            labels += [labels[-1]] * (BUDGET + 1 - len(labels))
        ari, rand = score(y, labels, asked)
        np.savez(file, ari=ari, rand=rand, seconds=seconds)
    with np.load(file) as kept:
        return Run(*(kept[part] for part in Run._fields))


def ask_peer(name: str, X: Any, y: Any, wrong: float, seed: int, peer: str, folder: Path) -> tuple[Any, Any, Any]:
    """Let the peer's Python run: labels after each answer, what was asked, and seconds."""
    given, found = (folder / f"{word}-{os.getpid()}.npz" for word in ("given", "found"))
    np.savez(given, X=X, y=y)
    child = Path(__file__).with_name("_asking_child.py")
    done = subprocess.run(
        [peer, str(child), name, str(given), str(found), str(seed), str(BUDGET), str(wrong)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **ONE_THREAD},
    )
    if done.returncode:
        hint = "Hint: the head of this file says how to install it."
        msg = f"{peer} could not run {name}:\n{done.stderr[-800:]}\n{hint}"
        raise SystemExit(msg)
    with np.load(found) as file:
        parts = file["labels"], file["asked"], file["seconds"]
    given.unlink()
    found.unlink()
    return parts


def answers_to(ari: Any, target: Any) -> float:
    """Mean number of answers until each run first reaches its target; the whole budget if it never does."""
    there = ari >= np.broadcast_to(target, len(ari))[:, None]
    return float(np.where(there.any(axis=1), there.argmax(axis=1), ari.shape[1] - 1).mean())


def report(
    found: dict[tuple[str, str, float], list[Run]], sets: list[str], names: list[str], wrong: list[float]
) -> str:
    """The tables, in Markdown."""
    lines = []
    for share in wrong:
        lines += [
            "",
            f"{100 * share:.0f} % wrong answers: answers to 0.9 x the best final ARI / to 0.9 x its own; final ARI",
            "",
        ]
        lines += ["| set | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
        means: dict[str, list[tuple[float, float, float]]] = {name: [] for name in names}
        for data in sets:
            here = {name: np.array([r.ari for r in found[name, data, share]]) for name in names}
            here = {name: ari for name, ari in here.items() if len(ari)}
            target = 0.9 * max(float(ari[:, -1].mean()) for ari in here.values())
            cells = dict.fromkeys(names, "")
            for name, ari in here.items():
                row = answers_to(ari, target), answers_to(ari, 0.9 * ari[:, -1]), float(ari[:, -1].mean())
                means[name].append(row)
                cells[name] = f"{row[0]:.0f} / {row[1]:.0f}; {row[2]:.2f}"
            lines.append(f"| {data} | " + " | ".join(cells.values()) + " |")
        whole = [np.mean(means[name], axis=0) if len(means[name]) == len(sets) else None for name in names]
        cells = ["" if w is None else f"{w[0]:.1f} / {w[1]:.1f}; {w[2]:.3f}" for w in whole]
        lines.append("| mean | " + " | ".join(cells) + " |")
        counts = [str(min(len(found[name, data, share]) for data in sets)) for name in names]
        lines.append("| runs | " + " | ".join(counts) + " |")
        lines += ["", "Mean over sets after so many answers, ARI (constrained Rand):", ""]
        lines += ["| | " + " | ".join(map(str, SHOWN)) + " |", "|---|" + "---|" * len(SHOWN)]
        for name in names:
            some = [found[name, data, share] for data in sets]
            if not all(some):
                continue
            ari = np.mean([np.mean([r.ari for r in runs], axis=0) for runs in some], axis=0)
            rand = np.nanmean([r.rand for runs in some for r in runs], axis=0)
            cells = [f"{ari[number]:.2f} ({rand[at]:.2f})" for at, number in enumerate(SHOWN)]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(
    found: dict[tuple[str, str, float], list[Run]], sets: list[str], names: list[str], share: float, to: str
) -> None:
    """Draw the mean ARI over all sets against the number of answers."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4))
    axes = figure.subplots()
    for name in names:
        some = [found[name, data, share] for data in sets]
        if all(some):
            axes.plot(np.mean([np.mean([r.ari for r in runs], axis=0) for runs in some], axis=0), label=name)
    axes.set(xlabel="answers", ylabel=f"mean ARI of {len(sets)} sets", title=f"{100 * share:.0f} % wrong answers")
    axes.legend()
    figure.savefig(to, bbox_inches="tight")


def main(arguments: list[str] | None = None) -> int:
    """Compute what is missing and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--peer", default="", help="the Python of an environment with the peers; without it, none of them"
    )
    parser.add_argument("--keep", required=True, type=Path, help="folder of results")
    parser.add_argument("--quick", action="store_true", help="iris, two seeds, no wrong answers")
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--only", nargs="*", default=[*OURS, *PEERS], help="contenders")
    parser.add_argument("--wrong", nargs="*", type=float, default=list(WRONG), help="shares of wrong answers")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--kept", action="store_true", help="compute nothing, show what was kept")
    parser.add_argument("--figure", default="", help="draw the mean curves into this file")
    chosen = parser.parse_args(arguments)
    chosen.keep.mkdir(parents=True, exist_ok=True)
    sets, wrong = (["iris"], [0.0]) if chosen.quick else (chosen.sets, chosen.wrong)
    found: dict[tuple[str, str, float], list[Run]] = {
        (name, data, share): [] for name in chosen.only for data in sets for share in wrong
    }
    for seed in range(2 if chosen.quick else chosen.seeds):  # outermost, so that whoever stops it has some of all
        for (name, data, share), runs in found.items():
            kept = run(name, data, share, seed, chosen)
            if kept is not None:
                runs.append(kept)
    print(report(found, sets, chosen.only, wrong))
    if chosen.figure:
        draw(found, sets, chosen.only, wrong[0], chosen.figure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
