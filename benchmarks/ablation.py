"""Are the sentences found that do something, and the word that turns a verdict?

    python benchmarks/ablation.py [--quick]

**Sentences, in the process.** A prompt has ten sentences; without one of three of them 8 of 40
items, drawn anew, have another verdict outright. The whole prompt is asked six times an item, each
prompt without a sentence once. One reply in twenty is noise: drawn from two labels at random, or
wrong for certain, which is twice as much. A judge of the second kind also where sentences whose
p-value is at most .1 are asked a second time. Right is a prompt whose three sentences are noticed
(Holm, .05) and no other.

Bar, of 1,000 prompts: right in at least 85% with random replies, and with wrong ones where
sentences are asked again. Without a bar: wrong replies asked once, a fourth and more of the items,
other noise, a prompt whose sentences do nothing, how often the one-sided bound holds the effect.

**Sentences, at an endpoint.** A judge on 127.0.0.1 with such a prompt, and a line that shows the
item, measured by ``judgesense ablate`` on 40 items, with replies that are wrong in one of twenty.
Bar, of 5 seeds: the three sentences are noticed and no other, in each.

**Words, in the process.** One of 80 changes turns a verdict, or two that only do so together, and a
reply is another label with a chance of at most .1; `stats.bisection` has 60 calls. Pure noise: both
ends have one distribution of two to four labels, the second of which has a chance of .1 to .5.

Bars, of 1,000 searches: the word is named in at least 90%, less 3 standard errors (16 of the calls
confirm it); noise is called noise in at least 95%.
Without a bar: calls until the end, whether the word is known to be enough alone, two words.

``--quick``: 200 prompts and 300 searches a row, 2 seeds."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Hashable
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, Bars, Ratios, print_table, run_parts
from pytest_judgesense.commands.main import main as command
from pytest_judgesense.stats.bisection import Cause, Hybrid, begin
from pytest_judgesense.stats.left_out import NO_REPLY, parts_left_out, worth_asking_again

RUNS, QUICK_PROMPTS, QUICK_SEARCHES = 1000, 200, 300
SEEDS, QUICK_SEEDS, NOISE = 5, 2, 0.05
ITEMS, SENTENCES, TELLING, WHOLE = 40, 10, 3, 6
ALPHA = 0.05
RIGHT, NAMED, CALLED_NOISE = 0.85, 0.90, 0.95
WORDS, CALLS = 80, 60

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A judge with a prompt of ten sentences.

    Attributes:
        name: what the table calls it.
        turned: items of 40 that turn without one of the telling sentences.
        wrong: chance of a reply that is the other label.
        again: whether sentences are asked again that may do something.
        barred: whether it has a bar.
    """

    name: str
    turned: int = 8
    wrong: float = 0.05
    again: bool = False
    barred: bool = False

    @property
    def effect(self) -> float:
        """The expectation of the effect of a telling sentence."""
        return self.turned / ITEMS * (1 - 4 * self.wrong * (1 - self.wrong))


@dataclass(frozen=True, slots=True)
class Ablated:
    """What a prompt was found to be.

    Attributes:
        telling: how many of the three sentences are noticed.
        others: whether any other is.
        bounded: share of the three whose upper bound lies at their effect or above.
        calls: how many it took.
    """

    telling: int
    others: bool
    bounded: float
    calls: int


PROMPTS = (
    Prompt("8 of 40, random .05", wrong=0.025, barred=True),
    Prompt("8 of 40, wrong .05, asked again", again=True, barred=True),
    Prompt("8 of 40, wrong .05"),
    Prompt("10 of 40, wrong .05", turned=10),
    Prompt("12 of 40, wrong .05", turned=12),
    Prompt("8 of 40, wrong .02", wrong=0.02),
    Prompt("none, wrong .05", turned=0),
    Prompt("none, wrong .2, asked again", turned=0, wrong=0.2, again=True),
)


