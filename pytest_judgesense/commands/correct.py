"""``judgesense correct``: from a judge's verdicts to the rates that people would give.

With labels of people that chance drew from these verdicts the rates are corrected by them. Without,
they follow from the recalls that a datasheet keeps (its ``calibration``), and only if the judge is
the one that was calibrated: the model that answered, the prompt, the settings and the form of the
reply. Of a recording that is told from what was sent. A log does not hold it: who knows it states
it, by ``--same``, and the output says that it is stated. Whatever differs is refused.

Nor do recalls hold of outputs that are harder to judge. Where both sides have confidences, the
answers are tested: if they are no mix of those on calibrated outputs, the rates are *extrapolated*
and gate nothing, exit code 1. Where they have none, each rate says that it cannot be tested.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_judgesense.cassettes.exchange import models_of
from pytest_judgesense.checks.shared_request import (
    SharedRequest,
    different_settings,
    request_shared,
    shared_from,
)
from pytest_judgesense.commands.drawn_labels import (
    CalibrationFit,
    CorrectedRow,
    DrawnLabels,
    by_system,
    labels_of_cell,
    labels_of_file,
    rows_by_labels,
    uncounted_words,
    verdict_words,
)
from pytest_judgesense.commands.options import (
    BAR_FAILED,
    FILE,
    MANY,
    add_cassettes,
    number,
    place_of,
    registry_of,
    show,
)
from pytest_judgesense.commands.report import datasheet_object
from pytest_judgesense.datasheets.datasheet import SuiteSheet
from pytest_judgesense.earlier.past import measured_now
from pytest_judgesense.errors import LogError, UsageError, listed
from pytest_judgesense.estimate import Clustered
from pytest_judgesense.files.output import write_text
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.measures.calibration import Calibration, answer_of, confidence_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.label_errors import label_error_row, label_error_words
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.datasheet_file import datasheet_from
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.stats.comparison import holm
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.prediction_powered import FEWEST_LABELS
from pytest_judgesense.stats.rogan_gladen import CalibratedShare
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.people import skipped_words
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.text.layout import headed
from pytest_judgesense.trial import ABSTAIN, TIE, Failed, Judgment

_LOG: Final = ".jsonl"
# What makes a judge the one that was calibrated.
_PARTS: Final = ("model", "prompt", "settings", "form")
_NAMES: Final = {"model": "model served", "form": "reply form"}
_HEAD: Final = ("system", "label", "raw", "corrected", "95% interval", "n")
_FIT_CELLS: Final = {
    "fits": "fits",
    "extrapolated": "EXTRAPOLATED",
    "cannot be tested": "cannot be tested",
}
_LABELS: Final = ("system", "label", "labels", "labels alone")


class _Verdicts(NamedTuple):
    """The verdicts of one judge, and who it was as far as that is recorded.

    Attributes:
        served: the models that answered; empty if not known.
        sent: what its requests share; ``None`` if not known.
        items: what was judged; empty if not known.
    """

    cell: Cell
    served: tuple[str, ...] = ()
    sent: SharedRequest | None = None
    notices: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()


class _Calibrated(NamedTuple):
    """The calibration of a judge in a datasheet, with its part of it."""

    judge: str
    part: SuiteSheet
    errors: Calibration
    sent: SharedRequest | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verdicts, and what corrects them."""
    help_text = "a suite file, or a folder of them, whose recording is read; or a judgment log "
    help_text += "(.jsonl), as judgesense import writes it"
    parser.add_argument("verdicts", metavar="VERDICTS", help=help_text)
    help_text = "the datasheet (.json) of the judge on items with labels of people"
    parser.add_argument("--calibration", metavar="SHEET", type=Path, help=help_text)
    help_text = "the suite that calibrated it, where the datasheet has several"
    parser.add_argument("--calibration-suite", metavar="NAME", help=help_text)
    help_text = "labels of people for some of these verdicts: a CSV file with columns item, label"
    parser.add_argument("--labels", help=help_text, **FILE)
    help_text = "how these were drawn, where the file does not say it"
    parser.add_argument("--drawn", choices=["random", "stratified"], help=help_text)
    help_text = f"state that these are as calibrated, where it is not recorded: {','.join(_PARTS)}"
    parser.add_argument("--same", type=_parts, default=(), metavar="PARTS", help=help_text)
    help_text = "refuse a calibration that was recorded longer ago"
    days = number("number of days", float)
    parser.add_argument("--judge-max-age", type=days, metavar="DAYS", help=help_text)
    parser.add_argument("--judge-name", metavar="NAME", help="only this judge; repeatable", **MANY)
    add_cassettes(parser)
    parser.add_argument("-o", "--output", help="write the rates as JSON", **FILE)


