"""The pages for tasks, run as `test_docs` runs the others.

In a file of their own: files of tests are what is shared out among processes.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.blocks import PAGE_NAMES, needs_of
from tests.docs.kinds import is_for_a_task, problems_of_page

# The gate runs one of them, beside the pages of `test_docs`; of what the others show the options'
# own tests tell: of a prompt that changes tests/plugin/test_judge_baseline_git.py.
IN_GATE = ("howto/own-suite.md",)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name not in IN_GATE else ())
        for name in PAGE_NAMES
        if is_for_a_task(name)
    ],
)
def test_every_block_does_what_is_shown(name: str, tmp_path: Path) -> None:
    if (needed := needs_of(name)) and find_spec(needed) is None:
        pytest.skip(f"{name} is not run: there is no {needed}; pip install '.[scorers]'")
    problems = problems_of_page(name, tmp_path)
    assert not problems, problems
