"""Live sessions of judges over time: the file of ``--judge-history``, and the form of its lines.

Each session that asks its judges afresh appends one line: of every judge on every suite the totals
by cluster of the measures that have a direction and are means of units, and who answered. A
recorded or replayed session appends none, for it would tell of one day twice. `checks.drift` says
whether a judge has become worse.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from pytest_judgesense.datasheets.datasheet import SuiteSheet
from pytest_judgesense.errors import LogError, UsageError, well_formed
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.files.limits import json_value
from pytest_judgesense.files.opening import (
    UnfinishedLine,
    is_unfinished_object,
    read_bytes,
    text_so_far,
)
from pytest_judgesense.files.output import alone, append_whole, cut_off
from pytest_judgesense.measures.definition import Measure

SCHEMA: Final = "judgesense/history/1"
# Others hold the lock while they read and append.
_PATIENCE_S: Final = 30.0
_MOST_UNITS: Final = 1_000_000  # of a cluster
_LINE: Final = "a line that --judge-history appended"
_REMEDY: Final = "delete the line, or restore it: the other sessions stay"
_Condition = dict[str, str | int | float]


class MeasureTotals(BaseModel, extra="forbid", frozen=True, defer_build=True):
    """A measure of a judge in a session, by cluster."""

    measure: str
    condition: _Condition = Field({}, description="of the estimate; empty for the pooled one")
    direction: Literal["higher", "lower"] = Field(description="which way is better")
    conditional: bool = Field(False, description="whether the answers decide how many units count")
    missing: float = Field(ge=0, le=1, description="share of its calls without a usable reply")
    sums: list[float] = Field(description="sum of the units of each cluster, in their order")
    units: list[int] = Field(description="number of the units of each cluster")

    def is_of(self, measure: str, condition: Mapping[str, Any]) -> bool:
        """Whether it is the measure under exactly that condition."""
        return self.measure == measure and self.condition == dict(condition)


class JudgeTotals(BaseModel, extra="forbid", frozen=True, defer_build=True):
    """A judge on a suite in a session."""

    judge: str
    suite: str
    digest: str = Field(description="of items and design, without prompts")
    identity: dict[str, Any] = Field(description="of the judge, as in a datasheet")
    served: list[str] = Field(description="the models that the replies name")
    prompts: str | None = Field(description="digest of the prompts")
    recorded: tuple[str, str] | None = Field(description="when its first and last reply came")
    clusters: list[str] = Field(description="names of the clusters")
    measures: list[MeasureTotals]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Every measure has a sum and a number for each cluster, and no sum beyond its units."""
        for totals in self.measures:
            if not len(totals.sums) == len(totals.units) == len(self.clusters):
                raise ValueError(f"{totals.measure} has a sum and a number for each cluster")
            for total, units in zip(totals.sums, totals.units, strict=True):
                if not 0 <= units <= _MOST_UNITS:
                    raise ValueError(f"{totals.measure}: units lie between 0 and {_MOST_UNITS:,}")
                if not (math.isfinite(total) and 0 <= total <= units + 1e-9):
                    raise ValueError(f"{totals.measure}: a sum lies between 0 and its units")
        return self

    @property
    def who(self) -> dict[str, str]:
        """Who answered, as texts to be compared with those of another session."""
        settings = {name: value for name, value in self.identity.items() if name != "name"}
        return {
            **{name: "none" if value is None else str(value) for name, value in settings.items()},
            "served as": ", ".join(self.served) or "not named",
            "prompts": self.prompts or "not known",
        }


class LiveSession(BaseModel, extra="forbid", frozen=True, defer_build=True):
    """A session of pytest that asked its judges live: a line of the file."""

    schema_: Literal["judgesense/history/1"] = Field(alias="schema")
    session: str = Field(min_length=1, description="unlike that of any other session")
    began_at: str = Field(
        pattern=r"^\d{4}-\d\d-\d\d", description="when the session began, UTC, ISO 8601"
    )
    measured: list[JudgeTotals]

    def of(self, judge: str, suite: str) -> JudgeTotals | None:
        """A judge on a suite; ``None`` if the session did not measure it."""
        wanted = (each for each in self.measured if (each.judge, each.suite) == (judge, suite))
        return next(wanted, None)


def totals_of(
    sheet: SuiteSheet,
    stimuli: str,
    measures: Mapping[str, Measure],
    conditions: Iterable[Mapping[str, Any]] = (),
) -> JudgeTotals:
    """A judge on a suite as a history keeps it.

    Args:
        sheet: its part of the datasheet, of a process that has counted the units.
        stimuli: digest of items and design.
        measures: by name.
        conditions: under which measures are kept beside the pooled ones.
    """
    wanted = [{}, *map(dict, conditions)]
    kept = [
        estimate
        for estimate in sheet.estimates
        if estimate.value is not None
        and estimate.observations is not None
        and measures[estimate.measure].comparable
        and dict(estimate.condition) in wanted
    ]
    names = sorted({name for estimate in kept for name in _clusters(estimate)})
    return JudgeTotals(
        judge=sheet.judge,
        suite=sheet.suite,
        digest=stimuli,
        identity=dict(sheet.identity),
        served=list(sheet.served),
        prompts=sheet.prompts_digest,
        recorded=sheet.recorded,
        clusters=names,
        measures=[_of_measure(estimate, measures[estimate.measure], names) for estimate in kept],
    )


