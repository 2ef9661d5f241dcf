"""Ctrl-C or SIGTERM while recording: calls under way are kept, none begins, and how to resume."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests import processes

from .project import PYTHON_JUDGE, QUIET, TRIALS, Project, even, measured, no_traceback

# Ctrl-C arrives as in a terminal, even where the shell that started the tests ignores it.
START = (
    "import signal, sys, pytest; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "sys.exit(pytest.main(sys.argv[1:]))"
)
RECORD = ("parity.suite.toml", "--judge-mode", "record", "--judge-concurrency", "2")
UNWANTED = ("Traceback", "INTERNALERROR", "Error", "never retrieved", "was destroyed")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals reach a group otherwise there")


@contextmanager
def started(project: Project, *args: str, asked: int = 7) -> Iterator[subprocess.Popen[str]]:
    """A session that has asked so often, and is ended in any case."""
    process = subprocess.Popen(
        # A group of its own, as a terminal's: xdist's workers get its signals as well.
        [sys.executable, "-c", START, *QUIET, *args],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        wait_until(process, lambda: len(project.server.asked) >= asked)
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until(process: subprocess.Popen[str], happened: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not happened():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < until
        time.sleep(0.005)


def to_all(process: subprocess.Popen[str], number: int) -> None:
    """As a terminal does."""
    os.killpg(process.pid, number)


def to_it(process: subprocess.Popen[str], number: int) -> None:
    """As `kill` does, and a CI system; the workers of xdist get nothing."""
    os.kill(process.pid, number)


SENT = {
    "Ctrl-C": (to_all, signal.SIGINT),
    "SIGTERM to all": (to_all, signal.SIGTERM),
    "SIGINT to it": (to_it, signal.SIGINT),
    "SIGTERM to it": (to_it, signal.SIGTERM),
}


# Without workers there is one process, whether `-n 0` says so or nothing does.
@pytest.mark.parametrize(
    ("send", "number", "workers"),
    [
        pytest.param(
            *sent,
            workers,
            id=f"{name}-{'n' + workers[1] if workers else 'plain'}",
            # In the gate: as a terminal sends it to workers, as a CI system does to one process.
            marks=()
            if (name, workers) in {("Ctrl-C", ("-n", "2")), ("SIGTERM to it", ())}
            else pytest.mark.long,
        )
        for name, sent in SENT.items()
        for workers in ((), ("-n", "0"), ("-n", "2"))
        if workers != ("-n", "0") or name == "Ctrl-C"
    ],
)
def test_the_first_signal_loses_no_call_and_says_how_to_resume(
    project: Project,
    send: Callable[[subprocess.Popen[str], int], None],
    number: int,
    workers: tuple[str, ...],
) -> None:
    command = [*RECORD, *workers]
    project.server.delay_s = 0.3  # so that calls are under way, and none of them is near its end
    with started(project, *command) as process:
        send(process, number)
        output, _ = process.communicate(timeout=30)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert "judge recording interrupted" in output
    assert f"every answer that arrived is kept in {project.path / 'cassettes'}" in output
    assert f"resume: pytest {' '.join(QUIET)} {' '.join(command)}" in output
    for unwanted in UNWANTED:
        assert unwanted not in output, output

    kept, asked = len(project.lines()), set(project.server.prompts)
    assert kept == len(asked) == len(project.server.asked), "every call that began was recorded"
    assert kept < TRIALS, "and the others were not made"
    if workers != ("-n", "2"):
        assert f"judge mine, suite parity: {kept} of {TRIALS} trials recorded" in output
        flat = " ".join(output.split())  # lines are as wide as the screen
        assert "calls under way come to their end and are recorded, within 120 s" in flat

    project.server.forget()
    project.server.delay_s = 0
    # By one process also what workers have begun.
    result = project.run(*RECORD)
    result.assert_outcomes(passed=1)
    assert "interrupted" not in result.stdout.str()
    # Exactly what is missing: none twice, none skipped.
    assert len(project.server.prompts) == len(set(project.server.prompts)) == TRIALS - kept
    assert not set(project.server.prompts) & asked
    assert len(project.lines()) == TRIALS
    no_traceback(result)


@pytest.mark.parametrize(
    ("number", "workers"),
    [
        pytest.param(signal.SIGINT, (), id="Ctrl-C-plain", marks=pytest.mark.long),
        pytest.param(signal.SIGINT, ("-n", "2"), id="Ctrl-C-n2", marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, (), id="SIGTERM-plain"),
        pytest.param(signal.SIGTERM, ("-n", "2"), id="SIGTERM-n2", marks=pytest.mark.long),
    ],
)
def test_the_second_signal_ends_at_once(
    project: Project, number: int, workers: tuple[str, ...]
) -> None:
    # Answers that come after a minute; the calls might take two.
    project.server.delay_s = 60
    with started(project, *RECORD, *workers, asked=2) as process:
        to_all(process, number)
        time.sleep(1.5)
        assert process.poll() is None, "calls under way are waited for"
        sent = time.monotonic()
        to_all(process, number)
        output, _ = process.communicate(timeout=30)
    assert time.monotonic() - sent < 25
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert len(project.server.asked) == 2, "nothing was asked after the first one"
    assert not project.cassette.exists()


def test_a_function_that_is_running_comes_to_its_end(project: Project) -> None:
    counted = project.path / "asked.txt"
    slow = PYTHON_JUDGE.replace(
        "    number =",
        f"    import time; open({str(counted)!r}, 'a').write('x'); time.sleep(0.3)\n    number =",
    )
    (project.path / "conftest.py").write_text(slow)
    command = [*RECORD, "--judge-name", "mine"]
    with started(project, *command, asked=0) as process:
        wait_until(process, lambda: counted.exists() and len(counted.read_text()) >= 5)
        to_it(process, signal.SIGTERM)
        output, _ = process.communicate(timeout=30)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert len(project.lines()) == len(counted.read_text()) < TRIALS


# Without certificates, which each client reads in 20 ms of the processor.
TWO_REQUESTS = """
import httpx

