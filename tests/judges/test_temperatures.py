"""Judges over real HTTP: grades and repairs on one tape, and settings that an endpoint refuses."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.cassettes.storage import read_exchanges, rewrite
from pytest_judgesense.errors import JudgeError, MissingRecording
from pytest_judgesense.judges.client import unasked_endpoint
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.judges.resolving import resolve_judges
from pytest_judgesense.judges.session import SessionCalls
from pytest_judgesense.judges.simulated.endpoint import answer
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.trial_call import Call
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed, Judgment, Unparsed, Verdict
from tests.report.replaying import measured, suite_named
from tests.suites.files import GRADED, GRID, write_suite
from tests.suites.known import load_suite

from .endpoint import Endpoint, endpoint, says

Reply = tuple[int, str, bytes]


@pytest.fixture
def grid(tmp_path: Path) -> Suite:
    return load_suite(write_suite(tmp_path, GRID, GRADED))


def _judge(server: Endpoint, **table: Any) -> JudgeSpec:
    given = {"provider": "openai", "model": "m", "base_url": server.url, **table}
    return judge_from_table("mine", given, Path())


def _measured(judge: JudgeSpec, suite: Suite, folder: Path, mode: str) -> Measurement:
    return measured(judge, suite, {suite.base: folder / "c.jsonl"}, mode)  # type: ignore[arg-type]


def _said(measurement: Measurement) -> list[Judgment]:
    return [replace(judgment, latency_s=None) for judgment in measurement.judgments]


def _right(body: dict[str, Any]) -> str:
    """Both answers graded, and the right one of two named."""
    prompt = body["messages"][-1]["content"]
    if "From 1 to 10" in prompt:
        return '{"score": 9}' if "It is 4" in prompt or "That is 6" in prompt else '{"score": 2}'
    first = min(prompt.find(right) % 10**6 for right in ("It is 4", "That is 6"))
    other = min(prompt.find(wrong) % 10**6 for wrong in ("It is 5", "That is 7"))
    return '{"verdict": "A"}' if first < other else '{"verdict": "B"}'


def test_both_grades_of_a_trial_are_its_numbered_calls(grid: Suite, tmp_path: Path) -> None:
    with endpoint(says(_right)) as server:
        judge = _judge(server)
        live = _measured(judge, grid, tmp_path, "record")
    replayed = _measured(judge, grid, tmp_path, "replay")
    assert all(judgment.correct for judgment in live.judgments)
    assert _said(replayed) == _said(live)
    exchanges = read_exchanges(tmp_path / "c.jsonl")
    calls = Counter((e.trial.split("/")[2], e.call) for e in exchanges)
    # 2 questions x 2 temperatures x 2 replicates: 8 trials of each template.
    assert calls == {("pair", 1): 8, ("grade", 1): 8, ("grade", 2): 8, ("guided", 1): 8}
    seeds = {json.loads(str(e.request.body))["seed"] for e in exchanges}
    assert seeds == {5, 6}


def test_a_recording_that_was_cut_off_between_two_grades_is_completed(
    grid: Suite, tmp_path: Path
) -> None:
    with endpoint(says(_right)) as server:
        judge = _judge(server)
        whole = _measured(judge, grid, tmp_path, "record")
        path = tmp_path / "c.jsonl"
        exchanges = read_exchanges(path)
        left = [e for e in exchanges if not ("/grade/" in e.trial and e.call == 2)]
        rewrite(path, left)
        with pytest.raises(MissingRecording, match="grade"):
            _measured(judge, grid, tmp_path, "replay")
        server.asked.clear()
        again = _measured(judge, grid, tmp_path, "record")
        assert len(server.asked) == len(exchanges) - len(left) == 8
    assert _said(again) == _said(whole)
    requests = [(e.trial, e.call, e.request.body) for e in read_exchanges(path)]
    assert len(requests) == len(exchanges)
    assert _said(_measured(judge, grid, tmp_path, "replay")) == _said(whole)


# --- repair ----------------------------------------------------------------------------------


def _mumbles(body: dict[str, Any]) -> str:
    """Malformed about the second question, and brought into form by whoever is asked to."""
    prompt = body["messages"][-1]["content"]
    if "Bring the reply into form" in prompt:
        return '{"verdict": "B"}'
    return "[[A]] or [[B]]" if "3 + 3" in prompt and "From 1" not in prompt else _right(body)


def test_only_malformed_replies_are_repaired_in_one_recorded_call_more(
    grid: Suite, tmp_path: Path
) -> None:
    with endpoint(says(_mumbles)) as server:
        judge = _judge(server, repair=True)
        live = _measured(judge, grid, tmp_path, "record")
        repairing = [a.body for a in server.asked if "Bring the reply" in str(a.body["messages"])]
    # Under two templates, at two temperatures, twice: 8 of the 16 trials of two candidates.
    assert len(repairing) == 8
    assert {body["temperature"] for body in repairing} == {0.0}
    for judgment in live.judgments:
        mumbled = judgment.trial.item == "g2" and judgment.trial.template != "grade"
        assert (judgment.detail or {}).get("repair") == (
            {"before": "several verdicts: A, B", "calls": 1} if mumbled else None
        )
        assert isinstance(judgment.outcome, Verdict)
    assert _said(_measured(judge, grid, tmp_path, "replay")) == _said(live)
    recorded = [e for e in read_exchanges(tmp_path / "c.jsonl") if e.trial.startswith("grid/g2/p")]
    assert Counter(e.call for e in recorded) == {1: 4, 2: 4}


def test_another_judge_is_asked_at_its_own_place_with_its_own_key(
    grid: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", "sk-other-0123456789")
    with endpoint(says(_mumbles)) as server, endpoint(says(_mumbles)) as mender:
        table = {"provider": "anthropic", "model": "small", "base_url": mender.url, "seed": 3}
        other = judge_from_table("other", {**table, "api_key_env": "OTHER_KEY"}, Path())
        repair = {"judge": "other", "temperature": 0.3}
        known = {"mine": _judge(server, repair=repair), "other": other}
        (judge,) = resolve_judges(["mine"], known, {})
        live = _measured(judge, grid, tmp_path, "record")
        assert len(mender.asked) == 8
        assert {a.headers["x-api-key"] for a in mender.asked} == {"sk-other-0123456789"}
        assert {(a.body["model"], a.body["temperature"]) for a in mender.asked} == {("small", 0.3)}
        assert not any("Bring the reply" in str(a.body) for a in server.asked)
    assert "sk-other" not in (tmp_path / "c.jsonl").read_text(encoding="utf-8")
    assert _said(_measured(judge, grid, tmp_path, "replay")) == _said(live)


def test_a_repair_that_fails_leaves_the_reply_unparsed_and_is_asked_again(
    grid: Suite, tmp_path: Path
) -> None:
    down = [True]

    def script(path: str, body: dict[str, Any]) -> Reply:
        if down[0] and "Bring the reply" in str(body["messages"]):
            return 400, "application/json", b'{"error": {"message": "no room"}}'
        return says(_mumbles)(path, body)

    with endpoint(script) as server:
        judge = _judge(server, repair=True)
        first = _measured(judge, grid, tmp_path, "record")
        assert _said(_measured(judge, grid, tmp_path, "replay")) == _said(first)
        down[0] = False
        server.asked.clear()
        second = _measured(judge, grid, tmp_path, "record")
        assert len(server.asked) == 8
    unparsed = [j for j in first.judgments if isinstance(j.outcome, Unparsed)]
    assert len(unparsed) == 8
    assert {j.detail["repair"]["failed"] for j in unparsed if j.detail} == {"HTTP 400: no room"}
    assert all(isinstance(j.outcome, Verdict) for j in second.judgments)
    assert _said(_measured(judge, grid, tmp_path, "replay")) == _said(second)


def test_a_suite_of_another_kind_is_repaired_as_well(tmp_path: Path) -> None:
    suite = suite_named("coherence")
    suite = replace(suite, items=suite.items[:2])

    def reply(body: dict[str, Any]) -> str:
        return '{"verdict": "3"}' if "Bring" in body["messages"][-1]["content"] else "Middling."

    with endpoint(says(reply)) as server:
        judge = _judge(server, repair=True)
        live = _measured(judge, suite, tmp_path, "record")
        assert len(server.asked) == 20  # 2 items x 5 templates, each repaired
    assert {j.verdict for j in live.judgments} == {"3"}
    assert _said(_measured(judge, suite, tmp_path, "replay")) == _said(live)


# --- what an endpoint does not take ----------------------------------------------------------

TOO_HOT = "temperature: range: 0..1"


def _cool(path: str, body: dict[str, Any]) -> Reply:
    if body.get("temperature", 0) > 1:
        return 400, "application/json", json.dumps({"error": {"message": TOO_HOT}}).encode()
    return says(_right)(path, body)


def test_a_refused_temperature_ends_its_cells_and_nothing_else(grid: Suite, tmp_path: Path) -> None:
    with endpoint(_cool) as server:
        judge = _judge(server)
        grid = replace(grid, replicates=15)
        live = _measured(judge, grid, tmp_path, "record")
        refused = [a for a in server.asked if a.body["temperature"] > 1]
    # 30 trials in each of 3 cells; 16 may be under way when the first of a cell is refused.
    assert 3 <= len(refused) <= 3 * 16
    hot = [j for j in live.judgments if j.trial.condition["temperature"] == 2.0]
    assert len(hot) == 90
    assert {j.outcome for j in hot} == {Failed(f"refused: HTTP 400: {TOO_HOT}")}
    assert all(j.correct for j in live.judgments if j not in hot)
    assert _said(_measured(judge, grid, tmp_path, "replay")) == _said(live)


def test_a_session_does_not_ask_a_refused_cell_again_and_the_next_one_does(
    grid: Suite, tmp_path: Path
) -> None:
    from pytest_judgesense.asking.inquiry import UNRESTRICTED
    from pytest_judgesense.judges.loop import AskingLoop
    from pytest_judgesense.measurement import measure

    loop, session = AskingLoop(), SessionCalls()
    try:
        with endpoint(_cool) as server:
            for _ in range(2):
                measure(
                    _judge(server), grid, {"grid": tmp_path / "c.jsonl"}, loop,
                    mode="record", asking=replace(UNRESTRICTED, session=session),
                )  # fmt: skip
            first = len([a for a in server.asked if a.body["temperature"] > 1])
            assert first <= 12
            server.asked.clear()
            again = measure(
                _judge(server), grid, {"grid": tmp_path / "c.jsonl"}, loop, mode="record"
            )
            assert 3 <= len(server.asked) <= 12
    finally:
        loop.close()
    assert sum(isinstance(j.outcome, Failed) for j in again.judgments) == 12


def test_a_refused_seed_fails_every_cell_without_a_crash(grid: Suite, tmp_path: Path) -> None:
    def script(path: str, body: dict[str, Any]) -> Reply:
        if "seed" in body:
            words = "Unsupported parameter: 'seed' is not supported with this model."
            return 400, "application/json", json.dumps({"error": {"message": words}}).encode()
        return says(_right)(path, body)

    with endpoint(script) as server:
        failed = _measured(_judge(server), grid, tmp_path, "record")
        assert {j.outcome.reason[:9] for j in failed.judgments} == {"refused: "}
        seedless = _measured(_judge(server, seed=False), grid, tmp_path / "b", "record")
    assert all(j.correct for j in seedless.judgments)


def test_what_is_missing_beside_a_refused_cell_is_still_missing(
    grid: Suite, tmp_path: Path
) -> None:
    with endpoint(_cool) as server:
        judge = _judge(server)
        _measured(judge, grid, tmp_path, "record")
    path = tmp_path / "c.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    gone = next(i for i, line in enumerate(lines) if "/pair/" in line and "/t0.01/" in line)
    path.write_text("".join(lines[:gone] + lines[gone + 1 :]), encoding="utf-8")
    with pytest.raises(MissingRecording, match="1 of 24 trials are not recorded"):
        _measured(judge, grid, tmp_path, "replay")


def test_other_words_and_other_kinds_of_suite_refuse_nothing(grid: Suite, tmp_path: Path) -> None:
    long = b'{"error": {"message": "the prompt is too long"}}'
    with endpoint(lambda *_: (400, "application/json", long)) as server:
        found = _measured(_judge(server), grid, tmp_path, "record")
        assert len(server.asked) == 24
    assert {j.outcome for j in found.judgments} == {Failed("HTTP 400: the prompt is too long")}
    suite = suite_named("coherence")
    suite = replace(suite, items=suite.items[:1])
    hot = json.dumps({"error": {"message": TOO_HOT}}).encode()
    with endpoint(lambda *_: (400, "application/json", hot)) as server:
        found = _measured(_judge(server), suite, tmp_path, "record")
        assert len(server.asked) == 5
    assert {j.outcome for j in found.judgments} == {Failed(f"HTTP 400: {TOO_HOT}")}


def test_a_wrong_key_still_ends_the_judge(grid: Suite, tmp_path: Path) -> None:
    denied = b'{"error": {"message": "no such key"}}'
    with endpoint(lambda *_: (401, "application/json", denied)) as server:
        with pytest.raises(JudgeError, match="cannot be asked"):
            _measured(_judge(server), grid, tmp_path, "record")
        assert len(server.asked) == 1


def test_the_embedded_judge_answers_at_each_temperature_and_seed_alike() -> None:
    body = {
        "model": "mixed",
        "messages": [{"role": "user", "content": "<question>\nQ a b?\n</question>\n<answer_a>\na\n"
                      '</answer_a>\n<answer_b>\nb\n</answer_b>\n{"verdict": "A"} "C" for a tie'}],
        "temperature": 3.0,
    }  # fmt: skip
    said = [answer("/v1/chat/completions", {**body, "seed": seed}) for seed in range(40)]
    assert said == [answer("/v1/chat/completions", {**body, "seed": seed}) for seed in range(40)]
    assert len({json.dumps(reply["choices"]) for _, reply in said}) > 1


def test_an_endpoint_for_another_judge_asks_it_at_each_temperature() -> None:
    judge = JudgeSpec("j", "openai", "large")
    call = Call([{"role": "user", "content": "?"}], temperature=0.5)
    endpoint = unasked_endpoint(judge)
    assert b"large" in endpoint.request_of(call).body
    other = replace(endpoint, spec=replace(judge, model="small"))
    assert b"small" in other.request_of(call).body
