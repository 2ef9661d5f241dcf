"""How models write further items for a published design: what its room gives, and what it gets.

A room gives an `ItemWriting` with its paper; ``judgesense paper NAME --generate`` says who writes,
on which terms, as a `WritingOrder`, and shows the `WrittenItems`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_judgesense.cassettes.opening import Mode
    from pytest_judgesense.judges.spec import JudgeSpec
    from pytest_judgesense.judges.throttle import Budget
    from pytest_judgesense.judges.trial_call import Call


class WritingOrder(NamedTuple):
    """What models are to write, and on which terms they are asked.

    Attributes:
        writers: two and two of them write together.
        topics: the file of what they write about, a topic a line; ``None`` for the built-in topics.
        style: how they write.
        temperature: of all their calls; a writer that sends none goes on sending none.
        cassettes: the folder of the recordings.
        mode: ``replay`` makes no calls; ``record`` makes those that are not recorded yet.
        concurrency: how many items are under way at once.
        budget: the limits.
        how_to_record: what an error about a missing recording tells to do.
    """

    writers: Sequence[JudgeSpec]
    topics: Path | None
    style: str
    temperature: float
    cassettes: Path
    mode: Mode
    concurrency: int
    budget: Budget
    how_to_record: str


class WriterCalls(NamedTuple):
    """What one writer is asked.

    Attributes:
        writer: as it is asked.
        calls: how many there are.
        to_make: those without a recorded answer; a text that nobody has written yet is as long in
            their prompts as it may become.
    """

    writer: JudgeSpec
    calls: int
    to_make: Sequence[Call]


class WrittenItems(NamedTuple):
    """What was written.

    Attributes:
        lines: the complete items, each a JSON text in the form of the suite's stimuli.
        wanted: how many there were to be.
        notices: what readers of them should know.
    """

    lines: tuple[str, ...]
    wanted: int
    notices: tuple[str, ...]


class ItemWriting(NamedTuple):
    """How models write further items for the design of a paper.

    Attributes:
        items: what they write, in the plural.
        styles: how they may write; the first is the usual one.
        plan: from an order to what each writer is asked; no call is made and no code is run.
        write: from an order to what they wrote. Raises a `UsageError` if it cannot be written so, a
            `CassetteError` if a recording does not serve, a `JudgeError` if a writer cannot be
            asked, and `LimitReached` if a call would pass a limit; the answers so far are recorded.
    """

    items: str
    styles: tuple[str, ...]
    plan: Callable[[WritingOrder], Sequence[WriterCalls]]
    write: Callable[[WritingOrder], WrittenItems]
