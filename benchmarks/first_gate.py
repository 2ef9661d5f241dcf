"""What `judgesense init` writes, as a new user uses it: what does it find, and what does it let be?

``python benchmarks/first_gate.py [--quick] [--seeds N]``. A function over the OpenAI SDK compares
two answers, 60 pairs of which 30 have a label, at an endpoint on 127.0.0.1. There a quarter of the
calls take the first slot, whatever stands there; the others see which answer is good; and one reply
in 20 is turned round. All of it is drawn for each call, by the seed.

For each seed ``judgesense init --callable --items`` writes its files, none is edited, and they are
recorded and committed. Then each of these is recorded again, and ``pytest --judge-baseline
git:HEAD`` says whether it is worse:

* ``worse``: a prompt under which the first slot is taken in .45 of the calls;
* ``same``: another wording, under which nothing else changes;
* ``unchanged``: the prompt as it was, asked afresh (``--judge-mode live --judge-save-live``).

Bars: of 20 seeds at least 16 of the first are called regressed, and at most 3 of each other.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from reporting import Bar, conclude, print_table

SEEDS, QUICK_SEEDS = 20, 1
PAIRS = 60
BIAS, WORSE_BIAS, WRONG = 0.25, 0.45, 0.05
PROMPT = "Which answer is better?\n{question}\n[first] {a}\n[second] {b}\nReply first or second.\n"
REWORDED = PROMPT.replace("Which answer is better?", "Say which of two answers helps more.")
HURRIED = PROMPT.replace("Which answer", "In one glance: which answer")
MODULE = '''
import pathlib
import openai

client = openai.OpenAI(base_url="{url}", api_key="sk-none")

def judge(question, answer_a, answer_b):
    """Which of two answers is better."""
    prompt = pathlib.Path("prompt.txt").read_text(encoding="utf-8")
    content = prompt.format(question=question, a=answer_a, b=answer_b)
    messages = [{{"role": "user", "content": content}}]
    reply = client.chat.completions.create(model="m-1", messages=messages)
    return reply.choices[0].message.content
'''
RECORD = ("--judge-mode", "record")
# By its prompt, how a version of the judge is recorded.
VERSIONS = {
    "worse": (HURRIED, RECORD),
    "same": (REWORDED, RECORD),
    "unchanged": (PROMPT, ("--judge-mode", "live", "--judge-save-live", "cassettes")),
}
BARS = {
    "worse, called regressed": Bar("at least", 16 / 20),
    "same, called regressed": Bar("at most", 3 / 20),
    "unchanged, called regressed": Bar("at most", 3 / 20),
}


class Endpoint:
    """The model behind the judge.

    Attributes:
        draws: seed of what is drawn; each call of a prompt has draws of its own, so that the order
            of the calls does not matter.
    """

    def __init__(self) -> None:
        self.draws = ""
        self._times = Counter[tuple[str, str]]()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def reply(self, prompt: str) -> str:
        """Which answer the judge takes."""
        self._times[self.draws, prompt] += 1
        chance = random.Random(f"{self.draws} {self._times[self.draws, prompt]} {prompt}")
        bias = WORSE_BIAS if "glance" in prompt else BIAS
        first = chance.random() < bias or "[first] good" in prompt
        if chance.random() < WRONG:
            first = not first
        return "first" if first else "second"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                text = endpoint.reply(body["messages"][-1]["content"])
                message = {"role": "assistant", "content": text}
                answer = {
                    "id": "c-1",
                    "object": "chat.completion",
                    "created": 0,
                    "model": body["model"],
                    "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                    "usage": {"prompt_tokens": 30, "completion_tokens": 1, "total_tokens": 31},
                }
                content = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: object) -> None:
                pass

        return Handler


class Project:
    """A folder with a judge and its items, in git."""

    def __init__(self, path: Path, url: str) -> None:
        self.path = path
        (path / "myapp.py").write_text(MODULE.format(url=url), encoding="utf-8")
        with (path / "pairs.csv").open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(["question", "answer_a", "answer_b", "better"])
            for n in range(PAIRS):
                texts = [f"good answer {n}", f"poor answer {n}"]
                better = ("answer_a", "answer_b")[n % 2] if n % 4 < 2 else ""
                lines.writerow([f"question {n}", *texts[:: -1 if n % 2 else 1], better])

    def run(self, module: str, *arguments: str) -> str:
        """What a command prints; exit code 1, a bar that is not cleared, is no fault here."""
        environment = os.environ | {
            # Other plugins of an environment cost time, and so does compiling all anew.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_PLUGINS": "pytest_judgesense.plugin",
            "PYTHONPYCACHEPREFIX": str(self.path.parent / "bytecode"),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=self.path,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return done.stdout

    def git(self, *arguments: str) -> None:
        owner = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        command = [str(shutil.which("git")), *owner, *arguments]
        subprocess.run(command, cwd=self.path, check=True, capture_output=True)

    def worse(self) -> list[str]:
        """The measures that the gate calls regressed."""
        sheet = self.path / "sheet.json"
        self.run(
            *("pytest", "-q", "-p", "no:cacheprovider", "suites"),
            *("--judge-baseline", "git:HEAD", "--judge-datasheet", sheet.name),
        )
        (judge,) = json.loads(sheet.read_text(encoding="utf-8"))["judges"]
        compared = [c for c in judge["checks"] if c["check"].startswith("no_regression")]
        assert len(compared) == 3, [check["check"] for check in judge["checks"]]
        return [check["measure"] for check in compared if check["outcome"] == "fail"]


def regressed(seed: int, endpoint: Endpoint, folder: Path) -> dict[str, list[str]]:
    """By version of the judge the measures that are called regressed."""
    measures = {}
    project = Project(folder, endpoint.url)
    prompt = folder / "prompt.txt"
    prompt.write_text(PROMPT, encoding="utf-8")
    init = ("init", "--callable", "myapp:judge", "--items", "pairs.csv")
    project.run("pytest_judgesense.commands", *init)
    asked = ("pytest", "-q", "-p", "no:cacheprovider", "suites")
    endpoint.draws = f"{seed} before"
    project.run(*asked, *RECORD)
    project.git("init", "-q", "-b", "main")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "recorded")
    for version, (text, mode) in VERSIONS.items():
        prompt.write_text(text, encoding="utf-8")
        endpoint.draws = f"{seed} {version}"
        project.run(*asked, *mode)
        measures[version] = project.worse()
        project.git("checkout", "-q", ".")
    return measures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a single seed, within 50 s")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"how many (default: {SEEDS})")
    options = parser.parse_args()
    seeds = range(QUICK_SEEDS if options.quick else options.seeds)
    endpoint, rows, counts = Endpoint(), [], Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            path = Path(folder, f"seed-{seed}")
            path.mkdir()
            measures = regressed(seed, endpoint, path)
            counts.update(version for version in VERSIONS if measures[version])
            rows.append((str(seed), *(", ".join(measures[v]) or "-" for v in VERSIONS)))
            print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    print_table(("seed", *VERSIONS), rows)
    ratios = {f"{v}, called regressed": counts[v] / len(seeds) for v in VERSIONS}
    return conclude("first_gate", ratios, BARS)


if __name__ == "__main__":
    sys.exit(main())
