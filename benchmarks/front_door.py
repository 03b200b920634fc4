"""Quality per statement at the front door: `linkwise.cluster` told pairs, wrong pairs and triplets, beside engines.

    LINKWISE_DATA=folder python benchmarks/front_door.py --keep FOLDER               nine sets: an hour of one core
    LINKWISE_DATA=folder python benchmarks/front_door.py --keep FOLDER --others      six sets no constant was chosen on
    LINKWISE_DATA=folder python benchmarks/front_door.py --keep FOLDER --constants   values chosen on all sets but one
    LINKWISE_DATA=folder python benchmarks/front_door.py --keep FOLDER --peers PYTHON...    see quality.py for these
    python benchmarks/front_door.py --cost [--large]                                 CPU seconds and memory
    python benchmarks/front_door.py --quick                                          tiny: does it run?

Sets of more than 1,000 samples are cut to 1,000, of each class its share. Gaps are filled with means, features scaled
to unit variance, codes written out, texts projected to 50 components of their TF-IDF. The number of classes is given.
All methods get the same statements: distinct random pairs, of which the first 25 are among the first 50; triplets of
random samples of two classes. The score is the adjusted Rand index over all samples, mean over seeds and sets.

"Engines" are those a user can call in a line or two, on the data as they are. "In hindsight" is the best of them in
each cell (a set, an amount and a seed), known from the classes alone; "view" takes all views of the consensus. A cell
is hurt if the front door is worse by more than 0.02 than it is without statements.

Results, labels of views included, are kept in FOLDER and not computed again: give a changed library another folder.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    for threads in ("OPENBLAS", "OMP", "MKL", "NUMBA"):  # read when NumPy is loaded
        os.environ.setdefault(f"{threads}_NUM_THREADS", "1")

import numpy as np

from benchmarks import _front_constants as constants
from benchmarks._front_cells import (
    DOOR,
    ENGINES,
    PEERS,
    QUICK,
    Kept,
    samples,
    told_nothing,
    told_pairs,
    told_peer,
    told_triplets,
    told_wrong,
)
from benchmarks._front_cost import cost_tables
from benchmarks._quality_contenders import CONTENDERS
from benchmarks._quality_run import what_runs
from benchmarks._quality_tables import HARM, markdown
from linkwise.exceptions import LinkwiseError, LinkwiseWarning

KNOWN = ["zoo", "iris", "wine", "crabs", "glass", "ionosphere", "soybean", "breast", "digits_389"]
OTHERS = ["letters_ijlt", "vote", "crabs_sexsp", "pendigits", "cstr", "tr23"]
AMOUNTS, WRONG, SHARES = (25, 50, 100, 200), (0, 5, 10), (0.05, 0.1, 0.25)
Cells = dict[tuple[Any, ...], dict[str, Any]]  # by amount, set and seed


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute cells that are missing and print the tables."""
    chosen = read(arguments)
    if chosen.cost:
        sizes = [1000, 10_000, *([100_000] if chosen.large else [])]
        print("\n".join(cost_tables([200], ["hard"], 50) if chosen.quick else cost_tables(sizes)))
        return 0
    sets = available(chosen.sets or (["iris", "wine"] if chosen.quick else OTHERS if chosen.others else KNOWN))
    if not sets:
        return 0
    kept = Kept(chosen.keep)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        if chosen.constants:
            print_constants(sets, chosen, kept)
        else:
            print_pairs(sets, chosen, kept)
            print_wrong(sets, chosen, kept)
            print_triplets(sets, chosen, kept)
    return 0


def read(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="folder of results")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="names that linkwise.datasets.load knows")
    parser.add_argument("--others", action="store_true", help="the sets on which no constant was chosen")
    parser.add_argument("--seeds", nargs="+", type=int)
    parser.add_argument("--amounts", nargs="+", type=int, default=list(AMOUNTS), help="numbers of pairs")
    parser.add_argument("--wrong", nargs="+", type=int, default=list(WRONG), help="wrong ones of 100 pairs")
    parser.add_argument("--shares", nargs="+", type=float, default=list(SHARES), help="triplets per sample")
    parser.add_argument("--peers", nargs="*", default=[], metavar="PYTHON", help="Pythons of other libraries")
    parser.add_argument("--constants", action="store_true", help="the study of constants instead")
    parser.add_argument("--cost", action="store_true", help="CPU seconds and memory instead")
    parser.add_argument("--large", action="store_true", help="with --cost, 100,000 samples too")
    parser.add_argument("--quick", action="store_true", help="tiny: does it run?")
    chosen = parser.parse_args(arguments)
    if chosen.seeds is None:
        chosen.seeds = [0] if chosen.quick else [0, 1] if chosen.constants else [0, 1, 2]
    if chosen.quick:
        chosen.amounts, chosen.wrong, chosen.shares = [25], [5], [0.05]
    return chosen


def say(words: str) -> None:
    """Report progress on the error stream."""
    print(words, file=sys.stderr, flush=True)


