from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_judgesense.errors import LogError, well_formed
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.report.log import log_line, log_lines, read_log
from pytest_judgesense.trial import (
    REASONED,
    Design,
    Failed,
    Judgment,
    Trial,
    Unparsed,
    Usage,
    Verdict,
)
from tests.measures.building import YES_NO, judgment

from .replaying import SHIPPED, replayed

# Surrogates included: an endpoint's JSON may hold half of a pair.
text = st.text(st.characters(codec=None, exclude_categories=()), max_size=30)
name = st.text("abc-./ \n\u2028é", min_size=1, max_size=8)
trials = st.builds(
    Trial,
    id=name,
    suite=name,
    item=name,
    cluster=name,
    template=name,
    order=st.sampled_from(["ab", "ba"]),
    replicate=st.integers(1, 99),
    condition=st.dictionaries(
        st.sampled_from(["distance", "arm", "category"]),
        st.one_of(st.integers(0, 5), st.floats(0, 3), name),
    ),
    label=st.one_of(st.none(), name),
    skipped=st.booleans(),
)
judgments = st.builds(
    Judgment,
    trial=trials,
    judge=name,
    outcome=st.one_of(st.builds(Verdict, name), st.builds(Unparsed, text), st.builds(Failed, text)),
    chosen=st.one_of(st.none(), name),
    reply=st.one_of(st.none(), text),
    usage=st.builds(
        Usage,
        prompt_tokens=st.one_of(st.none(), st.integers(0, 10**6)),
        completion_tokens=st.one_of(st.none(), st.integers(0, 10**6)),
    ),
    latency_s=st.one_of(st.none(), st.floats(0, 1e3)),
    recorded_at=st.sampled_from([None, "2026-01-31T12:00:00Z", "2026-01-31T12:00:00.25Z"]),
)
with_probabilities = st.builds(
    lambda judgment, p, mass: replace(judgment, probabilities={"A": p, "B": 1 - p}, mass=mass),
    judgments,
    st.floats(0, 1),
    st.floats(0, 1),
)
designs = st.builds(
    Design,
    kind=st.sampled_from(["paraphrase", "vacuum", "ladder", "criterion"]),
    labels=st.lists(name, min_size=2, max_size=5, unique=True).map(tuple),
    ordinal=st.booleans(),
    pairwise=st.booleans(),
    pairs=st.one_of(
        st.sampled_from(["ring", "all"]), st.lists(st.tuples(name, name), max_size=3).map(tuple)
    ),
    others=st.booleans(),
    cut=st.one_of(st.none(), name),
    excluded=st.lists(st.tuples(name, name), max_size=2).map(tuple),
    unsure=st.lists(st.tuples(name, name), max_size=2).map(tuple),
)


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    return path


@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(given_judgments=st.lists(judgments | with_probabilities, max_size=4), design=designs)
def test_a_log_gives_back_what_was_written(
    tmp_path: Path, given_judgments: list[Judgment], design: Design
) -> None:
    if design.pairwise:
        given_judgments = [_placed(one) for one in given_judgments]
    path = written(tmp_path / "log.jsonl", list(log_lines(given_judgments, design)))
    assert list(read_log(path)) == [(_well_formed(one), design) for one in given_judgments]


def _placed(one: Judgment) -> Judgment:
    """As a run on two candidates gives it: the content follows from the verdict and the order."""
    verdict = None if one.verdict is None else well_formed(one.verdict)
    contents = dict(zip("AB", "12" if one.trial.order == "ab" else "21", strict=True))
    return replace(one, chosen=None if verdict is None else contents.get(verdict, verdict))


def _well_formed(one: Judgment) -> Judgment:
    """As it is written: of half a surrogate pair, U+FFFD is left."""
    reply = None if one.reply is None else well_formed(one.reply)
    ((field, said),) = asdict(one.outcome).items()
    outcome = replace(one.outcome, **{field: well_formed(said)})
    return replace(one, reply=reply, outcome=outcome)


