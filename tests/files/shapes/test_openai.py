"""Logs of OpenAI evals, batches of OpenAI, and HealthBench's grades; the texts are invented."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.proposals import Setting
from pytest_judgesense.files.shapes.openai_batch import OPENAI_BATCH
from pytest_judgesense.files.tables import read_rows
from pytest_judgesense.questions.import_.question import ImportQuestion
from pytest_judgesense.trial import LABEL, Failed
from tests.files.shapes.reading import counts, judged, proposed, shapes_of, written

# --- evals ----------------------------------------------------------------------------------------


def run(
    run_id: str, choices: Mapping[str, str], grader: str = "gpt-4", **more: Any
) -> list[dict[str, Any]]:
    """A log as the local recorder writes it: the run, its events, its report."""
    spec = {
        "completion_fns": ["gpt-3.5-turbo", grader],
        "eval_name": "joke-quality.dev.v0",
        "base_eval": "joke-quality",
        "split": "dev",
        "run_config": {"seed": 1},
        "created_by": "",
        "run_id": run_id,
        "created_at": "2024-01-01 00:00:00",
    }
    events: list[tuple[str, str, dict[str, Any]]] = []
    for sample, choice in choices.items():
        reply = "I cannot say." if choice == "__invalid__" else f"It is funny.\n\n{choice}"
        asked = [{"role": "user", "content": f"How good is the joke {sample}?"}]
        events += [
            (sample, "sampling", {"prompt": "Tell a joke.", "sampled": ["Knock knock."]}),
            (sample, "sampling", {"prompt": asked, "sampled": [reply], "model": grader}),
            (sample, "metrics", {"choice": choice, "score": None, **more}),
        ]
    return [
        {"spec": spec},
        *(
            {
                "run_id": run_id,
                "event_id": number,
                "sample_id": sample,
                "type": kind,
                "data": data,
                "created_by": "",
                "created_at": "2024-01-01 00:00:00+00:00",
            }
            for number, (sample, kind, data) in enumerate(events)
        ),
        {"final_report": {"counts/1": 1}, "run_id": run_id},
    ]


CHOICES = {"joke.0": "1", "joke.1": "4", "joke.2": "__invalid__", "joke.3": "5"}


def test_the_choices_of_a_model_graded_eval_are_its_last_function_s(tmp_path: Path) -> None:
    path = written(tmp_path / "run.jsonl", run("r1", CHOICES))
    assert [shape.name for shape in shapes_of(path)] == ["openai-evals"]
    judgments = judged(path)
    assert [(j.judge, j.trial.item, j.verdict) for j in judgments] == [
        ("gpt-4", sample, None if choice == "__invalid__" else choice)
        for sample, choice in CHOICES.items()
    ]
    assert {judgment.trial.suite for judgment in judgments} == {"joke-quality.dev.v0"}
    assert judgments[1].reply == "It is funny.\n\n4"
    assert judgments[1].detail is not None
    prompt = judgments[1].detail["source"]["prompt"]
    assert prompt == [{"role": "user", "content": "How good is the joke joke.1?"}]


def test_runs_of_two_graders_are_two_judges(tmp_path: Path) -> None:
    others = {**CHOICES, "joke.0": "2"}
    paths = (
        written(tmp_path / "a.jsonl", run("r1", CHOICES)),
        written(tmp_path / "b.jsonl", run("r2", others, "gpt-4o")),
    )
    judgments = judged(*paths)
    assert counts(judgments) == Counter(
        (judge, "ab", None if choice == "__invalid__" else choice)
        for judge, choices in (("gpt-4", CHOICES), ("gpt-4o", others))
        for choice in choices.values()
    )
    # What was graded was written anew in each run: one sample, two items.
    assert {j.trial.item for j in judgments if j.trial.cluster == "joke.0"} == {
        "joke.0-r1",
        "joke.0-r2",
    }


def test_a_log_of_matches_holds_no_judge(tmp_path: Path) -> None:
    spec, *events, report = run("r1", {"s.0": "1"})
    matches = [
        {**event, "type": "match", "data": {"correct": True, "expected": "x", "picked": "x"}}
        for event in events
    ]
    path = written(tmp_path / "match.jsonl", [spec, *matches, report])
    assert "code computed" in proposed(path).no_judge


def test_letters_of_an_eval_are_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path / "run.jsonl", run("r1", {"s.0": "A", "s.1": "B"}))
    (question,) = proposed(path).questions
    assert question.example.value["sample_id"] == "s.0"
    pair, options = question.readings
    assert Setting("names", ("verdict", "slot")) in pair.settings
    assert Setting("value", ("A", "option A")) in options.settings
    for answer, verdicts, is_pair in (
        ({"names": (("verdict", "slot"),)}, ["A", "B"], True),
        ({"value": (("A", "yes"), ("B", "no"))}, ["yes", "no"], False),
    ):
        options = ImportOptions(path, **answer)  # type: ignore[arg-type]
        read = ImportQuestion(options, tmp_path / "log.jsonl").answer().judgments
        assert [judgment.verdict for judgment, _ in read] == verdicts
        assert {design.pairwise for _, design in read} == {is_pair}
    # C to E are options of a question alone.
    graded = written(tmp_path / "fact.jsonl", run("r1", {"s.0": "A", "s.1": "D"}))
    assert proposed(graded).questions == ()
    assert [judgment.verdict for judgment in judged(graded)] == ["A", "D"]


# --- batches --------------------------------------------------------------------------------------


def completion(custom_id: str, *texts: str, model: str = "gpt-4o-2024-08-06") -> dict[str, Any]:
    """A line of the output of a batch of chat completions."""
    return {
        "id": f"batch_req_{custom_id}",
        "custom_id": custom_id,
        "response": {
            "status_code": 200,
            "request_id": "req",
            "body": {
                "id": "chatcmpl",
                "object": "chat.completion",
                "created": 1700000000,
                "model": model,
                "choices": [
                    {
                        "index": index,
                        "message": {"role": "assistant", "content": text},
                        "finish_reason": "stop",
                    }
                    for index, text in enumerate(texts)
                ],
                "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
            },
        },
        "error": None,
    }


def response(custom_id: str, text: str) -> dict[str, Any]:
    """A line of the output of a batch of the Responses API, which begins with its reasoning."""
    return {
        "id": f"batch_req_{custom_id}",
        "custom_id": custom_id,
        "response": {
            "status_code": 200,
            "request_id": "req",
            "body": {
                "id": "resp",
                "object": "response",
                "model": "o4-mini",
                "output": [
                    {"id": "rs", "type": "reasoning", "summary": []},
                    {
                        "id": "msg",
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": text, "annotations": []}],
                    },
                ],
                "usage": {"input_tokens": 50, "output_tokens": 9, "total_tokens": 59},
            },
        },
        "error": None,
    }


def failure(custom_id: str) -> dict[str, Any]:
    """A line of the error file of a batch."""
    error = {"error": {"message": "rate limit", "type": "requests", "code": "rate_limit"}}
    return {
        "id": "b",
        "custom_id": custom_id,
        "response": {"status_code": 429, "request_id": "req", "body": error},
        "error": None,
    }


def test_ratings_in_the_replies_of_a_batch(tmp_path: Path) -> None:
    rows = [
        completion("q1", "There are 3 faults. Rating: [[7]]"),
        completion("q2", "Rating: [[9]]"),
        completion("q3", "Rating: [[4]]", model="gpt-4o-mini"),
        completion("q4", "I would rather not."),
    ]
    path = written(tmp_path / "batch_output.jsonl", rows)
    assert [shape.name for shape in shapes_of(path)] == ["openai-batch"]
    judgments = judged(path)
    assert [(j.judge, j.trial.item, j.verdict) for j in judgments] == [
        ("gpt-4o-2024-08-06", "q1", "7"),
        ("gpt-4o-2024-08-06", "q2", "9"),
        ("gpt-4o-mini", "q3", "4"),
        ("gpt-4o-2024-08-06", "q4", None),
    ]
    assert judgments[0].usage.prompt_tokens == 100
    assert judgments[0].reply == "There are 3 faults. Rating: [[7]]"


def test_words_of_the_responses_api_and_requests_that_failed(tmp_path: Path) -> None:
    rows = [response("q1", "correct"), response("q2", "incorrect"), failure("q3")]
    path = tmp_path / "batch.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    judgments = judged(path)
    assert [judgment.verdict for judgment in judgments] == ["correct", "incorrect", None]
    assert judgments[2].outcome == Failed("rate limit")
    assert {judgment.judge for judgment in judgments} == {"o4-mini"}
    assert judgments[0].usage.completion_tokens == 9


def test_fields_of_replies_in_json_and_several_choices(tmp_path: Path) -> None:
    replies = ['{"reason": "fine", "score": 4}', '```json\n{"reason": "so", "score": 2}\n```']
    rows = [completion("q1", *replies), completion("q2", replies[0]), failure("q3")]
    judgments = judged(written(tmp_path / "batch.jsonl", rows))
    assert [(j.trial.item, j.trial.replicate, j.verdict) for j in judgments] == [
        ("q1", 1, "4"),
        ("q1", 2, "2"),
        ("q2", 1, "4"),
        ("q3", 1, None),
    ]


def test_the_option_for_replies_without_a_closed_set_is_named(tmp_path: Path) -> None:
    rows = [completion(f"r{number}", f"Team {number}: {number}\nIt rains.") for number in range(3)]
    path = written(tmp_path / "batch.jsonl", rows)
    with pytest.raises(UsageError) as caught:
        ImportQuestion(ImportOptions(path)).answer()
    assert "the replies state verdicts, name these: --labels" in caught.value.found
    options = ImportOptions(path, labels=("0", "1", "2"))
    answer = ImportQuestion(options, tmp_path / "log.jsonl").answer()
    assert [judgment.verdict for judgment, _ in answer.judgments] == ["0", "1", "2"]
    assert any("holds no prompts" in notice for notice in answer.notices)


def test_steps_in_the_replies_of_a_batch_are_sides(tmp_path: Path) -> None:
    steps = {"A>>B": "A", "A=B": "tie", "B>A": "B"}
    rows = [completion(f"q{n}", f"Verdict: [[{step}]]") for n, step in enumerate(steps)]
    judgments = judged(written(tmp_path / "batch.jsonl", rows))
    assert [judgment.verdict for judgment in judgments] == [*steps.values()]


# --- HealthBench ----------------------------------------------------------------------------------


def graded_answer(prompt_id: str, answer: str, met: Iterable[bool]) -> dict[str, Any]:
    """What simple-evals keeps of one answer."""
    return {
        "score": 0.5,
        "usage": {"input_tokens": 1},
        "rubric_items": [
            {
                "criterion": f"criterion {number}",
                "points": points,
                "tags": ["level:example"],
                "criteria_met": is_met,
                "explanation": "Because.",
            }
            for number, (is_met, points) in enumerate(zip(met, (5, -3, 2), strict=False))
        ],
        "prompt": [{"role": "user", "content": "I have a headache."}],
        "completion": [{"role": "assistant", "content": answer}],
        "prompt_id": prompt_id,
        "completion_id": f"{prompt_id}-{answer}",
    }


def test_every_item_of_a_rubric_is_a_verdict(tmp_path: Path) -> None:
    answers = [
        graded_answer("p1", "Drink water.", [True, False, True]),
        graded_answer("p2", "Rest.", [False, False]),
    ]
    path = tmp_path / "healthbench_allresults.json"
    whole = {
        "score": 0.4,
        "metrics": {"overall_score": 0.4},
        "htmls": ["<p>", "<p>"],
        "convos": [answer["prompt"] + answer["completion"] for answer in answers],
        "metadata": {"example_level_metadata": answers},
    }
    path.write_text(json.dumps(whole))
    assert [shape.name for shape in shapes_of(path)] == ["healthbench"]
    judgments = judged(path)
    assert [(j.trial.item, j.trial.cluster, j.verdict) for j in judgments] == [
        ("p1-1", "p1", "true"),
        ("p1-2", "p1", "false"),
        ("p1-3", "p1", "true"),
        ("p2-1", "p2", "false"),
        ("p2-2", "p2", "false"),
    ]
    assert judgments[0].reply == "Because."
    assert judgments[0].detail is not None
    assert judgments[0].detail["source"]["fields"] == {
        "criterion": "criterion 0",
        "task": "[1] user\n> I have a headache.",
        "output": "Drink water.",
    }


def test_answers_to_one_prompt_are_items_of_one_cluster_and_the_same_answer_a_replicate(
    tmp_path: Path,
) -> None:
    answers = [
        graded_answer("p1", "Rest.", [True]),
        graded_answer("p1", "Sleep.", [False]),
        graded_answer("p1", "Rest.", [False]),
    ]
    for answer in answers:
        del answer["rubric_items"][0]["explanation"]
    judgments = judged(written(tmp_path / "answers.jsonl", answers))
    assert [(j.trial.item, j.trial.replicate, j.verdict) for j in judgments] == [
        ("p1-Rest.-1", 1, "true"),
        ("p1-Sleep.-1", 1, "false"),
        ("p1-Rest.-1", 2, "false"),
    ]
    assert {judgment.trial.cluster for judgment in judgments} == {"p1"}


def test_rubrics_elsewhere_in_a_row_and_an_item_a_row(tmp_path: Path) -> None:
    answers = [
        graded_answer("p1", "Drink water.", [True, False]),
        graded_answer("p2", "Rest.", [False]),
    ]
    inner = [
        {
            "id": f"eval-{number}",
            "user_message": "I have a headache.",
            "evaluation": {"overall": 0.5, "rubric_scores": answer["rubric_items"]},
        }
        for number, answer in enumerate(answers)
    ]
    path = tmp_path / "evaluations.json"
    path.write_text(json.dumps({"total": 2, "evaluations": inner}))
    judgments = judged(path)
    assert [(j.trial.item, j.verdict, j.reply) for j in judgments] == [
        ("eval-0-1", "true", "Because."),
        ("eval-0-2", "false", "Because."),
        ("eval-1-1", "false", "Because."),
    ]
    flat = [
        {"prompt_id": answer["prompt_id"], **item}
        for answer in answers
        for item in answer["rubric_items"]
    ]
    single = judged(written(tmp_path / "flat.jsonl", flat))
    assert [(j.trial.item, j.trial.cluster, j.verdict) for j in single] == [
        ("p1-criterion 0", "p1", "true"),
        ("p1-criterion 1", "p1", "false"),
        ("p2-criterion 0", "p2", "false"),
    ]


PHYSICIANS = [
    ([True, True], ["d1", "d2"]),
    ([False, True], ["d2", "d3"]),
    ([False, False, True], ["d1", "d2", "d3"]),
]


@pytest.fixture
def meta_rows() -> list[dict[str, Any]]:
    """Three answers with the labels of physicians."""
    return [
        {
            "prompt": [{"role": "user", "content": "My knee hurts."}],
            "completion": f"Answer {number}.",
            "rubric": "advises rest",
            "category": "cluster:hedging",
            "binary_labels": labels,
            "anonymized_physician_ids": names,
        }
        for number, (labels, names) in enumerate(PHYSICIANS)
    ]


def test_labels_of_physicians_alone_hold_no_judge(
    tmp_path: Path, meta_rows: list[dict[str, Any]]
) -> None:
    path = written(tmp_path / "oss_meta_eval.jsonl", meta_rows)
    assert [shape.name for shape in shapes_of(path)] == ["healthbench-meta"]
    assert proposed(path).no_judge == "its labels are physicians'"


def test_physicians_stand_beside_a_grader(tmp_path: Path, meta_rows: list[dict[str, Any]]) -> None:
    grades = [True, False, True]
    rows = [{**row, "criteria_met": g} for row, g in zip(meta_rows, grades, strict=True)]
    judgments = judged(written(tmp_path / "graded.jsonl", rows))
    assert [judgment.verdict for judgment in judgments] == ["true", "false", "true"]
    assert [judgment.trial.people for judgment in judgments] == [
        {LABEL: {name: str(label).lower() for name, label in zip(names, labels, strict=True)}}
        for labels, names in PHYSICIANS
    ]
    # Two of three said no of the last; of the second, one said yes and one no.
    assert [judgment.trial.label for judgment in judgments] == ["true", None, "false"]


def test_criteria_in_the_ids_of_a_batch_are_suites(tmp_path: Path) -> None:
    # Two answers by two criteria: what is stated goes by what stands behind the two strokes.
    flags = {"q1__grounding": "Grounded: True", "q1__relevance": "Relevance: False"}
    flags |= {"q2__grounding": "Grounded: True", "q2__relevance": "Relevance: True"}
    lines = [response(name, f"It is so.\n\n{flag}") for name, flag in flags.items()]
    path = tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = OPENAI_BATCH.rows(read_rows(path))
    said = {(row.value["judged"], row.value["criterion"]) for row in table}
    assert said == {(item, name) for item in ("q1", "q2") for name in ("grounding", "relevance")}
    settings = {shown.setting.value for shown in OPENAI_BATCH.proposes(table).taken}
    assert {("item", "judged"), ("suite", "criterion")} <= settings
