"""A pytest plugin: what the extras `analysis` and `causal` install is not there.

The golden files say the same wherever they are compared, so their analyses are unavailable.
"""

import sys

_ABSENT = ("lightgbm", "pandas", "shap", "statsmodels")
for _name in {*_ABSENT, *(name for name in sys.modules if name.partition(".")[0] in _ABSENT)}:
    sys.modules[_name] = None  # type: ignore[assignment]  # documented: importing it fails
