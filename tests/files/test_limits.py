"""Bytes, nesting, trials and names that others bring: each has a bound, and its error names it."""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from filelock import FileLock

import pytest_judgesense.files.limits as limits_module
from pytest_judgesense.cassettes import locking
from pytest_judgesense.cassettes.exchange import (
    Exchange,
    RecordedRequest,
    RecordedResponse,
    models_of,
    text_id,
)
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.storage import Journal, read_exchanges, rewrite
from pytest_judgesense.commands.main import main
from pytest_judgesense.earlier.baseline import read_measured
from pytest_judgesense.errors import (
    BodyTooLarge,
    BrokenCassette,
    CassetteError,
    JudgesenseError,
    LogError,
    SuiteError,
    UsageError,
    shortened,
)
from pytest_judgesense.files.limits import (
    DEEPEST,
    MOST_TOML,
    VARIABLE,
    Limits,
    json_value,
    limits,
    toml_value,
)
from pytest_judgesense.files.tables import read_rows
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.providers.builtin import OPENAI
from pytest_judgesense.judges.resolving import declared_judges
from pytest_judgesense.questions.place import pythonpath
from pytest_judgesense.report.datasheet_file import datasheet_object
from pytest_judgesense.report.log import read_log
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import plan_trials
from tests.fuzzing import _ITEM, _JUDGMENT, SUITE

SECOND = "2026-01-31T12:00:00Z"


def exchange(call: int = 1, request: str = "{}", answer: str = "{}") -> Exchange:
    asked = RecordedRequest("POST", "http://h/v1", request)
    return Exchange("s/i/t/ab/r1", call, asked, RecordedResponse(200, {}, answer), SECOND)


def suite(folder: Path, text: str = SUITE, items: str = _ITEM) -> Path:
    (folder / "toy.jsonl").write_text(items)
    (folder / "toy.suite.toml").write_text(text)
    return folder / "toy.suite.toml"


def _folder(above: Path, name: str) -> Path:
    """A new folder: suites that were loaded are kept by their path."""
    (above / name).mkdir()
    return above / name


# --- what is set ----------------------------------------------------------------------------------


def test_limits_are_set_by_one_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "line_bytes=5, trials=7")
    assert limits() == Limits(line_bytes=5, trials=7)
    monkeypatch.delenv(VARIABLE)
    assert limits() == Limits()


@pytest.mark.parametrize("given", ["lines=5", "trials", "trials=", "trials=0", "trials=-1", "5"])
def test_a_limit_that_there_is_not_is_an_error(
    monkeypatch: pytest.MonkeyPatch, given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, given)
    with pytest.raises(UsageError, match="JUDGESENSE_LIMITS is wrong") as caught:
        limits()
    assert caught.value.found == given
    assert "line_bytes, file_bytes, trials" in caught.value.expected
    (tmp_path / "l.jsonl").write_text(_JUDGMENT)
    assert main(["report", str(tmp_path / "l.jsonl")]) == 2


# --- bytes ----------------------------------------------------------------------------------------


def test_a_line_is_read_up_to_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cassette, log = tmp_path / "c.jsonl", tmp_path / "l.jsonl"
    line = exchange().to_line()
    cassette.write_text(f"{line}\n")
    log.write_text(f"{_JUDGMENT}\n")
    readers: list[tuple[Path, int, Callable[[Path], list[object]], type[JudgesenseError]]] = [
        (cassette, len(line) + 1, lambda path: list(read_exchanges(path)), BrokenCassette),
        (log, len(_JUDGMENT) + 1, lambda path: list(read_log(path)), LogError),
    ]
    for path, size, read, error in readers:
        monkeypatch.setenv(VARIABLE, f"line_bytes={size}")
        assert len(read(path)) == 1
        monkeypatch.setenv(VARIABLE, f"line_bytes={size - 1}")
        with pytest.raises(error) as caught:
            read(path)
        assert caught.value.what == f"{path}:1: the line is too long"
        assert caught.value.expected == f"at most line_bytes = {size - 1}"
        assert f"set JUDGESENSE_LIMITS=line_bytes={2 * (size - 1)}" in caught.value.remedy
    assert main(["recordings", "join", str(log), "-o", str(tmp_path / "out.jsonl")]) == 3


