"""Tables of Ragas and DeepEval, scores of Langfuse, MLflow and Phoenix; the texts are invented."""

from __future__ import annotations

import csv
import io
import json
import lzma
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pytest_judgesense.files.tables import read_rows
from pytest_judgesense.trial import LABEL, Failed, Judgment
from tests.files.shapes.reading import imported, judged, proposed, shapes_of, written


def as_csv(path: Path, rows: list[dict[str, Any]], *, index: bool = False) -> Path:
    """A file as pandas writes rows, with lists as Python writes them."""
    pd.DataFrame(rows).to_csv(path, index=index)
    return path


def by_suite(judgments: list[Judgment]) -> dict[str, list[str | None]]:
    """The verdicts of each suite, in their order."""
    verdicts: dict[str, list[str | None]] = {}
    for judgment in judgments:
        verdicts.setdefault(judgment.trial.suite, []).append(judgment.verdict)
    return verdicts


# --- Ragas and DeepEval ---------------------------------------------------------------------------

FAITHFUL = [1.0, 0.5, None, 0.25]
RELEVANT = [0.91, 0.82, 0.73, 0.64]


def samples(**metrics: list[Any]) -> list[dict[str, Any]]:
    """Four samples as Ragas has them since 0.2, with scores behind them."""
    return [
        {
            "user_input": f"Question {number}?",
            "retrieved_contexts": ["One passage.", "Another."],
            "response": f"Answer {number}.",
            "reference": "The reference.",
            **{name: scores[number] for name, scores in metrics.items()},
        }
        for number in range(4)
    ]


def test_every_metric_of_ragas_is_a_suite_and_a_missing_score_states_nothing(
    tmp_path: Path,
) -> None:
    rows = samples(faithfulness=FAITHFUL, answer_relevancy=RELEVANT, bleu_score=[0.1] * 4)
    path = as_csv(tmp_path / "ragas.csv", rows, index=True)
    assert [shape.name for shape in shapes_of(path)] == ["ragas"]
    read = imported(path)
    judgments = [judgment for judgment, _ in read.judgments]
    assert by_suite(judgments) == {
        "faithfulness": ["1", "0.5", None, "0.25"],
        "answer_relevancy": [str(score) for score in RELEVANT],
    }
    assert any("bleu_score" in note and "no judge" in note for note in table_notes(path))
    assert judgments[0].detail is not None
    assert judgments[0].detail["source"]["fields"] == {
        "task": "Question 0?",
        "output": "Answer 0.",
        "reference": "The reference.",
    }
    # An item is known by its texts: in another file, in another order, it has the same name.
    again = written(tmp_path / "again.jsonl", rows[::-1])
    assert {j.trial.item for j in judged(again)} == {j.trial.item for j in judgments}
    assert len({j.trial.item for j in judgments}) == 4


def table_notes(path: Path) -> tuple[str, ...]:
    """What the shape of a file says of its rows."""
    (shape,) = shapes_of(path)
    return shape.rows(read_rows(path)).notes


def test_ragas_of_old_columns_is_known_by_its_metrics(tmp_path: Path) -> None:
    renamed = {"user_input": "question", "response": "answer", "reference": "ground_truth"}
    rows = [
        {renamed.get(name, name): cell for name, cell in row.items() if "contexts" not in name}
        for row in samples(context_precision=FAITHFUL)
    ]
    path = tmp_path / "old.json"
    # As pandas writes a table by default: an object of columns, each an object by the row's number.
    path.write_text(pd.DataFrame(rows).to_json())
    assert [shape.name for shape in shapes_of(path)] == ["ragas"]
    assert by_suite(judged(path)) == {"context_precision": ["1", "0.5", None, "0.25"]}
    others = [{"question": "Q?", "answer": "A.", "confidence": 0.5}]
    assert shapes_of(written(tmp_path / "other.jsonl", others)) == []


