"""What hostile files and endpoints do: hangs, tracebacks, wrong verdicts, secrets on the disk.

    python benchmarks/hostile.py [--quick] [--seed N] [--only WORD]

Each input has a folder and processes of its own: the commands that meet it, and pytest with the
plugin and every form of output. First the inputs of two reviews by attack, then 500 that are
made of good ones by a seed: recordings, logs, suites, batches, topics and foreign files with
stretches replaced, names, answers of an endpoint, requests to one, replies. Every reply says YES
where it says anything: NO is a wrong verdict.

A hang is 10 s of processor time, or 60 s on the clock: the machine may be busy. A traceback is one
that is printed, or an exit code that no command has. A secret is the judge's key, in any file that
was left or printed. ``--quick`` makes 17 inputs, one of each kind.
"""

from __future__ import annotations

import argparse
import atexit
import errno
import gzip
import io
import json
import multiprocessing
import os
import random
import re
import resource
import signal
import socket
import socketserver
import sys
import tempfile
import threading
import time
import traceback
import urllib.request
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

# In the place of this folder, whose `coverage` is not the package of that name.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, conclude, print_table
from pytest_judgesense.cassettes.exchange import text_id
from pytest_judgesense.errors import well_formed
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.space import DecisionSpace
from tests import processes
from tests.fuzzing import GRADED, GRID, PIECES, TOPICS
from tests.fuzzing import SUITE as TOY

INPUTS, FEW = 500, 17
CPU_S, CLOCK_S = 10, 60
KEY: Final = "k-Planted/97 31+bJ2"
BARS: Final = {
    name: Bar("at most", 0) for name in ("hangs", "tracebacks", "wrong verdicts", "secrets")
}
# pytest has 5 for nothing collected, and 3 for an internal error; ours has 3 for a broken file.
CODES: Final = {"judgesense": {0, 1, 2, 3}, "pytest": {0, 1, 2, 4, 5}}

SUITE: Final = f"{TOY}\n[checks]\njss_floor = 0.9\n"
ITEMS: Final = "".join(
    f'{{"id": "i{n}", "label": "YES", "text": "water number {n} is wet"}}\n' for n in (1, 2)
)
PROJECT: Final = """[tool.pytest.ini_options]
addopts = "-p no:cacheprovider"

[tool.judgesense.judges.mine]
provider = "openai"
model = "m"
base_url = "http://127.0.0.1:{port}/{path}"
api_key_env = "TOY_KEY"
timeout_s = 1
max_retries = 1
"""
OUTPUTS: Final = ("out.json", "out.md", "out.jsonl")
SECOND: Final = "2026-01-31T12:00:00Z"


# --- an endpoint ----------------------------------------------------------------------------------


def completion(text: str = "Verdict: YES", **others: Any) -> bytes:
    message = {"choices": [{"message": {"role": "assistant", "content": text}}], "model": "m"}
    usage = {"usage": {"prompt_tokens": 9, "completion_tokens": 1}}
    return json.dumps(message | usage | others).encode()


