"""Let ``python -m linkwise`` do what the ``linkwise`` command does."""

import sys

from linkwise.cli import main

sys.exit(main())
