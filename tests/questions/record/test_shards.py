"""Jobs of several workers: processes of this machine here, tasks of a Ray cluster in the long gate.

Against an endpoint on 127.0.0.1 that counts what it is asked. That a job on a cluster does the same
as one of processes is `benchmarks/shards.py`, and the last test where Ray is installed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import pytest_judgesense
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import JudgeError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.judges.trust import ANY_FILES
from pytest_judgesense.questions.record.question import RayTasks, RecordQuestion
from pytest_judgesense.questions.record.shards import Job, JobResult, Processes, run_job
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.trial import RequestCount
from tests.cassettes.killing import FastServer
from tests.commands.recordings import undated_bytes
from tests.plugin.project import parity_suite
from tests.report.replaying import measured

CONCURRENCY = 4
# 6 numbers under 3 wordings, each 5 times
REPLICATES = 5
TRIALS = 6 * 3 * REPLICATES


@pytest.fixture
def server() -> Iterator[FastServer]:
    served = FastServer(slowest_s=0.05)
    yield served
    served.close()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def job_of(server: FastServer, shards: int = 2, **more: object) -> Job:
    suite = load_suite(
        parity_suite(Path(), extra=f"[design]\nreplicates = {REPLICATES}\n"), None, BUILT_IN.forms
    )
    table = {"provider": "openai", "model": "m-1", "base_url": server.base_url}
    judge = judge_from_table("mine", table, Path())
    job = Job(judge, (suite,), shards, ANY_FILES, CONCURRENCY, 0)
    return replace(job, **more)  # type: ignore[arg-type]


def recorded_by_one(job: Job) -> list[bytes]:
    """What one session records of the same suite."""
    path = Path("alone.jsonl")
    measured(job.judge, job.suites[0], {"parity": path}, mode="record")
    return undated_bytes(path)


def run_in_processes(job: Job, *limits: float | None) -> JobResult:
    with closing(Processes(*(limits or (None, None)))) as pool:  # type: ignore[arg-type]
        return run_job(job, pool, Path("cassettes"))


TAPE = Path("cassettes/mine/parity.jsonl")


@pytest.mark.long
def test_a_job_records_what_one_session_does_and_asks_each_trial_once(server: FastServer) -> None:
    job = job_of(server)
    whole = recorded_by_one(job)
    server.forget()
    outcome = run_in_processes(job)
    assert (outcome.trials, outcome.answered, outcome.requests) == (
        TRIALS,
        TRIALS,
        RequestCount(TRIALS),
    )
    assert len(server.asked) == TRIALS
    assert undated_bytes(TAPE) == whole
    before = TAPE.read_bytes()
    again = run_in_processes(replace(job, shards=1))
    assert (again.answered, again.requests) == (TRIALS, RequestCount())
    assert len(server.asked) == TRIALS
    assert TAPE.read_bytes() == before


def test_a_lost_worker_costs_the_calls_under_way_and_no_answer(server: FastServer) -> None:
    job = job_of(server)
    whole = recorded_by_one(job)
    server.forget()
    with closing(Processes(None, None)) as pool:

        def kill() -> None:
            while len(server.asked) < TRIALS // 3:
                time.sleep(0.005)
            for pid in pool._executors[0]._processes:
                os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        outcome = run_job(job, pool, Path("cassettes"))
        killer.join()
    assert (outcome.answered, outcome.lost) == (TRIALS, 1)
    assert undated_bytes(TAPE) == whole
    # Asked again is what the endpoint was asked and nobody recorded: at most the calls under way.
    assert TRIALS <= len(server.asked) <= TRIALS + CONCURRENCY


def test_a_worker_that_is_lost_again_and_again_ends_the_job(server: FastServer) -> None:
    job = job_of(server)
    with closing(Processes(None, None)) as pool:
        begin = pool.begin

        def lost_at_once(*given: object) -> object:
            future = begin(*given)
            (pid,) = pool._executors[-1]._processes
            os.kill(pid, signal.SIGKILL)
            return future

        pool.begin = lost_at_once  # type: ignore[assignment, method-assign]
        with pytest.raises(JudgeError, match="has lost 3 workers in a row"):
            run_job(job, pool, Path("cassettes"))
    assert server.asked == []


def test_limits_hold_over_all_workers_and_a_second_run_asks_the_rest(server: FastServer) -> None:
    job = job_of(server, limited=True)
    first = run_in_processes(job, 40, None)
    assert len(server.asked) == 40
    assert first.answered == first.requests.sent == len(read_exchanges(TAPE)) == 40
    assert ["--judge-max-calls 40 is reached" in str(one) for one in first.errors] == [True] * len(
        first.errors
    )
    assert first.errors
    late = run_in_processes(replace(job_of(server), deadline=(5.0, time.time() - 1)))
    assert len(server.asked) == 40
    assert "--judge-deadline 5 is reached" in str(late.errors[0])
    second = run_in_processes(replace(job, limited=False))
    assert (second.answered, second.requests.sent) == (TRIALS, TRIALS - 40)
    assert len(server.asked) == TRIALS


def test_requests_are_counted_as_a_limit_counts_them(server: FastServer) -> None:
    server.overloaded, server.unanswered = {3}, {5}
    job = job_of(server)
    outcome = run_in_processes(replace(job, judge=replace(job.judge, timeout_s=2.0)))
    assert outcome.answered == TRIALS
    # Each of the two faults is asked once more.
    assert outcome.requests == RequestCount(TRIALS + 2, retried=2, timed_out=1)
    assert outcome.requests.sent == len(server.asked)
    assert outcome.requests.words == [f"{TRIALS + 2} calls made", "2 retried", "1 timed out"]


def test_suites_that_share_trials_are_divided_once(server: FastServer) -> None:
    job = job_of(server)
    other = replace(job.suites[0], name="parity@fewer", items=job.suites[0].items[1:4])
    parts = [list(replace(job, suites=(other, *job.suites)).parts(n)) for n in (1, 2)]
    ids = Counter(trial.id for part in parts for _, trials in part for trial in trials)
    assert len(ids) == TRIALS
    assert set(ids.values()) == {1}


def test_the_command_records_and_says_what_it_did(
    server: FastServer, capsys: pytest.CaptureFixture[str]
) -> None:
    job_of(server)
    Path("pyproject.toml").write_text(
        f'[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m-1"\n'
        f'base_url = "{server.base_url}"\n'
    )
    given = ["record", "parity.suite.toml", "--judge-name", "mine", "--shards", "2"]
    assert main([*given, "--judge-max-calls", "7"]) == 3
    out, err = capsys.readouterr()
    assert f"judge mine on parity: 7 of {TRIALS} trials recorded" in out
    assert "--judge-max-calls 7 is reached" in err
    assert main(given) == 0
    out, err = capsys.readouterr()
    assert f"judge mine on parity: {TRIALS} of {TRIALS} trials recorded" in out
    assert f"{TRIALS - 7} calls made, 2 shards: cassettes/mine" in out
    assert err == ""
    assert main([*given[:-1], "0"]) == 2


def test_a_plan_asks_nothing_and_the_answer_counts_what_was_recorded(
    server: FastServer, capsys: pytest.CaptureFixture[str]
) -> None:
    job_of(server)
    Path("pyproject.toml").write_text(
        f'[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m-1"\n'
        f'base_url = "{server.base_url}"\nprices = {{ prompt = 1.0, completion = 2.0 }}\n'
    )
    # Without a name it is the one that the project declares.
    question = RecordQuestion(("parity.suite.toml",), shards=2)
    assert question.plan().parts[0].quote.to_make == TRIALS
    assert main(["record", "parity.suite.toml", "--plan"]) == 0
    assert capsys.readouterr().out == f"{chr(10).join(question.plan().lines())}\n"
    assert server.asked == []

    answer = question.answer()
    assert answer.complete
    told = answer.to_dict()
    assert (told["trials"], told["recorded"], told["requests"]) == (TRIALS, TRIALS, TRIALS)
    assert len(server.asked) == TRIALS
    assert question.plan().parts[0].quote.to_make == 0


@pytest.mark.long
def test_errors_of_workers_name_the_files_that_last() -> None:
    """A function without requests is not run for what is recorded: those replies are to go."""
    parity_suite(Path())
    Path("pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "rules:judge"\n'
        'code = "any"\n'
    )
    Path("rules.py").write_text('def judge(number):\n    return "Hm."\n')
    given = [sys.executable, "-m", "pytest_judgesense.commands", "record", "parity.suite.toml"]
    given += ["--judge-name", "mine", "--shards", "2", "--judge-max-unparsed", "3"]
    given += ["--judge-cassettes", "my cassettes"]
    first = subprocess.run(given, capture_output=True, text=True, timeout=120, check=False)
    assert (first.returncode, "are from before" in first.stderr) == (3, False)
    Path("rules.py").write_text('def judge(number):\n    return "YES"\n')
    second = subprocess.run(given, capture_output=True, text=True, timeout=120, check=False)
    told = "3 of these are from before: to ask for all again, rm 'my cassettes/mine/parity.jsonl';"
    assert told in second.stderr
    Path("my cassettes/mine/parity.jsonl").unlink()
    third = subprocess.run(given, capture_output=True, text=True, timeout=120, check=False)
    assert "18 of 18 trials recorded" in third.stdout, third.stderr


@pytest.mark.parametrize("command", ["record", "batch export"])
def test_what_pytest_would_refuse_is_not_paid_for(
    server: FastServer, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    suite = parity_suite(Path(), wordings=("Is {{number}} even?", "Is {{number}} even?"))
    Path("pyproject.toml").write_text(
        f'[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m-1"\n'
        f'base_url = "{server.base_url}"\n'
    )
    given = {
        "record": ["record", str(suite)],
        "batch export": ["recordings", "batch", "export", str(suite), "-o", "requests.jsonl"],
    }
    assert main([*given[command], "--judge-name", "mine"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "lint identical-sides" in err
    assert "remedy: " in err
    assert server.asked == []
    assert not Path("requests.jsonl").exists()


@pytest.mark.long
def test_suites_of_an_installation_are_recorded_by_workers_that_unpack_their_own(
    tmp_path: Path,
) -> None:
    # As the wheel makes it: each process has the archive's suites in a folder of its own.
    package = tmp_path / "site" / "pytest_judgesense"
    source = Path(pytest_judgesense.__file__).parent
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    with zipfile.ZipFile(package / "data.zip", "w") as archive:
        for path in builtin_suites()["vacuum"].parent.iterdir():
            archive.write(path, f"suites/vacuum/{path.name}")
    code = f"import sys; sys.path.insert(0, {str(package.parent)!r})\n"
    code += "from pytest_judgesense.commands.main import main; sys.exit(main())"
    project = tmp_path / "project"
    project.mkdir()
    given = ["record", "vacuum@quick", "--judge-name", "embedded:clean", "--shards", "2"]
    done = subprocess.run(
        [sys.executable, "-c", code, *given],
        cwd=project,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "judge clean on vacuum@quick: 40 of 40 trials recorded" in done.stdout


@pytest.mark.parametrize(
    ("how", "whom"),
    [
        pytest.param(signal.SIGINT, os.killpg, id="Ctrl-C"),
        pytest.param(signal.SIGTERM, os.kill, id="SIGTERM", marks=pytest.mark.long),
        pytest.param(signal.SIGINT, os.kill, id="SIGINT to it", marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, os.killpg, id="SIGTERM to all", marks=pytest.mark.long),
    ],
)
def test_an_interrupt_lets_the_calls_under_way_come_to_their_end(
    server: FastServer, how: signal.Signals, whom: Callable[[int, int], None]
) -> None:
    server._slowest_s = 0.6  # 90 calls, 8 at once: 3 s
    job_of(server)
    Path("pyproject.toml").write_text(
        f'[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m-1"\n'
        f'base_url = "{server.base_url}"\n'
    )
    given = ["record", "parity.suite.toml", "--judge-name", "mine", "--shards", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "pytest_judgesense.commands", *given],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        while len(server.asked) < TRIALS // 4:
            time.sleep(0.005)
        whom(process.pid, how)  # a terminal's Ctrl-C reaches the workers as well
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "interrupted; the same command asks only what is missing" in out
    # Whatever was asked came to its end, and is recorded.
    assert len(read_exchanges(TAPE)) == len(server.asked) < TRIALS


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """Ctrl-C as in a terminal: what a shell starts in the background ignores it."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.mark.usefixtures("_interruptible")
@pytest.mark.parametrize("interrupts", [1, 2])
def test_an_interrupt_while_the_desk_is_asked_loses_no_line(
    server: FastServer, interrupts: int
) -> None:
    server._slowest_s = 0.6  # 90 calls, 8 at once: 3 s
    job = job_of(server)
    handed_over: list[bytes] = []
    interrupting: list[threading.Thread] = []
    with closing(Processes(None, None)) as pool:
        desk, ask = pool._manager._process.pid, pool.ask  # type: ignore[attr-defined]

        def counting(method: str, *given: Any) -> Any:
            answer = ask(method, *given)
            if method == "handed_over":
                handed_over.extend(line for parcel in answer for _, line in parcel.lines)
            return answer

        def interrupt() -> None:
            time.sleep(0.5)  # more than passes between two questions of the driver
            for _ in range(interrupts):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.1)
            os.kill(desk, signal.SIGCONT)

        def stop_the_desk(_trials: int, answered: int, _sent: int) -> None:
            if answered and not interrupting:
                os.kill(desk, signal.SIGSTOP)
                interrupting.append(threading.Thread(target=interrupt))
                interrupting[0].start()

        pool.ask = counting  # type: ignore[method-assign]
        if interrupts == 1:
            assert run_job(job, pool, Path("cassettes"), stop_the_desk).interrupted
            # Whatever was asked came to its end.
            assert len(handed_over) == len(server.asked)
        else:
            with pytest.raises(KeyboardInterrupt):
                run_job(job, pool, Path("cassettes"), stop_the_desk)
        interrupting[0].join()
    assert 0 < len(handed_over) < TRIALS
    assert len(read_exchanges(TAPE)) == len(handed_over)


