"""AlpacaEval: which of two outputs an annotator prefers, a number from 1 to 2.

Annotators that choose give 1, 2 or 1.5, which was 0 in older files. Those that weight both answers
by their probabilities give any number between 1 and 2, which is a score: its mean is the win rate
of the second output, less 1. Annotators that are numbers are people.
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
from pytest_judgesense.trial import is_number

_ALPACA_EVAL: Final = "tatsu-lab/alpaca_eval@cd543a149df89434d8a54582c0151c0b945c3d20"
_PREFERENCE: Final = "preference"
_ANNOTATOR: Final = "annotator"
# Of annotations of what people annotated too.
_GOLD: Final = "gold_preference"
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
    item = joined(table, ["instruction", *_GENERATORS])
    compared = (
        column("item", item, "two outputs for one instruction"),
        column("cluster", "instruction", "what was written for one instruction"),
        *columns(table, _TEXTS, "what was compared"),
    )
    if all(map(is_number, words_of(table, [_ANNOTATOR]))):
        label = column("label", _PREFERENCE, "the output that a person preferred")
        ties = words(table, [_PREFERENCE], {"1.5": "tie", "0": "tie"}, "neither")
        return Proposal((*compared, label, *ties), no_judge="its annotators are people, by number")
    choices: tuple[ShownSetting, ...] = ()
    if are_choices:
        named = (_PREFERENCE, _GOLD)
        choices = words(table, named, _CHOICES, "the better output, 1 or 2, or neither")
    why = "1, 2 or a tie" if are_choices else "a number from 1 to 2, the better output: a score"
    return Proposal(
        (
            of_all("suite", "alpaca-eval", "annotations of AlpacaEval"),
            column("judge", _ANNOTATOR, "the configuration that judged"),
            *compared,
            column("verdict", _PREFERENCE, why),
            *columns(table, {"label": _GOLD}, "what people preferred"),
            *choices,
            *(_order(table) if are_choices else ()),
            *words(table, [_PREFERENCE], _NOTHING, "the annotator gave nothing"),
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
        *([naming("label", "content", "the same")] if table.has(_GOLD) else []),
    )


def _replies(table: RowTable) -> tuple[ShownSetting, ...]:
    """The replies, where they are texts: of weighted annotators they are lists of tokens."""
    name = "raw_completion"
    are_texts = all(isinstance(row.value.get(name), str | None) for row in table)
    return columns(table, {"reply": name}, "what the judge said") if are_texts else ()


def _rows(table: RowTable) -> RowTable:
    return numbered(table, ("instruction", *_GENERATORS, *_OUTPUTS, _ANNOTATOR))


ALPACA_EVAL: Final = FileShape(
    "alpaca-eval",
    "annotations of AlpacaEval (annotations.json)",
    (
        f"{_ALPACA_EVAL}:src/alpaca_eval/annotators/pairwise_evaluator.py",
        f"{_ALPACA_EVAL}:src/alpaca_eval/analyze.py (get_crossannotations)",
        f"{_ALPACA_EVAL}:results/*/*/annotations.json",
    ),
    (*_OUTPUTS, "instruction", _PREFERENCE, _ANNOTATOR),
    _proposal,
    _rows,
)
