"""What probabilities are worth: every temperature from one call, slots, and regressions.

    python benchmarks/soft.py [--quick] [--model PATH.gguf] [--part NAME]

1. ``temperature``: the analytic curve against 30 sampled replicates of 40 items at five
   temperatures, of the simulated judge; and, with ``--model``, of a language model that llama.cpp
   serves in this process (package xllamacpp), held to the labels by a grammar, with ``top_k=0,
   top_p=1, min_p=0, repeat_penalty=1``. Bar: the shares of right verdicts and of equal pairs of
   replicates lie within simultaneous 95% intervals (Bonferroni over temperatures and both shares;
   the items are given, so the spread is that of the replies, of 2,000 simulated draws from the
   analytic distribution). Beside it the calls: how many times as many calls one reply an item takes
   for the same standard error of the share that is right, and how many replicates of the same items
   come within 5% of it.
2. ``position``: calls for 80% power to find a leaning to a slot, of `soft_position_effect` and of
   `side_bias`, by simulation over effect sizes: both orders of items whose contents are worth
   N(0, 2) in log-odds, and the slot N(b, 0.3). Power is the chance that the clustered 95% interval
   lies above 0. Bar: at most half the calls, at every effect. Without an effect both are found in
   at most 5%, within three standard errors. And by subsampling the recordings of a language model
   that come with the package: items of ``vacuum@quick`` drawn with replacement, in both orders,
   with the verdicts that were recorded at temperature 0, and with verdicts drawn at 1 from the
   recorded probabilities, ties among them. Bar: the same.
3. ``regression``: a new wording that shrinks margins and flips few verdicts: the chance
   that `no_regression` calls it regressed, on soft and on hard measures, by the number of items.
   Without a change at most 5%, within three standard errors.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
from numpy.typing import NDArray
from reporting import Bar, conclude, print_table
from scipy.special import expit, ndtri

from pytest_judgesense import measure
from pytest_judgesense.instruments.temperature.analytic import tempered
from pytest_judgesense.judges.providers.formats import TOP_TOKENS
from pytest_judgesense.judges.simulated.endpoint import answer
from pytest_judgesense.judges.simulated.observer import Observer
from pytest_judgesense.measures.order import folded
from pytest_judgesense.measures.soft import leaning
from pytest_judgesense.replies.probabilities import probabilities
from pytest_judgesense.stats.clustered import clustered_mean, clustered_proportion
from pytest_judgesense.stats.comparison import paired_difference
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Token

TEMPERATURES = (0.25, 0.5, 1.0, 1.5, 2.0)
REPLICATES = 30
PAIR = DecisionSpace(("A", "B"), pairwise=True)
SAMPLING = {"top_k": 0, "top_p": 1.0, "min_p": 0.0, "repeat_penalty": 1.0}
# Tokens that are asked for: where a label is far down, 20 do not reach it.
TOP = 2000
GRAMMAR = 'root ::= "A" | "B"'
EFFECTS = (0.1, 0.2, 0.4, 0.8)
SIMULATED, QUICK_SIMULATED = 400, 60
POWER = 0.8
RECORDED_JUDGE, RECORDED_SUITE = "qwen2.5-coder-0.5b-logprobs", "vacuum@quick"
MARGIN = 0.05

Floats = NDArray[np.float64]
Ask = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]


# --- every temperature from one call --------------------------------------------------------------

# What differs stands last: a server that has read the beginning reads no more than that.
PROMPT = """Which response answers the question rightly? Reply with A or B.
<question>
What is the {what}?
</question>
<response_a>
{a}
</response_a>
<response_b>
{b}
</response_b>"""
QUESTIONS = (
    ("capital of France", "Paris", "Lyon"),
    ("capital of Italy", "Rome", "Milan"),
    ("capital of Japan", "Tokyo", "Osaka"),
    ("capital of Egypt", "Cairo", "Luxor"),
    ("sum of 2 and 3", "5", "6"),
    ("sum of 7 and 8", "15", "16"),
    ("product of 3 and 4", "12", "14"),
    ("number of days in a week", "7", "9"),
    ("number of legs of a spider", "8", "6"),
    ("colour of fresh snow", "white", "green"),
    ("colour of ripe bananas", "yellow", "blue"),
    ("opposite of hot", "cold", "warm"),
    ("opposite of early", "late", "soon"),
    ("largest ocean", "the Pacific", "the Arctic"),
    ("planet nearest to the sun", "Mercury", "Mars"),
    ("author of Hamlet", "Shakespeare", "Dickens"),
    ("frozen form of water", "ice", "steam"),
    ("plural of mouse", "mice", "mouses"),
    ("past tense of go", "went", "goed"),
    ("month after May", "June", "April"),
)


def prompts() -> Iterator[tuple[str, str]]:
    """Forty short prompts, each question in both orders, with the slot that is right."""
    for what, right, wrong in QUESTIONS:
        for slot, (a, b) in (("A", (right, wrong)), ("B", (wrong, right))):
            yield (
                PROMPT.format(what=what, a=a, b=b),
                slot,
            )


class Curve(NamedTuple):
    """The probability of the right slot of each item as stated, and the right replies of each.

    ``drawn``: by temperature, shape (items, replicates), whether the reply is right. ``usual``: the
    items of which both labels are among as many tokens as endpoints usually state.
    """

    stated: Floats
    drawn: dict[float, NDArray[np.bool_]]
    usual: int


def curve_of(ask: Ask, replicates: int) -> Curve:
    """One call of each item with log-probabilities, and replicates at each temperature."""
    items = list(prompts())
    stated, usual = [], []
    for prompt, slot in items:
        body = ask(prompt, {"temperature": 0, "logprobs": True, "top_logprobs": TOP, "seed": 0})
        (choice,) = body["choices"]
        (token,) = choice["logprobs"]["content"]
        top = {one["token"]: math.exp(one["logprob"]) for one in token["top_logprobs"]}
        usual.append({"A", "B"} <= {*[*top][:TOP_TOKENS]})
        tokens = [Token(token["token"], tuple(top.items()))]
        verdict = choice["message"]["content"].strip()
        found = probabilities(tokens, PAIR, verdict, constrained=True)
        assert found is not None, tokens
        stated.append(found.of[slot])

    drawn: dict[float, list[list[bool]]] = {temperature: [] for temperature in TEMPERATURES}
    seed = 1
    for prompt, slot in items:
        for temperature, of_items in drawn.items():
            # No seed twice: equal seeds draw alike from unequal prompts.
            body = ask(prompt, {"temperature": temperature, "seed": seed, "n": replicates})
            seed += replicates
            said = [choice["message"]["content"].strip() for choice in body["choices"]]
            of_items.append([one == slot for one in said])
    right = {t: np.array(of_items) for t, of_items in drawn.items()}
    return Curve(np.array(stated), right, sum(usual))


def equal_pairs(right: NDArray[np.bool_]) -> Floats:
    """Share of equal pairs of replicates of each item, of shape (..., items, replicates)."""
    k = right.shape[-1]
    ones = right.sum(axis=-1)
    return (ones * (ones - 1) + (k - ones) * (k - ones - 1)) / (k * (k - 1))


def compare_curve(name: str, curve: Curve) -> tuple[list[list[str]], float]:
    """A row for each temperature, and the share of comparisons outside their intervals."""
    rng = np.random.default_rng(0)
    rows, outside = [], 0
    # A label that is not among the stated tokens has a probability that nobody knows.
    known = (curve.stated > 0) & (curve.stated < 1)
    print(
        f"{name}: both labels are stated of {known.sum()} of {known.size} items, "
        f"by {TOP_TOKENS} tokens of {curve.usual}"
    )
    curve = Curve(curve.stated[known], {t: of[known] for t, of in curve.drawn.items()}, curve.usual)
    z = float(ndtri(1 - 0.05 / (2 * 2 * len(TEMPERATURES))))
    for temperature, right in curve.drawn.items():
        p = np.array([tempered({"y": one, "n": 1 - one}, temperature)["y"] for one in curve.stated])
        fake = rng.random((2000, *right.shape)) < p[None, :, None]
        row = [name, f"{temperature:g}"]
        for expected, found, spread in (
            (p.mean(), right.mean(), fake.mean(axis=(1, 2)).std()),
            (
                (p * p + (1 - p) ** 2).mean(),
                equal_pairs(right).mean(),
                equal_pairs(fake).mean(1).std(),
            ),
        ):
            reach = z * float(spread)
            outside += abs(found - expected) > reach + 1e-9
            row.append(f"{expected:.3f}")
            row.append(f"{found:.3f} -/+ {reach:.3f}")
        between, within = p.var(ddof=1), float((p * (1 - p)).mean())
        row.append(f"{1 + within / between:.1f}")
        row.append(f"{math.ceil(within / between / (1.05**2 - 1))}")
        rows.append(row)
    return rows, outside / (2 * len(TEMPERATURES))


def simulated(prompt: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The simulated judge, asked like an endpoint: it weighs a known word and leans to slot A."""
    observer = Observer("o", sensitivity=0.8, slot_bias=0.3, wording_sensitivity=0.7)
    body = {"messages": [{"role": "user", "content": prompt}], **settings}
    seeds = range(settings["seed"], settings["seed"] + settings.get("n", 1))
    path = "/v1/chat/completions"
    replies = [answer(path, {**body, "seed": seed}, lambda _: observer)[1] for seed in seeds]
    return {**replies[0], "choices": [reply["choices"][0] for reply in replies]}


