"""Set-up for every test: which hypothesis profile, a quiet compiler, and pictures that need no screen."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Set before anything imports them, and inherited by the subprocesses tests start.
os.environ["LINKWISE_QUIET"] = "1"
os.environ["MPLBACKEND"] = "Agg"

# Deadlines are off: the first example of a test may pay for compiling a kernel.
settings.register_profile("ci", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("full", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("full" if os.environ.get("LINKWISE_TEST_PROFILE") == "full" else "ci")
