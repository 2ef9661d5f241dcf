"""What a session measures, and what of it it asks again."""

from __future__ import annotations

import re
from typing import Any

from .project import TRIALS, Project


def named_by_its_prompt(body: dict[str, Any]) -> str:
    """Another name of the model for each trial, as of an alias that many models serve."""
    question = body["messages"][-1]["content"].splitlines()[0]
    return f"served-{re.sub('[^A-Za-z0-9]+', '-', question)}"


def test_models_that_serve_as_before_are_no_change_whatever_their_order(project: Project) -> None:
    # Of 18! orders of a set of 18 names one is the sorted order, in which they are compared.
    project.server.model = named_by_its_prompt
    project.record()
    asked_again = ("--judge-mode", "live", "--judge-verify", str(TRIALS))
    result = project.run("parity.suite.toml", *asked_again)
    shown = " ".join(result.stdout.str().split())
    assert len({named_by_its_prompt(body) for body in project.server.asked}) == TRIALS
    assert f"0 of {TRIALS} verdicts changed" in shown
    assert "when recorded, now as" not in shown
