"""AlpacaEval: which of two outputs an annotator prefers, a number from 1 to 2.

Annotators that choose give 1, 2 or 1.5, which was 0 in older files. Those that weight both answers
by their probabilities give any number between 1 and 2, which is a score: its mean is the win rate
of the second output, less 1.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.files.proposals import FileShape, Proposal, ShownSetting
from pytest_judgesense.files.shapes.repeated import numbered
from pytest_judgesense.files.shapes.settings import (
    column,
    columns,
    joined,
    naming,
    of_all,
    words,
    words_of,
)
from pytest_judgesense.files.tables import RowTable

_ALPACA_EVAL: Final = "tatsu-lab/alpaca_eval@cd543a149df89434d8a54582c0151c0b945c3d20"
_PREFERENCE: Final = "preference"
_CHOICES: Final = {"1": "A", "2": "B", "1.5": "tie", "0": "tie"}
_NOTHING: Final = {"-1": "", "None": ""}
_GENERATORS: Final = ("generator_1", "generator_2")
_OUTPUTS: Final = ("output_1", "output_2")
_SWITCHED: Final = "is_switched_outputs"
_TEXTS: Final = {"field.task": "instruction", "field.a": "output_1", "field.b": "output_2"}
_ORDER: Final = (
    "AlpacaEval shows the two outputs in an order drawn at random, which the file does not state: "
    "nothing here tells whether a judge follows the position"
)


def _proposal(table: RowTable) -> Proposal:
    preferences = words_of(table, [_PREFERENCE])
    are_choices = preferences.keys() <= _CHOICES.keys() | _NOTHING.keys()
    choices: tuple[ShownSetting, ...] = ()
    if are_choices:
        choices = words(table, [_PREFERENCE], _CHOICES, "the better output, 1 or 2, or neither")
    why = "1, 2 or a tie" if are_choices else "a number from 1 to 2, the better output: a score"
    item = joined(table, ["instruction", *_GENERATORS])
    return Proposal(
        (
            of_all("suite", "alpaca-eval", "annotations of AlpacaEval"),
            *columns(table, {"judge": "annotator"}, "the configuration that judged"),
            column("item", item, "two outputs for one instruction"),
            column("cluster", "instruction", "what was written for one instruction"),
            column("verdict", _PREFERENCE, why),
            *choices,
            *(_order(table) if are_choices else ()),
            *words(table, [_PREFERENCE], _NOTHING, "the annotator gave nothing"),
            *columns(table, _TEXTS, "what was compared"),
            *_replies(table),
        ),
        notes=() if table.has(_SWITCHED) else (_ORDER,),
    )


def _order(table: RowTable) -> tuple[ShownSetting, ...]:
    """The order in which the outputs were shown, where older files state it."""
    if not table.has(_SWITCHED):
        return ()
    return (
        column("order", _SWITCHED, "whether the second output was shown first"),
        *words(table, [_SWITCHED], {"false": "ab", "true": "ba"}, "the order"),
        naming("verdict", "content", "preferences are of outputs, whatever the order"),
        naming("a", "content", "output_1 is the first output, whatever the order"),
    )


def _replies(table: RowTable) -> tuple[ShownSetting, ...]:
    """The replies, where they are texts: of weighted annotators they are lists of tokens."""
    name = "raw_completion"
    are_texts = all(isinstance(row.value.get(name), str | None) for row in table)
    return columns(table, {"reply": name}, "what the judge said") if are_texts else ()


def _rows(table: RowTable) -> RowTable:
    return numbered(table, ("instruction", *_GENERATORS, *_OUTPUTS, "annotator"))


ALPACA_EVAL: Final = FileShape(
    "alpaca-eval",
    "annotations of AlpacaEval (annotations.json)",
    (
        f"{_ALPACA_EVAL}:src/alpaca_eval/annotators/pairwise_evaluator.py",
        f"{_ALPACA_EVAL}:results/*/*/annotations.json",
    ),
    ("instruction", "output_1", "output_2", _PREFERENCE),
    _proposal,
    _rows,
)
