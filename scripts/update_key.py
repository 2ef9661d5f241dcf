"""Write what the embedded judge knows of the built-in texts, from the labels of the suites.

``python scripts/update_key.py``, after a text or a label of a built-in suite has changed; then
record anew (``scripts/record_cassettes.py``). What a number means stands in
``judges/simulated/evidence.py``. Some hard items are planted wrong, so that no profile is without
error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_judgesense.judges.simulated.evidence import text_digest

CHECKOUT = Path(__file__).resolve().parent.parent
KEY = CHECKOUT / "pytest_judgesense" / "judges" / "simulated" / "key.json"
# Evidence between two candidates, in required elements, and errors of a wrong answer.
CLEAR = {"easy": 3, "medium": 2, "hard": 1}
# Support of a worse answer beside 1 for the better one, and of two that are equally good.
BEHIND = {"easy": 0.15, "medium": 0.35, "hard": 0.55}
# What the winner of a debate has ahead of the other side, in shares of a score.
LEAD = {"clear": 0.35, "close": 0.12}
# Of the hard items every so many is misjudged: the lesser has what the better one should have.
MISJUDGED = 5


def misjudged(item: dict[str, Any]) -> bool:
    number = int(text_digest(item["id"]), 16)
    return item.get("difficulty") == "hard" and number % MISJUDGED == 0


def pairs(item: dict[str, Any]) -> Iterator[tuple[str, float]]:
    better = int(item["label"]) - 1
    if misjudged(item):
        better = 1 - better
    yield item["texts"][better], CLEAR[item["difficulty"]]
    yield item["texts"][1 - better], 0


def answers(item: dict[str, Any]) -> Iterator[tuple[str, float]]:
    wrong = (item["label"] == "NO") != misjudged(item)
    yield item["answer"], CLEAR[item["difficulty"]] if wrong else 0


def levels(item: dict[str, Any]) -> Iterator[tuple[str, float]]:
    # A hard text that is misjudged is a level nearer to the middle.
    level = int(item["label"])
    nearer = level + (level < 3) - (level > 3) if misjudged(item) else level
    yield item["text"], (nearer - 1) / 4


def ladder(task: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for chain in ("levels", "rewordings"):
        yield from ((text, covered) for covered, text in enumerate(task[chain]))
    yield from ((one["text"], len(one["elements"])) for one in task["alternatives"])
    yield from ((one["text"], one["level"]) for one in task["fillers"])


def quarters(task: dict[str, Any]) -> Iterator[tuple[str, float]]:
    yield from ((text, stated / 4) for stated, text in enumerate(task["quarters"]))


def supported(item: dict[str, Any]) -> Iterator[tuple[str, float]]:
    if item["label"] == "tie":
        yield from ((text, 0.9) for text in item["texts"])
        return
    better = int(item["label"]) - 1
    yield item["texts"][better], 1.0
    yield item["texts"][1 - better], BEHIND[item["difficulty"]]


def debates(line: dict[str, Any]) -> Iterator[tuple[str, float]]:
    lead = LEAD[line["author_margin"]]
    # As a judge reads it; white space apart, a text is known whatever it is joined by.
    said = [f"[{x['side']} {x['speech_type'][4:]}]\n{x['content']}" for x in line["speeches"]]
    yield "\n".join(said), lead if line["author_winner"] == "PRO" else -lead


def grades(item: dict[str, Any]) -> Iterator[tuple[str, float]]:
    shares = []
    for criterion, grade in item["human"].items():
        # One grade in ten is misjudged, by a step.
        said = f"{criterion}: {item['output']}"
        off = int(text_digest(said), 16) % 10 == 0
        shares.append((grade - 1 + off * (1 if grade < 4 else -1)) / 4)
        yield said, shares[-1]
    # For calls that name one criterion alone.
    yield f"overall: {item['output']}", sum(shares) / len(shares)


def vague_answers() -> list[str]:
    """The digests of the vague wrong answers of the built-in suite."""
    return sorted(
        text_digest(line["answer"])
        for line in lines_of("factuality", "controls.jsonl")
        if line["control"] == "vague"
    )


def lines_of(suite: str, file: str) -> list[dict[str, Any]]:
    """The lines of a file of a built-in suite."""
    lines = (CHECKOUT / "suites" / suite / file).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


READERS = {
    "preference": pairs,
    "relevance": pairs,
    "factuality": answers,
    "coherence": levels,
    "ladder": ladder,
    "ladder-fine": quarters,
    "probe": pairs,
    "temperature": supported,
    "debate": debates,
    "rubric": grades,
}


def key_of_suites() -> dict[str, float]:
    """The key: a number by the digest of each text, in the order of the digests."""
    key: dict[str, float] = {}
    for name, reader in READERS.items():
        files = sorted((CHECKOUT / "suites" / name).glob("*.jsonl"))
        for line in (line for file in files for line in lines_of(name, file.name)):
            for text, number in reader(line):
                before = key.setdefault(text_digest(text), number)
                if before != number:
                    raise SystemExit(f"{name}: known as {before} and {number}: {text[:70]}")
    return dict(sorted(key.items()))


def key_without_hedges() -> dict[str, float]:
    """The same of the texts that probes make of those of their suite by replacing hedges."""
    from pytest_judgesense.instruments.probe.edits import own_book, replaced

    book, _ = own_book()
    (stimuli,) = (CHECKOUT / "suites" / "probe").glob("*.jsonl")
    lines = map(json.loads, stimuli.read_text(encoding="utf-8").splitlines())
    known = [pair for line in lines for pair in pairs(line)]
    key = {
        text_digest(replaced(text, table, book.staying)): number
        for text, number in known
        for table in book.replacing.values()
    }
    return dict(sorted(key.items()))


def passages() -> dict[str, list[str]]:
    """By the digest of a question about long records, those of the passages that it is about."""
    (stimuli,) = (CHECKOUT / "suites" / "depth").glob("*.jsonl")
    key: dict[str, list[str]] = {}
    for line in map(json.loads, stimuli.read_text(encoding="utf-8").splitlines()):
        key.setdefault(text_digest(line["question"]), []).append(text_digest(line["passage"]))
    return dict(sorted(key.items()))


def main() -> None:
    from pytest_judgesense.instruments.depth.simulated import KEY as OF_PASSAGES
    from pytest_judgesense.instruments.paraphrase.simulated import KEY as OF_VAGUE
    from pytest_judgesense.instruments.probe.simulated import KEY as OF_PROBES

    keys: dict[Path, dict[str, Any] | list[str]] = {
        KEY: key_of_suites(),
        OF_PROBES: key_without_hedges(),
        OF_PASSAGES: passages(),
        OF_VAGUE: vague_answers(),
    }
    for path, key in keys.items():
        path.write_text(json.dumps(key, indent=0) + "\n", encoding="utf-8")
        print(f"{len(key)} texts: {path.relative_to(CHECKOUT)}")


if __name__ == "__main__":
    main()
