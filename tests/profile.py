"""How many random cases a campaign runs: few by default, all with ``LINKWISE_TEST_PROFILE=full``.

A third profile, ``kernels``, runs fewer: it repeats in another way of running kernels what was tested with more.
"""

from __future__ import annotations

import os

PROFILE = os.environ.get("LINKWISE_TEST_PROFILE") or "ci"


def examples(reduced: int, full: int) -> int:
    """Return ``full`` when the full profile is asked for, else ``reduced``, and a third of that for ``kernels``."""
    return {"full": full, "kernels": -(-reduced // 3)}.get(PROFILE, reduced)
