"""Judges that were compared: what moving from one to another changes, and what it loses.

As values, as tables (measures, verdicts that moved, marks), and in sentences. Of more than two
judges every two are compared, a line of one table each; the first judge is the one that is
replaced, so that what another one loses against it counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pytest_judgesense.datasheets.published_design import Table, Value
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.compare.judges.model_change import (
    FAIL,
    PASS,
    ModelChange,
    ScoredTrials,
)
from pytest_judgesense.questions.compare.variants import word_of
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of
from pytest_judgesense.report.markdown import code, tables_markdown
from pytest_judgesense.report.terminal import tables_lines
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.kept_mark import KeptMark
from pytest_judgesense.text.layout import indented

if TYPE_CHECKING:
    import pandas as pd


def sentences(model_change: ModelChange) -> Iterator[str]:
    """What a reader is told first."""
    old, new, both = model_change.old, model_change.new, model_change.both
    items = len({trial.old.trial.item for trial in both})
    undecided = len(both) - len(model_change.decided)
    yield (
        f"{old.judge} -> {new.judge} on {old.suite}: {len(both):,} trials of {items:,} "
        f"items, {undecided:,} without a verdict of both"
    )
    if model_change.left_out:
        yield f"left out: {model_change.left_out:,} trials that only one of them was asked"
    if model_change.shift is not None:
        yield model_change.shift.sentence
    if model_change.same:
        yield _agreement_words(model_change)
    yield _measure_words(model_change)
    yield from _mark_words(model_change)


def _measure_words(model_change: ModelChange) -> str:
    """Whether the new judge is better, and in what."""
    trials = [both.old.trial for both in model_change.both]
    items = {trial.item for trial in trials}
    clusters = {trial.cluster for trial in trials}
    return model_change.measures.sentence("items" if len(clusters) == len(items) else "clusters")


def _agreement_words(model_change: ModelChange) -> str:
    """How often both say the same."""
    same, count = sum(model_change.same), len(model_change.same)
    interval, kappa = model_change.agreement, model_change.kappa
    ends = f" [{interval.lower:.3f}, {interval.upper:.3f}]" if interval else ""
    beyond_chance = "" if kappa is None else f", kappa {kappa:.2f}"
    said = "side of the mark" if model_change.old.design.score else "verdict"
    return f"the same {said}: {same:,} of {count:,}, {same / count:.3f}{ends}{beyond_chance}"


def _mark_words(model_change: ModelChange) -> Iterator[str]:
    matched, scale = model_change.matched, model_change.scale
    if matched is None or scale is None:
        yield "no pass mark: verdicts have no score (no order, no grades, no probabilities of two)"
        return
    if isinstance(matched, NotEstimable):
        yield f"{scale.name}: not known: {matched.reason}"
        return
    old, new, nearest = model_change.old.judge, model_change.new.judge, matched.nearest
    unit = f"{matched.old_rate:.3f} pass at {scale.old_mark}"
    yield f"{scale.name}: of {len(scale.trials):,} trials {unit} of {old}"
    rate = f"{scale.word(nearest.mark)} keeps it best, with {nearest.rate:.3f}"
    if matched.lowest is None or matched.highest is None:
        yield f"of {new} {rate}; every mark is told from the old rate"
    else:
        lowest, highest = scale.word(matched.lowest), scale.word(matched.highest)
        ends = f"{lowest} alone" if lowest == highest else f"{lowest} to {highest}"
        yield f"of {new} {rate}; not told from the old rate: {ends} (95% over clusters)"
    if (now := matched.at_old) is not None:
        yield (
            f"at {scale.old_mark} of {new} {now.rate:.3f} pass now: {now.change:+.3f} "
            f"[{now.ends[0]:+.3f}, {now.ends[1]:+.3f}]"
        )
    yield _answer_words(model_change, matched, scale)
    lost = int(matched.not_kept.sum())
    moved = matched.fewest.lost + matched.fewest.gained
    whose = "no mark in that range" if matched.lowest is not None else "that mark does not"
    yield (
        f"cannot be kept: the side of {lost:,} trials, which {whose} keeps; at any mark {moved:,} "
        f"or more change sides (fewest at {scale.word(matched.fewest.mark)})"
    )


def _answer_words(model_change: ModelChange, matched: KeptMark, scale: ScoredTrials) -> str:
    """Whether the rate is kept, and what would decide it."""
    within = model_change.within
    if matched.answer == "kept":
        (low, high), mark = matched.nearest.ends, scale.word(matched.nearest.mark)
        return f"kept: at {mark} the rate moves by {low:+.3f} to {high:+.3f}"
    if matched.answer == "not kept":
        return f"cannot be kept: every mark is more than {within:g} from the old rate (95%)"
    needed = matched.clusters_to_decide(within)
    items = {both.old.trial.item for both in scale.trials}
    unit = "items" if len(items) == matched.clusters else "clusters"
    would = "" if needed is None else f"; about {needed:,} {unit} like these would settle it"
    return (
        f"undecided: a fit, plus or minus {matched.nearest.half_width:.3f}, where {within:g} is "
        f"asked for{would}"
    )


MOVED: Final = "moved"
_NO_VERDICT: Final = "no verdict"


def tables(model_change: ModelChange) -> Iterator[Table]:
    """Measures of both, verdicts that moved, marks, and the items that no mark keeps."""
    yield _measures(model_change)
    yield _moved(model_change)
    if isinstance(model_change.matched, KeptMark) and model_change.scale is not None:
        yield _marks(model_change.scale, model_change.matched)
        yield _not_kept(model_change.scale, model_change.matched)


def _measures(model_change: ModelChange) -> Table:
    rows = tuple(
        (
            word_of(change.measure),
            *change.first_and_own,
            change.difference,
            change.ends,
            f"{change.pair.p:.3g}",
            change.verdict or "not told apart",
        )
        for change in model_change.measures.changes
    )
    return Table(
        "measures",
        "of both; change and interval over whole clusters, p by Holm over all lines",
        ("measure", "old", "new", "change", "95% clustered", "p", "verdict"),
        rows,
    )


def _moved(model_change: ModelChange) -> Table:
    design = model_change.old.design
    words = [FAIL, PASS] if model_change.by_sides else [*design.labels]
    seen = {word for pair in model_change.moves for word in pair if word is not None}
    words = [*words, *sorted(seen - {*words})]
    missing: list[str | None] = [None] if any(None in pair for pair in model_change.moves) else []
    columns = [*words, *missing]

    def row(old: str | None) -> tuple[Value, ...]:
        counts = [model_change.moves[old, new] for new in columns]
        total = sum(counts)
        return (old or _NO_VERDICT, *counts, counts[columns.index(old)] / total)

    what = (
        "slots"
        if design.pairwise
        else "sides of the old mark"
        if model_change.by_sides
        else "verdicts"
    )
    return Table(
        MOVED,
        f"trials by the old verdict (lines) and the new one (columns); {what}",
        ("old", *(word or _NO_VERDICT for word in columns), "kept"),
        tuple(row(old) for old in columns if any(model_change.moves[old, new] for new in columns)),
    )


def _marks(scale: ScoredTrials, matched: KeptMark) -> Table:
    """The marks of a scale of labels; of other scores those that the sentences name."""
    named = {rate.mark: rate for rate in (matched.nearest, matched.fewest)}
    shown = matched.marks or [named[mark] for mark in sorted(named)]
    return Table(
        "marks",
        f"of the new judge, beside the old pass rate of {matched.old_rate:.3f}",
        ("mark", "passes", "change", "95% clustered", "pass to fail", "fail to pass"),
        tuple(
            (
                scale.word(rate.mark),
                rate.rate,
                rate.change,
                rate.ends,
                rate.lost,
                rate.gained,
            )
            for rate in shown
        ),
    )


def _not_kept(scale: ScoredTrials, matched: KeptMark) -> Table:
    rows = tuple(
        (
            both.old.trial.id,
            PASS if passed else FAIL,
            FAIL if passed else PASS,
            scale.word(score),
        )
        for both, passed, score, lost in zip(
            scale.trials, scale.passed, scale.scores, matched.not_kept.tolist(), strict=True
        )
        if lost
    )
    return Table(
        "not-kept",
        f"trials whose side no such mark keeps: {len(rows)} of {len(scale.trials)}",
        ("trial", "old", "new", "new score"),
        rows,
    )


SCHEMA: Final = "judgesense/migration/1"
FORMS_OF_TWO: Final = (".json",)
_MOST_LINES: Final = 10  # of a table on the screen


@dataclass(frozen=True)
class CompareJudgesAnswer(QuestionAnswer):
    """What moving a judge to another model changes.

    Attributes:
        effort: what the effort of each judge buys; ``None`` where none is known.
        called: what its file holds, in a word.
    """

    model_change: ModelChange
    effort: Table | None = None
    called: ClassVar[str] = "migration"

    @property
    def worse(self) -> bool:
        """Whether a measure is worse beyond chance, or no mark keeps the old pass rate."""
        return bool(self.model_change.worse) or self.model_change.rate_lost

    def lines(self) -> Iterator[str]:
        """The sentences, and the first lines of each table."""
        for sentence in sentences(self.model_change):
            yield from indented(sentence, width=0)
        every = [*tables(self.model_change), *_tables_of(self.effort)]
        with_rows = [table for table in every if table.rows]
        yield from tables_lines(table.first(_MOST_LINES) for table in with_rows)

    def to_dict(self) -> Mapping[str, Any]:
        """What is printed, as JSON values, unrounded; every table whole."""
        model_change = self.model_change
        count = len(model_change.same)
        return {
            "schema": SCHEMA,
            "suite": model_change.old.suite,
            "old": model_change.old.judge,
            "new": model_change.new.judge,
            "seed": model_change.old.seed,
            "trials": len(model_change.both),
            "left_out": model_change.left_out,
            "decided": count,
            "same_verdict": {
                "value": sum(model_change.same) / count if count else None,
                "cohen_kappa": model_change.kappa,
                "interval": _plain_interval(model_change),
            },
            "mean_shift": model_change.shift and model_change.shift.to_dict(),
            "worse": [change.measure.name for change in model_change.worse],
            "mark": _plain_mark(model_change),
            "notices": [*sentences(model_change)],
            "tables": {
                table.name: [*_plain_rows(table)]
                for table in (*tables(model_change), *_tables_of(self.effort))
            },
        }

    def to_dataframe(self) -> pd.DataFrame:
        """A row for each measure of both.

        Raises:
            UsageError: pandas is not installed.
        """
        measures = next(tables(self.model_change))
        return dataframe_of(_plain_rows(measures))

    def text(self, path: Path) -> str:
        """The content of a file of this name.

        Raises:
            UsageError: its suffix is not ``.json``.
        """
        refuse_other_form(path, FORMS_OF_TWO)
        return _json_text(self)


def _tables_of(effort: Table | None) -> list[Table]:
    return [] if effort is None else [effort]


def _json_text(answer: QuestionAnswer) -> str:
    return json.dumps(answer.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def refuse_other_form(path: Path, forms: Sequence[str]) -> None:
    """Raise a `UsageError` if a file of this name has none of the suffixes ``forms``."""
    if path.suffix not in forms:
        raise UsageError(
            "what moves cannot be written in this form",
            found=str(path),
            expected=f"a file that ends in {' or '.join(forms)}",
        )


def _plain_interval(model_change: ModelChange) -> dict[str, Any] | None:
    """The interval of the share of equal verdicts."""
    interval = model_change.agreement
    if interval is None:
        return None
    return {
        name: getattr(interval, name) for name in ("method", "lower", "upper", "level", "clusters")
    }


def _plain_mark(model_change: ModelChange) -> dict[str, Any] | None:
    """The mark that keeps the old rate best; ``None`` where there is none."""
    matched, scale = model_change.matched, model_change.scale
    if not isinstance(matched, KeptMark) or scale is None:
        return None
    return {
        "of": scale.name,
        "old": scale.old_mark,
        "old_rate": matched.old_rate,
        "new": scale.word(matched.nearest.mark),
        "new_rate": matched.nearest.rate,
        "lowest": None if matched.lowest is None else scale.word(matched.lowest),
        "highest": None if matched.highest is None else scale.word(matched.highest),
        "within": model_change.within,
        "answer": matched.answer,
        "ends": [*matched.nearest.ends],
        "at_old": None if matched.at_old is None else matched.at_old.rate,
        "settled_by": matched.clusters_to_decide(model_change.within),
        "fewest_changes": matched.fewest.lost + matched.fewest.gained,
    }


def _plain_rows(table: Table) -> Iterator[dict[str, Any]]:
    """The lines of a table by its columns, intervals as lists."""
    for row in table.rows:
        cells = [[*cell] if isinstance(cell, tuple) else cell for cell in row]
        if table.name == MOVED:  # its columns are labels, which may be called like the others
            counts = dict(zip(table.columns[1:-1], cells[1:-1], strict=True))
            yield {"old": cells[0], "new": counts, "kept": cells[-1]}
        else:
            yield dict(zip(table.columns, cells, strict=True))


SCHEMA_OF_PAIRS: Final = "judgesense/judge-pairs/1"
FORMS_OF_PAIRS: Final = (".json", ".md")
_IN_A_FAMILY: Final = "p by Holm over all measures of all pairs"


@dataclass(frozen=True)
class EveryTwoJudgesAnswer(QuestionAnswer):
    """Every two of several judges, compared as two are; p-values are those of one family.

    Attributes:
        changes: those of each pair, the judge that was named first as the old one; the pairs with
            the first judge stand first.
        effort: what the effort of each judge buys; ``None`` where none is known.
        called: what its file holds, in a word.
    """

    changes: tuple[ModelChange, ...]
    effort: Table | None = None
    called: ClassVar[str] = "comparison"

    @property
    def first(self) -> str:
        """The judge that the others may replace."""
        return self.changes[0].old.judge

    @property
    def judges(self) -> list[str]:
        """All judges, in the order in which they were named."""
        return [self.first, *(change.new.judge for change in self._with_the_first)]

    @property
    def worse(self) -> bool:
        """Whether a judge is worse than the first one, or loses its pass rate, beyond chance."""
        return any(change.worse or change.rate_lost for change in self._with_the_first)

    @property
    def _with_the_first(self) -> list[ModelChange]:
        return [change for change in self.changes if change.old.judge == self.first]

    def lines(self) -> Iterator[str]:
        """A sentence for each pair, and the table."""
        for sentence in self._sentences():
            yield from indented(sentence, width=0)
        yield from tables_lines([self.table, *_tables_of(self.effort)])

    def _sentences(self) -> Iterator[str]:
        suite = self.changes[0].old.suite
        yield f"{len(self.judges)} judges on {suite}, every two of them; {_IN_A_FAMILY}"
        yield from map(_measure_words, self.changes)
        for change in self._with_the_first:
            if change.rate_lost:
                yield f"{change.new.judge} cannot keep the pass rate of {self.first} at any mark"

    @property
    def table(self) -> Table:
        """A line for each pair of judges; without the columns that hold nothing."""
        rows = [*map(_pair_row, self.changes)]
        columns = tuple(name for name in rows[0] if any(row[name] is not None for row in rows))
        return Table(
            "pairs",
            f"from old to new, intervals over whole clusters; {_IN_A_FAMILY}",
            columns,
            tuple(tuple(_shown(name, row[name]) for name in columns) for row in rows),
            keys=2,
        )

    def to_dict(self) -> Mapping[str, Any]:
        """The table, and of each pair what two judges alone have, as JSON values, unrounded."""
        return {
            "schema": SCHEMA_OF_PAIRS,
            "suite": self.changes[0].old.suite,
            "judges": self.judges,
            "first": self.first,
            "seed": self.changes[0].old.seed,
            "worse": self.worse,
            "notices": [*self._sentences()],
            "table": [*map(_plain_pair, self.changes)],
            "effort": [*_plain_rows(self.effort)] if self.effort else [],
            "pairs": [CompareJudgesAnswer(change).to_dict() for change in self.changes],
        }

    def to_dataframe(self) -> pd.DataFrame:
        """A row for each pair.

        Raises:
            UsageError: pandas is not installed.
        """
        return dataframe_of(map(_plain_pair, self.changes))

    def text(self, path: Path) -> str:
        """The content of a file of this name.

        Raises:
            UsageError: its suffix is neither ``.json`` nor ``.md``.
        """
        refuse_other_form(path, FORMS_OF_PAIRS)
        if path.suffix == ".json":
            return _json_text(self)
        sentences_of_pairs = (f"- {code(sentence)}" for sentence in self._sentences())
        every = [self.table, *_tables_of(self.effort)]
        return "\n".join([*sentences_of_pairs, "", *tables_markdown(every)])


_P: Final = " p"  # what the heads of columns with p-values end in


def _pair_row(change: ModelChange) -> dict[str, Value]:
    """A pair of judges by column, unrounded."""
    count = len(change.same)
    row: dict[str, Value] = {
        "old": change.old.judge,
        "new": change.new.judge,
        "trials": len(change.both),
        "same verdict": sum(change.same) / count if count else None,
        "kappa": change.kappa,
    }
    for of_measure in change.measures.changes:
        word = word_of(of_measure.measure)
        row[f"{word} change"] = of_measure.difference
        row[f"{word} 95%"] = of_measure.ends
        row[f"{word}{_P}"] = of_measure.pair.p
    row["verdict"] = _pair_verdict(change)
    return row | _mark_columns(change)


def _mark_columns(change: ModelChange) -> dict[str, Value]:
    """The mark that keeps the old pass rate best, what passes there, and whether it is kept."""
    matched, scale = change.matched, change.scale
    if not isinstance(matched, KeptMark) or scale is None:
        return {"mark": None, "passes": None, "pass rate": None}
    return {
        "mark": scale.word(matched.nearest.mark),
        "passes": matched.nearest.rate,
        "pass rate": matched.answer,
    }


def _pair_verdict(change: ModelChange) -> str:
    """In which measures the new judge is better, and in which worse."""
    moved = {
        verdict: [word_of(of_measure.measure) for of_measure in change.measures.moved(verdict)]
        for verdict in ("better", "worse")
    }
    words = [f"{verdict}: {', '.join(names)}" for verdict, names in moved.items() if names]
    return "; ".join(words) or "not told apart"


def _shown(column: str, cell: Value) -> Value:
    """A cell of the table: p-values have three digits that count."""
    return f"{cell:.3g}" if column.endswith(_P) and isinstance(cell, float) else cell


def _plain_pair(change: ModelChange) -> dict[str, Any]:
    """A line of the table as JSON values, intervals as lists."""
    return {
        column: [*cell] if isinstance(cell, tuple) else cell
        for column, cell in _pair_row(change).items()
    }