def _parts(text: str) -> tuple[str, ...]:
    parts = tuple(part.strip() for part in text.split(","))
    if wrong := [part for part in parts if part not in _PARTS]:
        raise argparse.ArgumentTypeError(f"{wrong[0]!r} is none of {', '.join(_PARTS)}")
    return parts


def run(options: argparse.Namespace) -> int:
    """Print the corrected rates; 1 if something is refused or extrapolated."""
    if options.calibration is None and options.labels is None:
        raise UsageError(
            "there is nothing to correct by",
            found="neither --calibration nor --labels",
            expected="--calibration SHEET, a datasheet of the judge on items with labels of "
            "people; or --labels FILE, labels of some of these verdicts",
        )
    verdicts = _wanted(options, [*_verdicts(options, registry_of(options))])
    entries: list[dict[str, Any]] = []
    refused = False
    for of_judge in verdicts:
        file, drawn = options.labels, options.drawn
        labels = None if file is None else labels_of_file(file, drawn, of_judge.items)
        entry = _corrected(options, of_judge, labels, alone=len(verdicts) == 1)
        entries.append(_plain(of_judge, entry))
        refused |= bool(entry.refusals) or not all(map(_may_gate, entry.rows))
        show([*_lines(of_judge, entry), ""])
    if options.output is not None:
        write_text(options.output, json.dumps(entries, indent=1, ensure_ascii=False) + "\n")
        show([f"written: {options.output}"])
    return BAR_FAILED if refused else 0


def _may_gate(row: CorrectedRow) -> bool:
    return not row.refused and (row.fit is None or row.fit.answer != "extrapolated")


# --- verdicts -------------------------------------------------------------------------------------


def _verdicts(options: argparse.Namespace, registry: Registry) -> Iterator[_Verdicts]:
    """The verdicts of a log, or of the recordings of suites."""
    path = Path(options.verdicts)
    if path.suffix == _LOG:
        yield from map(_Verdicts, cells_of_logs([path], 0, registry, replies=False))
        return
    cassettes = Path.cwd() / options.judge_cassettes
    for judge, suite in place_of(options).recorded(options.verdicts):
        paths = cassettes_in(cassettes, judge.slug, suite.recordings).values()
        measured, recorded = measured_now(judge, suite, paths, 0, registry)
        cell = measured.side.cell
        if cell is None or not cell.judgments:
            continue
        trials = [judgment.trial for judgment in cell.judgments]
        own_suite = suite_for_judge(suite, judge)
        exchanges = [exchange for trial in trials for exchange in recorded[trial.id]]
        models = models_of(exchanges).values()
        left_out = len(plan_trials(own_suite)) - len(trials)
        left_out_words = [f"{left_out} trials of {suite.name} are not recorded"] * bool(left_out)
        yield _Verdicts(
            cell,
            tuple(sorted({model for counts in models for model in counts})),
            request_shared(judge, own_suite, trials, recorded),
            (*left_out_words, *uncounted_words(suite.uncounted)),
            suite.items,
        )