def http(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogatepass") + body


def gzipped(body: bytes) -> bytes:
    return http(gzip.compress(body, 9), "Content-Encoding: gzip")


LARGE: Final = 15_900_000
_ECHO: Final = completion(f"{KEY} Verdict: YES", echo={"authorization": f"Bearer {KEY}"})

# What the endpoint sends, by the first part of the path: the bytes, or what plays on a connection.
ANSWERS: Final[dict[str, bytes | Callable[[Any, str], None]]] = {
    "good": http(completion()),
    "surrogate": http(completion().replace(b'"m"', b'"\\udc00m"')),
    "backslashes": http(completion("\\" * 60_000 + " Verdict: YES")),
    "quotes": http(completion('"' * 60_000 + " Verdict: YES")),
    "keys": http(completion("-----BEGIN PRIVATE KEY-----\n" * 2000)),
    "placeholders": http(completion("[secret: A] [secret: B] [secret: C] " * 300)),
    "cookies": http(
        completion(f"{KEY} Verdict: YES"),
        *(f"Set-Cookie: c{n}={'x' * 200}{n}" for n in range(256)),
    ),
    "echo": http(completion(f"{KEY} {json.dumps(KEY)} {KEY.encode().hex()}"), f"X-Bearer: {KEY}"),
    "model": http(completion(model="M" * 1_000_000)),
    "commands": http(completion("::error::x\n##[add-mask]pwn\nVerdict: YES", model="##[group]x")),
    "tokens": http(completion(usage={"prompt_tokens": -5, "completion_tokens": 10**400})),
    "nested": http(b'{"choices": ' + b"[" * 100_000),
    "nested error": http(b'{"error": ' * 50_000, status="500 Oops"),
    "infinite": http(completion().replace(b": 9", b": 1e400")),
    "partial": http(completion(), status="206 Partial Content"),
    "deflate bomb": http(zlib.compress(b" " * 50_000_000), "Content-Encoding: deflate"),
    "gzip bomb": gzipped(b" " * 200_000_000),
    "gzip in gzip": http(
        gzip.compress(gzip.compress(b" " * 100_000_000)), "Content-Encoding: gzip, gzip"
    ),
    "no gzip": http(b"nothing of the kind", "Content-Encoding: gzip"),
    "headers": http(completion(), *(f"X-{n}: {'h' * 60_000}" for n in range(20))),
    "retry": http(b"{}", "Retry-After: 1e9999", status="429 Slow down"),
    "redirect": http(b"", "Location: http://127.0.0.1:1/", status="307 Elsewhere"),
    "binary": http(bytes(range(256)) * 4),
    "late": http(completion()) + http(completion("Verdict: NO")),
    # As many bytes as a body may have, of each kind that a search for secrets may be slow at.
    "16 MB of noise": http(random.Random(5).randbytes(LARGE)),
    **{
        f"16 MB of {name}": http((unit * (LARGE // len(unit))).encode())
        for name, unit in {
            "percent signs": "%",
            "percent-encoded": "%41",
            "backslashes": "\\",
            "references": "&#65;",
            "keys": "sk-abcdefghijklmnopqrstuvwx1 ",
            "events": "data: a\n",
        }.items()
    },
    "gzip without its end": http(gzip.compress(_ECHO)[:-8], "Content-Encoding: gzip"),
    "gzip with more behind it": http(gzip.compress(_ECHO) + b"more", "Content-Encoding: gzip"),
    "gzip of two": http(
        gzip.compress(_ECHO[:9]) + gzip.compress(_ECHO[9:]), "Content-Encoding: gzip"
    ),
    "gzip twice, said once": http(gzip.compress(gzip.compress(_ECHO)), "Content-Encoding: gzip"),
    "deflate cut off": http(zlib.compress(_ECHO)[:-6], "Content-Encoding: deflate"),
}


def _endless(connection: Any, _: str) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"10000\r\n" + b" " * 0x10000 + b"\r\n")


def _drip(connection: Any, _: str) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while True:
        connection.sendall(b" ")
        time.sleep(0.2)


def _seeded(connection: Any, path: str, text: str = "Verdict: YES") -> None:
    chance = random.Random(int(path))
    whole = http(completion(text), "Content-Type: application/json", "X-Request-Id: 1")
    if chance.random() < 0.7:  # in the body, whose length stays right
        body = edited(completion(text).decode(), chance).encode("utf-8", "surrogatepass")
        encoding = chance.choice(["", "", "gzip", "deflate", "br", "zstd", "gzip, deflate"])
        packed = gzip.compress(body) if encoding == "gzip" else body
        whole = http(packed, *([f"Content-Encoding: {encoding}"] if encoding else []))
    else:
        whole = edited(whole.decode(), chance).encode("utf-8", "surrogatepass")
    connection.sendall(whole)


ANSWERS |= {"endless": _endless, "drip": _drip, "seeded": _seeded}
ANSWERS |= {"a tie": http(completion("C")), "seeded tie": partial(_seeded, text="C")}


class _Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.settimeout(20)
        data = b""
        try:
            while b"\r\n\r\n" not in data and (piece := self.request.recv(65536)):
                data += piece
            head, _, body = data.partition(b"\r\n\r\n")
            lines = head.split(b"\r\n")
            wanted = [int(x[15:]) for x in lines if x.lower().startswith(b"content-length:")]
            while wanted and len(body) < wanted[0] and (piece := self.request.recv(65536)):
                body += piece
            path = lines[0].split()[1].decode().strip("/").split("/")
            answer = ANSWERS[path[0].replace("%20", " ")]
            if callable(answer):
                answer(self.request, path[1])
            else:
                self.request.sendall(answer)
        except (OSError, IndexError):
            return  # whoever asked has gone


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64


def serve(ready: Any) -> None:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        ready.send(server.server_address[1])
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with_parent = os.getppid()
        while os.getppid() == with_parent:
            time.sleep(0.5)


# --- cases ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """An input: files, what is run in their folder, and what must not be found afterwards.

    Attributes:
        files: by path, their content; ``None``: a named pipe.
        steps: command lines; ``()`` for a call of ``inside``.
        inside: what is done in a process instead, which gives what is wrong.
        absent: what a command that succeeds may not print.
    """

    name: str
    files: Mapping[str, bytes | str | None] = field(default_factory=dict)
    steps: tuple[tuple[str, ...], ...] = ()
    inside: Callable[[], str | None] | None = None
    links: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    most_output: int = 2_000_000


def edited(text: str, chance: random.Random) -> str:
    """``text`` with one to three stretches replaced; nothing that is put in says NO."""
    for _ in range(chance.randint(1, 3)):
        place, length = chance.randint(0, len(text)), chance.choice([0, 0, 1, 5, 40])
        count = chance.choice([1, 1, 3, 20])
        piece = "".join(chance.choice(PIECES) for _ in range(count))
        text = text[:place] + piece + text[place + length :]
    return text


def session(mode: str, *more: str, html: bool = False) -> tuple[str, ...]:
    outputs = [*OUTPUTS, *(["out.html"] if html else [])]
    written = [f"--judge-datasheet={name}" for name in outputs]
    return ("pytest", "toy.suite.toml", f"--judge-mode={mode}", "--junitxml=x.xml", *written, *more)


def project(port: int, path: str = "good") -> dict[str, bytes | str | None]:
    text = PROJECT.format(port=port, path=path.replace(" ", "%20"))
    return {"pyproject.toml": text, "toy.suite.toml": SUITE, "toy.jsonl": ITEMS}


READ: Final = (
    ("judgesense", "report", "l.jsonl", *(f"--output={name}" for name in OUTPUTS)),
    ("judgesense", "compare", "l.jsonl", "l.jsonl"),
    ("judgesense", "recordings", "join", "l.jsonl", "l.jsonl", "-o", "m.jsonl"),
)
LINT: Final = (
    ("judgesense", "plan", "--lint", "toy.suite.toml"),
    ("judgesense", "plan", "toy.suite.toml", "--judge-name", "mine"),
    ("judgesense", "plan", "toy.suite.toml"),
    ("pytest", "toy.suite.toml", "--collect-only", "-q"),
)
TAPES: Final = (
    session("replay"),
    ("judgesense", "recordings", "check", "cassettes"),
    ("judgesense", "recordings", "join", "cassettes/mine/toy.jsonl", "-o", "m.jsonl"),
)
TAPE: Final = "cassettes/mine/toy.jsonl"
GENERATE: Final = (
    *("judgesense", "paper", "debates", "--generate", "--debater=mine", "--debater=other"),
    *("--topics=topics.jsonl", "-o=debates.jsonl", "--judge-mode=record"),
)
EXPORT: Final = (
    *("judgesense", "recordings", "batch", "export", "toy.suite.toml", "--judge-name=mine"),
    *("--judge-cassettes=none", "-o=requests.jsonl"),
)

DEBATE: Final = """schema = "judgesense/suite/1"
name = "debate"
kind = "debate"

[space]
labels = ["PRO", "CON"]

[stimuli]
file = "debates.jsonl"

[[templates]]
id = "p0"
text = "{{resolution}} {{transcript}} Who has won? Answer by one JSON object."
"""


def reviewed(port: int, good: Mapping[str, str]) -> Iterator[Case]:  # noqa: PLR0915 - a list
    """The inputs of the review, by the numbers of its findings."""
    base, log, tape = project(port), good["out.jsonl"], good[TAPE]
    lines, first = tape.splitlines(), json.loads(tape.splitlines()[0])

    def answer(name: str, number: str, html: bool = False) -> Case:
        # Large ones take a second each: no more of them are asked for than the limit permits.
        bound = ["--judge-deadline=4"] if name.startswith("16 MB") else []
        steps = (session("record", *bound), session("replay", html=html))
        return Case(f"{number} answer: {name}", project(port, name), steps)

    def read(name: str, number: str, **changes: Any) -> Case:
        changed = json.loads(log.splitlines()[0]) | changes
        text = json.dumps(changed) + "\n" + log
        return Case(f"{number} log: {name}", {"l.jsonl": text}, READ)

    def played(name: str, number: str, text: str, **files: bytes | str | None) -> Case:
        return Case(f"{number} recording: {name}", {**base, TAPE: text, **files}, TAPES)

    def replied(text: str) -> str:
        body = completion(text).decode()
        return "".join(
            json.dumps(one | {"response": one["response"] | {"body": body}}) + "\n"
            for one in map(json.loads, lines)
        )

    callable_ = '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "own:ask"\n'
    never = "import time\ndef ask(messages):\n    time.sleep(10**6)\n"
    yield answer("drip", "1")
    yield Case(
        "1 a function that never returns",
        {**base, "pyproject.toml": callable_ + "timeout_s = 1\n", "own.py": never},
        (session("record"),),
    )
    yield answer("backslashes", "2")
    yield played("backslashes", "2", replied("\\" * 60_000 + " YES"))
    torn = lines[0][:-1].replace("{", '{"x": "' + '\\"' * 6000, 1)
    yield Case("3 recording: a torn line", {**base, TAPE: torn}, (session("record"), *TAPES))
    yield answer("surrogate", "4", html=True)
    yield Case("5 merge onto what is being recorded", base, (), lambda: _merged_under_lock(tape))
    for name in ("keys", "placeholders", "quotes"):
        yield answer(name, "6")
    yield played("placeholders", "6", replied("[secret: A] [secret: B] [secret: C]" * 250))
    yield answer("cookies", "7")
    targets = (".out.json.tmp", "cassettes/mine/.toy.jsonl.tmp", "cassettes/mine/.toy.jsonl.lock")
    yield Case(
        "8 links where files are made",
        {**base, "victim": "untouched"},
        (session("record"),),
        links=dict.fromkeys(targets, "victim"),
    )
    yield Case("9 two writers of one file", {}, (), _two_writers)
    named = log.replace('"mine"', '"##[add-mask]pwn"').replace('"toy"', '"\\n::error::x"')
    yield Case("10 names that are commands", {"l.jsonl": named}, READ)
    yield answer("commands", "10")
    for name in ("endless", "gzip bomb", "deflate bomb", "gzip in gzip", "no gzip", "model"):
        yield answer(name, "11", html=name == "model")
    shared = "s" * 700_000
    part = {"id": text_id(shared)}
    body = {"json": {"texts": [part] * 1500}}
    few = [json.dumps({"id": part["id"], "text": shared})]
    few += [
        json.dumps(first | {"call": n, "response": first["response"] | {"body": body}})
        for n in (1, 2)
    ]
    yield played("1,500 references", "11", "\n".join(few) + "\n")
    yield played("a line of 70 MB", "11", tape + '{"trial": "' + "t" * 70_000_000)
    for name in ("judge", "suite", "item", "template", "cluster"):
        yield read(f"a {name} of a megabyte", "11", **{name: "n" * 1_000_000})
    yield read("a reason of a megabyte", "11", verdict=None, failed="why " * 250_000)
    yield played("no moment", "12", tape.replace(first["recorded_at"], "9999-99-99T99:99:99Z"))
    for name, text in (("lists", "[" * 100_000), ("objects", '{"a":' * 100_000)):
        files = {"l.jsonl": f"{log}{text}\n", "d.json": text}
        steps = (*READ, ("judgesense", "compare", "d.json", "d.json"))
        steps += (("judgesense", "recordings", "join", "d.json", "d.json", "-o", "e.json"),)
        yield Case(f"12 log: nested {name}", files, steps)
        yield played(f"nested {name}", "12", f"{tape}{text}\n")
        suite = {**base, "toy.jsonl": f"{ITEMS}{text}\n"}
        yield Case(f"12 items: nested {name}", suite, LINT)
    for name, text in (
        ("nested", "a = " + "[" * 100_000),
        ("dotted", f"[{'a.' * 100_000}a]\n" + "b = 1\n" * 10),
        ("many tables", f"[{'a.' * 20_000}a]\n" + "".join(f"k{n} = 1\n" for n in range(20_000))),
        ("a long number", "a = " + "9" * 10_000),
    ):
        yield Case(f"12 suite: {name}", {**base, "toy.suite.toml": SUITE + text}, LINT)
        # Not by pytest, which reads it itself, before any plugin.
        yield Case(f"12 project: {name}", {**base, "pyproject.toml": text}, LINT[:3])
    for name, text in (
        ("a long line", f"[pytest]\na{' ' * 100_000}b\n"),
        ("lines that go on", "[pytest]\na = 1\n" + " b\n" * 1_000_000),
    ):
        yield Case(f"12 pytest.ini: {name}", {**base, "pytest.ini": text}, LINT[:3])
    many = f"{SUITE}\n[design]\nreplicates = 1000000000\n"
    yield Case("12 suite: replicates", {**base, "toy.suite.toml": many}, LINT)
    yield read("too many tokens", "12", usage={"prompt_tokens": 1})
    huge = log.replace('"prompt_tokens":9', '"prompt_tokens":1e400')
    yield Case("12 log: infinite tokens", {"l.jsonl": huge}, READ)
    yield read("a list as verdict", "12", verdict=["A"])
    yield read("no labels", "12", design={"kind": "paraphrase", "labels": []})
    yield Case("12 a pipe as log", {"l.jsonl": None}, READ)
    yield Case("12 a pipe as recording", {**base, TAPE: None}, TAPES)
    yield Case("12 a pipe as items", {**base, "toy.jsonl": None}, LINT)
    yield answer("echo", "14")
    outside = {
        **base,
        "pyproject.toml": PROJECT.format(port=port, path="good") + 'prompts = "../../../../etc"\n',
    }
    yield Case("15 prompts outside", outside, (session("record"), session("replay")))
    for name in ("late", "partial", "tokens", "infinite", "nested", "nested error", "headers"):
        yield answer(name, "15")
    for name in ANSWERS:
        if name.startswith(
            ("16 MB", "gzip without", "gzip with", "gzip of", "gzip twice", "deflate cut")
        ):
            yield answer(name, "A4" if name.startswith("16 MB") else "A3")
    for name in ("retry", "redirect", "binary"):
        yield answer(name, "15")
    laughs = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 12))
    yield Case(
        "aliases of YAML",
        {
            **base,
            "cassettes/v.yaml": f"l0: &l0 lol\n{laughs}interactions: [*l9]\n",
            "cassettes/w.yaml": "[" * 50_000,
        },
        TAPES[1:2],
    )
    yield Case(
        "a lock that is no lock",
        {**base, "cassettes/mine/.toy.jsonl.holder": "[" * 100_000},
        (session("record"),),
    )
    yield from _branches(base, good)


# Code that says that it ran.
_RAN: Final = 'from pathlib import Path\nPath(__file__).with_name("it-ran").touch()\n'
# Commands that read a repository of others, and run none of its code.
READING: Final = (
    *LINT[:3],
    ("judgesense", "plan", "toy.suite.toml", "--judge-name", "mine"),
    *READ,
    ("judgesense", "recordings", "check", "cassettes"),
    ("judgesense", "explain", "jss"),
    ("judgesense", "import", "t.csv", "-o=t.jsonl", "--map=item=id", "--map=verdict=v"),
)


def _branches(base: Mapping[str, bytes | str | None], good: Mapping[str, str]) -> Iterator[Case]:
    """A repository with code, and with data that would be code; and what grows beyond its size."""
    lines = [json.loads(line) for line in good[TAPE].splitlines()]
    tape = "".join(json.dumps(line) + "\n" for line in lines)
    table = '[tool.judgesense.judges.mine]\nprovider = "callable"\n'
    own = _RAN + "def ask(messages):\n    " + _RAN.splitlines()[1] + "\n    return 'YES'\n"
    paths = '[tool.pytest.ini_options]\npythonpath = ["."]\n'
    code = {
        **base,
        **{f"{name}.py": own for name in ("own", "conftest", "numpy", "yaml", "sitecustomize")},
        "evil-1.0.dist-info/METADATA": "Name: evil\nVersion: 1.0\n",
        "evil-1.0.dist-info/entry_points.txt": "[judgesense]\nown = own\n",
        "pyproject.toml": f'{paths}{table}model = "own:ask"\n',
        "t.csv": "id,v\n1,YES\n",
        "l.jsonl": good["out.jsonl"],
        TAPE: tape,
    }
    yield Case("16 code of a repository", code, READING)
    shell = 'arguments = { command = "text" }\n'
    items = '{"id": "i1", "label": "YES", "text": "touch it-ran"}\n'
    for model in ("os:system", "subprocess:getoutput"):
        data = {**code, "pyproject.toml": f'{table}model = "{model}"\n{shell}', "toy.jsonl": items}
        data = {name: text for name, text in data.items() if not name.endswith(".py")}
        yield Case(f"16 {model}", data, (*READING, session("replay"), session("record")))
    deep = ".".join(["a"] * 20_000)
    for name, text in (
        ("key", f"{deep} = 1\n"),
        ("quoted key", f"{deep.replace('a', chr(34) * 2)} = 1\n"),
        ("inline key", f"x = {{{deep} = 1}}\n"),
        ("long keys", "".join(f"k{n}.{'a.' * 15}a = 1\n" for n in range(100_000))),
    ):
        yield Case(f"16 toml: {name}", {**base, "toy.suite.toml": text}, LINT)
        yield Case(f"16 project: {name}", {**base, "pyproject.toml": text}, LINT[:1])
    merged = [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 8)]
    bomb = "\n".join(["a0: &a0 {k: v}", *merged, "interactions: []", "version: 1", ""])
    check = ("judgesense", "recordings", "check", "cassettes")
    yield Case("16 yaml: merge keys", {"cassettes/c.yaml": bomb}, (check,))
    request = {"method": "POST", "uri": "http://h/v1", "body": "{}", "headers": {}}
    request["headers"] = {"x-api-key": ["bearer" + " " * 60_000 + "\u00e9"]}
    reply = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": "{}"}}
    stock = {"version": 1, "interactions": [{"request": request, "response": reply}]}
    yield Case("16 a header of blanks", {"cassettes/c.json": json.dumps(stock)}, (check,))
    metric = {"name": "C [GEval]", "score": 1.0, "success": True, "reason": "r"}
    metric["verboseLogs"] = "Criteria:\n \n \nEvaluation Steps:\n[" * 2_000
    graded = {"name": "t1", "input": "q", "actualOutput": "a", "metricsData": [metric]}
    run = json.dumps({"testCases": [graded]})
    into = ("judgesense", "import", "run.json", "-o=d.jsonl")
    yield Case("16 the log of a G-Eval", {"run.json": run}, (into,))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b"[" + b"{}," * 10_000_000 + b"{}]")
    into = ("judgesense", "import", "log.eval", "-o=d.jsonl")
    yield Case("16 an archive", {"log.eval": packed.getvalue()}, (into,))
    for status in (-1, 1000):
        played = [line | {"response": line["response"] | {"status": status}} for line in lines]
        text = "".join(json.dumps(line) + "\n" for line in played)
        yield Case(f"16 recording: status {status}", {**base, TAPE: text}, TAPES)
    long = str(base["pyproject.toml"]).replace("judges.mine", f"judges.{'x' * 300}")
    steps = (session("record"), session("replay"))
    yield Case("16 a name of 300 characters", {**base, "pyproject.toml": long}, steps)
    evil = r"\u001b[31m\n::stop-commands::t ##vso[task.complete]"
    named = str(base["pyproject.toml"]).replace("judges.mine", f'judges."{evil}"')
    yield Case("16 a name that commands", {**base, "pyproject.toml": named}, steps)
    for folder in ("::add-mask::x", "##vso[x]"):
        moved = {f"{folder}/{name}": base[name] for name in ("toy.suite.toml", "toy.jsonl")}
        every = ("pytest", "-v", "--judge-mode=record")
        yield Case(
            f"16 a path: {folder}", {"pyproject.toml": base["pyproject.toml"], **moved}, (every,)
        )


@dataclass(frozen=True)
class Draw:
    """What an input is made of: good files, and a generator with a seed of its own."""

    port: int
    good: Mapping[str, str]
    seed: int
    number: int

    @property
    def chance(self) -> random.Random:
        return random.Random(f"{self.seed} {self.number}")

    @property
    def unlike(self) -> int:
        """A number that no other input has."""
        return self.seed * 1_000_000 + self.number

    @property
    def round(self) -> int:
        return self.number // len(MAKERS)

    def one_of(self, files: Mapping[str, bytes | str | None], *names: str) -> dict[str, Any]:
        """``files``, with one of them edited."""
        chance = self.chance
        name = chance.choice(names)
        return {**files, name: edited(str(files[name]), chance)}


def _answer(draw: Draw) -> Case:
    steps = (session("record"), session("replay", html=draw.round % 5 == 0))
    return Case("answer", project(draw.port, f"seeded/{draw.unlike}"), steps)


def _recording(draw: Draw) -> Case:
    files = {**project(draw.port), TAPE: edited(draw.good[TAPE], draw.chance)}
    return Case("recording", files, TAPES if draw.number % 2 else TAPES[:2])


def _log(draw: Draw) -> Case:
    html = (*READ[0], "--output=out.html") if draw.round % 5 == 0 else READ[0]
    return Case("log", {"l.jsonl": edited(draw.good["out.jsonl"], draw.chance)}, (html, *READ[1:]))


def _suite(draw: Draw) -> Case:
    files = draw.one_of(project(draw.port), "toy.suite.toml", "toy.jsonl")
    return Case("suite", files, (*LINT, session("record"), session("replay")))


def _declared(draw: Draw) -> Case:
    # Not by pytest, which reads it itself, before any plugin.
    return Case("project", draw.one_of(project(draw.port), "pyproject.toml"), LINT[:3])


def _names(draw: Draw) -> Case:
    """Whatever a file of the project may call something, in files that are whole."""
    chance = draw.chance

    def name(most: int = 8) -> str:
        text = "".join(chance.choice(PIECES) for _ in range(chance.randint(1, most)))
        return chance.choice([text, f"::error::{text}", f"\n{text}", text[:200]])

    def of_toml(text: str) -> str:
        return json.dumps(well_formed(text), ensure_ascii=False).replace("\x7f", "\\u007f")

    files: dict[str, Any] = project(draw.port)
    items = [json.loads(line) for line in ITEMS.splitlines()]
    judge = of_toml(name(2)) if chance.random() < 0.7 else "mine"
    changes = {
        "pyproject.toml": ("judges.mine", f"judges.{judge}"),
        "toy.suite.toml": ('name = "toy"', f"name = {of_toml(name(2))}"),
    }
    for file, (old, new) in changes.items():
        if chance.random() < 0.7:
            files[file] = files[file].replace(old, new)
    model = files["pyproject.toml"].replace('model = "m"', f"model = {of_toml(name())}")
    wording = files["toy.suite.toml"].replace('id = "t1"', f"id = {of_toml(name(1))}")
    files |= {"pyproject.toml": model}
    files |= {"toy.suite.toml": wording} if chance.random() < 0.3 else {}
    for key in chance.sample(["id", "text", "cluster"], 2):
        items[0][key] = name()
    files["toy.jsonl"] = "".join(f"{json.dumps(item)}\n" for item in items)
    return Case("names", files, (session("record"), session("replay", html=draw.round % 5 == 0)))


_FOREIGN: Final = {
    "table": ("f.csv", "item,label,verdict\ni1,YES,YES\ni2,YES,YES\n", "--judge=j", "--suite=s"),
    "games": (
        "f.jsonl",
        '{"question_id": 1, "model": "a", "judge": "j", "g1_winner": "model_1"}\n',
    ),
    "judgesense": ("f.jsonl", '{"pair_id": "p1", "prompt_a": "x", "prompt_b": "y"}\n'),
    "llmbar": ("f.json", '[{"input": "x", "output_1": "a", "output_2": "b", "label": 1}]'),
    "inspect": (
        "f.json",
        (
            '{"eval": {"task": "t"}, "samples": [{"id": 1, "epoch": 1, "input": "x", '
            '"scores": {"s": {"value": "YES", "metadata": {"grading": '
            '[{"role": "user", "content": "x?"}, '
            '{"role": "assistant", "content": "YES", "model": "m"}]}}}}]}'
        ),
    ),
    "promptfoo": (
        "f.json",
        (
            '{"results": {"results": [{"vars": {"n": 1}, "response": {"output": "x"}, '
            '"gradingResult": {"componentResults": [{"pass": true, "score": 1, '
            '"assertion": {"type": "llm-rubric", '
            '"value": "r"}, "metadata": {"renderedGradingPrompt": "x?"}}]}}]}}'
        ),
    ),
    "deepeval": (
        "f.json",
        (
            '{"testCases": [{"name": "c", "input": "x", "actualOutput": "y", "metricsData": '
            '[{"name": "m", "score": 1.0, "success": true, "verboseLogs": "Criteria:"}]}]}'
        ),
    ),
    "judgebench": ("f.jsonl", '{"pair_id": "p", "judge": "j", "winner": "PRO"}\n'),
}


def _imported(draw: Draw) -> Case:
    chance = draw.chance
    kind = chance.choice(list(_FOREIGN))
    name, text, *options = _FOREIGN[kind]
    command = ("judgesense", "import", "--format", kind, name, "-o", "out", *options)
    begun = ("judgesense", "init", "--from-log", "out", "--labels=YES,MAYBE", "begun")
    return Case(f"import of {kind}", {name: edited(text, chance)}, (command, begun))


def _datasheet(draw: Draw) -> Case:
    chance = draw.chance
    files = {"d.json": edited(draw.good["out.json"], chance)}
    files["b.json"] = edited(draw.good["base.json"], chance)
    compared = [("judgesense", "compare", name, name) for name in files]
    merged = ("judgesense", "recordings", "join", "d.json", "d.json", "-o", "e.json")
    return Case("datasheet", files, (*compared, merged))


def _label(draw: Draw) -> Case:
    """An endpoint that says tie, and one that says it in a hostile way."""
    path = chance_of(draw, "a tie", f"seeded tie/{draw.unlike}")
    files = {**project(draw.port, path), "grid.suite.toml": GRID, "items.jsonl": GRADED}
    if path == "a tie":
        files = draw.one_of(files, "grid.suite.toml", "items.jsonl", "items.jsonl")
    command = ("judgesense", "label", "grid.suite.toml", "--judge-name=mine", "-o", "labels.jsonl")
    return Case("label", files, ((*command, "--judge-mode=record"), command))


def _wordings(draw: Draw) -> Case:
    path = chance_of(draw, "good", f"seeded/{draw.unlike}")
    files = project(draw.port, path)
    if path == "good":
        files = draw.one_of(files, "toy.suite.toml")
    command = ("judgesense", "label", "toy.suite.toml", "--wordings", "--judge-name=mine")
    wrong = tuple(f'mine = "{word}"' for word in ("NO", "UNSURE"))
    return Case("wordings", files, ((*command, "--judge-mode=record"), command), absent=wrong)


def _batch(draw: Draw) -> Case:
    """Results, and what is to be exported of what was recorded of them, or of an edited suite."""
    chance = draw.chance
    answer = json.loads(completion())
    results = "".join(
        json.dumps({"id": "r", "custom_id": asked["custom_id"], "error": None, "response": said})
        + "\n"
        for asked in map(json.loads, draw.good["requests.jsonl"].splitlines())
        for said in [{"status_code": 200, "request_id": "1", "body": answer}]
    )
    files = {**project(draw.port), "r.jsonl": edited(results, chance)}
    if chance.random() < 0.2:
        files = draw.one_of({**files, "r.jsonl": results}, "toy.suite.toml", "toy.jsonl")
    batch, named = ("judgesense", "recordings", "batch"), ("toy.suite.toml", "--judge-name=mine")
    steps = ((*batch, "import", *named, "r.jsonl"), session("replay"))
    return Case("batch", files, (*steps, (*batch, "export", *named, "-o=q.jsonl")))


def _debated(port: int, path: str) -> dict[str, bytes | str | None]:
    one = str(project(port, path)["pyproject.toml"])
    both = one + one[one.index("[tool.judgesense") :].replace("mine", "other")
    return {"pyproject.toml": both, "topics.jsonl": TOPICS, "debate.suite.toml": DEBATE}


def _debates(draw: Draw) -> Case:
    """Topics that are edited, speeches that are, and debates as items of a suite."""
    outputs = [f"--judge-datasheet={name}" for name in OUTPUTS]
    record = ("pytest", "debate.suite.toml", "--judge-name=mine", "--judge-mode=record")
    judged = (
        ("judgesense", "plan", "--lint", "debate.suite.toml"),
        (*record, "--junitxml=x.xml", *outputs),
    )
    match draw.round % 3:
        case 0:
            files = draw.one_of(_debated(draw.port, "good"), "topics.jsonl")
            return Case("topics", files, (GENERATE, *judged))
        case 1:
            return Case("speeches", _debated(draw.port, f"seeded/{draw.unlike}"), (GENERATE,))
        case _:
            files = {**_debated(draw.port, "good"), "debates.jsonl": draw.good["debates.jsonl"]}
            return Case("debates", draw.one_of(files, "debates.jsonl"), judged)


def _request(draw: Draw) -> Case:
    return Case("requests", {}, (), partial(_served, draw.chance))


def _reply(draw: Draw) -> Case:
    return Case("replies", {}, (), partial(_replies, draw.seed, draw.number))


def chance_of(draw: Draw, *paths: str) -> str:
    """One of the paths of the endpoint, each as often."""
    return paths[draw.round % len(paths)]


MAKERS: Final[tuple[Callable[[Draw], Case], ...]] = (
    *(_answer, _recording, _log, _suite, _names, _answer, _recording, _log, _label),
    *(_declared, _imported, _datasheet, _wordings, _batch, _debates, _request, _reply),
)


def made(port: int, good: Mapping[str, str], seed: int, count: int) -> Iterator[Case]:
    """``count`` inputs made of good ones, each by a seed of its own."""
    for number in range(count):
        draw = Draw(port, good, seed, number)
        case = MAKERS[number % len(MAKERS)](draw)
        yield replace(case, name=f"{case.name} {number}")


def _served(chance: random.Random) -> str | None:
    """Requests that no client would send, to what ``judgesense serve`` serves; then a good one."""
    from pytest_judgesense.commands.main import main

    told, tells = os.pipe()
    if not (child := os.fork()):
        signal.alarm(CLOCK_S)
        # What a shell starts in the background ignores interrupts, and so do its children.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(tells, 1)  # errors stay where they are looked for
        code = main(["serve", "--port", "0"])
        os._exit(code)
    os.close(tells)
    with os.fdopen(told, encoding="utf-8") as said:
        found = re.search(r"127\.0\.0\.1:(\d+)", said.readline())
        said.readline(), said.readline()
        try:
            assert found is not None
            return _knocked(int(found[1]), chance)
        finally:
            os.kill(child, signal.SIGINT)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 0, f"it ended with {status}"


def _knocked(port: int, chance: random.Random) -> str | None:
    said = [{"role": "user", "content": "Is <text>water is wet</text> true? YES or NO."}]
    body = {"model": "clean", "temperature": 1.5, "seed": 3, "system": "s", "messages": said}
    tool = {"tools": [{"name": "v"}], "tool_choice": {"type": "tool", "name": "v"}}
    for _ in range(20):
        path = chance.choice(["/v1/chat/completions", "/v1/messages"])
        asked = json.dumps(body | (tool if chance.random() < 0.3 else {}))
        data = edited(asked, chance).encode("utf-8", "surrogatepass")
        head = f"POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: {len(data)}\r\n\r\n"
        whole = head.encode() + data
        if chance.random() < 0.3:
            whole = edited(head + asked, chance).encode("utf-8", "surrogatepass")
        # It need not hear the end of what is sent.
        connection = socket.create_connection(("127.0.0.1", port), timeout=5)
        with connection, suppress(ConnectionError):
            connection.sendall(whole)
            _end_sending(connection)
            while connection.recv(65536):
                pass
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    with urllib.request.urlopen(url, json.dumps(body).encode(), timeout=10) as answer:
        return None if json.load(answer)["choices"] else "no answer to a good request"


def _end_sending(connection: socket.socket) -> None:
    """Say that nothing more comes; an endpoint that has closed already need not hear it."""
    try:
        connection.shutdown(socket.SHUT_WR)
    except OSError as error:
        if error.errno != errno.ENOTCONN:
            raise


def _merged_under_lock(tape: str) -> str | None:
    from pytest_judgesense.cassettes.locking import Recorder, recording_alone
    from pytest_judgesense.commands.main import main

    Path("a.jsonl").write_text(tape)
    Path("goal.jsonl").write_text(tape)
    ready, told = os.pipe()
    if not (holder := os.fork()):
        with recording_alone(Path("goal.jsonl"), Recorder.here()):
            os.write(told, b"x")
            time.sleep(CLOCK_S)
        os._exit(0)
    try:
        os.read(ready, 1)
        code = main(["recordings", "join", "a.jsonl", "goal.jsonl", "-o", "goal.jsonl"])
    finally:
        os.kill(holder, signal.SIGKILL)
        os.waitpid(holder, 0)
    return None if code == 3 else f"merged, exit code {code}"


def _two_writers() -> str | None:
    from pytest_judgesense.files.output import replace_text

    texts = ["a" * 100_000, "b" * 100_000]
    children = []
    for text in texts:
        if not (child := os.fork()):
            for _ in range(100):
                replace_text(Path("shared.json"), text)
            os._exit(0)
        children.append(child)
    torn = 0
    for _ in range(500):
        if Path("shared.json").exists():
            torn += Path("shared.json").read_text() not in texts
    for child in children:
        os.waitpid(child, 0)
    return f"{torn} torn reads" if torn else None


# What says nothing by itself, to stand around what was planted.
_QUIET: Final = [
    *(
        one
        for one in PIECES
        if not any(word in one.lower() for word in ("verdict", "[[a]]", "a is"))
    ),
    *(
        "The text is long. ",
        "Let me think step by step.\n",
        "**",
        "> ",
        "## Reasons\n",
        "1. ",
        "\n\n",
    ),
]
_FORMS: Final = (
    "Verdict: {}", "[[{}]]", '{{"verdict": "{}"}}', "Final answer: {}", "{}", "\\boxed{{{}}}",
    "<verdict>{}</verdict>", "My verdict is **{}**.", '```json\n{{"winner": "{}"}}\n```',
)  # fmt: skip
_SPACES: Final = (
    (DecisionSpace(("YES", "NO")), ("YES", "NO")),
    (DecisionSpace(("GOOD", "BAD", "UGLY")), ("GOOD", "BAD", "UGLY")),
)


def _replies(seed: int, number: int) -> str | None:
    """A hundred replies that plant one label in hostile surroundings."""
    chance = random.Random(f"{seed} {number}")
    for _ in range(100):
        space, labels = chance.choice(_SPACES)
        label, form = chance.choice(labels), chance.choice(_FORMS)
        before, after = (
            "".join(chance.choice(_QUIET) for _ in range(chance.choice([0, 1, 5, 30])))
            for _ in range(2)
        )
        text = before + form.format(label) + after
        outcome = parse_reply(text, space, truncated=chance.random() < 0.2)
        value = getattr(outcome, "value", label)
        if value != label:
            return f"wrong verdict: {value} of {text[:500]!r}"
    return None


# --- running them ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """What came of an input: faults by kind, and what it took."""

    name: str
    faults: tuple[tuple[str, str], ...]
    cpu_s: float
    rss_mb: float


def attempt(case: Case) -> Result:
    """Run a case in a folder of its own, and look at what is left."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _prepare(case, folder)
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        faults: list[tuple[str, str]] = []
        cpu = rss = 0.0
        for step in case.steps or ((),):
            code, out, used = _forked(case, step, folder)
            cpu, rss = max(cpu, used.ru_utime + used.ru_stime), max(rss, used.ru_maxrss / 1024)
            faults += [
                (kind, f"{' '.join(step[:2])}: {why}") for kind, why in _judged(step, code, out)
            ]
            if code == 0:
                wrong = [text for text in case.absent if text in out]
                faults += [("wrong verdicts", f"{step[1]} printed {text}") for text in wrong]
            if len(out) > case.most_output:
                faults.append(("tracebacks", f"{' '.join(step[:2])}: {len(out)} bytes printed"))
        faults += _left(folder, before)
        return Result(case.name, tuple(faults), cpu, rss)


def _prepare(case: Case, folder: Path) -> None:
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            os.mkfifo(path)
        elif isinstance(content, str):
            path.write_bytes(content.encode("utf-8", "surrogatepass"))
        else:
            path.write_bytes(content)
    for name, target in case.links.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(folder / target)


def _forked(case: Case, step: Sequence[str], folder: Path) -> tuple[int, str, Any]:
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "GITHUB"))},
        **processes.ENVIRONMENT,
        **case.environment,
        "TOY_KEY": KEY,
        "GITHUB_ACTIONS": "true",
        "HOME": str(folder),
    }
    with tempfile.TemporaryFile() as out:
        if not (child := os.fork()):
            # What this process does at its end, such as removing the folder, is not the child's.
            atexit._clear()
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 5))
            code = 97
            try:
                if step:
                    asked = {"arguments": list(step), "cwd": str(folder), "limit": CLOCK_S}
                    asked["environment"] = environment
                    processes._become(asked, out.fileno(), out.fileno())
                signal.alarm(CLOCK_S)
                os.dup2(out.fileno(), 1)
                os.dup2(out.fileno(), 2)
                os.chdir(folder)
                assert case.inside is not None
                wrong = case.inside()
                print(wrong or "", flush=True)
                code = 98 if wrong else 0
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 1 if ended.code else 0
            except BaseException:  # noqa: BLE001 - whatever it is, it is a fault
                traceback.print_exc()
            sys.stdout and sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        _, status, used = os.wait4(child, 0)
        out.seek(0)
        return os.waitstatus_to_exitcode(status), out.read().decode("utf-8", "replace"), used


