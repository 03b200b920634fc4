"""What a user waits for before the first result: the import, and the first call with compiled kernels on disk."""

from __future__ import annotations

import subprocess
import sys

ROUNDS = 3
IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
FIRST_FIT = """
import time
import numpy as np
from linkwise import Constraints, {name}
X = np.random.default_rng(0).normal(size=(200, 4))
known = Constraints.build(200, {said})
start = time.perf_counter()
{name}(n_clusters=3).fit(X, constraints=known)
print(time.perf_counter() - start)
"""
SAID = {
    "ConstrainedAgglomerative": "must_link=[(0, 1)], cannot_link=[(0, 2)]",
    "ReCon": "triplets=[(0, 1, 2), (3, 4, 5)]",
}


def seconds(code: str) -> float:
    """Run code in a fresh interpreter and return the number it prints."""
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


class Import:
    """The library by itself, and beside scikit-learn's clustering."""

    params = (["linkwise", "linkwise.engines", "sklearn.cluster"],)
    param_names = ("module",)

    def setup(self, module):
        self.module = module
        seconds(IMPORT.format(module))  # the first time reads files from disk

    def timeraw_import(self, module):
        return f"import {module}"

    def track_seconds(self, *_):
        return min(seconds(IMPORT.format(self.module)) for _ in range(ROUNDS))

    def track_share_of_sklearn(self, *_):
        rounds = [[seconds(IMPORT.format(name)) for name in (self.module, "sklearn.cluster")] for _ in range(ROUNDS)]
        ours, theirs = zip(*rounds, strict=True)
        return min(ours) / min(theirs)


class FirstFit:
    """The first fit of a process that finds the kernels compiled."""

    params = (["ConstrainedAgglomerative", "ReCon"],)
    param_names = ("estimator",)
    timeout = 600

    def setup(self, estimator):
        self.code = FIRST_FIT.format(name=estimator, said=SAID[estimator])
        seconds(self.code)  # compiles what is not on disk yet

    def timeraw_process(self, estimator):
        return FIRST_FIT.format(name=estimator, said=SAID[estimator])

    def track_first_fit_seconds(self, *_):
        return min(seconds(self.code) for _ in range(ROUNDS))
