"""The datasheet as one page of HTML that needs nothing beside it: no network, no other file.

The template, the style sheet and the script are data files (``templates/``). Everything that a
judge, a suite or a log says is put into the page as text: by a template that escapes, or, for the
evidence, by a script that sets text and nothing else. A Content Security Policy lets that one
script and that one style sheet through, by their digests, and refuses every connection.

The evidence (trials with prompts and replies) is columns of numbers that point into tables of
texts, each text once, as JSON; compressed (zlib) and in base64, it is unpacked by the browser.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Final

from pytest_judgesense.checks.regression import differs
from pytest_judgesense.datasheet import numbers
from pytest_judgesense.datasheet.codec import prompts_digest
from pytest_judgesense.datasheet.page_comparisons import comparing_figures
from pytest_judgesense.datasheet.page_drawing import draw
from pytest_judgesense.datasheet.page_figures import Figure, csv_of, name_of, shown
from pytest_judgesense.datasheet.page_instrument import instrument_figures
from pytest_judgesense.datasheet.profile import profile_sketch
from pytest_judgesense.datasheet.sheet import Datasheet, JudgeSheet, changed_between, state_of
from pytest_judgesense.datasheet.standing import leaderboards, setting_notices
from pytest_judgesense.errors import UsageError, printable
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.paraphrase.estimators import meaning, paraphrase_pairs
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.suites.builtin import template_text
from pytest_judgesense.trial import Failed, Judgment, Unparsed

__all__ = ["Before", "Evidence", "page_text", "require_packages"]

# The file stays below 15 MB: with more evidence than this, long replies are cut.
_MOST_EVIDENCE: Final = 11_000_000
_CUT: Final = (20_000, 4_000, 1_000, 200)
# Drawn, and far too long for a table.
_ONLY_DRAWN: Final = frozenset({"temperature_attribution_points"})
_FIRST: Final = {"fail": 0, "inconclusive": 1, "pass": 2}
_MANY_SUITES: Final = 12


@dataclass(frozen=True, slots=True)
class Before:
    """What a baseline holds of one judge on one suite: estimates, and judgments by trial."""

    estimates: tuple[Estimate, ...]
    judgments: Mapping[str, Judgment]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The judgments behind a datasheet.

    Attributes:
        cells: of every judge on every suite.
        prompts: the prompt of each trial, by judge and suite; empty where a log holds none.
        before: the baseline, by judge and suite; empty without one.
    """

    cells: tuple[Cell, ...] = ()
    prompts: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    before: Mapping[tuple[str, str], Before] = field(default_factory=dict)


def require_packages() -> None:
    """Nothing, if a page can be made here.

    Raises:
        UsageError: what draws it is not installed; says how to install it.
    """
    missing = [name for name in ("jinja2", "matplotlib") if find_spec(name) is None]
    if missing:
        raise UsageError(
            "a datasheet cannot be written as .html",
            found=f"{' and '.join(missing)} not installed",
            expected="the packages that draw the page",
            remedy="pip install 'pytest-judgesense[html]'",
        )


def page_text(sheet: Datasheet, evidence: Evidence | None = None) -> str:
    """The page.

    Raises:
        UsageError: what draws it is not installed.
    """
    require_packages()
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    def harmless(value: Any) -> Any:
        # What no reader sees could turn the text around it about: it is shown as an escape.
        return printable(value) if type(value) is str else value

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = _cell
    style, script = template_text("page.css"), template_text("page.js")
    evidence = evidence or Evidence()
    packed, cut = _packed(evidence)
    found = [*instrument_figures(sheet), *comparing_figures(sheet)]
    figures = [
        {
            "figure": figure,
            "svg": Markup(draw(figure)),  # noqa: S704 our own drawing, its texts escaped
            "csv": base64.b64encode(csv_of(figure.columns, figure.rows).encode()).decode(),
        }
        for figure in found
        if isinstance(figure, Figure)
    ]
    return environment.from_string(template_text("page.html")).render(
        policy="default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_digest(style)}'; script-src '{_digest(script)}'",
        style=Markup(style),  # noqa: S704 our own file
        script=Markup(script),  # noqa: S704 our own file
        sheet=sheet,
        judges=[_judge(judge, sheet, evidence) for judge in sheet.judges],
        open_suites=sum(len(judge.parts) for judge in sheet.judges) <= _MANY_SUITES,
        compared=_compared(sheet),
        notices=setting_notices(judge.identity for judge in sheet.judges),
        figures=figures,
        absent=[figure for figure in found if not isinstance(figure, Figure)],
        measures=BUILT_IN.measures,
        numbers=numbers,
        evidence=packed,
        cut=cut,
        trials=sum(len(cell.judgments) for cell in evidence.cells),
        has_prompts=bool(evidence.prompts),
        has_before=any(before.judgments for before in evidence.before.values()),
    )