def _wanted(options: argparse.Namespace, verdicts: Sequence[_Verdicts]) -> list[_Verdicts]:
    names = options.judge_name
    wanted = [of for of in verdicts if not names or of.cell.judge in names]
    unknown = {*names} - {of.cell.judge for of in verdicts}
    if not wanted or unknown:
        raise UsageError(
            "there are no such verdicts",
            found=listed(f"{of.cell.judge} on {of.cell.suite}" for of in verdicts) or "none",
            expected=listed(names) or "verdicts of a judge",
            remedy="name a judgment log, or a suite that is recorded in --judge-cassettes",
        )
    return wanted


# --- the judge that was calibrated ----------------------------------------------------------------


def _calibrated(options: argparse.Namespace, cell: Cell, *, alone: bool) -> _Calibrated:
    """The calibration of the judge of a cell; by its name, or where there is one judge in both."""
    path: Path = options.calibration
    value = datasheet_object(path)
    try:
        every = [
            _Calibrated(judge.name, part, Calibration.of_plain(of), shared_from(of["sent"]))
            for judge in datasheet_from(value).judges
            for part in judge.parts
            if (of := part.calibration) is not None
        ]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise LogError(
            f"{path} is not a datasheet that can be read",
            found=f"{type(error).__name__}: {error}",
            expected="what --judge-datasheet wrote",
            remedy="write it again",
        ) from error
    of_judge = [entry for entry in every if entry.judge == cell.judge]
    if not of_judge and alone and len({entry.judge for entry in every}) == 1:
        of_judge = every
    wanted = options.calibration_suite
    of_suite = [entry for entry in of_judge if wanted in (None, entry.part.suite)]
    if len(of_suite) != 1:
        several = ", ".join(f"{entry.judge} on {entry.part.suite}" for entry in every)
        raise UsageError(
            f"{path} has {'several calibrations' if of_suite else 'no calibration'} of judge "
            f"{cell.judge}" + (f" on {wanted}" if wanted else ""),
            found=several or "no suite with labels of people",
            expected="one",
            remedy="name its suite: --calibration-suite NAME"
            if of_suite
            else "label items of a suite (judgesense label), and write its datasheet again",
        )
    return of_suite[0]


def _identities(
    verdicts: _Verdicts, calibrated: _Calibrated
) -> dict[str, tuple[object, object] | None]:
    """What was calibrated and what is there, by part; ``None`` where one of them is not known."""
    pairs: dict[str, tuple[object, object] | None] = dict.fromkeys(_PARTS)
    if calibrated.part.served and verdicts.served:
        pairs["model"] = calibrated.part.served, verdicts.served
    if (old := calibrated.sent) is not None and (new := verdicts.sent) is not None:
        pairs["prompt"] = old.prompt, new.prompt
        pairs["settings"] = dict(old.settings), dict(new.settings)
        pairs["form"] = old.form, new.form
    return pairs


def _refusals(
    options: argparse.Namespace, verdicts: _Verdicts, calibrated: _Calibrated
) -> Iterator[str]:
    """What is not as it was calibrated.

    Raises:
        UsageError: something is not recorded, and nobody states it.
    """
    pairs = _identities(verdicts, calibrated)
    unknown = [part for part, pair in pairs.items() if pair is None and part not in options.same]
    if unknown:
        raise UsageError(
            f"nothing says that judge {verdicts.cell.judge} is the one that was calibrated",
            found=f"not recorded: {listed(_NAMES.get(part, part) for part in unknown)}",
            expected="the suite file of these verdicts, whose recording says what was sent",
            remedy=f"or state what you know to be the same: --same {','.join(unknown)}",
        )
    for part, pair in pairs.items():
        if pair is not None and pair[0] != pair[1]:
            yield f"{_NAMES.get(part, part)}: {_difference(*pair)}"
    errors, design = calibrated.errors, verdicts.cell.design
    words = verdict_words(verdicts.cell)
    if errors.pairwise != design.pairwise or words - {*errors.classes, TIE, ABSTAIN}:
        yield (
            f"reply form: verdicts {', '.join(sorted(words))}, "
            f"calibrated {', '.join(errors.classes)}"
        )
    orders = {judgment.trial.order for judgment in verdicts.cell.judgments}
    if errors.pairwise and orders != {*errors.orders}:
        yield f"presentation orders: {', '.join(errors.orders)} -> {', '.join(sorted(orders))}"
    yield from _too_old(options.judge_max_age, calibrated.part.recorded)


