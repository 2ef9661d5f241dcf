"""What recordings are asked from Python: the values, beside the words of the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense.questions.recordings.batch import BatchExportQuestion, BatchImportQuestion
from pytest_judgesense.questions.recordings.joining import JoinQuestion
from pytest_judgesense.questions.recordings.secrets import SecretsQuestion
from tests.commands.recordings import JUDGE, SUITE, recorded_live

HIDDEN = "hQ5rVb81nXcW0yTd"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_secrets_are_named_without_their_values() -> None:
    Path("tape.yaml").write_text(f"interactions:\n- body: {HIDDEN}\n")
    answer = SecretsQuestion((Path("tape.yaml"),), {"OLD_KEY": HIDDEN}).answer()
    assert answer.worse
    (secret,) = answer.to_dict()["secrets"]
    assert "OLD_KEY" in secret["kind"]
    assert HIDDEN not in json.dumps(answer.to_dict()) + str(answer)


def test_clean_recordings_are_not_worse() -> None:
    Path("tape.yaml").write_text("interactions: []\n")
    answer = SecretsQuestion((Path("tape.yaml"),), {"OLD_KEY": HIDDEN}).answer()
    assert not answer.worse
    assert answer.to_dict()["secrets"] == []


def test_joining_says_what_each_file_was_joined_of(tmp_path: Path) -> None:
    recorded = recorded_live(tmp_path)
    for folder in ("one", "two"):
        Path(folder).mkdir()
        Path(folder, "part.jsonl").write_bytes(recorded.read_bytes())
    answer = JoinQuestion((Path("one"), Path("two")), Path("all")).answer()
    assert answer.to_dict() == {"joined": {"all/part.jsonl": 2}}
    assert Path("all/part.jsonl").read_bytes() == recorded.read_bytes()
    assert str(answer) == "2 files joined: all/part.jsonl"


def test_an_export_writes_nothing_by_itself_and_counts_what_is_missing() -> None:
    answer = BatchExportQuestion(SUITE, Path("requests.jsonl"), JUDGE).answer()
    told = answer.to_dict()
    assert (told["trials"], told["missing"], len(told["requests"])) == (125, 125, 125)
    assert not Path("requests.jsonl").exists()


def test_an_import_counts_what_it_left_out() -> None:
    lost = {"custom_id": "coherence/coh-03/t1/ab/r1#0", "response": None, "error": None}
    asked = BatchExportQuestion(SUITE, Path("r.jsonl"), JUDGE).answer().to_dict()["requests"]
    expired = {**lost, "custom_id": asked[0]["custom_id"], "error": {"message": "expired"}}
    Path("results.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in (lost, expired)))
    answer = BatchImportQuestion(SUITE, (Path("results.jsonl"),), JUDGE).answer()
    told = answer.to_dict()
    assert (told["trials"], told["recorded"]) == (125, 0)
    assert sorted(len(texts) for texts in told["left_out"].values()) == [1, 1]
