"""Paragraphs that bodies share have one line of the cassette, and nothing is lost by it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.cassettes.cassette import call_of_function
from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.old_secrets import check_cassettes
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.storage import Journal, read_exchanges, rewrite
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.errors import BrokenCassette
from pytest_judgesense.questions.recordings.joining import JoinQuestion

# 43 characters twice: longer than a reference.
LONG = 'A speech, with "quotes" and a line\u2028 end.' * 2
URL = "http://127.0.0.1/v1/chat/completions"
CONVERT = Path(__file__).parents[2] / "scripts" / "convert_cassettes.py"


def with_body(trial: str, body: str) -> Exchange:
    answer = RecordedResponse(200, {}, json.dumps({"said": trial}))
    return Exchange(trial, 1, RecordedRequest("POST", URL, body), answer, "2026-01-31T12:00:00Z")


def exchange(trial: str, text: str = LONG, seed: int = 0, **layout: object) -> Exchange:
    value = {"messages": [{"role": "user", "content": f"Judge:\n\n{text}"}], "seed": seed}
    return with_body(trial, json.dumps(value, **layout))  # type: ignore[arg-type]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values, st.text(min_size=80))
def test_a_body_is_what_it_was_whatever_it_holds(
    tmp_path_factory: pytest.TempPathFactory, value: object, long: str
) -> None:
    path = tmp_path_factory.mktemp("any") / "c.jsonl"
    held = {"a": value, "b": [f"{long}\n\nend", long]}
    layouts = ({}, {"separators": (",", ":"), "ensure_ascii": False}, {"indent": 2})
    bodies = [json.dumps(held, **layout) for layout in layouts]  # type: ignore[arg-type]
    # As JSON, as text around JSON, as plain text, and as JSON that looks like a shared text.
    bodies += [f"data: {bodies[0]}", long, json.dumps({"texts": [long, {"id": long}]})]
    ones = [with_body(str(number), body) for number, body in enumerate(bodies)]
    rewrite(path, ones)
    assert read_exchanges(path) == ones


@pytest.mark.parametrize(
    "layout", [{}, {"separators": (",", ":"), "ensure_ascii": False}], ids=["spaced", "compact"]
)
def test_a_text_that_bodies_share_stands_once_before_the_first_of_them(
    tmp_path: Path, layout: dict[str, object]
) -> None:
    path = tmp_path / "c.jsonl"
    ones = [exchange(f"t{i}", seed=i, **layout) for i in range(9)]
    rewrite(path, [exchange("alone", "nothing"), *ones])
    assert read_exchanges(path)[1:] == ones
    lines = path.read_text(encoding="utf-8").split("\n")
    assert [number for number, line in enumerate(lines) if "A speech" in line] == [1]
    assert json.loads(lines[1])["text"] == f"Judge:\n\n{LONG}"
    assert len(lines) == 1 + 1 + 9 + 1  # alone, the text, nine exchanges, nothing behind the end


def texts_in(path: Path) -> list[str]:
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [line["text"] for line in lines if "text" in line]


def test_paragraphs_that_stand_nowhere_without_one_another_are_one_text(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    first, second, third = (f"{name}: {LONG}" for name in ("first", "second", "third"))
    debate = f"{first}\n\n<short>\n\n{second}"
    ones = [exchange("a", f"{debate}\n\n{third}"), exchange("b", f"{third}\n\n{debate}")]
    rewrite(path, ones)
    assert texts_in(path) == [debate, third]
    assert read_exchanges(path) == ones
    # Where the last stands by itself as well, it is a text; what is one does not hang on the order.
    apart = [*ones, exchange("c", second)]
    for ordered in (apart, apart[::-1]):
        rewrite(path, ordered)
        assert {*texts_in(path)} == {f"{first}\n\n<short>", second, third}
        assert read_exchanges(path) == ordered


def test_what_is_not_shared_stays_in_its_line(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    ones = [exchange("a", "x" * 300), exchange("b", "y" * 300)]
    rewrite(path, ones)
    assert path.read_text(encoding="utf-8") == "".join(f"{one.to_line()}\n" for one in ones)


def test_a_text_that_nothing_shares_any_more_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    rewrite(path, [exchange("a"), exchange("b")])
    rewrite(path, [exchange("a")])
    assert path.read_text(encoding="utf-8") == f"{exchange('a').to_line()}\n"


def test_while_recording_a_line_is_whole_and_a_recorder_goes_on_with_texts(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    rewrite(path, [exchange("a"), exchange("b")])
    before = path.read_bytes()
    Journal(path).append(exchange("c"))
    assert path.read_bytes() == before + f"{exchange('c').to_line()}\n".encode()
    assert read_exchanges(path) == [exchange("a"), exchange("b"), exchange("c")]


@pytest.mark.parametrize(
    ("damage", "number", "said"),
    [
        ("gone", 1, "no line before this one holds the text"),
        ("altered", 1, "a text that is not the one of"),
        ("no json", 1, "cannot be read"),
        ("moved", 1, "no line before this one holds the text"),
    ],
)
def test_a_cassette_without_its_texts_is_broken_and_says_where(
    tmp_path: Path, damage: str, number: int, said: str
) -> None:
    path = tmp_path / "c.jsonl"
    rewrite(path, [exchange("a"), exchange("b")])
    text, *lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    edited = {
        "gone": lines,
        "altered": [text.replace("speech", "screed"), *lines],
        "no json": ['{"id": nonsense', *lines],
        "moved": [*lines, text],
    }[damage]
    path.write_text("".join(f"{line}\n" for line in edited), encoding="utf-8")
    for read in (read_exchanges, ReplayingCassette):
        with pytest.raises(BrokenCassette, match=said) as caught:
            read(path)
        assert caught.value.what.startswith(f"{path}:{number}: ")


def test_a_cassette_replays_and_goes_on_recording_with_texts(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    ones = [exchange("a"), exchange("b")]
    rewrite(path, ones)
    replayed = ReplayingCassette(path)
    with replayed.trial("b") as scope:
        found = replayed.find(scope, "POST", URL, ones[1].request.body)
    assert found == ones[1]
    recording = RecordingCassette(path, now=lambda: "2026-01-31T12:00:00Z")
    for trial in ("c", "d"):  # finished in between: texts that went are not taken for granted
        with recording.trial(trial) as scope:
            messages = [{"role": "user", "content": "w" * 200}]
            recording.take_return(scope, call_of_function("m:f", messages), trial)
        recording.finish(["a", "b", "c", "d"])
    assert [one.trial for one in read_exchanges(path)] == ["a", "b", "c", "d"]


def test_cassettes_with_texts_are_joined_and_searched_for_secrets(tmp_path: Path) -> None:
    token = "sk-" + "a1B2" * 12
    for name, trials in (("one", "ab"), ("two", "bc")):
        rewrite(tmp_path / name / "c.jsonl", [exchange(trial) for trial in trials])
    JoinQuestion((tmp_path / "one", tmp_path / "two"), tmp_path / "all").answer()
    assert read_exchanges(tmp_path / "all" / "c.jsonl") == [exchange(trial) for trial in "abc"]
    assert not check_cassettes([tmp_path / "all"], {}).faults
    secret = tmp_path / "secret" / "c.jsonl"
    rewrite(secret, [exchange(trial, f"{LONG} {token}") for trial in "ab"])
    found = check_cassettes([tmp_path / "secret"], {"MY_API_KEY": token})
    # Line 1 is the text that both share.
    assert {fault.place for fault in found.faults} == {f"{secret}:2", f"{secret}:3"}


@pytest.mark.parametrize("edited", ['{"texts": 3}', '{"texts": [{"id": 3}]}', '{"texts": [[]]}'])
def test_a_reference_that_is_edited_is_no_traceback(tmp_path: Path, edited: str) -> None:
    path = tmp_path / "c.jsonl"
    rewrite(path, [exchange("a"), exchange("b")])
    text = path.read_text(encoding="utf-8")
    start, end = text.index('{"texts"'), text.index("]}", text.index('{"texts"')) + 2
    path.write_text(text[:start] + edited + text[end:], encoding="utf-8")
    with pytest.raises(BrokenCassette, match=r"c\.jsonl:2: ") as caught:
        read_exchanges(path)
    assert caught.value.remedy


OLD = (
    '{"trial": "a", "call": 1, "request": {"method": "POST", "url": "http://h/", "body": '
    '["{\\"prompt\\": \\"", {"part": "one"}, "\\"}"]}, "response": {"status": 200, "headers": {}, '
    '"body": "{}"}, "recorded_at": "2026-01-31T12:00:00Z"}\n'
)
OLD_PART = '{"part": "one", "text": "What was said."}\n'


def test_a_file_of_the_form_before_says_what_to_do_and_is_converted(tmp_path: Path) -> None:
    path, beside = tmp_path / "c.jsonl", tmp_path / "c.jsonl.parts"
    path.write_text(OLD)
    beside.write_text(OLD_PART)
    with pytest.raises(BrokenCassette) as caught:
        read_exchanges(path)
    assert caught.value.what == f"{path}:1: the line has the form of an earlier version"
    assert caught.value.found
    assert caught.value.expected
    assert "scripts/convert_cassettes.py" in caught.value.remedy
    assert "--judge-mode record" in caught.value.remedy
    command = [sys.executable, str(CONVERT), str(tmp_path)]
    with recording_alone(path, Recorder.here()):  # not while somebody records into it
        refused = subprocess.run(command, check=False, capture_output=True, text=True)
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"{path} is being recorded by another session")
    assert path.read_text() == OLD
    subprocess.run(command, check=True)
    (one,) = read_exchanges(path)
    assert one.request.body == '{"prompt": "What was said."}'
    assert not beside.exists()


def test_bodies_of_the_form_before_stay_byte_for_byte(tmp_path: Path) -> None:
    asked, said, part = '{"prompt": "What was\\n said."}', '{"said":  "YES"}', {"part": "one"}
    # Lists of a text that both bodies share, lists of texts alone, and bodies that are no lists.
    old: dict[str, tuple[object, object]] = {
        "a": (["", part], [part, ""]),
        "b": ([asked[:9], asked[9:]], [said]),
        "c": (asked, said),
    }
    path = tmp_path / "c.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for trial, (sent, received) in old.items():
            line = {
                "trial": trial,
                "call": 1,
                "request": {"method": "POST", "url": URL, "body": sent},
                "response": {"status": 200, "headers": {}, "body": received},
                "recorded_at": "2026-01-31T12:00:00Z",
            }
            file.write(json.dumps(line) + "\n")
    beside = path.with_name("c.jsonl.parts")
    beside.write_text(json.dumps({**part, "text": asked}) + "\n", encoding="utf-8")
    # A file that is named; above it was a folder.
    subprocess.run([sys.executable, str(CONVERT), str(path)], check=True)
    found = {one.trial: (one.request.body, one.response.body) for one in read_exchanges(path)}
    assert found == {"a": (asked, asked), "b": (asked, said), "c": (asked, said)}
    assert not beside.exists()
