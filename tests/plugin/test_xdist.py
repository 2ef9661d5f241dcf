"""Sessions spread over workers of xdist: nothing is asked twice, and the results are those of one.

The project has all that can share what it asks: several checks of one suite, a marker test on the
same suite, a criterion suite whose baseline is the ladder's, questions of the `judge` fixture; and
two judges, of which one is a Python function with a client of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import processes
from tests.suites.known import builtin_suites

from .project import (
    TRIALS,
    ChatServer,
    Project,
    even,
    flips_on_two,
    forked,
    no_traceback,
    parity_suite,
)

# Of one task of the ladder, distances 0 and 5: 6 levels beside themselves and 1 pair, both orders.
LADDER = 14
# What both judges are asked: the criterion's baseline is the ladder's, and its strict arm as long;
# two tests ask two questions each.
ASKED = TRIALS + LADDER + LADDER + 4
CONFTEST = """
import httpx
import pytest
from pytest_judgesense import Judge

def code(messages):
    asked = {{"model": "code", "messages": messages}}
    response = httpx.post("{base_url}/chat/completions", json=asked)
    response.raise_for_status()
    return response.json()["choices"][0]["message"]["content"]

def pytest_judgesense_judges(config):
    return [Judge("code", code)]
"""

TESTS = """
import pytest

@pytest.mark.jss_floor(0.5, suite="parity.suite.toml")
def test_marker():
    pass

@pytest.mark.xdist_group("questions")
def test_question(judge):
    assert judge.ask("Is 100 even?").text == "YES"
    assert judge.ask("Is 101 even?").text == "NO"

def test_other_question(judge):
    assert judge.ask("Is 102 even?").text == "YES"
    assert judge.ask("Is 103 even?").text == "NO"
"""

MODES = ("load", "loadscope", "loadfile", "loadgroup", "worksteal", "no")
# Every mode with two workers, some with four; recording and live in turns. In the gate: how README
# runs its own tests, xdist's default, and groups.
IN_GATE = {("2", "load"), ("2", "loadgroup")}
SPREAD = [
    pytest.param(
        ("record", "live")[i % 2],
        ("-n", n, "--dist", dist),
        marks=() if (n, dist) in IN_GATE else pytest.mark.long,
    )
    for i, (n, dist) in enumerate(
        [*(("2", dist) for dist in MODES), ("4", "load"), ("4", "loadscope"), ("4", "worksteal")]
    )
]


class Result(NamedTuple):
    """What a session has left.

    Attributes:
        asked: how often each judge was asked each prompt, as the endpoint counted.
        outcomes: pytest's last line without the time.
        files: content of recordings and datasheets, without what differs between any two runs.
    """

    asked: Counter[tuple[str, str]]
    outcomes: str
    files: dict[str, str]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ChatServer]:
    served = ChatServer()
    served.reply = lambda prompt: even(prompt) if " even" in prompt or "halved" in prompt else "A"
    served.status = lambda prompt: 400 if fails(prompt) else 200
    yield served
    served.close()


def fails(prompt: str) -> bool:
    """Whether the endpoint refuses a prompt: one of parity, and one pair of the shared baseline.

    Of two responses of different levels, only the better one gives the roof as the reason.
    """
    one_better = "Choose tie if neither" in prompt and prompt.count("roof") == 1
    return one_better or prompt.startswith("Tell whether 5 ")


def prepare(folder: Path, endpoint: ChatServer) -> Path:
    """Write the project into ``folder``."""
    parity_suite(folder, checks="jss_floor = 0.5\nkappa_floor = 0.5\nagreement_floor = 0.5")
    for name in ("ladder", "criterion"):
        place = folder / name
        place.mkdir()
        source = builtin_suites()[name]
        text = source.read_text(encoding="utf-8").partition("[presets")[0]
        text = text.replace('judges = ["embedded:clean"]', "").replace("distances", "# distances")
        text = text.replace("subsets", "# subsets").replace(
            "[design]", 'distances = [0, 5]\nsubsets = ["same"]\n[design]'
        )
        text += "[checks]\nside_bias_limit = 0.5\nunparsed_rate_ceiling = 0.5\n"
        (place / source.name).write_text(text, encoding="utf-8")
    tasks = (builtin_suites()["ladder"].parent / "tasks.jsonl").read_text(encoding="utf-8")
    (folder / "ladder" / "tasks.jsonl").write_text(tasks.partition("\n")[0] + "\n")
    (folder / "conftest.py").write_text(CONFTEST.format(base_url=endpoint.base_url))
    (folder / "test_judges.py").write_text(TESTS)
    (folder / "pyproject.toml").write_text(
        f'[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m-1"\n'
        f'base_url = "{endpoint.base_url}"\n'
    )
    return folder


def pytest_in(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in ``folder``, in a process of its own."""
    plugins = processes.PLUGINS[:2]
    return processes.run("pytest", "-p", "no:cacheprovider", *args, cwd=folder, plugins=plugins)


