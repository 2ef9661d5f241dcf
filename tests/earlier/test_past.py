"""A judge as it was at a revision, against what a replay of the same recording measures."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.asking.inquiry import UNRESTRICTED
from pytest_judgesense.cassettes.storage import read_exchanges, rewrite
from pytest_judgesense.earlier.past import NotCompared, Past, PastReader
from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.judge import Judge
from pytest_judgesense.judges.judge_table import declared_judge, judge_from_table
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.remembered import NoReturns, recorded_trials, remembered
from pytest_judgesense.judges.resolving import (
    declared_judges,
    judge_from_name,
    resolve_judges,
)
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measurement import Measurement, measure
from pytest_judgesense.revisions.revision import Revision
from pytest_judgesense.suites.loading import _load
from pytest_judgesense.suites.matched import match_items
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from tests.report.replaying import SHIPPED, replayed, suite_named
from tests.repository import commit, repository
from tests.shipped import CASSETTES
from tests.suites.known import load_suite

SUITE = """
schema = "judgesense/suite/1"
name = "parity"
kind = "paraphrase"
[space]
labels = ["YES", "NO"]
[stimuli]
file = "data/numbers.jsonl"
[[templates]]
id = "t1"
text = "Is {{number}} even?"
[[templates]]
id = "t2"
text = "Tell whether {{number}} is even."
"""
NUMBERS = "".join(
    f'{{"id": "p{n}", "number": "{n}", "label": "{"NO" if n % 2 else "YES"}"}}\n' for n in range(6)
)


def says_no_to_two(messages: list[dict[str, str]]) -> str:
    digits = "".join(filter(str.isdigit, messages[-1]["content"]))
    return "YES" if int(digits) % 2 == 0 and digits != "2" else "NO"


def is_even(messages: list[dict[str, str]]) -> str:
    return "NO" if int("".join(filter(str.isdigit, messages[-1]["content"]))) % 2 else "YES"


def jury_table(name: str, *members: str) -> str:
    return f"[tool.judgesense.judges.{name}]\nmembers = {json.dumps(members)}\n"


def agreement_of(past: Past) -> float | None:
    estimate = find_estimate(past.measured.side.estimates, "agreement", None)
    assert estimate is not None
    return estimate.value


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = repository(tmp_path / "repository") / "packages" / "judge"
    (root / "suites" / "data").mkdir(parents=True)
    (root / "suites" / "parity.suite.toml").write_text(SUITE)
    (root / "suites" / "data" / "numbers.jsonl").write_text(NUMBERS)
    return root


def suite_of(root: Path) -> Suite:
    _load.cache_clear()  # a session reads a file once; these change theirs
    return load_suite(root / "suites" / "parity.suite.toml")


def record(root: Path, judge: JudgeSpec) -> Measurement:
    folder = root / "cassettes" / judge.slug
    folder.mkdir(parents=True, exist_ok=True)
    loop = AskingLoop()
    try:
        return measure(
            judge,
            suite_of(root),
            {"parity": folder / "parity.jsonl"},
            loop,
            mode="record",
            asking=replace(UNRESTRICTED, proves=False),
        )
    finally:
        loop.close()


def reader(root: Path, folder: Path, *judges: JudgeSpec) -> PastReader:
    """What reads HEAD, in a session of these judges."""
    revision = Revision.read("HEAD", root)
    cassettes = root / "cassettes"
    return PastReader(revision, root, cassettes, folder, 0, BUILT_IN, lambda: judges)


def past_of(root: Path, folder: Path, judge: JudgeSpec, suite: Suite | None = None) -> Past:
    return reader(root, folder, judge).past(judge, suite or suite_of(root))


def verdicts(judgments: Mapping[str, object]) -> dict[str, object]:
    return {id_: getattr(judgment, "outcome", None) for id_, judgment in judgments.items()}


def test_the_recording_at_a_revision_is_the_measurement_that_was_made(
    root: Path, tmp_path: Path
) -> None:
    judge = declared_judge("mine", says_no_to_two)
    then = record(root, judge)
    commit(root)
    # The prompt and the judge change; old code and old prompt are needed by nobody.
    suite = root / "suites" / "parity.suite.toml"
    suite.write_text(SUITE.replace("Is {{number}} even?", "Is the number {{number}} even, friend?"))
    (root / "cassettes" / "mine" / "parity.jsonl").unlink()
    past = past_of(root, tmp_path / "then", declared_judge("mine", lambda _: "NO"))
    assert past.measured.side.estimates == then.estimates
    assert verdicts(past.measured.side.by_id) == {j.trial.id: j.outcome for j in then.judgments}
    assert past.notices == ()


def test_a_broken_file_of_then_is_named_as_git_names_it(root: Path, tmp_path: Path) -> None:
    judge = declared_judge("mine", says_no_to_two)
    record(root, judge)
    write(root, '{"id": "p0", "number": {"of": 0}, "label": "YES"}\n')
    commit(root)
    write(root, NUMBERS)
    with pytest.raises(SuiteError) as caught:
        past_of(root, tmp_path / "then", judge)
    assert "HEAD:packages/judge/suites/data/numbers.jsonl:1 is not of the form" in str(caught.value)
    assert str(tmp_path / "then") not in str(caught.value)


def write(root: Path, numbers: str) -> None:
    (root / "suites" / "data" / "numbers.jsonl").write_text(numbers)


def test_items_that_are_edited_gone_and_new_are_counted(root: Path, tmp_path: Path) -> None:
    judge = declared_judge("mine", says_no_to_two)
    record(root, judge)
    commit(root)
    numbers = NUMBERS.replace('"number": "1"', '"number": "11"').splitlines(keepends=True)
    numbers[-1] = '{"id": "p9", "number": "9", "label": "NO"}\n'
    write(root, "".join(numbers))
    past = past_of(root, tmp_path / "then", judge)
    # All that was recorded is there; of what is asked no more under ids of its own.
    assert len(past.measured.side.by_id) == 12
    assert {name for name in past.measured.side.by_id if name.endswith("(gone)")} == {
        "parity/p5/t1/ab/r1 (gone)",
        "parity/p5/t2/ab/r1 (gone)",
    }
    assert past.edited == {"parity/p1/t1/ab/r1", "parity/p1/t2/ab/r1"}
    assert past.notices == (
        "1 of 6 items are gone since HEAD (p5)",
        "1 of 6 items have other texts than at HEAD (p1)",
        "1 of these have the label of then",
        "1 new items are not compared (p9)",
    )


def test_items_are_found_under_other_ids_in_another_order_in_a_renamed_suite(
    root: Path, tmp_path: Path
) -> None:
    judge = declared_judge("mine", says_no_to_two)
    then = record(root, judge)
    commit(root)
    write(root, "".join(reversed(NUMBERS.replace('"p', '"q').splitlines(keepends=True))))
    path = root / "suites" / "parity.suite.toml"
    path.write_text(SUITE.replace('name = "parity"', 'name = "even"'))
    _load.cache_clear()
    past = past_of(root, tmp_path / "then", judge, load_suite(path))
    assert past.notices == ()
    assert {name.replace("parity/p", "even/q") for name in verdicts_of(then)} == {
        *past.measured.side.by_id
    }


def verdicts_of(measurement: Measurement) -> dict[str, object]:
    return {judgment.trial.id: judgment.outcome for judgment in measurement.judgments}


def test_a_corrected_label_is_no_change_of_the_judge(root: Path, tmp_path: Path) -> None:
    judge = declared_judge("mine", says_no_to_two)
    record(root, judge)
    commit(root)
    corrected = NUMBERS.replace('"number": "2", "label": "YES"', '"number": "2", "label": "NO"')
    write(root, corrected)
    past = past_of(root, tmp_path / "then", judge)
    (agreement,) = [
        estimate
        for estimate in past.measured.side.estimates
        if estimate.measure == "agreement" and not estimate.condition
    ]
    assert agreement.value == 1.0  # it says NO of 2, and the label says so now
    assert past.notices == ("1 items have another label than at HEAD (p2)",)
    # Under the labels of then it is compared as well.
    assert {trial.id: trial.label for trial in past.labels.then.values()} == {
        "parity/p2/t1/ab/r1": "YES",
        "parity/p2/t2/ab/r1": "YES",
    }


def test_a_label_that_was_removed_counts_as_it_was(root: Path, tmp_path: Path) -> None:
    judge = declared_judge("mine", says_no_to_two)
    record(root, judge)
    commit(root)
    write(root, NUMBERS.replace('"number": "2", "label": "YES"', '"number": "2"'))
    past = past_of(root, tmp_path / "then", judge)
    assert past.notices == ("1 labels were removed and count as they were (p2)",)
    assert past.labels.then == {}
    assert {trial.label for trial in past.labels.now.values()} == {"YES"}
    assert len(past.labels.now) == 2


def test_the_judge_is_that_of_then_where_its_requests_models_and_settings_are(
    root: Path, tmp_path: Path
) -> None:
    (root / "pyproject.toml").write_text(
        '[tool.judgesense.judges.prod]\nprovider = "embedded"\nmodel = "clean"\n'
    )
    judge = declared_judges(root)["prod"]
    record(root, judge)
    commit(root)
    write(root, NUMBERS.replace('"number": "1"', '"number": "11"'))
    record(root, judge)
    past = past_of(root, tmp_path / "then", judge)
    recorded = recorded_trials([root / "cassettes" / "prod" / "parity.jsonl"])
    suite = suite_of(root)
    assert past.is_same_judge(suite, recorded)
    hotter = replace(past, today=replace(judge, temperature=1.0))
    assert not hotter.is_same_judge(suite, recorded)
    changed = {
        name: [
            replace(e, request=replace(e.request, body=e.request.body.replace("even", "odd")))
            for e in exchanges
        ]
        for name, exchanges in recorded.items()
    }
    assert not past.is_same_judge(suite, changed)
    # Nothing in common says nothing.
    assert not past.is_same_judge(suite, {})


def test_nothing_in_common_is_one_error(root: Path, tmp_path: Path) -> None:
    judge = declared_judge("mine", says_no_to_two)
    record(root, judge)
    commit(root)
    write(root, NUMBERS.replace('"p', '"q').replace('"number": "', '"number": "1'))
    with pytest.raises(UsageError, match="no trial in common with HEAD"):
        past_of(root, tmp_path / "then", judge)


def test_renamed_labels_are_refused_and_not_skipped(root: Path, tmp_path: Path) -> None:
    judge = declared_judge("mine", says_no_to_two)
    record(root, judge)
    commit(root)
    write(root, NUMBERS.replace('"YES"', '"GOOD"').replace('"NO"', '"BAD"'))
    renamed = SUITE.replace('["YES", "NO"]', '["GOOD", "BAD"]')
    (root / "suites" / "parity.suite.toml").write_text(renamed)
    with pytest.raises(UsageError, match="other labels now than at HEAD") as caught:
        past_of(root, tmp_path / "then", judge)
    # A check is skipped for what is not compared, and fails for any other error.
    assert not isinstance(caught.value, NotCompared)


def test_what_was_not_there_is_not_compared(root: Path, tmp_path: Path) -> None:
    commit(root)
    judge = declared_judge("mine", says_no_to_two)
    with pytest.raises(NotCompared, match="judge mine on suite parity was not recorded at HEAD"):
        past_of(root, tmp_path / "then", judge)
    (root / "suites" / "new.suite.toml").write_text(SUITE.replace('"parity"', '"new"'))
    new = load_suite(root / "suites" / "new.suite.toml")
    with pytest.raises(NotCompared, match="suite new was not there at HEAD"):
        past_of(root, tmp_path / "later", judge, new)


def test_a_suite_that_was_moved_is_the_suite_of_its_old_place(root: Path, tmp_path: Path) -> None:
    judge = declared_judge("mine", says_no_to_two)
    record(root, judge)
    commit(root)
    (root / "suites").rename(root / "moved")
    moved = load_suite(root / "moved" / "parity.suite.toml")
    past = past_of(root, tmp_path / "then", judge, moved)
    assert {estimate.measure for estimate in past.measured.side.estimates} >= {"agreement", "jss"}
    # Under another name it is another suite, and the old one is lost until somebody says so.
    moved.path.write_text(moved.path.read_text().replace('"parity"', '"other"'))
    _load.cache_clear()
    with pytest.raises(UsageError, match="there at HEAD is declared no more: suite parity"):
        past_of(root, tmp_path / "later", judge, load_suite(moved.path))
    moved.path.write_text(f'was = "parity"\n{moved.path.read_text()}')
    _load.cache_clear()
    past = past_of(root, tmp_path / "last", judge, load_suite(moved.path))
    assert len(past.again) == 12


def test_a_recording_without_returns_says_what_to_do(root: Path) -> None:
    judge = declared_judge("mine", says_no_to_two)
    record(root, judge)
    path = root / "cassettes" / "mine" / "parity.jsonl"
    lines = [
        replace(exchange, request=replace(exchange.request, method="POST"))
        for exchange in read_exchanges(path)
        if not exchange.returns
    ]
    rewrite(path, lines)
    suite = suite_of(root)
    with pytest.raises(NoReturns, match="holds no returns"):
        remembered(judge, suite, plan_trials(suite), recorded_trials([path]))


@pytest.mark.parametrize("name", [n for n in SHIPPED["mixed"] if "@" not in n])
def test_shipped_recordings_are_remembered_as_they_are_replayed(name: str) -> None:
    # Every kind of suite, with several calls a trial, repairs and failures among them.
    replay, judge = replayed("mixed", name), judge_from_name("embedded:mixed")
    suite, trials = suite_named(name), [judgment.trial for judgment in replay.judgments]
    paths = [CASSETTES / "mixed" / f"{recording}.jsonl" for recording in suite.recordings]
    answers = remembered(judge, suite, trials, recorded_trials(paths))
    from pytest_judgesense.judges.calls import judgment_of

    assert [judgment_of(suite, judge, t, answers[t.id]).outcome for t in trials] == [
        judgment.outcome for judgment in replay.judgments
    ]


def test_a_jury_is_made_of_what_its_table_of_then_says(root: Path, tmp_path: Path) -> None:
    right, wrong = declared_judge("right", is_even), declared_judge("wrong", says_no_to_two)
    for judge in (right, replace(right, name="gone"), wrong):
        record(root, judge)
    (root / "pyproject.toml").write_text(jury_table("panel", "right", "gone"))
    commit(root)

    def past(table: str, name: str, folder: str) -> Past:
        retired = '[tool.judgesense]\nretired = ["gone"]\n'
        (root / "pyproject.toml").write_text(f"{retired}{table}")
        objects = {"right": right, "wrong": wrong}
        (jury,) = resolve_judges([name], declared_judges(root), objects)
        return reader(root, tmp_path / folder, right, wrong, jury).past(jury, suite_of(root))

    # The new member was wrong of 2 even then; the old one is known by what it returned.
    same_name = past(jury_table("panel", "right", "wrong"), "panel", "then")
    assert [member.name for member in same_name.judge.members] == ["right", "gone"]
    assert agreement_of(same_name) == 1.0
    # Under another name it is lost until that is said.
    renamed = jury_table("jury2", "right", "wrong")
    with pytest.raises(UsageError, match="there at HEAD is declared no more: jury panel"):
        past(renamed, "jury2", "later")
    assert agreement_of(past(f'{renamed}was = "panel"\n', "jury2", "last")) == 1.0


def test_a_jury_without_a_table_of_then_is_not_compared_with_itself(
    root: Path, tmp_path: Path
) -> None:
    right, wrong = declared_judge("right", is_even), declared_judge("wrong", says_no_to_two)
    for judge in (right, wrong, replace(wrong, name="was alone")):
        record(root, judge)
    commit(root)
    objects = {"right": right, "wrong": wrong}

    def past(jury: JudgeSpec, folder: str) -> Past:
        (resolved,) = resolve_judges(["panel"], {}, objects | {"panel": jury})
        everybody = (right, wrong, declared_judge("was alone", print), resolved)
        return reader(root, tmp_path / folder, *everybody).past(resolved, suite_of(root))

    in_table = judge_from_table("panel", {"members": ["right", "wrong"]}, root)
    with pytest.raises(NotCompared, match="jury panel was not declared at HEAD"):
        past(in_table, "new")
    # It takes the place of a judge that was recorded, which was wrong of one item of six.
    assert agreement_of(past(replace(in_table, was="was alone"), "exchanged")) == 5 / 6
    # What Python code made of it then is known to nobody.
    in_python = Judge("panel", members=["right", "wrong"]).spec
    with pytest.raises(UsageError, match="jury 'panel' is made by Python code") as caught:
        past(in_python, "python")
    assert "declare it in pyproject.toml, [tool.judgesense.judges.panel]" in caught.value.remedy


def test_a_judge_of_a_table_is_the_one_of_the_revision(root: Path, tmp_path: Path) -> None:
    """Its table and prompt files are read where the repository has them, above the project."""
    top = root.parents[1]
    table = '[tool.judgesense.judges.prod]\nprovider = "embedded"\nmodel = "clean"\n'
    (top / "pyproject.toml").write_text(
        table + 'prompts.strict = { file = "prompts/strict.txt" }\n'
    )
    (top / "prompts").mkdir()
    (top / "prompts" / "strict.txt").write_text("Be fair.")
    shutil.copytree(CASSETTES / "clean", root / "cassettes" / "prod")
    commit(root)
    (top / "prompts" / "strict.txt").write_text("Be strict.")
    past = reader(root, tmp_path / "then")
    assert past._judges(root / "suites")["prod"].prompts.strict == "Be fair."


def test_what_a_function_takes_is_followed_in_the_files_of_then(root: Path, tmp_path: Path) -> None:
    table = '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "jm:judge"\n'
    (root / "pyproject.toml").write_text(table)
    (root / "src" / "inner").mkdir(parents=True)
    (root / "jm.py").write_text("from impl import judge\n")
    (root / "impl.py").write_text("import inner.own\njudge = inner.own.judge\n")
    (root / "src" / "inner" / "__init__.py").write_text("")
    (root / "src" / "inner" / "own.py").write_text("def judge(number, ctx): ...\n")
    rows = root / "suites" / "data" / "numbers.jsonl"
    rows.write_text(NUMBERS.replace('"label"', '"ctx": "digits", "unused": "u", "label"'))
    commit(root)
    # Of six rows p0 has another context, p1 another text that nobody takes; the code was moved.
    p0, p1, *others = rows.read_text().splitlines(keepends=True)
    edited = [p0.replace("digits", "words"), p1.replace('"u"', '"v"')]
    rows.write_text("".join([*edited, *others]))
    (root / "jm.py").write_text("def judge(number, ctx): ...\n")
    for file in (root / "impl.py", root / "src" / "inner" / "own.py"):
        file.unlink()
    today = suite_of(root)
    then = reader(root, tmp_path / "then").suite(today)
    # The placeholder of the templates, and the parameters that the definition of then has.
    assert then.items[0].taken == today.items[0].taken == {"number", "ctx"}
    assert match_items(then.items, today.items).edited == {"p0": "p0"}


def test_what_is_checked_out_and_recorded_no_more_is_compared_with_itself(
    root: Path, tmp_path: Path
) -> None:
    judge = declared_judge("mine", says_no_to_two)
    judgments = record(root, judge).judgments
    commit(root)
    recording = root / "cassettes" / "mine" / "parity.jsonl"
    past = past_of(root, tmp_path / "then", judge)
    now = recorded_trials([recording])
    assert past.is_itself(judgments, now)
    # The same answers to the same requests, under another commit than that of HEAD.
    assert not replace(past, is_checked_out=False).is_itself(judgments, now)
    # Another label is another comparison, though nothing else was sent.
    write(root, NUMBERS.replace('"number": "1", "label": "NO"', '"number": "1", "label": "YES"'))
    relabelled = past_of(root, tmp_path / "relabelled", judge)
    assert not relabelled.is_itself(judgments, now)
    write(root, NUMBERS)
    # Recorded again, with other answers.
    recording.unlink()
    again = record(root, declared_judge("mine", is_even)).judgments
    assert not past.is_itself(again, recorded_trials([recording]))
