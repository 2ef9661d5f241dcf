"""The line below the datasheet: how often luck fails a session like this one."""

from __future__ import annotations

import pytest

from .project import Once, Project, flips_on_two, parity_suite

HEAD = "risk of a failure by an unlucky draw of items: "


@pytest.fixture
def flipping(project: Project, once: Once) -> Project:
    """Recorded with `flips_on_two`: two of the 18 pairs flip, both on one of six items."""
    project.server.reply = flips_on_two
    once.project("flipping", project.path, project.record)
    return project


def lines(project: Project, *arguments: str) -> str:
    text = project.run("parity.suite.toml", *arguments).stdout.str()
    start = text.index(HEAD)
    return " ".join(text[start : text.index(")", start) + 1].split())


def test_it_is_said_once_and_the_same_under_any_workers(
    flipping: Project, workers: tuple[str, ...]
) -> None:
    # One of six items has both flips of 18 pairs: a session on six items drawn anew has it
    # k times, k binomial(6, 1/6), and JSS 1 - 2k/18. Below 0.8 lie k >= 2: 1 - (5/6)^6 - (5/6)^5
    # = 26.3%, drawn 1,000 times, so within 3 * 1.4 points. A check that fails anyway is no part of
    # the chance that those fail which pass.
    checks = "jss_floor = 0.8\nflip_rate_bound = 0.2\nkappa_floor = 0.9"
    parity_suite(flipping.path, checks=checks)
    said = lines(flipping, *workers)
    assert said.endswith("(2 checks counted)")
    chance = int(said.removeprefix(HEAD).partition("%")[0])
    assert abs(chance - 26.3) <= 4.2