def _clusters(estimate: Estimate) -> Iterator[str]:
    assert estimate.observations is not None
    return map(str, estimate.observations.names)


def _of_measure(estimate: Estimate, measure: Measure, names: list[str]) -> MeasureTotals:
    from pytest_judgesense.stats.inputs import cluster_sums

    observed, missing = estimate.observations, estimate.missing
    assert observed is not None
    sums, units = cluster_sums([observed.numbers], observed.codes, len(observed.names))
    totals = dict(zip(_clusters(estimate), zip(sums, units, strict=True), strict=True))
    in_order = [totals.get(name, (0.0, 0.0)) for name in names]
    # Where no missing reply could change the value, the measure counts them itself.
    bounded = missing.lower_bound is not None and missing.lower_bound == missing.upper_bound
    return MeasureTotals(
        measure=estimate.measure,
        condition=dict(estimate.condition),
        direction="higher" if measure.floor else "lower",
        conditional=measure.conditional,
        missing=0.0 if bounded else missing.share,
        sums=[float(total) for total, _ in in_order],
        units=[int(number) for _, number in in_order],
    )


class History(NamedTuple):
    """What a file of live sessions holds.

    Attributes:
        sessions: in the order in which they began.
        unfinished: its last line, if the writing of that was interrupted.
    """

    sessions: tuple[LiveSession, ...]
    unfinished: UnfinishedLine | None = None


def read_history(path: Path) -> History:
    """All sessions of a file.

    Raises:
        UsageError: there is no such file.
        LogError: it cannot be read, a line is not of the form, or a session is there twice; names
            file and line.
    """
    if not path.exists():
        raise UsageError(
            f"there is no file {path}",
            expected="a history of live sessions",
            remedy="begin one: pytest --judge-mode live --judge-history PATH",
        )
    return _history(path)


def sessions_before(path: Path) -> tuple[LiveSession, ...]:
    """The sessions of a file for one that is under way; none if it is still to be made.

    An unfinished last line is told of when the session is appended. Raises as `read_history`.
    """
    return _history(path).sessions


def append_session(path: Path, session: LiveSession) -> list[str]:
    """Append a session, alone among processes, and sync it, unless the file has it already.

    Returns:
        What was done to the file, a sentence each: an unfinished last line is cut off before.

    Raises:
        LogError: the file cannot be read, locked or written, is a link out of its folder, or holds
            a line that is not of the form. What was in it stays.
    """
    alone_in = alone(
        path,
        LogError,
        expected="a file",
        remedy="remove the link, or name the file where it leads",
        patience_s=_PATIENCE_S,
    )
    with alone_in:
        content, unfinished = _content(path)
        if any(each.session == session.session for each in _sessions_of(path, content)):
            return []
        if unfinished is not None:
            cut_off(path, unfinished)
        gap = "\n" * bool(content and not content.endswith("\n"))
        append_whole(path, f"{gap}{session_text(session)}\n")
    cut = [f"{unfinished.notice(path)}: removed it"] if unfinished is not None else []
    return [*cut, f"session appended: {path}"]


def session_text(session: LiveSession) -> str:
    """A session as its line, without the end."""
    value = session.model_dump(mode="json", by_alias=True)
    for judge in value["measured"]:
        for totals in judge["measures"]:
            totals["sums"] = [int(s) if s == int(s) else s for s in totals["sums"]]
    return well_formed(json.dumps(value, ensure_ascii=False))


def _history(path: Path) -> History:
    content, unfinished = _content(path)
    return History(_sessions_of(path, content), unfinished)


def _content(path: Path) -> tuple[str, UnfinishedLine | None]:
    """The text of the whole lines of the file, and the line behind them that is unfinished."""
    with LogError.instead_of(
        (OSError, UnicodeDecodeError),
        f"the history {path} cannot be read",
        expected="a file of JSON Lines in UTF-8",
    ):
        try:
            data = read_bytes(path)
        except FileNotFoundError:
            return "", None
        content = text_so_far(data)
    whole, line_break, last = content.rpartition("\n")
    if not last or not is_unfinished_object(last.encode()):
        return content, None
    whole += line_break
    return whole, UnfinishedLine.at(data, whole.count("\n") + 1)


def _sessions_of(path: Path, content: str) -> tuple[LiveSession, ...]:
    sessions: dict[str, LiveSession] = {}
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        session = _session_of(f"{path}:{number}", line)
        if session.session in sessions:
            raise LogError(
                f"{path}:{number} is a session that the file has already",
                found=session.session,
                expected="each session once",
                remedy="delete one of the two lines",
            )
        sessions[session.session] = session
    # Of one second, in the order in which they ended.
    return tuple(sorted(sessions.values(), key=lambda each: each.began_at))


def _session_of(place: str, line: str) -> LiveSession:
    try:
        return LiveSession.model_validate(json_value(line))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, p['loc'])) or 'line'}: {p['msg']}" for p in error.errors()[:3]
        )
    except ValueError as error:
        problems = str(error)
    raise LogError(f"{place} is no live session", found=problems, expected=_LINE, remedy=_REMEDY)
