"""How good are the clusters? Every engine on sixteen sets, by how much is said, how it was chosen, how much is wrong.

Other libraries need environments of their own; those of the first do not run on current NumPy:

    python -m venv OLD && OLD/bin/pip install "numpy<1.24" "scipy<1.11" "scikit-learn<1.3" metric-learn==0.7.0 \\
        active-semi-supervised-clustering==0.0.1 && OLD/bin/pip install --no-deps cobras-ts==0.1.3
    python -m venv NEW && NEW/bin/pip install scikit-learn fast-hdbscan pynndescent k-means-constrained \\
        constrained-linkage pyannote.core
    LINKWISE_DATA=... python benchmarks/quality.py --keep FOLDER --peers OLD/bin/python NEW/bin/python --jobs 2
    LINKWISE_DATA=... python benchmarks/quality.py --keep FOLDER --again COPKMeans     what was changed, computed anew
    python benchmarks/quality.py --keep FOLDER --quick                                 does it run?

**Same for everyone.** Sets of more than 300 samples are cut to 300, drawn by the name of the set; gaps are filled with
means, nominal columns written out, others standardized. Statements are drawn once for a set, a source, a share of wrong
answers and a seed, as one list of which the first 10, 25, 50, 100, n/4 and n are told. ``random``: any two samples, and
what the classes say. ``informative``: pairs that k-means gets wrong come first. ``active``: what a dialogue by expected
gain asked; COBRAS asks by itself and hears the same person. Who takes triplets gets as many triplets of two classes,
random ones or first those that k-means gets wrong. Whoever has a parameter for the number of clusters is told the
number of classes, unless it says "k free".

**Contradictions.** Methods whose statements must hold, ours and others', get the list after `linkwise.repair`, less
what cannot be had in so many clusters. Those that weigh statements, and metric learners, get all, of weight 1; those
that weigh take part once more as "hard", told what the others are.

**Measured.** Adjusted Rand index against the classes. The area under the curve gives every step from one amount to the
next the same weight, whatever their distance. "free" is the area over samples that no statement names (random, none
wrong), "held" the share of what was told that holds, "hurt" the share of results worse by 0.02 than the contender's own
without knowledge (both where nothing is wrong), "ms" the time of a fit. Who raises or takes more than 20 s has an index
of 0 and "failed"; at a dead end, where merging cannot go on, the clusters reached count.

Results are kept in FOLDER; what is there is not computed again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    for threads in ("OPENBLAS", "OMP", "MKL", "NUMBA"):  # read when NumPy is loaded, by workers too
        os.environ.setdefault(f"{threads}_NUM_THREADS", "1")

from benchmarks import _quality_tables as tables
from benchmarks._quality_contenders import CONTENDERS
from benchmarks._quality_knowledge import ALL_SETS, SOURCES, WRONG
from benchmarks._quality_run import compute_all, curves, draws, key_of, warm_up, what_runs, write_samples
from studies.experiments._store import Store

QUICK_SETS = ["iris", "xor"]  # need no folder of data


def read(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", required=True, type=Path, help="folder of results")
    parser.add_argument("--peers", nargs="*", default=[], metavar="PYTHON", help="Pythons of other libraries")
    parser.add_argument("--sets", nargs="+", default=ALL_SETS, choices=ALL_SETS, metavar="SET")
    parser.add_argument("--only", nargs="+", default=list(CONTENDERS), choices=list(CONTENDERS), metavar="NAME")
    parser.add_argument("--sources", nargs="+", default=list(SOURCES), choices=SOURCES, metavar="SOURCE")
    parser.add_argument("--wrong", nargs="+", type=float, default=list(WRONG), help="shares of wrong answers")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", nargs="+", default=[], choices=list(CONTENDERS), metavar="NAME", help="forget these")
    parser.add_argument("--kept", action="store_true", help="compute nothing, show what is kept")
    parser.add_argument("--quick", action="store_true", help="two sets, one seed, random pairs without errors")
    parser.add_argument("--out", type=Path, help="write the tables to this file, too")
    parser.add_argument("--csv", type=Path, help="write every result to this file")
    parser.add_argument("--figure", type=Path, help="draw the best curves into this file")
    chosen = parser.parse_args(arguments)
    if chosen.quick:
        chosen.sets, chosen.sources, chosen.wrong, chosen.seeds = QUICK_SETS, ["random"], [0.0], 1
    return chosen


def main(arguments: list[str] | None = None) -> int:
    """Compute what is missing and print the tables."""
    chosen = read(arguments)
    begun = time.monotonic()
    names = [name for name in chosen.only if CONTENDERS[name].whose != "peer"]
    pythons = {} if chosen.kept else what_runs(chosen.peers)
    names += [name for name in chosen.only if CONTENDERS[name].whose == "peer" and (chosen.kept or name in pythons)]
    grid = chosen.sets, chosen.sources, chosen.wrong, chosen.seeds
    wanted, store = curves(names, *grid), Store(chosen.keep)
    for task in wanted:
        if task["curve"] in chosen.again:
            store.path(key_of(task)).unlink(missing_ok=True)
    if not chosen.kept:
        with store.working():
            write_samples(chosen.sets, chosen.keep)
            compute_all(draws(*grid), chosen.keep, jobs=chosen.jobs, pythons=pythons, say=say)
            cold = {task["curve"] for task in wanted if store.get(key_of(task)) is None}
            warm_up(cold, say)
            compute_all(wanted, chosen.keep, jobs=chosen.jobs, pythons=pythons, say=say)
        say(f"done after {(time.monotonic() - begun) / 60:.1f} min")
    found = ((task, store.get(key_of(task))) for task in wanted)
    results = tables.Results((task, record["values"]) for task, record in found if record is not None)
    names = [name for name in names if results.seeds(name)]
    places = [(source, share) for source in chosen.sources for share in chosen.wrong]
    text = "\n".join(
        [
            *tables.main_tables(results, names, chosen.sets, places),
            *tables.set_table(results, names, chosen.sets, places[0]),
            *tables.harm_list(results, names, chosen.sets, places),
            *tables.error_list(results, names),
        ]
    )
    print(text)
    if chosen.out:
        chosen.out.write_text(text, encoding="utf-8")
    if chosen.csv:
        tables.write_csv(results, chosen.csv)
    if chosen.figure:
        tables.draw_curves(results, names, chosen.sets, places[0], chosen.figure)
    return 0


def say(words: str) -> None:
    """Tell how far it is, on the error stream."""
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
