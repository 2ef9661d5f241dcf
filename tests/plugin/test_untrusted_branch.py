"""Recording a branch of somebody else: every way of asking refuses what the branch alone decides.

The host that is not the provider's is reached by a proxy on 127.0.0.1, named by the environment as
a user's is: what a judge sends to ``http://judge.example`` arrives there, and nothing does before
the user has allowed it. `tests.judges.test_trust` has the rule in tables.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import SendingRefused, UsageError
from pytest_judgesense.judges.client import unasked_endpoint
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.judges.resolving import declared_judges, key_of
from pytest_judgesense.judges.trust import ANY_FILES, Trust
from pytest_judgesense.plugin.state import state_of
from pytest_judgesense.suites.loading import _load
from tests.judges.endpoint import Endpoint, endpoint, says
from tests.sources import SOURCES, tree_of
from tests.suites.files import GRADED, GRID, write_suite
from tests.suites.known import load_suite

from .project import TRIALS, WORDINGS, configured, even, no_traceback, parity_suite, run

HOST = "http://judge.example"
KEY = "sk-0123456789abcdefghij"
RECORD = ("--judge-mode", "record")
SUITE = "parity.suite.toml"
# Three ways to ask of tests in Python: by a marker, at once, and in an event loop.
IN_PYTHON = f"""
import asyncio
import pytest

@pytest.mark.jss_floor(0.8, suite="{SUITE}")
def test_marked():
    pass

def test_asking(judge):
    judge.ask("Is 4 even?")

def test_asking_awhile(judge):
    asyncio.run(judge.ask_async("Is 4 even?"))
"""


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The configurations of a user with a key, who has allowed nothing."""
    for name in ("JUDGESENSE_ALLOW_HOSTS", "JUDGESENSE_ALLOW_PATHS", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    folder = tmp_path_factory.mktemp("config")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    return folder


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with endpoint(says(lambda body: even(body["messages"][-1]["content"]))) as served:
        monkeypatch.setenv("http_proxy", served.url.removesuffix("/v1"))
        yield served


@pytest.fixture
def branch(pytester: pytest.Pytester, proxy: Endpoint) -> Path:
    """The folder of the branch: the suite ``parity``, and a judge at a host of its choosing."""
    parity_suite(pytester.path)
    declare(pytester.path)
    return pytester.path


def declare(folder: Path, base_url: str = f"{HOST}/v1", more: str = "") -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m-1"\n'
        f'base_url = "{base_url}"\n{more}\n'
    )


def refused(result: pytest.RunResult, *said: str) -> None:
    """One test failed, by a message of ours that says this."""
    result.assert_outcomes(failed=1)
    shown = " ".join(result.stdout.str().split())
    for text in said:
        assert text in shown, shown
    no_traceback(result)


# -- hosts -----------------------------------------------------------------------------------------

TO_SET = f"export JUDGESENSE_ALLOW_HOSTS={HOST}"


IN_EACH_WAY = pytest.mark.parametrize(
    ("mode", "workers"),
    [
        ("live", ()),
        ("record", ("-n", "1")),
        pytest.param("record", (), marks=pytest.mark.long),
        pytest.param("live", ("-n", "2"), marks=pytest.mark.long),
    ],
)


