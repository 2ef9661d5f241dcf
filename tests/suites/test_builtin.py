from __future__ import annotations

import pytest

from pytest_judgesense.suites.builtin import builtin_cassettes, builtin_suites
from pytest_judgesense.suites.loading import load_suite

# Section B of the issue names them.
NAMES = [
    "coherence",
    "criterion",
    "factuality",
    "ladder",
    "ladder-fine",
    "preference",
    "relevance",
    "vacuum",
]


def test_the_built_in_suites_are_those_of_the_plan_in_alphabetical_order() -> None:
    assert list(builtin_suites()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_built_in_suite_stands_in_a_folder_of_its_name_and_is_called_so(name: str) -> None:
    path = builtin_suites()[name]
    assert path.parent.name == name
    assert load_suite(path).base == name


@pytest.mark.parametrize("profile", ["clean", "mixed", "noisy", "positional"])
@pytest.mark.parametrize("name", NAMES)
def test_every_profile_of_the_embedded_judge_has_a_recording_of_every_suite(
    name: str, profile: str
) -> None:
    assert (builtin_cassettes() / profile / f"{name}.jsonl").is_file()


def test_the_recordings_stay_below_fifteen_megabytes() -> None:
    # Section C of the issue.
    size = sum(path.stat().st_size for path in builtin_cassettes().rglob("*.jsonl"))
    assert 0 < size < 15_000_000