def _difference(old: object, new: object) -> str:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return "; ".join(different_settings(old, new))
    return " -> ".join(
        ", ".join(side) if isinstance(side, tuple) else str(side) for side in (old, new)
    )


# Clocks of two machines may differ, and so may what they take for UTC.
_MOST_DAYS_AHEAD: Final = 1.0


def _too_old(limit: float | None, recorded: tuple[str, str] | None) -> Iterator[str]:
    if limit is None:
        return
    if recorded is None:
        yield f"age: when it was calibrated is not recorded, --judge-max-age {limit:g} is passed"
    elif (ahead := -_days_since(recorded[1])) > _MOST_DAYS_AHEAD:
        yield f"age: calibrated {ahead:.1f} days in the future: nothing says how old it is"
    elif (age := _days_since(recorded[0])) > limit:
        yield f"age: calibrated {age:.1f} days ago, --judge-max-age {limit:g} is passed"


def _days_since(moment: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(moment)) / timedelta(days=1)


# --- rates ----------------------------------------------------------------------------------------


class _Correction(NamedTuple):
    """The corrected rates of a judge, or why they are refused; ``by``: in words."""

    by: tuple[str, ...]
    rows: tuple[CorrectedRow, ...] = ()
    refusals: tuple[str, ...] = ()


def _corrected(
    options: argparse.Namespace, verdicts: _Verdicts, labels: DrawnLabels | None, *, alone: bool
) -> _Correction:
    cell = verdicts.cell
    if cell.design.criteria:
        raise UsageError(
            f"{cell.suite} grades several criteria, and shares of single labels are corrected here",
            expected="verdicts of one label each",
            remedy="label some of its items: its own datasheet has their corrected rates",
        )
    if labels is None:
        labels = labels_of_cell(cell)
        too_few = labels is not None and len(labels.of_item) < FEWEST_LABELS
        labels = None if too_few and options.calibration is not None else labels
    if labels is not None:
        count = f"{len(labels.of_item)} items with labels that were drawn from these verdicts"
        by = [f"corrected by {count} ({labels.drawn}; PPI++)", *labels.remarks]
        if labels.skipped:
            by.append(skipped_words(len(labels.skipped)))
        if options.calibration is not None:
            by.append("the calibration is not used: labels of the verdicts themselves say more")
        return _Correction((*by,), (*rows_by_labels(cell, labels),))
    calibrated = _calibrated(options, cell, alone=alone)
    by = [*_calibrated_words(options, verdicts, calibrated)]
    if refusals := (*_refusals(options, verdicts, calibrated),):
        return _Correction((*by,), refusals=refusals)
    return _Correction((*by,), (*_rows_by_recalls(cell, calibrated.errors),))


def _calibrated_words(
    options: argparse.Namespace, verdicts: _Verdicts, calibrated: _Calibrated
) -> Iterator[str]:
    errors, recorded = calibrated.errors, calibrated.part.recorded
    when = f"recorded {recorded[0][:10]} to {recorded[1][:10]}" if recorded else "of no known date"
    yield (
        f"calibrated on {calibrated.part.suite}: {errors.calls} calls with labels in "
        f"{errors.clusters} clusters, {when}"
    )
    pairs = _identities(verdicts, calibrated)
    recorded_parts = [part for part in _PARTS if pairs[part] is not None]
    stated = [part for part in options.same if pairs[part] is None]
    if recorded_parts:
        yield f"compared with what was sent: {_listed(recorded_parts)}"
    if stated:
        yield f"stated to be the same, not compared: {_listed(stated)}"
    if needless := [part for part in options.same if pairs[part] is not None]:
        yield f"--same is not needed for what is recorded: {_listed(needless)}"


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(_NAMES.get(part, part) for part in parts)


