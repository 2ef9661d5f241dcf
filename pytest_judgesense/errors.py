"""The exceptions of the project, in one tree.

::

    JudgesenseError
    ├── UsageError             the command, a marker or a table is wrong: fix the call
    │   └── ExtensionError     what a plugin adds is wrong: fix the plugin, which it names
    ├── SuiteError             a suite file or its stimuli are wrong: fix the suite
    ├── JudgeError             a judge cannot be built or asked: fix its table or its code
    │   ├── SendingRefused     a file or a host that a repository alone must not choose: allow it
    │   ├── CodeNotRun         verdicts need the code of a judge, which a command does not run
    │   ├── NetworkRefused     something tried to connect while replaying
    │   ├── BodyTooLarge       a body has more bytes than it may have: raise the limit
    │   └── LimitReached       a limit of the user on calls or cost: raise it, or leave it at that
    ├── LogError               a judgment log or a foreign file is wrong: fix the file
    ├── InternalError          our numbers contradict one another: report it
    └── CassetteError          a recording does not serve
        ├── MissingRecording   no exchange is recorded for this trial: record it
        ├── StaleRecording     the trial is recorded, but with another request: record it again
        ├── UnprovenRecording  what was just recorded does not replay: make the judge repeatable
        ├── OldRecording       the recording is older than the user allows: record it again
        └── BrokenCassette     a line cannot be read (undecodable, truncated, edited): repair it

Every message says what was wrong, what was found, what was expected and what to do. What was found
may be words of a judge, which are untrusted: a message is `harmless`, its line breaks are kept.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, Self, TypeAlias


def printable(text: str) -> str:
    """``text`` on one line, with every control character escaped."""
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or unicodedata.category(character) == "Zs"
        else character.encode("unicode_escape").decode()
        for character in text
    )


def printable_lines(text: str) -> str:
    """``text`` with its line breaks; every other control character is escaped."""
    return "\n".join(map(printable, text.split("\n")))


def reason_of(error: BaseException) -> str:
    """The kind of error and its text, if it can be shown, in one line."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - an error of any class
        text = ""
    if (variable := unset_variable(error)) is not None:
        text += f", an environment variable that is not set: export {variable}=..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# Taken here: a replay has `os.environ` read in another way.
_READ: Final = type(os.environ).__getitem__.__code__


def unset_variable(error: BaseException) -> str | None:
    """The environment variable that ``os.environ`` was asked for and does not have, if any."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if not isinstance(error, KeyError) or place is None or place.tb_frame.f_code is not _READ:
        return None
    return str(error.args[0])


def on_github() -> bool:
    """Whether this runs as a step of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


# What runners of CI read as commands: GitHub's a line that begins so, and `##[` anywhere in it;
# those of Azure and TeamCity `##vso[` and `##teamcity[`. A word of this length is none of theirs.
_COMMAND: Final = re.compile(r"^[^\S\n]*(?=::)|##(?=[^\s\[\\]{0,32}\[)", re.MULTILINE)


def harmless(text: str) -> str:
    """``text`` as it may be shown anywhere: no control characters, no commands to a runner of CI.

    Lines of it stay lines. What it may be a command to is not asked: the log of a container is that
    of the job around it, which the container does not see. A backslash stands in the command.
    """
    return _COMMAND.sub(r"\g<0>\\", printable_lines(text))


# Longer than any real name, and than a message of one line.
_LONGEST_WORD: Final = 256
_LONGEST_LINE: Final = 4000
_LONG_WORD: Final = re.compile(rf"(?<!\S)(\S{{{_LONGEST_WORD - 3}}})\S{{4,}}")


def shortened(text: str) -> str:
    """``text`` as a report shows it: cut with ``...`` beyond the length of names and lines."""
    if len(text) <= _LONGEST_WORD:
        return text
    text = _LONG_WORD.sub(r"\1...", text)
    return text if len(text) <= _LONGEST_LINE else f"{text[: _LONGEST_LINE - 3]}..."


def well_formed(text: str) -> str:
    """``text`` that UTF-8 can encode: surrogate pairs joined, a lone surrogate as U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def told_apart(clean: str, name: str) -> str:
    """``clean``, made of ``name``, with a digest of that where characters were lost."""
    if clean == name:
        return clean
    return f"{clean}-{hashlib.sha256(well_formed(name).encode()).hexdigest()[:6]}"


Faults: TypeAlias = type[Exception] | tuple[type[Exception], ...]


class JudgesenseError(Exception):
    """Base of all errors of this project.

    ``what`` was wrong, in one clause; what was ``found``, what is valid, and what to do.
    """

    def __init__(self, what: str, *, found: str = "", expected: str = "", remedy: str = "") -> None:
        self.what = what
        self.found = found
        self.expected = expected
        self.remedy = remedy
        parts = {"found": found, "expected": expected, "remedy": remedy}
        lines = (f"  {name + ':':<9} {text}" for name, text in parts.items() if text)
        super().__init__(harmless("\n".join((what, *lines))))

    def with_texts(self, told: Callable[[str], str]) -> Self:
        """The same error in other words: each of its texts as ``told`` gives it.

        Of files that are gone when the error is read it names those that the reader has.
        """
        texts = {name: told(getattr(self, name)) for name in ("found", "expected", "remedy")}
        return type(self)(told(self.what), **texts)

    @classmethod
    @contextmanager
    def instead_of(
        cls, faults: Faults, what: str, *, expected: str = "", remedy: str = ""
    ) -> Iterator[None]:
        """Raise this error in place of ``faults``; what was found is what the fault says."""
        try:
            yield
        except faults as error:
            raise cls(what, found=str(error), expected=expected, remedy=remedy) from error

    @classmethod
    @contextmanager
    def restating(cls, *kinds: type[JudgesenseError]) -> Iterator[None]:
        """Raise errors of these ``kinds`` as this one, in the same words."""
        try:
            yield
        except kinds as error:
            texts = {name: getattr(error, name) for name in ("found", "expected", "remedy")}
            raise cls(error.what, **texts) from error


class UsageError(JudgesenseError):
    """The command line, a marker, a check or a judge's table is wrong."""


