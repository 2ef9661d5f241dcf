"""``judgesense label``: asked at a real endpoint, recorded, replayed, written, loaded again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.suites.loading import _load
from tests.judges.endpoint import Endpoint, endpoint, says
from tests.suites.files import GRADED, GRID, write_suite
from tests.suites.known import load_suite

# The first has its label; the oracle is to give the others'.
ROWS: list[dict[str, Any]] = [
    GRADED[0],
    {**GRADED[1], "label": None},
    {"id": "g3", "task": "4 + 4?", "reference": "Eight.", "texts": ["It is 8.", "8 it is."]},
    {"id": "g4", "task": "Five?", "reference": "Five.", "texts": ["I say 5.", "You say 5."],
     "gold": "judge:oracle"},
]  # fmt: skip


def _oracle(body: dict[str, Any]) -> str:
    """Right about 3 + 3, a tie about 4 + 4, and whatever stands first about the last."""
    prompt = body["messages"][-1]["content"]
    if "3 + 3" in prompt:
        return "A" if prompt.index("That is 6") < prompt.index("That is 7") else "B"
    return "C" if "4 + 4" in prompt else "A"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.chdir(tmp_path)
    _load.cache_clear()
    write_suite(tmp_path, GRID, ROWS)
    with endpoint(says(_oracle)) as served:
        Path("pyproject.toml").write_text(
            '[tool.judgesense.judges.oracle]\nprovider = "openai"\nmodel = "m"\n'
            f'base_url = "{served.url}"\n'
        )
        yield served


def _label(*more: str) -> int:
    return main(["label", "tiny.suite.toml", "--judge-name", "oracle", "-o", "new.jsonl", *more])


def test_labels_are_given_by_majority_and_marked(
    server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _label("--judge-mode", "record") == 0
    assert capsys.readouterr().out == (
        "judge oracle labelled 2 of 3 items (2: 1, tie: 1): new.jsonl\n"
        "  g4: no majority (2 1, 2 2); write its label by hand, or leave it out\n"
    )
    lines = [json.loads(line) for line in Path("new.jsonl").read_text().splitlines()]
    assert [(line["id"], line.get("label"), line.get("gold")) for line in lines] == [
        ("g1", "1", None),
        ("g2", "2", "judge:oracle"),
        ("g3", "tie", "judge:oracle"),
        ("g4", None, "judge:oracle"),
    ]
    assert lines[0] == ROWS[0]
    # 3 items, both orders, 2 replicates: the template with the reference, at the coldest.
    assert len(server.asked) == 12
    assert {asked.body["temperature"] for asked in server.asked} == {0.01}
    assert all("(Six.)" in str(a.body) for a in server.asked if "3 + 3" in str(a.body))
    assert Path("cassettes/oracle/labels-grid.jsonl").exists()


def test_a_recording_answers_without_anybody_being_asked(
    server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _label() == 3
    error = capsys.readouterr().err
    assert "12 of 12 trials are not recorded" in error
    assert "judgesense label" in error
    _label("--judge-mode", "record")
    first = Path("new.jsonl").read_bytes()
    server.asked.clear()
    assert _label() == 0
    assert server.asked == []
    assert Path("new.jsonl").read_bytes() == first


def test_the_labels_are_marked_wherever_they_are_used(
    server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    _label("--judge-mode", "record")
    lines = Path("new.jsonl").read_text().splitlines()[:3]
    Path("items.jsonl").write_text("\n".join(lines))
    _load.cache_clear()
    suite = load_suite(Path("tiny.suite.toml"))
    assert [item.condition["gold"] for item in suite.items] == [
        "human",
        "judge:oracle",
        "judge:oracle",
    ]
    capsys.readouterr()
    assert main(["lint", "tiny.suite.toml"]) == 0
    assert "2 of 3 by judge:oracle" in capsys.readouterr().out
    # All labelled: there is nothing to give any more.
    assert _label("--judge-mode", "record") == 2
    assert "3 items, each with its label" in capsys.readouterr().err


def test_other_suites_have_no_labels_to_be_given(
    server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["label", "coherence", "--judge-name", "oracle", "-o", "new.jsonl"]
    assert main(arguments) == 2
    assert "kind 'paraphrase'" in capsys.readouterr().err


def test_grading_one_by_one_gives_no_label(
    server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    head, _, rest = GRID.partition("[[templates]]")
    grade = next(part for part in rest.split("[[templates]]") if 'id = "grade"' in part)
    write_suite(Path(), f"{head}[[templates]]{grade}", ROWS)
    _load.cache_clear()
    assert _label() == 2
    assert "single-answer grading alone" in capsys.readouterr().err
