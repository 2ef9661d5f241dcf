"""Criteria that are asked for together or apart: prompts, calls, replies and trials."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import measure
from pytest_judgesense.cassettes.listing import ListedTrial
from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.instruments.rubric.apart import combined
from pytest_judgesense.judges.calls import first_calls, takes_one_call
from pytest_judgesense.judges.judge_table import declared_judge
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.spec import Prompts
from pytest_judgesense.suites.planning import plan_trials, setting_of
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Criterion, Unparsed, Verdict
from tests.instruments.rubric.test_stimuli import ASKED, LINE, suite_of
from tests.suites.known import builtin_suites, load_suite

EACH = '\n[design]\ncalls = "each"\n'
MARKED = """{{output}}
{{#joint}}
Grade it twice.
{{/joint}}
{{#each}}
Grade it once.
{{/each}}
{{#accuracy}}
accuracy: what is true
{{/accuracy}}
{{#tone}}
tone: what is kind
{{/tone}}
As JSON{{#joint}} with both{{/joint}}: {{>grades}}"""


def apart(folder: Path, asked: str = ASKED, space: str | None = None) -> Suite:
    given = {} if space is None else {"space": space}
    folder = folder / "apart"  # a loaded file is kept by its path
    folder.mkdir(exist_ok=True)
    return suite_of(folder, LINE, asked=asked, stimuli=EACH, **given)


def test_marks_say_which_part_of_a_prompt_is_for_what(tmp_path: Path) -> None:
    together = suite_of(tmp_path, LINE, asked=MARKED)
    assert together.templates[0].text == (
        "{{output}}\nGrade it twice.\naccuracy: what is true\ntone: what is kind\n"
        'As JSON with both: {"accuracy": N, "tone": N}'
    )
    (template,) = apart(tmp_path, MARKED).templates
    assert template.by_criterion == {
        "accuracy": '{{output}}\nGrade it once.\naccuracy: what is true\nAs JSON: {"accuracy": N}',
        "tone": '{{output}}\nGrade it once.\ntone: what is kind\nAs JSON: {"tone": N}',
    }


def test_a_suite_whose_prompts_get_marks_is_the_suite_that_it_was(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    marked = suite_of(tmp_path, LINE, asked=MARKED)
    plain = suite_of(tmp_path / "plain", LINE, asked=marked.templates[0].text)
    assert marked.digest == plain.digest
    # Asked apart, the marks say what each call shows.
    assert apart(tmp_path, MARKED).digest != plain.digest


def test_words_of_a_scale_stand_in_the_reply_that_is_asked_for(tmp_path: Path) -> None:
    space = 'labels = ["1", "2"]\ncriteria = ["a", "b"]\nscales = { b = ["no", "yes"] }'
    suite = suite_of(tmp_path, LINE, asked="{{output}} {{>grades}}", space=space)
    assert suite.templates[0].text == '{{output}} {"a": N, "b": "no" or "yes"}'


def test_a_prompt_without_marks_is_sent_whole_and_ends_with_the_criterion(tmp_path: Path) -> None:
    assert suite_of(tmp_path, LINE).templates[0].text == ASKED
    (template,) = apart(tmp_path).templates
    assert template.by_criterion["tone"] == (
        f"{ASKED}\n\nIn this reply grade by one criterion alone: tone. Reply with one JSON object "
        'and nothing around it: {"tone": N}'
    )


def test_the_prompts_of_a_judge_are_read_as_those_of_a_suite(tmp_path: Path) -> None:
    prompts = Prompts(paraphrases={"s": (MARKED, ASKED)})
    judge = replace(judge_from_name("openai:m"), prompts=prompts)
    suite = suite_for_judge(apart(tmp_path), judge)
    first, second = suite.templates
    assert first.by_criterion["tone"].endswith('tone: what is kind\nAs JSON: {"tone": N}')
    assert second.by_criterion["tone"].startswith(ASKED)
    # Asked together they are sent as they were before anybody asked apart.
    assert suite.with_calls("joint").templates[1].text == ASKED


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ("{{output}} {{#accuracy}} x", "no end within the part about accuracy"),
        ("{{output}} {{#accuracy}}{{#tone}}{{/tone}}{{/accuracy}}", "{{#tone}} within the part"),
        ("{{output}} {{#acuracy}}x{{/acuracy}}", "{{#acuracy}}"),
        ("{{output}} x{{/tone}}", "{{/tone}}"),
        ("{{output}} {{>reply}}", "{{>reply}}"),
    ],
)
def test_marks_that_fit_nothing_are_an_error(tmp_path: Path, asked: str, problem: str) -> None:
    with pytest.raises(SuiteError, match="a mark that fits nothing") as raised:
        suite_of(tmp_path, LINE, asked=asked)
    assert problem in str(raised.value)


def test_calls_belong_to_suites_of_several_criteria(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="asks for each of several criteria"):
        apart(tmp_path, space='labels = ["1", "2"]\ncriteria = ["accuracy"]')
    path = tmp_path / "apart" / "s.suite.toml"
    text = path.read_text(encoding="utf-8").replace('"rubric"', '"vacuum"')
    path.write_text(text.replace("criteria", "# criteria"), encoding="utf-8")
    with pytest.raises(SuiteError, match="calls belongs to suites of the kind rubric"):
        load_suite(path)


def test_a_trial_apart_is_a_call_a_criterion_under_an_id_of_its_own(tmp_path: Path) -> None:
    suite, judge = apart(tmp_path), judge_from_name("openai:m")
    (trial,) = plan_trials(suite)
    assert trial.id == "s/o-a/t1/ab/each/r1"
    assert trial.condition["calls"] == "each"
    calls = first_calls(suite, judge)(trial)
    assert [call.messages[-1]["content"].rpartition("it: ")[2] for call in calls] == [
        '{"accuracy": N}',
        '{"tone": N}',
    ]
    assert not takes_one_call(suite, judge)
    together = suite.with_calls("joint")
    (trial,) = plan_trials(together)
    assert (trial.id, "calls" in trial.condition) == ("s/o-a/t1/ab/r1", False)
    assert takes_one_call(together, judge)


def test_the_id_of_a_trial_apart_is_taken_apart() -> None:
    trial = "s/o-a/t1/ab/each/r2"
    assert setting_of(trial) == "ab/each/r2"
    listed = ListedTrial(trial, "", "", "", "")
    assert (listed.item, listed.wording) == ("o-a", "t1")
    assert listed.setting_words([True] * 4) == "ab each r2"


def test_both_manners_keep_their_recordings(tmp_path: Path) -> None:
    # What a comparison records of the other manner is planned too, and not thrown away.
    suite = suite_of(tmp_path, LINE)
    manners = [plan_trials(of_manner)[0].id for of_manner in suite.in_every_manner]
    assert manners == ["s/o-a/t1/ab/r1", "s/o-a/t1/ab/each/r1"]
    (tmp_path / "one").mkdir()
    one = suite_of(tmp_path / "one", LINE, space='labels = ["1", "2"]', asked="{{output}}")
    assert one.in_every_manner == (one,)


def test_a_reply_apart_is_read_by_its_criterion_alone(tmp_path: Path) -> None:
    accuracy, tone = first_calls(apart(tmp_path), judge_from_name("openai:m"))(
        plan_trials(apart(tmp_path))[0]
    )
    assert accuracy.form is not None
    assert tone.form is not None
    read = accuracy.form.read
    two = Verdict('{"accuracy":"2","tone":null}')
    for reply in ('{"accuracy": 2}', "2", '{"accuracy": 2, "tone": 3}', 'So: {"Accuracy": "2/3"}'):
        assert read(reply, False) == (two, None)
    assert read('{"tone": 2}', False)[0] == Unparsed("no JSON object")
    assert read('{"accuracy": 9}', False)[0] == Unparsed("no grade: accuracy = 9")
    assert read('{"accuracy": 1} {"accuracy": 2}', False)[0] == Unparsed("several judgments")
    assert accuracy.form.schema == {
        "type": "object",
        "properties": {"accuracy": {"type": "integer", "enum": [1, 2, 3]}},
        "required": ["accuracy"],
        "additionalProperties": False,
    }


def test_the_verdict_has_what_the_calls_say_and_null_for_what_they_do_not() -> None:
    criteria = Criterion("a", ("1", "2")), Criterion("b", ("1", "2"))
    graded, silent = Verdict('{"a":"2","b":null}'), Unparsed("refusal")
    assert combined(criteria, [graded, silent]) == (Verdict('{"a":"2","b":null}'), None)
    # All that were refused are a refusal; of several reasons each has its criterion.
    assert combined(criteria, [silent, silent]) == (silent, None)
    of_both = Unparsed("refusal (a); no JSON object (b)")
    assert combined(criteria, [silent, Unparsed("no JSON object")]) == (of_both, None)


def graded(sheet: Any) -> list[str | None]:
    return [judgment.verdict for cell in sheet.cells for judgment in cell.judgments]


def test_a_function_is_told_the_criterion_or_refused(tmp_path: Path) -> None:
    def by_criterion(output: str, criterion: str) -> int:
        return len(criterion) % 3 + 1  # accuracy: 8 letters, tone: 4

    def by_prompt(template: str, output: str) -> dict[str, int]:
        return {"accuracy": 1} if '{"accuracy": N}' in template[-20:] else {"tone": 3}

    def by_output(output: str) -> int:
        return 1

    suite = apart(tmp_path)
    for function, grades in (
        (by_criterion, {"accuracy": "3", "tone": "2"}),
        (by_prompt, {"accuracy": "1", "tone": "3"}),
    ):
        sheet = measure(declared_judge("mine", function), suite, mode="live")
        (verdict,) = graded(sheet)
        assert json.loads(verdict or "{}") == grades
    with pytest.raises(UsageError, match="is not told for which"):
        measure(declared_judge("mine", by_output), suite, mode="live")


def test_the_built_in_suite_asks_the_same_together_and_one_thing_apart() -> None:
    suite = load_suite(builtin_suites()["rubric"])
    for template in suite.with_calls("each").templates:
        for name, text in template.by_criterion.items():
            others = {"accuracy", "coverage", "clarity", "tone"} - {name}
            assert f'{{"{name}": N}}' in text
            assert not any(other in text for other in others)
            assert "{{#" not in text
            assert "{{>" not in text
