"""What the search for secrets costs, whatever the bytes are.

    python benchmarks/redaction.py [--quick]

Bodies of one size are searched for twenty known values and for the shapes of keys: random bytes,
text, base64, and what encodings are written with, over and over. Each is compared with the least
that a look at every byte costs: to translate the same bytes by one table, once. A ratio is how many
such looks the search takes. One pass of the search is four of them and a little arithmetic, so the
bar is 40, for a busy machine; bodies full of what is looked for, and bodies of nothing but tags
that may hold a credential, have bars of their own. The growth is the cost of ten times as many
bytes: 10, and for a square 100.

Then credentials in markup: how many of random ones are kept, in each shape and each way to carry
it, and how many honest texts are changed.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import string
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.markup_shapes import CARRIED, HONEST, SHAPES
from benchmarks.reporting import Bar, conclude, print_table, seconds_each
from pytest_judgesense.cassettes.redaction import scrub_body

BYTES: Final = 8_000_000
FEW: Final = 2_000_000
# A translation takes a nanosecond or two a byte.
BARS: Final = {
    "plain": Bar("at most", 40),
    "full of escapes or keys": Bar("at most", 200),
    # A tag is looked at by itself, as no text of a judge has many.
    "tags": Bar("at most", 4000),
    "growth": Bar("at most", 30),
    # How many times `json.loads` of the same text a reply of 20 kB takes.
    "parses of a reply": Bar("at most", 10),
    # The cost of a reply of 2 MB for that of 20 kB, a byte: 1, and for a square 100.
    "growth of a reply": Bar("at most", 3),
    "credentials kept in markup": Bar("at most", 0),
    "honest texts changed": Bar("at most", 0),
}
KEY: Final = 'Zq7/x+"v3=LmPw 9&kT%2'
PROSE: Final = 'The fox said, "100% of them, a+b & c." and went on over the lazy dog. \\n'


def secrets() -> Mapping[str, str]:
    chance = random.Random(7)
    letters = string.ascii_letters + string.digits
    keys = {f"KEY_{n}": "".join(chance.choices(letters, k=32)) for n in range(19)}
    return {"JUDGE_KEY": KEY, **keys}


def filled(unit: str) -> Callable[[int], str]:
    return lambda size: unit * (size // len(unit))


def noise(size: int) -> bytes:
    return random.Random(5).randbytes(size)


def reply(size: int) -> str:
    text = PROSE * (size // len(PROSE))
    return json.dumps({"choices": [{"message": {"content": text}}]})


PLAIN: Final[Mapping[str, Callable[[int], str | bytes]]] = {
    "random bytes": noise,
    "prose": filled(PROSE),
    "a reply": reply,
    "base64": lambda size: base64.b64encode(noise(size))[:size],
    "hexadecimal": lambda size: noise(size // 2).hex(),
    "percent signs": filled("%"),
    "text with percent signs": filled("100% of "),
    "backslashes": filled("\\"),
    "escaped line ends": filled("\\n"),
    "ampersands": filled("&"),
    "quotes": filled('"'),
    "ids": filled("0f86d081-884c-4d63-a15b-0f3d6a2f5b61 "),
}
FULL: Final[Mapping[str, Callable[[int], str | bytes]]] = {
    "percent-encoded": filled("%41"),
    "escaped units": filled("\\u0041"),
    "escaped octets": filled("\\x41a"),
    "character references": filled("&#65;"),
    # More than 100,000 in a body are refused.
    "keys": filled(f"sk-abcdefghijklmnopqrstuvwx1 {'and so on ' * 7}"),
    "echoes of a key": filled(f"{PROSE}{KEY} "),
    "beginnings of a key": filled(f"{KEY[:9]} "),
}
TAGS: Final[Mapping[str, Callable[[int], str | bytes]]] = {
    "markup": filled("<p>The fox said <b>no</b> and went on.</p>\n"),
    "openings": filled("<"),
    "beginnings of tags": filled("<a \"token'"),
    "verdicts": filled("<token>A</token>"),
    "attributes": filled('<a key="b">'),
    "elements that do not end": filled("<password>"),
    "names before values": filled("<b>token</b>"),
    "settings": filled("<a b=';token=a;'>"),
    "escaped verdicts": filled("&lt;token&gt;A"),
    "verdicts in JSON": filled("\\u003ctoken\\u003eA\\n"),
}
_SHORT_REPLY: Final = 20_000
_LONG_REPLY: Final = 2_000_000


def choices(size: int) -> bytes:
    """A chat completion with so many bytes of answers, each of some sentences."""
    message = {"role": "assistant", "content": (PROSE * 6)[:400]}
    one_choice = {"index": 100, "message": message, "finish_reason": "stop"}
    number = size // len(json.dumps(one_choice))
    numbered = [{**one_choice, "index": place} for place in range(number)]
    usage = {"prompt_tokens": 10, "completion_tokens": 20}
    body = {"id": "chatcmpl-1", "model": "m", "choices": numbered, "usage": usage}
    return json.dumps(body).encode()


def cost_of_a_reply(known: Mapping[str, str], rounds: int) -> tuple[float, float]:
    """How many parses the search of a short reply takes; and a byte of a long one, of such."""
    short, long = choices(_SHORT_REPLY), choices(_LONG_REPLY)
    times = _LONG_REPLY // _SHORT_REPLY
    taken = seconds_each(
        {
            "parse": lambda: [json.loads(short) for _ in range(times)],
            "search": lambda: [scrub_body(short, known) for _ in range(times)],
            "long": lambda: scrub_body(long, known),
        },
        rounds,
    )
    return taken["search"] / taken["parse"], taken["long"] / taken["search"]


# As people and services choose them: letters and length.
KEYS: Final = (
    (string.ascii_letters + string.digits, 24),
    (string.ascii_letters + string.digits + "+/", 40),
    (string.ascii_letters + string.digits + "+/", 88),
    ("0123456789abcdef", 64),
)


def kept_in_markup(rounds: int) -> int:
    chance, kept = random.Random(11), 0
    for shape in SHAPES.values():
        for carry in CARRIED.values():
            for letters, length in KEYS * rounds:
                key = "".join(chance.choices(letters, k=length - 1)) + "7"
                kept += key in scrub_body(carry(shape.replace("KEY", key)), {})[0]
    return kept


def honest_changed() -> int:
    bodies = [carry(text) for text in HONEST.values() for carry in CARRIED.values()]
    return sum(scrub_body(body, {})[0] != body for body in bodies)


def main() -> int:
    parser = argparse.ArgumentParser(description="what the search for secrets costs")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    options = parser.parse_args()
    size, rounds = (FEW, 2) if options.quick else (BYTES, 5)
    known, table = secrets(), bytes(reversed(range(256)))
    scrub_body(KEY, known)  # tables and patterns are made once

    rows, ratios = [], dict.fromkeys(BARS, 0.0)
    for kind, bodies in (("plain", PLAIN), ("full of escapes or keys", FULL), ("tags", TAGS)):
        for name, body in bodies.items():
            most = size // 10 if kind == "tags" else size
            large, small = body(most), body(most // 10)
            data = large if isinstance(large, bytes) else large.encode()
            taken = seconds_each(
                {
                    "look": lambda data=data: data.translate(table),
                    "search": lambda large=large: scrub_body(large, known),
                    "a tenth": lambda small=small: [scrub_body(small, known) for _ in range(10)],
                },
                rounds,
            )
            ratio = taken["search"] / taken["look"]
            growth = 10 * taken["search"] / taken["a tenth"]
            ratios[kind] = max(ratios[kind], ratio)
            ratios["growth"] = max(ratios["growth"], growth)
            rate = len(data) / taken["search"] / 1e6
            rows.append([kind, name, f"{rate:.0f}", f"{ratio:.1f}", f"{growth:.1f}"])
    ratios["parses of a reply"], ratios["growth of a reply"] = cost_of_a_reply(known, 5)
    ratios["credentials kept in markup"] = kept_in_markup(1 if options.quick else 10)
    ratios["honest texts changed"] = honest_changed()
    print_table(("bodies", "of", "MB/s", "looks", "growth"), rows)
    return conclude("redaction", ratios, BARS)


if __name__ == "__main__":
    raise SystemExit(main())
