"""Write the padding of long records from its parts: ``python scripts/depth_padding.py``.

Each text of ``depth_parts.toml`` is filled in several times, with other names, numbers and turns of
phrase each time, and never twice alike. The order is drawn by a seed, so that two fillings of one
text do not follow each other. After a change, bring the key of the embedded judge up to date and
record anew.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from pytest_judgesense.instruments.depth.padding import OWN_POOL

PARTS = Path(__file__).with_name("depth_parts.toml")
TIMES = 8  # that a text is filled in
# More than records of 16,000 tokens hold, at four characters a token.
CHARACTERS = 66_000
SEED = 20261129

_NUMBER = re.compile(r"\{#(\d+)-(\d+)\}")
_CHOICE = re.compile(r"\[\[(.*?)\]\]")
_NAME = re.compile(r"\{(\w+)\}")


def filled(text: str, slots: dict[str, list[str]], time: int, draw: Random) -> str:
    """A text with its numbers, turns of phrase and names; others at every ``time``."""
    turn = draw.randrange(1000)

    def chosen(match: re.Match[str]) -> str:
        options = match[1].split("|")
        return options[(turn + time) % len(options)]

    shown = {name: values[(turn + time) % len(values)] for name, values in slots.items()}
    text = _CHOICE.sub(chosen, text)
    text = _NAME.sub(lambda match: shown[match[1]], text)
    text = _NUMBER.sub(lambda match: str(draw.randint(int(match[1]), int(match[2]))), text)
    return text.strip()


def pool(texts: Sequence[str], slots: dict[str, list[str]], draw: Random) -> Iterator[str]:
    """The fillings of a genre, round by round, until there are characters enough."""
    written = 0
    for time in range(TIMES):
        order = list(texts)
        draw.shuffle(order)
        for text in order:
            yield (block := filled(text, slots, time, draw))
            written += len(block) + 2
            if written >= CHARACTERS:
                return


def lines() -> Iterator[str]:
    """The pool, a line a text."""
    parts = tomllib.loads(PARTS.read_text(encoding="utf-8"))
    for genre, form in parts.items():
        for text in pool(form["texts"], form["slots"], Random(f"{SEED} {genre}")):
            yield json.dumps({"genre": genre, "text": text}, ensure_ascii=False)


def main() -> None:
    """Write the pool."""
    written = [*lines()]
    OWN_POOL.write_text("\n".join(written) + "\n", encoding="utf-8")
    print(f"{len(written)} texts: {OWN_POOL}")


if __name__ == "__main__":
    main()