BASE = {
    "trial": "s/i/t/ab/r1", "judge": "j", "suite": "s", "item": "i", "verdict": "A",
    "design": {"kind": "paraphrase", "labels": ["A", "B"]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("[" * 100_000, "is not JSON"),
        (json.dumps(BASE | {"verdict": ["A"]}), "verdict"),
        (json.dumps(BASE | {"design": {"kind": "paraphrase", "labels": []}}), "design"),
        (json.dumps(BASE | {"design": {"kind": "paraphrase", "labels": ["A", "A"]}}), "design"),
        (
            json.dumps(BASE | {"design": {"kind": "x", "labels": ["A", "B"], "pairs": "lla"}}),
            "design",
        ),
        (json.dumps(BASE | {"usage": {"prompt_tokens": -5}}), "usage"),
        (json.dumps(BASE | {"usage": {"prompt_tokens": 10**400}}), "usage"),
        (json.dumps(BASE | {"latency_s": -1.0}), "latency_s"),
        (json.dumps(BASE | {"latency_s": float("inf")}), "latency_s"),
        (json.dumps(BASE | {"condition": {"temperature": float("nan")}}), "condition"),
    ],
)
def test_a_line_with_absurd_values_is_an_error_that_names_it(
    tmp_path: Path, line: str, field: str
) -> None:
    path = written(tmp_path / "log.jsonl", [json.dumps(BASE), line])
    with pytest.raises(LogError, match=field) as caught:
        list(read_log(path))
    assert f"{path}:2" in str(caught.value)


@pytest.mark.parametrize(
    ("profile", "suite"), [(p, s) for p, suites in SHIPPED.items() for s in suites]
)
def test_estimates_from_the_log_are_those_of_the_measurement(
    tmp_path: Path, profile: str, suite: str
) -> None:
    measurement = replayed(profile, suite)
    lines = list(log_lines(measurement.judgments, measurement.suite.design))
    read = list(read_log(written(tmp_path / "log.jsonl", lines)))
    (design,) = {found for _, found in read}
    assert design is not None
    cell = Cell(
        profile,
        suite,
        design,
        tuple(one for one, _ in read),
        measurement.seed,
        measurement.cell.measures,
    )
    assert estimate_all(cell) == measurement.estimates


def test_the_fields_of_a_line_are_those_of_the_design() -> None:
    one = judgment("item-07", "A", template="t3", order="ba", label="1", reply="A")
    value = json.loads(log_line(one, YES_NO))
    # Section 5 of the design; beside them the design of the suite, so that a log stands alone.
    assert list(value) == [
        *("trial judge suite item cluster template order replicate condition label".split()),
        *("verdict chosen reply usage latency_s design".split()),
    ]
    assert value["trial"] == "s/item-07/t3/ba/r1"
    # Slot A of the order ba shows content 2.
    assert (value["verdict"], value["chosen"], value["label"]) == ("A", "2", "1")


def test_probabilities_stand_on_the_lines_of_judgments_that_have_them() -> None:
    told = replace(judgment("a", "A"), probabilities={"A": 0.75, "B": 0.25}, mass=0.9)
    value = json.loads(log_line(told, YES_NO))
    assert (value["probabilities"], value["mass"]) == ({"A": 0.75, "B": 0.25}, 0.9)


@pytest.mark.parametrize(
    ("word", "field"), [("YES", "verdict"), ("?", "unparsed"), ("!", "failed")]
)
def test_a_line_says_one_of_three_things(word: str, field: str) -> None:
    value = json.loads(log_line(judgment("a", word, pairwise=False), YES_NO))
    assert [key for key in ("verdict", "unparsed", "failed") if key in value] == [field]