def test_a_metric_without_any_score_and_columns_of_no_metric_are_told(tmp_path: Path) -> None:
    nan = float("nan")
    rows = [
        {"label": "an easy one", "mode": "offline", **row, "latency_s": 2.5, "human_score": 1}
        for row in samples(faithfulness=[nan] * 4, context_recall=[nan, 0.5, 1.0, 0.25])
    ]
    path = written(tmp_path / "ragas.jsonl", rows)
    assert by_suite(judged(path)) == {"context_recall": [None, "0.5", "1", "0.25"]}
    notes = " ".join(table_notes(path))
    assert "no row has a score of faithfulness" in notes
    assert "about no single metric are left out: label, mode, " in notes


def test_metrics_that_code_computes_hold_no_judge(tmp_path: Path) -> None:
    path = written(tmp_path / "ragas.jsonl", samples(exact_match=[1, 0, 1, 1]))
    assert proposed(path).no_judge == "code computed its metrics"


def test_a_table_of_deepeval_s_test_cases(tmp_path: Path) -> None:
    rows = [
        {
            "input": f"Question {number}?",
            "actual_output": "The same answer.",
            "expected_output": "",
            "Answer Relevancy": RELEVANT[number],
            "Correctness (GEval)": FAITHFUL[number],
            "latency_ms": 12.5,
            "attempts": number,
        }
        for number in range(4)
    ]
    path = as_csv(tmp_path / "deepeval.csv", rows)
    assert [shape.name for shape in shapes_of(path)] == ["deepeval-table"]
    assert by_suite(judged(path)) == {
        "Answer Relevancy": [str(score) for score in RELEVANT],
        "Correctness (GEval)": ["1", "0.5", None, "0.25"],
    }


def metric(name: str, *, success: bool | None, **more: Any) -> dict[str, Any]:
    """A metric of a test result."""
    return {
        "name": name,
        "threshold": 0.5,
        "success": success,
        "score": None if success is None else float(success),
        "reason": "Because.",
        "strict_mode": False,
        "evaluation_model": "gpt-4.1",
        "error": None,
        **more,
    }


def test_test_results_of_deepeval_pass_or_fail_by_metric_and_model(tmp_path: Path) -> None:
    exact = metric("Exact Match", success=True, evaluation_model=None)
    results = [
        {
            "name": f"test_case_{number}",
            "success": True,
            "metrics_data": metrics,
            "conversational": False,
            "input": "Question?",
            "actual_output": f"Answer {number}.",
        }
        for number, metrics in enumerate(
            [
                [metric("Faithfulness", success=True), exact],
                [metric("Faithfulness", success=False, evaluation_model="gpt-4o-mini")],
                [metric("Faithfulness", success=None, error="timed out")],
                None,
            ]
        )
    ]
    path = tmp_path / "results.json"
    whole = {"test_results": results, "confident_link": None, "test_run_id": None}
    path.write_text(json.dumps(whole))
    assert [shape.name for shape in shapes_of(path)] == ["deepeval-results"]
    judgments = judged(path)
    assert [(j.judge, j.trial.item, j.verdict) for j in judgments] == [
        ("gpt-4.1", "test_case_0", "pass"),
        ("gpt-4o-mini", "test_case_1", "fail"),
        ("gpt-4.1", "test_case_2", None),
    ]
    assert judgments[2].outcome == Failed("timed out")
    assert {judgment.trial.suite for judgment in judgments} == {"Faithfulness"}


def test_metrics_without_a_model_are_of_a_judge_that_the_file_names(tmp_path: Path) -> None:
    def results(**model: str | None) -> list[dict[str, Any]]:
        data = {k: v for k, v in metric("Bias", success=True).items() if k != "evaluation_model"}
        return [{"name": "case", "success": True, "metrics_data": [{**data, **model}]}]

    unnamed = judged(written(tmp_path / "unnamed.jsonl", results(evaluation_model=None)))
    assert [(judgment.judge, judgment.verdict) for judgment in unnamed] == [("unnamed", "pass")]
    by_alias = judged(written(tmp_path / "alias.jsonl", results(evaluationModel="gpt-4.1")))
    assert [judgment.judge for judgment in by_alias] == ["gpt-4.1"]


