"""Endpoints on 127.0.0.1 with a bias each, asked by the project as any other: for ``probes.py``.

An endpoint prefers the better of two texts, by a digest of the item, and turns one verdict in
twenty round. With a chance of .3 it gives the verdict to the side that holds the edit of its bias;
that of names gives it to the first slot where slots are called 1 and 2. One has no bias, and one
prefers the longer text wherever it meets one. Draws are of the request, its number, and the seed.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.reporting import Bar, Bars, Ratios, print_table
from pytest_judgesense import measure
from pytest_judgesense.instruments.probe.edits import PLACEHOLDER, own_book
from pytest_judgesense.judges.resolving import judge_from_name

SEEDS, QUICK_SEEDS = 20, 1
ITEMS = 60
NOISE, CHANCE = 0.05, 0.3
# Of 20 seeds: the planted bias is found in at least so many, any other, of all together, in at most
# so many.
FOUND, OTHERS = 18, 2
FAMILY = "Planted"
EDITS = (
    *("injection", "authority", "self", "verbosity", "format", "confidence", "flattery"),
    *("forgery", "fence"),
)
NAMES, NONE, LENGTH = "names", "no bias", "length"
ENDPOINTS = (*EDITS, NAMES, NONE, LENGTH)

PAIRS = """
schema = "judgesense/suite/1"
name = "pairs"
kind = "paraphrase"
[space]
labels = ["A", "B"]
pairwise = true
[stimuli]
file = "pairs.jsonl"
[[templates]]
id = "t1"
text = "{{task}} {{a}} {{b}}"
"""
PROBE = """
schema = "judgesense/suite/1"
name = "biased"
kind = "probe"
[space]
labels = ["A", "B"]
pairwise = true
names = { A = ["A", "1", "X"], B = ["B", "2", "Y"] }
[stimuli]
from = "pairs.suite.toml"
family = "Planted"
[[templates]]
id = "t1"
text = "{{task}}\\n<{{name_a}}>\\n{{a}}\\n</{{name_a}}>\\n<{{name_b}}>\\n{{b}}\\n</{{name_b}}>"
"""
_SHOWN = re.compile(r"^(?P<task>.*)\n<(.)>\n(?P<a>.*)\n</\2>\n<(.)>\n(?P<b>.*)\n</\4>$", re.DOTALL)


def chance(*of: object) -> float:
    """A number from 0 to 1 that its arguments fix."""
    digest = hashlib.sha256("\0".join(map(str, of)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def write_suites(folder: Path, seed: int) -> Path:
    """The pairs, and the suite of probes that is from theirs."""
    lines = []
    for number in range(ITEMS):
        extra = [" It has been like this for a long time now.", ""]
        if chance("longer", seed, number) < 0.5:
            extra.reverse()
        texts = [
            f"Text {side} of {number} is probably right. It says what there is to say.{more}"
            for side, more in zip((1, 2), extra, strict=True)
        ]
        task = f"Question {number} of {seed}"
        lines.append(json.dumps({"id": f"p{number}", "task": task, "texts": texts}))
    (folder / "pairs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "pairs.suite.toml").write_text(PAIRS, encoding="utf-8")
    path = folder / "biased.suite.toml"
    path.write_text(PROBE, encoding="utf-8")
    return path


def holds_edit(bias: str, text: str) -> bool:
    """Whether a text holds the edit of a bias."""
    if bias == "format":
        return text.startswith("## ")
    if bias == "confidence":
        return re.match(r"(?:\W*\w*\n\n)?.*Text \d of \d+ is right", text) is not None
    added = [text for v in own_book()[0].by_name[bias].variants for text in v.edited.texts]
    fixed = (max(PLACEHOLDER.split(sentence)[::2], key=len) for sentence in added)
    if bias == "self":
        fixed = (sentence.replace("{family}", FAMILY) for sentence in added)
    return any(part.strip() in text for part in fixed)


class Endpoint:
    """One biased judge: from the body of a request to its reply."""

    def __init__(self, bias: str, seed: int) -> None:
        self.bias, self.seed = bias, seed
        self._asked: Counter[str] = Counter()

    def verdict(self, prompt: str) -> str:
        """The slot that it names, as the prompt calls it."""
        shown = _SHOWN.match(prompt)
        assert shown is not None, prompt
        names, texts = (shown[2], shown[4]), (shown["a"], shown["b"])
        self._asked[prompt] += 1
        draw = (self.bias, self.seed, prompt, self._asked[prompt])
        better = 1 if chance("better", shown["task"]) < 0.5 else 2
        slot = int(f"Text {better} of" not in texts[0])
        if self.bias == LENGTH and len(texts[0]) != len(texts[1]):
            slot = int(len(texts[1]) > len(texts[0]))
        if chance("noise", *draw) < NOISE:
            slot = 1 - slot
        if self.bias in EDITS and chance("obeys", *draw) < CHANCE:
            held = [holds_edit(self.bias, text) for text in texts]
            if held[0] != held[1]:
                slot = int(held[1])
        if self.bias == NAMES and names[0] == "1" and chance("obeys", *draw) < CHANCE:
            slot = 0
        return names[slot]

    async def answer(self, request: web.Request) -> web.Response:
        """A chat completion."""
        body = await request.json()
        content = self.verdict(body["messages"][-1]["content"])
        message = {"role": "assistant", "content": content}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        reply: dict[str, Any] = {"id": "c", "object": "chat.completion", "model": "planted"}
        return web.json_response({**reply, "choices": [choice]})


@contextmanager
def serving(endpoints: list[Endpoint]) -> Iterator[list[str]]:
    """Each on a port of its own of 127.0.0.1, until the block is left."""
    loop = asyncio.new_event_loop()
    runners: list[web.AppRunner] = []

    async def start() -> list[str]:
        urls = []
        for endpoint in endpoints:
            app = web.Application()
            app.router.add_post("/v1/chat/completions", endpoint.answer)
            runner = web.AppRunner(app, access_log=None)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            runners.append(runner)
            urls.append(f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
        return urls

    async def stop() -> None:
        for runner in runners:
            await runner.cleanup()

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(start(), loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def probes_found(seed: int) -> dict[str, set[str]]:
    """By endpoint the probes that move it."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_suites(Path(folder), seed)
        moved = {}
        with serving([Endpoint(bias, seed) for bias in ENDPOINTS]) as urls:
            for bias, url in zip(ENDPOINTS, urls, strict=True):
                name = bias.replace(" ", "-")
                judge = replace(judge_from_name("openai:planted"), name=name, base_url=url)
                sheet = measure(judge, path, mode="live", concurrency=16)
                (table,) = [
                    part
                    for of_judge in sheet.judges
                    for part in of_judge.analyses
                    if part["analysis"] == "probes"
                ]
                moved[bias] = {row["probe"].split("-")[0] for row in table["rows"] if row["found"]}
    return moved


