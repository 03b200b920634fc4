"""How many random cases a campaign runs: few by default, all with ``LINKWISE_TEST_PROFILE=full``."""

from __future__ import annotations

import os


def examples(reduced: int, full: int) -> int:
    """Return ``full`` when the full profile is asked for, else ``reduced``."""
    return full if os.environ.get("LINKWISE_TEST_PROFILE") == "full" else reduced
