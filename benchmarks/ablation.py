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

**Sentences left out together, in the process.** Sentences that do nothing alone are left out at
once, three times an item: none of 40 items turns, or 8, drawn anew; or each that turns is one of a
topic of four items that turns whole, or of the noisiest items. A reply is wrong with one chance in
all items, or with one of its own in each (Beta, of the mean in the name).

Bars, of 1,000 prompts, plus or minus 3 standard errors: "drop them" where 8 turn in at most .05;
where none turns and the noise is .05 in at least .6. Without a bar: 4 of 40, other noise.

**A group of sentences, in the process.** Without all of some of 6 or 12 sentences 8 of 40 items
turn, without fewer none. Named is a smallest group, with the replies that the search asks for.
Bar, of 400 prompts: a pair is named in at least .9 at a noise of .05. Without one: others, calls.

**Sentences, at an endpoint.** A judge on 127.0.0.1 with such a prompt, and a line that shows the
item, measured by ``judgesense why SUITE --leave-out`` on 40 items, with replies that are wrong in
one of twenty.
Bar, of 5 seeds: the three sentences are noticed and no other, in each.

**Words, in the process.** One of 80 changes turns a verdict, or two that only do so together, and a
reply is another label with a chance of at most .1; `stats.bisection` has 60 calls. Pure noise: both
ends have one distribution of two to four labels, the second of which has a chance of .1 to .5.

Bars, of 1,000 searches: the word is named in at least 90%, less 3 standard errors (16 of the calls
confirm it); noise is called noise in at least 95%.
Without a bar: calls until the end, whether the word is known to be enough alone, two words.