def available(names: Sequence[str]) -> list[str]:
    """The sets that can be loaded; each other one is named with the reason."""
    found = []
    for name in names:
        try:
            samples(name)
            found.append(name)
        except LinkwiseError as why:
            print(f"{name} is left out: {why}")
    return found


def run(
    fit: Callable[..., dict[str, Any]], kind: str, steps: Sequence[Any], sets: Sequence[str], seeds: Any, kept: Kept
) -> Cells:
    """Compute the cells of a kind, or read them: steps outermost, so that a run that is stopped has whole tables."""
    cells: Cells = {}
    for step in steps:
        for name in sets:
            for seed in seeds:
                task = {**step, "kind": kind, "set": name, "seed": seed}
                cells[(*step.values(), name, seed)] = kept.once(task, lambda task=task: fit(task, kept))
            here = [cell for key, cell in cells.items() if key[:-1] == (*step.values(), name)]
            say(f"{kind} {step} {name}: {np.mean([cell.get(DOOR, cell)['ari'] for cell in here]):.3f}")
    return cells


def over_sets(cells: Cells, sets: Sequence[str], value: Callable[[dict[str, Any]], Any], *step: Any) -> list[float]:
    """The mean of a value over the seeds of each set at a step; cells without it are left out."""
    found = []
    for name in sets:
        here = [value(cell) for key, cell in cells.items() if key[:-1] == (*step, name)]
        here = [one for one in here if one is not None]
        if here:
            found.append(float(np.mean(here)))
    return found


def shown(values: Sequence[float], form: str = ".3f") -> str:
    """The mean in digits, or nothing if there are no values."""
    return format(float(np.mean(values)), form) if len(values) else ""


def about(failed: int, cells: int) -> str:
    """The number of cells in which a method has no result, and which its mean leaves out."""
    return f" (fails in {failed} of {cells})" if failed else ""


# -- pairs ---------------------------------------------------------------------------------------------------------


def ari_of(name: str) -> Callable[[dict[str, Any]], float | None]:
    """The index of a method in a cell, None where it has no result."""
    return lambda cell: cell[name]["ari"] if name in cell and "ari" in cell[name] else None


def best_of(cell: dict[str, Any], names: Sequence[str]) -> float:
    """The best index in a cell."""
    return max(cell[name]["ari"] for name in names if name in cell)


def best_view(cell: dict[str, Any]) -> float:
    """The best index of a view in a cell."""
    return best_of(cell, [name for name in cell if name.startswith("view: ")])


def print_pairs(sets: Sequence[str], chosen: argparse.Namespace, kept: Kept) -> None:
    """Tables of random pairs."""
    none = run(told_nothing, "nothing", [{}], sets, chosen.seeds, kept)
    cells = run(told_pairs, "pairs", [{"amount": m} for m in chosen.amounts], sets, chosen.seeds, kept)
    peers = peer_cells(sets, chosen, kept)
    print(f"## Random pairs, {len(sets)} sets, {len(chosen.seeds)} seeds\n")
    rows = []
    for name in [DOOR, QUICK, *ENGINES]:
        start = over_sets(none, sets, ari_of(name))
        line = [over_sets(cells, sets, ari_of(name), m) for m in chosen.amounts]
        failed = sum(name not in cell for cell in cells.values())
        rows.append([f"{name}{about(failed, len(cells))}", *map(shown, [start, *line])])
    hindsight: dict[str, Callable[[dict[str, Any]], float]] = {
        "best engine in hindsight": lambda cell: best_of(cell, ENGINES),
        "best view in hindsight": best_view,
    }
    for words, best in hindsight.items():
        rows.append([words, "", *(shown(over_sets(cells, sets, best, m)) for m in chosen.amounts)])
    for name in dict.fromkeys(name for name, *_ in peers):
        own = {key[1:]: cell for key, cell in peers.items() if key[0] == name}
        failed = sum("error" in cell for cell in own.values())
        words = f"{name} (peer){about(failed, len(own))}"
        means = (over_sets(own, sets, lambda cell: cell.get("ari"), m) for m in chosen.amounts)
        rows.append([words, "", *map(shown, means)])
    empty = [""] * len(chosen.amounts)
    rows += [
        [f"{name}, told nothing", shown(over_sets(none, sets, ari_of(name))), *empty] for name in ("k-means", "Ward")
    ]
    print("\n".join(markdown(["ARI, told pairs:", "0", *map(str, chosen.amounts)], rows)))
    rows = [[name, shown(over_sets(none, [name], ari_of(DOOR)), ".2f")] for name in sets]
    for row in rows:
        row += [shown(over_sets(cells, [row[0]], ari_of(DOOR), m), ".2f") for m in chosen.amounts]
    print("\n".join(markdown(["cluster on", "0", *map(str, chosen.amounts)], rows)))
    print("\n".join(markdown(["cluster", *map(str, chosen.amounts)], facts(none, cells, chosen.amounts))))


