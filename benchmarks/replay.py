"""What a replayed call costs: here, under stock vcrpy, under cassetter, and at the two floors.

``python benchmarks/replay.py [--quick]``. All of them replay the same exchanges, about 1.5 kB of
request and 0.9 kB of reply. The floors are a bare httpx call on a mock transport, for judges with a
client of their own, and `json.loads` of the recorded file, for the built-in clients.

Stock vcrpy searches all recorded requests for every call, so that its cost is taken from a sample
of calls, spread over the cassette. cassetter is installed into a folder of its own, for its pytest
plugin and that of pytest-recording do not go together.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from types import ModuleType

import httpx
from reporting import Bar, Job, conclude, print_table, seconds_each

from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.interception import intercepting
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.storage import read_exchanges, rewrite
from pytest_judgesense.errors import MissingRecording
from pytest_judgesense.instruments.debate.stimuli import DEBATE
from pytest_judgesense.instruments.paraphrase.stimuli import PARAPHRASE
from pytest_judgesense.judges.calls import judgment_of, renderer
from pytest_judgesense.judges.client import Client, one_call, open_client
from pytest_judgesense.judges.prompts import judge_for_suite, render_messages
from pytest_judgesense.judges.providers.builtin import BUILT_IN
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import Suite, Template
from pytest_judgesense.trial import Trial

CASSETTER = "cassetter==0.16.1"
BASE_URL = "https://api.example.com/v1"
URL = f"{BASE_URL}/chat/completions"
JUDGE = JudgeSpec("bench", "openai", "model-1", base_url=BASE_URL)
# So few that a busy machine leaves them alone at times.
CALLS_A_PART = 20
TRIALS_A_PART = 50
DEBATES = Path(__file__).parents[1] / "cassettes" / "clean" / "debate.jsonl"
WORDS = 'the reply names every part, keeps its order and says "done" at the end\n' * 9
REASONS = "Both replies keep the order. The first one leaves out a part that was asked for. " * 4

BARS = {
    "own client, 10,000 to 100 exchanges": Bar("at most", 1.3),
    "own client to bare mock call": Bar("at most", 2.0),
    "stock vcrpy to own client, 1,000": Bar("at least", 100.0),
    "own client to cassetter, 1,000": Bar("at most", 1.0),
    "built-in pipeline to json.loads, 10,000": Bar("at most", 4.0),
    "peak memory to file, 10,000": Bar("at most", 2.5),
    "a missing trial to json.loads of the file": Bar("at most", 0.1),
    "a reply with reasons to json.loads": Bar("at most", 10.0),
    "a reply of the debate suite to json.loads": Bar("at most", 9.0),
}


def suite_of(size: int) -> Suite:
    """A pairwise suite of so many trials, a request of each about 1.5 kB."""
    items = tuple(
        Item(f"item-{n:05d}", f"item-{n:05d}", {"task": f"Task {n}."}, (f"{n}: {WORDS}", WORDS))
        for n in range(size)
    )
    text = "<task>{{task}}</task>\n<a>{{a}}</a>\n<b>{{b}}</b>\nWhich is better? Reply A or B."
    return Suite(
        name="bench",
        base="bench",
        form=PARAPHRASE,
        path=Path(),
        digest="",
        description="",
        space=DecisionSpace(("A", "B"), pairwise=True),
        system="You compare two replies. Answer with the letter alone.",
        templates=(Template("t1", text),),
        items=items,
        pairs="all",
        orders="ab",
        replicates=1,
    )


def exchanges_of(suite: Suite, reply: str) -> list[Exchange]:
    """What a recording of the suite holds; the responses are about 0.9 kB."""
    wire = BUILT_IN[JUDGE.provider]
    exchanges = []
    for trial, messages in zip(plan_trials(suite), messages_of(suite), strict=True):
        request = wire.request(JUDGE, BASE_URL, None, messages, None)
        answer = {
            "id": f"chatcmpl-{trial.item}",
            "object": "chat.completion",
            "created": 1767225600,
            "model": "model-1-2026-01-01",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": reply, "refusal": None},
                    "logprobs": None,
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 310, "completion_tokens": 1, "total_tokens": 311},
        }
        # Filled up to 0.9 kB by what gateways add.
        answer["trace"] = "0123456789abcdef" * ((900 - len(json.dumps(answer))) // 16)
        exchanges.append(
            Exchange(
                trial.id,
                1,
                RecordedRequest("POST", request.url, request.body.decode()),
                RecordedResponse(200, {"content-type": "application/json"}, json.dumps(answer)),
                "2026-01-31T12:00:00Z",
            )
        )
    return exchanges


def messages_of(suite: Suite) -> Iterator[list[dict[str, str]]]:
    """The messages of all trials."""
    for item in suite.items:
        yield render_messages(suite, item, suite.templates[0], "ab")


def spread(values: Sequence[Exchange], count: int) -> list[Exchange]:
    """So many of the values, from all parts of the sequence."""
    return [values[i * len(values) // count] for i in range(min(count, len(values)))]


def parts_of(asked: Sequence[tuple[str, bytes]]) -> list[Sequence[tuple[str, bytes]]]:
    """What is asked, a few calls each."""
    return [asked[start : start + CALLS_A_PART] for start in range(0, len(asked), CALLS_A_PART)]


def asked_of(exchanges: Sequence[Exchange]) -> list[tuple[str, bytes]]:
    """Trials and bodies."""
    return [(exchange.trial, str(exchange.request.body).encode()) for exchange in exchanges]


def calling(client: httpx.Client, exchanges: Sequence[Exchange]) -> list[Job]:
    """Post the bodies of the exchanges, one after another."""

    def call(asked: Sequence[tuple[str, bytes]]) -> None:
        for _, body in asked:
            client.post(URL, content=body).raise_for_status()

    return [partial(call, part) for part in parts_of(asked_of(exchanges))]


def own_client(
    cassette: Cassette, client: httpx.Client, exchanges: Sequence[Exchange]
) -> list[Job]:
    """The same within the trials of a cassette, which is opened first and closed last."""
    opened = ExitStack()

    def call(asked: Sequence[tuple[str, bytes]]) -> None:
        for trial, body in asked:
            with cassette.trial(trial):
                client.post(URL, content=body).raise_for_status()

    calls = [partial(call, part) for part in parts_of(asked_of(exchanges))]
    return [lambda: opened.enter_context(intercepting(cassette)), *calls, opened.close]


def _interactions(exchanges: Sequence[Exchange]) -> Iterator[dict]:
    for exchange in exchanges:
        headers = {"content-type": ["application/json"]}
        yield {
            "request": {"method": "POST", "uri": URL, "body": exchange.request.body, "headers": {}},
            "response": {
                "status": {"code": 200, "message": "OK"},
                "headers": headers,
                "body": {"string": str(exchange.response.body)},
            },
        }


def write_stock(folder: Path, exchanges: Sequence[Exchange]) -> tuple[Path, Path]:
    """The exchanges as stock vcrpy keeps them, in JSON and in YAML (of which JSON is a part)."""
    as_json, as_yaml = folder / "stock.json", folder / "stock.yaml"
    entries = list(_interactions(exchanges))
    as_json.write_text(json.dumps({"version": 1, "interactions": entries}))
    lines = "".join(f"- {json.dumps(entry)}\n" for entry in entries)
    as_yaml.write_text(f"interactions:\n{lines}version: 1\n")
    return as_json, as_yaml


def stock_vcrpy(path: Path, exchanges: Sequence[Exchange], calls: int) -> float:
    """Seconds a call of stock vcrpy, from a sample of ``calls``."""
    import vcr

    sample = spread(exchanges, calls)
    recorder = vcr.VCR(serializer="json", record_mode="none", match_on=("method", "uri", "body"))
    with recorder.use_cassette(str(path)), httpx.Client() as client:
        return seconds_each({"": calling(client, sample)}, 1)[""] / len(sample)


def borrowed(requirement: str, folder: Path) -> ModuleType | None:
    """A package that is installed for this run only; ``None`` if it cannot be had."""
    name = requirement.partition("=")[0]
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder)]
    done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{requirement} cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
        return None
    sys.path.append(str(folder))
    return __import__(name)


def cassetter_call(
    module: ModuleType, path: Path, exchanges: Sequence[Exchange], calls: int
) -> float | None:
    """Seconds a call of cassetter, from a sample; ``None`` for more than it opens."""
    sample = spread(exchanges, calls)
    options = {"record_mode": "none", "match_on": ["method", "uri", "body"]}
    try:
        with module.use_cassette(str(path), **options), httpx.Client() as client:
            return seconds_each({"": calling(client, sample)}, 1)[""] / len(sample)
    except module.CassetteLoadError:
        return None  # its parser stops at 250,000 nodes, about 9,000 exchanges


def pipeline(path: Path, suite: Suite) -> list[Job]:
    """Load, find, compare the request, parse the verdict: a built-in client in replay."""

    def asked() -> Iterator[tuple[Trial, list[dict[str, str]]]]:
        return zip(plan_trials(suite), messages_of(suite), strict=True)

    return replaying(path, suite, JUDGE, len(suite.items), asked)


def debates() -> tuple[list[Job], int]:
    """The replay of the shipped debate suite, whose replies are long objects; and its size."""
    suite = load_suite(builtin_suites()["debate"], None, {DEBATE.name: DEBATE})
    judge = judge_for_suite(judge_from_name("embedded:clean"), suite)
    trials = plan_trials(suite)
    asked = list(zip(trials, map(renderer(suite, judge), trials), strict=True))
    return replaying(DEBATES, suite, judge, len(asked), lambda: iter(asked)), len(asked)


def replaying(
    path: Path,
    suite: Suite,
    judge: JudgeSpec,
    count: int,
    asked: Callable[[], Iterator[tuple[Trial, list[dict[str, str]]]]],
) -> list[Job]:
    """Open the recording, replay its trials, a part at a time, and see that all have a verdict."""
    runner, opened = asyncio.Runner(), AsyncExitStack()
    left: Iterator[tuple[Trial, list[dict[str, str]]]]
    client: Client
    read = 0

    def begin() -> None:
        nonlocal left, client, read
        left, read = asked(), 0
        asking = open_client(judge, ReplayingCassette(path), concurrency=1)
        client = runner.run(opened.enter_async_context(asking))

    def replay() -> None:
        nonlocal read
        for trial, messages in islice(left, TRIALS_A_PART):
            answer = client.replay(trial.id, one_call(messages, trial.replicate))
            read += judgment_of(suite, judge, trial, answer).verdict is not None

    def end() -> None:
        runner.run(opened.aclose())
        assert read == count, f"{read} of {count} replies were read"

    return [begin, *[replay] * -(-count // TRIALS_A_PART), end]


def whole(parts: Sequence[Job]) -> Job:
    """A job that is not taken apart, to be compared with another that cannot be."""
    return lambda: [part() for part in parts]


def loads_file(path: Path) -> Job:
    """The floor of the pipeline: every line parsed, by the standard library."""
    return lambda: [json.loads(line) for line in path.read_bytes().splitlines()]


@contextmanager
def missing_s(path: Path) -> Iterator[float]:
    """Seconds of CPU time until a trial that is not recorded is reported."""
    cassette = ReplayingCassette(path)
    started = time.process_time()
    try:
        with cassette.trial("bench/item-none/t1/ab/r1") as scope:
            cassette.find(scope, "POST", URL, "{}")
    except MissingRecording:
        yield time.process_time() - started


def memory_ratio(path: Path) -> float | None:
    """Peak memory of the pipeline above the idle process, over the size of the file; on Linux."""
    if not Path("/proc/self/clear_refs").exists():
        return None
    command = [sys.executable, __file__, "--memory-of", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def _status_kb(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _measure_memory(path: Path) -> float:
    size = len(read_exchanges(path))
    run = whole(
        pipeline(path, suite_of(size))
    )  # its stimuli are not the recording: they count as idle
    # The peak so far is forgotten: that of the imports is not the pipeline's.
    Path("/proc/self/clear_refs").write_text("5")
    idle = _status_kb("VmRSS")
    run()
    return (_status_kb("VmHWM") - idle) * 1024 / path.stat().st_size


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    parser.add_argument("--memory-of", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    logging.disable()  # httpx and vcrpy log every request
    if arguments.memory_of:
        print(_measure_memory(arguments.memory_of))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return _compare(Path(folder), quick=arguments.quick)


def _compare(folder: Path, *, quick: bool) -> int:
    rounds, calls = (5, 100) if quick else (9, 400)
    cassetter = borrowed(CASSETTER, folder / "borrowed")
    answer = httpx.MockTransport(lambda _: httpx.Response(200, json={"choices": []}))
    per_call: dict[tuple[str, int], float | None] = {}
    pipelines: dict[int, tuple[float, float]] = {}
    cassettes, jobs, counts = {}, {}, {}
    with httpx.Client() as client, httpx.Client(transport=answer) as bare:
        for size in (100, 1_000, 10_000):
            suite, path = suite_of(size), folder / f"{size}.jsonl"
            exchanges = exchanges_of(suite, "A")
            rewrite(path, exchanges)
            cassettes[size] = ReplayingCassette(path)
            sample = spread(exchanges, calls)
            counts[size] = len(sample)
            jobs[size] = own_client(cassettes[size], client, sample)
            stock, yaml = write_stock(folder, exchanges)
            few = {100: 20, 1_000: 6, 10_000: 2} if quick else {100: 100, 1_000: 20, 10_000: 5}
            per_call["stock vcrpy", size] = stock_vcrpy(stock, exchanges, few[size])
            if cassetter is not None:
                per_call["cassetter", size] = cassetter_call(cassetter, yaml, exchanges, calls)
            parts = {"pipeline": whole(pipeline(path, suite)), "loads": loads_file(path)}
            spent = seconds_each(parts, max(3, rounds if size < 10_000 else rounds // 2))
            pipelines[size] = (spent["pipeline"] / size, spent["loads"] / size)
        bare_call = calling(bare, spread(exchanges, calls))
        timed = seconds_each({**jobs, "bare": bare_call}, rounds * 3)
        for size, job_seconds in ((s, timed[s]) for s in jobs):
            per_call["own client", size] = job_seconds / counts[size]
        floor = timed["bare"] / calls
    with missing_s(path) as seconds:
        missing = seconds
    prose, several = folder / "prose.jsonl", suite_of(500)
    rewrite(prose, exchanges_of(several, f"{REASONS}\nVerdict: A"))
    run_debates, count = debates()
    read = seconds_each(
        {
            "reasons": pipeline(prose, several),
            "debates": run_debates,
            "lines with reasons": [loads_file(prose)],
            "lines of debates": [loads_file(DEBATES)],
        },
        3 * rounds,
    )
    reasoned, debated = read["reasons"] / len(several.items), read["debates"] / count
    memory = memory_ratio(path)
    line = path.stat().st_size / 10_000

    def us(seconds: float | None) -> str:
        return "-" if seconds is None else f"{seconds * 1e6:,.0f}"

    print(f"microseconds a call of CPU time; {line:,.0f} bytes a recorded line\n")
    sizes = (100, 1_000, 10_000)
    print_table(
        ("", *(f"{size:,} exchanges" for size in sizes)),
        [
            *(
                (name, *(us(per_call.get((key, size))) for size in sizes))
                for name, key in (
                    ("stock vcrpy (from a sample)", "stock vcrpy"),
                    ("cassetter", "cassetter"),
                    ("own httpx client, recorded", "own client"),
                )
            ),
            ("bare httpx on a mock transport", us(floor), us(floor), us(floor)),
            ("built-in client, whole pipeline", *(us(pipelines[size][0]) for size in sizes)),
            ("the same, replies with reasons", "-", us(reasoned), "-"),
            ("built-in client, debate suite", us(debated), "-", "-"),
            ("json.loads of the file", *(us(pipelines[size][1]) for size in sizes)),
        ],
    )
    theirs = per_call.get(("cassetter", 1_000))
    own = per_call["own client", 1_000]
    ratios = {
        "own client, 10,000 to 100 exchanges": per_call["own client", 10_000]
        / per_call["own client", 100],
        "own client to bare mock call": per_call["own client", 10_000] / floor,
        "stock vcrpy to own client, 1,000": per_call["stock vcrpy", 1_000] / own,
        "own client to cassetter, 1,000": None if theirs is None else own / theirs,
        "built-in pipeline to json.loads, 10,000": pipelines[10_000][0] / pipelines[10_000][1],
        "peak memory to file, 10,000": memory,
        "a missing trial to json.loads of the file": missing / (pipelines[10_000][1] * 10_000),
        "a reply with reasons to json.loads": read["reasons"] / read["lines with reasons"],
        "a reply of the debate suite to json.loads": read["debates"] / read["lines of debates"],
    }
    return conclude("replay", ratios, BARS)


if __name__ == "__main__":
    sys.exit(main())
