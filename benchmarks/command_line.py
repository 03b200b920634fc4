"""What the command line takes beside the fit: `linkwise cluster` against a script that only fits, and `--help`.

    python benchmarks/command_line.py              10,000 x 16, 1,000 statements, five rounds
    python benchmarks/command_line.py --quick      tiny: does it run?

Every turn is a process of its own, with compiled kernels on disk. "script" reads the same files and fits once; "fit" is
the call of fit alone inside it. The command reads, fits the same method with and without the statements, and writes
labels, tree, model, report and picture.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks._data import blobs

ROOT = Path(__file__).resolve().parents[1]
CLASSES, FEATURES = 8, 16
SCRIPT = """
import time
from linkwise import ConstrainedAgglomerative, read_data, read_knowledge
table = read_data("data.csv", id="id")
said = read_knowledge(["said.csv"], table).constraints
start = time.perf_counter()
ConstrainedAgglomerative(n_clusters=8, linkage="average").fit(table.X, constraints=said)
print(time.perf_counter() - start)
"""
COMMAND = (
    "-m linkwise cluster data.csv --id id -c said.csv -k 8 --method agglomerative --linkage average "
    "-o out --force --quiet"
)


def write_files(folder: Path, n: int, m: int) -> None:
    """Samples of classes well apart, and statements about random pairs of them."""
    X, y = blobs(n, classes=CLASSES, spread=3.0, seed=0)
    header = ",".join(["id", *(f"x{j}" for j in range(X.shape[1]))])
    rows = [",".join([f"r{i}", *(f"{value:.5f}" for value in row)]) for i, row in enumerate(X.tolist())]
    (folder / "data.csv").write_text("\n".join([header, *rows]) + "\n")
    pairs = np.random.default_rng(0).integers(n, size=(2 * m, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:m]
    said = [f"{'must_link' if y[a] == y[b] else 'cannot_link'},r{a},r{b}" for a, b in pairs.tolist()]
    (folder / "said.csv").write_text("\n".join(["kind,a,b", *said]) + "\n")


def run(arguments: list[str], folder: Path) -> tuple[float, str]:
    """Run Python in a folder; return wall seconds of the process and what it printed."""
    env = {**os.environ, "LINKWISE_QUIET": "1", "LINKWISE_INTERPRET": "0"}
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    taken = time.perf_counter() - start
    if done.returncode:
        msg = f"{' '.join(arguments)[:60]} failed:\n{done.stderr[-2000:]}"
        raise RuntimeError(msg)
    return taken, done.stdout


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args(arguments)
    n, m, rounds = (300, 30, 1) if given.quick else (10_000, 1_000, given.rounds)
    taken: dict[str, list[float]] = {"help": [], "fit": [], "script": [], "cluster": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, n, m)
        for turn in range(rounds + 1):
            script, fit = run(["-c", SCRIPT], folder)
            cluster, _ = run(COMMAND.split(), folder)
            brief, _ = run(["-m", "linkwise", "--help"], folder)
            if turn:  # the first turn loads files into the system's cache, and may compile
                for what, value in zip(taken, (brief, float(fit), script, cluster), strict=True):
                    taken[what].append(value)
    middle = {what: median(values) for what, values in taken.items()}
    print(f"{n:,} x {FEATURES}, {m:,} statements, median (least to most) of {rounds}")
    for what, values in taken.items():
        print(f"  {what:8}{middle[what]:8.2f} s  ({min(values):.2f} to {max(values):.2f})")
    beside = [middle["cluster"] / middle[what] for what in ("script", "fit")]
    print(f"  cluster / script {beside[0]:.2f}, cluster / fit {beside[1]:.2f}")


if __name__ == "__main__":
    main()