@IN_EACH_WAY
def test_a_key_is_not_sent_to_a_host_of_the_branch(
    pytester: pytest.Pytester,
    branch: Path,
    proxy: Endpoint,
    mode: str,
    workers: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = run(pytester, SUITE, "--judge-mode", mode, *workers)
    refused(result, f"found: {HOST}, with the key in OPENAI_API_KEY", TO_SET)
    assert proxy.asked == []
    assert not (branch / "cassettes").exists()

    # The line that was printed is what it takes.
    monkeypatch.setenv("JUDGESENSE_ALLOW_HOSTS", HOST)
    run(pytester, SUITE, "--judge-mode", mode, *workers).assert_outcomes(passed=1)
    assert len(proxy.asked) == TRIALS
    assert {asked.path for asked in proxy.asked} == {f"{HOST}/v1/chat/completions"}
    assert {asked.headers["authorization"] for asked in proxy.asked} == {f"Bearer {KEY}"}


def test_nor_by_tests_in_python(
    pytester: pytest.Pytester, branch: Path, proxy: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(test_judged=IN_PYTHON)
    result = run(pytester, "test_judged.py", *RECORD)
    result.assert_outcomes(failed=3)
    assert result.stdout.str().count(TO_SET) >= 3
    assert proxy.asked == []
    monkeypatch.setenv("JUDGESENSE_ALLOW_HOSTS", HOST)
    run(pytester, "test_judged.py", *RECORD).assert_outcomes(passed=3)
    assert len(proxy.asked) == TRIALS + 2


def test_nor_while_recorded_trials_are_asked_again(
    pytester: pytest.Pytester, branch: Path, proxy: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGESENSE_ALLOW_HOSTS", HOST)
    run(pytester, SUITE, *RECORD).assert_outcomes(passed=1)
    monkeypatch.delenv("JUDGESENSE_ALLOW_HOSTS")
    proxy.asked.clear()
    # What is recorded is replayed, wherever it was asked.
    monkeypatch.delenv("OPENAI_API_KEY")
    run(pytester, SUITE).assert_outcomes(passed=1)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    refused(run(pytester, SUITE, "--judge-mode", "live", "--judge-verify", "3"), TO_SET)
    assert proxy.asked == []


def test_nor_to_whoever_repairs_replies(
    pytester: pytest.Pytester, branch: Path, proxy: Endpoint
) -> None:
    other = f'[tool.judgesense.judges.other]\nprovider = "openai"\nmodel = "m"\nbase_url = "{HOST}"'
    declare(branch, proxy.url, f'repair = {{ judge = "other" }}\n{other}')
    refused(run(pytester, SUITE, *RECORD, "--judge-name", "mine"), TO_SET)
    assert proxy.asked == []


def test_the_key_of_another_provider_stays_at_home() -> None:
    table = {"provider": "openai", "model": "m-1", "api_key_env": "ANTHROPIC_API_KEY"}
    judge = judge_from_table("mine", {**table, "base_url": "https://api.openai.com/v1"}, Path())
    with pytest.raises(SendingRefused) as error:
        ANY_FILES.refuse_host(judge, unasked_endpoint(judge).base_url, key_of(judge)[0])
    assert error.value.found == "api.openai.com, with the key in ANTHROPIC_API_KEY"
    assert error.value.expected.startswith("api.anthropic.com")


def test_nothing_in_the_branch_allows_its_host(
    pytester: pytest.Pytester, branch: Path, proxy: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = f'allow_hosts = ["{HOST}"]\n'
    project = branch / "pyproject.toml"
    declared = project.read_text()
    project.write_text(f"[tool.judgesense]\n{allowed}{declared}")
    with pytest.raises(UsageError, match="has a key that is not known") as error:
        declared_judges(branch)
    assert "'allow_hosts'" in error.value.found
    project.write_text(declared)
    # A folder of configurations as it is called in the home of a user.
    folder = branch / ".config" / "judgesense"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(allowed)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(branch / ".config"))
    refused(run(pytester, SUITE, *RECORD), TO_SET)
    assert proxy.asked == []


@pytest.mark.long
@pytest.mark.parametrize("spec", ["popen//env:{}", "2*env:{}//popen"])
def test_nor_do_variables_that_the_branch_sets_for_workers(
    pytester: pytest.Pytester, branch: Path, proxy: Endpoint, spec: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    spec = spec.format(f"JUDGESENSE_ALLOW_HOSTS={HOST.removeprefix('http://')}:80")
    pytester.makeini(f"[pytest]\naddopts = -d --tx {spec}")
    result = run(pytester, SUITE, *RECORD)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --tx {spec} sets environment variables of the workers*"])
    no_traceback(result)
    assert proxy.asked == []

    # The user may, typed or in the environment, and a replay asks nobody.
    pytester.makeini("[pytest]\n")
    typed = "popen//env:JUDGESENSE_ALLOW_HOSTS=x.example"
    in_force = f"export JUDGESENSE_ALLOW_HOSTS=x.example,{HOST}"
    refused(run(pytester, SUITE, *RECORD, "-d", "--tx", typed), in_force)
    monkeypatch.setenv("PYTEST_ADDOPTS", f"-d --tx {typed}")
    refused(run(pytester, SUITE, *RECORD), in_force)


def test_the_user_allows_it_for_good(
    pytester: pytest.Pytester,
    branch: Path,
    proxy: Endpoint,
    home: Path,
) -> None:
    (home / "judgesense").mkdir()
    (home / "judgesense" / "config.toml").write_text(f'allow_hosts = ["{HOST}"]\n')
    run(pytester, SUITE, *RECORD, "-n", "1").assert_outcomes(passed=1)
    assert len(proxy.asked) == TRIALS


# -- files -----------------------------------------------------------------------------------------


@pytest.fixture
def private(pytester: pytest.Pytester) -> Path:
    """A folder of the user beside the branch, with a suite and a file in it."""
    folder = pytester.path.with_name(f"{pytester.path.name}-private")
    parity_suite(folder)
    (folder / "notes.txt").write_text("Is {{number}} even? (my own notes)")
    return folder


@pytest.fixture
def here(branch: Path, proxy: Endpoint) -> Path:
    """The branch, with its judge on this machine."""
    declare(branch, proxy.url)
    return branch


def _linked(folder: Path, private: Path) -> str:
    (folder / "prompts").symlink_to(private, target_is_directory=True)
    return "prompts/notes.txt"


PROMPTS: dict[str, Any] = {
    "absolute": lambda _, private: str(private / "notes.txt"),
    "above": lambda _, private: f"../{private.name}/notes.txt",
    "a link": _linked,
}


@pytest.mark.long
@pytest.mark.parametrize("way", PROMPTS)
def test_a_prompt_from_outside_is_not_sent(
    pytester: pytest.Pytester, here: Path, proxy: Endpoint, private: Path, way: str,
    workers: tuple[str, ...], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    wordings = f"{{ file = '{PROMPTS[way](here, private)}' }}, '{WORDINGS[1]}'"
    declare(here, proxy.url, f"prompts = {{ paraphrases = [{wordings}] }}")
    result = run(pytester, SUITE, *RECORD, *workers)
    line = f"export JUDGESENSE_ALLOW_PATHS={private}"
    refused(result, f"found: {private / 'notes.txt'}", line)
    assert "my own notes" not in result.stdout.str()
    assert proxy.asked == []
    monkeypatch.setenv("JUDGESENSE_ALLOW_PATHS", str(private))
    run(pytester, SUITE, *RECORD, *workers)
    assert len(proxy.asked) == 6 * 2  # six numbers, two wordings
    # Replayed it is without being allowed: nobody is sent anything.
    monkeypatch.delenv("JUDGESENSE_ALLOW_PATHS")
    shown = run(pytester, SUITE, *workers).stdout.str()
    assert "outside the project" not in shown
    assert "12 replayed" in shown


@IN_EACH_WAY
def test_items_from_outside_are_not_sent(
    pytester: pytest.Pytester,
    here: Path,
    proxy: Endpoint,
    private: Path,
    mode: str,
    workers: tuple[str, ...],
) -> None:
    # In a folder below, from which the path is counted.
    suite = parity_suite(here / "suites" / "parity")
    named = f"../../../{private.name}/parity.jsonl"
    suite.write_text(suite.read_text().replace('"parity.jsonl"', f'"{named}"'))
    result = run(pytester, "suites", "--judge-mode", mode, *workers)
    refused(result, "suite parity cannot be asked about", f"found: {private / 'parity.jsonl'}")
    assert proxy.asked == []


def test_a_suite_behind_a_link_is_not_sent_though_its_path_is_typed(
    pytester: pytest.Pytester, here: Path, proxy: Endpoint, private: Path
) -> None:
    (here / "suites").symlink_to(private, target_is_directory=True)
    result = run(pytester, "suites/parity.suite.toml", "--judge-name", "mine", *RECORD)
    # Whichever of both folders its judges are looked up from, the branch has chosen it.
    refused(result, f"found: {private / 'parity.suite.toml'}")
    assert proxy.asked == []


def trust_of(config: pytest.Config) -> Trust:
    """What a session of this configuration may send."""
    return state_of(config).run.measurements.trust


@pytest.mark.parametrize(
    "written",
    [
        "addopts = {path}",
        "testpaths = {folder}",
        "addopts = --rootdir={folder}/.. {path}",
        "addopts = {path} @typed.txt",
    ],
)
def test_paths_that_the_branch_writes_are_not_typed(
    pytester: pytest.Pytester, here: Path, private: Path, written: str
) -> None:
    path = f"../{private.name}/{SUITE}"
    (here / "typed.txt").write_text(path)
    pytester.makeini("[pytest]\n" + written.format(path=path, folder=private))
    config = configured(pytester, *RECORD)
    assert private.name in config.args[0]  # it would be collected
    with pytest.raises(SendingRefused) as error:
        trust_of(config).refuse_suite(load_suite(private / SUITE))
    assert error.value.found == str(private / SUITE)


def test_nor_do_workers_take_them_for_typed(
    pytester: pytest.Pytester, here: Path, proxy: Endpoint, private: Path
) -> None:
    declare(private, proxy.url)
    pytester.makeini(f"[pytest]\naddopts = ../{private.name}/{SUITE}")
    refused(run(pytester, *RECORD, "-n", "1"), f"found: {private / SUITE}")
    assert proxy.asked == []


def test_a_typed_path_is_the_users_own(
    pytester: pytest.Pytester, here: Path, proxy: Endpoint, private: Path
) -> None:
    declare(private, proxy.url)
    pytester.makeini("[pytest]")
    path = f"../{private.name}/{SUITE}::mine"
    config = configured(pytester, "--rootdir", here, path, *RECORD)
    trust_of(config).refuse_suite(load_suite(private / SUITE))
    run(pytester, "--rootdir", here, path, *RECORD, "-n", "1").assert_outcomes(passed=1)
    assert len(proxy.asked) == TRIALS


def test_a_suite_that_comes_with_the_package_is_sent(
    pytester: pytest.Pytester, here: Path, proxy: Endpoint
) -> None:
    # One call shows it: the reply is none of that suite, and others would wait for retries.
    run(pytester, "--judge-suite", "vacuum", *RECORD, "--judge-max-calls", "1")
    assert proxy.asked


# -- commands --------------------------------------------------------------------------------------


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    _load.cache_clear()  # as in a process of its own
    code = main([*arguments])
    return code, capsys.readouterr().err


def test_comparing_wordings_refuses_host_and_files(
    branch: Path,
    proxy: Endpoint,
    private: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asking = ["label", SUITE, "--wordings", "--judge-name", "mine"]
    code, error = told(capsys, *asking, *RECORD)
    assert (code, TO_SET in error) == (3, True)
    # The judge's own prompts play no part there; the items' file comes with the wordings.
    declare(branch, proxy.url)
    (branch / "parity.jsonl").unlink()
    (branch / "parity.jsonl").symlink_to(private / "parity.jsonl")
    code, error = told(capsys, *asking, *RECORD)
    assert (code, f"found:    {private / 'parity.jsonl'}" in error) == (3, True)
    assert proxy.asked == []
    # Of a suite whose path is typed it is the user's.
    asking[1] = f"../{private.name}/{SUITE}"
    assert told(capsys, *asking, *RECORD)[0] == 0
    assert proxy.asked


def test_label_refuses_host_and_files(
    branch: Path, proxy: Endpoint, private: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_suite(branch, GRID, [{**GRADED[0], "label": None}, GRADED[1]])
    asking = ["label", "tiny.suite.toml", "--judge-name", "mine", "-o", "new.jsonl", *RECORD]
    code, error = told(capsys, *asking)
    assert (code, TO_SET in error) == (3, True)
    declare(branch, proxy.url)
    (items,) = [path for path in branch.glob("*.jsonl") if path.name != "parity.jsonl"]
    items.rename(private / items.name)
    items.symlink_to(private / items.name)
    code, error = told(capsys, *asking)
    assert (code, f"found:    {private / items.name}" in error) == (3, True)
    assert proxy.asked == []


def test_a_batch_file_is_not_made_of_files_from_outside(
    here: Path, proxy: Endpoint, private: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export = ["recordings", "batch", "export", SUITE, "--judge-name", "mine", "-o", "out.jsonl"]
    prompt = f"{{ file = '{private / 'notes.txt'}' }}"
    declare(here, proxy.url, f"prompts = {{ paraphrases = [{prompt}, {prompt}] }}")
    code, error = told(capsys, *export)
    assert (code, f"found:    {private / 'notes.txt'}" in error) == (3, True)
    declare(here, proxy.url)
    (here / "parity.jsonl").unlink()
    (here / "parity.jsonl").symlink_to(private / "parity.jsonl")
    code, error = told(capsys, *export)
    assert (code, f"found:    {private / 'parity.jsonl'}" in error) == (3, True)
    assert not (here / "out.jsonl").exists()


# -- and every way there will be -------------------------------------------------------------------

# `Asking` is what those that ask about a suite are given as `asking`.
ASKS = frozenset({"open_client", "ask_all", "measure", "record", "Asking"})
REPLAYS: dict[str, str] = {}


def asking_calls(names: frozenset[str]) -> dict[tuple[str, str], set[str | None]]:
    """The keywords of every call of these names in the package, by module and name."""
    return {
        (module, call.func.id): {word.arg for word in call.keywords}
        for module, source in SOURCES.items()
        for call in ast.walk(tree_of(source))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in names
        and REPLAYS.get(module) != call.func.id
    }


def test_whoever_asks_says_what_may_be_sent() -> None:
    calls = asking_calls(ASKS)
    assert {name for _, name in calls} == ASKS
    assert [called for called, words in calls.items() if not words & {"trust", "asking"}] == []
    free = {module for module, source in SOURCES.items() if "UNRESTRICTED" in source}
    assert free == {"asking.inquiry", "measurement", *REPLAYS}
