"""What asking for criteria apart changes: by hand, and for a judge that a project declares."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.joint_halo import IN_BOTH, IN_JOINT, changes_of, is_found
from pytest_judgesense import measure
from pytest_judgesense.commands.main import main
from pytest_judgesense.datasheets.datasheet import JudgeSheet
from pytest_judgesense.instruments.rubric.simulated import grade_output
from pytest_judgesense.instruments.rubric.together import changes_by_calls
from pytest_judgesense.judges.simulated.observer import Observer
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.registry import ChangeByCalls
from pytest_judgesense.trial import Judgment
from tests.instruments.rubric.graded import cell_of, reply
from tests.instruments.rubric.test_simulated import asked
from tests.judges.endpoint import endpoint, says
from tests.shipped import CASSETTES

# Four times every combination of the two ends of the scale, which do not correlate.
HUMAN = [(accuracy, tone) for accuracy in (1, 5) for tone in (1, 5)] * 4


def together(human: bool = True) -> Cell:
    """Tone copies accuracy."""
    return cell_of(graded(((accuracy, accuracy) for accuracy, _ in HUMAN), human))


def separate(human: bool = True) -> Cell:
    """Both grades are those of people."""
    return cell_of(graded(HUMAN, human))


def graded(grades: Iterable[tuple[int | None, int | None]], human: bool) -> list[Judgment]:
    return [
        reply(f"o{number}", of_item, human=HUMAN[number] if human else ())
        for number, of_item in enumerate(grades)
    ]


def by_name(changes: Iterable[ChangeByCalls]) -> dict[str, ChangeByCalls]:
    return {change.measure.name: change for change in changes}


def test_what_changes_where_a_copied_criterion_is_asked_for_apart() -> None:
    changes = by_name(changes_by_calls(together(), separate()))
    halo = changes["mean_halo"]
    # Grades that are copied correlate by 1, those of people by 0.
    assert (halo.joint, halo.each) == (pytest.approx(1), pytest.approx(0))
    assert (halo.verdict, halo.n, halo.clusters) == ("better", 16, 16)
    agreement = changes["agreement"]
    # Of 32 grades the tone of every second output is wrong where it is copied: 8 of them.
    assert (agreement.joint, agreement.each, agreement.n) == (0.75, 1.0, 32)
    # Eight outputs gain, and none loses: 2 / 2^8 of all signs, the smallest p-value of four lines.
    assert agreement.p == pytest.approx(4 * 2 / 2**8)
    assert agreement.verdict == "better"
    assert agreement.ends is not None
    assert agreement.ends[0] > 0
    # Half of the grades are the highest either way; none is missing.
    ceiling, missing = changes["ceiling_share"], changes["missing_grades"]
    assert (ceiling.joint, ceiling.each, ceiling.verdict) == (0.5, 0.5, "")
    assert (missing.joint, missing.each, missing.p) == (0, 0, 1)


def test_without_human_grades_the_correlations_themselves_are_compared() -> None:
    changes = by_name(changes_by_calls(together(human=False), separate(human=False)))
    assert changes["mean_halo"].change == pytest.approx(-1)
    assert "agreement" not in changes


def test_a_change_for_the_worse_is_called_so_and_nothing_is_found_in_nothing() -> None:
    worse = changes_by_calls(separate(), together())
    assert {change.verdict for change in worse} == {"worse", ""}
    assert not any(change.verdict for change in changes_by_calls(separate(), separate()))


def test_only_trials_with_replies_to_both_are_compared_and_missing_grades_count() -> None:
    grades: list[tuple[int | None, int | None]] = [*HUMAN]
    grades[:4] = [(1, None)] * 4
    each = graded(grades, human=True)
    each[5] = reply("o5", "!", human=HUMAN[5])
    changes = by_name(changes_by_calls(together(), cell_of(each[:-1])))
    # Of 16 outputs one failed and one was not asked; of 14, four lack the tone.
    assert changes["missing_grades"].n == 28
    assert changes["missing_grades"].each == 4 / 28
    assert changes["mean_halo"].n == 10
    assert changes_by_calls(together(), cell_of([])) == ()


def test_halo_of_joint_calls_alone_goes_where_criteria_are_asked_apart() -> None:
    plain = Observer("plain", skills=(grade_output,))
    form = 'Grades from 1 to 5: {"accuracy": N}'
    # Of an unknown output every criterion is as good as all of them: halo moves nothing.
    for observer in (replace(plain, joint_halo=0.9), replace(plain, halo=0.9)):
        assert observer.reply(asked("Parcels arrive at noon, say we.", form)) == '{"accuracy": 5}'
    assert is_found(changes_of(IN_JOINT, 0))
    # The same halo in both manners is no reason to ask apart.
    assert not is_found(changes_of(IN_BOTH, 0))


SUITE = """
schema = "judgesense/suite/1"
name = "notes"
kind = "rubric"
[space]
labels = ["1", "2", "3", "4", "5"]
criteria = ["accuracy", "tone"]
[stimuli]
file = "items.jsonl"
[design]
calls = "{calls}"
[[templates]]
id = "t1"
text = '''<output>
{{{{output}}}}
</output>
Grade accuracy and tone from 1 to 5: {{{{>grades}}}}'''
[checks]
halo_bound = 0.2
mean_halo_bound = 0.2
"""
TABLE = """
[tool.judgesense.judges.declared]
provider = "openai"
model = "m"
base_url = "{url}"
prices = {{ prompt = 1.0, completion = 10.0 }}
"""


def copying(body: dict[str, Any]) -> str:
    """Grades as the output says; where both are asked for, tone copies accuracy."""
    prompt = body["messages"][-1]["content"]
    accuracy, tone = re.findall(r"\b[1-5]\b", prompt.partition("</output>")[0])
    if '"accuracy": N, "tone": N' in prompt:
        return f'{{"accuracy": {accuracy}, "tone": {accuracy}}}'
    return f'{{"accuracy": {accuracy}}}' if '"accuracy": N' in prompt else f'{{"tone": {tone}}}'


def write_project(folder: Path) -> None:
    """The suite as it asks for all criteria, and as it does once its user follows the remedy."""
    for file, calls in (("notes", "joint"), ("followed", "each")):
        text = SUITE.format(calls=calls)
        (folder / f"{file}.suite.toml").write_text(text, encoding="utf-8")
    lines = (
        {
            "id": f"o{number}",
            "output": f"Note {'x' * number}: {accuracy} and {tone}.",
            "human": {"accuracy": accuracy, "tone": tone},
        }
        for number, (accuracy, tone) in enumerate(HUMAN)
    )
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "items.jsonl").write_text(text, encoding="utf-8")


def sheet_of(file: str, **how: Any) -> JudgeSheet:
    (sheet,) = measure("declared", file, **how).judges
    return sheet


def outcomes(sheet: JudgeSheet) -> set[str]:
    return {line.outcome for line in sheet.checks}


def test_a_judge_of_the_judges_table_follows_the_remedy_of_halo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    write_project(tmp_path)
    command = ["compare", "notes.suite.toml", "--calls"]
    with endpoint(says(copying)) as server:
        (tmp_path / "pyproject.toml").write_text(TABLE.format(url=server.url), encoding="utf-8")
        assert outcomes(sheet_of("notes.suite.toml", mode="record")) == {"fail"}
        # The plan knows what is recorded: 16 calls for all, and 32 that are still to be made.
        assert main([*command, "--plan"]) == 0
        plan = capsys.readouterr().out
        assert "joint: 16 calls, 0 to be made" in plan
        assert "each: 32 calls, 32 to be made; cost: 0.0" in plan
        assert main([*command, "--judge-mode", "record"]) == 0
        assert len(server.asked) == 48
    recorded = capsys.readouterr().out
    assert "each is better: mean halo 1.000 -> 0.000, agreement 0.750 -> 1.000" in recorded
    # An endpoint that counts 7 and 2 tokens a call: twice the calls are twice of everything.
    assert "each takes 2.0 times the calls, 2.0 times the prompt tokens" in recorded
    assert main(command) == 0
    assert capsys.readouterr().out in recorded
    assert main([*command, "-o", "x.json"]) == 0
    answer = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    joint, each = answer["costs"]
    # A thousand trials: 7,000 prompt tokens at 1 USD a million, and 2,000 of replies at 10.
    assert joint["USD"] == pytest.approx(0.007 + 0.02)
    assert each == {
        "criteria": "each",
        "calls": 2,
        "prompt tokens": 14,
        "reply tokens": 4,
        "USD": pytest.approx(0.014 + 0.04),
    }
    # The suite that asks apart is recorded already, and passes.
    followed = sheet_of("followed.suite.toml")
    assert outcomes(followed) == {"pass"}
    # What was sent is the text for each criterion.
    assert [*followed.parts[0].prompts["notes"]["templates"]] == ["t1, accuracy", "t1, tone"]


def test_criteria_are_compared_on_suites_that_have_several(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for command, problem in (
        (["vacuum", "--calls"], "cannot be asked together and apart"),
        (["--calls"], "calls are compared on one suite"),
        (["rubric", "--calls", "--judges", "a", "b"], "two comparisons are asked for at once"),
    ):
        assert main(["compare", *command, "--judge-name", "embedded:mixed"]) == 2
        assert problem in capsys.readouterr().err


def test_the_recordings_show_what_asking_apart_buys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["compare", "rubric@each", "--calls", "--judge-cassettes", str(CASSETTES)]
    assert main([*command, "--judge-name", "embedded:mixed"]) == 0
    assert "each is better: mean halo 0.319 -> -0.118" in capsys.readouterr().out
    assert main([*command, "--judge-name", "embedded:clean"]) == 0
    assert "the two cannot be told apart on 10 clusters" in capsys.readouterr().out
