"""The parser on real replies: the LLMBar judgments of two models under six prompts.

The recorded winner came from the first match of a regular expression. It is a reference, not the
truth: where the parser differs, the reason stands in `DISAGREEMENTS`, and the list is complete.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Unparsed, Verdict
from tests.shared_data import LLMBAR, needs_llmbar

pytestmark = needs_llmbar

SPACE = DecisionSpace(("A", "B"), pairwise=True, names={"A": ("Output (a)",), "B": ("Output (b)",)})
PAGE = Path(__file__).resolve().parents[2] / "docs" / "replies.md"
PLAIN = DecisionSpace(("A", "B"), pairwise=True)

# (folder, index, swap): what the text says instead of the recorded winner.
DISAGREEMENTS = {
    ("Adversarial/GPTInst/ChatGPT/CoT", 51, True): "cut off: Therefore, Output (a)",
    ("Adversarial/GPTInst/ChatGPT/Swap", 51, True): "the same text",
    ("Adversarial/GPTInst/LLaMA2/CoT", 82, True): (
        "declines on ethical grounds and says that it can call neither output better; the "
        "recorded winner is merely the label that its denial names last"
    ),
}

# Replies without a recorded winner, each read in full: what the parser must say of it, and why.
WITHOUT_WINNER = {
    # Both outputs fail the instruction, says the conclusion; that is neither a choice nor a tie.
    ("Adversarial/GPTInst/ChatGPT/CoT", 32, True): "no verdict",
    ("Adversarial/GPTInst/ChatGPT/Swap", 61, False): "no verdict",
    # Praise of one output, and the text ends in the middle of a sentence.
    ("Adversarial/GPTInst/LLaMA2/CoT", 5, True): "cut off before the verdict",
    ("Adversarial/GPTInst/LLaMA2/CoT", 62, True): "cut off before the verdict",
    ("Adversarial/GPTInst/LLaMA2/Swap", 5, True): "cut off before the verdict",
    ("Adversarial/GPTInst/LLaMA2/Swap", 62, True): "cut off before the verdict",
    # Declines to answer a question about a crime.
    ("Adversarial/GPTInst/LLaMA2/Vanilla", 82, False): "refusal",
    ("Adversarial/GPTInst/LLaMA2/Vanilla_NoRules", 82, False): "refusal",
    # Concludes that both are equally good, in prose.
    ("Natural/ChatGPT/CoT", 17, False): "no verdict",
}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded reply; ``slot`` is its recorded winner as the label of the slot."""

    place: tuple[str, int, bool]
    text: str
    truncated: bool
    slot: str | None


def _records() -> Iterator[Recorded]:
    for path in sorted(LLMBAR.rglob("result.json")):
        folder = path.parent.relative_to(LLMBAR).as_posix()
        for index, item in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            for swap in (False, True):
                game = item["results"][-1][f"swap = {swap}"]
                said = game["completion"]
                text, finish = said if isinstance(said, list) else (said, "")
                winner = game["winner"]
                slot = None if winner is None else "A" if (winner == "1") != swap else "B"
                yield Recorded((folder, index, swap), text, finish == "length", slot)


@cache
def records() -> tuple[Recorded, ...]:
    return tuple(_records())


@cache
def _outcome(text: str, truncated: bool) -> Verdict | Unparsed:
    return parse_reply(text, SPACE, truncated=truncated)


def outcome(record: Recorded) -> Verdict | Unparsed:
    return _outcome(record.text, record.truncated)


def test_the_files_hold_what_this_test_was_written_for() -> None:
    # 92 GPTInst and 100 Natural items, 2 orders, 2 judges, 6 prompts: 192 * 2 * 2 * 6.
    assert len(records()) == 4608


def test_the_disagreements_with_the_recorded_winners_are_all_listed() -> None:
    differing = {
        record.place
        for record in records()
        if record.slot is not None and outcome(record) != Verdict(record.slot)
    }
    assert differing == set(DISAGREEMENTS)


def test_at_least_99_percent_of_the_recorded_winners_are_confirmed() -> None:
    recorded = [record for record in records() if record.slot is not None]
    confirmed = sum(outcome(record) == Verdict(str(record.slot)) for record in recorded)
    assert confirmed / len(recorded) >= 0.99


def test_a_reply_that_states_no_verdict_gets_none() -> None:
    without = {record.place: outcome(record) for record in records() if record.slot is None}
    assert without == {place: Unparsed(reason) for place, reason in WITHOUT_WINNER.items()}


def test_the_page_says_how_many_state_a_verdict() -> None:
    # All but the 9 without a recorded winner and the 3 disagreements, which are unparsed too.
    number, found = len(records()), sum(isinstance(outcome(one), Verdict) for one in records())
    assert (number, found) == (4608, 4596)
    (row,) = re.findall(r"^\| LLMBar,.*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert (cells[1], cells[3], cells[7]) == (f"{number:,}", f"{found:,}", str(number - found))


def _renamed(text: str, name: str) -> str:
    return re.sub(r"Output \(([ab])\)", lambda found: name + found[1].upper(), text)


def test_other_names_for_the_slots_change_no_outcome() -> None:
    long = [record for record in records() if len(record.text) > len("Output (a)")]
    for record in {record.text: record for record in long}.values():
        for name in ("", "Response "):
            renamed = parse_reply(_renamed(record.text, name), PLAIN, truncated=record.truncated)
            assert renamed == outcome(record), record.place


def test_exchanged_names_exchange_the_verdict() -> None:
    other = {Verdict("A"): Verdict("B"), Verdict("B"): Verdict("A")}
    for record in {record.text: record for record in records()}.values():
        exchanged = re.sub(
            r"\(([ab])\)", lambda found: "(b)" if found[1] == "a" else "(a)", record.text
        )
        found = outcome(record)
        expected = other[found] if isinstance(found, Verdict) else found
        assert parse_reply(exchanged, SPACE, truncated=record.truncated) == expected, record.place
