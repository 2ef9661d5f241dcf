"""The datasheet as a frozen value, merged from parts in any order.

A part (`SuiteSheet`) is one judge on one suite. Parts may come from several processes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, Final, Literal, TypeAlias

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.trial import Failed, Judgment, RequestCount, Usage, grouped

# Settings besides prompts and temperature that limit what a judge can reply.
_BUDGETS: Final = ("max_tokens", "reasoning")
_UNKNOWN_BUDGETS: Final = (None, "callable", "log", "jury")
# For each judge its suites, with the budget that was sent on each.
Budgets: TypeAlias = Iterable[Mapping[str, int | None]]


@dataclass(frozen=True, slots=True)
class Calls:
    """Numbers of trials that were called or replayed, and their tokens.

    Attributes:
        made: trials that were called in this session.
        sent: requests sent for them, as the limits of the session count them; ``None`` for none.
        timed_out: those of them, or calls of a function, without an answer in time; ``None`` for
            none.
        replayed: trials answered by a recording.
        retried: calls that were repeated after a fault.
        failed: trials without a reply.
        prompt_tokens: as counted by the endpoint; ``None`` if it gives no count.
        reasoning_tokens: those of ``completion_tokens`` that were spent before the replies.
        cost_usd: by the judge's prices; ``None`` without prices.
    """

    made: int = 0
    replayed: int = 0
    retried: int = 0
    failed: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    reasoning_tokens: int | None = None
    sent: int | None = None
    timed_out: int | None = None

    @classmethod
    def of(cls, judgments: Sequence[Judgment], asked: Sequence[RequestCount] = ()) -> Calls:
        """The calls behind ``judgments``: those ``asked`` in this session, the others replayed."""
        failed = sum(isinstance(judgment.outcome, Failed) for judgment in judgments)
        used = Usage.summed(judgment.usage for judgment in judgments)
        calls = cls(
            replayed=len(judgments),
            failed=failed,
            prompt_tokens=used.prompt_tokens,
            completion_tokens=used.completion_tokens,
            reasoning_tokens=used.reasoning_tokens,
        )
        return calls.asking(asked)

    def asking(self, trials: Sequence[RequestCount]) -> Calls:
        """The same calls, of which these ``trials`` alone were asked in this session."""
        return replace(
            self,
            made=len(trials),
            replayed=self.made + self.replayed - len(trials),
            retried=sum(requests.retried for requests in trials),
            sent=sum(requests.sent for requests in trials) or None,
            timed_out=sum(requests.timed_out for requests in trials) or None,
        )

    @property
    def made_words(self) -> list[str]:
        """`sent_words`, and how many trials a recording answered."""
        made, *others = self.sent_words
        return [made, f"{self.replayed:,} replayed", *others]

    @property
    def sent_words(self) -> list[str]:
        """The calls made, as a limit counts them, and those of them that were late or repeated."""
        words = [f"{self.sent or self.made:,} made"]
        if self.sent and self.sent != self.made:
            words = [f"{self.sent:,} made for {self.made:,} trial{'s' * (self.made != 1)}"]
        words += [f"{self.retried:,} retried"] * bool(self.retried)
        if self.timed_out:
            words.append(f"{self.timed_out:,} timed out")
        return words

    def __add__(self, other: Calls) -> Calls:
        def both(name: str) -> Any:
            a, b = getattr(self, name), getattr(other, name)
            return b if a is None else a if b is None else a + b

        return Calls(
            **{field_of_calls.name: both(field_of_calls.name) for field_of_calls in fields(self)}
        )


@dataclass(frozen=True, slots=True)
class GatedNumber:
    """A number of a check and its bar.

    Attributes:
        condition: of the estimate.
        bar: the bar, or the value of the baseline.
        sign: ``at least`` or ``at most`` the bar; ``before`` if the bar is the baseline.
        outcome: the outcome for this number: ``pass``, ``fail`` or ``inconclusive``.
        limit: what cannot be accepted, on the same side; ``None`` for a bar alone.
        value: the number; ``None`` if not measured.
        lower: lower end of its clustered interval; ``None`` if there is none, as for ``upper``.
    """

    measure: str
    condition: Mapping[str, Any]
    bar: float
    sign: Literal["at least", "at most", "before"]
    outcome: str
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    limit: float | None = None

    @property
    def decisive(self) -> float:
        """The number that decided: the limit, or a bar without one."""
        return self.bar if self.limit is None else self.limit


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """An item of which a judge now says what counts against it, shown by one of its trials.

    Attributes:
        trial: the trial that the texts are of.
        times: of how many of its trials the verdict moved against the judge.
        question: what was asked; empty if it is not known. Long texts are cut.
        contents: what was judged, in the item's own order, where the question does not hold it.
        verdicts: before and now, each with the label of the trial.
        replies: before and now; empty for no reply.
    """

    item: str
    trial: str
    times: int
    question: str
    contents: tuple[str, ...]
    verdicts: tuple[str, str]
    replies: tuple[str, str]

    @property
    def head(self) -> str:
        """The item, how often it changed, and the trial."""
        return f"{self.item}: {self.times} time{'s' * (self.times > 1)}, such as {self.trial}"

    @property
    def texts(self) -> Iterator[tuple[str, str]]:
        """The texts of the trial, each with what it is."""
        if self.question:
            yield "asked", self.question
        for number, content in enumerate(self.contents, start=1):
            yield f"content {number}", content
        both = zip(("before", "now"), self.verdicts, self.replies, strict=True)
        for when, verdict, reply in both:
            yield when, f"{verdict}: {reply or '(no reply)'}"


@dataclass(frozen=True, slots=True)
class MeasuredChange:
    """What became of a measure since a baseline.

    Attributes:
        verdict: ``regressed``, ``improved``, ``unchanged`` or ``inconclusive``.
        measure: its name, with its condition.
        then: its value in the baseline, over the units that are compared; ``None`` if unmeasured.
        now: the same in this session.
        difference: now less then; ``None`` where nothing was tested.
        lower: the lower of the two bounds of the difference that decided; ``upper``: the other.
        words: both values, the difference and its bounds, in a clause.
    """

    verdict: str
    measure: str
    then: float | None = None
    now: float | None = None
    difference: float | None = None
    lower: float | None = None
    upper: float | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class AgainstBaseline:
    """What a check that compares with a baseline tells beside its numbers.

    Attributes:
        baseline: what the baseline is called.
        summary: what changed beside the verdicts, in one clause; empty if nothing is known to.
        changes: the same in lines, a diff indented; the first of them.
        moved: of a check that does not pass: how many trials have another verdict that counts
            against the judge.
        items: on how many items.
        examples: the items that changed most often.
        change: what became of the measure.
    """

    baseline: str
    summary: str = ""
    changes: tuple[str, ...] = ()
    moved: int = 0
    items: int = 0
    examples: tuple[ChangedItem, ...] = ()
    change: MeasuredChange | None = None

    @property
    def moved_words(self) -> str:
        """How many verdicts moved against the judge; empty for none."""
        if not self.moved:
            return ""
        on_items = f"on {self.items} item{'s' * (self.items > 1)}"
        return f"another verdict that counts against the judge: {self.moved}, {on_items}"

    def with_texts(self, change: Callable[[str], str]) -> AgainstBaseline:
        """A copy in which ``change`` was applied to the texts of others, once to all."""
        texts = [self.summary, *self.changes]
        for example in self.examples:
            texts += [example.question, *example.contents, *example.verdicts, *example.replies]
        changed = iter(change("\0".join(texts)).split("\0"))
        summary, changes = next(changed), tuple(next(changed) for _ in self.changes)
        examples = tuple(
            replace(
                example,
                question=next(changed),
                contents=tuple(next(changed) for _ in example.contents),
                verdicts=(next(changed), next(changed)),
                replies=(next(changed), next(changed)),
            )
            for example in self.examples
        )
        return replace(self, summary=summary, changes=changes, examples=examples)


@dataclass(frozen=True, slots=True)
class OverSessions:
    """What a check over live sessions tells of them; sessions are counted from 1.

    Attributes:
        process: ``student``, where days may differ, or ``stratified``, where they are alike.
        sessions: how many there are, the present one among them.
        left_out: how many of them count for nothing, because too many replies are missing.
        wealth: after the last session.
        alarm: the session that gave the alarm; ``None`` for none.
        confirmed_by: how many sessions up to the alarm rank below those before; ``None`` without
            an alarm, and under ``stratified``.
        since: the session with which the loss most likely began.
        since_at: when that was: UTC, ISO 8601; empty for none.
        changes: what of the judge's identity changed at about that time.
        spread_p: under ``stratified``, the p-value of "nothing but chance tells days apart".
    """

    process: str
    sessions: int
    left_out: int
    wealth: float
    alarm: int | None = None
    since: int | None = None
    since_at: str = ""
    changes: tuple[str, ...] = ()
    spread_p: float | None = None
    confirmed_by: int | None = None

    def with_texts(self, change: Callable[[str], str]) -> OverSessions:
        """A copy in which ``change`` was applied to the texts of others."""
        return replace(self, changes=tuple(map(change, self.changes)))


@dataclass(frozen=True, slots=True)
class UncomparedCheck:
    """A check that compares with a baseline, and had none to compare with; ``reason`` says why."""

    check: str
    measure: str
    suite: str
    reason: str


@dataclass(frozen=True, slots=True)
class KnownState:
    """What is accepted of a check that does not pass; its outcome stays what it is.

    Attributes:
        reason: why, as it was declared.
        at: the number that is accepted.
        until: the last day on which it is accepted: UTC, ISO 8601.
        breach: why what came out is not what is accepted, whatever the day; empty where it is.
        since: what a baseline says of its measure, where that is no breach; empty without one.
        widened: what less was accepted at the revision that is the baseline; empty where nothing
            was, or there is none.
    """

    reason: str
    at: float
    until: str
    breach: str = ""
    since: str = ""
    widened: str = ""

    def refusal_on(self, day: date) -> str:
        """Why it is not accepted on a day (UTC); empty where it is."""
        if self.breach:
            return self.breach
        return "" if day.isoformat() <= self.until else f"{self.until} is over"

    @property
    def words(self) -> str:
        """What is accepted, and what of it is new, in a line."""
        new = f" ({self.widened})" if self.widened else ""
        return f"known at {self.at:g} until {self.until}{new}: {self.reason}"

    def lines(self, day: date | None = None) -> tuple[str, ...]:
        """The same, and whether it fails again; on a day (UTC), or whatever the day."""
        refusal = self.breach if day is None else self.refusal_on(day)
        again = f"fails again: {refusal}" if refusal else self.since
        return self.words, *filter(None, [again])


@dataclass(frozen=True, slots=True)
class CheckLine:
    """A check with its outcome, as stored in the datasheet.

    Attributes:
        check: the check as in node ids.
        condition: the condition of the estimate that it gates.
        bar: a number, or the named bars of a composite check.
        limit: in the same form; ``None`` if it has none.
        outcome: ``pass``, ``fail`` or ``inconclusive``.
        policy: ``estimate``, ``confident`` or ``refuted``.
        explanation: the finding, in one line.
        warnings: how many clusters would settle a close result.
        sentence: if it does not pass: what the judge does, in plain words with numbers.
        measured: if it does not pass: the number, its interval and the bar.
        example: if it does not pass: one judgment that counts against the judge, if any.
        gates: the numbers that it gates.
        against: of a check that compares with a baseline: what changed since; else ``None``.
        over: of a check over live sessions: how, and what they tell; else ``None``.
        known: the failure that its declaration accepts; ``None`` for none.
    """

    check: str
    measure: str
    suite: str
    condition: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    bar: float | Mapping[str, float]
    outcome: str
    policy: str
    explanation: str
    warnings: tuple[str, ...] = ()
    sentence: str = ""
    measured: str = ""
    example: str = ""
    gates: tuple[GatedNumber, ...] = ()
    limit: float | Mapping[str, float] | None = field(default=None, kw_only=True)
    against: AgainstBaseline | None = field(default=None, kw_only=True)
    over: OverSessions | None = field(default=None, kw_only=True)
    known: KnownState | None = field(default=None, kw_only=True)

    @property
    def words(self) -> tuple[str, ...]:
        """The finding and its warnings, without those that the finding says itself.

        Last what is known of it, and why that is not accepted any more.
        """
        explanation = self.explanation
        warnings = (warning for warning in self.warnings if warning not in explanation)
        return explanation, *warnings, *self.known_words

    @property
    def known_words(self) -> tuple[str, ...]:
        """What is known of it, whatever the day; nothing where nothing is."""
        if self.known is None:
            return ()
        return self.known.lines() if self.outcome != "pass" else (self.known.words, "passes now")

    def is_accepted_on(self, day: date | None) -> bool:
        """Whether it does not pass, and that is known and accepted on a day (UTC).

        Where the day is not known nothing is.
        """
        if self.known is None or self.outcome == "pass" or day is None:
            return False
        return not self.known.refusal_on(day)

    @property
    def key(self) -> tuple[str, str, str]:
        """Unique among the checks of a judge: two with one bar may differ in their limits.

        And a suite file and a test in what they accept.
        """
        accepted = self.known and (self.known.reason, self.known.at, self.known.until)
        return self.check, self.suite, repr((self.limit, accepted or ()))


@dataclass(frozen=True, slots=True)
class SuiteSheet:
    """One judge on one suite.

    Attributes:
        judge: the judge's name as in files and node ids.
        prompts: the prompts that were sent, by suite; empty where they are not known, as of a
            judgment log, or of a function that makes no request.
        suite_digest: ``None`` for a judgment log.
        served: the models named in the replies.
        recorded: when the first and the last exchange were recorded.
        analyses: tables beside the estimates, as plain values: ``{"analysis", "suite", "rows"}``.
        material: plain values for the comparison of judges.
        prompts_of_file: the digest of the prompts, if a file holds only that.
        max_tokens: the budget of a reply that was sent; ``None``: that of the identity.
        temperature: likewise.
        not_compared: the checks without a baseline to compare with.
        calibration: plain values by which the judge's verdicts on other items are corrected: its
            errors on items with labels of people, and what was sent (``sent``).
        against: the first of the notices: what is not compared with a baseline, or not as it was;
            empty in a file, which does not tell them apart.
    """

    judge: str
    suite: str
    identity: Mapping[str, Any]
    estimates: tuple[Estimate, ...]
    calls: Calls
    prompts: Mapping[str, Any] = field(default_factory=dict)
    suite_digest: str | None = None
    served: tuple[str, ...] = ()
    recorded: tuple[str, str] | None = None
    checks: tuple[CheckLine, ...] = ()
    notices: tuple[str, ...] = ()
    analyses: tuple[Mapping[str, Any], ...] = ()
    material: Mapping[str, Any] | None = None
    prompts_of_file: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    not_compared: tuple[UncomparedCheck, ...] = ()
    calibration: Mapping[str, Any] | None = None
    against: tuple[str, ...] = ()

    @property
    def prompts_digest(self) -> str | None:
        """A short digest of the prompts; ``None`` if they are not known."""
        return digest(dict(self.prompts)) if self.prompts else self.prompts_of_file

    def sent(self, setting: str) -> Any:
        """A decoding setting as the requests on the suite had it; ``None`` if it is not known."""
        of_suite = {"max_tokens": self.max_tokens, "temperature": self.temperature}.get(setting)
        return self.identity.get(setting) if of_suite is None else of_suite

    def with_checks(
        self, checks: Iterable[CheckLine], not_compared: Iterable[UncomparedCheck] = ()
    ) -> SuiteSheet:
        """A copy that includes these outcomes; each check stands in it once."""
        by_key = {line.key: line for line in (*self.checks, *checks)}
        left_out = {check.check: check for check in (*self.not_compared, *not_compared)}
        return replace(
            self,
            checks=tuple(by_key[key] for key in sorted(by_key)),
            not_compared=tuple(left_out[name] for name in sorted(left_out)),
        )

    def with_against(self, against: Sequence[str]) -> SuiteSheet:
        """A copy that says first what is not compared with a baseline, or not as it was."""
        # What may hide a loss stands before all else.
        return replace(self, against=tuple(against), notices=(*against, *self.own_notices))

    @property
    def own_notices(self) -> tuple[str, ...]:
        """The notices about the measurement itself, without those about its baseline."""
        return tuple(notice for notice in self.notices if notice not in self.against)


@dataclass(frozen=True, slots=True)
class JudgeSheet:
    """One judge on all its suites, in alphabetical order, and their sums."""

    judge: str
    identity: Mapping[str, Any]
    parts: tuple[SuiteSheet, ...]

    @property
    def name(self) -> str:
        return str(self.identity.get("name") or self.judge)

    @property
    def prompts(self) -> str | None:
        return prompts_digest({part.suite: part.prompts_digest for part in self.parts})

    @property
    def changed(self) -> list[str]:
        return changed_between({part.suite: part.served for part in self.parts})

    @property
    def calls(self) -> Calls:
        return sum((part.calls for part in self.parts), Calls())

    @property
    def recorded(self) -> tuple[str, str] | None:
        return span_of(part.recorded for part in self.parts)

    @property
    def wall_clock_s(self) -> int | None:
        """Seconds that the recordings of its suites took, one after the other."""
        return wall_clock_s(part.recorded for part in self.parts)

    @property
    def served(self) -> tuple[str, ...]:
        return tuple(sorted({model for part in self.parts for model in part.served}))

    @property
    def budgets(self) -> dict[str, int | None]:
        """The budget of a reply that was sent on each suite, as `setting_notices` takes it."""
        return {part.suite: part.max_tokens for part in self.parts}

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        return tuple(estimate for part in self.parts for estimate in part.estimates)

    @property
    def checks(self) -> tuple[CheckLine, ...]:
        return tuple(line for part in self.parts for line in part.checks)

    @property
    def not_compared(self) -> tuple[UncomparedCheck, ...]:
        return tuple(check for part in self.parts for check in part.not_compared)

    @property
    def analyses(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(analysis for part in self.parts for analysis in part.analyses)


def span_of(recorded: Iterable[tuple[str, str] | None]) -> tuple[str, str] | None:
    """The first and the last moment of several spans; ``None`` if there are none."""
    spans = [span for span in recorded if span]
    return (min(first for first, _ in spans), max(last for _, last in spans)) if spans else None


def wall_clock_s(recorded: Iterable[tuple[str, str] | None]) -> int | None:
    """Seconds from the first to the last answer of each span, summed up; ``None`` without spans.

    From the recording, so a replay has the same. A pause between two sessions is in it.
    """
    seconds = []
    for first, last in filter(None, recorded):
        with suppress(ValueError, TypeError):  # no moments of ours: a file that somebody edited
            length = datetime.fromisoformat(last) - datetime.fromisoformat(first)
            seconds.append(length.total_seconds())
    return round(sum(seconds)) if seconds else None


def state_of(mode: str, calls: Calls) -> str:
    """The source of the judgments: ``REPLAYED``, ``FRESH``, ``PARTLY FRESH`` or ``FROM LOGS``."""
    if mode == "report":
        return "FROM LOGS"
    if mode == "live":
        return "FRESH"  # calls of one worker are recorded when the others look
    if not calls.made:
        return "REPLAYED"
    return "PARTLY FRESH" if calls.replayed else "FRESH"


def text_of(setting: Any) -> str:
    """A setting of a judge, as text."""
    return "none" if setting is None else str(setting)


def changed_within(model: str, served: Mapping[str, int]) -> list[str]:
    """A notice if the replies of one suite name several models: the judge has changed.

    ``model``, the requested one, may be an alias; ``served``: number of replies by model.
    """
    if len(served) < 2:
        return []
    models = " and ".join(f"{name} ({served[name]} replies)" for name in sorted(served))
    notice = f"the model behind {model} changed under this recording, its replies name {models}"
    return [f"{notice}: they do not describe one judge, record it again"]


def changed_between(served: Mapping[str, Sequence[str]]) -> list[str]:
    """A notice if suites of one judge were answered by different models (``served``, by suite).

    Suites whose replies name no model are left out.
    """
    named = {suite: tuple(models) for suite, models in served.items() if models}
    if len(set(named.values())) < 2:
        return []
    answered = "; ".join(f"{suite} by {' and '.join(models)}" for suite, models in named.items())
    notice = f"the suites were answered by different models, {answered}"
    return [f"{notice}: they do not describe one judge, record them again together"]


def setting_notices(judges: Iterable[Mapping[str, Any]], suites: Budgets = ()) -> list[str]:
    """A notice if judges of one run were sent different budgets, which may explain a difference.

    Callables and judges of logs, whose budgets are unknown, are left out, and so are juries, whose
    members have them.

    Args:
        judges: their identities, one each.
        suites: for each judge its suites, with the budget of a reply that was sent on them;
            ``None`` where it is that of the identity.
    """
    unknown: Mapping[str, int | None] = {}
    identities = [
        (identity, of)
        for identity, of in zip(judges, chain(suites, repeat(unknown)), strict=False)
        if identity.get("provider") not in _UNKNOWN_BUDGETS
    ]
    notices = []
    for setting in _BUDGETS:
        groups: dict[str, None] = {}
        # What was sent depends on the suite, which may ask for more than a judge declares.
        for suite in dict.fromkeys(suite for _, of in identities for suite in of or ("",)):
            names = [
                (text_of(_sent(setting, identity, of.get(suite))), str(identity.get("name")))
                for identity, of in identities
                if suite in of or not of
            ]
            by_value = grouped(names, itemgetter(0))
            if len(by_value) > 1:
                values = sorted(by_value, key=lambda value: (len(value), value))
                groups_of_names = (
                    f"{value}: {', '.join(n for _, n in by_value[value])}" for value in values
                )
                groups["; ".join(groups_of_names)] = None
        notices += [
            f"the compared judges differ in {setting} ({of}), which may be the only "
            "difference between them"
            for of in groups
        ]
    return notices


def _sent(setting: str, identity: Mapping[str, Any], max_tokens: int | None) -> Any:
    if setting == "max_tokens" and max_tokens is not None:
        return max_tokens
    return identity.get(setting)


def prompts_digest(by_suite: Mapping[str, str | None]) -> str | None:
    """A short digest of the prompts, from their digests by suite; ``None`` if none is known."""
    return digest(by_suite) if any(by_suite.values()) else None


def digest(value: Any, digits: int = 12) -> str:
    """A short digest of a plain value."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