def facts(none: Cells, cells: Cells, amounts: Sequence[int]) -> list[list[str]]:
    """Pairs broken, wrong numbers of clusters, harm by statements, and nearness to the best engine, by amount."""
    rows: list[list[str]] = [
        ["pairs broken"],
        ["k missed"],
        ["hurt"],
        ["worst change"],
        ["within 0.02 of the best engine"],
    ]
    rows.append(["below the best engine, worst"])
    for m in amounts:
        here = {key[1:]: cell for key, cell in cells.items() if key[0] == m}
        change = [cell[DOOR]["ari"] - none[key][DOOR]["ari"] for key, cell in here.items()]
        behind = [best_of(cell, ENGINES) - cell[DOOR]["ari"] for cell in here.values()]
        classes = [int(samples(name)[1].max()) + 1 for name, _ in here]
        rows[0].append(str(sum(cell[DOOR]["broken"] for cell in here.values())))
        missed = sum(cell[DOOR]["k"] != k for cell, k in zip(here.values(), classes, strict=True))
        rows[1].append(str(missed))
        rows[2].append(f"{sum(one < -HARM for one in change)} of {len(change)}")
        rows[3].append(f"{min(change):+.3f}")
        rows[4].append(f"{np.mean([one <= HARM for one in behind]):.0%}")
        rows[5].append(f"{-max(behind):+.3f}")
    return rows


def peer_cells(sets: Sequence[str], chosen: argparse.Namespace, kept: Kept) -> Cells:
    """Cells of other libraries; those that no Python given has are named."""
    pythons = what_runs(chosen.peers)
    missing = [name for name in PEERS if name not in pythons]
    if missing:
        say(f"peers left out, as no Python given with --peers has them: {', '.join(missing)}")
    cells: Cells = {}
    folder = chosen.keep or Path()
    for name in (name for name in PEERS if name in pythons):
        for m in chosen.amounts:
            for data in sets:
                for seed in chosen.seeds[: CONTENDERS[name].seeds]:
                    task = {"peer": name, "amount": m, "set": data, "seed": seed}
                    python = pythons[name][0]
                    cells[name, m, data, seed] = kept.once(
                        task, lambda task=task, python=python: told_peer(task, python, folder)
                    )
        say(f"{name} is done")
    return cells


# -- wrong pairs, triplets, constants ------------------------------------------------------------------------------


def print_wrong(sets: Sequence[str], chosen: argparse.Namespace, kept: Kept) -> None:
    """Table of pairs of which some are wrong."""
    steps = [{"amount": 100, "wrong": wrong} for wrong in chosen.wrong]
    cells = run(told_wrong, "wrong", steps, sets, chosen.seeds, kept)
    print('## 100 pairs, some of them wrong, trust="doubtful"\n')
    rows = []
    for wrong in chosen.wrong:
        mean = {
            part: shown(over_sets(cells, sets, lambda cell, part=part: cell[part], 100, wrong), form)
            for part, form in (("ari", ".3f"), ("found", ".1f"), ("accused", ".1f"), ("broken", ".1f"))
        }
        rows.append([str(wrong), *mean.values()])
    print("\n".join(markdown(["wrong", "ARI", "wrong ones listed", "right ones listed", "broken"], rows)))


def print_triplets(sets: Sequence[str], chosen: argparse.Namespace, kept: Kept) -> None:
    """Table of triplets."""
    none = run(told_nothing, "nothing", [{}], sets, chosen.seeds, kept)
    cells = run(told_triplets, "triplets", [{"share": share} for share in chosen.shares], sets, chosen.seeds, kept)
    print("## Triplets\n")
    ward = over_sets(none, sets, ari_of("Ward"))
    leaf = over_sets(none, sets, lambda cell: cell["Ward"]["leaf_f"])
    rows = [["Ward, told nothing", shown(ward), "", shown(leaf), "", ""]]
    for share in chosen.shares:
        ari = over_sets(cells, sets, lambda cell: cell["ari"], share)
        leaf_f = over_sets(cells, sets, lambda cell: cell["leaf_f"], share)
        here = [cell for key, cell in cells.items() if key[0] == share]
        above = sum(one > base for one, base in zip(ari, ward, strict=True))
        taller = sum(one > base for one, base in zip(leaf_f, leaf, strict=True))
        held = f"{sum(cell['ok'] for cell in here)} of {len(here)}"
        rows.append([f"{share:g} n", shown(ari), f"{above} of {len(sets)}", shown(leaf_f), str(taller), held])
    head = ["triplets", "ARI", "sets above Ward", "leaf F", "sets above Ward's", "cells in which all hold"]
    print("\n".join(markdown(head, rows)))


def print_constants(sets: Sequence[str], chosen: argparse.Namespace, kept: Kept) -> None:
    """Table of the constants."""
    wanted = constants.CONSTANTS
    if chosen.quick:
        wanted = [one._replace(values=one.values[:2]) for one in wanted if one.name == "_SWEEPS"]
    found = []
    for constant in wanted:
        found.append((constant, constants.study(constant, sets, chosen.seeds, kept)))
        say("\n".join(constants.table(found[-1:])[2:3]))
    print(f"## Constants, {len(sets)} sets, seeds {' '.join(map(str, chosen.seeds))}\n")
    print("\n".join(constants.table(found)))


if __name__ == "__main__":
    sys.exit(main())
