"""What a judge has become since its baseline, in words: worse, better, no worse, undecided. Pure.

Each word is the verdict of the test that decided (`checks.regression`), and never stronger. Losses
come first: a judge that is worse in one measure and better in another is both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from pytest_judgesense.datasheets.datasheet import CheckLine, JudgeSheet, SuiteSheet
from pytest_judgesense.trial import grouped

_WORDS: Final[Mapping[str, str]] = {
    "regressed": "worse",
    "improved": "better",
    "unchanged": "no worse",
    "inconclusive": "undecided",
}
# Losses come before gains.
_TONES: Final = {"worse": "loss", "better": "gain"}


def compared(lines: Iterable[CheckLine]) -> list[CheckLine]:
    """The checks that compare with a baseline."""
    # Files of earlier versions do not say what became of the measure.
    return [line for line in lines if line.against and line.against.change]


def headline(lines: Sequence[CheckLine]) -> str:
    """What became of a judge, in a clause; empty where nothing was compared.

    Such as ``worse than HEAD in recall; better in jss``. "No worse" stands only where no measure is
    worse or better, for either says more.
    """
    lines = compared(lines)
    if not lines:
        return ""
    baseline = next(line.against.baseline for line in lines if line.against)
    by_word = _by_word(lines)
    shown = [word for word in _TONES if word in by_word]
    words = shown or [word for word in ("no worse", "undecided") if word in by_word]
    than = "against" if words[0] == "undecided" else "than"
    heads = {words[0]: f"{words[0]} {than} {baseline}"}
    return "; ".join(f"{heads.get(word, word)} in {_named(by_word[word])}" for word in words)


def became(lines: Iterable[CheckLine]) -> str:
    """The colour of a comparison: ``loss`` where a measure is worse, ``gain`` where one is better.

    Empty where neither is shown.
    """
    words = set(map(_word_of, compared(lines)))
    return next((tone for word, tone in _TONES.items() if word in words), "")


def gain(line: CheckLine) -> str:
    """That the measure of a check is better than in its baseline; empty if it is not."""
    against = line.against
    if against is None or against.change is None or against.change.verdict != "improved":
        return ""
    return f"better than {against.baseline}: {against.change.words}"


def gains(sheet: JudgeSheet) -> list[str]:
    """A sentence for each measure of a judge that is better than in its baseline."""
    return [f"{line.suite}: {sentence}" for line in sheet.checks if (sentence := gain(line))]


def since_baseline(sheet: SuiteSheet, *, counts: bool) -> Iterator[str]:
    """What became of a judge on a suite, where no check says that it is worse, and what changed.

    ``counts``: also what is not compared, or not as it was, where no notice says it.
    """
    lines = compared(sheet.checks)
    if not lines or any(line.outcome != "pass" for line in lines):
        return  # a line that fails says it
    against = next(line.against for line in lines if line.against)
    by_word = _by_word(lines)
    words = [f"{word} in {_named(by_word[word])}" for word in _WORDS.values() if word in by_word]
    words += [against.summary] * bool(against.summary)
    words += sheet.against if counts else ()
    yield f"{sheet.judge}, {sheet.suite} since {against.baseline}: {'; '.join(words)}"


def _by_word(lines: Sequence[CheckLine]) -> dict[str, list[CheckLine]]:
    return grouped(lines, _word_of)


def _word_of(line: CheckLine) -> str:
    change = line.against.change if line.against else None
    assert change is not None, "what compares with a baseline says what it found"
    return _WORDS[change.verdict]


def _named(lines: Iterable[CheckLine]) -> str:
    """The measures of checks, each once."""
    changes = [line.against.change for line in lines if line.against and line.against.change]
    return ", ".join(dict.fromkeys(change.measure for change in changes))