def test_no_line_is_recorded_that_could_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = exchange().to_line()
    monkeypatch.setenv(VARIABLE, f"line_bytes={len(line)}")
    journal = Journal(tmp_path / "c.jsonl")
    journal.append(exchange())
    with pytest.raises(BodyTooLarge, match="is too long for a line"):
        journal.append(exchange(2, answer="{ }"))
    assert (tmp_path / "c.jsonl").read_text() == f"{line}\n"


def test_a_file_that_is_read_whole_has_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = suite(tmp_path)
    for name in ("r.jsonl", "r.json", "r.csv"):
        (tmp_path / name).write_text(" " * 1000)
    monkeypatch.setenv(VARIABLE, f"file_bytes={len(SUITE)}")
    assert load_suite(path, None, BUILT_IN.forms).name == "toy"
    for name in ("r.jsonl", "r.json", "r.csv"):
        with pytest.raises(LogError) as caught:
            list(read_rows(tmp_path / name))
        assert "has 1000 bytes, and at most file_bytes" in caught.value.found
        assert "JUDGESENSE_LIMITS=file_bytes=1000" in caught.value.found
    monkeypatch.setenv(VARIABLE, f"file_bytes={len(SUITE) - 1}")
    path = suite(_folder(tmp_path, "again"))
    with pytest.raises(SuiteError, match="at most file_bytes"):
        load_suite(path, None, BUILT_IN.forms)


def test_a_cassette_is_not_a_gigabyte_of_bodies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text("".join(f"{exchange(n, 'x' * 90, 'y' * 10).to_line()}\n" for n in (1, 2, 3)))
    monkeypatch.setenv(VARIABLE, "file_bytes=300")
    assert len(read_exchanges(path)) == 3
    monkeypatch.setenv(VARIABLE, "file_bytes=299")
    with pytest.raises(BrokenCassette, match=":3: the bodies up to here are too large together"):
        read_exchanges(path)


@pytest.mark.parametrize("place", ["in one text", "in many texts", "over both bodies"])
def test_few_references_make_no_long_body(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    shared = "s" * 1000
    part = {"id": text_id(shared)}
    value: dict[str, object] = json.loads(exchange().to_line())
    one = {"json": {"texts": [part] * (40 if place == "in one text" else 20)}}
    many = {"json": [{"texts": [part]}] * 40}
    value["response"]["body"] = many if place == "in many texts" else one  # type: ignore[index]
    if place == "over both bodies":
        value["request"]["body"] = one  # type: ignore[index]
    path = tmp_path / "c.jsonl"
    path.write_text(f"{json.dumps({'id': part['id'], 'text': shared})}\n{json.dumps(value)}\n")
    monkeypatch.setenv(VARIABLE, "line_bytes=40000")
    assert read_exchanges(path)[0].size > 40_000
    monkeypatch.setenv(VARIABLE, "line_bytes=39999")
    with pytest.raises(BrokenCassette, match=r":2: .*its shared texts are longer than line_bytes"):
        read_exchanges(path)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#" * (MOST_TOML + 1), f"longer than {MOST_TOML} characters"),
        ("a = " + "[" * 100_000, "nested deeper than 200"),
        # The parser takes the square of a key's parts, wherever it stands, however it is quoted.
        *(
            (text.replace("KEY", ".".join([part] * 17)), f"more than 16 parts (at line {line})")
            for text, part, line in (
                ("# first\n[[KEY]]\n", "a ", 2),
                ("[KEY]\n", "a", 1),
                ("a = 1\n\nKEY = 1\n", "b", 3),
                ("a = 1\r\nKEY = 1\n", "b", 2),
                ("a = {KEY = 1}\n", "b", 1),
                ("a = [1, {c = 1, KEY = 1}]\n", "b", 1),
                ("KEY = 1\n", r'"\"#"', 1),
                ("KEY = 1\n", "'\"'", 1),
                ("KEY = 1\n", ' "" ', 1),
                ('a = """\n#""""\nKEY = 1\n', "b", 3),
                ("a = '#'\nc = '''a'''''\nKEY = 1\n", "b", 3),
                ("a = 1 # '''\nKEY = 1\n", "b", 2),
            )
        ),
        ("b." * 20_000 + "a = 1\n", "more than 16 parts (at line 1)"),
        ("".join(f"a.b.c.d.e{n} = 1\n" for n in range(10_001)), "more than 10000 keys have"),
        ("a = " + "9" * 5000, "Exceeds the limit (4300 digits)"),
    ],
)
def test_toml_is_short_and_flat(tmp_path: Path, text: str, found: str) -> None:
    path = suite(tmp_path, text)
    with pytest.raises(SuiteError) as caught:
        load_suite(path, None, BUILT_IN.forms)
    assert found in caught.value.found
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(UsageError) as refused:
        declared_judges(tmp_path, {})
    assert found in refused.value.found
    assert main(["init", str(tmp_path)]) == 2