@contextmanager
def served(model: Path, slots: int) -> Iterator[Ask]:
    """A language model served by llama.cpp in this process, as what asks it."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    # The replicates of a prompt come at once: one slot each.
    params.n_ctx, params.n_parallel, params.port = 256 * slots, slots, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.verbosity = -1
    server = xllamacpp.Server(params)
    url = f"{server.listening_address}/v1/chat/completions"

    def ask(prompt: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        body = {
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": 1,
            "grammar": GRAMMAR,
            **SAMPLING,
            **settings,
        }
        found: Mapping[str, Any] = httpx.post(url, json=body, timeout=600).raise_for_status().json()
        return found

    yield ask


def temperature_part(replicates: int, model: Path | None) -> dict[str, float | None]:
    """The curves against what was sampled."""
    print("\n## Every temperature from one call\n")
    shares: dict[str, float | None] = {"outside, simulated": None, "outside, model": None}
    rows, shares["outside, simulated"] = compare_curve("simulated", curve_of(simulated, replicates))
    if model:
        with served(model, replicates) as ask:
            more, shares["outside, model"] = compare_curve(model.stem, curve_of(ask, replicates))
        rows += more
    else:
        del shares["outside, model"]
    head = ("judge", "T", "right", "sampled", "equal", "sampled", "calls, times", "replicates")
    print_table(head, rows)
    return shares


# --- slots ----------------------------------------------------------------------------------------


def found_leaning(rng: np.random.Generator, b: float, items: int) -> tuple[bool, bool]:
    """Whether the soft measure, and side bias at temperature 0, find a leaning."""
    contents, slots = rng.normal(0, 2, items), rng.normal(b, 0.3, items)
    orders = np.stack([slots + contents, slots - contents])
    soft = clustered_mean(orders.mean(axis=0), np.arange(items))
    hard = clustered_proportion((orders > 0).T.ravel(), np.repeat(np.arange(items), 2))
    return (
        soft is not None and folded(soft, 0.0).lower > 0,
        hard is not None and folded(hard).lower > 0,
    )


def fewest(power: Callable[[int], float]) -> int:
    """The fewest items of which ``power`` is `POWER`, within a sixteenth."""
    low, high = 1, 2
    while power(high) < POWER:
        low, high = high, 2 * high
    while high - low > max(1, high // 16):
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high


class Pair(NamedTuple):
    """A pair of the recordings: the slot's share in log-odds, and both replies' probabilities."""

    slot: float
    orders: tuple[Mapping[str, float], Mapping[str, float]]


def recorded_pairs() -> dict[str, list[Pair]]:
    """The pairs of the recorded model, by arm of the prompt."""
    (cell,) = measure(RECORDED_JUDGE, RECORDED_SUITE).cells
    found: dict[str, list[Pair]] = {}
    for ab, ba in cell.both_orders():
        assert ab.probabilities is not None
        assert ba.probabilities is not None
        pair = Pair((leaning(ab) + leaning(ba)) / 2, (ab.probabilities, ba.probabilities))
        found.setdefault(str(ab.trial.condition["arm"]), []).append(pair)
    return found


def found_in_recordings(
    rng: np.random.Generator, pairs: Sequence[Pair], items: int, temperature: float
) -> tuple[bool, bool]:
    """Whether both measures find the leaning in a draw of the pairs."""
    drawn = [pairs[n] for n in rng.integers(0, len(pairs), items)]
    soft = clustered_mean([pair.slot for pair in drawn], np.arange(items))
    first, clusters = [], []
    for cluster, pair in enumerate(drawn):
        for stated in pair.orders:
            chances = tempered(stated, temperature)
            verdict = rng.choice([*chances], p=[*chances.values()])
            if verdict in PAIR.labels:
                first.append(float(verdict == "A"))
                clusters.append(cluster)
    hard = clustered_proportion(first, clusters) if first else None
    return (
        soft is not None and folded(soft, 0.0).lower > 0,
        hard is not None and folded(hard).lower > 0,
    )


def recorded_part(simulated: int) -> float:
    """Calls for 80% power on the recordings of a language model; the greatest ratio."""
    print(f"\n{RECORDED_JUDGE} on {RECORDED_SUITE}\n")
    rng = np.random.default_rng(3)
    rows, ratios = [], []
    for arm, pairs in recorded_pairs().items():
        for temperature in (0.0, 1.0):

            def power(
                items: int, which: int, pairs: list[Pair] = pairs, temperature: float = temperature
            ) -> float:
                draws = (
                    found_in_recordings(rng, pairs, items, temperature) for _ in range(simulated)
                )
                return float(np.mean([found[which] for found in draws]))

            soft, hard = (2 * fewest(partial(power, which=which)) for which in (0, 1))
            ratios.append(soft / hard)
            effect = np.mean([pair.slot for pair in pairs])
            row = (arm, f"{temperature:g}", f"{effect:.2f}", str(soft), str(hard))
            rows.append((*row, f"{soft / hard:.2f}"))
    print_table(("prompt", "T", "log-odds", "soft", "side_bias", "ratio"), rows)
    return max(ratios)


def position_part(simulated: int) -> dict[str, float | None]:
    """Calls for 80% power of each measure."""
    print("\n## A leaning to a slot\n")
    rng = np.random.default_rng(1)

    def power(items: int, b: float, which: int) -> float:
        return float(np.mean([found_leaning(rng, b, items)[which] for _ in range(simulated)]))

    rows, ratios = [], []
    for b in EFFECTS:
        soft, hard = (2 * fewest(partial(power, b=b, which=which)) for which in (0, 1))
        ratios.append(soft / hard)
        rows.append((f"{b:g}", f"{expit(b):.3f}", str(soft), str(hard), f"{soft / hard:.2f}"))
    print_table(("log-odds", "of an even choice", "soft", "side_bias", "ratio"), rows)
    none = [power(40, 0.0, which) for which in (0, 1)]
    print(f"\nfound without a leaning, 40 items: soft {none[0]:.3f}, side_bias {none[1]:.3f}")
    slack = 3 * math.sqrt(0.05 * 0.95 / simulated)
    return {
        "calls, greatest ratio": max(ratios),
        "calls on recordings, greatest ratio": recorded_part(simulated),
        "found without a leaning, over 5% and three errors": none[0] - slack,
    }


# --- regressions ----------------------------------------------------------------------------------


def differences(rng: np.random.Generator, items: int, shrink: float) -> tuple[Floats, Floats]:
    """New less old, by item, of soft JSS and of JSS: the second wording's margins are changed."""
    sure = rng.normal(0, 2.0, items)

    def asked(other: float) -> tuple[Floats, Floats]:
        # Asked anew, and under another wording: the log-odds vary a little.
        one, two = sure + rng.normal(0, 0.1, items), other * sure + rng.normal(0, 0.3, items)
        return 1 - np.abs(expit(one) - expit(two)), ((one > 0) == (two > 0)).astype(float)

    (soft_old, hard_old), (soft_new, hard_new) = asked(1.0), asked(shrink)
    return soft_new - soft_old, hard_new - hard_old


