"""Other plugins in one session with this one: the real ones, in processes of their own.

Two of them change every run that they are installed for (pytest-randomly shuffles and seeds,
pytest-rerunfailures opens a socket), so they are no part of the extra ``test``, which all other
tests run in, but of ``neighbours``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.plugin.timeouts import limit_of_session
from tests import processes

from .project import TRIALS, Project, flips_on_two, forked, parity_suite, times_asked

# Name of the plugin to what is imported, and that to what pytest loads.
NEIGHBOURS = {
    "asyncio": "pytest_asyncio",
    "flakefinder": "pytest_flakefinder",
    "forked": "pytest_forked",
    "hypothesispytest": "hypothesis",
    "pytest-retry": "pytest_retry",
    "randomly": "pytest_randomly",
    "recording": "pytest_recording",
    "rerunfailures": "pytest_rerunfailures",
    "socket": "pytest_socket",
    "timeout": "pytest_timeout",
}
MODULES = {
    "asyncio": "pytest_asyncio.plugin",
    "flakefinder": "pytest_flakefinder",
    "forked": "pytest_forked",
    "hypothesispytest": "_hypothesis_pytestplugin",
    "recording": "pytest_recording.plugin",
    "socket": "pytest_socket",
    "timeout": "pytest_timeout",
}
TWO_CHECKS = "jss_floor = 0.8\nagreement_floor = 0.9"
ASYNCIO = ("-o", "asyncio_default_fixture_loop_scope=function")

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def beside(project: Project) -> Run:
    """Run pytest in a process of its own, with the named neighbours and no other."""

    def run(names: str, *arguments: str) -> pytest.RunResult:
        for name in names.split():
            if find_spec(NEIGHBOURS[name]) is None:
                pytest.skip(f"{NEIGHBOURS[name]} is not installed: pip install '.[neighbours]'")
        if set(names.split()) <= set(MODULES):
            # Forked of a process that has imported what all of them share.
            plugins = (*processes.PLUGINS[:2], *(MODULES[name] for name in names.split()))
            return forked(project.pytester, *arguments, plugins=plugins)
        # Found by pytest as installed, by workers of xdist as well.
        others = [f"no:{name}" for name in NEIGHBOURS if name not in names.split()]
        chosen = [part for other in others for part in ("-p", other)]
        return project.pytester.runpytest_subprocess(*chosen, *arguments)

    return run


# --- pytest-recording ----------------------------------------------------------------------------

THEIRS = """
import httpx, pytest, requests

BODY = {{"messages": [{{"role": "user", "content": "Is 8 even?"}}]}}

def _reply(post):
    return post("{url}/chat/completions", json=BODY).json()["choices"][0]["message"]["content"]

@pytest.mark.vcr
@pytest.mark.parametrize("client", [httpx, requests])
def test_theirs(client):
    assert _reply(client.post) == "YES"

@pytest.mark.vcr
def test_both(judge):
    assert _reply(httpx.post) == "YES"
    assert judge.ask("Is 3 even?").text == "NO"
    assert _reply(requests.post) == "YES"

@pytest.mark.vcr
@pytest.mark.jss_floor(0.8, suite="parity.suite.toml")
def test_checked():
    assert _reply(httpx.post) == "YES"
