"""``judgesense recordings batch``: a suite asked by a batch file that somebody else executes."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.simulated.endpoint import EmbeddedServer, serving
from pytest_judgesense.trial import Failed
from tests.commands.recordings import CASSETTE, JUDGE, NAMED, lines_of, recorded_live, told, undated
from tests.report.replaying import measured, suite_named
from tests.suites.files import GRADED, GRID, write_suite

# 25 texts x 5 wordings; see the preset "published" of the suite.
TRIALS = 125


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server():
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def live(tmp_path_factory) -> Path:
    """What live recording makes of the suite."""
    return recorded_live(tmp_path_factory.mktemp("live"))


def exported(capsys, *names: str) -> list[dict[str, Any]]:
    code, _, err = told(
        capsys, "recordings", "batch", "export", *(names or NAMED), "-o", "requests.jsonl"
    )
    assert code == 0, err
    return lines_of(Path("requests.jsonl"))


def executed(requests: list[dict[str, Any]], server: EmbeddedServer) -> list[dict[str, Any]]:
    """Execute a batch: each request over HTTP, the results in an order of chance."""
    results = []
    with httpx.Client(base_url=server.base_url.removesuffix("/v1"), timeout=10) as client:
        for number, request in enumerate(requests):
            answer = client.request(request["method"], request["url"], json=request["body"])
            response = {
                "status_code": answer.status_code,
                "request_id": f"req_{number}",
                "body": answer.json(),
            }
            results.append(
                {
                    "id": f"batch_req_{number}",
                    "custom_id": request["custom_id"],
                    "response": response,
                    "error": None,
                }
            )
    random.Random(7).shuffle(results)
    return results


def written(results: list[dict[str, Any]], name: str = "results.jsonl") -> Path:
    path = Path(name)
    path.write_text("".join(json.dumps(line) + "\n" for line in results), encoding="utf-8")
    return path


def test_the_file_has_the_form_that_openai_and_vllm_read(capsys):
    requests = exported(capsys)

    assert len(requests) == TRIALS
    assert len({line["custom_id"] for line in requests}) == TRIALS
    for line in requests:
        assert list(line) == ["custom_id", "method", "url", "body"]
        assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
        assert line["body"]["model"] == "mixed"
        assert "stream" not in line["body"]
    # The id of the trial, and what tells another request of the same trial apart.
    trial, _, digest = requests[0]["custom_id"].partition("#")
    # The plan begins with the first line of items.jsonl, whose ids are in an order of chance.
    assert trial == "coherence/coh-03/t1/ab/r1"
    assert len(digest) == 12


def test_results_in_any_order_become_the_cassette_of_a_live_recording(capsys, server, live):
    results = written(executed(exported(capsys), server))

    code, out, err = told(capsys, "recordings", "batch", "import", *NAMED, results)

    assert code == 0, err
    assert out.splitlines()[0] == f"{TRIALS} exchanges recorded: {CASSETTE}"
    assert f"{TRIALS} of {TRIALS} trials are recorded now" in out
    assert undated(CASSETTE) == undated(live)
    judge, suite = judge_from_name(JUDGE), suite_named("coherence@published")
    imported = measured(judge, suite, {"coherence": CASSETTE})
    assert imported.judgments == measured(judge, suite, {"coherence": live}).judgments


def test_a_partial_batch_leaves_the_rest_to_the_next_export(capsys, server, live):
    results = executed(exported(capsys), server)
    half = written(results[:60])

    code, out, _ = told(capsys, "recordings", "batch", "import", *NAMED, half)
    rest = exported(capsys)

    assert (code, out.splitlines()[-1]) == (0, f"60 of {TRIALS} trials are recorded now")
    assert {r["custom_id"] for r in rest} == {r["custom_id"] for r in results[60:]}
    told(capsys, "recordings", "batch", "import", *NAMED, written(executed(rest, server)))
    assert undated(CASSETTE) == undated(live)
    code, out, _ = told(capsys, "recordings", "batch", "export", *NAMED, "-o", "none.jsonl")
    assert (code, Path("none.jsonl").exists()) == (0, False)
    assert f"all {TRIALS} trials" in out


def test_errors_are_evidence_and_what_was_not_answered_stays_missing(capsys, server, live):
    results = executed(exported(capsys), server)
    refused, of_vllm, expired, lost = results[:4]
    refused["response"] |= {"status_code": 429, "body": {"error": {"message": "slow down"}}}
    # vLLM: no body, the server's answer as the error.
    of_vllm["response"] |= {"status_code": 400, "body": None}
    of_vllm["error"] = {"error": {"message": "too long", "code": 400}}
    expired |= {"response": None, "error": {"code": "batch_expired", "message": "took too long"}}
    wanted = [line["custom_id"].partition("#")[0] for line in results[:4]]

    code, out, _ = told(
        capsys, "recordings", "batch", "import", *NAMED, written([r for r in results if r != lost])
    )

    assert code == 0
    # 121 of 125 answers, 2 errors, and nothing of the other two.
    assert f"{TRIALS - 2} exchanges recorded" in out
    assert f"1 results were not answered and left out, the first is {expired['custom_id']}" in out
    assert "took too long" in out
    assert f"{TRIALS - 4} of {TRIALS} trials are recorded now" in out
    errors = {e.trial: e.response for e in read_exchanges(CASSETTE) if not e.answers}
    assert {trial: r.status for trial, r in errors.items()} == {wanted[0]: 429, wanted[1]: 400}
    again = exported(capsys)
    assert sorted(line["custom_id"].partition("#")[0] for line in again) == sorted(wanted)
    told(capsys, "recordings", "batch", "import", *NAMED, written(executed(again, server)))
    answers = [line for line in undated(CASSETTE) if line["response"]["status"] == 200]
    assert [{**a, "call": 1} for a in answers] == undated(live)
    assert len(read_exchanges(CASSETTE)) == TRIALS + 2


def test_a_trial_that_ended_in_an_error_is_replayed_as_failed(capsys, server):
    results = executed(exported(capsys), server)
    results[0]["response"] |= {"status_code": 400, "body": {"error": {"message": "too long"}}}
    told(capsys, "recordings", "batch", "import", *NAMED, written(results))

    replayed = measured(
        judge_from_name(JUDGE), suite_named("coherence@published"), {"coherence": CASSETTE}
    )

    failed = [j for j in replayed.judgments if isinstance(j.outcome, Failed)]
    assert [j.trial.id for j in failed] == [results[0]["custom_id"].partition("#")[0]]
    assert failed[0].outcome == Failed("HTTP 400: too long")


def test_a_result_without_a_reply_is_no_answer(capsys, server, live):
    results = executed(exported(capsys), server)
    empty = json.loads(json.dumps(results[0]))
    empty["response"]["body"]["choices"] = []

    told(capsys, "recordings", "batch", "import", *NAMED, written([empty, *results[1:]]))
    assert [line["custom_id"] for line in exported(capsys)] == [empty["custom_id"]]
    code, out, _ = told(capsys, "recordings", "batch", "import", *NAMED, written([empty, *results]))

    assert code == 0
    assert f"{TRIALS} of {TRIALS} trials are recorded now" in out
    exchanges = read_exchanges(CASSETTE)
    assert len(exchanges) == TRIALS + 1
    assert sum(not one.answers for one in exchanges) == 1


def test_the_same_results_twice_change_nothing(capsys, server):
    results = executed(exported(capsys), server)
    results[0]["response"] |= {"status_code": 500, "body": {"error": "broken"}}
    told(capsys, "recordings", "batch", "import", *NAMED, written(results + results[:5]))
    before = CASSETTE.read_bytes()

    code, out, _ = told(
        capsys, "recordings", "batch", "import", *NAMED, "results.jsonl", "results.jsonl"
    )

    assert code == 0
    assert f"0 exchanges recorded: {CASSETTE}" in out
    assert f"{TRIALS} were recorded there already" in out
    assert CASSETTE.read_bytes() == before


def test_what_is_recorded_stays_when_a_result_says_something_else(capsys, server):
    results = executed(exported(capsys), server)
    told(capsys, "recordings", "batch", "import", *NAMED, written(results))
    before = CASSETTE.read_bytes()
    results[0]["response"]["body"]["choices"][0]["message"]["content"] = "another"

    code, out, _ = told(capsys, "recordings", "batch", "import", *NAMED, written(results))

    assert (code, CASSETTE.read_bytes()) == (0, before)
    assert "1 of them with another answer, which stays" in out


def test_two_answers_to_one_request_are_an_error_that_names_both(capsys, server):
    results = executed(exported(capsys), server)[:1]
    other = json.loads(json.dumps(results[0]))
    other["response"]["body"]["choices"][0]["message"]["content"] = "another"

    code, _, err = told(capsys, "recordings", "batch", "import", *NAMED, written([*results, other]))

    assert code == 3
    assert "results.jsonl:1" in err
    assert "results.jsonl:2" in err
    assert not CASSETTE.exists()


def test_the_time_of_recording_is_when_the_answer_was_made(capsys, server):
    results = executed(exported(capsys), server)[:1]
    # 1,000,000,000 s after 1970 is a well-known instant.
    results[0]["response"]["body"]["created"] = 1_000_000_000

    told(capsys, "recordings", "batch", "import", *NAMED, written(results))

    assert [e.recorded_at for e in read_exchanges(CASSETTE)] == ["2001-09-09T01:46:40Z"]


def test_results_of_another_request_are_not_taken_for_this_judge(capsys, server):
    results = written(executed(exported(capsys), server))
    other = ("coherence@published", "--judge-name", "embedded:clean")

    code, _, err = told(capsys, "recordings", "batch", "import", *other, results)

    # The same trials, asked of another model: not one of its answers may be recorded.
    assert code == 3
    assert "no result is of judge 'clean'" in err
    assert not Path("cassettes").exists()


def test_one_batch_may_serve_several_suites(capsys, server):
    vacuum = ("vacuum", "--judge-name", JUDGE)
    requests = [*exported(capsys), *exported(capsys, *vacuum)]
    results = written(executed(requests, server))

    code, out, _ = told(capsys, "recordings", "batch", "import", *NAMED, results)
    assert code == 0
    assert f"{len(requests) - TRIALS} results are of other judges or suites" in out
    code, out, _ = told(capsys, "recordings", "batch", "import", *vacuum, results)

    assert code == 0
    assert f"{TRIALS} results are of other judges or suites" in out
    assert len(read_exchanges(Path("cassettes/mixed/vacuum.jsonl"))) == len(requests) - TRIALS


def test_a_suite_that_shares_trials_with_another_fills_both_cassettes(capsys, server, tmp_path):
    named = ("criterion@published", "--judge-name", JUDGE)
    requests = exported(capsys, *named)
    live = recorded_live(tmp_path, "criterion@published")

    code, _, err = told(
        capsys, "recordings", "batch", "import", *named, written(executed(requests, server))
    )

    assert code == 0, err
    folder = Path("cassettes/mixed")
    # Its baseline arm is the ladder, asked once for both.
    assert {path.name for path in folder.glob("*.jsonl")} == {"criterion.jsonl", "ladder.jsonl"}
    for path in folder.glob("*.jsonl"):
        assert undated(path) == undated(live.with_name(path.name))


def test_a_key_that_an_endpoint_repeats_is_not_recorded(capsys, monkeypatch, server):
    key = "sk-batch-0123456789abcdef"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    Path("pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "mixed"\n'
    )
    named = ("coherence@published", "--judge-name", "mine")
    results = executed(exported(capsys, *named), server)
    message = f"Incorrect API key provided: {key}"
    results[0]["response"] |= {"status_code": 401, "body": {"error": {"message": message}}}

    code, out, err = told(capsys, "recordings", "batch", "import", *named, written(results))

    assert code == 0, err
    assert key not in Path("requests.jsonl").read_text()
    recorded = Path("cassettes/mine/coherence.jsonl").read_text()
    assert key not in recorded + out
    assert "Incorrect API key provided: [secret: OPENAI_API_KEY]" in recorded


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"custom_id": "x", "response": {"status_code": "200"}}', "status_code is str, not int"),
        ('{"response": null}', "custom_id is NoneType, not str"),
        ('{"custom_id": "x", "resp', "Unterminated string"),
        ("[]", "the line is list, not dict"),
    ],
)
def test_a_broken_line_is_named(capsys, line, reason):
    Path("results.jsonl").write_text(f'{{"custom_id": "a", "response": null}}\n\n{line}\n')

    code, _, err = told(capsys, "recordings", "batch", "import", *NAMED, "results.jsonl")

    assert code == 3
    assert "results.jsonl:3" in err
    assert reason in err
    assert not CASSETTE.exists()


def test_a_cassette_that_is_being_recorded_is_left_alone(capsys, server):
    results = written(executed(exported(capsys), server)[:1])
    with recording_alone(CASSETTE, Recorder("another", os.getpid(), "pytest --judge-mode record")):
        code, _, err = told(capsys, "recordings", "batch", "import", *NAMED, results)

    assert code == 3
    assert "is being recorded" in err
    assert not CASSETTE.exists()


@pytest.mark.parametrize("name", ["anthropic:m", "callable:a.b:c"])
def test_a_judge_that_no_batch_file_can_ask_is_a_wrong_command(capsys, name):
    code, _, err = told(
        capsys, "recordings", "batch", "export", "vacuum", "--judge-name", name, "-o", "x.jsonl"
    )

    assert code == 2
    assert "--judge-mode record" in err
    assert not Path("x.jsonl").exists()


def test_an_unknown_suite_is_a_wrong_command_with_the_known_names(capsys):
    code, _, err = told(
        capsys, "recordings", "batch", "export", "coherense", "--judge-name", JUDGE, "-o", "x"
    )

    assert code == 2
    assert "did you mean 'coherence'?" in err


GRADING = ("tiny.suite.toml", "--judge-name", "hot")


def test_both_grades_of_a_trial_stand_in_the_batch_and_repairs_do_not(capsys, server):
    write_suite(Path(), GRID, GRADED)
    Path("pyproject.toml").write_text(
        '[tool.judgesense.judges.hot]\nprovider = "openai"\nmodel = "noisy"\nrepair = true\n'
        f'base_url = "{server.base_url}"\n'
    )
    code, out, err = told(capsys, "recordings", "batch", "export", *GRADING, "-o", "requests.jsonl")
    assert code == 0, err
    # 24 trials, of which 8 grade two answers.
    assert "24 of 24 trials of hot on grid are not recorded" in out
    assert "32 requests: answers that are graded one by one take two" in out
    assert "replies that have to be repaired are asked for by --judge-mode record" in out
    requests = lines_of(Path("requests.jsonl"))
    assert len({request["custom_id"] for request in requests}) == 32
    written(executed(requests, server))
    code, out, err = told(capsys, "recordings", "batch", "import", *GRADING, "results.jsonl")
    assert code == 0, err
    assert "24 of 24 trials are recorded now" in out
    recorded = read_exchanges(Path("cassettes/hot/grid.jsonl"))
    calls = Counter((e.trial.split("/")[2], e.call) for e in recorded)
    assert calls == {("pair", 1): 8, ("grade", 1): 8, ("grade", 2): 8, ("guided", 1): 8}
    # The first call of a trial grades answer 1, whatever the order of the results.
    for exchange in recorded:
        if "/g1/grade/" in exchange.trial:
            assert ("It is 4." in str(exchange.request.body)) is (exchange.call == 1)
    code, out, err = told(capsys, "recordings", "batch", "export", *GRADING, "-o", "more.jsonl")
    assert "all 24 trials of hot on grid are recorded" in out


def test_a_plan_counts_the_calls_of_trials_that_take_two(capsys):
    write_suite(Path(), GRID, GRADED)
    code, out, err = told(capsys, "plan", "tiny.suite.toml", "--judge-name", "embedded:clean")
    assert code == 0, err
    assert "trials: 24, of 2 items, 3 templates" in out
    assert "calls to be made: 32 (0 are recorded)\n" in out
    # The budget of a reply is the suite's: 2,048 tokens.
    assert f"at most {32 * 2048} of replies" in out
