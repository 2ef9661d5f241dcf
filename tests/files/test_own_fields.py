"""What an export writes beside a foreign form: read back exactly, and refused where it is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_judgesense.errors import LogError
from pytest_judgesense.files.own_fields import (
    DESIGN,
    KEY,
    design_of,
    own_fields,
    own_of,
    plain_design,
    with_own_fields,
)
from pytest_judgesense.files.rows import Row
from pytest_judgesense.trial import Design, Failed, Judgment, PrescribedReply, Trial, Usage, Verdict

TRIAL = Trial("s/i/t1/ab/r1", "s", "i", "i", "t1")
READ = Judgment(TRIAL, "j", Verdict("A"))


@pytest.mark.parametrize(
    ("judgment", "named"),
    [
        (READ, set()),
        (replace(READ, outcome=Failed("late")), {"failed"}),
        (replace(READ, usage=Usage(3, None)), {"usage"}),
        (replace(READ, trial=replace(TRIAL, cluster="c", label="1")), {"cluster", "label"}),
        (replace(READ, detail={"grades": {"1": 3}}, latency_s=0.5), {"detail", "latency_s"}),
        (replace(READ, probabilities={"A": 0.75, "B": 0.25}, mass=1.0), {"probabilities", "mass"}),
        (replace(READ, recorded_at="2026-01-31T12:00:00Z"), {"recorded_at"}),
        # A line of a log has 1.0 where it has no 1, and its keys in their order.
        (replace(READ, trial=replace(TRIAL, condition={"b": 1.0, "a": 1})), {"condition"}),
    ],
)
def test_what_a_row_does_not_say_stands_beside_it(judgment: Judgment, named: set[str]) -> None:
    own = own_fields(judgment, READ)
    assert {*own} == named
    read = with_own_fields(READ, own, Row("f:1", {KEY: own}))
    assert (read, read.recorded_at) == (judgment, judgment.recorded_at)
    assert repr(read.trial.condition) == repr(dict(judgment.trial.condition))


def test_a_design_is_read_as_it_was_written() -> None:
    design = Design(
        "temperature",
        ("A", "B"),
        pairwise=True,
        pairs=(("t1", "t2"),),
        forms=(PrescribedReply("t1", ("judge_result",), ("A", "B", "C")),),
    )
    assert design_of(Row("f:1", {KEY: {DESIGN: plain_design(design)}})) == design
    assert design_of(Row("f:1", {"a": 1})) is None
    assert own_of(Row("f:1", {KEY: "text"})) == {}


@pytest.mark.parametrize(
    "own",
    [
        {"id": 5},
        {"replicate": "often"},
        {"order": "sideways"},
        {"verdict": None},
        {"usage": {"prompt_tokens": "many"}},
        {"usage": 3},
        {"judge": 7},
        {"latency_s": "slow"},
        {"detail": [1]},
        {"recorded_at": "yesterday"},
        {"condition": {"a": [1]}},
    ],
)
def test_a_field_that_nobody_would_write_is_an_error_of_its_row(own: dict[str, Any]) -> None:
    with pytest.raises(LogError, match="judgesense"):
        with_own_fields(READ, own, Row("f:7", {KEY: own}))


def test_a_design_that_nobody_would_write_is_an_error_of_its_row() -> None:
    with pytest.raises(LogError, match="judgesense"):
        design_of(Row("f:7", {KEY: {DESIGN: {"labels": 3}}}))