class ExtensionError(UsageError):
    """A measure or a provider of a plugin is wrong."""

    @classmethod
    @contextmanager
    def blaming(
        cls, source: str, what: str, expected: str, *objections: type[Exception]
    ) -> Iterator[None]:
        """Blame the plugin ``source`` for any error but a `JudgesenseError` and the ``objections``.

        For ``pytest.skip`` and ``sys.exit`` too: they would end the checks of others. Without a
        source, what fails is the package's own: nobody is blamed.
        """
        passed_on: Faults = (JudgesenseError, *objections)
        try:
            yield
        except passed_on:
            raise
        except BaseException as error:
            if not source or isinstance(error, KeyboardInterrupt | GeneratorExit):
                raise
            found = f"{type(error).__name__}: {error}"
            raise cls(what, found=found, expected=expected, remedy="fix the plugin") from error


class SuiteError(JudgesenseError):
    """A suite file or one of its stimuli is wrong."""


class JudgeError(JudgesenseError):
    """A judge cannot be built or called."""


class SendingRefused(JudgeError):
    """A repository alone may not decide to send this, or where to send it."""


class CodeNotRun(JudgeError):
    """The verdicts of a judge in code need its code, and what reads a repository runs none."""


class NetworkRefused(JudgeError):
    """A connection was attempted during a replay."""


class BodyTooLarge(JudgeError):
    """The body of a request or a response is larger than allowed."""


class LimitReached(JudgeError):
    """One more call would exceed a limit that the user has set.

    Attributes:
        requests: those of the trial that it cuts: how many were sent, of them retried, timed out.
    """

    requests: tuple[int, int, int] = (0, 0, 0)


class LogError(JudgesenseError):
    """A judgment log or a foreign result file is wrong."""


class InternalError(JudgesenseError):
    """Numbers of this project contradict each other: a bug to be reported."""


class CassetteError(JudgesenseError):
    """A recording cannot be used."""


class MissingRecording(CassetteError):
    """No exchange is recorded for a trial."""


class StaleRecording(CassetteError):
    """A trial is recorded, but its request has changed since."""


class UnprovenRecording(CassetteError):
    """What a session has recorded does not replay to the same verdicts; it is kept."""


class OldRecording(CassetteError):
    """A recording is older than allowed by the user."""


class BrokenCassette(CassetteError):
    """A line of a cassette cannot be read."""


# Of more names an error shows the first, or the few that are most alike: nobody reads a hundred.
_MOST_LISTED: Final = 10
# Valid names come from the program, and whoever mistyped one of them looks for it in the list.
_MOST_VALID: Final = 40


def listed(names: Iterable[object]) -> str:
    """Names as an error lists them: the first ten, and how many more there are."""
    every = [shortened(str(name)) for name in names]
    more = len(every) - _MOST_LISTED
    return ", ".join(every[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def unknown_name(
    kind: str, name: str, valid: Iterable[str], listing: str = "", other: str = ""
) -> UsageError:
    """The error for an unknown ``name``; it lists the ``valid`` ones.

    Of many it lists those that are most alike; ``listing`` is a command that lists them all.
    ``other`` is what else may be written, shown where no valid name is alike.
    """
    from difflib import get_close_matches

    names = sorted(valid)
    named = f"name a {kind} of the list" if names else ""
    expected = "one of: " + ", ".join(names) if names else f"no {kind} is known here"
    if len(names) > _MOST_VALID:
        alike = get_close_matches(name, names, n=5, cutoff=0.3) or names[:5]
        expected = f"one of {len(names)}, such as {listed(alike)}"
        named = f"list them: {listing}" if listing else f"name another {kind}"
    if other:
        named = f"{named}, {other}"
    return UsageError(
        f"there is no {kind} named {name!r}",
        expected=expected,
        remedy=did_you_mean(name, names) or named,
    )


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """The proposal of the valid name that is most like ``name``; empty if none is alike."""
    from difflib import get_close_matches

    close = get_close_matches(name, sorted(valid), n=1)
    return f"did you mean {close[0]!r}?" if close else ""
