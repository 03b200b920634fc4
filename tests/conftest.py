"""Set-up for every test: which hypothesis profile, a quiet compiler, and pictures that need no screen."""

from __future__ import annotations

import gc
import os
import sys

import pytest
from hypothesis import HealthCheck, settings

from tests.profile import examples

# Set before anything imports them, and inherited by the subprocesses tests start.
os.environ["LINKWISE_QUIET"] = "1"
os.environ["MPLBACKEND"] = "Agg"
# Compiled code stays in the virtual environment; the folder of the user is left alone.
os.environ.setdefault("XDG_CACHE_HOME", os.path.join(sys.prefix, "cache"))  # noqa: PTH118
# Bytecode is kept whatever the environment says: tests start many processes, and asserts are rewritten once.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Linear algebra on one thread: samples are small, and threads that wait for each other use the cores of other tests.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

from linkwise._kernels import _tier  # noqa: E402  # loads NumPy, which reads the variables above

# Small kernels are compiled sooner than for a user, who works less; those that few small tests use never.
_tier.PATIENCE = 0

# Deadlines and the check for slow generation are off, the two of hypothesis that look at a clock: a busy machine, or
# the first example, which pays for compiling a kernel, must not fail a test.
settings.register_profile(
    "linkwise", max_examples=examples(50, 1000), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("linkwise")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect tests without looking for garbage among them, and never look for any among them later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