def called_regressed(of: Floats) -> bool:
    """What `no_regression` says of one check."""
    if not of.any():
        return False
    found = paired_difference(of, np.arange(of.size))
    lost = found and found.p_worse <= 0.05 < found.p_better
    return bool(lost and found.lower(0.05) <= -MARGIN)


def regression_part(simulated: int) -> dict[str, float | None]:
    """The power of `no_regression` on soft and on hard measures."""
    print("\n## A change that moves margins\n")
    rng = np.random.default_rng(2)

    def shares(items: int, shrink: float) -> list[float]:
        made = [differences(rng, items, shrink) for _ in range(simulated)]
        soft, hard = ([called_regressed(of[at]) for of in made] for at in (0, 1))
        moved, flips = (
            float(np.mean([of.mean() for of in both])) for both in zip(*made, strict=True)
        )
        return [float(np.mean(soft)), float(np.mean(hard)), moved, flips]

    rows, powers = [], {}
    for shrink in (1.0, 0.7, 0.5, 0.3):
        for items in (10, 20, 40, 80, 160):
            powers[shrink, items] = found = shares(items, shrink)
            rows.append([f"{shrink:g}", str(items), *(f"{one:.3f}" for one in found)])
    head = ("margins", "items", "soft_jss", "jss", "change of soft_jss", "change of jss")
    print_table(head, rows)
    slack = 3 * math.sqrt(0.05 * 0.95 / simulated)
    unchanged = max(found[0] for (shrink, _), found in powers.items() if shrink == 1)
    return {
        "regressed though nothing changed, less three errors": unchanged - slack,
        "power on 40 items, margins halved": powers[0.5, 40][0],
        "items for the power of jss on 160, greatest share": _greatest_share(powers),
    }


