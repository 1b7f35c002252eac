"""``python -m warehouse.cli`` is ``saber``."""

import sys

from warehouse.cli import main

sys.exit(main())
