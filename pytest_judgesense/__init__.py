"""Regression tests for LLM judges: measure a judge, gate it, print its datasheet.

The plugin needs no import. What is exported here is for Python code that gives it a judge:
`Judge` declares one in ``conftest.py``. `compare_judges` says of outcomes on the same trials which
judges differ, and which ranks each may have. `measure` measures judges without a session of pytest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_judgesense.judges.spec import Judge
    from pytest_judgesense.measuring import measure
    from pytest_judgesense.stats.ranks import compare_judges

__version__ = "0.1.0"

__all__ = ["Judge", "__version__", "compare_judges", "measure"]


def __getattr__(name: str) -> Any:
    # pytest imports this package in every run of an environment: what is heavy waits for its use.
    if name == "Judge":
        from pytest_judgesense.judges.spec import Judge

        return Judge
    if name == "compare_judges":
        from pytest_judgesense.stats.ranks import compare_judges

        return compare_judges
    if name == "measure":
        from pytest_judgesense.measuring import measure

        return measure
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
