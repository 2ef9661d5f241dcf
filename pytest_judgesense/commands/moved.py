"""``judgesense moved THEN NOW --anchors SUITE``: scores fell; did the judge move, or the outputs?

THEN and NOW are two sessions, in which a judge judged outputs that differ: judgment logs, or suites
with their recordings. Anchors are a suite of frozen outputs, such as ``judgesense init --from-log
THEN`` makes. What the judge said of them is taken from a session that holds it, and told there by
the texts that were judged; in the log of a session of pytest, which holds no texts, by suite and
item. Where a session does not hold it, the anchors are asked beside it: recorded under a name with
a digest of the session, so that each one has its own answers, and a command that is run again asks
nothing.

Outputs are told from what was asked within strata that both sessions have: those of a column that
the user names, or questions, which are all texts that the judge was shown but the outputs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from pytest_judgesense.cassettes.opening import Mode
from pytest_judgesense.checks.attribution import (
    ByItem,
    Move,
    Movement,
    Scoring,
    Within,
    attributed,
    refuse_few,
)
from pytest_judgesense.checks.within_strata import Strata
from pytest_judgesense.commands.live_calls import add_terms, terms_of
from pytest_judgesense.commands.options import (
    BAR_FAILED,
    FILE,
    MANY,
    add_judge,
    number,
    place_of,
    registry_of,
    show,
)
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.foreign_results import messages_of, slug
from pytest_judgesense.files.output import write_text
from pytest_judgesense.files.synonyms import candidates_among, column_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.pricing import call_plan
from pytest_judgesense.questions.terms import measured
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.stats.betting import ALARM
from pytest_judgesense.suites.item import Item, item_id
from pytest_judgesense.suites.schema import STRATUM
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented
from pytest_judgesense.trial import Failed, Judgment, Unparsed

# The texts of an output, in alphabetical order.
_Texts: TypeAlias = tuple[str, ...]

_LOG: Final = ".jsonl"
_REPLICATES: Final = 3
_LONGEST_STEM: Final = 30
# Of the outputs of the session that has fewer: questions that both happen to share decide only if
# they are so many. All outputs say more than a few of them.
_LEAST_SHARED: Final = 0.5
# The part of a judgment's detail that holds the columns of its item, of a suite that was asked.
_COLUMNS: Final = "columns"
_HEAD: Final = ("", "then", "now", "change", "interval", "loss", "gain", "called after")


@dataclass(frozen=True, slots=True)
class _Session:
    """What a judge said in a session.

    Attributes:
        where: the log or suite, as it was named; several of a reference are joined.
        digest: of its content.
        judge: whose verdicts they are.
        fresh: the cells of outputs that are no anchors.
        anchors: the judgments of anchors, by item; empty where it holds none.
        beside: the judge that was asked about them beside it; empty for none.
    """

    where: str
    digest: str
    judge: str
    fresh: tuple[Cell, ...]
    anchors: ByItem
    beside: str = ""

    @property
    def judgments(self) -> Iterator[Judgment]:
        """Of fresh outputs; those of several suites are told apart by their clusters."""
        several = len({cell.suite for cell in self.fresh}) > 1
        for cell in self.fresh:
            for judgment in cell.judgments:
                trial = judgment.trial
                if several:
                    trial = replace(trial, cluster=f"{cell.suite}/{trial.cluster}")
                yield replace(judgment, trial=trial)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the logs, the anchors, the judge, the limits and the file."""
    text = (
        "sessions, the reference first, the last one is now: judgment logs (.jsonl), or suites of "
    )
    text += "outputs with their recordings. One alone: record the anchors beside it, for later"
    parser.add_argument("sessions", nargs="+", metavar="SESSION", help=text)
    text = "the suite of frozen outputs: its name, NAME@PRESET, or its file"
    parser.add_argument("--anchors", dest="judge_suite", required=True, metavar="SUITE", help=text)
    text = "a suite in the logs that holds fresh outputs (default: all but the anchors); repeatable"
    parser.add_argument("--suite", metavar="NAME", help=text, **MANY)
    text = "the labels that pass, where answers are neither a scale nor a pair"
    parser.add_argument("--passes", type=_labels, default=(), metavar="LABEL,...", help=text)
    text = "a column of the outputs (a text that is shown, or a condition): they are compared "
    text += "within its values, such as kinds of questions (default: questions that both share)"
    parser.add_argument("--strata", metavar="COLUMN", help=text)
    text = f"how often each anchor is asked (default: {_REPLICATES})"
    often = number("number of replicates", int, least=1)
    parser.add_argument("--replicates", type=often, default=_REPLICATES, metavar="N", help=text)
    add_judge(parser)
    add_terms(parser)
    parser.add_argument("-o", "--output", help="write the result as JSON", **FILE)