# --- Langfuse -------------------------------------------------------------------------------------


def score(trace: str, name: str, value: Any, source: str = "EVAL", **more: Any) -> dict[str, Any]:
    """A score as Langfuse's pages export it."""
    is_number = isinstance(value, int | float)
    return {
        "id": f"{trace}-{name}-{source}-{more.get('authorUserName')}",
        "traceId": trace,
        "sessionId": None,
        "datasetRunId": None,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "source": source,
        "name": name,
        "dataType": "NUMERIC" if is_number else "CATEGORICAL",
        "value": value if is_number else 0,
        "stringValue": None if is_number else value,
        "comment": "Because.",
        "metadata": {},
        "observationId": None,
        "traceName": "chat",
        "authorUserName": None,
        **more,
    }


SCORES = [
    score("t1", "helpfulness", 0.9),
    score("t1", "helpfulness", 0.5, "ANNOTATION", authorUserName="anna"),
    score("t1", "helpfulness", 0.7, "ANNOTATION", authorUserName="ben"),
    score("t2", "helpfulness", 0.2),
    score("t3", "helpfulness", 0.4),
    score("t1", "tone", "polite"),
    score("t1", "tone", "rude", "ANNOTATION", authorUserName="anna"),
    score("t2", "tone", "rude", "API"),
    score("t9", "tone", "rude", "ANNOTATION", authorUserName="anna"),
    score("t1", "note", "a long remark", dataType="TEXT"),
    {**score("t2", "grounded", "True", dataType="BOOLEAN"), "value": 1},
]


def test_annotations_of_langfuse_stand_beside_its_evaluators(tmp_path: Path) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, SCORES[0], quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows([{k: "" if v is None else v for k, v in row.items()} for row in SCORES])
    path = tmp_path / "scores.csv.xz"
    path.write_bytes(lzma.compress(text.getvalue().encode()))
    assert [shape.name for shape in shapes_of(path)] == ["langfuse-scores"]
    judgments = judged(path)
    assert by_suite(judgments) == {
        "helpfulness": ["0.9", "0.2", "0.4"],
        "tone": ["polite", "rude"],
        "grounded": ["True"],
    }
    assert Counter(judgment.judge for judgment in judgments) == {"EVAL": 5, "API": 1}
    assert [judgment.trial.people for judgment in judgments[:2]] == [
        {LABEL: {"anna": "0.5", "ben": "0.7"}},
        {},
    ]
    assert judgments[3].trial.people == {LABEL: {"anna": "rude"}}
    assert judgments[0].reply == "Because."


def test_scores_of_a_bucket_and_annotations_alone(tmp_path: Path) -> None:
    names = {"traceId": "trace_id", "stringValue": "string_value", "dataType": "data_type"}
    rows = [{names.get(k, k): v for k, v in row.items() if k != "authorUserName"} for row in SCORES]
    assert by_suite(judged(written(tmp_path / "bucket.jsonl", rows))) == {
        "helpfulness": ["0.9", "0.2", "0.4"],
        "tone": ["polite", "rude"],
        "grounded": ["True"],
    }
    of_people = [row for row in SCORES if row["source"] == "ANNOTATION"]
    path = written(tmp_path / "people.jsonl", of_people)
    assert proposed(path).no_judge == "its scores are annotations of people"


