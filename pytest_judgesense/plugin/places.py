"""The files that hold a judge's calls, and the commands that fill them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_judgesense.cassettes.journal import read_exchanges, rewrite
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.plugin.options import Settings
from pytest_judgesense.suites.builtin import builtin_cassette, builtin_suites
from pytest_judgesense.suites.suite import Suite

__all__ = ["Places"]


@dataclass(frozen=True)
class Places:
    """Where the cassettes of a session are.

    Attributes:
        settings: the session's options.
        live_folder: where a live session keeps its calls while it runs.
        recorder: this process, for others that want to record the same.
    """

    settings: Settings
    live_folder: Path | None
    recorder: Recorder

    def cassette(self, judge: JudgeSpec, file: str) -> Path:
        """The file that a judge's calls are replayed from, or recorded into."""
        relative = Path(judge.slug) / file
        if self.settings.mode == "live":
            assert self.live_folder is not None, "a live session has a folder for its calls"
            return self.live_folder / relative
        own = self.settings.cassettes / relative
        if self.settings.mode == "replay" and not own.exists():
            return builtin_cassette(relative) or own
        return own

    @contextmanager
    def recording(self, judge: JudgeSpec, file: str) -> Iterator[Path]:
        """The cassette, held against other processes unless it is only replayed.

        Raises:
            CassetteError: another session records it.
        """
        path = self.cassette(judge, file)
        if self.settings.mode == "replay":
            yield path
            return
        with recording_alone(path, self.recorder):
            try:
                yield path
            finally:  # what was asked before an error was paid for as well
                if self.settings.mode == "live" and self.settings.save_live and path.exists():
                    rewrite(self.settings.save_live / judge.slug / file, read_exchanges(path))

    def how_to_record(self, judge: JudgeSpec, suite: Suite) -> str:
        """The command that records what is missing."""
        own = suite.path.resolve() != builtin_suites().get(suite.base, Path()).resolve()
        what = shlex.quote(str(suite.path)) if own else ""
        # A file of the user's is named by its path; with a preset the option chooses that as well.
        named = "" if own and "@" not in suite.name else f"--judge-suite {suite.name}"
        parts = ["record it: pytest", what, named, *self.options_of(judge), "--judge-mode record"]
        return " ".join(part for part in parts if part)

    def options_of(self, judge: JudgeSpec) -> list[str]:
        """The options that a command needs to find this judge and its recordings again."""
        options = [f"--judge-name {shlex.quote(judge.called or judge.name)}"]
        if self.settings.cassettes != self.settings.rootdir / "cassettes":
            options.append(f"--judge-cassettes {shlex.quote(str(self.settings.cassettes))}")
        return options
