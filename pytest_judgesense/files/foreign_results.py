"""Reading foreign results: rows, fields and errors that all importers share.

Every error names file, line, field and the expected value. Unused fields are ignored, with one
notice.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from pytest_judgesense.errors import JudgesenseError, LogError, listed, unknown_name, well_formed
from pytest_judgesense.files.limits import json_value
from pytest_judgesense.files.rows import Row
from pytest_judgesense.trial import LONGEST_NAME, Design, Judgment

NO_VERDICT: Final = "no verdict recorded"


@dataclass(frozen=True, slots=True)
class Imported:
    """The judgments of a foreign file, each with the design of its suite.

    Attributes:
        notices: ignored fields and assumptions, one sentence each.
        totals: totals that the file states.
        objections: why they are not taken as they are: the first is raised, unless the command is
            wrong in another way.
    """

    judgments: tuple[tuple[Judgment, Design], ...]
    notices: tuple[str, ...] = ()
    totals: tuple[Total, ...] = ()
    objections: tuple[JudgesenseError, ...] = ()


@dataclass(frozen=True, slots=True)
class Total:
    """A total stated by a foreign file, and the same total computed from the grades read."""

    name: str
    stated: float
    computed: float

    @property
    def agrees(self) -> bool:
        """Whether the two are equal to nine digits."""
        return abs(self.stated - self.computed) <= 1e-9 * max(1.0, abs(self.stated))

    def __str__(self) -> str:
        if self.agrees:
            return f"{self.name}: {self.stated:.10g}, as the file says"
        return f"{self.name}: {self.computed:.10g}, but the file says {self.stated:.10g}"


@runtime_checkable
class ImportedSuite(Protocol):
    """A suite that an importer has read."""

    @property
    def notices(self) -> tuple[str, ...]:
        """Ignored fields and assumptions, one sentence each."""

    def files(self, target: Path) -> dict[Path, str]:
        """The files of the suite ``target``, with their texts."""


class Exported(NamedTuple):
    """What is written of judgments in a foreign form: texts by path, and notices for the user."""

    files: Mapping[str, str]
    notices: tuple[str, ...] = ()


_MOST_SHOWN: Final = 12
_BEGINNING: Final = 60


def without_common_value(
    suite: str, verdicts: Collection[str], labels: Collection[str], remedy: str
) -> LogError:
    """The error for verdicts and labels of which none is the same word: no agreement can be."""

    def shown(words: Collection[str]) -> str:
        some = ", ".join(word[:40] for word in sorted(words)[:_MOST_SHOWN])
        return f"{some} and {len(words) - _MOST_SHOWN} more" if len(words) > _MOST_SHOWN else some

    return LogError(
        f"verdicts and labels of suite {suite} are not in the same words: they cannot agree",
        found=f"verdicts {shown(verdicts)}; labels {shown(labels)}",
        expected="the same words in both",
        remedy=remedy,
    )


def left_out(rows: Iterable[Row], used: Collection[str]) -> tuple[str, ...]:
    """One notice about unused fields of ``rows``; none if there are none."""
    names = dict.fromkeys(name for row in rows for name in row.value if name not in used)
    shown = listed(str(name) or "one without a name" for name in names)
    return (f"fields kept out: {shown}",) if names else ()


class HasColumns(Protocol):
    """Rows of a file, with the columns that they have."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of all columns."""

    def has(self, column: str) -> bool:
        """Whether a row has the column, which may be ``a.b``, field b of the objects in a."""


def columns_named(text: str, rows: HasColumns) -> list[str]:
    """The columns of rows that a text names, several with ``+`` between them.

    Raises:
        UsageError: there is no such column.
    """
    columns = [text] if rows.has(text) else list(filter(None, text.split("+")))
    for column in columns:
        if not rows.has(column):
            raise unknown_name("column", column, rows.columns)
    return columns


def json_or_none(text: Any) -> Any:
    """The JSON value of ``text``; ``None`` if it is not text or not JSON."""
    try:
        return json_value(text) if isinstance(text, str) else None
    except ValueError:
        return None


def messages_of(value: Any) -> list[dict[str, str]] | None:
    """Chat messages as role and text; ``None`` for anything else, or if they hold more than text.

    A content may be a text or a list of parts; reasoning parts are left out.
    """
    messages = []
    for message in value if isinstance(value, list) else ():
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            parts = [part for part in content if not _is_reasoning(part)]
            texts = [part.get("text") for part in parts if isinstance(part, dict)]
            whole = len(texts) == len(parts) and all(isinstance(text, str) for text in texts)
            content = "".join(map(str, texts)) if whole else None
        if not isinstance(content, str):
            return None
        messages.append({"role": str(message.get("role", "user")), "content": content})
    return messages or None


def _is_reasoning(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "reasoning"


def moment_of(value: Any) -> str:
    """A time, in seconds since 1970 or as ISO 8601, as judgments say when they were recorded.

    Raises:
        ValueError: it is neither.
    """
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        else:
            moment = datetime.fromtimestamp(float(value), UTC)
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise ValueError(value) from error
    return moment.isoformat().replace("+00:00", "Z")


def short_named(judgment: Judgment) -> Judgment:
    """The judgment with names that a log may hold: longer ones by beginning and digest."""
    trial = judgment.trial
    names = (trial.suite, trial.item, trial.template, trial.cluster, judgment.judge)
    if max(map(len, names)) <= LONGEST_NAME:
        return judgment
    suite, item, template, cluster, judge = map(_short, names)
    trial = replace(
        trial,
        id=f"{suite}/{item}/{template}/{trial.order}/r{trial.replicate}",
        suite=suite,
        item=item,
        template=template,
        cluster=cluster,
    )
    return replace(judgment, trial=trial, judge=judge)


def _short(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(well_formed(name).encode()).hexdigest()
    return f"{' '.join(name[:_BEGINNING].split())}-{digest[:16]}"


def slug(name: str) -> str:
    """``name`` as a valid suite name: letters, digits, ``.``, ``_`` and ``-``, at most 80."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:80] or "imported"


def once(
    places: dict[tuple[str, str], str],
    key: tuple[str, str],
    row: Row,
    remedy: str = "number repetitions in a field of their own, or leave the line out",
) -> None:
    """Add the judge and trial ``key`` of ``row`` to ``known``; it must not be there yet."""
    if key in places:
        raise LogError(
            f"{row.where} repeats a trial",
            found=f"{key[1]} of judge {key[0]}, which {places[key]} holds",
            expected="every trial once",
            remedy=remedy,
        )
    places[key] = row.where