def judge(messages):
    with httpx.Client(verify=False) as client:
        for model in ("first", "second"):
            body = {{"model": model, "messages": messages}}
            reply = client.post("{url}/chat/completions", json=body).json()
    return reply["choices"][0]["message"]["content"]
"""


def asked_twice_a_trial(project: Project) -> list[str]:
    """A function with two requests a trial as the judge; the command that records it."""
    code = TWO_REQUESTS.format(url=project.server.base_url)
    (project.path / "two_requests.py").write_text(code)
    (project.path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\npythonpath = ["."]\n[tool.judgesense.judges.mine]\n'
        'provider = "callable"\nmodel = "two_requests:judge"\nconcurrency = 2\n'
    )
    return list(RECORD)


def requests_made(project: Project) -> list[tuple[str, str]]:
    return [(body["model"], body["messages"][-1]["content"]) for body in project.server.asked]


def test_a_function_is_not_cut_between_two_requests(project: Project) -> None:
    command = asked_twice_a_trial(project)
    project.server.delay_s = 0.2
    with started(project, *command, asked=7) as process:
        to_all(process, signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    made = requests_made(project)
    # Both requests of each of the trials that had begun, and of no other.
    begun = {prompt for _, prompt in made}
    assert len(made) == len(set(made)) == 2 * len(begun) < 2 * TRIALS
    assert f"judge mine, suite parity: {len(begun)} of {TRIALS} trials recorded" in output
    project.server.delay_s = 0
    measured(project, mode="record")
    assert len(requests_made(project)) == len(set(requests_made(project))) == 2 * TRIALS


def test_a_function_that_takes_longer_than_it_may_is_not_waited_for(project: Project) -> None:
    """Its two requests take 2 s, and it may take 1.5 s: its trial fails."""
    command = asked_twice_a_trial(project)
    with (project.path / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("timeout_s = 1.5\n")
    project.server.delay_s = 1.0
    with started(project, *command, asked=2) as process:
        to_all(process, signal.SIGINT)
        sent = time.monotonic()
        output, _ = process.communicate(timeout=30)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    # 1.5 s for the functions, and what a process takes to end.
    assert time.monotonic() - sent < 10
    assert f"judge mine, suite parity: 0 of {TRIALS} trials recorded" in output
    made = requests_made(project)
    assert {model for model, _ in made[:2]} == {"first"}
    assert len(made) == len(set(made)) == 4, "no other trial has begun"
    project.server.delay_s = 0
    measured(project, mode="record")
    # The two that failed are asked from their beginning; nothing else is asked twice.
    assert Counter(Counter(requests_made(project)).values()) == {1: 2 * TRIALS - 4, 2: 4}


def test_the_line_of_calls_counts_the_requests_of_a_function(project: Project) -> None:
    command = asked_twice_a_trial(project)
    recorded = project.run(*command)
    # Two requests for each of 18 trials; the fresh run of the proof sends none.
    recorded.stdout.fnmatch_lines([f"calls: 36 made for {TRIALS} trials, 0 replayed, *"])
    assert len(project.server.asked) == 2 * TRIALS
    calls = measured(project).judges[0].calls
    assert (calls.made, calls.replayed) == (0, TRIALS)
    # A plan counts the same, whether they are recorded or have changed.
    planned = processes.run("judgesense", "plan", "parity.suite.toml", cwd=project.path)
    assert "  calls to be made: 0 (36 are recorded)\n" in planned.stdout
    changed = "  as many as 36 calls, if the requests of two_requests:judge changed: "
    assert changed in planned.stdout


def test_a_process_that_dies_between_two_requests_pays_for_the_first_once(
    project: Project,
) -> None:
    command = asked_twice_a_trial(project)
    answered: list[str] = []
    lock = threading.Lock()

    def seven_times(prompt: str) -> str:
        with lock:
            if is_answered := len(answered) < 7:
                answered.append(prompt)
        if not is_answered:
            time.sleep(60)
        return even(prompt)

    project.server.reply = seven_times
    with started(project, *command) as process:
        wait_until(process, lambda: project.cassette.exists() and len(answers_kept(project)) == 7)
        process.kill()
        process.wait()
    project.server.forget()
    project.server.reply = even
    measured(project, mode="record")
    # Each prompt is answered twice, by one model and by the other: 7 of the answers came before.
    assert set((Counter(answered) + Counter(project.server.prompts)).values()) == {2}
    assert len(project.server.prompts) == 2 * TRIALS - 7


def answers_kept(project: Project) -> list[str]:
    """The lines of requests, without those of returns."""
    return [line for line in project.lines() if json.loads(line)["request"]["method"] == "POST"]


def test_a_question_of_an_async_test_comes_to_its_end(project: Project) -> None:
    (project.path / "test_ask.py").write_text(
        """
