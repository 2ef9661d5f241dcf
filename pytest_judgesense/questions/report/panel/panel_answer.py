"""What a panel is worth: in sentences and tables on the screen, in a notebook, in files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pytest_judgesense.datasheets.published_design import Table, Value
from pytest_judgesense.errors import UsageError, listed, unknown_name
from pytest_judgesense.estimate import Clustered
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of
from pytest_judgesense.questions.report.panel import scale_panel
from pytest_judgesense.questions.report.panel.scale_panel import ScalePanel
from pytest_judgesense.questions.report.panel.votes import JudgePanel
from pytest_judgesense.questions.report.panel.worth import (
    ERRORS,
    plain_worth,
    priced,
    worth_lines,
)
from pytest_judgesense.report.csv_tables import table_text
from pytest_judgesense.report.terminal import tables_lines
from pytest_judgesense.stats.inputs import LEVEL, NotEstimable
from pytest_judgesense.stats.selective import Selective
from pytest_judgesense.stats.subsets import FOLDS, BestPanel
from pytest_judgesense.text.layout import excerpt, indented
from pytest_judgesense.trial import grouped

if TYPE_CHECKING:
    import pandas as pd


SCHEMA: Final = "judgesense/panel/1"
_PRICED: Final = "calls and tokens an item, USD a 1,000 items"
# Where the bound on the error does not hold for the items without a label.
_NOT_DRAWN: Final[Mapping[str | None, str]] = {
    "chosen": "somebody chose the labelled items: the error on others is not bounded by them",
    "stratified": "the labelled items were drawn by strata, and are counted without weights: the "
    "error on all items is not bounded by them",
    None: "nobody says how the labelled items were drawn: if not by chance, the error on others is "
    'not bounded by them (labelled = "random" in [stimuli])',
}


# --- sentences ------------------------------------------------------------------------------------


def sentences(panel: JudgePanel) -> Iterator[str]:
    """What a reader is told first."""
    of = panel.ballots
    labelled = int(of.labelled.sum())
    against = f"{labelled} with {panel.labels_of}" if labelled else "none with a label"
    yield (
        f"{len(of.judges)} judges on {panel.suite}: {len(of.items)} items that all were asked "
        f"({len(of.common):,} trials each), {against}"
    )
    if of.left_out:
        yield f"left out: {of.left_out:,} trials that not every judge was asked and replied to"
    if panel.later_labels:
        yield (
            f"{panel.later_labels:,} label{'s' * (panel.later_labels != 1)} came after the first "
            "vote: if people saw votes, errors are missed and the error below is not bounded; "
            "label blind"
        )
    yield from worth_lines(panel.effective, panel.ballots.judges, _correlated(panel))
    yield from _decided(panel)


def _correlated(panel: JudgePanel) -> str:
    return ERRORS if panel.by_errors else "verdicts"


def _decided(panel: JudgePanel) -> Iterator[str]:
    selective, of = panel.selective, panel.ballots
    if selective is None:
        return
    head = f"at an error of at most {panel.alpha:g} ({LEVEL:.0%} confidence, {panel.labels_of})"
    if isinstance(selective, NotEstimable):
        yield f"{head}: not known: {selective.reason}"
        return
    if (step := selective.chosen) is None:
        yield f"{head}: the panel decides nothing, all items go to people"
    else:
        decided = panel.decided_at(step.votes)
        yield (
            f"{head}: {step.votes} of {len(of.judges)} votes decide {decided} of {len(of.items)} "
            f"items ({decided / len(of.items):.0%}), {step.wrong} of {step.decided} with a label "
            f"wrongly; {len(of.items) - decided} go to people"
        )
    if not of.labelled.all() and of.drawn in _NOT_DRAWN:
        yield _NOT_DRAWN[of.drawn]


def _ends(interval: Clustered) -> str:
    return f"[{interval.lower:.2f}, {interval.upper:.2f}]"


# --- tables ---------------------------------------------------------------------------------------


def tables(panel: JudgePanel) -> Iterator[Table]:
    """Judges, sizes, votes needed, categories, and the items on which they disagree."""
    yield _judges(panel)
    if panel.sizes and not isinstance(panel.sizes, NotEstimable):
        yield _sizes(panel, panel.sizes)
    if isinstance(panel.selective, Selective):
        yield _votes_needed(panel, panel.selective)
    yield from _disagreements(panel)


def _judges(panel: JudgePanel) -> Table:
    of = panel.ballots
    is_right = of.votes == of.labels[:, None]
    top = panel.top[0]
    rows: list[tuple[Value, ...]] = []
    for place, name in enumerate(of.judges):
        votes, price = of.votes[:, place], panel.prices[place]
        right = float(is_right[of.labelled, place].mean()) if panel.by_errors else None
        alone = int(((votes >= 0) & (top >= 0) & (votes != top)).sum())
        rows.append((name, right, alone, int((votes < 0).sum()), *priced(price)))
    return Table(
        "judges",
        f"votes of each judge; right: share of the items with {panel.labels_of}"
        if panel.by_errors
        else "votes of each judge",
        ("judge", "right", "against most", "no vote", "calls", "tokens", "USD"),
        tuple(rows),
        ("no vote: as often one answer as another, or no verdict", _PRICED),
    )


def _sizes(panel: JudgePanel, sizes: Sequence[BestPanel]) -> Table:
    rows = tuple(
        (
            len(best.judges),
            "+".join(panel.ballots.judges[judge] for judge in best.judges),
            best.held_out,
            best.gain,
            best.ends,
            *priced(panel.price_of(best.judges)),
        )
        for best in sizes
    )
    return Table(
        "sizes",
        f"majority of the best panel of each size against {panel.labels_of}; gain over one judge",
        ("size", "panel", "right", "gain", "95%", "calls", "tokens", "USD"),
        rows,
        (
            f"right and gain on items that had no say in the choice ({FOLDS} folds of clusters)",
            "answers with equally many votes share an item",
        ),
        keys=2,
    )


def _votes_needed(panel: JudgePanel, selective: Selective) -> Table:
    judges, items = len(panel.ballots.judges), len(panel.ballots.items)
    rows = tuple(
        (
            f"{step.votes} of {judges}",
            panel.decided_at(step.votes) / items,
            step.wrong,
            step.decided,
            step.wrong / step.decided if step.decided else None,
            "yes" if step.allowed else "no",
        )
        for step in selective.steps
    )
    return Table(
        "votes-needed",
        "what the panel decides, by the votes that one answer needs; wrong: of those with a label",
        ("votes", "decided", "wrong", "of", "error", f"at most {panel.alpha:g}"),
        rows,
    )


def _disagreements(panel: JudgePanel) -> Iterator[Table]:
    of, split = panel.ballots, {*panel.split.tolist()}
    by_category = grouped(range(len(of.items)), lambda row: of.items[row].category)
    if len(by_category) > 1:
        yield Table(
            "categories",
            "items on which not all judges have the same vote, by category",
            ("category", "disagree", "items", "share"),
            tuple(
                (name, count := len(split.intersection(rows)), len(rows), count / len(rows))
                for name, rows in sorted(by_category.items())
            ),
        )
    rows = tuple(
        (of.items[row].id, of.items[row].category, of.items[row].label, *_votes_of(panel, row))
        for row in panel.split.tolist()
    )
    yield Table(
        "disagreements",
        f"items on which not all judges have the same vote, the most divided first: {len(rows)} of "
        f"{len(of.items)}",
        ("item", "category", "label", "votes", "against most"),
        rows,
    )


def _votes_of(panel: JudgePanel, row: int) -> tuple[str, str]:
    """``YES (4), NO (1), none (1)``, and who has no vote for the first of them."""
    of, top = panel.ballots, int(panel.top[0][row])
    words = ["none" if vote < 0 else of.answers[vote] for vote in of.votes[row].tolist()]
    counts = sorted(Counter(words).items(), key=lambda pair: (pair[0] == "none", -pair[1], pair[0]))
    against = [
        name for name, vote in zip(of.judges, of.votes[row].tolist(), strict=True) if vote != top
    ]
    shown = ", ".join(f"{word} ({count})" for word, count in counts)
    return shown, "no majority" if top < 0 else ", ".join(against)


# --- as values ------------------------------------------------------------------------------------


def to_plain(panel: JudgePanel) -> dict[str, Any]:
    """What is printed, as JSON values, unrounded."""
    of = panel.ballots
    return {
        "schema": SCHEMA,
        "suite": panel.suite,
        "seed": panel.seed,
        "alpha": panel.alpha,
        "judges": list(of.judges),
        "items": len(of.items),
        "trials": len(of.common),
        "left_out": of.left_out,
        "labels": {
            "items": int(of.labelled.sum()),
            "of": ("people" if of.by_people else "suite") if panel.by_errors else None,
            "drawn": of.drawn,
        },
        "effective_votes": plain_worth(panel.effective, of.judges, _correlated(panel)),
        "notices": [*sentences(panel)],
        "tables": {table.name: table.records() for table in tables(panel)},
    }


_MOST_LINES: Final = 10  # of a table on the screen
_LONGEST_CELL: Final = 40
_Files: TypeAlias = Iterator[tuple[Path, Callable[[], str]]]


@dataclass(frozen=True)
class PanelAnswer(QuestionAnswer):
    """What a panel is worth, what it decides, and where it disagrees.

    Attributes:
        panel: the judges with their votes, or with their numbers.
    """

    panel: JudgePanel | ScalePanel

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """Judges, sizes or shifts, votes needed, and the items on which they disagree."""
        if isinstance(self.panel, ScalePanel):
            return tuple(scale_panel.tables(self.panel))
        return tuple(tables(self.panel))

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """What a reader is told first."""
        if isinstance(self.panel, ScalePanel):
            return tuple(scale_panel.sentences(self.panel))
        return tuple(sentences(self.panel))

    def lines(self) -> Iterator[str]:
        """The sentences, and the first lines of each table."""
        for sentence in self.sentences:
            yield from indented(sentence, width=0)
        yield from tables_lines(_on_screen(table) for table in self.tables if table.rows)

    def to_dict(self) -> Mapping[str, Any]:
        if isinstance(self.panel, ScalePanel):
            return scale_panel.to_plain(self.panel, SCHEMA)
        return to_plain(self.panel)

    def to_dataframe(self, table: str = "judges") -> pd.DataFrame:
        """One of the tables: ``judges``, ``sizes``, ``votes-needed``, ``categories``, ...

        Raises:
            UsageError: there is no such table, or pandas is not installed.
        """
        by_name = {of_name.name: of_name for of_name in self.tables}
        if table not in by_name:
            raise unknown_name("table of a panel", table, by_name)
        return dataframe_of(by_name[table].records())

    def files(self, path: Path) -> _Files:
        """The files that an output of this name means, each with what makes its text.

        Raises:
            UsageError: its form is none of a panel.
        """
        refuse_unwritable([path])
        return _WRITERS[path.suffix](path, self)


def refuse_unwritable(paths: Iterable[Path]) -> None:
    """Raise a `UsageError` for a file in whose form a panel cannot be written."""
    for path in paths:
        if path.suffix not in _WRITERS:
            raise UsageError(
                "a panel cannot be written in this form",
                found=str(path),
                expected=f"a file that ends in {listed(_WRITERS)}",
            )


def _on_screen(table: Table) -> Table:
    """The first lines of a table, its cells shortened, its columns without anything left out."""
    table = table.first(_MOST_LINES)
    filled = [
        place
        for place in range(len(table.columns))
        if not table.rows or any(row[place] not in (None, "") for row in table.rows)
    ]
    shortened = tuple(
        tuple(
            excerpt(cell, _LONGEST_CELL) if isinstance(cell := row[place], str) else cell
            for place in filled
        )
        for row in table.rows
    )
    columns = tuple(table.columns[place] for place in filled)
    return table._replace(columns=columns, rows=shortened)


def _json_files(path: Path, answer: PanelAnswer) -> _Files:
    def text() -> str:
        return json.dumps(answer.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    yield path, text


def _markdown_files(path: Path, answer: PanelAnswer) -> _Files:
    def text() -> str:
        from pytest_judgesense.report.markdown import code, tables_markdown

        bullets = [f"- {code(sentence)}" for sentence in answer.sentences]
        head = ["## Panel of judges", "", *bullets, ""]
        return "\n".join([*head, *tables_markdown(answer.tables)]) + "\n"

    yield path, text


def _csv_files(path: Path, answer: PanelAnswer) -> _Files:
    """A file a table; the disagreements, which are longest, have the name."""
    for table in answer.tables:
        name = path.with_name(f"{path.stem}-{table.name}.csv")
        yield path if table is answer.tables[-1] else name, partial(table_text, table)


_WRITERS: Final[dict[str, Callable[[Path, PanelAnswer], _Files]]] = {
    ".json": _json_files,
    ".md": _markdown_files,
    ".csv": _csv_files,
}
