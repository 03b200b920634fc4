"""How many random cases a campaign runs: few by default, all with ``LINKWISE_TEST_PROFILE=full``."""

from __future__ import annotations

import os

FULL = os.environ.get("LINKWISE_TEST_PROFILE") == "full"


def examples(reduced: int, full: int) -> int:
    """Return ``full`` when the full profile is asked for, else ``reduced``."""
    return full if FULL else reduced
