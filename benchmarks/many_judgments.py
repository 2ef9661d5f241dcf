"""Ten million judgments: how long they take and what they cost, simulated for five ways to ask.

    python benchmarks/many_judgments.py [--quick] [--calls N] [--requests-per-minute N] ...

Every assumption is an option with a default, and none is a claim on a vendor: put in your own
prices, limits and throughput. The simulation draws the times of 20,000 calls (``--quick``: 4,000)
by a seed and plays them through the places of the workers, the rate limit that they share and the
processor time of a call; the rate that lasts is carried on to all calls. Batches are counted: so
many at once, each with its turnaround; a machine that is lost costs half of a batch, or the calls
that a worker has under way.

Bars, for the simulation to be right: where nothing else limits, the rate is that of Little's law
(places by mean latency) within 5%; where the rate limit does, it is the limit within 1%; and the
same seed gives the same table.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import sys
from typing import Any, Final, NamedTuple

from reporting import Bar, conclude, print_table

SAMPLE, QUICK_SAMPLE = 20_000, 4_000
ASSUMED: Final[dict[str, tuple[float, str]]] = {
    "calls": (10_000_000, "judgments, one call each"),
    "prompt-tokens": (600, "of a prompt"),
    "reply-tokens": (20, "of a reply"),
    "prompt-price": (0.50, "USD per million tokens of prompts; an example, not a vendor's"),
    "reply-price": (2.00, "USD per million tokens of replies; an example"),
    "requests-per-minute": (10_000, "that the account may make"),
    "latency": (1.2, "mean seconds of a call"),
    "spread": (0.5, "standard deviation of the logarithm of a latency"),
    "faults": (0.01, "share of calls that have to be made again"),
    "processor": (0.0006, "seconds of a processor that a call takes here: benchmarks/live.py"),
    "places": (64, "calls under way at once in a worker"),
    "workers": (16, "shards at once"),
    "batch-price": (0.5, "of the price, for a batch of the provider"),
    "batch-calls": (50_000, "in a batch"),
    "batches": (4, "under way at once"),
    "turnaround": (6, "hours of a batch"),
    "servers": (8, "GPU servers of your own"),
    "server-rate": (40, "calls a second of a server, whoever sends them"),
    "server-price": (2.50, "USD an hour of a server"),
    "losses": (0.01, "machines lost, an hour and a machine"),
}


class Way(NamedTuple):
    """A way to ask, as it came out: hours, USD, calls under way at once, and calls asked twice."""

    name: str
    hours: float
    usd: float
    under_way: float
    again: float


def rate(
    at: Any, workers: int, places: int, per_second: float, latency: float, sample: int
) -> float:
    """Calls a second that last: of ``workers`` with so many ``places``, under a common limit."""
    chance = random.Random(1)
    mean = math.log(latency) - at.spread**2 / 2
    free = [(0.0, worker) for worker in range(workers) for _ in range(places)]
    heapq.heapify(free)
    processor, allowed = [0.0] * workers, 0.0
    answered, first, ends = 0, 0.0, []
    while answered < sample:
        moment, worker = heapq.heappop(free)
        started = max(moment, processor[worker], allowed)
        processor[worker] = started + at.processor
        allowed = started + 1 / per_second
        ended = started + chance.lognormvariate(mean, at.spread)
        heapq.heappush(free, (ended, worker))
        if chance.random() >= at.faults:
            answered += 1
            ends.append(ended)
    ends.sort()
    # Neither the beginning, with nothing under way, nor the end.
    first, last = len(ends) // 4, 3 * len(ends) // 4
    return (last - first) / (ends[last] - ends[first])


def ways(at: Any, sample: int) -> list[Way]:
    """All ways to ask."""
    limit = at.requests_per_minute / 60
    tokens = at.prompt_tokens * at.prompt_price + at.reply_tokens * at.reply_price
    price = at.calls * tokens / 1e6
    made = price / (1 - at.faults)  # a call that is made again is paid again, at the most
    places, workers, servers = int(at.places), int(at.workers), int(at.servers)

    def asked(name: str, number: int, per_second: float, usd: float | None) -> Way:
        seconds = at.calls / rate(at, number, places, per_second, at.latency, sample)
        hours = seconds / 3600
        cost = hours * at.servers * at.server_price if usd is None else usd
        return Way(name, hours, cost, number * places, hours * number * at.losses * places)

    rounds = math.ceil(math.ceil(at.calls / at.batch_calls) / at.batches)
    own = at.servers * at.server_rate
    hours = at.calls / own / 3600
    return [
        asked("provider, one process", 1, limit, made),
        asked(f"provider, Ray, {workers} workers", workers, limit, made),
        Way("provider's batches", rounds * at.turnaround, price * at.batch_price, 0, 0),
        asked(f"{servers} own servers, Ray, one worker each", servers, own, None),
        Way(
            f"{servers} own servers, vllm run-batch",
            hours,
            hours * at.servers * at.server_price,
            0,
            hours * at.servers * at.losses * at.batch_calls / 2,
        ),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    for name, (value, said) in ASSUMED.items():
        parser.add_argument(f"--{name}", type=float, default=value, help=f"{said} ({value:g})")
    at = parser.parse_args()
    sample = QUICK_SAMPLE if at.quick else SAMPLE
    print_table(
        ("assumed", "", ""),
        [(n, f"{getattr(at, n.replace('-', '_')):,g}", s) for n, (_, s) in ASSUMED.items()],
    )
    print()
    found = ways(at, sample)
    head = ("way to ask", "hours", "USD", "calls a second", "under way at once", "asked again")
    rows = [
        (
            way.name,
            f"{way.hours:,.1f}",
            f"{way.usd:,.0f}",
            f"{at.calls / way.hours / 3600:,.0f}",
            f"{way.under_way:,.0f}" if way.under_way else "-",
            f"{way.again:,.0f}",
        )
        for way in found
    ]
    print_table(head, rows)
    places = int(at.places)
    free = rate(at, 1, places, math.inf, at.latency, sample)
    # 10 calls a second are far below what the places take.
    limited = rate(at, 4, places, 10.0, at.latency, sample // 4)
    answers = 1 - at.faults
    law = min(places / at.latency, 1 / at.processor) * answers
    ratios = {
        "rate to Little's law": free / law,
        "off Little's law": abs(free / law - 1),
        "off the rate limit": abs(limited / (10.0 * answers) - 1),
        "tables that differ": float(found != ways(at, sample)),
    }
    bars = {
        "off Little's law": Bar("at most", 0.05),
        "off the rate limit": Bar("at most", 0.01),
        "tables that differ": Bar("at most", 0),
    }
    return conclude("many_judgments", ratios, bars)


if __name__ == "__main__":
    sys.exit(main())