def _labels(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def run(options: argparse.Namespace) -> int:
    """Print what moved; 1 if something got worse."""
    anchors = place_of(options).suite(options.judge_suite, labelled=False)
    names = options.sessions
    if len(names) == 1:
        return _first_session(names[0], anchors, options)
    _refuse_twice(names)
    earlier = [_session(name, anchors, options, "replay") for name in names[:-1]]
    if not any(session.anchors for session in earlier):  # else the others give fresh outputs alone
        earlier = [_beside(session, anchors, options, "replay") for session in earlier]
    reference = _joined(earlier)
    anchors = _as_then(anchors, reference)
    if options.plan:
        return show(_plan_lines(names[-1], anchors, options))
    now = _session(names[-1], anchors, options, options.judge_mode)
    # Before anything of the anchors is asked.
    designs = {cell.suite: cell.design for cell in (*reference.fresh, *now.fresh)}
    scoring = Scoring.of({**designs, f"{anchors.name} (anchors)": anchors.design}, options.passes)
    clusters = {item.id: item.cluster for item in anchors.items}
    before, after = ({j.trial.cluster for j in of.judgments} for of in (reference, now))
    refuse_few(len({*clusters.values()}), len(before), len(after))
    strata = _strata(options.strata, (reference, now), pairwise=scoring.pairwise)
    if not now.anchors:
        now = _beside(now, anchors, options, options.judge_mode)
    result = attributed(
        (reference.anchors, now.anchors),
        ([*reference.judgments], [*now.judgments]),
        clusters,
        {item.id: item.right for item in anchors.items if item.right is not None},
        scoring,
        options.judge_seed,
        strata,
    )
    show(_lines(result, scoring, (reference, now)))
    if options.output is not None:
        value = _plain(result, (reference, now), anchors.name, options.judge_seed)
        write_text(options.output, json.dumps(value, indent=1, ensure_ascii=False) + "\n")
        show([f"written: {options.output}"])
    return BAR_FAILED if result.worse else 0


# --- sessions -------------------------------------------------------------------------------------


def _session(name: str, anchors: Suite, options: argparse.Namespace, mode: Mode) -> _Session:
    """A log, or a suite that is replayed or recorded; anchors apart from fresh outputs."""
    if name.endswith(_LOG):
        cells = cells_of_logs([Path(name)], 0, registry_of(options), replies=False)
        judge = _judge_of(name, cells, options.judge_name)
        digest = hashlib.sha256(Path(name).read_bytes()).hexdigest()
        cells = [cell for cell in cells if cell.judge == judge]
        shown: dict[str, _Texts] = {}
        details: dict[str, dict[str, Any]] = {}
    else:
        suite = _fresh_suite(name, options)
        cells = [_verdicts_on(suite, options, mode, _command(options, options.sessions))]
        judge, digest = cells[0].judge, suite.digest
        shown = {item.id: _texts_of(item) for item in suite.items}
        details = {item.id: _detail_of(item) for item in suite.items}
    by_texts = {_texts_of(item): item.id for item in anchors.items}
    ids = {item.id for item in anchors.items}
    of_anchors: dict[str, list[Judgment]] = defaultdict(list)
    fresh = []
    for cell in cells:
        of_fresh = []
        for judgment in cell.judgments:
            own = ids if cell.suite == anchors.name else set[str]()
            item = _anchor(judgment, by_texts, own, shown)
            if item is None:
                detail = {**(judgment.detail or {}), **details.get(judgment.trial.item, {})}
                of_fresh.append(replace(judgment, detail=detail))
            else:
                of_anchors[item].append(judgment)
        if of_fresh and (not options.suite or cell.suite in options.suite):
            fresh.append(cell.of(of_fresh))
    if not fresh:
        raise UsageError(
            f"{name} holds no fresh outputs",
            found=listed(dict.fromkeys(cell.suite for cell in cells)) or "no judgment",
            expected=f"judgments of {listed(options.suite)}"
            if options.suite
            else "outputs that are no anchors, to be held against those of another session",
            remedy="name its suite too, by another --suite, or leave --suite out"
            if options.suite
            else "freeze some of its outputs only: judgesense init --from-log LOG --sample N",
        )
    return _Session(name, digest, judge, (*fresh,), of_anchors)


def _refuse_twice(names: Sequence[str]) -> None:
    if len({*map(os.path.realpath, names)}) < len(names):
        raise UsageError(
            "a session is named twice",
            found=" ".join(names),
            expected="those of the reference, and another one, of now",
        )


def _fresh_suite(name: str, options: argparse.Namespace) -> Suite:
    return next(place_of(options).suites(name, labelled=False))


def _judge_of(log: str, cells: Iterable[Cell], name: str | None) -> str:
    judges = [*dict.fromkeys(cell.judge for cell in cells)]
    if not judges:
        raise UsageError(f"{log} holds no judgment", expected="at least one line")
    if len(judges) == 1:
        return judges[0]
    if name in judges:
        return name
    raise UsageError(
        f"the judge is not known whose verdicts of {log} are meant",
        found=listed(judges),
        expected=name or "verdicts of one judge",
        remedy="name it: --judge-name NAME",
    )


def _texts_of(item: Item) -> _Texts:
    return tuple(sorted(filter(None, (*item.fields.values(), *item.contents))))


def _detail_of(item: Item) -> dict[str, Any]:
    """What was shown of an item, as logs of others hold it, and its columns."""
    shown = {
        name: text for name, text in item.fields.items() if item.taken is None or name in item.taken
    }
    return {"source": {"fields": shown}, _COLUMNS: dict(item.fields)}


def _anchor(
    judgment: Judgment,
    by_texts: Mapping[_Texts, str],
    ids: set[str],
    shown: Mapping[str, _Texts],
) -> str | None:
    """The anchor that a judgment is about.

    Args:
        judgment: of a session.
        by_texts: anchors by their texts.
        ids: the anchors' ids, if the judgment is of their own suite.
        shown: the texts of the items of a suite that was asked.
    """
    if judgment.trial.item in shown:
        return by_texts.get(shown[judgment.trial.item])
    source = (judgment.detail or {}).get("source") or {}
    fields, prompt = source.get("fields") or {}, messages_of(source.get("prompt") or []) or []
    if not fields and not prompt:
        item = item_id(judgment.trial.item)
        return item if item in ids else None
    contents = [message["content"] for message in prompt]
    system = bool(prompt) and prompt[0]["role"] == "system"
    whole = ["\n\n".join(contents), "\n\n".join(contents[system:])]
    texts = [str(text) for text in fields.values()] if isinstance(fields, dict) else []
    every = (tuple(sorted(filter(None, judged))) for judged in (texts, *([text] for text in whole)))
    return next((by_texts[judged] for judged in every if judged in by_texts), None)


def _joined(sessions: Sequence[_Session]) -> _Session:
    """Several sessions of a reference as one."""
    first, *more = sessions
    anchors: dict[str, list[Judgment]] = defaultdict(list)
    for session in sessions:
        if session.judge != first.judge:
            raise UsageError(
                "the sessions of the reference are of different judges",
                found=f"{first.judge} and {session.judge}",
                expected="one judge",
            )
        for item, judgments in session.anchors.items():
            anchors[item] += judgments
    if not more:
        return first
    fresh = tuple(cell for session in sessions for cell in session.fresh)
    where = ", ".join(session.where for session in sessions)
    return _Session(where, first.digest, first.judge, fresh, anchors)


# --- strata ---------------------------------------------------------------------------------------


def _strata(
    column: str | None, sessions: tuple[_Session, _Session], *, pairwise: bool
) -> Strata | None:
    """What tells outputs apart by what was asked; ``None`` where nothing does.

    Args:
        column: that the user names.
        sessions: the reference, and now.
        pairwise: whether two outputs are compared.

    Raises:
        UsageError: a session does not have the column, or it holds the outputs themselves.
    """
    shown = dict.fromkeys(name for of in sessions for j in of.judgments for name in _shown_of(j))
    outputs = _outputs_among(shown, pairwise=pairwise)
    if column is None:
        return _questions([name for name in shown if name not in outputs], outputs, pairwise)
    if column in outputs:
        raise UsageError(
            f"column {column!r} holds the outputs: of equal ones nothing could have moved",
            found="the texts that were judged",
            expected="a column of what was asked, such as the question or its kind",
            remedy="name that one, or leave --strata out",
        )
    for session in sessions:
        names = dict.fromkeys(name for j in session.judgments for name in _columns_of(j))
        if column not in names:
            raise UsageError(
                f"{session.where} has no column {column!r} of its outputs",
                found=listed(names) or "no text that was shown, and no condition",
                expected="a column that both sessions have",
                remedy="import the log with it: "
                f"judgesense import table FILE --map condition.{column}=COLUMN",
            )
    return Strata(column, lambda judgment: _columns_of(judgment).get(column, "").strip() or None)


def _outputs_among(shown: Collection[str], *, pairwise: bool) -> set[str]:
    """The names of the texts that were judged, as far as their names tell it."""
    output = column_of("output", shown)
    candidates = candidates_among(shown) if pairwise else None
    return {*(candidates or ()), *(() if output is None else (output,))}


def _questions(asked: Sequence[str], outputs: Collection[str], pairwise: bool) -> Strata | None:
    """The texts that were shown but for the outputs; ``None`` where these are not told apart."""
    if not asked or not (pairwise or outputs):
        return None

    def question(judgment: Judgment) -> str | None:
        shown = _shown_of(judgment)
        return json.dumps([shown.get(name) for name in asked]) if shown else None

    return Strata(", ".join(asked), question, _LEAST_SHARED)


def _shown_of(judgment: Judgment) -> dict[str, str]:
    """The texts that the judge was shown, by name, where the session holds them."""
    fields = ((judgment.detail or {}).get("source") or {}).get("fields")
    return {str(k): str(v) for k, v in fields.items()} if isinstance(fields, dict) else {}


def _columns_of(judgment: Judgment) -> dict[str, str]:
    """Whatever a session says of an output by name."""
    trial = judgment.trial
    return {
        **_shown_of(judgment),
        **(judgment.detail or {}).get(_COLUMNS, {}),
        **({STRATUM: trial.stratum} if trial.stratum else {}),
        **{name: str(value) for name, value in trial.condition.items()},
    }


# --- anchors that are asked -----------------------------------------------------------------------


def _as_then(suite: Suite, reference: _Session) -> Suite:
    """The anchors that the reference has, in the orders in which it has them."""
    orders = {j.trial.order for judgments in reference.anchors.values() for j in judgments}
    items = tuple(item for item in suite.items if item.id in reference.anchors)
    return replace(suite, items=items, orders="ab" if orders == {"ab"} else suite.orders)


def _aside(suite: Suite, session: str, digest: str, replicates: int) -> Suite:
    """The anchors as a suite that is asked beside a session, by one wording."""
    stem = slug(Path(session).name.partition(".")[0])[:_LONGEST_STEM]
    name = f"{slug(suite.base)[:_LONGEST_STEM]}-beside-{stem}-{digest.rpartition(':')[2][:8]}"
    if suite.temperatures:
        raise UsageError(
            f"suite {suite.name} cannot hold anchors",
            found=f"kind {suite.kind!r}, which compares temperatures",
            expected="a suite that asks one question about its items",
        )
    templates = suite.templates[:1] if suite.form.wordings else suite.templates
    return replace(
        suite,
        name=name,
        base=name,
        templates=tuple(replace(template, shared_with=None) for template in templates),
        items=tuple(replace(item, shared_with=None) for item in suite.items),
        replicates=replicates,
        checks=(),
    )


def _beside(session: _Session, anchors: Suite, options: argparse.Namespace, mode: Mode) -> _Session:
    """The session with the answers to the anchors beside it; those of then are only replayed."""
    suite = _aside(anchors, session.where, session.digest, options.replicates)
    if mode == "replay" and session.where != options.sessions[-1]:
        how = f"{session.where} does not hold the anchors, and today's answers are none of then. "
        how += "Freeze outputs of that session (judgesense init --from-log LOG --sample N), or "
        how += f"record them on its day: {_command(options, [session.where])}"
    else:
        how = _command(options, options.sessions)
    by_item: dict[str, list[Judgment]] = defaultdict(list)
    cell = _verdicts_on(suite, options, mode, how)
    for judgment in cell.judgments:
        by_item[judgment.trial.item].append(judgment)
    return replace(session, anchors=by_item, beside=cell.judge)


def _verdicts_on(suite: Suite, options: argparse.Namespace, mode: Mode, how: str) -> Cell:
    """The judge's verdicts on a suite; ``how`` they are recorded."""
    of_suite = [replace(suite, checks=())]
    judge, place = _judge(options), place_of(options)
    plan = call_plan("", [(suite.name, judge, suite)], place.cassettes)
    sheet = measured(
        place, terms_of(options), [judge], of_suite, f"record it: {how} ({plan.words})", mode=mode
    )
    return sheet.cells[0]


def _judge(options: argparse.Namespace) -> JudgeSpec:
    return place_of(options).judge_to_ask(options.judge_name)


def _command(options: argparse.Namespace, sessions: Sequence[str]) -> str:
    words = ["judgesense", "moved", *sessions, "--anchors", options.judge_suite]
    words += ["--judge-name", options.judge_name] if options.judge_name else []
    words += ["--passes", ",".join(options.passes)] if options.passes else []
    words += [word for name in options.suite for word in ("--suite", name)]
    words += ["--strata", options.strata] if options.strata else []
    if options.replicates != _REPLICATES:
        words += ["--replicates", str(options.replicates)]
    if options.judge_cassettes != Path("cassettes"):
        words += ["--judge-cassettes", str(options.judge_cassettes)]
    return shlex.join([*words, "--judge-mode", "record"])


def _first_session(name: str, anchors: Suite, options: argparse.Namespace) -> int:
    """Record the anchors beside the only session that is named."""
    if options.plan:
        return show(_plan_lines(name, anchors, options))
    if options.judge_mode == "replay":
        raise UsageError(
            "there is one session, and nothing to hold it against",
            found=name,
            expected="the session of the reference, and that of now",
            remedy=f"or record the anchors beside it, for later: {_command(options, [name])}",
        )
    session = _session(name, anchors, options, "record")
    if session.anchors:
        held = f"{len(session.anchors)} of {len(anchors.items)} anchors"
        return show(
            [f"{name} holds {held}: nothing is to be recorded; name the session of now too"]
        )
    session = _beside(session, anchors, options, "record")
    count = sum(map(len, session.anchors.values()))
    command = _command(options, [name, "NOW"])
    return show([f"{count} answers to the anchors are recorded beside {name}; later: {command}"])


def _plan_lines(name: str, anchors: Suite, options: argparse.Namespace) -> Iterator[str]:
    """What the session ``name`` would ask, and what that would cost."""
    suites = []
    if name.endswith(_LOG):
        session = _session(name, anchors, options, "replay")
        if session.anchors:
            yield f"no call: {name} holds the anchors"
            return
        digest = session.digest
    else:
        suites.append(_fresh_suite(name, options))
        digest = suites[0].digest
    suites.append(_aside(anchors, name, digest, options.replicates))
    judge = _judge(options)
    asked = (
        (f"{suite.name}, judge {judge.name}, {len(suite.items)} items", judge, suite)
        for suite in suites
    )
    yield from call_plan("", asked, options.judge_cassettes).lines()


# --- what is printed ------------------------------------------------------------------------------


def _lines(
    result: Movement, scoring: Scoring, sessions: tuple[_Session, _Session]
) -> Iterator[str]:
    yield from indented(_verdict(result, scoring), width=0)
    yield ""
    reference, now = sessions
    yield from indented(f"judge {now.judge}; then: {reference.where}; now: {now.where}", width=0)
    rows = [("anchors", result.anchors), ("anchors, agreement", result.agreement)]
    rows += [("fresh outputs", result.fresh)]
    if result.within is not None and result.told_from_asked:
        rows += [("fresh, within strata", result.within.scores)]
        rows += [("within less anchors", result.beyond)]
    else:
        rows += [("fresh less anchors", result.beyond)]
    cells = [_HEAD, *(_row(name, move) for name, move in rows if move is not None)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield f"  {'  '.join(padded)}".rstrip()
    yield from indented(
        f"loss, gain: the wealth of bets on them, looked at after every cluster; at {ALARM:g} one "
        "is called. Any is called falsely in at most 5%, and all intervals hold in 95%",
        width=2,
    )
    for notice in (*_notices(sessions), *_notices_of_strata(result)):
        yield from indented(f"notice: {notice}", width=0)


def _verdict(result: Movement, scoring: Scoring) -> str:
    """What moved, in one sentence."""
    judge = f"on {result.anchors.clusters} frozen anchors it {_moved(result.anchors, scoring)}"
    if result.agreement is not None:
        judge += f", and agrees with people in {_points(result.agreement)}"
    outputs = f"they {_moved(result.beyond, scoring, many=True)} beyond that"
    which = "the outputs, or what was asked,"
    if result.within is not None and result.told_from_asked:
        outputs = f"within {_strata_words(result.within)} {outputs}"
        which = "the outputs"
    return {
        "judge": f"the judge moved: {judge}; the outputs are not seen to have: {outputs}",
        "system": f"{which} moved; the judge is not seen to have: {judge}; of the outputs, "
        f"{outputs}",
        "both": f"the judge moved, and so did {which.rstrip(',')}: {judge}; of the outputs, "
        f"{outputs}",
        "none": f"neither is seen to have moved: {judge}; of the outputs, {outputs}",
    }[result.verdict]


def _strata_words(within: Within) -> str:
    """``2 strata of kind``."""
    count = within.pairs.strata
    return f"{count} strat{'um' if count == 1 else 'a'} of {within.column}"


def _moved(move: Move, scoring: Scoring, *, many: bool = False) -> str:
    points = _points(move)
    if scoring.pairwise:
        return f"have content 1 win in {points}" if many else f"lets content 1 win in {points}"
    verb = "pass" if scoring.passes else "score"
    if many:
        return f"{verb} {points}"
    return f"{verb}{'es' if scoring.passes else 's'} {points}"


def _points(move: Move) -> str:
    """``15 points less [9, 21]``: of 100, with the interval as the sentence counts."""
    points = round(100 * move.change)
    sign = -1 if points < 0 else 1
    text = f"{abs(points)} point{'s' * (abs(points) != 1)} {'less' if sign < 0 else 'more'}"
    if move.bets is None:
        return text
    low, high = sorted(100 * sign * end for end in (move.bets.lower, move.bets.upper))
    return f"{text} [{round(low)}, {round(high)}]"


def _row(name: str, move: Move) -> tuple[str, ...]:
    sides = ("" if value is None else f"{value:.3f}" for value in (move.then, move.now))
    change = f"{round(move.change, 3) + 0.0:+.3f}"
    bets = move.bets
    if bets is None:
        return (name, *sides, change, "", "", "", "")
    called = [
        f"{word} {place} of {bets.steps}"
        for word, place in (("loss", bets.lost_at), ("gain", bets.gained_at))
        if place is not None
    ]
    wealths = (f"{wealth:.3g}" for wealth in (bets.loss, bets.gain))
    ends = f"[{bets.lower:+.3f}, {bets.upper:+.3f}]"
    return (name, *sides, change, ends, *wealths, ", ".join(called) or f"none of {bets.steps}")


def _notices(sessions: tuple[_Session, _Session]) -> Iterator[str]:
    """Judges that are not the same, and replies without a verdict, which have no score."""
    reference, now = sessions
    if reference.judge != now.judge:
        yield f"the verdicts of then are those of {reference.judge}"
    for word, session in zip(("then", "now"), sessions, strict=True):
        if session.beside not in ("", now.judge):
            yield f"anchors, {word}: the judge that was asked is {session.beside}"
        anchors = [judgment for of in session.anchors.values() for judgment in of]
        for what, judgments in (("anchors", anchors), ("fresh outputs", [*session.judgments])):
            missing = sum(isinstance(j.outcome, Unparsed | Failed) for j in judgments)
            if missing:
                yield f"{what}, {word}: {missing} of {len(judgments)} replies state no verdict"


def _notices_of_strata(result: Movement) -> Iterator[str]:
    """Why outputs are not told from what was asked; outputs that no stratum compares."""
    within = result.within
    if within is None:
        if result.system:
            yield (
                "what was asked is not known: with a column of it (--strata COLUMN: the question, "
                "or its kind), outputs are compared within it"
            )
        return
    if not within.decides:
        yield (
            f"too few pairs within strata of {within.column} to tell the outputs from what was "
            f"asked: {len(within.pairs.then)}, and {within.needed} are needed"
        )
        return
    for word, alone, count in zip(
        ("then", "now"), within.pairs.alone, within.pairs.clusters, strict=True
    ):
        if alone:
            yield (
                f"fresh outputs, {word}: {alone} of {count} clusters have no counterpart in "
                f"{within.column}, and say nothing of the outputs"
            )


def _plain(
    result: Movement, sessions: tuple[_Session, _Session], anchors: str, seed: int
) -> dict[str, Any]:
    """What is printed, as JSON values."""
    reference, now = sessions
    agreement = result.agreement
    return {
        "verdict": result.verdict,
        "worse": result.worse,
        "judge": now.judge,
        "then": reference.where,
        "now": now.where,
        "suite": anchors,
        "seed": seed,
        "alarm": ALARM,
        "anchors": result.anchors.plain,
        "agreement": None if agreement is None else agreement.plain,
        "fresh": result.fresh.plain,
        "within": None if result.within is None else result.within.plain,
        "beyond_anchors": result.beyond.plain,
        "missing": [*_notices(sessions)],
    }
