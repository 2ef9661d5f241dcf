"""From the cells of a row to a judgment: the fields that a column may hold, and what they mean."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pytest_judgesense.errors import UsageError, unknown_name
from pytest_judgesense.files.assignments import option_words
from pytest_judgesense.files.foreign_results import NO_VERDICT, json_or_none, messages_of
from pytest_judgesense.files.judgment_fields import FIELDS, PLACES, of_one_order
from pytest_judgesense.files.messages import text_or_chat
from pytest_judgesense.files.row_options import RenamedWords
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.replies.confidence import (
    CONFIDENCE,
    UNUSABLE,
    ConfidenceFault,
    number_stated,
    stated_confidence,
)
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import (
    ABSTAIN,
    LABEL,
    TEMPERATURE,
    TIE,
    Failed,
    Judgment,
    JudgmentOutcome,
    Order,
    Trial,
    Unparsed,
    Usage,
    Verdict,
    as_whole,
    content_of_slot,
    majority,
)

ORDERS: Final[tuple[Order, Order]] = ("ab", "ba")
# Conditions that may be mapped by their names alone: what sweeps compare.
SWEPT: Final = (TEMPERATURE, "judge_type", "prompt_style", "model", "gold", "dataset")
# Besides, if mapped: the judge's input, and a number that it gave.
_SHOWN: Final = ("prompt", "score")
# What a person said of an item: people.NAME.
_PERSON: Final = "people."
_CONDITION: Final = "condition."
# Columns of words that --value renames, as it does answers and conditions.
_RENAMED: Final = frozenset(("order", "template"))
# Words of the judge and of people (as people.NAME): the same in capitals, and as numbers in 4.0.
_ANSWERS: Final = ("verdict", "label")
_FIELD: Final = re.compile(r"field\.[a-z][a-z0-9_]*")


def of_verdicts(name: str) -> bool:
    """Whether a field is of replies with one verdict: a candidate, a person's label, one order."""
    return of_one_order(name) or name in PLACES or name.startswith(_PERSON)


def refuse_fields(names: Collection[str]) -> None:
    """Raise a `UsageError` if ``names`` cannot be mapped.

    One is not a field of a judgment; or it names one of two candidates, or an order beside them.
    """
    plain = (*FIELDS, *_SHOWN, *PLACES, *SWEPT)
    for name in names:
        named = _FIELD.fullmatch(name) or of_one_order(name)
        parts = (part for part in (_CONDITION, _PERSON) if name.startswith(part) and name != part)
        if name not in plain and not named and not any(parts):
            more = ("condition.NAME", "people.NAME", "field.NAME", "verdict.ab", "verdict.ba")
            raise unknown_name("field of a judgment", name, (*plain, *more))
    places = [name for name in PLACES if name in names]
    orders = [name for name in names if name == "order" or of_one_order(name)]
    if len(places) == 1 or (places and orders):
        raise UsageError(
            "first and second are the columns of two candidates' names, which tell the order",
            found=" ".join(f"--map {name}=..." for name in (*places, *orders)),
            expected="--map first=COLUMN --map second=COLUMN, and no order beside them",
        )


def confidence_in(row: Row, column: str) -> float | None:
    """The probability from 0 to 1 in a column; ``None`` for an empty cell.

    Raises:
        LogError: the cell holds something else.
    """
    cell = field_of(row.value, column)
    is_empty = cell in (None, "", ...) or (isinstance(cell, float) and math.isnan(cell))
    confidence = None if is_empty else number_stated(cell)
    if not is_empty and (confidence is None or not 0 <= confidence <= 1):
        raise row.wrong(column, "the probability that the verdict is right, from 0 to 1")
    return confidence