def session(folder: Path, endpoint: ChatServer, mode: str, workers: Sequence[str]) -> Result:
    """Measure both judges on everything in ``folder``, and see what that has left."""
    endpoint.forget()
    result = pytest_in(
        folder,
        *("--judge-name", "mine", "--judge-name", "code", "--judge-mode", mode),
        *("--judge-datasheet", "x.json", "--judge-datasheet", "x.jsonl"),
        *(("--judge-save-live", "cassettes") if mode == "live" else ()),
        *workers,
    )
    assert result.returncode in (0, 1), result.stdout + result.stderr
    # Printed by the controller, once.
    assert len(re.findall("^=+ judge datasheet =+$", result.stdout, re.MULTILINE)) == 1
    assert result.stdout.count("datasheet written") == 2
    return Result(
        Counter((body["model"], body["messages"][-1]["content"]) for body in endpoint.asked),
        result.stdout.splitlines()[-1].strip("= ").partition(" in ")[0],
        {
            path.relative_to(folder).as_posix(): comparable(path.read_text(encoding="utf-8"))
            for path in (*folder.glob("cassettes/**/*"), folder / "x.json", folder / "x.jsonl")
            if path.is_file()
        },
    )


def comparable(text: str) -> str:
    """``text`` without dates and times, the rest byte for byte."""
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<date>", text)
    return re.sub(r'"(latency_s|wall_clock_s)": ?[0-9.e-]+', r'"\1":0', text)


@pytest.fixture(scope="module")
def one_process(
    tmp_path_factory: pytest.TempPathFactory, endpoint: ChatServer
) -> dict[str, Result]:
    """What a session without xdist leaves, by mode."""
    return {
        mode: session(prepare(tmp_path_factory.mktemp(mode), endpoint), endpoint, mode, ())
        for mode in ("record", "live")
    }


@pytest.mark.parametrize("mode", ["record", "live"])
def test_one_process_asks_each_trial_once(one_process: dict[str, Result], mode: str) -> None:
    asked = one_process[mode].asked
    for model in ("m-1", "code"):
        assert sum(times for (name, _), times in asked.items() if name == model) == ASKED
    sheet = json.loads(one_process[mode].files["x.json"])
    for judge in sheet["judges"]:
        assert judge["calls"]["made"] == TRIALS + 2 * LADDER
        # The criterion's baseline counts as made by the first suite by name that holds it.
        made = {part["suite"]: part["calls"]["made"] for part in judge["parts"]}
        assert made == {"criterion": 2 * LADDER, "ladder": 0, "parity": TRIALS}
        # 1 of parity; the baseline of the one pair of levels 0 and 5, in two orders, which both
        # suites hold.
        failed = {part["suite"]: part["calls"]["failed"] for part in judge["parts"]}
        assert failed == {"criterion": 2, "ladder": 2, "parity": 1}
        assert judge["calls"]["retried"] == 0


