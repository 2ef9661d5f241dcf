"""What a recording says to a reader, from the recording alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.listing import listed_recording
from pytest_judgesense.cassettes.storage import rewrite
from tests.shipped import CASSETTES

OPENAI = {"choices": [{"message": {"role": "assistant", "content": "A"}}]}
SCHEMA = {"type": "object", "properties": {"why": {"type": "string"}, "pick": {"enum": ["A", "B"]}}}
STREAM = "".join(
    f'data: {{"choices":[{{"delta":{{"content":"{part}"}}}}]}}\n\n'
    for part in ("Ver", "dict: ", "B")
)
TOOL = {"type": "tool_use", "input": {"why": "shorter", "pick": "B"}}
LONG = "The first answer is longer, and says what was asked twice over. " * 3


def exchange(
    answer: Any,
    *,
    trial: str = "s/i1/t1/ab/r1",
    call: int = 1,
    asked: Any = None,
    status: int = 200,
    method: str = "POST",
    headers: dict[str, str] | None = None,
) -> Exchange:
    body = answer if isinstance(answer, str | bytes) else json.dumps(answer)
    asked = {"messages": [{"role": "user", "content": "Which?"}]} if asked is None else asked
    request = RecordedRequest(method, "https://judge.example/v1", json.dumps(asked))
    return Exchange(
        trial, call, request, RecordedResponse(status, headers or {}, body), "2026-01-01T12:00:00Z"
    )


def words_of(tmp_path: Path, *exchanges: Exchange) -> str:
    rewrite(tmp_path / "s.jsonl", exchanges)
    (trial,) = listed_recording(tmp_path / "s.jsonl").trials
    return trial.words


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(OPENAI, "A", id="chat completions"),
        pytest.param({"content": [{"type": "text", "text": "B"}]}, "B", id="messages"),
        pytest.param(STREAM, "B", id="stream"),
        pytest.param(
            {"candidates": [{"content": {"parts": [{"text": "A"}]}}]}, "A", id="generateContent"
        ),
        pytest.param(
            {"output": [{"type": "message", "content": [{"text": "A"}]}]}, "A", id="responses"
        ),
        pytest.param({"output": {"message": {"content": [{"text": "A"}]}}}, "A", id="converse"),
        pytest.param({"message": {"content": "A"}}, "A", id="ollama"),
        pytest.param({"nobody": "knows"}, '{"nobody": "knows"}', id="another"),
        pytest.param("plain text", "plain text", id="text"),
        pytest.param(b"\xff\xfe", "\ufffd\ufffd", id="bytes"),
        pytest.param("", "(empty)", id="nothing"),
    ],
)
def test_the_reply_is_found_in_the_form_of_each_api(
    tmp_path: Path, answer: Any, words: str
) -> None:
    assert words_of(tmp_path, exchange(answer)) == words


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("A", "A"),
        (f"{LONG}\n**Verdict:** B", "B"),
        (f"{LONG} Verdict: B.", "B"),
        (f"{LONG}\n[[A]]", "A"),
        (f"{LONG} Rating: [[7]]", "7"),
        ('{"reason": "shorter", "verdict": "B"}', "B"),
        # The end of a reply of 192 characters that marks nothing: sixty of them.
        (LONG, "..." + LONG.strip()[-60:]),
        ("line one\nline two", "line one line two"),
    ],
)
def test_a_verdict_that_a_reply_marks_is_shown_else_its_end(
    tmp_path: Path, reply: str, words: str
) -> None:
    answer = {"choices": [{"message": {"content": reply}}]}
    assert words_of(tmp_path, exchange(answer)) == words


def test_of_a_reply_whose_form_the_request_states_the_labels_are_shown(tmp_path: Path) -> None:
    asked = {"tools": [{"name": "judgment", "input_schema": SCHEMA}], "messages": []}
    assert words_of(tmp_path, exchange({"content": [TOOL]}, asked=asked)) == "B"
    grades = {"properties": {"tone": {"type": "integer"}, "clarity": {"enum": [1, 2]}}}
    asked = {"response_format": {"json_schema": {"schema": grades}}}
    reply = {"choices": [{"message": {"content": '{"tone": 2, "why": "so", "clarity": 1}'}}]}
    assert words_of(tmp_path, exchange(reply, asked=asked)) == "tone=2 clarity=1"


def test_a_function_says_what_it_returned(tmp_path: Path) -> None:
    call = exchange(OPENAI)
    returned = exchange('{"verdict": true}', call=0, method="RETURN", asked="")
    assert words_of(tmp_path, call, returned) == "true"
    failed = exchange("ValueError: no key", call=0, method="RETURN", status=0)
    assert words_of(tmp_path, call, failed) == "failed: ValueError: no key"
    several = exchange('["A", "B"]', call=0, method="RETURN", headers={"judgesense-returns": "2"})
    assert words_of(tmp_path, call, several) == "A / B"
    assert words_of(tmp_path, exchange("YES", method="CALL")) == "YES"


def test_failures_count_where_nothing_answers(tmp_path: Path) -> None:
    slow = exchange("slow down", status=429)
    assert words_of(tmp_path, slow) == "HTTP 429: slow down"
    assert words_of(tmp_path, slow, exchange(OPENAI, call=2)) == "A"
    # Each of two candidates is graded by a call of its own.
    assert words_of(tmp_path, exchange(OPENAI), exchange("B", call=2, asked={"b": 1})) == "A / B"


def asking(item: str, text: str, order: str = "ab", wording: str = "Which is better?") -> Exchange:
    content = f"{wording}\n{text}"
    asked = {"messages": [{"role": "user", "content": content}], "temperature": 0}
    return exchange(OPENAI, trial=f"s/{item}/t1/{order}/r1", asked=asked)


def lines_of(tmp_path: Path, *exchanges: Exchange) -> list[str]:
    rewrite(tmp_path / "s.jsonl", exchanges)
    return [*listed_recording(tmp_path / "s.jsonl").lines()]


def test_a_line_names_item_wording_what_varies_and_what_the_item_asks(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, asking("i1", "tea or coffee"), asking("i2", "red or blue"))
    # One order and one replicate: they are left out.
    assert [line.rpartition("[")[0] for line in lines] == ["i1  t1  A  ", "i2  t1  A  "]
    assert [line.rpartition("[")[2][9:] for line in lines] == ["tea or coffee]", "red or blue]"]
    both = lines_of(tmp_path, *(asking(i, i, order) for i in "xy" for order in ("ab", "ba")))
    assert [line.split("  ")[2] for line in both] == ["ab", "ba"] * 2


def test_another_item_changes_its_line_and_another_wording_none(tmp_path: Path) -> None:
    texts = ["tea or coffee", "red or blue", "up or down"]
    before = lines_of(tmp_path, *(asking(f"i{n}", text) for n, text in enumerate(texts)))
    texts[1] = "red or green"
    edited = lines_of(tmp_path, *(asking(f"i{n}", text) for n, text in enumerate(texts)))
    assert [a == b for a, b in zip(before, edited, strict=True)] == [True, False, True]
    reworded = [asking(f"i{n}", text, wording="Choose.") for n, text in enumerate(texts)]
    assert lines_of(tmp_path, *reworded) == edited


def test_what_cannot_be_read_is_listed_with_the_reason_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    rewrite(path, [exchange(OPENAI)])
    whole = path.read_bytes()
    broken = [b"<<<<<<< HEAD", b'{"trial": 1}', b"[1]", b"\xff", b"[" * 5000, whole[:90]]
    path.write_bytes(whole + b"\n".join(broken))
    listing = listed_recording(path)
    assert len(listing.trials) == 1
    assert [text.split(" is ")[0] for text in listing.unread] == [f"line {n}" for n in range(2, 8)]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(("choices", "texts", "properties", "id")), inner, max_size=2
        )
    ),
)


@given(st.lists(st.tuples(st.sampled_from(("trial", "status", "body", "headers")), _JSON)))
def test_no_line_however_edited_is_an_error(edits: list[tuple[str, Any]]) -> None:
    line = json.loads(exchange(OPENAI, headers={"judgesense-returns": "2"}).to_line())
    for key, value in edits:
        for part in (line, line["request"], line["response"]):
            if key in part:
                part[key] = value
    with TemporaryDirectory() as folder:
        path = Path(folder, "s.jsonl")
        path.write_text(json.dumps(line) + "\n")
        assert len([*listed_recording(path).lines()]) <= 1


@pytest.mark.parametrize("path", sorted(CASSETTES.glob("*/vacuum.jsonl")), ids=str)
def test_shared_texts_and_look_ups_make_no_trial(path: Path) -> None:
    trials = {json.loads(line).get("trial") for line in path.read_text("utf-8").splitlines()}
    listing = listed_recording(path)
    assert {trial.id for trial in listing.trials} == trials - {None}
    assert listing.unread == ()


def test_showing_a_recording_imports_nothing_that_takes_time() -> None:
    # A fresh interpreter: git starts one for every version of a file that it shows.
    code = (
        "import sys\nfrom pytest_judgesense.commands.main import main\n"
        f"main(['recordings', 'show', {str(CASSETTES / 'noisy/vacuum.jsonl')!r}])\n"
        "heavy = ('numpy', 'scipy', 'pydantic', 'pydantic_core', 'vcr', 'httpx', 'filelock')\n"
        "heavy += ('pytest', 'pluggy', 'pytest_judgesense.registry', 'importlib.metadata')\n"
        "print(*[name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *lines, heavy = done.stdout.splitlines()
    assert len(lines) == 120
    assert heavy == ""
