"""From judgments to estimates, one file a family."""

import pytest_judgesense.threads  # noqa: F401