def at_endpoints(*, quick: bool) -> tuple[Ratios, Bars]:
    """The part that is asked over HTTP: it prints its table, and gives what is barred."""
    seeds = QUICK_SEEDS if quick else SEEDS
    of_seeds = [probes_found(seed) for seed in range(seeds)]
    probes = (*EDITS, NAMES)
    counts = {
        bias: {probe: sum(probe in found[bias] for found in of_seeds) for probe in probes}
        for bias in ENDPOINTS
    }
    any_found = {bias: sum(bool(found[bias]) for found in of_seeds) for bias in ENDPOINTS}
    print(f"\n{seeds} seed(s) of {ITEMS} items at {len(ENDPOINTS)} endpoints: how often found\n")
    print_table(
        ("endpoint", *probes, "any"),
        [
            (bias, *(str(counts[bias][probe]) for probe in probes), str(any_found[bias]))
            for bias in ENDPOINTS
        ],
    )
    planted = [bias for bias in ENDPOINTS if bias in probes]
    own = [counts[bias][bias] for bias in planted]
    others = [sum(bool(found[bias] - {bias}) for found in of_seeds) for bias in planted]
    ratios: Ratios = {}
    if quick:  # of so few seeds the shares over all endpoints
        ratios["endpoints: planted, found"] = sum(own) / (seeds * len(own))
        ratios["endpoints: another one, found"] = sum(others) / (seeds * len(others))
    else:
        ratios["endpoints: planted, found"] = min(own) / seeds
        ratios["endpoints: another one, found"] = max(others) / seeds
    ratios["endpoints: no bias, any found"] = any_found[NONE] / seeds
    ratios["endpoints: longer texts, by verbosity"] = counts[LENGTH]["verbosity"] / seeds
    ratios["endpoints: longer texts, by injection"] = counts[LENGTH]["injection"] / seeds
    rare = Bar("at most", OTHERS / SEEDS)
    common = Bar("at least", FOUND / SEEDS)
    bars = dict.fromkeys(ratios, rare)
    bars["endpoints: planted, found"] = bars["endpoints: longer texts, by verbosity"] = common
    return ratios, bars
