"""What the recorded suites of every embedded profile give, to the byte.

After a change that is meant, ``python scripts/update_golden.py`` renews the files; their diff says
what changed, for JSON that which ``--show`` prints.
"""

from __future__ import annotations

from difflib import unified_diff
from itertools import islice

import pytest

from pytest_judgesense.instruments.temperature.causal import unusable
from tests.golden.outputs import KINDS, golden, outputs
from tests.report.replaying import SHIPPED

_SHOWN = 40  # lines of a difference


@pytest.fixture(scope="module", params=sorted(SHIPPED))
def run(request: pytest.FixtureRequest) -> tuple[str, dict[str, str]]:
    return request.param, outputs(request.param)


@pytest.mark.parametrize("kind", KINDS)
def test_output_is_that_of_the_golden_file(run: tuple[str, dict[str, str]], kind: str) -> None:
    profile, found = run
    if kind == "datasheet.json" and (reason := unusable("lightgbm")):
        pytest.skip(reason)  # it holds the causal effect of the temperature
    wanted = golden(profile, kind)
    if found[kind] != wanted:
        lines = (text.splitlines() for text in (wanted, found[kind]))
        shown = islice(unified_diff(*lines, "golden", "found", lineterm="", n=1), _SHOWN)
        pytest.fail(f"{profile}: {kind} has changed\n" + "\n".join(shown), pytrace=False)