@dataclass(frozen=True, slots=True)
class Datasheet:
    """The datasheets of all judges of a run.

    Attributes:
        analyses: tables that compare them, in the same format as those of a judge.
        closing: sentences about all of them, such as which is the most stable; not written to
            files.
    """

    seed: int
    mode: str
    versions: Mapping[str, str]
    judges: tuple[JudgeSheet, ...]
    analyses: tuple[Mapping[str, Any], ...] = ()
    closing: tuple[str, ...] = ()


def merge_parts(
    parts: Iterable[SuiteSheet], *, seed: int, mode: str, versions: Mapping[str, str]
) -> Datasheet:
    """The datasheet of all parts, in whatever order.

    Parts of the same judge and suite differ only in their checks and in their notices.
    """
    by_name = grouped(parts, lambda part: (part.judge, part.suite))
    merged = (_joined(by_name[name]) for name in sorted(by_name))
    judges = grouped(merged, lambda part: part.judge)
    sheets = (JudgeSheet(slug, _identity(of), tuple(of)) for slug, of in judges.items())
    return Datasheet(seed, mode, versions, tuple(sheets))


def _joined(parts: Sequence[SuiteSheet]) -> SuiteSheet:
    """One judge on one suite, of all processes that evaluated some of its checks."""
    # If processes share a recording, the one that made the calls counts them.
    fuller = max(parts, key=lambda part: part.calls.made)
    sheet = fuller.with_checks(
        [line for part in parts for line in part.checks],
        [check for part in parts for check in part.not_compared],
    )
    # Only a process that compares with a baseline knows what is not compared.
    sheet = replace(sheet, notices=_each_once(part.own_notices for part in parts), against=())
    return sheet.with_against(_each_once(part.against for part in parts))


def _each_once(notices: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The notices of several processes: in the order of the one that has most, then the others."""
    # Not in the order in which processes end, which is another one in each session.
    ordered = sorted(map(tuple, notices), key=lambda of_one: (-len(of_one), of_one))
    return tuple(dict.fromkeys(chain.from_iterable(ordered)))


def _identity(parts: Sequence[SuiteSheet]) -> Mapping[str, Any]:
    """The identity in the parts of a judge: that of one with its own prompts, if any sent them."""
    return next(
        (part.identity for part in parts if part.identity.get("own_prompts")), parts[0].identity
    )