def test_the_end_of_the_desk_is_an_error_with_a_remedy(server: FastServer) -> None:
    job = job_of(server)
    with closing(Processes(None, None)) as pool:

        def end_the_desk(_trials: int, answered: int, _sent: int) -> None:
            if answered:
                os.kill(pool._manager._process.pid, signal.SIGKILL)  # type: ignore[attr-defined]

        with pytest.raises(JudgeError, match="the workers of this job has ended") as told:
            run_job(job, pool, Path("cassettes"), end_the_desk)
    assert "run the same command again" in str(told.value)
    assert 0 < len(read_exchanges(TAPE)) <= len(server.asked)


def test_without_ray_the_option_says_what_to_install(
    server: FastServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    # What the command sets for a cluster's processes ends with the test.
    monkeypatch.setattr(os, "environ", os.environ.copy())
    job_of(server)
    given = ["record", "parity.suite.toml", "--judge-name", "embedded:clean", "--ray"]
    assert main(given) == 2
    assert "pip install 'pytest-judgesense[ray]'" in capsys.readouterr().err


def test_a_cluster_that_ends_is_an_error_with_a_remedy() -> None:
    class Ended(Exception):
        pass

    def ask(*_: Any) -> None:
        raise Ended("The actor died because its owner has died.")

    pool = object.__new__(RayTasks)
    pool._ray = SimpleNamespace(exceptions=SimpleNamespace(RayActorError=Ended))
    pool._ask = ask
    with pytest.raises(JudgeError, match="Ray cluster of this job has ended") as told:
        pool.ask("handed_over")
    assert "run the same command again" in str(told.value)


@pytest.mark.skipif(
    not find_spec("ray"), reason="there is no ray: pip install 'pytest-judgesense[ray]'"
)
# Ray 2.52 tells of a variable for machines with GPUs, and leaves its logs to be closed at the end.
@pytest.mark.filterwarnings("ignore:Tip. In future versions of Ray:FutureWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_ray_cluster_records_the_same(
    server: FastServer, capsys: pytest.CaptureFixture[str]
) -> None:
    job = job_of(server)
    whole = recorded_by_one(job)
    server.forget()
    Path("pyproject.toml").write_text(
        "[tool.judgesense.judges.mine]\n"
        + "".join(
            f"{key} = {json.dumps(value)}\n"
            for key, value in {
                "provider": "openai",
                "model": "m-1",
                "base_url": server.base_url,
            }.items()
        )
    )
    given = ["record", "parity.suite.toml", "--judge-name", "mine", "--shards", "2", "--ray"]
    assert main(given) == 0, capsys.readouterr().err
    assert undated_bytes(TAPE) == whole
    assert len(server.asked) == TRIALS