@pytest.mark.parametrize(
    ("mode", "workers"),
    [pytest.param("record", ("-n", "0"), marks=pytest.mark.long), *SPREAD],
    ids=lambda value: value if isinstance(value, str) else "".join(value).replace("--dist", "-"),
)
def test_workers_ask_and_leave_what_one_process_does(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    endpoint: ChatServer,
    one_process: dict[str, Result],
    mode: str,
    workers: tuple[str, ...],
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    found = session(prepare(tmp_path / "project", endpoint), endpoint, mode, workers)
    expected = one_process[mode]
    assert found.asked == expected.asked
    assert found.outcomes == expected.outcomes
    assert found.files.keys() == expected.files.keys()
    for name, content in found.files.items():
        assert content == expected.files[name], name
    # No folder that workers shared is left.
    assert list(temporary.glob("judgesense-*")) == []


@pytest.mark.parametrize("mode", ["record", pytest.param("live", marks=pytest.mark.long)])
def test_a_judge_that_cannot_be_asked_is_asked_once_by_all_workers(
    project: Project, mode: str
) -> None:
    project.server.status = lambda prompt: 401
    parity_suite(project.path, checks="jss_floor = 0.8\nkappa_floor = 0.5\nagreement_floor = 0.5")
    result = project.run("parity.suite.toml", "--judge-mode", mode, "-n", "2")
    result.assert_outcomes(failed=3)
    assert len(project.server.asked) == 1  # as in one process
    assert result.stdout.str().count("judge 'mine' cannot be asked") >= 3


def test_what_a_limit_left_out_is_left_out_for_every_worker(project: Project) -> None:
    parity_suite(project.path, checks="jss_floor = 0.8\nkappa_floor = 0.5\nagreement_floor = 0.5")
    result = project.run(
        "parity.suite.toml", "--judge-mode", "record", "--judge-max-calls", "7", "-n", "2", "-vv"
    )
    result.assert_outcomes(failed=3)
    assert len(project.server.asked) == 7
    # 18 - 7 = 11, and not 18 - 7 of the worker that came second, and found 7 recorded.
    assert result.stdout.str().count("11 of 18 trials") >= 3


@pytest.mark.parametrize(
    ("what", "how"),
    [
        ("suite", ("-n", "1")),
        pytest.param("marker", ("-n", "2"), marks=pytest.mark.long),
        pytest.param("fixture", ("-n", "2"), marks=pytest.mark.long),
        # Two interpreters.
        pytest.param("suite", ("--tx", "2*popen"), marks=pytest.mark.long),
    ],
    ids=["suite", "marker", "fixture", "tx"],
)
def test_each_is_a_usage_error_where_judges_are_measured(
    project: Project, what: str, how: tuple[str, ...]
) -> None:
    tests = {
        "marker": "import pytest\n@pytest.mark.jss_floor(0.8, suite='parity.suite.toml')\n"
        "def test_it(): pass",
        "fixture": "def test_it(judge): judge.ask('Is 2 even?')",
    }
    if what == "suite":
        collected = "parity.suite.toml"
    else:
        project.pytester.makepyfile(test_it=tests[what])
        collected = "test_it.py"
    result = forked(project.pytester, collected, "--judge-mode", "record", *how, "--dist", "each")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: judges cannot be measured under --dist each", "*remedy:*loadscope*"]
    )
    no_traceback(result)
    assert project.server.asked == []


@pytest.mark.long
def test_each_is_no_error_where_no_judge_is_measured(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_ordinary(): pass")
    result = forked(pytester, "-n", "2", "--dist", "each")
    result.assert_outcomes(passed=2)  # once in each worker
    assert result.ret == pytest.ExitCode.OK


ELSEWHERE = """
import pytest

@pytest.hookimpl(trylast=True)
def pytest_configure_node(node):
    # As a worker on another machine would find it: a path that leads nowhere.
    node.workerinput["judgesense"]["session_folder"] += "-of-another-machine"
"""


def test_workers_on_another_machine_are_refused_and_told_of_merge(project: Project) -> None:
    project.pytester.makeconftest(ELSEWHERE)
    result = project.run("parity.suite.toml", "--judge-mode", "record", "-n", "1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: judges cannot be asked by workers on several machines"])
    assert "judgesense recordings join" in result.stderr.str()
    assert project.server.asked == []


def test_a_group_of_loadgroup_changes_neither_recordings_nor_ids(project: Project) -> None:
    project.pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.xdist_group("g")
        def test_question(judge):
            judge.ask("Is 2 even?")

        @pytest.mark.xdist_group("g")
        @pytest.mark.jss_floor(1.0, suite="parity.suite.toml")
        def test_marker():
            pass
        """
    )
    project.server.reply = flips_on_two
    spread = ("-n", "2", "--dist", "loadgroup")
    project.run("test_it.py", "--judge-mode", "record").assert_outcomes(passed=1, failed=1)
    result = project.run("test_it.py", *spread)
    result.assert_outcomes(passed=1, failed=1)
    assert "pytest 'test_it.py::test_marker[mine]'" in result.stdout.str()
