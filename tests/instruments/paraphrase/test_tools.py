"""Logs of other tools: their grades become judgments, and what they state of themselves is met.

Files of tests/data/tools were written by the tools themselves (inspect_ai 0.3.285, promptfoo
0.121.20, deepeval 4.3.1) from tests/tools; .ci/full runs the tools again. Smaller ones are made
here in the same form, for what those do not hold.
"""

from __future__ import annotations

import json
import struct
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from pytest_judgesense.errors import JudgesenseError, LogError, UsageError
from pytest_judgesense.files.foreign_results import Imported
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.limits import VARIABLE
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.paraphrase.tools.archive import members
from pytest_judgesense.instruments.paraphrase.tools.graded import Graded, _replicates
from pytest_judgesense.report.log import log_line, read_log
from pytest_judgesense.trial import Failed, Judgment, Unparsed, Verdict

DATA = Path(__file__).parents[2] / "data" / "tools"


def options(path: Path, **more: Any) -> ImportOptions:
    """What the command line gives, where nothing else is said."""
    return ImportOptions(path, **more)


def read(kind: str, path: Path, **more: Any) -> Imported:
    found = BUILT_IN.importers[kind].read(options(path, **more))
    assert isinstance(found, Imported)
    return found


def judgments(found: Imported) -> list[Judgment]:
    return [judgment for judgment, _ in found.judgments]


