"""``judgesense cassettes convert``: recordings played by, and taken from, stock vcrpy."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
from collections import deque
from dataclasses import replace
from pathlib import Path

import aiohttp
import httpx
import pytest
import requests
import vcr
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.cassettes.exchange import (
    Exchange,
    RecordedRequest,
    RecordedResponse,
    as_body,
    as_bytes,
)
from pytest_judgesense.cassettes.interchange import read_vcr, vcr_text
from pytest_judgesense.cassettes.storage import read_exchanges, rewrite
from pytest_judgesense.commands.cassettes import requests_of
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.simulated.server import serving
from tests.commands.recordings import CASSETTE, JUDGE, NAMED, SUITE, recorded_live, told, undated
from tests.report.replaying import measured, suite_named

TRIALS = 125  # 25 texts x 5 wordings
SOME = 25
URL = "https://judge.example/v1/chat/completions"
INSTANT = "2026-01-31T12:00:00Z"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server():
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def live(tmp_path_factory) -> Path:
    return recorded_live(tmp_path_factory.mktemp("live"))


@pytest.fixture
def some(live) -> Path:
    """The first of its exchanges: stock vcrpy looks through all of them for each."""
    rewrite(Path("some.jsonl"), read_exchanges(live)[:SOME])
    return Path("some.jsonl")


def exchange(trial: str, asked: str | bytes, answered: str | bytes, status: int = 200) -> Exchange:
    headers = {"content-type": "text/plain; charset=utf-8", "retry-after": "1"}
    response = RecordedResponse(status, headers, answered)
    return Exchange(trial, 1, RecordedRequest("POST", URL, asked), response, INSTANT)


# What breaks formats: an error before its answer, line ends of all kinds, bytes that are no text,
# words that YAML takes for something else.
AWKWARD = [
    exchange("s/a", "one", "slow down", 429),
    replace(exchange("s/a", "one", "é\u2028\x85\ttab\r\nend: [~"), call=2),
    exchange("s/b", "two", b"\xff\x00\x1f\x8b"),
    exchange("s/c", "null", "2026-01-31T12:00:00Z"),
    exchange("s/d", "yes", ""),
]


def played(file: Path, asked: list[Exchange], client: str) -> list[tuple[int, bytes]]:
    """What stock vcrpy answers, none of it from the network."""
    stock = vcr.VCR(record_mode="none", match_on=["method", "uri", "body"])
    serializer = "json" if file.suffix == ".json" else "yaml"
    answers = []
    with stock.use_cassette(str(file), serializer=serializer) as cassette:
        for one in asked:
            body = as_bytes(one.request.body)
            if client == "httpx":
                got = httpx.post(one.request.url, content=body)
            else:
                got = requests.post(one.request.url, data=body, timeout=5)
            answers.append((got.status_code, got.content))
        assert cassette.all_played
    return answers


@pytest.mark.parametrize("client", ["httpx", "requests"])
@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_stock_vcrpy_plays_a_converted_recording(capsys, some, suffix, client):
    target = Path(f"stock{suffix}")

    code, out, err = told(capsys, "cassettes", "convert", some, "-o", target)

    assert (code, err) == (0, "")
    assert out == f"{SOME} exchanges written: {target}\n"
    recorded = read_exchanges(some)
    wanted = [(e.response.status, as_bytes(e.response.body)) for e in recorded]
    assert played(target, recorded, client) == wanted


def test_stock_vcrpy_plays_errors_bytes_and_odd_characters(capsys):
    rewrite(Path("awkward.jsonl"), AWKWARD)

    assert told(capsys, "cassettes", "convert", "awkward.jsonl", "-o", "stock.yml")[0] == 0

    wanted = [(e.response.status, as_bytes(e.response.body)) for e in AWKWARD]
    assert played(Path("stock.yml"), AWKWARD, "httpx") == wanted


RECORDING_TEST = """
import httpx, json, pytest

ASKED = json.load(open("asked.json"))

@pytest.fixture(scope="module")
def vcr_config():
    return {"match_on": ["method", "scheme", "host", "path", "body"]}

@pytest.mark.vcr
def test_judge():
    with httpx.Client() as client:
        for url, body, wanted in ASKED:
            reply = client.post(url, content=body.encode()).text
            assert wanted in (None, reply)
