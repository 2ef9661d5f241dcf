"""``python -m pytest_judgesense.commands``."""

import sys

from pytest_judgesense.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
