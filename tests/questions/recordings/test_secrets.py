"""``judgesense recordings check`` as a process, on recordings of this project and of others."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.old_secrets import check_cassettes
from pytest_judgesense.cassettes.storage import rewrite
from tests import processes

HIDDEN = "hQ5rVb81nXcW0yTd"


def check(*paths: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    variables = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return processes.run(
        "judgesense", "recordings", "check", *paths, environment=variables | environ
    )


def _cassette(path: Path, answer: str, url: str = "https://h/v1") -> Path:
    request = RecordedRequest("POST", url, '{"prompt":"p"}')
    response = RecordedResponse(200, {}, answer)
    rewrite(path, [Exchange("one", 1, request, response, "2026-01-31T12:00:00Z")])
    return path


def test_a_clean_recording_is_exit_code_0(tmp_path: Path) -> None:
    done = check(_cassette(tmp_path / "c.jsonl", "YES"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "0 secrets in 1 files, 1 exchanges\n"


@pytest.mark.parametrize(
    ("answer", "url", "what"),
    [
        (f"it is {HIDDEN}", "https://h/v1", "response body: OLD_KEY"),
        ("sk-proj-4fT9aKx03LmQz8Rv71YbNcWd", "https://h/v1", "response body: an API key"),
        ("YES", f"https://h/v1?api_key={HIDDEN}", "request: api_key in the URL"),
    ],
)
def test_a_secret_is_exit_code_1_and_named_without_its_value(
    tmp_path: Path, answer: str, url: str, what: str
) -> None:
    path = _cassette(tmp_path / "sub" / "c.jsonl", answer, url)
    done = check(tmp_path, OLD_KEY=HIDDEN)
    assert done.returncode == 1
    assert f"{path}:1: {what}" in done.stdout.splitlines()
    assert HIDDEN not in done.stdout + done.stderr
    assert "4fT9aKx03LmQz8Rv71YbNcWd" not in done.stdout


# Of both kinds of shapes, those with a name of their own and those with a service's prefix.
SHAPED = ["glpat-abcdefghij0123456789", "hf_" + "a1B2" * 9, "pcsk_" + "a1B2" * 12]


@pytest.mark.parametrize("key", SHAPED)
@pytest.mark.parametrize("form", ["yaml", "json", "jsonl"])
def test_every_shape_is_found_in_every_part_of_every_form(
    tmp_path: Path, form: str, key: str
) -> None:
    path = tmp_path / f"c.{form}"
    for place in ("request body", "response body", "URL", "elsewhere"):
        holds = {part: key if part == place else "-" for part in ("request body", "response body")}
        url = f"https://h/v1/{key if place == 'URL' else 'x'}/chat"
        headers = {"x-debug": [key if place == "elsewhere" else "-"]}
        request = {"method": "POST", "uri": url, "body": holds["request body"], "headers": {}}
        response = {
            "status": {"code": 200, "message": ""},
            "headers": headers,
            "body": {"string": holds["response body"]},
        }
        interactions = [{"request": request, "response": response}]
        path.write_text(json.dumps({"version": 1, "interactions": interactions}))  # YAML as well
        if form == "jsonl":
            asked = RecordedRequest("POST", url, holds["request body"])
            trial = headers["x-debug"][0]
            answered = RecordedResponse(200, {}, holds["response body"])
            rewrite(path, [Exchange(trial, 1, asked, answered, "2026-01-31T12:00:00Z")])
        (fault,) = check_cassettes([path], {}).faults
        assert key not in repr(fault)
        is_in_part = form == "jsonl" and place != "elsewhere"
        assert fault.kind.startswith(f"{place}: " if is_in_part else "a")


def test_what_a_filter_has_replaced_is_none(tmp_path: Path) -> None:
    path = tmp_path / "filtered.yaml"
    path.write_text(
        "interactions:\n- request:\n    body: null\n    headers:\n"
        "      authorization: [DUMMY-KEY]\n"
        "      cookie: [sid=REDACTED-BY-ME-1]\n    method: GET\n    uri: https://h/?key=REDACTED\n"
        "  response:\n    body: {string: YES}\n    headers: {}\n    status: {code: 200}\n"
        "version: 1\n"
    )
    assert check(path).returncode == 0


def test_yaml_is_searched_as_text_and_runs_no_code(tmp_path: Path) -> None:
    path, proof = tmp_path / "evil.yaml", tmp_path / "ran"
    path.write_text(
        f'interactions: !!python/object/apply:os.system ["touch {proof}"]\nkey: {HIDDEN}\n'
    )
    done = check(path, OLD_KEY=HIDDEN)
    assert done.returncode == 1
    assert f"{path}: OLD_KEY" in done.stdout.splitlines()
    assert HIDDEN not in done.stdout + done.stderr
    assert not proof.exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.jsonl", "{}\n"), ("a.jsonl", '{"trial')],
)
def test_a_broken_file_is_exit_code_3_and_the_others_are_searched(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    _cassette(tmp_path / "z.jsonl", HIDDEN)
    done = check(tmp_path, A_KEY=HIDDEN)
    assert done.returncode == 3
    assert name in done.stderr
    assert "z.jsonl:1: response body: A_KEY" in done.stdout


def test_a_path_that_is_not_there_is_a_wrong_command(tmp_path: Path) -> None:
    done = check(tmp_path / "none.jsonl")
    assert done.returncode == 2
    assert "no such file" in done.stderr


def test_control_characters_of_a_file_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"trial\x1b]0;owned\x07\n{}\n')
    done = check(path)
    assert done.returncode == 3
    assert "\x1b" not in done.stderr


def test_the_shipped_recordings_are_clean() -> None:
    folder = Path(__file__).parents[3] / "cassettes" / "clean"
    assert check(folder / "vacuum.jsonl", folder / "coherence.jsonl").returncode == 0