def _judged(step: Sequence[str], code: int, out: str) -> Iterator[tuple[str, str]]:
    if code in (-signal.SIGXCPU, -signal.SIGALRM, -signal.SIGKILL):
        yield "hangs", f"signal {-code}"
    # The last is what is said of an output that nobody foresaw could fail.
    elif any(one in out for one in ("Traceback (most recent", "INTERNALERROR", "(-v shows where)")):
        yield "tracebacks", out[-1500:]
    elif not step:
        if code:
            yield "wrong verdicts", out[-700:]
    elif code not in CODES[step[0]]:
        yield "tracebacks", f"exit code {code}: {out[-1500:]}"
    if KEY in out:
        yield "secrets", "printed"
    ours = ("::error file=", "::error title=", "::warning", "::notice")
    for line in out.splitlines():
        begins = line.lstrip().startswith("::") and not line.startswith(ours)
        if begins or re.search(r"##[a-z]*\[", line):
            yield "wrong verdicts", f"a workflow command: {line[:200]}"


def _logged(data: bytes, folder: Path) -> Iterator[tuple[str, str]]:
    if (folder / "l.jsonl").exists():
        return  # an edited log says itself what the verdicts are
    for line in data.splitlines():
        if json.loads(line).get("verdict") not in (None, "YES", "A"):
            yield "wrong verdicts", line[:300].decode("utf-8", "replace")


