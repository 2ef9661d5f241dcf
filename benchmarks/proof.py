"""What the proof of a recording costs: a recording with and without it, and one replay.

``python benchmarks/proof.py [--quick]``. A loopback server in a process of its own answers at once.
Three judges are recorded by `measure` on suites of several sizes, in turn with the proof and
without it: `proving.prove` is then replaced by a proof of nothing, which no option does. The replay
is the fastest of those that follow, in this process, which has imported everything; the proof of a
function starts a process of its own. A suite may take one such replay and 3 s longer for its proof.
All are seconds of CPU time, those of that process included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest import mock

from reporting import Bar, conclude, print_table

from pytest_judgesense import measure
from pytest_judgesense.asking import proving
from pytest_judgesense.asking.proof import Proof
from pytest_judgesense.judges.judge_table import declared_judge
from pytest_judgesense.judges.spec import JudgeSpec

MOST_S = 3.0
KINDS = ("a function", "an async function", "a provider")
SIZES = (100, 1000)
QUICK_SIZES = (50, 300)
BARS = {f"proof to one replay and {MOST_S:g} s, {kind}": Bar("at most", 1.0) for kind in KINDS}
ANSWER = {
    "id": "chatcmpl-1",
    "model": "model-1",
    "choices": [{"message": {"role": "assistant", "content": "YES"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 310, "completion_tokens": 1},
    "trace": "0123456789abcdef" * 44,
}
SUITE = """
schema = "judgesense/suite/1"
name = "bench"
kind = "paraphrase"
[space]
labels = ["YES", "NO"]
[stimuli]
file = "items.jsonl"
[[templates]]
id = "t1"
text = "{{text}} Is this said? Reply YES or NO."
[[templates]]
id = "t2"
text = "{{text}} Does it say so? Reply YES or NO."
"""
FUNCTIONS = """
import httpx

client = httpx.Client(timeout=30)
aclient = httpx.AsyncClient(timeout=30)


def body(template, text):
    content = template.replace("{{text}}", text)
    return {"model": "model-1", "messages": [{"role": "user", "content": content}]}


def judge(template, text):
    reply = client.post(URL, json=body(template, text))
    return reply.json()["choices"][0]["message"]["content"]


async def ajudge(template, text):
    reply = await aclient.post(URL, json=body(template, text))
    return reply.json()["choices"][0]["message"]["content"]
"""


def serve() -> None:
    """Serve until the standard input ends; the port is the first line of the output."""
    answer = json.dumps(ANSWER).encode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *_: object) -> None: ...

    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


@contextmanager
def served() -> Iterator[str]:
    """The server's address while the block runs."""
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        server.communicate()


def suite_of(folder: Path, trials: int) -> Path:
    """A suite of so many trials under two wordings, with requests of about 1.5 kB."""
    folder = folder / f"suite-{trials}"
    folder.mkdir()
    words = "the reply names every part and keeps its order; " * 28
    rows = [{"id": f"i{n}", "text": f"{n}: {words}", "label": "YES"} for n in range(trials // 2)]
    (folder / "items.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    path = folder / "bench.suite.toml"
    path.write_text(SUITE)
    return path


def judges_of(folder: Path, url: str) -> dict[str, JudgeSpec]:
    """The judges by kind; the module of the functions lies on the path, as for any process."""
    (folder / "bench_judges.py").write_text(f"URL = '{url}/chat/completions'\n{FUNCTIONS}")
    sys.path.insert(0, str(folder))
    import bench_judges  # type: ignore[import-not-found]

    return {
        "a function": declared_judge("sync", bench_judges.judge),
        "an async function": declared_judge("async", bench_judges.ajudge),
        "a provider": declared_judge("http", provider="openai", model="model-1", base_url=url),
    }


def _seconds(work: Callable[[], object]) -> float:
    """CPU time, with that of processes that have ended: a busy machine does not count."""
    started = sum(os.times()[:4])
    work()
    return sum(os.times()[:4]) - started


def costs(
    judge: JudgeSpec, suite: Path, cassettes: Path, rounds: int
) -> tuple[float, float, float]:
    """The least seconds of a recording with its proof, of one without, and of a replay."""
    unproven = mock.patch.object(proving, "prove", return_value=Proof())
    least = [float("inf")] * 3
    for number in range(rounds):
        for place, guard in enumerate((nullcontext(), unproven)):
            folder = cassettes / f"{number}-{place}"
            with guard:
                taken = _seconds(
                    lambda: measure(judge, str(suite), mode="record", cassettes=folder)  # noqa: B023
                )
            least[place] = min(least[place], taken)
        taken = _seconds(lambda: measure(judge, str(suite), cassettes=folder))  # noqa: B023
        least[2] = min(least[2], taken)
    return least[0], least[1], least[2]


def main(arguments: Sequence[str]) -> int:
    """Run it; the exit code: 0 if every bar is cleared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small suites, one round")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        serve()
        return 0
    rows, ratios = [], dict.fromkeys(BARS, 0.0)
    with tempfile.TemporaryDirectory() as temporary, served() as url:
        folder = Path(temporary)
        judges = judges_of(folder, url)
        for trials in QUICK_SIZES if options.quick else SIZES:
            suite = suite_of(folder, trials)
            for kind, judge in judges.items():
                cassettes = folder / f"{judge.name}-{trials}"
                proven, bare, replay = costs(judge, suite, cassettes, 1 if options.quick else 3)
                proof = max(0.0, proven - bare)
                name = f"proof to one replay and {MOST_S:g} s, {kind}"
                ratios[name] = max(ratios[name], proof / (replay + MOST_S))
                times = (f"{seconds:.2f}" for seconds in (proven, bare, proof, replay))
                rows.append((kind, f"{trials:,}", *times))
    head = ("judge", "trials", "recording, s", "without its proof, s", "the proof, s", "replay, s")
    print_table(head, rows)
    return conclude("proof", ratios, BARS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
