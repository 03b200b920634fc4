"""The ``linkwise`` command, as ``python -m linkwise``."""

import sys

from linkwise.cli import main

sys.exit(main())