DOTS = "b." * 100


@pytest.mark.parametrize(
    "text",
    [
        f'a = """{DOTS}"""\n',
        f"a = '{DOTS}' # {DOTS}\n",
        f'a = "\\\\{DOTS}"\n',
        f'a = """\'\'\'\n{DOTS}"""\n',
        "b." * 15 + "a = 1\n",
        "a = [" + "1.5, " * 20_000 + "1.5]\n",
        "".join(f"[tool.judgesense.judges.j{n}]\nprices.prompt = 1\n" for n in range(10_001)),
    ],
)
def test_toml_of_dots_that_join_no_key_is_read(text: str) -> None:
    assert toml_value(text) == tomllib.loads(text)


@pytest.mark.parametrize("unit", ['"""\\', '"', "'", '"\\', "'''a", "#", "a.", "a . ", '"".', "\\"])
def test_what_no_toml_is_takes_time_in_proportion(unit: str) -> None:
    before = time.thread_time()
    with suppress(ValueError):
        toml_value(unit * (500_000 // len(unit)))
    assert time.thread_time() - before < 3


def test_toml_is_parsed_in_one_place_and_ini_files_by_pytest_s_parser() -> None:
    package = Path(limits_module.__file__).parent
    parsers = re.compile(r"^\s*(?:import|from) (?:tomllib|configparser)\b", re.MULTILINE)
    found = [path for path in package.rglob("*.py") if parsers.search(path.read_text("utf-8"))]
    assert found == [package / "limits.py"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "a = " + "[" * 100_000),
        # A name of 100,000 parts: a minute for the parser of TOML.
        ("pytest.toml", f"[{'a.' * 100_000}a]\n" + "b = 1\n" * 10),
        # What the standard library's parser of ini files takes the square of a line's length for.
        ("pytest.ini", f"[pytest]\na{' ' * 100_000}b\n"),
        ("setup.cfg", "[tool:pytest]\na = 1\n" + " b\n" * 1_000_000),
    ],
)
def test_where_judges_are_imported_from_is_looked_up_in_time(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "tox.ini").write_text("[pytest]\npythonpath = src\n  more\n")
    before = time.thread_time()
    found = pythonpath(tmp_path)
    assert time.thread_time() - before < 1
    # What cannot be read names no folder; what can be is that of pytest.
    assert found == [str(tmp_path / folder) for folder in ("src", "more")]
    (tmp_path / "tox.ini").unlink()
    assert pythonpath(tmp_path) == []