def line_with(**changes: Any) -> str:
    value = json.loads(log_line(judgment("a", "YES", pairwise=False), YES_NO))
    value |= changes
    return json.dumps({key: given for key, given in value.items() if given is not ...})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{not json", ":2 is not JSON"),
        ("[1]", ":2 is not a judgment"),
        (line_with(trial=...), "'trial'"),
        (line_with(judge=3), "'judge'"),
        # Half a surrogate pair is no fault, and hides none.
        (line_with(judge=..., **{"\ud800": 1}), "'judge'"),
        (line_with(replicate="1", suite="\ud800"), "'replicate'"),
        (line_with(order="ca"), "'order'"),
        (line_with(replicate="1"), "'replicate'"),
        (line_with(condition=[]), "'condition'"),
        (line_with(verdict=...), "does not say what came of the trial"),
        (line_with(unparsed="also"), "2 of verdict, unparsed, failed"),
        (line_with(probabilities={"YES": 0.5}), "'probabilities'"),
        (line_with(probabilities={"YES": -1.0, "NO": 2.0}), "'probabilities'"),
        (line_with(probabilities={}), "'probabilities'"),
        (line_with(repair={"before": "no verdict", "calls": "two"}), "'repair'"),
        (line_with(repair={"calls": 1e308}), "'repair'"),
        (line_with(probabilities={"YES": 1.0}, mass=3), "'mass'"),
        (line_with(design={"labels": ["YES"]}), "'design'"),
        (line_with(design={"kind": "vacuum", "labels": ["A"], "pairs": [["a"]]}), "'design'"),
    ],
)
def test_a_wrong_line_is_named_by_file_line_and_field(tmp_path: Path, line: str, said: str) -> None:
    path = written(tmp_path / "log.jsonl", [line_with(), line])
    with pytest.raises(LogError) as caught:
        list(read_log(path))
    assert f"{path}:2" in str(caught.value)
    assert said in str(caught.value)


def test_what_a_foreign_log_leaves_out_has_a_default(tmp_path: Path) -> None:
    least = {"trial": "x/1", "judge": "j", "suite": "x", "item": "1", "verdict": "YES"}
    ((one, design),) = read_log(written(tmp_path / "log.jsonl", [json.dumps(least), ""]))
    assert design is None
    # An item is its own cluster.
    assert one.trial == Trial("x/1", "x", "1", "1", "t1")
    assert (one.verdict, one.reply, one.usage, one.latency_s) == ("YES", None, Usage(), None)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="cannot be read"):
        list(read_log(tmp_path / "no-such.jsonl"))
    path = tmp_path / "samples.eval"
    path.write_bytes(b"PK\xff\xfe")
    with pytest.raises(LogError, match="cannot be read") as raised:
        list(read_log(path))
    assert raised.value.remedy == f"if another tool wrote it: judgesense import {path}"


def test_lines_share_what_they_have_in_common_and_keep_what_they_have_not(tmp_path: Path) -> None:
    design = Design(kind="temperature", labels=("A", "B"), pairwise=True, effect_threshold=1.0)
    conditions: list[dict[str, Any]] = [{"temperature": 1}, {"temperature": 1.0}, {"k": True}]
    given = [
        judgment(f"i{i}", "A", condition=condition)
        for i, condition in enumerate([*conditions, conditions[1], {"list": [1]}])
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f"{line}\n" for line in log_lines(given, design)), encoding="utf-8")
    found = list(read_log(path))
    assert [one.trial.condition for one, _ in found] == [one.trial.condition for one in given]
    # 1, 1.0 and True are equal, and none of them is another.
    kinds = [type(next(iter(one.trial.condition.values()))) for one, _ in found]
    assert kinds == [int, float, bool, float, list]
    assert found[1][0].trial.condition is found[3][0].trial.condition
    assert all(own is found[0][1] for _, own in found)
    assert found[0][1] == design


