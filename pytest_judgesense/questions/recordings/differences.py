"""What changed in recordings, as a reviewer reads it: item, wording, then and now.

Trials are compared by their ids, and what they say as `cassettes.listing` shows it. The answer is
Markdown, for a terminal and for the comment of a pull request alike, and short enough for both.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_judgesense.cassettes.listing import (
    ListedTrial,
    Listing,
    listed_recording,
    varying_parts,
)
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.pytest_ini import usual_recordings
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.report.markdown import code
from pytest_judgesense.revisions.revision import REVISION, Revision
from pytest_judgesense.trial import grouped

# Lines of an answer, and of it at most so many recordings.
MOST_LINES: Final = 40
_MOST_RECORDINGS: Final = 12
_HEADS: Final = ("| item | wording | then | now |", "|---|---|---|---|")
# The id of an item whose line states none, see `suites.item`.
_BY_TEXTS: Final = re.compile(r"x-[0-9a-f]+(?:\.[0-9]+)?")
# Lines of a table beside its rows: one before it, its two heads, and how many rows are left out.
_AROUND: Final = 4


class ChangedTrial(NamedTuple):
    """A trial that is recorded then and now."""

    then: ListedTrial
    now: ListedTrial


@dataclass(frozen=True)
class ChangedRecording:
    """What changed in one recording.

    Attributes:
        name: its place below the folder, or its file.
        otherwise: trials that are recorded then and now and say something else.
        new: trials that are recorded now alone.
        gone: trials that were recorded then alone.
        asked_otherwise: how many were asked something else, and say the same.
        unread: how many lines cannot be read, then or now.
        trials: how many are recorded now.
    """

    name: str
    otherwise: tuple[ChangedTrial, ...]
    new: tuple[ListedTrial, ...]
    gone: tuple[ListedTrial, ...]
    asked_otherwise: int
    unread: int
    trials: int

    @classmethod
    def between(cls, name: str, then: Listing, now: Listing) -> ChangedRecording:
        """What changed from one version of a recording to another."""
        before = {trial.id: trial for trial in then.trials}
        after = {trial.id: trial for trial in now.trials}
        both = [ChangedTrial(before[id_], trial) for id_, trial in after.items() if id_ in before]
        alike = [trial for trial in both if trial.then.words == trial.now.words]
        return cls(
            name,
            tuple(trial for trial in both if trial.then.words != trial.now.words),
            tuple(trial for id_, trial in after.items() if id_ not in before),
            tuple(trial for id_, trial in before.items() if id_ not in after),
            sum(then.request_digest != now.request_digest for then, now in alike),
            len(then.unread) + len(now.unread),
            len(after),
        )

    def __bool__(self) -> bool:
        counts = (self.otherwise, self.new, self.gone, self.asked_otherwise, self.unread)
        return any(counts)

    @property
    def head(self) -> str:
        """What changed, in numbers."""
        counts = {
            "say something else": len(self.otherwise),
            "new": len(self.new),
            "gone": len(self.gone),
            "asked otherwise and say the same": self.asked_otherwise,
            "lines that cannot be read": self.unread,
        }
        words = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        return f"{code(self.name)}, {self.trials} trials: {words}"

    def rows(self) -> Iterator[str]:
        """A row for each trial that says something else, then for each item that is new or gone."""
        varies = varying_parts(now for _, now in self.otherwise)
        for then, now in self.otherwise:
            wording = " ".join(filter(None, (now.wording, now.setting_words(varies))))
            yield _row(_item_words(now), code(wording), then.words, now.words)
        for trials, is_new in ((self.gone, False), (self.new, True)):
            for item, of_item in grouped(trials, _item_words).items():
                words = ", ".join(dict.fromkeys(trial.words for trial in of_item))
                count = f"{len(of_item)} trial{'s' * (len(of_item) > 1)}"
                yield _row(item, count, *(("", words) if is_new else (words, "")))


def _item_words(trial: ListedTrial) -> str:
    """The item of a trial; one whose id says nothing to a reader with the beginning of its text."""
    return f"{trial.item} {trial.text}" if _BY_TEXTS.fullmatch(trial.item) else trial.item


def _row(item: str, wording: str, then: str, now: str) -> str:
    return f"| {code(item)} | {wording} | {code(then)} | {code(now)} |"


@dataclass(frozen=True)
class DiffQuestion:
    """What changed in recordings.

    Attributes:
        then: a recording, a folder of them, or ``git:REF``.
        now: the same; without it the recordings that are there.
        cassettes: their folder, which a revision is asked for where the other side names none.
    """

    then: str
    now: str | None = None
    cassettes: Path = field(default_factory=usual_recordings)

    def answer(self) -> DiffAnswer:
        """What changed from then to now.

        Raises:
            UsageError: a side is not there, or a file is compared with a folder.
            NoRevision: a revision cannot be read.
            CassetteError: a file cannot be opened.
        """
        sides = (self.then, str(self.cassettes) if self.now is None else self.now)
        paths = [Path(side) for side in sides if not side.startswith(REVISION)]
        if missing := [str(path) for path in paths if not path.exists()]:
            raise UsageError(
                f"{listed(missing)}: there is no such file or folder",
                expected="a recording (.jsonl), a folder of recordings, or git:REF",
            )
        place = paths[-1] if paths else self.cassettes
        if len({path.is_dir() for path in paths}) > 1:
            raise UsageError(
                "a file and a folder cannot be compared",
                found=listed(sides),
                expected="two files, or two folders of recordings",
            )
        with ExitStack() as stack:
            then, now = (
                {name: listed_recording(path) for name, path in files.items()}
                for files in (_files_of(side, place, stack) for side in sides)
            )
        nothing = Listing((), ())
        return DiffAnswer(
            tuple(
                ChangedRecording.between(name, then.get(name, nothing), now.get(name, nothing))
                for name in sorted(then.keys() | now.keys())
            )
        )


def _files_of(side: str, place: Path, stack: ExitStack) -> dict[str, Path]:
    """The recordings of a side by their names: of a file that of the file that is there now."""
    if side.startswith(REVISION):
        return _files_at(side.removeprefix(REVISION), place, stack)
    path = Path(side)
    return _named(path.rglob("*.jsonl"), path) if path.is_dir() else {str(place): path}


def _files_at(revision: str, place: Path, stack: ExitStack) -> dict[str, Path]:
    """The recordings at a place as they stood at a revision, in a temporary folder."""
    place_there = place.resolve()
    commit = Revision.read(revision, place_there)
    files = [
        path
        for path in commit.files
        if path == place_there or (path.suffix == ".jsonl" and path.is_relative_to(place_there))
    ]
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="judgesense-diff-")))
    commit.write(files, folder)
    if files == [place_there]:
        return {str(place): commit.place_in(folder, place_there)}
    there = commit.place_in(folder, place_there)
    return _named((commit.place_in(folder, path) for path in files), there)


def _named(paths: Iterable[Path], folder: Path) -> dict[str, Path]:
    return {path.relative_to(folder).as_posix(): path for path in paths}


@dataclass(frozen=True)
class DiffAnswer(QuestionAnswer):
    """What changed.

    Attributes:
        recordings: all of them, changed or not.
    """

    recordings: tuple[ChangedRecording, ...]

    @property
    def changed(self) -> list[ChangedRecording]:
        """Those in which something changed."""
        return [recording for recording in self.recordings if recording]

    def lines(self) -> Iterator[str]:
        """Markdown of at most `MOST_LINES` lines: each recording, and the rows that fit in."""
        if not self.changed:
            trials = sum(recording.trials for recording in self.recordings)
            yield f"nothing changed in {len(self.recordings)} recordings, {trials} trials"
            return
        shown, left_out = self.changed[:_MOST_RECORDINGS], self.changed[_MOST_RECORDINGS:]
        # Of each recording its head and the blank line behind it.
        room = MOST_LINES - 2 * len(shown) - 2 * bool(left_out)
        for number, recording in enumerate(shown):
            if number:
                yield ""
            yield recording.head
            table = list(_table([*recording.rows()], room))
            room -= len(table)
            yield from table
        if left_out:
            yield ""
            yield f"{len(left_out)} recordings more have changed"

    def to_dict(self) -> Mapping[str, Any]:
        """What changed in each recording."""
        return {
            "recordings": [
                {
                    "recording": recording.name,
                    "trials": recording.trials,
                    "otherwise": [
                        {"trial": now.id, "then": then.words, "now": now.words}
                        for then, now in recording.otherwise
                    ],
                    "new": [trial.id for trial in recording.new],
                    "gone": [trial.id for trial in recording.gone],
                    "asked_otherwise": recording.asked_otherwise,
                }
                for recording in self.changed
            ]
        }


def _table(rows: list[str], room: int) -> Iterator[str]:
    """As many rows as there is room for, with what stands around them; else nothing."""
    most = room - _AROUND
    if not rows or most < 1:
        return
    yield ""
    yield from _HEADS
    yield from rows[:most]
    if len(rows) > most:
        yield f"| and {len(rows) - most} rows more | | | |"