def _greatest_share(powers: Mapping[tuple[float, int], Sequence[float]]) -> float:
    """The fewest items on which soft JSS has the power that JSS has on 160, as a share of them."""
    shares = []
    for shrink in {shrink for shrink, _ in powers} - {1.0}:
        enough = [n for (s, n), of in powers.items() if s == shrink and of[0] >= powers[s, 160][1]]
        shares.append(min(enough, default=math.inf) / 160)
    return max(shares)


PARTS: Sequence[str] = ("temperature", "position", "regression")
BARS = {
    "outside, simulated": Bar("at most", 0),
    "outside, model": Bar("at most", 0),
    "calls, greatest ratio": Bar("at most", 0.5),
    "calls on recordings, greatest ratio": Bar("at most", 0.5),
    "found without a leaning, over 5% and three errors": Bar("at most", 0.05),
    "regressed though nothing changed, less three errors": Bar("at most", 0.05),
    "power on 40 items, margins halved": Bar("at least", 0.8),
    "items for the power of jss on 160, greatest share": Bar("at most", 0.5),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer simulations")
    parser.add_argument("--model", type=Path, help="a GGUF file, served by xllamacpp")
    parser.add_argument("--part", choices=PARTS, help="one part alone")
    given = parser.parse_args()
    simulated = QUICK_SIMULATED if given.quick else SIMULATED
    ratios: dict[str, float | None] = {}
    for part in PARTS if given.part is None else (given.part,):
        if part == "temperature":
            ratios |= temperature_part(REPLICATES, given.model)
        elif part == "position":
            ratios |= position_part(simulated)
        else:
            ratios |= regression_part(simulated)
    return conclude("soft", ratios, {name: BARS[name] for name in ratios})


if __name__ == "__main__":
    sys.exit(main())