def written(folder: Path, value: Any, name: str = "log.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


# --- inspect_ai -----------------------------------------------------------------------------------


def test_a_log_of_inspect_becomes_judgments_with_prompts_and_its_own_totals(tmp_path: Path) -> None:
    found = read("inspect", DATA / "hours.eval", label="human")
    ones = judgments(found)
    assert {one.trial.suite for one in ones} == {"hours"}
    assert {one.judge for one in ones} == {"openai-api/local/clean"}
    # Ten things, each stated rightly and wrongly; the embedded judge is right throughout.
    assert Counter((one.verdict, one.trial.label) for one in ones) == {
        ("YES", "YES"): 10,
        ("NO", "NO"): 10,
    }
    first = next(one for one in ones if one.trial.cluster == "archive no")
    assert first.trial.id.startswith("hours/archive-no-")
    assert first.reply == "NO"
    assert (first.usage.prompt_tokens or 0) > 20
    assert first.latency_s is not None
    assert first.detail is not None
    source = first.detail["source"]
    assert source["fields"] == {
        "question": "When does the archive open?",
        "answer": "The archive opens on Tuesday at nine.",
        "criterion": "The archive opens on Friday at nine.",
    }
    assert source["prompt"][0]["role"] == "user"
    assert "<statement>\nThe archive opens on Tuesday" in source["prompt"][0]["content"]
    # Of the one that is read: 10 of 20, and sqrt(0.25 * 20 / 19 / 20) = 0.1147...
    assert [total.name.split()[0] for total in found.totals] == ["accuracy", "stderr"]
    assert all(total.agrees for total in found.totals)
    assert found.totals[0].computed == 0.5
    assert found.totals[1].computed == pytest.approx((0.25 / 19) ** 0.5, abs=1e-12)
    assert "scorer includes called no model that the log shows: left out" in found.notices[0]
    # What a line holds beside the judgment is read back.
    log = tmp_path / "log.jsonl"
    log.write_text("".join(f"{log_line(*one)}\n" for one in found.judgments), encoding="utf-8")
    assert [one for one, _ in read_log(log)] == ones


def as_json(folder: Path, edit: Callable[[dict[str, Any]], None] = lambda _: None) -> Path:
    """The log of `DATA` in Inspect's other format: the header, and in it the samples."""
    parts = dict(members(DATA / "hours.eval"))
    log: dict[str, Any] = dict(parts["header.json"])
    log["samples"] = [one for name, one in parts.items() if name.startswith("samples/")]
    edit(log)
    return written(folder, log)


def test_both_formats_of_inspect_are_read_alike(tmp_path: Path) -> None:
    one, other = read("inspect", DATA / "hours.eval"), read("inspect", as_json(tmp_path))
    assert judgments(one) == judgments(other)
    assert one.totals == other.totals


def test_calls_of_tools_and_pictures_of_a_log_are_in_its_conversations() -> None:
    """What `tests/tools/inspect_agents.py` has the model say, and its tools return."""
    read_ones = judgments(read("inspect", DATA / "parcels.eval"))
    texts = {one.trial.item: (one.detail or {})["source"]["fields"] for one in read_ones}
    conversations = {item: fields["conversation"] for item, fields in texts.items()}
    assert (
        conversations["searched"]
        == """\
[1] system
> You help.
[2] user
> Where is 18?
[3] assistant
> I search.
[3] assistant calls web_search (call 1)
> {"query": "parcel 18"}
[4] tool web_search returns (call 1)
> [{"title": "Seen in Graz"}]
[5] assistant
> It was seen in Graz."""
    )
    # Two calls of one function; one text stands among the attachments of its sample.
    returned = "In the depot of Lyon. " * 10
    assert f"[4] tool find_parcel returns (call 1)\n> {returned}\n" in conversations["found"]
    failed = "[5] tool find_parcel fails (call 2)\n> there is no parcel 99\n"
    assert failed in conversations["found"]
    assert texts["seen"]["question"] == "Whose is it?"
    assert "\n[2] user holds image, not shown (" in conversations["seen"]


def test_clusters_and_labels_are_asked_for(tmp_path: Path) -> None:
    found = judgments(read("inspect", DATA / "hours.eval", cluster="place", label="human"))
    assert len({one.trial.cluster for one in found}) == 10
    with pytest.raises(UsageError, match="stated, place, human"):
        read("inspect", DATA / "hours.eval", cluster="thread")
    for one in judgments(read("inspect", DATA / "hours.eval", map=[("field.place", "place")])):
        assert one.detail is not None
        assert one.trial.cluster.startswith(one.detail["source"]["fields"]["place"])


def test_words_of_people_that_are_no_verdicts_are_asked_about() -> None:
    asked: dict[str, Any] = {"scorer": ["includes"], "label": "human"}
    with pytest.raises(UsageError, match=r"is not a verdict of its suite(?s:.)*--value (YES|NO)=C"):
        read("inspect", DATA / "hours.eval", **asked)
    meant = [("YES", "C"), ("NO", "I")]
    found = judgments(read("inspect", DATA / "hours.eval", **asked, value=meant))
    assert Counter((one.verdict, one.trial.label) for one in found) == {
        ("C", "C"): 10,
        ("I", "I"): 10,
    }


def test_a_scorer_without_a_model_is_read_if_it_is_asked_for() -> None:
    found = read("inspect", DATA / "hours.eval", scorer=["includes"])
    assert {one.judge for one in judgments(found)} == {"includes"}
    assert Counter(one.verdict for one in judgments(found)) == {"C": 10, "I": 10}
    assert found.judgments[0][1].labels == ("C", "I")
    with pytest.raises(UsageError, match="did you mean 'includes'"):
        read("inspect", DATA / "hours.eval", scorer=["include"])


def sample(name: Any, epoch: int, value: Any, prompt: str = "", **score: Any) -> dict[str, Any]:
    """A sample of a log with one score of a model, as Inspect writes it."""
    asked = prompt or f"Grade {name} in {epoch}."
    grading = [
        {"id": f"a{name}{epoch}", "role": "user", "content": asked},
        {"id": f"b{name}{epoch}", "role": "assistant", "content": f"GRADE: {value}", "model": "m"},
    ]
    whole = {
        "value": value,
        "answer": "x",
        "metadata": {"grading": grading},
        "history": [],
        **score,
    }
    return {"id": name, "epoch": epoch, "input": "q", "target": "t", "scores": {"s": whole}}


def log_of(folder: Path, *samples: dict[str, Any], **results: float) -> Path:
    """A log of such samples whose one scorer states these metrics."""
    metrics = {
        name: {"name": name, "value": value, "params": {}} for name, value in results.items()
    }
    return written(
        folder,
        {
            "eval": {"task": "demo", "model": "m"},
            "results": {"scores": [{"name": "s", "scorer": "s", "metrics": metrics}]},
            "samples": list(samples),
        },
    )


def test_epochs_are_items_of_a_cluster_and_the_same_prompt_is_a_replicate(tmp_path: Path) -> None:
    path = log_of(
        tmp_path,
        sample("a", 1, "C", "the same"),
        sample("a", 2, "I", "the same"),
        sample("a", 3, "P", "another answer"),
        sample("b", 1, float("nan")),
        # Means over epochs: (1 + 0 + 0.5) / 3 = 0.5 of a; b has no score.
        accuracy=0.5,
    )
    found = read("inspect", path)
    assert [
        (one.trial.item, one.trial.cluster, one.trial.replicate) for one in judgments(found)
    ] == [
        ("a-e1", "a", 1),
        ("a-e1", "a", 2),
        ("a-e3", "a", 1),
        ("b-e1", "b", 1),
    ]
    assert [one.verdict for one in judgments(found)] == ["C", "I", "P", None]
    assert found.judgments[0][1].labels == ("C", "P", "I")
    assert [str(total) for total in found.totals] == [
        "accuracy of s over 1 samples: 0.5, as the file says"
    ]


def test_samples_and_runs_that_ended_with_an_error_are_told(tmp_path: Path) -> None:
    without = {**sample("b", 1, "C"), "scores": {}}
    broken = [{**without, "id": name, "error": {"message": "boom"}} for name in "cd"]
    path = log_of(tmp_path, sample("a", 1, "C"), without, *broken)
    log = json.loads(path.read_text(encoding="utf-8"))
    found = read("inspect", written(tmp_path, {**log, "status": "cancelled"}))
    assert "samples without a score: 3, 2 of them because of an error; no judge was asked" in str(
        found.notices
    )
    assert "its status is 'cancelled'" in str(found.notices)
    with pytest.raises(LogError, match="let a model grade outputs"):
        read("inspect", log_of(tmp_path, without))
    # Who names a scorer hears of the others once.
    found = read("inspect", DATA / "hours.eval", scorer=["model_graded_qa"])
    assert [one for one in found.notices if "includes" in one] == [
        "scorers that were not asked for: includes"
    ]


def test_a_total_that_is_not_met_is_said(tmp_path: Path) -> None:
    found = read("inspect", log_of(tmp_path, sample("a", 1, "C"), accuracy=0.75, median=1.0))
    assert str(found.totals[0]) == "accuracy of s over 1 samples: 1, but the file says 0.75"
    assert "metrics that are not computed again: median of s" in found.notices


def test_a_score_that_a_person_has_edited_is_a_verdict_and_a_label(tmp_path: Path) -> None:
    one = sample("a", 1, "C")
    score = one["scores"]["s"]
    first = {"value": "C", "metadata": score["metadata"]}
    edit = {"value": "I", "provenance": {"author": "ann", "timestamp": "2026-01-01T00:00:00Z"}}
    score |= {"value": "I", "metadata": {}, "history": [first, edit]}
    found = read("inspect", log_of(tmp_path, one, sample("b", 1, "C"), accuracy=0.5))
    # The metrics of the file count the edited value: (0 + 1) / 2.
    assert found.totals[0].agrees
    assert [(one.verdict, one.trial.label) for one in judgments(found)] == [("C", "I"), ("C", None)]
    assert "demo: 1 grades that people have changed are labels" in found.notices


def test_figures_beyond_all_measure_are_no_totals(tmp_path: Path) -> None:
    path = results(tmp_path, result(rubric(True, 1.0)))
    file = json.loads(path.read_text(encoding="utf-8"))
    file["results"]["stats"] = {"successes": 10**400, "failures": 0}
    (total,) = read("promptfoo", written(tmp_path, file)).totals
    assert (total.name, total.agrees) == ("failures", True)


def test_metadata_that_are_no_object_say_nothing(tmp_path: Path) -> None:
    one = {**sample("a", 1, "C"), "metadata": [1]}
    assert [one.verdict for one in judgments(read("inspect", log_of(tmp_path, one)))] == ["C"]


def test_fractions_are_asked_about(tmp_path: Path) -> None:
    path = log_of(tmp_path, sample("a", 1, 0.75), sample("b", 1, 0.5))
    with pytest.raises(LogError, match=r"fractions, such as 0\.75; --scale N") as wrong:
        read("inspect", path)
    assert "--threshold T" in str(wrong.value)
    steps = read("inspect", path, scale=4)
    assert [one.verdict for one in judgments(steps)] == ["3", "2"]
    assert steps.judgments[0][1].labels == ("0", "1", "2", "3", "4")
    assert steps.judgments[0][1].ordinal
    parts = read("inspect", path, threshold=0.6)
    assert [one.verdict for one in judgments(parts)] == ["pass", "fail"]
    with pytest.raises(LogError, match=r"found: +0\.75\n +expected: a multiple of 1/10"):
        read("inspect", path, scale=10)


def test_a_score_of_several_values_is_a_suite_each(tmp_path: Path) -> None:
    path = log_of(tmp_path, sample("a", 1, {"style": 4, "facts": 2, "notes": [1]}))
    found = read("inspect", path)
    assert [(one.trial.suite, one.verdict) for one in judgments(found)] == [
        ("demo-s-style", "4"),
        ("demo-s-facts", "2"),
    ]
    assert "s-notes: values that are lists are left out" in found.notices


@pytest.mark.parametrize("members", [1, 3])
def test_a_model_that_a_scorer_was_given_as_an_object_is_named(
    tmp_path: Path, members: int
) -> None:
    path = log_of(tmp_path, sample("a", 1, "C"))
    log = json.loads(path.read_text())
    model = {"model": "openai/gpt-4o-mini", "config": {}, "base_url": None, "model_args": {}}
    options = {"model": model if members == 1 else [model] * members}
    log["eval"]["scorers"] = [{"name": "s", "options": options}]
    path.write_text(json.dumps(log))
    found = read("inspect", path)
    assert judgments(found)[0].judge == "openai/gpt-4o-mini"
    assert any("that of a panel" in one for one in found.notices) is (members > 1)


def test_slots_are_slots_and_their_order_is_asked_for(tmp_path: Path) -> None:
    ones = [sample("a", 1, "A"), sample("b", 1, "A"), sample("c", 1, "tie")]
    for one, order in zip(ones, ("ab", "ba", "ab"), strict=True):
        one["metadata"] = {"shown": order}
    found = read("inspect", log_of(tmp_path, *ones))
    assert "no order is stated: every pair is taken for ab; --order COLUMN says it" in found.notices
    found = read("inspect", log_of(tmp_path, *ones), order="shown")
    assert [one.chosen for one in judgments(found)] == ["1", "2", "tie"]


def test_an_order_that_follows_from_names_of_candidates_is_stated(tmp_path: Path) -> None:
    one = sample("a", 1, "A") | {"metadata": {"l": "zed", "r": "amy"}}
    columns = [("first", "l"), ("second", "r")]
    found = read("inspect", log_of(tmp_path, one), map=columns, names=[("verdict", "slot")])
    assert not any("no order is stated" in notice for notice in found.notices)
    # In the order of the alphabet zed, shown as A, is content 2.
    assert [one.chosen for one in judgments(found)] == ["2"]


def test_a_scorer_of_ones_own_is_found_by_its_calls(tmp_path: Path) -> None:
    one = sample("a", 1, "good")
    one["scores"]["s"]["metadata"] = {}
    message = {"id": "r", "role": "assistant", "content": "It is good."}
    output = {"choices": [{"message": message}], "usage": {"input_tokens": 7}, "time": 0.5}
    one["events"] = [
        {"event": "model", "span_id": "1", "model": "other", "input": [], "output": output},
        {
            "event": "model",
            "span_id": "2",
            "model": "own/judge",
            "input": [],
            "input_refs": [[0, 1]],
            "output": output,
        },
        {"event": "score", "span_id": "2", "scorer": "s"},
    ]
    one["events_data"] = {"messages": [{"role": "user", "content": "attachment://d"}]}
    one["attachments"] = {"d": "Is it good?"}
    (found,) = judgments(read("inspect", log_of(tmp_path, one)))
    assert (found.judge, found.verdict, found.reply) == ("own/judge", "good", "It is good.")
    assert (found.usage.prompt_tokens, found.latency_s) == (7, 0.5)
    assert found.detail is not None
    assert found.detail["source"]["prompt"] == [{"role": "user", "content": "Is it good?"}]


# --- promptfoo ------------------------------------------------------------------------------------


def test_results_of_promptfoo_become_judgments_and_its_own_totals() -> None:
    found = read("promptfoo", DATA / "results.json")
    assert Counter(one.trial.suite for one in judgments(found)) == {
        # Three tests, two prompts, twice; of the third test two assertions of a set.
        "sums-llm-rubric": 12,
        "sums-right": 4,
        "sums-polite": 4,
    }
    assert {one.judge for one in judgments(found)} == {"openai:chat:grader"}
    assert {total.name for total in found.totals} == {
        *("successes", "failures", "errors", "assertPassCount", "assertFailCount"),
        *("score of right", "score of polite"),
    }
    assert all(total.agrees for total in found.totals)
    # The rest of its assertions: four of `contains`, and four sets.
    passed = sum(one.verdict == "pass" for one in judgments(found))
    assert "assertions that no model grades are left out: assert-set 4, contains 4" in found.notices
    stated = {total.name: total.stated for total in found.totals}
    assert stated["assertPassCount"] + stated["assertFailCount"] == 20 + 8
    assert 0 < passed < 20
    first = judgments(found)[0]
    # A run and its repetition are judged by the same prompt, the outputs of two prompts are not.
    assert [one.trial.replicate for one in judgments(found)[:4]] == [1, 1, 2, 2]
    assert first.trial.cluster == "test-1 one"
    assert first.detail is not None
    source = first.detail["source"]
    assert source["prompt"][0]["role"] == "system"
    assert source["fields"]["criterion"] == "The answer is 1 doubled"
    assert "<Rubric>\nThe answer is 1 doubled\n</Rubric>" in source["prompt"][1]["content"]


def result(*parts: dict[str, Any], number: int = 1, **more: Any) -> dict[str, Any]:
    """A result of promptfoo with these assertions."""
    return {
        "success": all(one["pass"] for one in parts),
        "testIdx": number,
        "promptIdx": 0,
        "vars": {"n": number},
        "response": {"output": "It is."},
        "gradingResult": {"componentResults": list(parts)},
        **more,
    }


def rubric(passed: bool, score: float, kind: str = "llm-rubric") -> dict[str, Any]:
    return {"pass": passed, "score": score, "assertion": {"type": kind, "value": "Right."}}


def results(folder: Path, *rows: dict[str, Any]) -> Path:
    return written(folder, {"results": {"version": 3, "results": list(rows)}, "config": {}})


def test_results_of_which_none_was_graded_say_why(tmp_path: Path) -> None:
    """Fifteen that ended in an error name it; others say that nothing was graded."""
    failed = [
        result(number=n, failureReason=2, error="API error: 401\nmore", gradingResult=None)
        for n in range(15)
    ]
    with pytest.raises(LogError) as caught:
        read("promptfoo", results(tmp_path, *failed))
    assert caught.value.found == "15 of 15 results ended in an error: API error: 401"
    with pytest.raises(LogError) as caught:
        read("promptfoo", results(tmp_path, result(number=1), result(number=2)))
    assert caught.value.found == "none of 2 results has an assertion that was graded"


def test_an_assertion_turned_round_is_what_the_judge_said(tmp_path: Path) -> None:
    path = results(tmp_path, result(rubric(False, 0.25, "not-llm-rubric")))
    (one,) = judgments(read("promptfoo", path))
    assert one.verdict == "pass"
    assert one.detail is not None
    assert one.detail["source"]["score"] == 0.75
    (one,) = judgments(read("promptfoo", path, scale=4))
    assert one.verdict == "3"


def test_a_grader_that_failed_has_not_said_fail(tmp_path: Path) -> None:
    """promptfoo's matchers fail the assertion then, and turn no such failure round."""
    unread = "Could not extract JSON from llm-rubric response"
    rows = [
        result(rubric(True, 1.0)),
        result(rubric(False, 0.0) | {"reason": unread}, number=2),
        result(
            rubric(False, 0.0, "not-llm-rubric")
            | {"reason": "HTTP 503", "metadata": {"graderError": True}},
            number=3,
        ),
        result(rubric(False, 0.0) | {"reason": "It Could not extract JSON from it."}, number=4),
    ]
    found = judgments(read("promptfoo", results(tmp_path, *rows)))
    assert [one.outcome for one in found] == [
        Verdict("pass"),
        Unparsed("no verdict recorded"),
        Failed("HTTP 503"),
        Verdict("fail"),
    ]


def test_assertions_that_compare_outputs_are_told_apart(tmp_path: Path) -> None:
    path = results(tmp_path, result(rubric(True, 1.0), rubric(True, 1.0, "select-best")))
    found = read("promptfoo", path)
    assert "select-best compares outputs and grades none: left out, 1" in found.notices
    assert not any("no model grades" in one for one in found.notices)


def test_the_rating_of_a_person_is_the_label_of_the_one_judge(tmp_path: Path) -> None:
    rated = {"pass": False, "score": 0, "assertion": {"type": "human"}, "reason": "no"}
    alone = result(rubric(True, 1.0), rated, number=1)
    two = result(rubric(True, 1.0), rubric(False, 0.0), rated, number=2)
    found = judgments(read("promptfoo", results(tmp_path, alone, two)))
    assert [(one.verdict, one.trial.label) for one in found] == [
        ("pass", "fail"),
        ("pass", None),
        ("fail", None),
    ]


# --- deepeval -------------------------------------------------------------------------------------


def test_a_run_of_deepeval_becomes_judgments_and_its_own_totals() -> None:
    found = read("deepeval", DATA / "test_run.json", cluster="thread")
    assert Counter(one.trial.suite for one in judgments(found)) == {
        "sums-Correctness": 6,
        "sums-Tone": 6,
    }
    assert len(found.totals) == 10
    assert all(total.agrees for total in found.totals)
    # case-1 is of thread t0, two and three of t1, ..., six of t3.
    assert {one.trial.cluster for one in judgments(found)} == {"t0", "t1", "t2", "t3"}
    first = judgments(found)[0]
    assert first.detail is not None
    assert first.detail["source"]["fields"] == {
        "question": "What is 1 + 1?",
        "answer": "It is 2.",
        "reference": "2",
        "criterion": "Compare the actual output with the expected one.",
    }
    steps = judgments(read("deepeval", DATA / "test_run.json", scale=10))
    for one in steps:
        assert one.detail is not None
        assert int(one.verdict or -1) == round(10 * one.detail["source"]["score"])


def test_an_error_of_deepeval_is_a_failed_judgment(tmp_path: Path) -> None:
    data = [
        {"name": "Tone [GEval]", "success": False, "score": None, "error": "no JSON"},
        {"name": "Other", "success": True, "score": 1, "evaluationModel": "m"},
    ]
    scores = [{"metric": "Tone [GEval]", "scores": [], "passes": 0, "fails": 0, "errors": 1}]
    case = {"name": "a", "success": False, "metricsData": data}
    run = {"testCases": [case], "metricsScores": scores, "testPassed": 0, "testFailed": 1}
    # The latest run is wrapped.
    path = written(tmp_path, {"testRunData": run})
    found = read("deepeval", path)
    assert all(total.agrees for total in found.totals)
    assert [one.trial.suite for one in judgments(found)] == ["log-Other"]
    assert "log-Tone is left out: none of its replies states a grade" in found.notices
    timed_out = {"name": "Other", "success": False, "score": 0, "error": "timed out"}
    failed = {**case, "name": "b", "metricsData": [timed_out]}
    found = read("deepeval", written(tmp_path, {**run, "testCases": [case, failed]}))
    assert [str(one.outcome) for one in judgments(found)] == [
        "Verdict(value='pass')",
        "Failed(reason='timed out')",
    ]


# --- hostile files --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [
        ("inspect", [], "is malformed"),
        ("inspect", {"samples": []}, "with eval and samples"),
        ("inspect", {"eval": {"task": "t"}, "samples": [7]}, "is malformed"),
        ("inspect", {"eval": {"task": "t"}, "samples": [{"scores": {}}]}, "sample 1: id, epoch"),
        ("inspect", {"eval": {"task": "t"}, "samples": []}, "no grade of a model"),
        ("inspect", {"eval": {}, "samples": [sample("a", 1, 10**400)]}, "score s is malformed"),
        ("promptfoo", {"results": {"results": {}}}, "results.results, a list"),
        ("promptfoo", {"results": {"results": [[]]}}, "result 1 is malformed"),
        (
            "promptfoo",
            {"results": {"results": [result({**rubric(True, 1), "score": "high"})]}},
            "result 1, assertion 1: score is malformed",
        ),
        (
            "inspect",
            {"eval": {"task": "t"}, "samples": [sample("a", 1, [], history=True)]},
            "lists",
        ),
        ("deepeval", {"runs": 1}, "an object with testCases"),
        ("deepeval", {"testCases": [], "conversationalTestCases": 7}, "no grade of a model"),
        ("deepeval", {"testCases": [{"metricsData": 3}]}, "testCases 1 is malformed"),
        ("deepeval", {"testCases": [{"metricsData": [{}]}]}, "testCases 1: metricsData"),
        (
            "deepeval",
            {"testCases": [{"metricsData": [{"name": "m", "success": "yes"}]}]},
            "m: success is malformed",
        ),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(
    tmp_path: Path, kind: str, value: Any, told: str
) -> None:
    with pytest.raises(JudgesenseError) as wrong:
        read(kind, written(tmp_path, value))
    assert told in str(wrong.value)
    assert "log.json" in str(wrong.value)


def test_nested_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text('{"eval": ' + "[" * 100_000, encoding="utf-8")
    for kind in ("inspect", "promptfoo", "deepeval"):
        with pytest.raises(LogError, match=r"log\.json cannot be read"):
            read(kind, path)


def archive(folder: Path, **files: bytes) -> Path:
    path = folder / "log.eval"
    with ZipFile(path, "w", ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(f"samples/{name}.json", content)
    return path


def test_an_archive_that_holds_too_much_for_its_size_is_refused(tmp_path: Path) -> None:
    # 30 MB of empty objects in 30 kB: of their values 10 million would be 1 GB.
    path = archive(tmp_path, a=b"[" + b"{}," * 10_000_000 + b"{}]")
    assert path.stat().st_size < 60_000
    before = time.thread_time()
    with pytest.raises(LogError, match=r"log\.eval holds too much for its size"):
        read("inspect", path)
    assert time.thread_time() - before < 1
    # So are many members that are each small.
    with pytest.raises(LogError, match="holds too much for its size"):
        read("inspect", archive(tmp_path, **{f"m{n}": b" " * 60_000 for n in range(100)}))


def test_an_archive_is_read_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "line_bytes=100000,file_bytes=150000")
    with pytest.raises(LogError, match=r"a\.json is too long(?s:.)*line_bytes = 100000"):
        read("inspect", archive(tmp_path, a=b" " * 100_001))
    several = dict.fromkeys("abc", b'{"id": 1}' + b" " * 60_000)
    with pytest.raises(LogError, match=r"b\.json|c\.json") as wrong:
        read("inspect", archive(tmp_path, **several))
    assert "file_bytes = 150000" in str(wrong.value)
    # A member that says it is small, and is not: what is decoded is bounded all the same.
    path = archive(tmp_path, a=b" " * 5_000_000)
    data = path.read_bytes()
    path.write_bytes(data.replace(struct.pack("<I", 5_000_000), struct.pack("<I", 100)))
    with pytest.raises(LogError, match="too long"):
        read("inspect", path)


def test_an_archive_that_is_damaged_or_no_log_says_so(tmp_path: Path) -> None:
    path = archive(tmp_path, a=b'{"id": "a"}')
    with pytest.raises(LogError, match=r"id, epoch|no header"):
        read("inspect", path)
    whole = (DATA / "hours.eval").read_bytes()
    at = len(whole) // 3
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
    with pytest.raises(LogError, match="damaged"):
        read("inspect", path)
    path.write_bytes(whole[:1000])
    with pytest.raises(LogError, match=r"log\.eval cannot be read"):
        read("inspect", path)
    path.write_bytes(zlib.compress(b"x"))
    with pytest.raises(LogError, match="a log of Inspect"):
        read("inspect", path)


# --- tables ---------------------------------------------------------------------------------------


def test_a_table_may_bring_what_the_judge_was_shown(tmp_path: Path) -> None:
    messages = json.dumps([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}])
    rows = [
        {"item": "1", "verdict": "YES", "q": "why?", "sent": "Why? YES or NO.", "n": 0.5},
        {"item": "2", "verdict": "NO", "q": "how?", "sent": messages, "n": None},
    ]
    path = written(tmp_path, rows, "rows.json")
    pairs = [("field.question", "q"), ("prompt", "sent"), ("score", "n")]
    one, other = judgments(read("table", path, map=pairs, reparse=False))
    assert one.detail == {
        "source": {
            "prompt": [{"role": "user", "content": "Why? YES or NO."}],
            "fields": {"question": "why?"},
            "score": 0.5,
        }
    }
    assert other.detail is not None
    assert [one["role"] for one in other.detail["source"]["prompt"]] == ["system", "user"]
    with pytest.raises(UsageError, match=r"field\.NAME"):
        read("table", path, map=[("feild.question", "q")])


