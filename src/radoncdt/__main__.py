"""``python -m radoncdt`` is ``radoncdt``."""

import sys

from radoncdt.cli import main

sys.exit(main())