def _digest(text: str) -> str:
    # What stands between the tags, as the browser reads it.
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _cell(value: Any) -> str:
    """A value of a table of an analysis, in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_cell(one)}" for key, one in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return printable(shown(value))


def _judge(judge: JudgeSheet, sheet: Datasheet, evidence: Evidence) -> dict[str, Any]:
    """What the page shows of a judge."""
    identity = judge.identity
    counts = [(word, sum(line.outcome == word for line in judge.checks)) for word in _FIRST]
    settings = {
        key: f"{value:g}" if isinstance(value, float) else value
        for key in ("temperature", "max_tokens", "reasoning", "seed", "base_url")
        if (value := identity.get(key)) is not None
    }
    return {
        "sheet": judge,
        "name": name_of(judge),
        "asked": f"{identity.get('provider', 'log')}:{identity.get('model') or judge.judge}",
        "settings": settings,
        "own_prompts": identity.get("own_prompts"),
        "prompts": prompts_digest(judge),
        "state": state_of(sheet.mode, judge.calls),
        "counts": [(word, count) for word, count in counts if count],
        "checks": sorted(judge.checks, key=lambda line: (_FIRST[line.outcome], line.suite)),
        "profile": profile_sketch(judge.estimates),
        "parts": [_part(part) for part in judge.parts],
        "changed": changed_between({part.suite: part.served for part in judge.parts}),
        "before": list(_before(judge, evidence)),
    }


def _part(part: Any) -> dict[str, Any]:
    return {
        "part": part,
        "pooled": [e for e in part.estimates if not e.condition],
        "conditioned": [e for e in part.estimates if e.condition],
        "state": part.recorded,
        "tables": [_table(one) for one in part.analyses if one["analysis"] not in _ONLY_DRAWN],
    }


def _table(analysis: Mapping[str, Any]) -> dict[str, Any]:
    rows = analysis["rows"]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return {
        "name": analysis["analysis"],
        "suite": analysis["suite"],
        "columns": columns,
        "rows": [[row.get(key) if key in row else "" for key in columns] for row in rows],
    }


def _compared(sheet: Datasheet) -> list[dict[str, Any]]:
    boards = leaderboards((name_of(judge), judge.analyses) for judge in sheet.judges)
    shared = (one for tables in sheet.analyses.values() for one in tables)
    return [_table(one) for one in (*boards, *shared) if one["analysis"] not in _ONLY_DRAWN]


def _before(judge: JudgeSheet, evidence: Evidence) -> Iterator[tuple[Estimate, Estimate]]:
    """Pooled estimates, then and now, where both were made."""
    name = str(judge.identity.get("name") or judge.judge)
    for part in judge.parts:
        before = evidence.before.get((name, part.suite))
        then = {e.measure: e for e in before.estimates if not e.condition} if before else {}
        for now in part.estimates:
            if not now.condition and now.measure in then:
                yield then[now.measure], now


class _Texts(dict[str, int]):
    """Each text once, numbered as they come."""

    def number(self, text: str | None) -> int:
        return -1 if text is None else self.setdefault(text, len(self))


def _packed(evidence: Evidence) -> tuple[str, int | None]:
    """The evidence for the page, and at how many characters replies were cut, if they were."""
    for most in (None, *_CUT):
        text = json.dumps(_columns(evidence, most), separators=(",", ":"))
        packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
        if len(packed) <= _MOST_EVIDENCE:
            break
    return packed, most


def _columns(evidence: Evidence, most: int | None) -> dict[str, Any]:
    words, replies, lines, prompts = _Texts(), _Texts(), _Texts(), _Texts()
    pieces: list[list[int]] = []
    rows: list[list[int]] = []
    flips: list[tuple[int, int, str]] = []

    def reply_of(judgment: Judgment) -> int:
        return replies.number(judgment.reply and judgment.reply[:most])

    for cell in evidence.cells:
        asked = evidence.prompts.get((cell.judge, cell.suite), {})
        before = evidence.before.get((cell.judge, cell.suite))
        places = {}
        for judgment in cell.judgments:
            trial = judgment.trial
            places[trial.id] = len(rows)
            prompt = asked.get(trial.id)
            if prompt is not None and prompt not in prompts:
                pieces.append([lines.number(line) for line in prompt.split("\n")])
            then = before.judgments.get(trial.id) if before else None
            rows.append(
                [
                    *map(words.number, (cell.judge, cell.suite, trial.item, trial.template)),
                    words.number(trial.order if cell.design.pairwise else ""),
                    trial.replicate,
                    words.number(", ".join(f"{k} {v}" for k, v in trial.condition.items())),
                    *_said(judgment, words),
                    words.number(judgment.chosen),
                    words.number(trial.label),
                    -1 if judgment.correct is None else int(judgment.correct),
                    reply_of(judgment),
                    prompts.number(prompt),
                    words.number(trial.id),
                    *(_said(then, words) if then else (-1, -1)),
                    reply_of(then) if then else -1,
                    int(differs(then, judgment)) if then else -1,
                ]
            )
        flips += [(places[a.trial.id], places[b.trial.id], kind) for a, b, kind in _flips(cell)]
    names = (
        "judge suite item template order replicate condition kind said chosen label right reply "
        "prompt trial oldKind oldSaid oldReply changed"
    ).split()
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return {
        "words": list(words),
        "replies": list(replies),
        "lines": list(lines),
        "prompts": pieces,
        "rows": {name: list(column) for name, column in zip(names, columns, strict=True)},
        "flips": flips,
    }


def _said(judgment: Judgment, words: _Texts) -> tuple[int, int]:
    """Kind (0 verdict, 1 unparsed, 2 failed) and the number of what was said."""
    outcome = judgment.outcome
    if isinstance(outcome, Unparsed | Failed):
        return 1 + isinstance(outcome, Failed), words.number(outcome.reason)
    return 0, words.number(outcome.value)


def _flips(cell: Cell) -> Iterator[tuple[Judgment, Judgment, str]]:
    """Judgments of one question that contradict one another, and what differs between them."""
    if cell.design.kind == "paraphrase":
        for a, b in paraphrase_pairs(cell):
            one, other = meaning(cell, a), meaning(cell, b)
            if one is not None and other is not None and one != other:
                yield a, b, "wording"
    if cell.design.pairwise:
        for a, b in cell.both_orders(cell.judgments):
            if a.chosen is not None and b.chosen is not None and a.chosen != b.chosen:
                yield a, b, "order"
    yield from ((a, b, "replicate") for a, b in _repeated(cell.judgments))


def _repeated(judgments: Sequence[Judgment]) -> Iterable[tuple[Judgment, Judgment]]:
    """Replicates, each with the first one of its question, where their verdicts differ."""
    first: dict[tuple[Any, ...], Judgment] = {}
    for judgment in judgments:
        trial = judgment.trial
        condition = tuple(sorted(trial.condition.items()))
        if judgment.verdict is not None:
            known = first.setdefault((trial.item, trial.template, trial.order, condition), judgment)
            if known.verdict != judgment.verdict:
                yield known, judgment