def ablated(prompt: Prompt, rng: np.random.Generator) -> Ablated:
    """Leave out the sentences of a new prompt."""
    turned = np.zeros((SENTENCES, ITEMS), dtype=bool)
    for sentence in range(TELLING):
        turned[sentence, rng.permutation(ITEMS)[: prompt.turned]] = True
    whole = 1 + (rng.random((ITEMS, WHOLE)) < prompt.wrong)
    without = 1 + (turned[:, :, None] ^ (rng.random((SENTENCES, ITEMS, 2)) < prompt.wrong))
    parts = parts_left_out(whole, list(without[:, :, :1]), range(ITEMS))
    calls = ITEMS * (WHOLE + SENTENCES)
    if prompt.again:
        again = worth_asking_again(parts)
        calls += ITEMS * len(again)
        without[[place for place in range(SENTENCES) if place not in again], :, 1] = NO_REPLY
        parts = parts_left_out(whole, list(without), range(ITEMS))
    noticed = [part is not None and part.p_adjusted <= ALPHA for part in parts]
    uppers = [part.upper for part in parts[:TELLING] if part is not None and part.upper is not None]
    return Ablated(
        telling=sum(noticed[:TELLING]),
        others=any(noticed[TELLING:]),
        bounded=float(np.mean([upper >= prompt.effect - 1e-9 for upper in uppers])),
        calls=calls,
    )


def sentences_in_process(*, quick: bool) -> tuple[Ratios, Bars]:
    """The sentences: it prints its table, and gives what is barred."""
    runs = QUICK_PROMPTS if quick else RUNS
    rows, ratios, bars = [], {}, {}
    for prompt in PROMPTS:
        rng = np.random.default_rng([*prompt.name.encode()])
        results = [ablated(prompt, rng) for _ in range(runs)]
        shares = (
            float(np.mean([result.telling == TELLING and not result.others for result in results])),
            float(np.mean([result.telling for result in results])) / TELLING,
            float(np.mean([result.others for result in results])),
            float(np.mean([result.bounded for result in results])),
        )
        calls = np.mean([result.calls for result in results])
        rows.append((prompt.name, *(f"{share:.3f}" for share in shares), f"{calls:.0f}"))
        if prompt.barred:
            ratios[f"{prompt.name}: right"] = shares[0]
            bars[f"{prompt.name}: right"] = Bar("at least", RIGHT)
    print(
        f"{runs} prompts a row: a share of .85 has a standard error of {error(RIGHT, runs):.3f}\n"
    )
    head = ("sentences", "right", "each of three", "any other", "bound holds", "calls")
    print_table(head, rows)
    return ratios, bars


class TalkingJudge(ThreadingHTTPServer):
    """An endpoint that answers by what its prompt says, on any free port of 127.0.0.1.

    The item's number says what is right. Without a sentence of ``turned`` some items have the other
    verdict, and one reply in twenty is wrong: by the prompt and how often it was asked before, so
    that threads make no difference.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, seed: int) -> None:
        self.seed = seed
        rng = np.random.default_rng([seed, *b"ablation"])
        self.telling = sorted(rng.choice(SENTENCES, TELLING, replace=False).tolist())
        self.turned = {
            sentence: {*rng.permutation(ITEMS)[: ITEMS // 5].tolist()} for sentence in self.telling
        }
        self._times: Counter[str] = Counter()
        self._lock = Lock()
        super().__init__(("127.0.0.1", 0), _Answering)

    def answer(self, prompt: str) -> str:
        """The verdict on a prompt."""
        with self._lock:
            self._times[prompt] += 1
            times = self._times[prompt]
        (number,) = map(int, re.findall(r"Text (\d+)", prompt))
        missing = (sentence for sentence in self.telling if rule(sentence) not in prompt)
        right = number % 2 == 0
        turned = any(number in self.turned[sentence] for sentence in missing)
        drawn = hashlib.sha256(f"{self.seed}/{times}/{prompt}".encode()).digest()
        wrong = int.from_bytes(drawn[:4]) < NOISE * 2**32
        return "YES" if right ^ turned ^ wrong else "NO"


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: TalkingJudge

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = self.server.answer(body["messages"][-1]["content"])
        message = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        reply = json.dumps({"model": "m", "choices": [message]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def rule(number: int) -> str:
    """The sentence of this number of the judge's prompt, from 0."""
    return f"Rule {'abcdefghij'[number]} is to be kept in mind."


