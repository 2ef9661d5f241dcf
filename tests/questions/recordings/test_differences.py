"""What changed in recordings, as a reviewer reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.storage import rewrite
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.recordings.differences import MOST_LINES, DiffQuestion
from tests.commands.within import judgesense
from tests.repository import commit, repository


def exchange(item: str, answer: str, *, order: str = "ab", text: str = "", wording: str = "Which?"):
    content = f"{wording}\n{text or item}"
    asked = json.dumps({"messages": [{"role": "user", "content": content}]})
    request = RecordedRequest("POST", "https://judge.example/v1", asked)
    body = json.dumps({"choices": [{"message": {"content": answer}}]})
    response = RecordedResponse(200, {}, body)
    return Exchange(f"s/{item}/t1/{order}/r1", 1, request, response, "2026-01-01T12:00:00Z")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def record(folder: str, *exchanges: Exchange, judge: str = "mine") -> None:
    path = Path(folder, judge, "s.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    rewrite(path, exchanges)


THEN = (exchange("i1", "A"), exchange("i2", "A"), exchange("i3", "B"), exchange("i4", "B"))
NOW = (
    exchange("i1", "A"),
    exchange("i2", "B"),
    exchange("i3", "B", text="edited"),
    exchange("i5", "A"),
    exchange("i5", "B", order="ba"),
)
# i2 says something else, i3 was asked otherwise, i4 is gone, i5 is new in both orders.
DIFFERENCES = """\
`mine/s.jsonl`, 5 trials: 1 say something else, 2 new, 1 gone, 1 asked otherwise and say the same

| item | wording | then | now |
|---|---|---|---|
| `i2` | `t1` | `A` | `B` |
| `i4` | 1 trial | `B` |  |
| `i5` | 2 trials |  | `A, B` |
"""


def test_folders_are_compared_trial_by_trial() -> None:
    record("then", *THEN)
    record("now", *NOW)
    assert judgesense("recordings", "diff", "then", "now").stdout == DIFFERENCES


def test_a_revision_is_compared_with_what_is_there() -> None:
    repository(Path())
    record("cassettes", *THEN)
    commit(Path())
    record("cassettes", *NOW)
    assert judgesense("recordings", "diff", "git:HEAD", "cassettes").stdout == DIFFERENCES
    commit(Path())
    assert judgesense("recordings", "diff", "git:HEAD^", "git:HEAD").stdout == DIFFERENCES
    file = "cassettes/mine/s.jsonl"
    of_file = judgesense("recordings", "diff", "git:HEAD^", file).stdout
    assert of_file == DIFFERENCES.replace("mine/s.jsonl", file)


def test_a_file_that_one_side_lacks_is_new_or_gone_as_a_whole() -> None:
    record("then", *THEN)
    record("now", *THEN, judge="other")
    diff = judgesense("recordings", "diff", "then", "now").stdout.splitlines()
    heads = [line for line in diff if line.startswith("`")]
    assert heads == ["`mine/s.jsonl`, 0 trials: 4 gone", "`other/s.jsonl`, 4 trials: 4 new"]


def test_nothing_is_said_of_other_dates_and_other_orders_of_lines() -> None:
    record("then", *THEN)
    record("now", *reversed(THEN))
    diff = judgesense("recordings", "diff", "then", "now")
    assert diff.stdout == "nothing changed in 1 recordings, 4 trials\n"


@pytest.mark.parametrize("recordings", [1, 3, 12, 40])
def test_however_much_changed_it_is_forty_lines(recordings: int) -> None:
    for number in range(recordings):
        for side, answer in (("then", "A"), ("now", "B")):
            items = [exchange(f"i{n}", answer) for n in range(100)]
            record(side, *items, judge=f"judge-{number:02}")
    answer = DiffQuestion("then", "now").answer()
    lines = str(answer).splitlines()
    assert len(lines) <= MOST_LINES
    assert len(answer.to_dict()["recordings"]) == recordings
    rows = sum(line.startswith("| `i") for line in lines)
    if recordings == 1:
        # Forty lines less the head with its blank, the table's blank and heads, and how many more.
        assert rows == MOST_LINES - 2 - 4
        assert f"| and {100 - rows} rows more | | | |" in lines
    if recordings == 40:
        assert lines[-1] == "28 recordings more have changed"


def test_an_item_whose_id_is_a_digest_is_shown_with_its_text() -> None:
    items = {"x-88751da119": "tea or coffee", "x-620c82d843.2": "red or blue"}
    for side, answer in (("then", "A"), ("now", "B")):
        record(side, *(exchange(item, answer, text=text) for item, text in items.items()))
    rows = str(DiffQuestion("then", "now").answer()).splitlines()[4:]
    assert rows == [f"| `{item} {text}` | `t1` | `A` | `B` |" for item, text in items.items()]


def test_replies_are_code_in_a_comment() -> None:
    record("then", exchange("i|1", "A"))
    record("now", exchange("i|1", "see @team, <b>#12</b> | `x`"))
    (row,) = (line for line in str(DiffQuestion("then", "now").answer()).splitlines()[4:])
    cells = row.split(" | ")
    assert len(cells) == 4
    assert "@team" not in row
    assert "<b>" not in row


def test_a_file_is_not_compared_with_a_folder_nor_with_nothing() -> None:
    record("then", *THEN)
    with pytest.raises(UsageError, match="a file and a folder"):
        DiffQuestion("then", "then/mine/s.jsonl").answer()
    with pytest.raises(UsageError, match="no such file or folder"):
        DiffQuestion("then", "nowhere/").answer()
