"""A suite file that takes a prompt apart, run by pytest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_judgesense import measure
from pytest_judgesense.commands.main import main
from tests.instruments.ablation import project
from tests.instruments.ablation.project import N
from tests.plugin.project import ChatServer, run


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-own-0123456789abcdef")
    served = ChatServer()
    served.reply = project.reply
    yield served
    served.close()


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.long)], ids=["0", "2"]
)
def test_a_suite_is_recorded_checked_and_replayed(
    pytester: pytest.Pytester,
    server: ChatServer,
    workers: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project.write_suite(pytester.path)
    more = "own_noise_ceiling = 0.05\n"
    (pytester.path / "sentences.suite.toml").write_text(project.ABLATION + more, "utf-8")
    project.declare(pytester.path, project.at(server.base_url))
    outputs = ("--judge-datasheet", "x.json", "-v", "--judge-policy", "confident")
    recorded = run(pytester, "sentences.suite.toml", "--judge-mode", "record", *outputs, *workers)
    recorded.assert_outcomes(passed=1, failed=1)  # of 12 items no ceiling of .05 is proven
    assert len(server.asked) == N * (6 + 4)
    server.close()
    text = recorded.stdout.str()
    assert "2 of 4 sentences noticed on 12 items" in text
    assert "s03 moves 50% of verdicts [" in text
    monkeypatch.chdir(pytester.path)
    replayed = measure("mine", Path("sentences.suite.toml"), policy="confident")
    assert sorted(check.outcome for check in replayed.checks) == ["inconclusive", "pass"]
    replayed.write("replayed.json")
    sheets = [json.loads(Path(name).read_text("utf-8")) for name in ("x.json", "replayed.json")]
    (sheet,), (again,) = (sheet["judges"] for sheet in sheets)
    assert again["measures"] == sheet["measures"]
    scores = [of for of in sheet["measures"] if of["measure"] == "mutation_score"]
    assert [(of["value"], of["n"]) for of in scores] == [(0.5, 4)]
    # The interval of the score is one of tests, and of one reply there is no noise.
    capsys.readouterr()
    assert main(["plan", "sentences.suite.toml", "--judge-name", "mine"]) == 0
    words = capsys.readouterr().out
    assert "mutation_score is no share over clusters" in words
    assert "its units are made of all replicates" in words