``--quick``: 200 prompts, 40 groups and 300 searches a row, 2 seeds."""

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
from typing import Literal

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, Bars, Ratios, print_table, run_parts
from pytest_judgesense.commands.main import main as command
from pytest_judgesense.stats.bisection import Cause, Hybrid, begin
from pytest_judgesense.stats.left_out import (
    NO_REPLY,
    TOGETHER,
    PartLeftOut,
    group_search,
    parts_left_out,
    verdicts_by_item,
    worth_asking_again,
)

RUNS, QUICK_PROMPTS, QUICK_SEARCHES = 1000, 200, 300
SEEDS, QUICK_SEEDS, NOISE = 5, 2, 0.05
ITEMS, SENTENCES, TELLING, WHOLE = 40, 10, 3, 6
ALPHA = 0.05
RIGHT, NAMED, CALLED_NOISE = 0.85, 0.90, 0.95
WRONGLY_DROPPED, DROPPED = 0.05, 0.6
GROUPS, QUICK_GROUPS = 400, 40
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


@dataclass(frozen=True, slots=True)
class Together:
    """Sentences that are left out together.

    Attributes:
        turned: items of 40 that turn without all of them.
        wrong: chance of a reply that is the other label.
        spread: whether each item has a chance of its own, with this mean.
        placed: which items turn: ``drawn`` alone, in ``topics`` of four, or the ``noisiest``.
        bar: what is asked of the share of "drop them"; ``None`` for nothing.
    """

    turned: int
    wrong: float
    spread: bool = False
    placed: Literal["drawn", "topics", "noisiest"] = "drawn"
    bar: Literal["at most", "at least"] | None = None

    @property
    def name(self) -> str:
        """What the table calls it."""
        spread = " in the mean" * self.spread
        placed = f", {self.placed}" * (self.placed != "drawn")
        return f"{self.turned} of 40 turn{placed}, wrong {self.wrong:g}{spread}"


LEFT_OUT_TOGETHER = (
    *(Together(0, wrong) for wrong in (0.0, 0.15, 0.25)),
    Together(0, 0.05, bar="at least"),
    Together(0, 0.05, spread=True),
    *(Together(4, wrong) for wrong in (0.0, 0.05, 0.15)),
    *(Together(8, wrong, bar="at most") for wrong in (0.05, 0.15, 0.25, 0.35, 0.45)),
    Together(8, 0.15, spread=True, bar="at most"),
    Together(8, 0.15, placed="topics", bar="at most"),
    Together(8, 0.15, spread=True, placed="noisiest"),
)


def left_out_together(kind: Together, rng: np.random.Generator) -> PartLeftOut:
    """Leave out the sentences of a new prompt that do nothing alone."""
    wrong = rng.beta(1, 1 / kind.wrong - 1, ITEMS) if kind.spread else np.full(ITEMS, kind.wrong)
    wrong = np.minimum(wrong, 0.5)
    turned = np.zeros(ITEMS, dtype=bool)
    topics = np.arange(ITEMS)
    if kind.placed == "topics":
        topics //= 4
        turned[np.isin(topics, rng.permutation(ITEMS // 4)[: kind.turned // 4])] = True
    elif kind.placed == "noisiest":
        turned[np.argsort(-wrong)[: kind.turned]] = True
    else:
        turned[rng.permutation(ITEMS)[: kind.turned]] = True
    whole = 1 + (rng.random((ITEMS, WHOLE)) < wrong[:, None])
    without = 1 + (turned[:, None] ^ (rng.random((ITEMS, TOGETHER)) < wrong[:, None]))
    (part,) = parts_left_out(whole, [without], topics)
    assert part is not None
    return part


def together_in_process(*, quick: bool) -> tuple[Ratios, Bars]:
    """Sentences left out together: it prints its table, and gives what is barred."""
    runs = QUICK_PROMPTS if quick else RUNS
    rows, ratios, bars = [], {}, {}
    for kind in LEFT_OUT_TOGETHER:
        rng = np.random.default_rng([*kind.name.encode()])
        parts = [left_out_together(kind, rng) for _ in range(runs)]
        dropped = float(np.mean([part.may_be_dropped() for part in parts]))
        noticed = float(np.mean([part.is_noticed() for part in parts]))
        bounds = [part.upper for part in parts if part.upper is not None and not part.is_noticed()]
        bound = f"{np.mean(bounds):.3f}" if bounds else "-"
        shares = (f"{dropped:.3f}", f"{error(dropped, runs):.3f}", f"{noticed:.3f}")
        rows.append((kind.name, *shares, bound))
        if kind.bar is not None:
            limit = DROPPED if kind.bar == "at least" else WRONGLY_DROPPED
            slack = 3 * error(limit, runs) * (-1 if kind.bar == "at least" else 1)
            ratios[f"{kind.name}: dropped"] = dropped
            bars[f"{kind.name}: dropped"] = Bar(kind.bar, round(limit + slack, 4))
    print(f"\n{runs} prompts a row\n")
    head = ("left out together", "dropped", "standard error", "noticed", "bound where it is not")
    print_table(head, rows)
    return ratios, bars


@dataclass(frozen=True, slots=True)
class Group:
    """A group of sentences that do something together.

    Attributes:
        idle: sentences that do nothing alone.
        size: how many of them are in the group.
        wrong: chance of a reply that is the other label.
        barred: whether it has a bar.
    """

    idle: int
    size: int
    wrong: float
    barred: bool = False

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"{self.size} of {self.idle}, wrong {self.wrong:g}"


GROUPS_OF_SENTENCES = (
    Group(6, 2, 0.0),
    Group(6, 2, 0.05, barred=True),
    Group(12, 2, 0.05, barred=True),
    Group(12, 2, 0.15),
    Group(12, 3, 0.05),
)


def searched(group: Group, rng: np.random.Generator) -> tuple[bool | None, int]:
    """Whether the group of a new prompt is named, ``None`` where none is; and the calls of it."""
    needed = {*rng.choice(group.idle, group.size, replace=False).tolist()}
    turned = np.zeros(ITEMS, dtype=bool)
    turned[rng.permutation(ITEMS)[: ITEMS // 5]] = True

    def asked(times: int, left_out: Hybrid) -> NDArray[np.intp]:
        without = turned & (needed <= {*left_out})
        return 1 + (without[:, None] ^ (rng.random((ITEMS, times)) < group.wrong))

    every = tuple(range(group.idle))
    whole, without = asked(WHOLE, ()), asked(TOGETHER, every)
    (part,) = parts_left_out(whole, [without], range(ITEMS))
    if part is None or not part.is_noticed():
        return None, 0
    search = group_search(whole, without, group.idle)
    while (left_out := search.question) is not None:
        (answer,) = verdicts_by_item(asked(1, left_out))
        search = search.learn(answer)
    calls = ITEMS * search.answers
    return ({*search.needed} == needed if search.is_complete else None), calls


def groups_in_process(*, quick: bool) -> tuple[Ratios, Bars]:
    """The groups of sentences: it prints its table, and gives what is barred."""
    runs = QUICK_GROUPS if quick else GROUPS
    rows, ratios, bars = [], {}, {}
    for group in GROUPS_OF_SENTENCES:
        rng = np.random.default_rng([*group.name.encode()])
        results = [searched(group, rng) for _ in range(runs)]
        right = float(np.mean([is_right is True for is_right, _ in results]))
        another = float(np.mean([is_right is False for is_right, _ in results]))
        calls = [number for _, number in results]
        shares = (f"{right:.3f}", f"{error(right, runs):.3f}", f"{another:.3f}")
        rows.append((group.name, *shares, f"{np.mean(calls):.0f}", f"{max(calls)}"))
        if group.barred:
            ratios[f"{group.name}: named"] = right
            bars[f"{group.name}: named"] = Bar("at least", round(NAMED - 3 * error(NAMED, runs), 4))
    print(f"\n{runs} prompts a row\n")
    head = ("group", "named", "standard error", "another", "calls", "most")
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
            words = ["why", "texts.suite.toml", "--leave-out", "--judge-seed", str(seed)]
            with redirect_stdout(StringIO()) as printed:
                code = command([*words, "-o", "x.json", "--judge-mode", "record"])
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
    together_in_process,
    groups_in_process,
    sentences_at_endpoint,
    words_in_process,
)


def main() -> int:
    return run_parts("ablation", __doc__, "fewer prompts and searches", PARTS)


if __name__ == "__main__":
    sys.exit(main())