def test_scores_in_lists_of_traces_and_of_the_newest_interface(tmp_path: Path) -> None:
    traces_with_scores = [
        {
            "id": f"t{number}",
            "name": "chat",
            "input": {"question": "Q?"},
            "output": "Answer.",
            "scores": [
                {k: v for k, v in row.items() if k != "traceId"}
                for row in SCORES
                if row["traceId"] == f"t{number}"
            ],
        }
        for number in (1, 2, 3)
    ]
    path = tmp_path / "traces.json"
    path.write_text(json.dumps({"data": traces_with_scores, "meta": {"page": 1}}))
    judgments = judged(path)
    assert by_suite(judgments) == {
        "helpfulness": ["0.9", "0.2", "0.4"],
        "tone": ["polite", "rude"],
        "grounded": ["True"],
    }
    assert judgments[0].trial.people == {LABEL: {"anna": "0.5", "ben": "0.7"}}
    assert judgments[0].detail is not None
    assert judgments[0].detail["source"]["fields"] == {
        "task": '{"question": "Q?"}',
        "output": "Answer.",
    }
    subjects = [
        {
            **{k: v for k, v in score("t1", "tone", word).items() if k[-2:] != "Id"},
            "subject": {"kind": "observation", "id": "o1", "traceId": "t1"},
        }
        for word in ("kind",)
    ]
    newest = judged(written(tmp_path / "v3.jsonl", subjects))
    assert [(j.trial.item, j.trial.cluster, j.verdict) for j in newest] == [("t1-o1", "t1", "kind")]


# --- MLflow ---------------------------------------------------------------------------------------


def assessment(
    name: str, value: Any, source: tuple[str, str] = ("LLM_JUDGE", "gpt-4o-mini"), **more: Any
) -> dict[str, Any]:
    """An assessment as a trace holds it."""
    return {
        "assessment_id": f"a-{name}",
        "assessment_name": name,
        "trace_id": "tr",
        "source": {"source_type": source[0], "source_id": source[1]},
        "create_time": "2026-01-01T00:00:00Z",
        "last_update_time": "2026-01-01T00:00:00Z",
        "feedback": {"value": value},
        "rationale": "Because.",
        **more,
    }


def traces() -> list[dict[str, Any]]:
    """Three traces, as ``search_traces`` gives them."""
    human = ("HUMAN", "anna@example.com")
    error = {"error": {"error_code": "RATE", "error_message": "rate limit"}}
    expectation = {"expectation": {"value": "yes"}}
    expected = assessment("correct", None, human, **expectation)
    del expected["feedback"]
    listed = [
        [
            assessment("correct", "yes"),
            assessment("correct", "no", ("LLM_JUDGE", "claude")),
            assessment("correct", "no", human),
            assessment("length", 12, ("CODE", "len")),
        ],
        [
            assessment("correct", "no", valid=False),
            assessment("correct", "yes", overrides="a-correct"),
            expected,
            assessment("safe", value=True),
        ],
        [assessment("correct", None, feedback=error)],
    ]
    return [
        {
            "trace_id": f"tr-{number}",
            "state": "OK",
            "request": {"question": f"Q{number}?"},
            "response": f"Answer {number}.",
            "assessments": of_trace,
        }
        for number, of_trace in enumerate(listed)
    ]


def check_assessments(path: Path) -> None:
    assert [shape.name for shape in shapes_of(path)] == ["mlflow-traces"]
    judgments = judged(path)
    assert [(j.trial.suite, j.judge, j.trial.item, j.verdict) for j in judgments] == [
        ("correct", "gpt-4o-mini", "tr-0", "yes"),
        ("correct", "claude", "tr-0", "no"),
        ("correct", "gpt-4o-mini", "tr-1", "yes"),
        ("correct", "gpt-4o-mini", "tr-2", None),
        ("safe", "gpt-4o-mini", "tr-1", "true"),
    ]
    assert [judgment.trial.label for judgment in judgments] == ["no", "no", "yes", None, None]
    assert judgments[0].trial.people == {LABEL: {"anna@example.com": "no"}}
    assert judgments[3].outcome == Failed("rate limit")
    assert judgments[0].detail is not None
    assert judgments[0].detail["source"]["fields"] == {
        "task": '{"question": "Q0?"}',
        "output": "Answer 0.",
    }


def test_assessments_of_mlflow_are_of_judges_people_and_code(tmp_path: Path) -> None:
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(traces()))
    check_assessments(path)
    parquet = tmp_path / "traces.parquet"
    cells = [{**row, "assessments": json.dumps(row["assessments"])} for row in traces()]
    pd.DataFrame(cells).to_parquet(parquet)
    check_assessments(parquet)


