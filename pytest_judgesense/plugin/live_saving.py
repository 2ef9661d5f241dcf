"""How a live session keeps what it asks, with ``--judge-save-live DIR``: as it comes, and in DIR.

A recording that DIR does not hold yet grows in its place, as in record mode. One that it holds
stays byte for byte until the session has ended: the answers are recorded under the same name in a
folder beside it, and then replace it, if each suite that was asked on it was asked to its end. What
a session leaves in such a folder, because it was killed or stopped at a limit, is a recording too.
"""

from __future__ import annotations

import glob
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.asking.stopping_point import STOPPED
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.storage import replace_content
from pytest_judgesense.errors import CassetteError, JudgesenseError
from pytest_judgesense.files.opening import read_bytes, read_text
from pytest_judgesense.plugin.settings import Settings, SharedState

_IN_PLACE: Final = "in its place"
_BESIDE: Final = "beside it"
FOLDER: Final = "judgesense-live-"  # the name of a folder beside a recording begins so


class LiveSaving(NamedTuple):
    """The recordings of a live session in ``folder``.

    ``notes`` is a folder that all processes of the session share. It holds, under the relative path
    of each recording, where that recording is written, and beside this an empty file for each suite
    that is being asked on it. The name of the folder is unique.
    """

    folder: Path
    notes: Path

    def path(self, relative: Path) -> Path:
        """Where the session records what ``relative`` will hold."""
        target, note = self.folder / relative, self.notes / relative
        return self._beside(target) if note.exists() and read_text(note) == _BESIDE else target

    def _beside(self, target: Path) -> Path:
        return target.parent / self.notes.name / target.name

    @contextmanager
    def asking(self, relative: Path, suite: str, recorder: Recorder) -> Iterator[Path]:
        """The file into which the calls of a suite are recorded while the block runs.

        ``suite`` tells suites apart that share a recording.

        Raises:
            CassetteError: another session records what is to be replaced, or it cannot be.
        """
        target, note = self.folder / relative, self.notes / relative
        with recording_alone(target, recorder):
            if target.is_dir():
                raise CassetteError(
                    f"{target} cannot be recorded: nothing was asked",
                    found="a folder of this name",
                    expected="a recording, or nothing",
                    remedy="move it away, or name another folder with --judge-save-live",
                )
            if not note.exists():
                note.parent.mkdir(parents=True, exist_ok=True)
                note.write_text(_BESIDE if target.exists() else _IN_PLACE, encoding="utf-8")
            begun = note.with_name(f"{note.name}.{suite}")
            begun.touch()
            yield self.path(relative)
            begun.unlink()

    def finish(self, recorder: Recorder) -> Iterator[str | tuple[str, JudgesenseError]]:
        """Replace the recordings that were asked again.

        Yields:
            A line about each that was not, or where the answers are and why they replace nothing.
        """
        for note in sorted(self.notes.rglob("*.jsonl")):
            target = self.folder / note.relative_to(self.notes)
            fresh = self._beside(target)
            is_unfinished = any(note.parent.glob(f"{glob.escape(note.name)}.*"))
            if fresh.exists() and is_unfinished:
                yield (
                    f"{target} is as it was, for not all of it was asked again. What was is kept "
                    f"in {fresh}: move it there and record the rest with --judge-mode record, or "
                    "delete it"
                )
            elif fresh.exists():
                try:
                    _replace(target, fresh, recorder)
                except JudgesenseError as error:
                    yield f"what was recorded live is in {fresh}, and replaces nothing", error
            for left in sorted(target.parent.glob(f"{FOLDER}*/{glob.escape(target.name)}")):
                if left != fresh:
                    yield f"{left} was left by a live session that did not end"


def _replace(target: Path, fresh: Path, recorder: Recorder) -> None:
    with recording_alone(target, recorder):
        replace_content(target, read_bytes(fresh))
    fresh.unlink()
    for stop in fresh.parent.glob(f"*{STOPPED}"):
        replace_content(target.with_name(stop.name), read_bytes(stop))
        stop.unlink()
    with suppress(OSError):  # another recording is in it
        fresh.parent.rmdir()


def unfinished_folder(settings: Settings, shared: SharedState) -> Path | None:
    """Where a live session with a history keeps what a limit ended; ``None`` where it does not.

    Beside the history, which takes suites that were asked whole, and of this session alone.
    """
    if settings.mode != "live" or settings.save_live is not None or settings.history is None:
        return None
    folder = settings.history.with_name(f"{settings.history.name}.unfinished")
    return folder / re.sub(r"[^0-9T]", "", shared.started.partition("+")[0])


def live_answers(settings: Settings, shared: SharedState, cassettes: Iterable[Path]) -> str:
    """What becomes of the answers of a suite on which a live session reaches a limit.

    They are in ``cassettes``.
    """
    if settings.save_live is not None:
        beside = [path for path in cassettes if path.parent.name.startswith(FOLDER)]
        if beside:
            return f"what was paid for is kept in {', '.join(map(str, beside))}"
        kept = settings.save_live
    elif (folder := unfinished_folder(settings, shared)) is not None:
        kept = folder
    else:
        return "nothing keeps what was paid for: add --judge-save-live DIR, or --judge-history"
    return (
        f"what was paid for is kept in {kept}: with --judge-mode record --judge-cassettes "
        f"{shlex.quote(str(kept))} only the rest is asked"
    )


def saving_of(settings: Settings, shared: SharedState) -> LiveSaving | None:
    """How the calls of this session are kept; ``None`` if they are not, or in record mode."""
    if settings.mode != "live" or settings.save_live is None:
        return None
    assert shared.live_folder, "a live session has a folder for its calls"
    return LiveSaving(settings.save_live, Path(shared.live_folder))
