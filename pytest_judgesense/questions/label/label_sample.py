"""Which items a person labels, and in which order.

At random every item has the same chance. The order is that of a digest of the seed and the item, so
it is the same for every person, a part of it from its beginning is a random draw itself, and items
that are added later change nothing about the others. Items on which judges or wordings disagree are
chosen: what is measured on them alone says nothing of the others, and their labels say so.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.files.limits import json_value, toml_value
from pytest_judgesense.files.opening import read_bytes
from pytest_judgesense.files.output import replace_content
from pytest_judgesense.measures.shared import AGREEMENT
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Drawn, Judgment, Verdict

_KEY: Final = "labelled"
# As `judgesense init` writes it for items that have labels.
GATE: Final = "{ bar = 0.8, limit = 0.7 }"


@dataclass(frozen=True, slots=True)
class DrawnItems:
    """The items to be labelled, in their order, and how they were drawn."""

    items: tuple[Item, ...]
    drawn: Drawn


def drawn_at_random(suite: Suite, seed: int, number: int | None = None) -> DrawnItems:
    """The items in the order of the seed: this many of them, by default all.

    Raises:
        UsageError: the suite has fewer.
    """
    if number is not None and number > len(suite.items):
        raise UsageError(
            f"{number} items cannot be drawn from suite {suite.name}",
            found=f"{len(suite.items)} items",
            expected=f"--draw {len(suite.items)} at most",
        )
    return DrawnItems(tuple(_in_order(suite.items, seed)[:number]), "random")


def drawn_as_disputed(suite: Suite, seed: int, judgments: Iterable[Judgment]) -> DrawnItems:
    """The items on which judges or wordings disagree, those with the most disagreement first.

    A judge's answer under a wording is what most of its verdicts say, in all orders and replicates,
    or that they are divided. The disagreement about an item is the share of the answers other than
    the most frequent one; of several grades, that of the grade with the most.

    Raises:
        UsageError: all answers agree.
    """
    shares = _disagreements(judgments)
    disputed = [item for item in _in_order(suite.items, seed) if shares.get(item.id)]
    if not disputed:
        raise UsageError(
            f"nothing of suite {suite.name} is disputed",
            found=f"one answer about each of {len(shares)} items",
            expected="two judges or two wordings that disagree",
            remedy="draw at random: --draw N",
        )
    return DrawnItems(tuple(sorted(disputed, key=lambda item: -shares[item.id])), "chosen")


def _in_order(items: Sequence[Item], seed: int) -> list[Item]:
    return sorted(items, key=lambda item: drawn_number(seed, item.id))


def drawn_number(*names: object) -> int:
    """A number that nothing but these names decides."""
    return int.from_bytes(hashlib.sha256(repr(names).encode()).digest()[:8])


def _disagreements(judgments: Iterable[Judgment]) -> dict[str, float]:
    """By item the share of judges and wordings that do not give the most frequent answer."""
    votes: dict[tuple[str, str], dict[tuple[str, str], Counter[Any]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for judgment in judgments:
        for criterion, answer in _answers(judgment):
            about = votes[judgment.trial.item, criterion]
            about[judgment.judge, judgment.trial.template][answer] += 1
    shares: dict[str, float] = defaultdict(float)
    for (item, _), by_asking in votes.items():
        answers = Counter(_most(votes) for votes in by_asking.values())
        share = 1 - max(answers.values()) / answers.total()
        shares[item] = max(shares[item], share)
    return shares


def _most(votes: Counter[Any]) -> Any:
    """The most frequent answer; ``None`` if two are."""
    (answer, most), *others = votes.most_common(2)
    return None if others and others[0][1] == most else answer


def _answers(judgment: Judgment) -> Iterator[tuple[str, Any]]:
    """What a verdict says, by criterion; of several grades it is an object of them."""
    if not isinstance(judgment.outcome, Verdict):
        return
    verdict = judgment.chosen or judgment.outcome.value
    if not verdict.startswith("{"):
        yield "", verdict
        return
    for criterion, grade in json_value(verdict).items():
        if grade is not None:
            yield criterion, grade


def declare_random(path: Path) -> bool:
    """Say in a suite file that its labels are of a random draw, if it does not say how.

    One line is put below ``[stimuli]``; every other byte stays.

    Returns:
        Whether the line was put in.

    Raises:
        UsageError: the file says that they were chosen.
        SuiteError: the file cannot be written, or has no place for the line.
    """
    with SuiteError.instead_of(OSError, f"the suite file {path} cannot be read"):
        stated = toml_value(read_bytes(path).decode())["stimuli"].get(_KEY)
    if stated == "chosen":
        raise UsageError(
            f"the labels of {path} are of chosen items, and this draw would be lost among them",
            found=f'{_KEY} = "chosen" in [stimuli]: no rate of all items follows',
            expected="items that chance draws, with labels that are told from chosen ones",
            remedy="take that line out, and the labels of chosen items from their columns: "
            "the people.csv says of each of its lines how it was drawn",
        )
    return _put_below(path, "stimuli", _KEY, '"random"', "how its labels are drawn")


def declare_gate(path: Path) -> bool:
    """Put a check of the judge against its labels into a suite file; as `declare_random`."""
    return _put_below(path, "checks", str(AGREEMENT.check), GATE, "a check against its labels")


def _put_below(path: Path, table: str, key: str, value: str, meaning: str) -> bool:
    with SuiteError.instead_of(OSError, f"the suite file {path} cannot be written"):
        text = read_bytes(path).decode()
        before = toml_value(text)
        if key in before.get(table, {}):
            return False
        after = {**before, table: {**before.get(table, {}), key: toml_value(f"a = {value}")["a"]}}
        headers = re.compile(rf"^[ \t]*\[[ \t]*{table}[ \t]*\][^\r\n]*(\r?\n)", re.MULTILINE)
        for header in headers.finditer(text):
            line = f"{key} = {value}{header[1]}"
            changed = f"{text[: header.end()]}{line}{text[header.end() :]}"
            # What looks like the header may stand in the text of a prompt.
            if toml_value(changed) == after:
                replace_content(path, changed.encode())
                return True
    raise SuiteError(
        f"the suite file {path} has no place for {meaning}",
        found=f"no line [{table}]",
        expected=f"{key} = {value} in its table {table}",
        remedy="put it there",
    )