@dataclass(frozen=True, slots=True)
class JudgmentReader:
    """It reads rows as judgments.

    Attributes:
        columns: the column of each field; several with commas between them, whose values are
            joined; ``a.b`` for field b of the objects in column a.
        fixed: fields that no column holds.
        words: what words of the file are called here.
        space: the answers that replies are read for; ``None`` where a column holds the verdicts.
    """

    columns: Mapping[str, str]
    fixed: Mapping[str, str]
    words: RenamedWords
    space: DecisionSpace | None = None

    def judgment(self, row: Row) -> Judgment:
        """The judgment of a row; a `LogError` if a field is missing or malformed."""
        suite, item = self._required(row, "suite"), self._required(row, "item")
        condition, suffix = self._condition(row)
        # A judge type and a style are a prompt, where no column names it.
        prompt = [str(condition[k]) for k in ("judge_type", "prompt_style") if k in condition]
        template = self._text(row, "template") or "-".join(prompt) or "t1"
        cluster = self._text(row, "cluster") or item
        order = self._text(row, "order") or "ab"
        if order not in ORDERS:
            renaming = option_words("--value", order, "ab")
            expected = f"ab or ba; words for them are renamed: {renaming}"
            raise row.wrong(self.columns["order"], expected)
        if PLACES[0] in self.columns:
            item, order = self._placed(row, item)
        replicate = self._whole(row, "replicate", 1) or 1
        failed, reply = self._text(row, "failed"), self._text(row, "reply")
        verdict = None if self.space else self._text(row, "verdict")
        if verdict is not None and PLACES[0] in self.columns:
            slot = self._slot_named(row, verdict)
            verdict = verdict if slot is None else slot
        outcome: JudgmentOutcome = Unparsed(NO_VERDICT)
        if failed is not None:
            outcome = Failed(failed)
        elif self.space is not None:
            outcome = parse_reply(reply, self.space)
        elif verdict is not None:
            outcome = Verdict(verdict)
        own_order: Order = "ab" if order == "ab" else "ba"
        people = self._people(row, own_order)
        trial = Trial(
            id=f"{suite}/{item}/{template}/{order}{suffix}/r{replicate}",
            suite=suite,
            item=item,
            cluster=cluster,
            template=template,
            order=own_order,
            replicate=replicate,
            condition=condition,
            label=self._said_by_people(row, "label", own_order) or majority(people.values()),
            people={LABEL: people} if people else {},
        )
        tokens = (self._whole(row, f"{part}_tokens", 0) for part in ("prompt", "completion"))
        source, stated = self._source(row), self._confidence(row, reply, outcome)
        detail = {**stated, "source": source} if source else stated
        return Judgment(
            trial,
            self._required(row, "judge"),
            outcome,
            reply=reply,
            usage=Usage(*tokens),
            latency_s=self._number(row, "latency_s", "seconds, at least 0"),
            detail=detail or None,
        )

    def _placed(self, row: Row, item: str) -> tuple[str, str]:
        """The item of two candidates, with their names, and the order in which they were shown.

        They are in order ``ab`` where their names are in that of the alphabet.
        """
        first, second = (self._required(row, name) for name in PLACES)
        if first == second:
            raise row.wrong(self.columns[PLACES[1]], f"another candidate than {first[:80]!r}")
        names = sorted((first, second))
        return "-".join((item, *names)), ORDERS[names[0] == second]

    def _slot_named(self, row: Row, word: str) -> str | None:
        """The slot of the candidate whose own name a word is; ``None`` for another word."""
        shown = [(self._text(row, name) or "").casefold() for name in PLACES]
        is_name = word.casefold() in shown
        return "AB"[shown.index(word.casefold())] if is_name else None

    def _people(self, row: Row, order: Order) -> dict[str, str]:
        """What each person said of the item; whoever said nothing is left out."""
        labels = {
            name.removeprefix(_PERSON): self._said_by_people(row, name, order)
            for name in self.columns
            if name.startswith(_PERSON)
        }
        return {person: label for person, label in labels.items() if label is not None}

    def _said_by_people(self, row: Row, name: str, order: Order) -> str | None:
        """A label; the content ``1`` or ``2`` where it is the name of one of two candidates.

        A verdict that is such a name is a slot. A label is the same whatever was shown first.
        """
        label = self._text(row, name)
        if label is None or PLACES[0] not in self.columns:
            return label
        slot = self._slot_named(row, label)
        return label if slot is None else content_of_slot(slot, order)

    def _cell(self, row: Row, column: str) -> Any:
        """The value in a column, or in several, joined; ``...`` if the row has none.

        Of several, one that a row lacks is empty.
        """
        value = field_of(row.value, column)
        if value is not ... or "," not in column:
            return value
        parts = {part: field_of(row.value, part) for part in column.split(",")}
        missing = [part for part, inner in parts.items() if inner in (None, "", ...)]
        if len(missing) == len(parts):
            raise row.wrong(missing[0], "a text or a number")
        return "-".join("" if part in missing else str(inner) for part, inner in parts.items())

    def _text(self, row: Row, name: str) -> str | None:
        """A field as a word of ours; ``None`` for an empty cell, or none."""
        column = self.columns.get(name)
        if column is None:
            return self.fixed.get(name)
        value = self._cell(row, column)
        answers = name in _ANSWERS or name.startswith(_PERSON)
        if value is ...:  # a field that other rows have
            return None
        if isinstance(value, list | dict) or (isinstance(value, float) and math.isinf(value)):
            raise row.wrong(column, f"the {name} of the judgment: a text or a finite number")
        text = "" if value is None else str(value).strip()
        if isinstance(value, bool):
            text = text.lower()
        # The empty cell of a table of numbers.
        if text.casefold() == "nan" and (isinstance(value, float) or answers):
            text = ""
        word = as_whole(text) if isinstance(value, float) or answers else text
        if text and (answers or name in _RENAMED or name.startswith(_CONDITION)):
            word = self.words(text, word)
        if answers and word.casefold() in (TIE, ABSTAIN):
            word = word.casefold()
        return word or None

    def _required(self, row: Row, name: str) -> str:
        text = self._text(row, name)
        if text is None:
            raise row.wrong(self.columns[name], f"the {name} of the judgment: a text or a number")
        return text

    def _whole(self, row: Row, name: str, least: int) -> int | None:
        text = self._text(row, name)
        if text is None or name not in self.columns:
            return None if text is None else int(text)
        return row.number_in(self.columns[name], least)

    def _number(self, row: Row, name: str, expected: str) -> float | None:
        """A field that is a finite number from 0; ``None`` for an empty cell."""
        text = self._text(row, name)
        try:
            number = None if text is None else float(text)
        except ValueError:
            number = -1.0
        if number is not None and not 0 <= number < math.inf:
            raise row.wrong(self.columns[name], expected)
        return number

    def _confidence(self, row: Row, reply: str | None, outcome: JudgmentOutcome) -> dict[str, Any]:
        """How sure the judge is of its verdict, or why what it states is none.

        By a column, else by the reply that is read; empty where neither states anything.
        """
        column = self.columns.get(CONFIDENCE)
        if not isinstance(outcome, Verdict):
            return {}
        if column is not None:
            confidence = confidence_in(row, column)
            return {} if confidence is None else {CONFIDENCE: confidence}
        if self.space is None or self.space.score is not None:
            return {}
        stated = stated_confidence(reply or "", self.space, outcome.value)
        if stated is None:
            return {}
        if isinstance(stated, ConfidenceFault):
            return {UNUSABLE: f"{stated.found}, not {stated.expected}"}
        confidence = stated.in_verdict(outcome.value)
        return {} if confidence is None else {CONFIDENCE: confidence}

    def _condition(self, row: Row) -> tuple[dict[str, str | float], str]:
        """The condition of a row, and what its temperature adds to the id of the trial."""
        condition: dict[str, str | float] = {
            name.removeprefix(_CONDITION): value
            for name in self.columns
            if name.startswith(_CONDITION) and (value := self._text(row, name)) is not None
        }
        if TEMPERATURE not in condition:
            return condition, ""
        number = self._number(row, _CONDITION + TEMPERATURE, "a temperature: a number from 0")
        temperature = number or 0.0
        return {**condition, TEMPERATURE: temperature}, f"/t{temperature:g}"

    def _source(self, row: Row) -> dict[str, Any]:
        """The judge's input, and a number that it gave, if the row holds them."""

        def cell(name: str) -> Any:
            value = self._cell(row, self.columns[name]) if name in self.columns else None
            return None if value in (..., "") else value

        source: dict[str, Any] = dict(cell("source") or {})
        if (prompt := cell("prompt")) is not None:
            source["prompt"] = messages_of(prompt) or messages_of(json_or_none(prompt))
            if source["prompt"] is None:
                if not isinstance(prompt, str):
                    expected = "the prompt: a text, or a list of messages with content"
                    raise row.wrong(self.columns["prompt"], expected)
                source["prompt"] = [{"role": "user", "content": prompt}]
        fields = dict(source.get("fields", {}))
        for name in filter(_FIELD.fullmatch, self.columns):
            shown = cell(name)
            text = text_or_chat(shown)
            if text is None and isinstance(shown, list | dict):
                expected = "a text that the judge was shown, or a list of chat messages"
                raise row.wrong(self.columns[name], expected)
            fields[name.partition(".")[2]] = "" if shown is None else str(text or shown)
        if fields:
            source["fields"] = fields
        if (score := cell("score")) is not None:
            try:
                source["score"] = float(score)
            except (TypeError, ValueError, OverflowError) as error:
                raise row.wrong(self.columns["score"], "a number") from error
            if not math.isfinite(source["score"]):
                raise row.wrong(self.columns["score"], "a finite number")
        return source
