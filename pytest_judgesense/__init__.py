"""Regression tests for LLM judges: measure a judge, gate it, print its datasheet.

The plugin needs no import. The exports are for Python code: `Judge` declares a judge in
``conftest.py``; `measure` measures judges without a pytest session; `compare_judges` compares
judges by their outcomes on the same trials and gives the ranks that each may have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_judgesense.judges.table import Judge
    from pytest_judgesense.measuring import measure
    from pytest_judgesense.stats.ranks import compare_judges

__version__ = "0.1.0"

__all__ = ["Judge", "__version__", "compare_judges", "measure"]


def __getattr__(name: str) -> Any:
    # pytest imports this package in every run, so heavy modules are imported only when used.
    if name == "Judge":
        from pytest_judgesense.judges.table import Judge

        return Judge
    if name == "compare_judges":
        from pytest_judgesense.stats.ranks import compare_judges

        return compare_judges
    if name == "measure":
        from pytest_judgesense.measuring import measure

        return measure
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