# --- nesting --------------------------------------------------------------------------------------


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_json_is_nested_as_deep_as_is_permitted(opening: str) -> None:
    def nested(deep: int) -> str:
        return opening * deep + "0" + ("]" if opening == "[" else "}") * deep

    assert json_value(nested(DEEPEST)) != 0
    # 100,000 are beyond the parser's own recursion as well.
    for deep in (DEEPEST + 1, 100_000):
        with pytest.raises(ValueError, match="nested deeper than 200"):
            json_value(nested(deep))


@pytest.mark.parametrize("deep", [DEEPEST + 1, 100_000])
def test_deep_nesting_is_an_error_that_names_the_line(tmp_path: Path, deep: int) -> None:
    nest = "[" * deep + "]" * deep
    line = exchange().to_line()
    cases: list[tuple[str, str, Callable[[Path], object], str]] = [
        ("c.jsonl", line + "\n" + line.replace('"{}"', nest), read_exchanges, "c.jsonl:2"),
        ("c.jsonl", f'{line}\n{{"id": "a", "text": {nest}}}\n', read_exchanges, "c.jsonl:2"),
        ("l.jsonl", f"{_JUDGMENT}\n{nest}\n", lambda p: list(read_log(p)), "l.jsonl:2"),
        ("r.jsonl", f"{{}}\n{nest}\n", lambda p: list(read_rows(p)), "r.jsonl:2"),
        ("r.json", nest, lambda p: list(read_rows(p)), "r.json"),
        ("d.json", nest, datasheet_object, "d.json"),
        ("d.json", nest, read_measured, "d.json"),
    ]
    for name, text, read, named in cases:
        (tmp_path / name).write_text(text)
        with pytest.raises(JudgesenseError) as caught:
            read(tmp_path / name)
        assert named in caught.value.what
    path = suite(tmp_path, items=f"{_ITEM}\n{nest}\n")
    with pytest.raises(SuiteError, match=r"toy.jsonl:2 is not JSON"):
        load_suite(path, None, BUILT_IN.forms)


# --- numbers --------------------------------------------------------------------------------------


def test_a_suite_has_no_more_items_and_trials_than_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = "".join(f'{{"id": "i{n}", "label": "YES", "text": "t"}}\n' for n in range(3))
    path = suite(tmp_path, f"{SUITE}\n[design]\nreplicates = 4\n", items)
    monkeypatch.setenv(VARIABLE, "trials=24")  # 3 items x 2 templates x 4 replicates
    loaded = load_suite(path, None, BUILT_IN.forms)
    assert len(plan_trials(loaded)) == 24
    monkeypatch.setenv(VARIABLE, "trials=23")
    path = suite(_folder(tmp_path, "b"), f"{SUITE}\n[design]\nreplicates = 4\n", items)
    with pytest.raises(SuiteError, match="plans too many trials") as caught:
        plan_trials(load_suite(path, None, BUILT_IN.forms))
    assert (caught.value.found, caught.value.expected) == ("24 trials", "at most trials = 23")
    monkeypatch.setenv(VARIABLE, "trials=2")
    path = suite(_folder(tmp_path, "c"), SUITE, items)
    with pytest.raises(SuiteError, match=r"toy\.jsonl:3: one item too many"):
        load_suite(path, None, BUILT_IN.forms)


def test_a_billion_replicates_are_counted_before_they_are_planned(tmp_path: Path) -> None:
    path = suite(tmp_path, f"{SUITE}\n[design]\nreplicates = 1_000_000_000\n")
    with pytest.raises(SuiteError) as caught:
        plan_trials(load_suite(path, None, BUILT_IN.forms))
    assert caught.value.found == "2000000000 trials"  # 1 item x 2 templates


# --- names ----------------------------------------------------------------------------------------


def test_long_words_and_lines_end_in_an_ellipsis_and_others_are_as_they_were() -> None:
    fits = "w" * 256
    assert shortened(f"a {fits} b") == f"a {fits} b"
    assert shortened(f"a {fits}w b") == f"a {'w' * 253}... b"
    assert shortened("ab " * 2000) == f"{('ab ' * 2000)[:3997]}..."