def _rows_by_recalls(cell: Cell, errors: Calibration) -> Iterator[CorrectedRow]:
    calls = [[judgment] for judgment in cell.judgments if not isinstance(judgment.outcome, Failed)]
    systems = by_system({str(place): call for place, call in enumerate(calls)})
    parts = {name: _Answers.of(of_system) for name, of_system in systems.items()}
    shares = {
        name: errors.corrected(answers.verdicts, answers.clusters)
        for name, answers in parts.items()
    }
    given = [name for name in parts if not isinstance(shares[name], NotEstimable)]
    fits = _fits({name: parts[name] for name in given}, errors, cell.seed)
    for name, answers in parts.items():
        yield from _rows_of_system(name, answers.verdicts, errors, shares[name], fits.get(name))


class _Answers(NamedTuple):
    """The answers on the outputs of a system, call by call."""

    verdicts: list[str | None]
    confidences: list[float | None]
    clusters: list[str]

    @classmethod
    def of(cls, calls: Sequence[Sequence[Judgment]]) -> _Answers:
        judgments = [judgment for (judgment,) in calls]
        return cls(
            [*map(answer_of, judgments)],
            [*map(confidence_of, judgments)],
            [judgment.trial.cluster for judgment in judgments],
        )


def _fits(
    parts: Mapping[str, _Answers], errors: Calibration, seed: int
) -> dict[str, CalibrationFit]:
    """Of each system, whether its outputs are like the calibrated ones; by Holm."""
    tests = {name: errors.fit(*answers, seed) for name, answers in parts.items()}
    tested = {name: test for name, test in tests.items() if not isinstance(test, NotEstimable)}
    adjusted = holm([test.p_value for test in tested.values()])
    fits = {
        name: CalibrationFit(p_value=by_holm.p, test=test)
        for (name, test), by_holm in zip(tested.items(), adjusted, strict=True)
    }
    untested = {
        name: CalibrationFit(untested=test.reason)
        for name, test in tests.items()
        if isinstance(test, NotEstimable)
    }
    return fits | untested


def _rows_of_system(
    system: str,
    answers: Sequence[str | None],
    errors: Calibration,
    shares: Mapping[str, CalibratedShare] | NotEstimable,
    fit: CalibrationFit | None,
) -> Iterator[CorrectedRow]:
    counts = len(answers), answers.count(None)
    if isinstance(shares, NotEstimable):
        label = errors.classes[0]
        raw = answers.count(label) / len(answers) if answers else None
        yield CorrectedRow(system, label, raw, *counts, refused=shares.reason)
        return
    for label, share in shares.items():
        ends = share.estimate, share.interval
        yield CorrectedRow(system, label, share.judge_rate, *counts, *ends, fit=fit)


# --- output ---------------------------------------------------------------------------------------


def _lines(verdicts: _Verdicts, correction: _Correction) -> Iterator[str]:
    cell = verdicts.cell
    yield f"judge {cell.judge}, {cell.suite}"
    # A file of labels may be that of the suite itself, of which the same is to be said.
    for text in dict.fromkeys((*correction.by, *verdicts.notices)):
        yield from headed("", [text])
    for refusal in correction.refusals:
        yield from headed("", [f"REFUSED, not the judge that was calibrated: {refusal}"])
    if not correction.rows:
        return
    by_labels = any(row.labels is not None for row in correction.rows)
    by_recalls = any(row.fit is not None for row in correction.rows)
    head = (*_HEAD, "carries over" if by_recalls else "")
    yield from _table([head, *map(_cells, correction.rows)])
    if by_labels:  # below, for both together are wider than a terminal
        yield from _table([_LABELS, *map(_label_cells, correction.rows)])
    yield from _of_people(correction.rows)
    for row in correction.rows:
        if row.refused:
            whose = f"REFUSED of {row.system}" if row.system else "REFUSED"
            yield from headed("", [f"{whose}: {row.refused}"])
    for text in dict.fromkeys(_fit_words(row) for row in correction.rows if row.fit is not None):
        yield from headed("", [text])
    if missing := correction.rows[0].missing:
        yield f"    {missing} replies without a verdict"