def test_traces_of_mlflow_as_json_keep_assessments_below_info(tmp_path: Path) -> None:
    rows = [
        {
            "info": {
                "trace_id": row["trace_id"],
                "request_preview": json.dumps(row["request"]),
                "response_preview": row["response"],
                "assessments": row["assessments"],
            },
            "data": {"spans": []},
        }
        for row in traces()
    ]
    check_assessments(written(tmp_path / "traces.jsonl", rows))


def test_the_table_of_an_evaluation_as_csv_has_a_column_a_score(tmp_path: Path) -> None:
    rows = [
        {
            **row,
            "correct/value": value,
            "safe/value": safe,
            "expected_response/value": "An answer with several words.",
            "correct/rationale": "Because.",
            "safe/rationale": "Because.",
        }
        for row, value, safe in zip(traces(), ["yes", "no", None], [True, False, True], strict=True)
    ]
    path = as_csv(tmp_path / "result.csv", rows)
    assert [shape.name for shape in shapes_of(path)] == ["mlflow-traces"]
    judgments = judged(path)
    assert by_suite(judgments) == {"correct": ["yes", "no"], "safe": ["True", "False", "True"]}
    assert [judgment.trial.item for judgment in judgments] == [
        "tr-0",
        "tr-1",
        "tr-0",
        "tr-1",
        "tr-2",
    ]
    assert judgments[0].reply == "Because."


def test_feedback_of_people_alone_holds_no_judge(tmp_path: Path) -> None:
    row = {**traces()[0], "assessments": [assessment("correct", "no", ("HUMAN", "anna"))]}
    path = written(tmp_path / "human.jsonl", [row])
    assert proposed(path).no_judge == "no assessment is of an LLM judge"


# --- Phoenix --------------------------------------------------------------------------------------


def annotation(span: str, name: str, kind: str = "LLM", **result: Any) -> dict[str, Any]:
    """An annotation as Phoenix's interface gives it."""
    return {
        "id": f"{span}{name}{kind}",
        "span_id": span,
        "name": name,
        "annotator_kind": kind,
        "result": result,
        "metadata": {},
        "identifier": "",
        "source": "API",
        "user_id": "VXNlcjox" if kind == "HUMAN" else None,
    }


PARTS = ("label", "score", "explanation")
ANNOTATIONS = [
    annotation("s1", "hallucination", label="factual", score=1, explanation="It holds."),
    annotation("s2", "hallucination", label="hallucinated", score=0, explanation="It does not."),
    annotation("s2", "hallucination", "HUMAN", label="factual", score=1),
    annotation("s1", "relevance", score=0.75, label=None),
    annotation("s2", "relevance", score=0.5),
    annotation("s3", "relevance", score=0.1),
    annotation("s1", "words", "CODE", score=12),
]


def check_annotations(path: Path) -> None:
    assert [shape.name for shape in shapes_of(path)] == ["phoenix-annotations"]
    judgments = judged(path)
    assert by_suite(judgments) == {
        "hallucination": ["factual", "hallucinated"],
        "relevance": ["0.75", "0.5", "0.1"],
    }
    assert [judgment.trial.label for judgment in judgments] == [None, "factual", None, None, None]
    assert judgments[0].reply == "It holds."


def test_annotations_of_phoenix_in_its_three_layouts(tmp_path: Path) -> None:
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps({"data": ANNOTATIONS, "next_cursor": None}))
    check_annotations(path)
    # As its client flattens them.
    flat = [
        {
            **{k: v for k, v in row.items() if k not in ("result", "name")},
            "annotation_name": row["name"],
            **{f"result.{part}": row["result"].get(part) for part in PARTS},
        }
        for row in ANNOTATIONS
    ]
    check_annotations(as_csv(tmp_path / "annotations.csv", flat))
    # And as its evals prepare them.
    own = [
        {
            "span_id": row["span_id"],
            "annotation_name": row["name"],
            "annotator_kind": row["annotator_kind"],
            **{part: row["result"].get(part) for part in PARTS},
        }
        for row in ANNOTATIONS
    ]
    check_annotations(written(tmp_path / "prepared.jsonl", own))


