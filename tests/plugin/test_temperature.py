"""Temperature suites in a session: alone, over workers, and against a served judge."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.instruments.temperature.causal import unusable
from pytest_judgesense.judges.simulated.endpoint import serving
from tests.judges.endpoint import endpoint, says
from tests.shipped import exchange_lines
from tests.suites.files import GRADED, GRID, write_suite
from tests.suites.known import builtin_suites

from .project import SPREAD_AT_NIGHT, no_traceback, run

CHECKS = "[checks]\nunparsed_rate_ceiling = 0.5\n"
QUESTIONS = 1
FULL = 480  # calls a question: see the suite


@pytest.fixture(scope="module", autouse=True)
def _imported() -> None:
    """An inner session forgets what it imports itself: these would take three seconds of each."""
    unusable("lightgbm", "shap")


def _lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@SPREAD_AT_NIGHT
def test_the_recording_and_its_replay_are_the_same_under_any_number_of_workers(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    write_suite(pytester.path, f"{GRID}\n{CHECKS}", GRADED)
    with serving() as server:
        pytester.makepyprojecttoml(
            f"""
            [tool.judgesense.judges.mine]
            provider = "openai"
            model = "noisy"
            base_url = "{server.base_url}"
            repair = true
            """
        )
        result = run(pytester, "tiny.suite.toml", *workers, "--judge-mode", "record")
        no_traceback(result)
        result.assert_outcomes(passed=1)
    logs = []
    for number, how in enumerate(dict.fromkeys((workers, ()))):
        path = pytester.path / f"log{number}.jsonl"
        result = run(pytester, "tiny.suite.toml", *how, "--judge-datasheet", str(path))
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(["*0 made, 24 replayed*"])
        logs.append(path.read_bytes())
    assert len(set(logs)) == 1
    assert len(logs[0].splitlines()) == 24


def test_a_part_of_the_full_grid_runs_live_against_a_served_judge(
    pytester: pytest.Pytester,
) -> None:
    source = builtin_suites()["temperature"]
    toml = source.read_text(encoding="utf-8").replace("items = 66", f"items = {QUESTIONS}")
    (pytester.path / "temperature.suite.toml").write_text(toml, encoding="utf-8")
    items = (source.parent / "items.jsonl").read_text(encoding="utf-8").splitlines()[:QUESTIONS]
    (pytester.path / "items.jsonl").write_text("\n".join(items), encoding="utf-8")
    with serving() as server:
        pytester.makepyprojecttoml(
            f"""
            [tool.judgesense.judges.served]
            provider = "openai"
            model = "clean"
            base_url = "{server.base_url}"
            """
        )
        result = run(
            pytester, "temperature.suite.toml", "--judge-suite", "temperature@full",
            "--judge-mode", "live", "--judge-save-live", "kept", "--judge-datasheet", "log.jsonl",
        )  # fmt: skip
    no_traceback(result)
    exchanges = [
        line for path in pytester.path.glob("kept/**/*.jsonl") for line in exchange_lines(path)
    ]
    asked = Counter(str(json.loads(line)["trial"]).split("/")[1] for line in exchanges)
    assert sorted(asked.values()) == [FULL] * QUESTIONS
    judged = _lines(pytester.path / "log.jsonl")
    assert len(judged) == QUESTIONS * 360  # 6 temperatures x 6 templates x 10 replicates
    cold = [line for line in judged if line["condition"]["temperature"] == 0.01]  # type: ignore[index]
    assert all(line["chosen"] == line["label"] for line in cold)
    hot = [line for line in judged if line["condition"]["temperature"] == 3.0]  # type: ignore[index]
    assert any("unparsed" in line or line["chosen"] != line["label"] for line in hot)
    graded = [line for line in judged if line["template"] == "single-direct" and "verdict" in line]
    assert all(set(line["grades"]) == {"1", "2"} for line in graded)  # type: ignore[call-overload]


def test_trials_are_asked_again_as_they_were_asked_and_repaired(pytester: pytest.Pytester) -> None:
    write_suite(pytester.path, f"{GRID}\n{CHECKS}", GRADED)
    bodies: list[dict[str, Any]] = []

    def reply(body: dict[str, Any]) -> str:
        bodies.append(body)
        prompt = body["messages"][-1]["content"]
        if "Bring the reply into form" in prompt:
            return '{"verdict": "C"}'
        return "7" if "From 1 to 10" in prompt else "Both have something."

    with endpoint(says(reply)) as server:
        pytester.makepyprojecttoml(
            f"""
            [tool.judgesense.judges.mine]
            provider = "openai"
            model = "m"
            base_url = "{server.url}"
            repair = true
            """
        )
        run(pytester, "tiny.suite.toml", "--judge-mode", "record").assert_outcomes(passed=1)
        recorded = [json.dumps(body, sort_keys=True) for body in bodies]
        bodies.clear()
        result = run(pytester, "tiny.suite.toml", "--judge-mode", "live", "--judge-verify", "24")
    no_traceback(result)
    result.stdout.fnmatch_lines(["*0 of 24 verdicts changed*"])
    # At the temperature, with the seed and the budget of the suite, repairs included.
    assert sorted(json.dumps(body, sort_keys=True) for body in bodies) == sorted(recorded)


def test_the_judge_of_a_test_replies_as_it_does(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml(
        """
        [tool.judgesense.judges.mine]
        provider = "embedded"
        model = "clean"
        repair = { judge = "openai:one-that-has-no-key" }
        """
    )
    pytester.makepyfile(
        "def test_it(judge):\n    assert 'cannot find' in judge.ask('Hello?').text\n"
    )
    run(pytester, "--judge-mode", "record").assert_outcomes(passed=1)
    run(pytester).assert_outcomes(passed=1)
