"""A pytest plugin: what the extras `analysis` and `causal` install is not there.

The golden files say the same wherever they are compared, so their analyses are unavailable.
"""

import sys

for _name in ("lightgbm", "pandas", "shap", "statsmodels"):
    sys.modules[_name] = None  # type: ignore[assignment]  # documented: importing it fails