import asyncio
import pytest

@pytest.mark.asyncio
async def test_it(judge):
    await asyncio.gather(*(judge.ask_async(f"Is {n} even?") for n in range(2)))
    await judge.ask_async("Is 4 even?")
""",
    )
    project.server.delay_s = 1.0
    command = [
        sys.executable,
        "-c",
        START,
        "-p",
        "asyncio",
        "test_ask.py",
        "--judge-mode",
        "record",
    ]
    process = subprocess.Popen(
        [*command, "--judge-name", "mine"],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        wait_until(process, lambda: len(project.server.asked) >= 2)
        to_it(process, signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert len(project.server.asked) == 2, output
    (cassette,) = (project.path / "cassettes" / "mine" / "tests").glob("*.jsonl")
    assert len(cassette.read_text().splitlines()) == 2


def test_ctrl_c_in_a_live_session_promises_nothing(project: Project) -> None:
    project.server.delay_s = 0.05
    command = ["parity.suite.toml", "--judge-mode", "live", "--judge-concurrency", "2"]
    with started(project, *command) as process:
        to_all(process, signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert "resume" not in output
    assert not project.cassette.exists()


def test_an_error_of_the_collection_says_nothing_of_recordings(project: Project) -> None:
    (project.path / "test_broken.py").write_text("import no_such_module\n")
    result = project.run("--judge-mode", "record", "parity.suite.toml", "test_broken.py")
    assert result.ret == 2
    shown = result.stdout.str()
    assert "Interrupted: 1 error during collection" in shown
    assert "recording interrupted" not in shown
    assert "resume" not in shown
    assert project.server.asked == []


@pytest.mark.long
def test_workers_of_a_controller_that_was_killed_ask_no_more(project: Project) -> None:
    """Two calls at once are under way at most; nobody would report what they pay."""
    project.server.delay_s = 0.3
    with started(project, *RECORD, "-n", "1", asked=3) as process:
        process.kill()  # the controller alone
        process.wait()
        asked = len(project.server.asked)
        time.sleep(3)  # ten rounds of calls
        assert len(project.server.asked) <= asked + 4
    # What had been answered is kept, and asked for no more.
    project.server.delay_s = 0
    kept = len(project.lines())
    assert kept >= 2
    project.server.forget()
    project.run(*RECORD).assert_outcomes(passed=1)
    assert len(project.server.asked) == TRIALS - kept
