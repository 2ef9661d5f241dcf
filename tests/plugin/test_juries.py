"""Sessions with a jury: its members are asked once, and its verdicts are made of theirs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_judgesense.commands.main import main
from tests.repository import commit, repository

from .project import TRIALS, ChatServer, Project, even, no_traceback, parity_suite

MEMBERS = ("anna", "ben", "carl")
PANEL = f"[tool.judgesense.judges.panel]\nmembers = {json.dumps(MEMBERS)}\n"
LENIENT = PANEL.replace("panel", "lenient") + "quorum = 2\n"


@pytest.fixture
def servers() -> Iterator[dict[str, ChatServer]]:
    """An endpoint for each member."""
    served = {name: ChatServer() for name in MEMBERS}
    yield served
    for server in served.values():
        server.close()


@pytest.fixture
def jury(project: Project, servers: dict[str, ChatServer]) -> Project:
    """A project with three judges and a jury of them; the third says NO to everything."""
    servers["carl"].reply = lambda prompt: "NO"
    declare(project, servers, PANEL)
    parity_suite(project.path, checks="agreement_floor = 0.9")
    return project


def declare(project: Project, servers: dict[str, ChatServer], juries: str) -> None:
    """Declare the members, which make no second attempt, and juries of them."""
    tables = "".join(
        f'[tool.judgesense.judges.{name}]\nprovider = "openai"\nmodel = "m-{name}"\n'
        f'base_url = "{server.base_url}"\nmax_retries = 0\n'
        "prices = { prompt = 1.0, completion = 2.0 }\n"
        for name, server in servers.items()
    )
    (project.path / "pyproject.toml").write_text(tables + juries)


def asked(servers: dict[str, ChatServer]) -> list[int]:
    return [len(server.asked) for server in servers.values()]


def judges_of(project: Project) -> dict[str, Any]:
    """The judges of the datasheet that a session has written, by name."""
    sheet = json.loads((project.path / "sheet.json").read_text())
    return {of["judge"]["name"]: of for of in sheet["judges"]}


def agreement(judge: dict[str, Any]) -> tuple[int, int]:
    (line,) = [m for m in judge["measures"] if m["measure"] == "agreement" and not m["condition"]]
    return line["count"], line["n"]


def test_two_against_one_recorded_once_and_replayed_offline(
    jury: Project, servers: dict[str, ChatServer]
) -> None:
    told = ("--judge-datasheet", "sheet.json")
    # Each member is asked once, as a judge of its own and for the jury; three checks of four pass.
    jury.run("parity.suite.toml", "--judge-mode", "record", *told).assert_outcomes(
        passed=3, failed=1
    )
    assert asked(servers) == [TRIALS] * 3
    assert not (jury.path / "cassettes" / "panel").exists()

    for server in servers.values():
        server.forget()
    result = jury.run("parity.suite.toml", "--judge-name", "panel", *told)
    result.assert_outcomes(passed=1)
    assert asked(servers) == [0, 0, 0]
    judges = judges_of(jury)
    # Half of the numbers are even: the third member is right on the others alone.
    assert {name: agreement(of) for name, of in judges.items()} == {
        "anna": (TRIALS, TRIALS),
        "ben": (TRIALS, TRIALS),
        "carl": (TRIALS // 2, TRIALS),
        "panel": (TRIALS, TRIALS),
    }
    # The members' figures stand beside it, and its bar is its own.
    assert [name for name, of in judges.items() if of["checks"]] == ["panel"]
    # Calls and their price are those of the members.
    assert [of["calls"]["replayed"] for of in judges.values()] == [TRIALS, TRIALS, TRIALS, 0]
    assert judges["panel"]["calls"]["cost_usd"] is None
    result.stdout.fnmatch_lines(["*jury:anna, ben, carl, quorum 3*"])
    no_traceback(result)


def test_one_dead_member_leaves_no_verdict_or_those_of_the_others(
    jury: Project, servers: dict[str, ChatServer]
) -> None:
    declare(jury, servers, PANEL + LENIENT)
    servers["ben"].status = lambda prompt: 500
    servers["carl"].reply = even
    told = ("--judge-name", "panel", "--judge-name", "lenient", "--judge-datasheet", "sheet.json")
    recorded = jury.run("parity.suite.toml", "--judge-mode", "record", *told)
    recorded.assert_outcomes(passed=1, failed=1)
    judges = judges_of(jury)
    assert agreement(judges["lenient"]) == (TRIALS, TRIALS)
    assert agreement(judges["panel"]) == (None, 0)
    recorded.stdout.fnmatch_lines(["*18 failed*no quorum: 2 of 3 members replied, 3 needed*"])
    # What fails is recorded as well: a replay says the same, and asks nobody.
    for server in servers.values():
        server.forget()
    jury.run("parity.suite.toml", *told).assert_outcomes(passed=1, failed=1)
    assert asked(servers) == [0, 0, 0]
    again = judges_of(jury)
    assert {n: of["measures"] for n, of in again.items()} == {
        n: of["measures"] for n, of in judges.items()
    }


def test_a_member_that_is_not_recorded_is_an_error_that_records_the_jury(
    jury: Project, servers: dict[str, ChatServer]
) -> None:
    declare(jury, servers, LENIENT)
    for name in MEMBERS[:2]:
        jury.run("parity.suite.toml", "--judge-mode", "record", "--judge-name", name)
    result = jury.run("parity.suite.toml", "--judge-name", "lenient")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*18 of 18 trials are not recorded*", "*record it: pytest *--judge-name lenient *"]
    )


@pytest.mark.long
def test_workers_ask_each_member_once(jury: Project, servers: dict[str, ChatServer]) -> None:
    result = jury.run("parity.suite.toml", "--judge-mode", "record", "-n", "2")
    result.assert_outcomes(passed=3, failed=1)
    assert asked(servers) == [TRIALS] * 3


def test_members_of_a_jury_are_asked_whole_suites(
    jury: Project, servers: dict[str, ChatServer]
) -> None:
    early = ("--judge-mode", "record", "--judge-early-stop")
    jury.run("parity.suite.toml", *early, "--judge-name", "carl").assert_outcomes(failed=1)
    stopped = len(servers["carl"].asked)
    assert stopped < TRIALS
    # What was stopped before makes no verdicts of a jury, and says what does.
    for name in ("anna", "ben"):
        jury.run("parity.suite.toml", "--judge-mode", "record", "--judge-name", name)
    result = jury.run("parity.suite.toml", "--judge-name", "panel")
    result.stdout.fnmatch_lines(["*member 'carl' was stopped early*"])
    jury.run("parity.suite.toml", *early, "--judge-name", "panel").assert_outcomes(passed=1)
    assert asked(servers) == [TRIALS] * 3


def test_a_plan_counts_each_member_once(
    jury: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(jury.path)

    def together(*names: str) -> str:
        assert main(["plan", "parity.suite.toml", *(f"--judge-name={name}" for name in names)]) == 0
        return capsys.readouterr().out.splitlines()[-1]

    assert together("panel") == together(*MEMBERS) == together("panel", "anna")
    assert together("panel").startswith(f"together: {3 * TRIALS} calls, cost: ")


@pytest.mark.long
def test_commands_take_a_jury_for_its_members(
    jury: Project,
    servers: dict[str, ChatServer],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(jury.path)

    def told(*command: str) -> str:
        main([*command])
        return " ".join(capsys.readouterr().out.split())

    recorded = told("record", "parity.suite.toml", "--judge-name", "panel")
    assert all(f"judge {name} on parity: 18 of 18 trials recorded" in recorded for name in MEMBERS)
    assert asked(servers) == [TRIALS] * 3
    # It votes with its members, and is none of the voters itself.
    assert told("report", "--panel", "parity.suite.toml").startswith("3 judges on parity")
    compared = told("compare", "parity.suite.toml", "--judges", "panel", "carl")
    assert compared.startswith("panel -> carl on parity: 18 trials of 6 items")
    for name in ("old.txt", "new.txt"):
        (jury.path / name).write_text("{{number}}")
    refused = ["compare", "parity.suite.toml", "--prompts", "old.txt", "new.txt"]
    assert main([*refused, "--judge-name", "panel"]) == 2
    assert "prompts are those of one judge: 'panel' is a jury" in capsys.readouterr().err


def test_the_jury_is_compared_with_what_it_was(
    jury: Project, servers: dict[str, ChatServer]
) -> None:
    parity_suite(jury.path, checks='no_regression = ["agreement"]')
    record = ("parity.suite.toml", "--judge-mode", "record", "--judge-name", "panel")
    jury.run(*record)
    repository(jury.path)
    commit(jury.path, "recorded")
    against = ("parity.suite.toml", "--judge-name", "panel", "--judge-baseline", "git:HEAD")
    jury.run(*against).assert_outcomes(passed=1)

    # Two members are wrong under another prompt: so is the jury.
    for name in ("ben", "carl"):
        servers[name].reply = lambda prompt: "NO" if even(prompt) == "YES" else "YES"
    table = (jury.path / "pyproject.toml").read_text()
    for name in ("ben", "carl"):
        model = f'model = "m-{name}"\n'
        table = table.replace(model, f'{model}system = "Be quick."\n')
    (jury.path / "pyproject.toml").write_text(table)
    jury.run(*record)
    result = jury.run(*against)
    result.assert_outcomes(failed=1)
    # All six items are lost: a sign test of six has 2 / 2**6 = 0.03.
    result.stdout.fnmatch_lines(["*worse than HEAD*agreement 1.00 to 0.00*"])


def test_members_of_python_are_there_whatever_the_session_selects(project: Project) -> None:
    # Its table is compared with that of then; who is not selected is not lost by that.
    project.pytester.makeconftest(
        "from pytest_judgesense import Judge\n"
        "def says_no(messages):\n    return 'NO'\n"
        "def pytest_judgesense_judges(config):\n"
        "    return [Judge(name, says_no) for name in ('anna', 'ben', 'carl', 'other')]\n"
    )
    (project.path / "pyproject.toml").write_text(PANEL)
    parity_suite(project.path, checks='no_regression = ["agreement"]')
    project.run("parity.suite.toml", "--judge-mode", "record")
    repository(project.path)
    commit(project.path, "recorded")
    result = project.run(
        "parity.suite.toml", "--judge-name", "panel", "--judge-baseline", "git:HEAD"
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["panel, parity since HEAD: undecided in agreement*"])


def test_a_test_cannot_ask_a_jury(jury: Project) -> None:
    jury.pytester.makepyfile("def test_it(judge):\n    judge.ask('Is 2 even?')\n")
    result = jury.run("--judge-name", "panel")
    result.assert_outcomes(errors=1, failed=1)  # the suite is not recorded
    result.stdout.fnmatch_lines(["*a test cannot ask its judge: 'panel' is a jury*"])
