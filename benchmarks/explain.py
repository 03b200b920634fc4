"""How fast a planted contradiction is found, and how often the guilty statement is among the suspects.

python benchmarks/explain.py                  everything: some minutes
python benchmarks/explain.py --part speed     100,000 statements with one wrong one, check() end to end
python benchmarks/explain.py --part suspects  one wrong answer among 60 to 1,500
python benchmarks/explain.py --part minimal   every core and every set of suspects tested, all mixes of kinds
python benchmarks/explain.py --quick          small sizes: does it run?
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    # Run as a file, Python searches the folder of this file; the package lies in the one above.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks._data import Ints, _classmates, random_tree, triplets_of_tree
from linkwise import Constraints, Dendrogram, Kind, check
from linkwise.problem.statements._hard import Hard
from linkwise.problem.triplets._blocks import blocks_or_none

KINDS = ("pairs", "triplets", "mixed")


def said(kind: str, tree: Dendrogram, m: int, rng: np.random.Generator, k: int = 50) -> tuple[Ints, Ints, Ints]:
    """Statements that a tree and its cut into ``k`` clusters obey: must-links, cannot-links, triplets."""
    shares = {"pairs": (0.5, 0.5, 0), "triplets": (0, 0, 1), "mixed": (1 / 3, 1 / 3, 1 / 3)}[kind]
    n_must, n_cannot = (int(share * m) for share in shares[:2])
    must = cannot = np.empty((0, 2), dtype=np.intp)
    if n_must:
        y = tree.cut(n_clusters=k) if kind == "mixed" else rng.integers(k, size=tree.n_samples)
        a, b, c = _classmates(y, n_must + n_cannot, rng)
        must, cannot = np.column_stack([a, b])[:n_must], np.column_stack([a, c])[n_must:]
    left = m - n_must - n_cannot
    triplets = np.empty((0, 3), dtype=np.intp)
    if kind != "pairs":
        triplets = triplets_of_tree(tree, left, seed=int(rng.integers(1 << 30))).of(Kind.TRIPLET)
    return must, cannot, triplets


def plant(n: int, statements: tuple[Ints, Ints, Ints], rng: np.random.Generator) -> tuple[Constraints, int] | None:
    """Turn one statement into its opposite; the table and where that stands, or None if nothing contradicts it."""
    must, cannot, triplets = (table.copy() for table in statements)
    which = int(rng.choice([i for i, table in enumerate(statements) if len(table)]))
    at = int(rng.integers(len(statements[which])))
    if which == 0:
        cannot = np.concatenate([cannot, must[at : at + 1]])
        must = np.delete(must, at, axis=0)
        wrong = len(must) + len(cannot) - 1
    elif which == 1:
        must = np.concatenate([must, cannot[at : at + 1]])
        cannot = np.delete(cannot, at, axis=0)
        wrong = len(must) - 1
    else:
        triplets[at] = triplets[at][[[0, 2, 1], [2, 1, 0]][int(rng.integers(2))]]
        wrong = len(must) + len(cannot) + at
    table = Constraints.build(n, must_link=must, cannot_link=cannot, triplets=triplets)
    return None if blocks_or_none(Hard.of(table)) is not None else (table, wrong)


def speed(n: int, m: int, rounds: int) -> None:
    """Time check() on large tables with one wrong statement, warm; processor seconds, then wall."""
    print(f"check() of {m:,} statements about {n:,} samples, one of them wrong")
    for kind in KINDS:
        times, walls, cores, guilty, complete = [], [], [], 0, 0
        for seed in range(rounds + 1):  # the first round compiles and is not kept
            rng = np.random.default_rng(seed)
            statements = said(kind, random_tree(n, seed=seed), m, rng)
            planted = None
            while planted is None:
                planted = plant(n, statements, rng)
            began, wall = time.process_time(), time.perf_counter()
            why = check(planted[0]).explanation
            took, wall = time.process_time() - began, time.perf_counter() - wall
            if seed == 0 or why is None:
                continue
            times.append(took)
            walls.append(wall)
            cores.append(len(why.core))
            guilty += (planted[1],) in why.suspects
            complete += why.complete
        print(
            f"  {kind:9} {min(times):.2f} to {max(times):.2f} s (wall {min(walls):.2f} to {max(walls):.2f}); "
            f"cores {min(cores):,} to {max(cores):,}; "
            f"wrong one suspected {guilty}/{rounds}, complete {complete}/{rounds}",
            flush=True,
        )


def suspects(rounds: int) -> None:
    """Count how often the one wrong statement is suspected, and how many suspects there are."""
    from scipy.cluster.hierarchy import linkage

    print("one wrong answer among 60 to 1,500, about 20 to 100 samples of a random average-link tree")
    for kind in KINDS:
        rng = np.random.default_rng(0)
        guilty, sizes, cores = 0, [], []
        while len(sizes) < rounds:
            n, m = int(rng.integers(20, 101)), int(np.exp(rng.uniform(np.log(60), np.log(1500))))
            tree = Dendrogram.from_linkage(linkage(rng.normal(size=(n, 3)), "average"))
            planted = plant(n, said(kind, tree, m, rng, k=int(rng.integers(2, 7))), rng)
            if planted is None:
                continue
            why = check(planted[0]).explanation
            if why is None:
                continue
            guilty += (planted[1],) in why.suspects
            sizes.append(len(why.suspects))
            cores.append(len(why.core))
        print(
            f"  {kind:9} suspected {guilty}/{rounds}; suspects median {np.median(sizes):g}, most {max(sizes)}; "
            f"cores median {np.median(cores):g}, most {max(cores)}",
            flush=True,
        )


def minimal(rounds: int) -> None:
    """Test every core and every set of suspects of random tables, member by member."""
    rng = np.random.default_rng(0)
    met = sets = 0

    def holds(table: Constraints, kept: list[int]) -> bool:
        return blocks_or_none(Hard.of(table.select(np.array(kept, dtype=np.intp)))) is not None

    while met < rounds:
        n = int(rng.integers(4, 12))

        def rows(most: int, size: int, n: int = n) -> list[list[int]]:
            return [rng.permutation(n)[:size].tolist() for _ in range(int(rng.integers(most + 1)))]

        limits = [(5, 4, 0, 0, 0), (0, 0, 14, 0, 0), (4, 3, 9, 0, 0), (3, 1, 0, 2, 2), (2, 2, 6, 2, 1)]
        must, cannot, triplets, together, apart = limits[int(rng.integers(len(limits)))]
        table = Constraints.build(
            n,
            must_link=rows(must, 2),
            cannot_link=rows(cannot, 2),
            triplets=rows(triplets, 3),
            together=rows(together, 3),
            apart=rows(apart, 3),
        )
        why = check(table).explanation
        if why is None:
            continue
        met += 1
        core, everything = list(why.core), range(table.n_statements)
        sound = not holds(table, core) and all(holds(table, [s for s in core if s != out]) for out in core)
        for some in why.suspects:
            sets += 1
            sound &= holds(table, [s for s in everything if s not in some])
            sound &= not any(holds(table, [s for s in everything if s == back or s not in some]) for back in some)
        if not sound or not why.complete:
            print(f"  NOT MINIMAL: {[table.describe(s) for s in everything]}\n{why}")
            return
    print(f"  {met:,} random conflicts: every core minimal; all {sets:,} sets of suspects repair, none to spare")


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", choices=["speed", "suspects", "minimal"])
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    if asked.part in (None, "speed"):
        speed(*((500, 2_000, 1) if asked.quick else (20_000, 100_000, 5)))
    if asked.part in (None, "suspects"):
        suspects(3 if asked.quick else 200)
    if asked.part in (None, "minimal"):
        print("cores and suspects, member by member")
        minimal(20 if asked.quick else 5_000)
    return 0


if __name__ == "__main__":
    sys.exit(main())
