"""A real Chromium for tests: `CHROMIUM` names it, else `chromium` on the PATH."""

from __future__ import annotations

import os
import shutil

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
PATIENT = 120_000  # milliseconds: an end for what hangs, not a bound for what is slow
