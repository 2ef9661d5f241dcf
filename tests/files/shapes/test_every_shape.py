"""What holds for every shape: one matches its files and no other, and no cell breaks a reader."""

from __future__ import annotations

import copy
import csv
import gzip
import io
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import JudgesenseError
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.shapes import SHAPES
from pytest_judgesense.files.tables import CSV, JSON_LINES, RowTable, read_rows
from tests.files.shapes import test_benchmarks, test_fastchat, test_openai, test_tools
from tests.files.shapes.reading import counts, judged, shapes_of, written

Rows = list[dict[str, Any]]

FAITHFUL, RELEVANT = test_tools.FAITHFUL, test_tools.RELEVANT
SAMPLES: dict[str, Rows] = {
    "mt-bench-pair": test_fastchat.pair_rows(),
    "mt-bench-single": test_fastchat.single_rows([7, 8.5, -1]),
    "alpaca-eval": test_benchmarks.annotations([1, 2, 1.5, None, 2]),
    "arena-hard": test_benchmarks.new_games("gpt-4.1", [*test_benchmarks.STEPS]),
    "chatbot-arena": [
        test_fastchat.vote("gpt4_pair", "model_a"),
        test_fastchat.vote("expert_1", "tie"),
    ],
    "openai-evals": test_openai.run("r1", test_openai.CHOICES),
    "openai-batch": [
        test_openai.completion("q1", "correct"),
        test_openai.response("q2", "incorrect"),
        test_openai.failure("q3"),
    ],
    "healthbench": [test_openai.graded_answer("p1", "Rest.", [True, False])],
    "healthbench-meta": [
        {
            "prompt": [{"role": "user", "content": "My knee hurts."}],
            "completion": "Rest.",
            "rubric": "advises rest",
            "binary_labels": [True, False],
            "anonymized_physician_ids": ["d1", "d2"],
            "criteria_met": True,
        }
    ],
    "ragas": test_tools.samples(faithfulness=FAITHFUL, answer_relevancy=RELEVANT),
    "deepeval-results": [
        {
            "name": "test_case_0",
            "success": True,
            "metrics_data": [test_tools.metric("Faithfulness", success=True)],
            "input": "Question?",
            "actual_output": "Answer.",
        }
    ],
    "deepeval-table": [
        {"input": "Question?", "actual_output": "Answer.", "Faithfulness": 0.5},
        {"input": "Another?", "actual_output": "Answer.", "Faithfulness": 1},
    ],
    "langfuse-scores": test_tools.SCORES,
    "mlflow-traces": test_tools.traces(),
    "phoenix-annotations": test_tools.ANNOTATIONS,
    "phoenix-classify": [
        {"label": "relevant", "execution_status": "COMPLETED", "execution_seconds": 0.5, "id": "s1"}
    ],
    "phoenix-evaluations": [
        {"context.span_id": "s1", "eval.Q.label": "good", "eval.Q.score": 1, "input": "Question?"}
    ],
}
# What a cell may hold that no tool writes there.
HOSTILE: list[Any] = [
    None, "", "  ", [], {}, [[]], [None], ["x"], {"a": []}, {"score": {"x": 1}}, True, 10**400,
    1e308, -1, "[", "{}", "null", "\ud800", "A" * 2000,
]  # fmt: skip


def test_every_shape_has_a_sample_and_states_its_sources() -> None:
    assert [*SAMPLES] == [shape.name for shape in SHAPES]
    assert all(shape.sources and shape.title for shape in SHAPES)


@pytest.mark.parametrize("name", SAMPLES)
def test_one_shape_matches_a_file_also_with_more_columns_packed_and_as_an_array(
    name: str, tmp_path: Path
) -> None:
    rows = [{"added": f"more {number}", **row} for number, row in enumerate(SAMPLES[name])]
    lines = written(tmp_path / "rows.jsonl", rows)
    array = tmp_path / "rows.json.gz"
    array.write_bytes(gzip.compress(json.dumps(rows).encode()))
    assert [shape.name for shape in shapes_of(lines)] == [name]
    assert [shape.name for shape in shapes_of(array)] == [name]
    read = judged(lines)
    assert read
    assert {judgment.verdict for judgment in read} != {None}
    names = {judgment.judge for judgment in read}
    if names != {"rows.rows"}:  # the default judge is called by the file
        assert counts(judged(array)) == counts(read)


def replaced(value: Any, depth: int = 3) -> Iterator[Any]:
    """Copies of a value, in each of which one part is hostile."""
    yield from HOSTILE
    if depth and isinstance(value, dict | list):
        for key in [*value] if isinstance(value, dict) else range(min(len(value), 2)):
            for part in replaced(value[key], depth - 1):
                whole = copy.copy(value)
                whole[key] = part
                yield whole


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_no_cell_breaks_a_reader(shape: Any) -> None:
    rows = SAMPLES[shape.name]
    for number, name in [(n, name) for n, row in enumerate(rows[:4]) for name in row]:
        for cell in replaced(rows[number][name]):
            changed = [{**row, name: cell} if n == number else row for n, row in enumerate(rows)]
            columns = dict.fromkeys(key for row in changed for key in row)
            listed = tuple(Row(f"t:{n}", row, n) for n, row in enumerate(changed, start=1))
            table = RowTable(listed, tuple(columns), JSON_LINES)
            with suppress(JudgesenseError):
                if shape.matches(table):
                    shape.proposes(shape.rows(table))


@pytest.mark.parametrize("name", ["langfuse-scores", "ragas", "alpaca-eval", "mt-bench-single"])
def test_tables_of_texts_are_read_as_those_of_values(name: str, tmp_path: Path) -> None:
    rows = SAMPLES[name]
    text = io.StringIO()
    writer = csv.DictWriter(text, dict.fromkeys(key for row in rows for key in row))
    writer.writeheader()
    writer.writerows(
        [{key: "" if cell is None else cell for key, cell in row.items()} for row in rows]
    )
    path = tmp_path / "rows.csv"
    path.write_text(text.getvalue())
    assert read_rows(path).form == CSV
    assert counts(judged(path)) == counts(judged(written(tmp_path / "rows.jsonl", rows)))


def test_anybody_s_tables_have_no_shape(tmp_path: Path) -> None:
    for row in (
        {"id": "q1", "verdict": "A", "label": "B", "judge": "mine"},
        {"question": "Q?", "answer": "A.", "score": 4, "model": "mine"},
        {"question_id": 1, "model": "mine", "score": 4},
        {"instruction": "Do.", "output_1": "a", "output_2": "b", "winner": "a"},
        {"input": "Q?", "output": "A.", "label": "good", "explanation": "So."},
        {"name": "x", "value": 1, "source": "survey"},
        {"user_input": "Q?", "response": "A.", "judge_score": 4, "human_score": 3},
    ):
        assert shapes_of(written(tmp_path / "t.jsonl", [row])) == []