def test_designs_that_take_turns_are_told_apart(tmp_path: Path) -> None:
    designs = [YES_NO, Design(kind="vacuum", labels=("A", "B")), YES_NO]
    path = tmp_path / "log.jsonl"
    lines = [log_line(judgment(f"i{i}", "A"), design) for i, design in enumerate(designs)]
    bare = {k: v for k, v in json.loads(lines[0]).items() if k != "design"}
    path.write_text("\n".join([*lines, json.dumps(bare)]), encoding="utf-8")
    assert [own for _, own in read_log(path)] == [*designs, None]


PAIR = Design(kind="vacuum", labels=("A", "B"), pairwise=True)


@pytest.mark.parametrize(
    ("verdict", "order", "chosen"),
    [("A", "ab", "1"), ("A", "ba", "2"), ("B", "ba", "1"), ("tie", "ba", "tie")],
)
def test_the_content_that_a_verdict_selects_follows_from_the_order(
    tmp_path: Path, verdict: str, order: str, chosen: str
) -> None:
    value = json.loads(log_line(judgment("i1", verdict), PAIR)) | {"order": order}
    for stated in ({}, {"chosen": None}, {"chosen": chosen}):
        line = json.dumps({k: v for k, v in value.items() if k != "chosen"} | stated)
        ((one, _),) = read_log(written(tmp_path / "log.jsonl", [line]))
        assert one.chosen == chosen


def test_a_reply_without_a_verdict_selects_nothing(tmp_path: Path) -> None:
    value = json.loads(log_line(judgment("i1", "A"), PAIR)) | {"chosen": "1", "unparsed": "no"}
    line = json.dumps({k: v for k, v in value.items() if k != "verdict"})
    ((one, _),) = read_log(written(tmp_path / "log.jsonl", [line]))
    assert (one.verdict, one.chosen) == (None, None)


@pytest.mark.parametrize("said", [{"verdict": "tie"}, {"verdict": "B"}])
def test_a_content_that_contradicts_the_verdict_is_refused(
    tmp_path: Path, said: dict[str, str]
) -> None:
    value = json.loads(log_line(judgment("i1", "A"), PAIR)) | {"chosen": "1"}
    line = json.dumps({k: v for k, v in value.items() if k != "verdict"} | said)
    with pytest.raises(LogError, match=r"log\.jsonl:1: field 'chosen' is wrong"):
        list(read_log(written(tmp_path / "log.jsonl", [line])))


def _criterion(**other: Any) -> dict[str, Any]:
    return {"name": "tone", "labels": ["1", "2"], "weight": 1.0} | other


@pytest.mark.parametrize(
    "wrong",
    [
        {"ddof": 3},
        {"ddof": -1},
        {"left_out": -2},
        {"weights": [1e308, 1e308, 1e308, 1e308]},
        {"weights": [-1, 1, 1, 1]},
        {"effect_threshold": 0},
        {"pass_mark": 2},
        {"pass_mark": -0.5},
        {"criteria": [_criterion(weight=0)]},
        {"criteria": [_criterion(weight=-1)]},
        {"criteria": [_criterion(labels=["1"])]},
        {"criteria": [_criterion(labels=["1", "1"])]},
        {"criteria": [_criterion(), _criterion()]},
    ],
)
def test_numbers_of_a_design_that_no_suite_has_are_refused(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    value = json.loads(log_line(judgment("i1", "A"), PAIR))
    line = json.dumps(value | {"design": value["design"] | wrong})
    with pytest.raises(LogError, match="field 'design' is wrong"):
        list(read_log(written(tmp_path / "log.jsonl", [line])))


def test_the_verdict_of_the_reasoning_is_kept_beside_the_other(tmp_path: Path) -> None:
    contradicted = replace(judgment("a", "YES", pairwise=False), detail={REASONED: "NO"})
    line = log_line(contradicted, YES_NO)
    assert json.loads(line)["reasoned"] == "NO"
    ((read, _),) = read_log(written(tmp_path / "log.jsonl", [line]))
    assert read.detail == {REASONED: "NO"}