def _of_people(rows: Sequence[CorrectedRow]) -> Iterator[str]:
    """What errors of people do to the shares; what several rows share is said once."""
    sentences: dict[str, None] = {}
    for row in rows:
        if (result := row.without_errors) is None:
            continue
        is_of_row = len(rows) > 1 and not isinstance(result, NotEstimable)
        whose = f"people, {row.system or 'all'}, {row.label}" if is_of_row else "people"
        sentences[f"{whose}: {label_error_words(result)}"] = None
    for sentence in sentences:
        yield from headed("", [sentence])


def _table(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield f"    {'  '.join(padded)}".rstrip()


def _cells(row: CorrectedRow) -> tuple[str, ...]:
    share = "refused" if row.estimate is None else f"{row.estimate:.3f}"
    raw = "N/A" if row.raw is None else f"{row.raw:.3f}"
    fit = "" if row.fit is None else _FIT_CELLS[row.fit.answer]
    return row.system or "all", row.label, raw, share, _ends(row.interval), str(row.n), fit


def _fit_words(row: CorrectedRow) -> str:
    """What is said of a rate by a calibration: whether the outputs are like the calibrated ones."""
    assert row.fit is not None, "only a rate by a calibration carries over"
    whose = f" ({row.system})" if row.system else ""
    if (test := row.fit.test) is None:
        return (
            f"CANNOT BE TESTED{whose} whether these outputs are as hard to judge as the calibrated "
            f"ones: {row.fit.untested}. On harder ones the interval misses the rate more often: "
            "record both with logprobs = true, or label some of these"
        )
    shown = f"chi-square {test.chi_square:.1f} of {test.kinds} kinds of answers"
    shown += f", p {row.fit.p_value:.3f}"
    if row.fit.answer == "fits":
        return (
            f"verdicts and confidences{whose} fit a mix of the calibrated labels ({shown}): not "
            "noticeably harder to judge"
        )
    return (
        f"EXTRAPOLATED{whose}: verdicts and confidences fit no mix of the calibrated labels "
        f"({shown}). These outputs are harder, easier or of another kind, and the rate gates "
        "nothing: label some of them, and name the file by --labels"
    )


def _label_cells(row: CorrectedRow) -> tuple[str, ...]:
    about = row.system or "all", row.label
    if row.labels is None or row.labels_only is None:
        return (*about, "", "")
    alone, interval = row.labels_only
    return (*about, str(row.labels), f"{alone:.3f} {_ends(interval)}")


def _ends(interval: Clustered | None) -> str:
    return "" if interval is None else f"[{interval.lower:.3f}, {interval.upper:.3f}]"


def _plain(verdicts: _Verdicts, correction: _Correction) -> dict[str, Any]:
    """What is printed, as JSON values."""
    return {
        "judge": verdicts.cell.judge,
        "suite": verdicts.cell.suite,
        "corrected_by": list(correction.by),
        "refused": list(correction.refusals),
        "rates": [_plain_row(row) for row in correction.rows],
    }


def _plain_row(row: CorrectedRow) -> dict[str, Any]:
    interval = row.interval
    ends = interval and {
        name: getattr(interval, name) for name in ("method", "lower", "upper", "level", "clusters")
    }
    return {
        "system": row.system or None,
        "label": row.label,
        "raw": row.raw,
        "value": row.estimate,
        "interval": ends,
        "n": row.n,
        "missing": row.missing,
        "labels": row.labels,
        "carries_over": None if row.fit is None else _plain_fit(row.fit),
        "unavailable": row.refused or None,
        **(label_error_row(row.without_errors) if row.without_errors is not None else {}),
    }


def _plain_fit(fit: CalibrationFit) -> dict[str, Any]:
    if fit.test is None:
        return {"answer": fit.answer, "reason": fit.untested}
    own = fit.test._asdict()
    return {"answer": fit.answer, "p_value": fit.p_value, "own_p_value": own.pop("p_value"), **own}
