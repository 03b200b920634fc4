"""Hold linkwise against other libraries on the same data; see README.md beside this file.

    python benchmarks/peers.py                       everything (half an hour or more)
    python benchmarks/peers.py --section recon       one section: dense, vectors, constrained, recon, build,
                                                     ultrametric, propagate, rivals, start
    python benchmarks/peers.py --quick               tiny sizes: does it run?

Installs nothing. A peer that cannot be imported is named with the command that gets it, and left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # Run as a file, Python searches the folder of this file; the package lies in the one above.
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    from benchmarks._command import main

    sys.exit(main())
