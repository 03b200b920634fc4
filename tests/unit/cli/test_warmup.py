"""After `linkwise warmup` no command compiles or loads a kernel for the first time, and few kernels are left at all.

Compiling all kernels takes minutes, so the workload of `warmup` runs in the interpreter here, and what would have been
compiled is noted; `scripts/test-kernels` runs `linkwise warmup` itself.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Kernels that the workload of warmup leaves out, and why.
LEFT_OUT = {
    "problem.entailment._kernels_utility._count_drawn": "takes half a billion pairs of links times features",
}

CHECK = r"""
import io, sys
from contextlib import nullcontext
from pathlib import Path
import numpy as np
from linkwise import _kernels
from linkwise._kernels import _tier
from linkwise._kernels.inventory import kernels, with_callees
from linkwise.cli import main

_kernels.compiled_only = nullcontext
_tier._counted = range  # no kernel is ever interpreted too long,
_tier._largest = lambda arguments: 0  # and none has arguments too large for it
seen = set()  # kinds of argument of each kernel that is called

def note(name, kernel):
    answer = kernel._compile_for_args
    def noted(*arguments):
        seen.add((name, str([kernel.typeof_pyval(one) for one in arguments])))
        return answer(*arguments)
    kernel._compile_for_args = noted

for name, kernel in kernels().items():
    note(name, kernel)
assert main(["warmup"]) == 0
called = {kernels()[name] for name, _ in seen}
Path("left").write_text("\n".join(sorted(set(kernels()) - with_callees(called))))

n, rng = 60, np.random.default_rng(1)
rows = (",".join([f"p{i}", *(f"{value:.3f}" for value in rng.normal(size=3))]) for i in range(n))
Path("data.csv").write_text("id,a,b,c\n" + "\n".join(rows) + "\n")
pairs = "kind,a,b\n" + "".join(f"{'must' if i % 3 else 'cannot'}_link,p{i},p{i + 9}\n" for i in range(8))
Path("pairs.csv").write_text(pairs)
Path("quarrel.csv").write_text(pairs + "must_link,p1,p2\nmust_link,p2,p3\ncannot_link,p3,p1\n")
Path("trios.csv").write_text("kind,a,b,c\n" + "".join(f"triplet,p{i},p{i + 1},p{i + 20}\n" for i in range(12)))
data = ["data.csv", "--id", "id"]
before = set(seen)
assert len(before) > 50
for words in (
    ["cluster", *data, "-o", "plain"],
    ["cluster", *data, "-c", "pairs.csv", "-k", "5", "-o", "pairs"],
    ["cluster", *data, "-c", "trios.csv", "-o", "trios"],
    ["check", "pairs.csv", "--data", *data, "-k", "4"],
    ["check", "quarrel.csv"],
    ["explain", "quarrel.csv", "--data", *data],
    ["repair", "quarrel.csv", "--auto", "-o", "left.csv"],
    ["select", "pairs.csv", "-m", "3"],
    ["select", "trios.csv", "-m", "3"],
    ["ask", *data, "-l", "log", "--budget", "5"],
    ["ask", *data, "-c", "pairs.csv", "-l", "log2", "--budget", "5", "--strategy", "mixed"],
    ["why", "pairs", "p0", "p1"],
    ["assign", "pairs", "data.csv"],
):
    sys.stdin = io.StringIO("y\nn\nn\n1\nu\n" * 5)
    assert main(words) in (0, 3), words
    new = seen - before
    assert not new, (words, sorted(new))
"""


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("warm")
    done = subprocess.run(
        [sys.executable, "-c", CHECK],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return folder, done


def test_no_command_meets_a_kernel_that_warmup_has_not(warm):
    done = warm[1]
    assert done.returncode == 0, done.stderr
    assert "Ready in" in done.stderr


def test_warmup_reaches_every_kernel_but_those_listed(warm):
    """A new kernel must be used by `linkwise warmup`, or stand in the list with a reason."""
    assert (warm[0] / "left").read_text().splitlines() == sorted(LEFT_OUT)