"""


def test_cassettes_of_pytest_recording_and_of_judges_keep_to_themselves(
    project: Project, beside: Run
) -> None:
    project.pytester.makepyfile(test_theirs=THEIRS.format(url=project.server.base_url))
    recording = beside("recording", ".", "--judge-mode", "record", "--record-mode", "once")
    recording.assert_outcomes(passed=5)
    # Theirs: 1 and 1, 2 of test_both, 1 of test_checked; ours: the suite and one question.
    assert len(project.server.asked) == 5 + TRIALS + 1
    assert len(read_exchanges(project.cassette)) == TRIALS
    (question,) = (project.path / "cassettes" / "mine" / "tests").glob("*.jsonl")
    assert [line.call for line in read_exchanges(question)] == [1]
    # Theirs stand in `cassettes/<module>/<test>.yaml`.
    written = sorted((project.path / "cassettes" / "test_theirs").glob("*.yaml"))
    assert [path.read_text().count("- request:") for path in written] == [2, 1, 1, 1]
    assert all("Is 3 even?" not in path.read_text() for path in written)

    project.server.forget()
    offline = ("--record-mode", "none", "--block-network")
    beside("recording", ".", *offline).assert_outcomes(passed=5)
    assert project.server.asked == []


# --- pytest-randomly -----------------------------------------------------------------------------


def test_the_order_of_items_changes_nothing(project: Project, beside: Run) -> None:
    parity_suite(project.path / "a", checks=TWO_CHECKS)
    parity_suite(project.path / "b", name="other", checks=TWO_CHECKS)
    project.suite.unlink()
    project.server.reply = flips_on_two
    project.pytester.makepyfile(
        test_marked="import pytest\n\n"
        '@pytest.mark.flip_rate_bound(0.2, suite="a/parity.suite.toml")\n'
        "def test_it(): pass\n\n"
        'def test_asks(judge):\n    assert judge.ask("Is 4 even?").text == "YES"\n'
    )
    orders, sheets = set(), set()
    for seed in ("1", "2", "3"):
        arguments = (".", "--randomly-seed", seed, "--judge-datasheet", f"{seed}.json", "-v")
        mode = ("--judge-mode", "record") if seed == "1" else ()
        result = beside("randomly", *arguments, *mode)
        result.assert_outcomes(passed=6)
        orders.add(tuple(line.split(" ")[0] for line in result.outlines if " PASSED" in line))
        if not mode:  # which says `record`
            sheets.add((project.path / f"{seed}.json").read_bytes())
    assert len(orders) > 1  # else nothing was shuffled
    assert len(sheets) == 1
    assert set(times_asked(map(str, project.server.asked))) == {1, 2}  # two suites ask alike
    assert len(project.server.asked) == 2 * TRIALS + 1


# --- pytest-rerunfailures ------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "workers"), [("live", ("-n", "2")), ("replay", ())])
def test_a_rerun_uses_the_same_judgments_and_counts_nothing_twice(
    project: Project, beside: Run, workers: tuple[str, ...], mode: str
) -> None:
    if find_spec(NEIGHBOURS["rerunfailures"]) is None:
        pytest.skip("pytest_rerunfailures is not installed: pip install '.[neighbours]'")
    parity_suite(project.path, checks="jss_floor = 0.9\nagreement_floor = 0.9")
    project.server.reply = flips_on_two  # JSS 16/18 < 0.9
    project.record()
    arguments = ("parity.suite.toml", "--judge-mode", mode, *workers)
    plain = beside("", *arguments, "--judge-datasheet", "plain.json")
    plain.assert_outcomes(passed=1, failed=1)
    project.server.forget()
    again = beside("rerunfailures", *arguments, "--reruns", "2", "--judge-datasheet", "again.json")
    assert "1 failed, 1 passed, 2 rerun" in again.outlines[-1]
    assert len(project.server.asked) == (TRIALS if mode == "live" else 0)

    def sheet(name: str) -> object:
        found = json.loads((project.path / name).read_text(encoding="utf-8"))
        for judge in found["judges"]:
            if mode == "live":  # each session has asked at a time of its own
                judge["judge"].pop("recorded")
                for part in judge["parts"]:
                    part.pop("recorded", None)
        return found

    assert sheet("again.json") == sheet("plain.json")
    (judge,) = sheet("again.json")["judges"]  # type: ignore[index]
    assert [check["check"] for check in judge["checks"]] == [
        "agreement_floor[0.9]",
        "jss_floor[0.9]",
    ]
    assert judge["calls"]["made" if mode == "live" else "replayed"] == TRIALS


@pytest.mark.parametrize("mode", ["live", "record"])
def test_a_rerun_asks_no_question_again(project: Project, beside: Run, mode: str) -> None:
    project.pytester.makepyfile(
        test_one="RUNS = []\n\n"
        "def test_it(judge):\n    RUNS.append(judge.ask('Is 4 even?').text)\n"
        "    assert RUNS == ['YES'] * 3\n"
    )
    result = beside("rerunfailures", "test_one.py", "--reruns", "3", "--judge-mode", mode)
    assert "1 passed, 2 rerun" in result.outlines[-1]
    assert len(project.server.asked) == 1


# --- pytest-retry, pytest-flakefinder, pytest-forked ----------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "outcomes"),
    [
        # Of two checks one fails, and is run once more with the same judgments.
        ("pytest-retry", ("--retries", "1"), {"failed": 1, "passed": 1, "retried": 1}),
        ("flakefinder", ("--flake-finder", "--flake-runs", "3"), {"failed": 3, "passed": 3}),
    ],
)
def test_checks_that_are_run_again_keep_their_outcomes_and_ask_nothing(
    project: Project, beside: Run, name: str, options: tuple[str, ...], outcomes: dict[str, int]
) -> None:
    parity_suite(project.path, checks="jss_floor = 0.9\nagreement_floor = 0.9")
    project.server.reply = flips_on_two  # JSS 16/18 < 0.9; 17 of 18 agree with their labels
    project.record()
    project.server.forget()
    result = beside(name, "parity.suite.toml", *options, "--judge-datasheet", "x.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    counted = result.parse_summary_nouns(result.outlines)
    assert {noun: counted[noun] for noun in outcomes} == outcomes
    assert project.server.asked == []
    (judge,) = json.loads((project.path / "x.json").read_text(encoding="utf-8"))["judges"]
    assert [check["outcome"] for check in judge["checks"]] == ["pass", "fail"]
    assert judge["calls"]["replayed"] == TRIALS


@pytest.mark.parametrize("how", ["option", "marker"])
def test_a_process_of_its_own_for_each_test_measures_no_judge(
    project: Project, beside: Run, how: str
) -> None:
    mark = "@pytest.mark.forked\n" if how == "marker" else ""
    project.pytester.makepyfile(
        test_one=f"import pytest\n\n{mark}"
        "def test_it(judge):\n    assert judge.ask('Is 4 even?').text == 'YES'\n"
    )
    options = ("--forked",) if how == "option" else ()
    result = beside("forked", "test_one.py", "--judge-mode", "record", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.stderr.str().count("a process of its own for each test") == 1
    assert project.server.asked == []


def test_other_tests_may_have_a_process_of_their_own(project: Project, beside: Run) -> None:
    project.pytester.makepyfile(test_one="def test_it(): pass\n")
    result = beside("forked", "test_one.py", "--forked")
    # pytest-forked 1.7 fails every test under pytest 9.2; it is run, and we refuse nothing.
    assert result.ret in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    assert "judges cannot be measured" not in result.stdout.str() + result.stderr.str()


# --- pytest-timeout ------------------------------------------------------------------------------


LIMIT = (
    "judgesense: pytest-timeout ends a test after 30 s, and asking a judge is part of its test: "
    "--timeout 0 sets no limit"
)


@pytest.mark.parametrize(
    ("arguments", "variable", "limited"),
    [
        (("--timeout", "30"), None, True),
        (("-o", "timeout=30"), None, True),
        ((), "30", True),
        (("--timeout", "0"), None, False),
        (("--timeout", "0", "-o", "timeout=30"), "30", False),
        ((), None, False),
    ],
)
def test_the_limit_on_tests_is_that_of_the_option_the_environment_or_the_ini_file(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    variable: str | None,
    limited: bool,
) -> None:
    if find_spec("pytest_timeout") is None:
        pytest.skip("pytest_timeout is not installed: pip install '.[neighbours]'")
    if variable is not None:
        monkeypatch.setenv("PYTEST_TIMEOUT", variable)
    assert limit_of_session(pytester.parseconfig(*arguments)) == (LIMIT if limited else None)


@pytest.mark.parametrize(("how", "extra"), [("option", ()), ("environment", ("-n", "1"))])
def test_a_limit_on_tests_is_told_before_judges_are_asked(
    project: Project,
    beside: Run,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
    extra: tuple[str, ...],
) -> None:
    arguments: tuple[str, ...] = ("--timeout", "30") if how == "option" else ()
    if how == "environment":
        monkeypatch.setenv("PYTEST_TIMEOUT", "30")
    result = beside("timeout", "parity.suite.toml", "--judge-mode", "record", *arguments, *extra)
    result.assert_outcomes(passed=1)
    assert result.outlines.count(LIMIT) == 1
    assert len(project.server.asked) == TRIALS


MARKED = """
import pytest