def test_a_log_has_no_name_of_a_megabyte(tmp_path: Path) -> None:
    value = json.loads(_JUDGMENT)
    path = tmp_path / "l.jsonl"
    for field in ("trial", "judge", "suite", "item", "cluster", "template"):
        most = 6000 if field == "trial" else 1000
        path.write_text(json.dumps(value | {field: "n" * most}))
        assert len(list(read_log(path))) == 1
        path.write_text(json.dumps(value | {field: "n" * (most + 1)}))
        with pytest.raises(LogError, match=f"l.jsonl:1: field '{field}' is wrong") as caught:
            list(read_log(path))
        assert f"at most {most} characters" in caught.value.expected


def test_a_model_of_a_megabyte_is_a_short_name(tmp_path: Path) -> None:
    answer = json.dumps({"model": "m" * 1_000_000})
    served = models_of([exchange(request='{"model": "asked"}', answer=answer)])
    assert served == {"asked": {"m" * 253 + "...": 1}}


def test_what_is_printed_of_long_names_is_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four judgments by names of 1,000 letters: a page of text, not 1,000 letters in each row."""
    value = json.loads(_JUDGMENT)
    lines = [
        value | {"trial": f"s/{i}/{t}", "item": i, "cluster": i, "template": t, "judge": "j" * 1000}
        for i in ("i" * 1000, "k" * 1000)
        for t in ("t" * 1000, "u" * 1000)
    ]
    log = tmp_path / "l.jsonl"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    outputs = [f"--output={tmp_path / name}" for name in ("d.md", "d.html")]
    assert main(["report", str(log), *outputs]) == 0
    for text in (capsys.readouterr().out, (tmp_path / "d.md").read_text()):
        assert "jjj..." in text.replace("\n", "")
        assert max(text.count(letter * 90) for letter in "jiktu") < 10
    page = (tmp_path / "d.html").read_text()
    assert "j" * 253 + "..." in page
    assert "j" * 254 not in page


# --- what the fuzzing has found -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["\x00", "\x1b[2J", "\ufffe"])
def test_a_name_that_xml_cannot_hold_costs_no_page(tmp_path: Path, name: str) -> None:
    """Its figures are drawn as XML."""
    value = json.loads(_JUDGMENT) | {"condition": {}}
    lines = [
        value | {"trial": f"s/{i}/{t}", "item": i, "cluster": i, "template": t, "judge": name}
        for i in "ij"
        for t in (name, "u")
    ]
    log = tmp_path / "l.jsonl"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert main(["report", str(log), f"--output={tmp_path / 'd.html'}"]) == 0
    assert "<svg" in (tmp_path / "d.html").read_text()


def test_a_holder_of_a_lock_that_is_nested_is_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "_PATIENCE_S", 0.6)
    (tmp_path / ".c.jsonl.holder").write_text("[" * 100_000)
    with (
        FileLock(tmp_path / ".c.jsonl.lock"),
        pytest.raises(CassetteError, match="is being recorded by another session") as caught,
        recording_alone(tmp_path / "c.jsonl", Recorder.here()),
    ):
        raise AssertionError
    assert "does not say who it is" in caught.value.found


def test_half_a_surrogate_pair_in_a_long_body_is_read_and_written(tmp_path: Path) -> None:
    """The fast parser of JSON takes no such text at all; that is another error than a wrong one."""
    body = json.dumps({"choices": [{"message": {"content": "YES" * 40}}]})[:-1] + ', "\ud800": 1}'
    reply = OPENAI.read(200, body)
    assert isinstance(reply, Reply)
    assert reply.text == "YES" * 40
    one = exchange(answer=body)
    rewrite(tmp_path / "c.jsonl", [one, exchange(2, answer=body)])
    assert read_exchanges(tmp_path / "c.jsonl")[0].response.body == body
