from __future__ import annotations

from tests.views import few_views  # noqa: F401  # used by every test of this folder
