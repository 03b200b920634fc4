"""The list of signatures that `linkwise warmup` and the pack compile holds everything that a workload meets.

Compiling all kernels takes minutes, so the workload runs in the interpreter here, and signatures that would have been
compiled are noted; `scripts/test-kernels` runs the workload compiled.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from numba import config, typeof

from linkwise._kernels import lca, signatures
from linkwise._kernels.inventory import kernels
from linkwise.cli import main

# Kernels that the workload leaves out, and why.
LEFT_OUT = {
    "engines.hierarchical.sparse._kernels_graph_merging.refill": "more statements than there is room for",
    "engines.hierarchical.sparse._kernels_graph_merging.tidy": "more edges than there is room for",
    "problem.entailment._kernels_utility._count_drawn": "takes half a billion pairs of links times features",
}

CHECK = r"""
import io, sys
from pathlib import Path
import numpy as np
from linkwise._kernels.inventory import kernels, with_callees
from linkwise.cli import main
from tests.kernel_work import interpret_everything, record, work

interpret_everything()
seen = record()
work()
called = {kernels()[line.partition("(")[0]] for line in seen}
Path("left").write_text("\n".join(sorted(set(kernels()) - with_callees(called))))
assert len(seen) > 50

n, rng = 60, np.random.default_rng(1)
rows = (",".join([f"p{i}", *(f"{value:.3f}" for value in rng.normal(size=3))]) for i in range(n))
Path("data.csv").write_text("id,a,b,c\n" + "\n".join(rows) + "\n")
pairs = "kind,a,b\n" + "".join(f"{'must' if i % 3 else 'cannot'}_link,p{i},p{i + 9}\n" for i in range(8))
Path("pairs.csv").write_text(pairs)
Path("quarrel.csv").write_text(pairs + "must_link,p1,p2\nmust_link,p2,p3\ncannot_link,p3,p1\n")
Path("trios.csv").write_text("kind,a,b,c\n" + "".join(f"triplet,p{i},p{i + 1},p{i + 20}\n" for i in range(12)))
data = ["data.csv", "--id", "id"]
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
Path("seen").write_text("\n".join(sorted(seen)))
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


def test_every_signature_that_is_met_is_listed(warm):
    """Record again after a change of arguments: python -m tests.kernel_work record."""
    done = warm[1]
    assert done.returncode == 0, done.stderr
    met = {*(warm[0] / "seen").read_text().splitlines()}
    assert sorted(met - {*signatures.FILE.read_text().splitlines()}) == []


def test_the_workload_reaches_every_kernel_but_those_listed_here(warm):
    """A new kernel must be used by `tests/kernel_work.py`, or stand in the list with a reason."""
    assert (warm[0] / "left").read_text().splitlines() == sorted(LEFT_OUT)


def test_the_list_can_be_read_and_fits_the_kernels():
    lines = signatures.FILE.read_text().splitlines()
    found = list(signatures.listed())
    assert lines == [signatures.line_of(name, arguments) for name, arguments in found]
    assert lines == sorted({*lines})
    for name, arguments in found:
        assert len(arguments) == kernels()[name].py_func.__code__.co_argcount, name


# Kernels that are compiled for arrays which may be written and for those which may not.
TWICE = {
    "_kernels.lca.prepare",
    "engines.mixture._kernels_gaussian.square_distances",
    "trees._kernels.nearest_flagged",
}


def test_no_kernel_is_compiled_again_for_another_layout_or_width_of_integers():
    seen = Counter()
    for line in signatures.FILE.read_text().splitlines():
        alike = re.sub(r"\[(\d)[ACF]r?\]", r"[\1]", re.sub(r"\bu?int\d+\b", "int", line))
        seen[alike] += 1
    assert {line.partition("(")[0] for line, count in seen.items() if count > 1} == TWICE


def test_types_survive_the_list():
    fixed = np.zeros((2, 3), np.float32, order="F")
    fixed.flags.writeable = False
    values = [1, 2.0, True, None, fixed, np.zeros((4, 4), np.int8)[::2, ::2], np.random.default_rng(0)]
    values += [(1, 2), (1, (2.0, fixed)), lca.prepare(np.array([2, 2, -1]))]
    kinds = tuple(typeof(value) for value in values)
    assert next(signatures.listed([signatures.line_of("some.kernel", kinds)])) == ("some.kernel", kinds)
    assert signatures.line_of("some.kernel", [typeof(lca.query)]) is None  # a function
    assert signatures.line_of("some.kernel", [typeof((1, lca.query))]) is None


def test_warmup_compiles_the_list_once(tmp_path, monkeypatch, capsys):
    few = tmp_path / "few.txt"
    few.write_text("_kernels.disjoint_set.make(int64)\n_kernels.lca.highest_bit(int64)\n")
    monkeypatch.setattr(signatures, "FILE", few)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "code"))
    monkeypatch.setenv("LINKWISE_QUIET", "0")
    for name in ("disjoint_set.make", "lca.highest_bit"):  # as in a new process
        kernel = kernels()[f"_kernels.{name}"]
        monkeypatch.setattr(kernel, "overloads", type(kernel.overloads)())
    assert main(["warmup", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kernels"], told["kept_in"]) == (2, f"in {tmp_path / 'code'}")
    assert len(list((tmp_path / "code").glob("*/*"))) == 2
    assert signatures.compile_listed() == 0