def test_identifiers_of_annotations_are_judges(tmp_path: Path) -> None:
    rows = [
        {**annotation("s1", "tone", label="kind"), "identifier": "gpt-4o"},
        {**annotation("s1", "tone", label="rude"), "identifier": "claude"},
    ]
    judgments = judged(written(tmp_path / "two.jsonl", rows))
    assert [(j.judge, j.verdict) for j in judgments] == [("gpt-4o", "kind"), ("claude", "rude")]


def test_labels_of_llm_classify(tmp_path: Path) -> None:
    rows = [
        {
            "label": label,
            "explanation": "Because.",
            "exceptions": exceptions,
            "execution_status": status,
            "execution_seconds": 0.5,
        }
        for label, exceptions, status in [
            ("relevant", [], "COMPLETED"),
            ("NOT_PARSABLE", [], "COMPLETED"),
            (None, ["TimeoutError('slow')"], "FAILED"),
            ("unrelated", ["RateLimit()"], "COMPLETED WITH RETRIES"),
        ]
    ]
    path = as_csv(tmp_path / "relevance.csv", rows, index=True)
    assert [shape.name for shape in shapes_of(path)] == ["phoenix-classify"]
    judgments = judged(path)
    assert [(j.trial.item, j.verdict) for j in judgments] == [
        ("0", "relevant"),
        ("1", None),
        ("2", None),
        ("3", "unrelated"),
    ]
    assert isinstance(judgments[2].outcome, Failed)
    spans = [{"context.span_id": f"s{n}", **row} for n, row in enumerate(rows)]
    named = judged(written(tmp_path / "spans.jsonl", spans))
    assert [judgment.trial.item for judgment in named] == ["s0", "s1", "s2", "s3"]
    assert named[2].outcome == Failed("TimeoutError('slow')")


@pytest.mark.parametrize("as_text", [True, False])
def test_a_table_that_phoenix_s_evals_filled(tmp_path: Path, as_text: bool) -> None:
    def cell(**part: Any) -> Any:
        return json.dumps(part) if as_text else part

    rows = [
        {
            "input": f"Question {number}?",
            "output": "Answer.",
            "correctness_execution_details": cell(status="COMPLETED"),
            "correctness_score": cell(
                name="correctness", score=number, label=label, explanation="So.", kind="llm"
            ),
            "words_score": cell(name="words", score=3, kind="code"),
        }
        for number, label in enumerate(["incorrect", "correct"])
    ]
    path = written(tmp_path / "evaluated.jsonl", rows)
    assert [shape.name for shape in shapes_of(path)] == ["phoenix-evaluations"]
    judgments = judged(path)
    assert by_suite(judgments) == {"correctness": ["incorrect", "correct"]}
    assert judgments[0].reply == "So."
    assert judgments[0].detail is not None
    assert judgments[0].detail["source"]["fields"]["task"] == "Question 0?"


def test_spans_with_evaluations_and_without(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"context.span_id": f"s{number}", "name": "llm", "attributes.input.value": f"Q{number}?"}
        for number in range(3)
    ]
    rows[0] |= {"eval.Hallucination.label": "factual", "eval.Hallucination.score": 1}
    rows[1] |= {"eval.Hallucination.label": "hallucinated", "eval.Hallucination.score": 0}
    rows[1] |= {"eval.Relevance.score": 0.5, "eval.Relevance.explanation": "Half of it."}
    path = as_csv(tmp_path / "spans.csv", rows)
    assert [shape.name for shape in shapes_of(path)] == ["phoenix-evaluations"]
    judgments = judged(path)
    # The third span was not evaluated, and is no judgment without a verdict.
    assert by_suite(judgments) == {
        "Hallucination": ["factual", "hallucinated"],
        "Relevance": ["0.5"],
    }
    assert [judgment.trial.item for judgment in judgments] == ["s0", "s1", "s1"]
    assert judgments[2].reply == "Half of it."
    assert judgments[2].detail is not None
    assert judgments[2].detail["source"]["fields"] == {"task": "Q1?"}