def _labelled(data: bytes, _: Path) -> Iterator[tuple[str, str]]:
    for line in map(json.loads, data.splitlines()):
        if line.get("gold") == "judge:mine" and line["label"] != "tie":
            yield "wrong verdicts", f"labelled {line['label']}"


def _lines(data: bytes, _: Path) -> Iterator[tuple[str, str]]:
    for line in data.splitlines():
        json.loads(line)
    yield from ()


def _sheet(data: bytes, _: Path) -> Iterator[tuple[str, str]]:
    json.loads(data)
    yield from ()


def _results(data: bytes, _: Path) -> Iterator[tuple[str, str]]:
    for suite in ET.fromstring(data).iter("testsuite"):  # noqa: S314 - pytest has written it
        if not int(suite.get("tests", "0")) and suite.find("testcase") is not None:
            yield "wrong verdicts", "results of no test"


# What is made of inputs, and what must be true of it.
MADE: Final[Mapping[str, Callable[[bytes, Path], Iterator[tuple[str, str]]]]] = {
    "out.jsonl": _logged,
    "labels.jsonl": _labelled,
    "q.jsonl": _lines,
    "debates.jsonl": _lines,
    "out.json": _sheet,
    "x.xml": _results,
}


def _left(folder: Path, before: Mapping[Path, bytes]) -> Iterator[tuple[str, str]]:
    """What is wrong with the files that a run has left."""
    forms = [KEY.encode(), json.dumps(KEY)[1:-1].encode()]
    for path in folder.rglob("*"):
        if not path.is_file() or path.is_symlink():
            continue
        data = path.read_bytes()
        if data == before.get(path):
            continue
        if any(form in data for form in forms):
            yield "secrets", path.name
        if path.name == "victim":
            yield "wrong verdicts", "written through a link"
        if path.name == "it-ran":
            yield "wrong verdicts", "code of the repository ran"
        if path.name in MADE:
            try:
                yield from MADE[path.name](data, folder)
            except (ValueError, TypeError, AttributeError, ET.ParseError) as error:
                yield "tracebacks", f"{path.name} cannot be read: {error!r}"
        if path.suffix == ".md" and len(data) > 300_000:
            yield "tracebacks", f"{path.name} has {len(data)} bytes"
        if path.name.endswith(".tmp"):
            yield "tracebacks", f"left behind: {path.name}"