@pytest.mark.timeout(30)
@pytest.mark.jss_floor(0.8, suite="parity.suite.toml")
def test_marked(): pass

@pytest.mark.timeout(timeout=20)
def test_fixture(judge):
    assert judge.ask("Is 4 even?").text == "YES"

@pytest.mark.timeout(0)
@pytest.mark.agreement_floor(0.8, suite="parity.suite.toml")
def test_without_a_limit(): pass

@pytest.mark.timeout(10)
def test_without_a_judge(): pass
"""
OF_MARKERS = (
    "judgesense: pytest-timeout ends test_marked.py::test_fixture[mine] after 20 s by its marker, "
    "1 more test by its own, and asking a judge is part of its test: @pytest.mark.timeout(0) "
    "sets no limit"
)


@pytest.mark.long
@pytest.mark.parametrize("extra", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_limit_of_a_marker_is_told_before_the_first_test(
    project: Project, beside: Run, extra: tuple[str, ...]
) -> None:
    project.pytester.makepyfile(test_marked=MARKED)
    asked = ("test_marked.py", "--judge-mode", "record", "--strict-markers", "-v")
    result = beside("timeout", *asked, *extra)
    result.assert_outcomes(passed=4)
    assert result.outlines.count(OF_MARKERS) == 1
    reported = [n for n, line in enumerate(result.outlines) if "PASSED" in line]
    assert result.outlines.index(OF_MARKERS) < reported[0]
    assert len(project.server.asked) == TRIALS + 1
    # A replay makes no calls.
    again = beside("timeout", "test_marked.py", *extra)
    again.assert_outcomes(passed=4)
    assert "judgesense: pytest-timeout" not in again.stdout.str()


def test_without_a_limit_or_without_a_call_nothing_is_told(project: Project, beside: Run) -> None:
    for arguments in (("--judge-mode", "record", "--timeout", "0"), ("--timeout", "30")):
        result = beside("timeout", "parity.suite.toml", *arguments)
        result.assert_outcomes(passed=1)
        told = [line for line in result.outlines if line.startswith("judgesense: pytest-timeout")]
        assert told == []


# --- pytest-socket -------------------------------------------------------------------------------

CALLABLE = """
import asyncio, httpx, requests, ssl
from pytest_judgesense import Judge