"""


def pytest_recording(*options: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:judgesense",
        "-p",
        "no:cacheprovider",
    ]
    command += [*options, "test_stock.py"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


STOCK_CASSETTE = Path("cassettes/test_stock/test_judge.yaml")


def test_pytest_recording_plays_a_converted_recording(capsys, some):
    assert told(capsys, "cassettes", "convert", some, "-o", STOCK_CASSETTE)[0] == 0
    asked = [(e.request.url, e.request.body, e.response.body) for e in read_exchanges(some)]
    Path("asked.json").write_text(json.dumps(asked))
    Path("test_stock.py").write_text(RECORDING_TEST)

    done = pytest_recording("--record-mode=none", "--block-network")

    assert done.returncode == 0, done.stdout
    # The same with one reply changed: it is the file that answers.
    changed = STOCK_CASSETTE.read_text().replace("chatcmpl-", "chatcmpl+", 1)
    STOCK_CASSETTE.write_text(changed)
    assert pytest_recording("--record-mode=none", "--block-network").returncode == 1


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_a_converted_recording_comes_back_byte_for_byte(capsys, live, suffix):
    told(capsys, "cassettes", "convert", live, "-o", f"stock{suffix}")

    code, _, err = told(capsys, "cassettes", "convert", f"stock{suffix}", "-o", "back.jsonl")

    assert code == 0, err
    assert Path("back.jsonl").read_bytes() == live.read_bytes()


def test_errors_bytes_and_odd_characters_come_back_in_yaml(capsys):
    rewrite(Path("awkward.jsonl"), AWKWARD)
    told(capsys, "cassettes", "convert", "awkward.jsonl", "-o", "stock.yaml")
    # In ASCII: vcrpy opens it in the encoding of the machine.
    assert Path("stock.yaml").read_bytes().isascii()

    told(capsys, "cassettes", "convert", "stock.yaml", "-o", "back.jsonl")

    assert Path("back.jsonl").read_bytes() == Path("awkward.jsonl").read_bytes()


texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]))


@given(texts | st.binary(), texts | st.binary())
def test_any_body_comes_back_from_yaml(tmp_path_factory, asked, answered):
    one = exchange("s/a", *(as_body(as_bytes(body)) for body in (asked, answered)))
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(vcr_text([one], "yaml"), encoding="utf-8")

    (back,) = read_vcr(path)

    assert (back.body, back.data) == (one.request.body, as_bytes(one.response.body))
    assert (back.trial, back.recorded_at, back.status) == ("s/a", INSTANT, 200)


def planned(base_url: str) -> list[tuple[str, bytes]]:
    """What the judge would be sent, at a server of this test."""
    judge = replace(judge_from_name(JUDGE), base_url=base_url)
    return [(request.url, request.body) for _, request in requests_of(judge, suite_named(SUITE))]


def imported(capsys, file: Path) -> str:
    code, out, err = told(capsys, "cassettes", "convert", file, *NAMED)
    assert code == 0, err
    return out


def test_what_stock_vcrpy_has_recorded_is_imported(capsys, server, live):
    stock = vcr.VCR(record_mode="all")
    secret = "Bearer sk-0123456789abcdef"
    with stock.use_cassette("stock.yaml"), httpx.Client() as client:
        for url, body in planned(server.base_url):
            client.post(url, content=body, headers={"Authorization": secret, "Cookie": "a=b"})
        client.get(server.base_url.replace("/v1", "/health"))
    assert secret in Path("stock.yaml").read_text()

    out = imported(capsys, Path("stock.yaml"))

    assert f"{TRIALS} exchanges recorded: {CASSETTE}" in out
    assert "1 interactions are of no trial and left out" in out
    assert f"the first is stock.yaml: interaction {TRIALS + 1}: GET http://127.0.0.1" in out
    assert "sk-0123456789abcdef" not in CASSETTE.read_text()
    assert undated(CASSETTE) == undated(live)
    judge, suite = judge_from_name(JUDGE), suite_named(SUITE)
    replayed = measured(judge, suite, {"coherence": CASSETTE})
    assert replayed.judgments == measured(judge, suite, {"coherence": live}).judgments


def test_what_pytest_recording_has_recorded_is_imported(capsys, server, live):
    asked = [(url, body.decode(), None) for url, body in planned(server.base_url)]
    Path("asked.json").write_text(json.dumps(asked))
    Path("test_stock.py").write_text(RECORDING_TEST)
    done = pytest_recording("--record-mode=once")
    assert done.returncode == 0, done.stdout

    imported(capsys, STOCK_CASSETTE)

    assert undated(CASSETTE) == undated(live)


def test_what_stock_vcrpy_has_recorded_of_aiohttp_is_imported(capsys, server, live):
    async def ask() -> None:
        async with aiohttp.ClientSession() as session:
            for url, body in planned(server.base_url):
                async with session.post(url, json=json.loads(body)) as response:
                    await response.read()

    # vcrpy keeps what ``json=`` was given as a mapping, its keys in alphabetical order.
    with vcr.VCR(record_mode="all").use_cassette("stock.yaml"):
        asyncio.run(ask())
    kept = yaml.safe_load(Path("stock.yaml").read_text())["interactions"]
    assert {type(one["request"]["body"]) for one in kept} == {dict}

    imported(capsys, Path("stock.yaml"))

    judge, suite = judge_from_name(JUDGE), suite_named(SUITE)
    replayed = measured(judge, suite, {"coherence": CASSETTE})
    assert replayed.judgments == measured(judge, suite, {"coherence": live}).judgments


def test_compressed_answers_are_imported_as_text(capsys, live):
    with_gzip = json.loads(vcr_text(read_exchanges(live)[:1], "json"))["interactions"][0]
    text = with_gzip["response"]["body"]["string"]
    with_gzip["response"]["body"]["string"] = gzip.compress(text.encode())
    with_gzip["response"]["headers"]["Content-Encoding"] = ["gzip"]
    del with_gzip["judgesense"]
    Path("stock.yaml").write_text(yaml.dump({"version": 1, "interactions": [with_gzip]}))

    imported(capsys, Path("stock.yaml"))

    assert undated(CASSETTE) == undated(live)[:1]


def reply(text: str) -> str:
    """A chat completion; without a text one that has no choices."""
    choices = [{"message": {"content": text}, "finish_reason": "stop"}] if text else []
    return json.dumps({"choices": choices})


def test_replicates_get_the_answers_in_their_order(capsys):
    # Three replicates without a seed send the same request; the second was answered at its second
    # attempt.
    Path("pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m"\n'
        'base_url = "https://judge.example/v1"\n'
    )
    Path("three.jsonl").write_text('{"id": "i", "text": "1", "label": "A"}\n')
    Path("three.suite.toml").write_text(
        'schema = "judgesense/suite/1"\nname = "three"\nkind = "paraphrase"\n'
        '[space]\nlabels = ["A", "B"]\n[stimuli]\nfile = "three.jsonl"\n'
        '[[templates]]\nid = "t1"\ntext = "{{text}}: A or B?"\n'
        '[[templates]]\nid = "t2"\ntext = "A or B: {{text}}"\n[design]\nreplicates = 3\n'
    )
    named = ("--judge-name", "mine", "--judge-suite", "three.suite.toml")
    told(capsys, "batch", "export", *named, "-o", "requests.jsonl")
    bodies = deque(
        json.dumps(json.loads(line)["body"], ensure_ascii=False)
        for line in Path("requests.jsonl").read_text().splitlines()
    )
    assert bodies[0] == bodies[1] == bodies[2] != bodies[3]
    # An answer without a reply in it is none, whatever its status.
    given = [
        (200, "first"),
        (500, "broken"),
        (200, "second"),
        (200, ""),
        (200, "third"),
        (200, "4th"),
    ]
    bodies_of = {text: reply(text) for _, text in given}
    interactions = [
        {
            "request": {"method": "POST", "uri": URL, "body": bodies[0], "headers": {}},
            "response": {
                "status": {"code": status, "message": ""},
                "headers": {},
                "body": {"string": bodies_of[text]},
            },
        }
        for status, text in given
    ]
    Path("stock.json").write_text(json.dumps({"version": 1, "interactions": interactions}))

    code, out, err = told(capsys, "cassettes", "convert", "stock.json", *named)

    assert code == 0, err
    # A fourth answer to the same request is of no trial.
    assert "1 interactions are of no trial" in out
    recorded = read_exchanges(Path("cassettes/mine/three.jsonl"))
    assert [(e.trial[-2:], e.call, e.response.body) for e in recorded] == [
        ("r1", 1, reply("first")),
        ("r2", 1, reply("broken")),
        ("r2", 2, reply("second")),
        ("r3", 1, reply("")),
        ("r3", 2, reply("third")),
    ]
    assert [e.answers for e in recorded] == [True, False, True, False, True]


def test_faults_come_back_and_requests_without_a_response_are_told_of(capsys):
    page = RecordedResponse(200, {"judgesense-fault": "no reply in the response"}, "<html>")
    fault = replace(exchange("s/a", "one", ""), response=page)
    lost = replace(exchange("s/a", "one", "ReadError", 0), call=2)
    answer = replace(exchange("s/a", "one", "yes"), call=3)
    rewrite(Path("own.jsonl"), [fault, lost, answer])

    code, out, _ = told(capsys, "cassettes", "convert", "own.jsonl", "-o", "stock.yaml")

    assert code == 0
    assert "1 requests that got no response have no form there" in out
    told(capsys, "cassettes", "convert", "stock.yaml", "-o", "back.jsonl")
    assert read_exchanges(Path("back.jsonl")) == [fault, replace(answer, call=2)]


def test_a_file_of_others_needs_the_judge_and_the_suite(capsys, live):
    told(capsys, "cassettes", "convert", live, "-o", "stock.json")
    value = json.loads(Path("stock.json").read_text())
    del value["interactions"][2]["judgesense"]
    Path("stock.json").write_text(json.dumps(value))

    code, _, err = told(capsys, "cassettes", "convert", "stock.json", "-o", "back.jsonl")

    assert code == 2
    assert f"1 of {TRIALS} interactions do not say which trial they belong to" in err
    assert "stock.json: interaction 3" in err
    assert "--judge-name" in err
    assert not Path("back.jsonl").exists()


def test_a_file_of_another_judge_is_not_imported(capsys, live):
    told(capsys, "cassettes", "convert", live, "-o", "stock.json")
    other = ("--judge-name", "embedded:clean", "--judge-suite", SUITE)

    code, _, err = told(capsys, "cassettes", "convert", "stock.json", *other)

    assert code == 3
    assert "nothing in stock.json is of judge 'clean'" in err
    assert not Path("cassettes").exists()


def test_urls_of_others_are_shown_without_their_keys(capsys, live):
    key = "sk-verysecretkey-ABCDEFGHIJ0123456789"
    told(capsys, "cassettes", "convert", live, "-o", "stock.json")
    value = json.loads(Path("stock.json").read_text())
    value["interactions"][2]["request"]["uri"] = f"https://judge.example/v1/models?api_key={key}"
    del value["interactions"][2]["judgesense"]
    Path("stock.json").write_text(json.dumps(value))
    for more in (("-o", "back.jsonl"), NAMED, ("--judge-name", "embedded:clean", *NAMED[2:])):
        _, out, err = told(capsys, "cassettes", "convert", "stock.json", *more)
        assert key not in out + err
        assert "judge.example" in out + err or "127.0.0.1" in out + err


def test_a_file_of_vcrpy_is_not_written_as_one(capsys, live):
    told(capsys, "cassettes", "convert", live, "-o", "stock.yaml")
    code, _, err = told(capsys, "cassettes", "convert", "stock.yaml", "-o", "back.json")
    assert code == 2
    assert "expected: a cassette of this project, with the suffix .jsonl" in err
    assert not Path("back.json").exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("!!python/object/apply:os.system ['touch ran']", "could not determine a constructor"),
        ("interactions: [{request: !!python/name:os.system ''}]", "could not determine"),
        ("interactions: [{request: {method: POST}}]", "response is NoneType, not dict"),
        ("- request: {}", "the file is list, not dict"),
        ("version: 1", "the file is NoneType, not list"),
        ("interactions: [", "while parsing"),
        ("", "the file is NoneType, not dict"),
    ],
)
def test_a_file_that_is_no_recording_is_named_and_runs_no_code(capsys, text, reason):
    Path("stock.yaml").write_text(text)

    code, _, err = told(capsys, "cassettes", "convert", "stock.yaml", "-o", "back.jsonl")

    assert code == 3
    assert "stock.yaml" in err
    assert reason in err
    assert not Path("back.jsonl").exists()
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    ("one", "suffix", "reason"),
    [
        (
            Exchange(
                "s/call",
                1,
                RecordedRequest("CALL", "python:a:b", "{}"),
                RecordedResponse(200, {}, "x"),
                INSTANT,
            ),
            ".yaml",
            "the call of a Python function",
        ),
        (exchange("s/bytes", "x", b"\xff"), ".json", "a body that is not text"),
    ],
)
def test_what_has_no_form_in_a_vcrpy_file_is_named(capsys, one, suffix, reason):
    rewrite(Path("own.jsonl"), [one])

    code, _, err = told(capsys, "cassettes", "convert", "own.jsonl", "-o", f"stock{suffix}")

    assert code == 3
    assert f"trial {one.trial}" in err
    assert reason in err
    assert not Path(f"stock{suffix}").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("own.jsonl", "-o", "there.yaml"),
        ("own.jsonl", "-o", "stock.toml"),
        ("own.jsonl",),
        ("none.jsonl", "-o", "stock.yaml"),
        ("there.yaml", "--judge-name", JUDGE),
    ],
)
def test_a_wrong_command_writes_nothing(capsys, arguments):
    rewrite(Path("own.jsonl"), AWKWARD)
    Path("there.yaml").write_text("mine")
    before = sorted(Path().iterdir())

    code, _, err = told(capsys, "cassettes", "convert", *arguments)

    assert code == 2
    assert "expected:" in err
    assert sorted(Path().iterdir()) == before
    assert Path("there.yaml").read_text() == "mine"