def good_files(port: int) -> dict[str, str]:
    """What a session leaves whose endpoint is honest."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case = Case("good", project(port))
        _prepare(case, folder)
        code, out, _ = _forked(case, session("record", "--judge-save-baseline=base.json"), folder)
        if code != 1:  # the check fails: one answer to everything is degenerate
            raise SystemExit(f"an honest endpoint could not be recorded: {out}")
        names = (TAPE, *OUTPUTS, "base.json", "requests.jsonl", "debates.jsonl")
        debated = Case("debates", _debated(port, "good"))
        _prepare(debated, folder)
        for step in (EXPORT, (*GENERATE, "--judge-cassettes=none")):
            code, out, _ = _forked(debated, step, folder)
            if code:
                raise SystemExit(f"{step}: {out}")
        return {one: (folder / one).read_text() for one in names}


def main() -> int:
    parser = argparse.ArgumentParser(description="what hostile files and endpoints do")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="inputs with this in their names")
    parser.add_argument("--slowest", type=int, default=5, help="so many are shown")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    processes._import_all(analyses=False)
    forking = multiprocessing.get_context("fork")
    ours, theirs = forking.Pipe()
    server = forking.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    started = time.monotonic()
    port = ours.recv()
    good = good_files(port)
    known = [("review", case) for case in reviewed(port, good)]
    count = FEW if options.quick else INPUTS
    known += [("made", case) for case in made(port, good, options.seed, count)]
    known = [(kind, case) for kind, case in known if options.only in case.name]
    # Forked workers see them: they hold functions, which do not travel.
    _CASES.extend(case for _, case in known)
    with forking.Pool(max(2, os.cpu_count() or 2)) as pool:
        results = []
        for result in pool.imap(_numbered, range(len(_CASES)), chunksize=1):
            results.append(result)
            for kind, why in result.faults:
                print(f"FAULT {result.name}: {kind}: {why}", flush=True)
    server.kill()
    server.join()

    faults = Counter(kind for result in results for kind, _ in result.faults)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    for result in sorted(results, key=lambda one: -one.cpu_s)[: options.slowest]:
        print(f"{result.cpu_s:6.2f} s of processor, {result.rss_mb:5.0f} MB  {result.name}")
    rows = []
    for kind in ("review", "made"):
        of = [result for (one, _), result in zip(known, results, strict=True) if one == kind]
        wrong = Counter(name for result in of for name, _ in result.faults)
        slowest = max((result.cpu_s for result in of), default=0)
        rows.append([kind, f"{len(of)}", *(f"{wrong[name]}" for name in BARS), f"{slowest:.1f}"])
    print_table(("inputs", "number", *BARS, "slowest, s"), rows)
    spent = used.ru_utime + used.ru_stime
    print(f"{time.monotonic() - started:.0f} s, of the processors {spent:.0f} s")
    return conclude("hostile", {name: float(faults[name]) for name in BARS}, BARS)


_CASES: list[Case] = []


def _numbered(number: int) -> Result:
    return attempt(_CASES[number])


if __name__ == "__main__":
    raise SystemExit(main())