TRUSTED = ssl.create_default_context()  # once: httpx takes 30 ms of the processor for it
URL = "{url}/chat/completions"

def text(answer):
    return answer.json()["choices"][0]["message"]["content"]

def blocking(messages):
    return text(requests.post(URL, json={{"messages": messages}}, timeout=10))

async def awaited(messages):
    async with httpx.AsyncClient(verify=TRUSTED) as client:
        return text(await client.post(URL, json={{"messages": messages}}))

def with_a_loop(messages):
    return asyncio.run(awaited(messages))

def pytest_judgesense_judges(config):
    return [Judge("a", blocking), Judge("b", awaited), Judge("c", with_a_loop)]
"""
OFFLINE = """
import asyncio, socket
import pytest

def test_sync(judge):
    assert judge.ask("Is 4 even?").text == "YES"

@pytest.mark.enable_socket
def test_theirs():
    socket.socket().close()
    socket.getaddrinfo("127.0.0.1", 80)

@pytest.mark.asyncio
async def test_async(judge):
    assert (await judge.ask_async("Is 5 even?")).text == "NO"
"""


@pytest.mark.long
def test_everything_replays_where_sockets_are_disabled(project: Project, beside: Run) -> None:
    project.pytester.makeconftest(CALLABLE.format(url=project.server.base_url))
    project.pytester.makepyfile(test_one=OFFLINE)
    recording = beside("asyncio socket", ".", *ASYNCIO, "--judge-mode", "record")
    recording.assert_outcomes(passed=4 + 2 * 4 + 1)  # 4 judges: the one declared, and 3 callables
    assert len(project.server.asked) == 4 * (TRIALS + 2)
    project.server.forget()
    # asyncio's own loops need a socket pair: of the async test here, and not of ours.
    strict = ("--disable-socket", "-k", "not async")
    beside("asyncio socket", ".", *ASYNCIO, *strict).assert_outcomes(passed=9, deselected=4)
    loops = ("--disable-socket", "--allow-unix-socket")
    beside("asyncio socket", ".", *ASYNCIO, *loops).assert_outcomes(passed=13)
    assert project.server.asked == []


def test_a_test_whose_sockets_are_disabled_leaves_those_of_others_alone(
    project: Project, beside: Run
) -> None:
    project.pytester.makepyfile(
        test_one="import socket, pytest\n\n"
        "@pytest.mark.disable_socket\n"
        "def test_one(judge):\n    assert judge.ask('Is 4 even?').text == 'YES'\n\n"
        "def test_two():\n    socket.getaddrinfo('127.0.0.1', 80)\n"
    )
    beside("", "test_one.py", "--judge-mode", "record", "-W", "ignore").assert_outcomes(passed=2)
    beside("socket", "test_one.py").assert_outcomes(passed=2)


def test_recording_where_sockets_are_disabled_says_so(project: Project, beside: Run) -> None:
    project.pytester.makepyfile(test_one="def test_it(judge):\n    judge.ask('Is 4 even?')\n")
    recording = ("parity.suite.toml", "test_one.py", "--judge-mode", "record")
    result = beside("socket", *recording, "--disable-socket")
    # The suite has no fixtures: pytest-socket leaves it alone.
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*SocketBlockedError*"])


# --- warnings ------------------------------------------------------------------------------------


@pytest.mark.long
def test_warnings_as_errors_find_nothing_in_tests_that_ask(project: Project, beside: Run) -> None:
    project.pytester.makeconftest(CALLABLE.format(url=project.server.base_url))
    source = OFFLINE.replace("@pytest.mark.enable_socket", "")
    project.pytester.makepyfile(test_one=source)
    for mode in ("record", "replay"):
        strict = ("-W", "error", *ASYNCIO, "--judge-mode", mode)
        result = beside("asyncio", ".", *strict)
        result.assert_outcomes(passed=13, warnings=0)
        assert "Warning" not in result.stdout.str() + result.stderr.str()


def test_no_neighbour_is_missing_from_the_extras() -> None:
    """So that a full run proves what this file says."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    for module in NEIGHBOURS.values():
        assert f'"{module.replace("_", "-")}' in text