def test_a_repeat_without_a_reply_is_one_of_the_same_item() -> None:
    """promptfoo keeps no prompt of a call that its grader did not answer."""

    def grade(item: str, prompt: str | None, **fields: str) -> Graded:
        shown = None if prompt is None else [{"role": "user", "content": prompt}]
        return Graded("w", "s", item, "test", "j", prompt=shown, fields=fields)

    asked = [
        grade("t0", None, answer="four"),
        grade("t1", "Is it four?", answer="four"),
        grade("t2", "Is it five?", answer="five"),
        grade("t3", None, answer="five"),
        # Of two prompts about it, and of no field, nobody knows.
        grade("t4", "Is it six?", answer="six"),
        grade("t5", "Is it surely six?", answer="six"),
        grade("t6", None, answer="six"),
        grade("t7", None),
        grade("t8", None),
    ]
    found = [(item, number) for _, item, number in _replicates(asked)]
    alone = [("t4", 1), ("t5", 1), ("t6", 1), ("t7", 1), ("t8", 1)]
    assert found == [("t0", 1), ("t0", 2), ("t2", 1), ("t2", 2), *alone]


def test_a_letter_among_numbers_is_a_reply_without_a_grade(tmp_path: Path) -> None:
    # Inspect writes I where its pattern finds no grade: of ten replies one.
    grades = ("10", "9", "8", "10", "9", "8", "10", "9", "8", "I")
    found = read("inspect", log_of(tmp_path, *(sample(n, 1, g) for n, g in enumerate(grades))))
    assert [judgment.verdict for judgment in judgments(found)] == [*grades[:-1], None]
    assert "demo: 1 of 10 grades are I, beside numbers" in found.notices[0]