def write_project(folder: Path, judge: TalkingJudge) -> None:
    """Write a suite of 40 texts, and the judge with its prompt, into a folder."""
    prompt = "\n".join([*map(rule, range(SENTENCES)), "Text: {{text}}"])
    (folder / "texts.suite.toml").write_text(
        'schema = "judgesense/suite/1"\nname = "texts"\nkind = "paraphrase"\n'
        '[space]\nlabels = ["YES", "NO"]\n[stimuli]\nfile = "texts.jsonl"\n'
        f'[[templates]]\nid = "t1"\ntext = """{prompt}"""\n',
        "utf-8",
    )
    items = ({"id": f"i{number}", "text": f"Text {number}"} for number in range(ITEMS))
    (folder / "texts.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in items), "utf-8")
    (folder / "pyproject.toml").write_text(
        '[tool.judgesense.judges.talking]\nprovider = "openai"\nmodel = "m"\n'
        f'base_url = "http://127.0.0.1:{judge.server_address[1]}/v1"\n',
        "utf-8",
    )


def found_at_endpoint(seed: int) -> bool:
    """Whether the command notices the sentences that do something, and no other."""
    with TalkingJudge(seed) as judge, TemporaryDirectory() as folder, chdir(folder):
        thread = Thread(target=judge.serve_forever, args=(0.01,))
        thread.start()
        try:
            write_project(Path(folder), judge)
            words = ["ablate", "talking", "texts.suite.toml", "--seed", str(seed), "-o", "x.json"]
            with redirect_stdout(StringIO()) as printed:
                code = command([*words, "--judge-mode", "record"])
        finally:
            judge.shutdown()
            thread.join()
        if code:
            raise SystemExit(printed.getvalue())
        (sheet,) = json.loads(Path("x.json").read_text("utf-8"))["judges"]
    (table,) = (table for table in sheet["analyses"] if table["analysis"] == "sentences")
    left_out = (row for row in table["rows"] if row["sentence"])
    noticed = [place for place, row in enumerate(left_out) if min(row["p"], row["p_form"]) <= ALPHA]
    return noticed == judge.telling


def sentences_at_endpoint(*, quick: bool) -> tuple[Ratios, Bars]:
    """The sentences of a judge that is asked over HTTP."""
    os.environ.setdefault("OPENAI_API_KEY", "sk-own-0123456789abcdef")
    seeds = range(QUICK_SEEDS if quick else SEEDS)
    exactly = [found_at_endpoint(seed) for seed in seeds]
    print(f"\nat the endpoint: found exactly with {sum(exactly)} of {len(exactly)} seeds")
    name = "at the endpoint: found exactly"
    return {name: sum(exactly) / len(exactly)}, {name: Bar("at least", 1.0)}


@dataclass(frozen=True, slots=True)
class Flip:
    """A flip between two ends.

    Attributes:
        name: what the table calls it.
        noise_a: chance of another label than A's; ``noise_b``: than B's.
        labels: how many there are.
        causes: how many words turn it together; 0: pure noise, in which the labels but the first
            share the chance ``noise_a``.
    """

    name: str
    noise_a: float
    noise_b: float
    labels: int = 2
    causes: int = 1


FLIPS = (
    Flip("no noise", 0.0, 0.0),
    Flip("noise .05", 0.05, 0.05),
    Flip("noise .1", 0.1, 0.1),
    Flip("noise .1 at B", 0.0, 0.1),
    Flip("noise .1 at A", 0.1, 0.0),
    Flip("noise .1, five labels", 0.1, 0.1, labels=5),
    Flip("two words, noise .05", 0.05, 0.05, causes=2),
)
NOISES = tuple(
    Flip(f"pure noise {rate:g}, {labels} labels", rate, rate, labels, causes=0)
    for labels in (2, 3, 4)
    for rate in (0.1, 0.2, 0.3, 0.4, 0.5)
)


def search(flip: Flip, rng: np.random.Generator) -> tuple[Cause, Hybrid]:
    """Look for the cause of a new flip; what it came to, and the causes."""
    causes = tuple(sorted(rng.choice(WORDS, flip.causes, replace=False).tolist()))

    def verdict(hybrid: Hybrid) -> Hashable:
        turned = flip.causes > 0 and {*causes} <= {*hybrid}
        noise = flip.noise_b if turned else flip.noise_a
        if rng.random() >= noise:
            return int(turned)
        # Any label but the one that it would be.
        return (int(turned) + int(rng.integers(1, flip.labels))) % flip.labels

    so_far = begin(WORDS, CALLS)
    while (hybrid := so_far.question) is not None:
        so_far = so_far.learn(verdict(hybrid))
    return so_far.cause, causes


def words_in_process(*, quick: bool) -> tuple[Ratios, Bars]:
    """The words: it prints its table, and gives what is barred."""
    runs = QUICK_SEARCHES if quick else RUNS
    rows, ratios, bars, as_noise = [], {}, {}, []
    for flip in (*FLIPS, *NOISES):
        rng = np.random.default_rng([*flip.name.encode()])
        results = [search(flip, rng) for _ in range(runs)]
        named = [cause.outcome == "named" for cause, _ in results]
        right = [
            of and cause.change == max(causes, default=None)
            for of, (cause, causes) in zip(named, results, strict=True)
        ]
        noise = float(np.mean([cause.outcome == "noise" for cause, _ in results]))
        whole = [cause.complete and cause.needed == causes for cause, causes in results]
        alone = [cause.alone is (flip.causes == 1) for cause, _ in results]
        calls = [cause.calls for cause, _ in results]
        shares = (np.mean(right), np.mean(named) - np.mean(right), noise)
        enough = (np.mean(alone), np.mean(whole)) if flip.causes else ()
        cells = [f"{share:.3f}" for share in (*shares, *enough)]
        cells += ["-"] * (5 - len(cells))
        rows.append((flip.name, *cells, f"{np.mean(calls):.1f}", f"{max(calls)}"))
        if flip.causes == 1:
            ratios[f"{flip.name}: named"] = float(np.mean(right))
            bars[f"{flip.name}: named"] = Bar("at least", NAMED - 3 * error(NAMED, runs))
        elif not flip.causes:
            as_noise.append(noise)
    ratios["pure noise called noise, the least"] = min(as_noise)
    bars["pure noise called noise, the least"] = Bar("at least", CALLED_NOISE)
    print(
        f"\n{runs} searches a row: a share of .9 has a standard error of {error(NAMED, runs):.3f}\n"
    )
    head = ("words", "named", "another named", "noise", "alone known", "set found", "calls", "most")
    print_table(head, rows)
    return ratios, bars


def error(share: float, runs: int) -> float:
    """The standard error of a share of so many runs."""
    return math.sqrt(share * (1 - share) / runs)


# Each prints its table.
PARTS: tuple[Callable[..., tuple[Ratios, Bars]], ...] = (
    sentences_in_process,
    sentences_at_endpoint,
    words_in_process,
)


def main() -> int:
    return run_parts("ablation", __doc__, "fewer prompts and searches", PARTS)


if __name__ == "__main__":
    sys.exit(main())
