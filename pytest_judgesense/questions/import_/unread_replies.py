"""Replies of which most state none of the verdicts that were asked for: the wrong ones were read.

A file may hold what a judged model wrote beside what the judge said, and no name of a column is
sure. Where the user, or the shape of the file, says which the replies are, it is a notice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.proposals import ShownSetting
from pytest_judgesense.trial import Design, Judgment

_SHOWN: Final = 3
_LONGEST_SHOWN: Final = 60
_REPLY: Final = "reply"


def notice_of_unread(
    judgments: Sequence[tuple[Judgment, Design]],
    given: ImportOptions,
    chosen: ImportOptions,
    implied: Sequence[ShownSetting] = (),
) -> list[str]:
    """A notice if more than half of the replies state none of ``--labels``.

    Args:
        judgments: as they were read.
        given: what the user says of the file.
        chosen: what was read, with what the file shows.
        implied: what its shape implies.

    Raises:
        UsageError: neither the user nor the shape says which column holds the replies.
    """
    replies = [judgment for judgment, _ in judgments if judgment.reply]
    unread = [judgment for judgment in replies if judgment.verdict is None]
    if not chosen.labels or 2 * len(unread) <= len(replies):
        return []
    labels = ",".join(chosen.labels)
    count = f"{len(unread):,} of {len(replies):,} replies state none of {labels}"
    shown = "; ".join(repr(_beginning(judgment.reply or "")) for judgment in unread[:_SHOWN])
    by_shape = [setting.setting.value for setting in implied if setting.setting.field == "map"]
    if any(_is_of_replies(pair) for pair in (*given.map, *by_shape)):
        return [f"{count}, for instance {shown}"]
    columns = " and ".join(column for name, column in chosen.map if _is_of_replies((name, column)))
    raise UsageError(
        f"{count}: the column {columns or _REPLY} may hold no replies of the judge",
        found=shown,
        expected="replies that state one of the labels",
        remedy="name the column of the judge's replies: --map reply=COLUMN; or leave out --labels "
        "and name the column of its verdicts: --map verdict=COLUMN",
    )


def _is_of_replies(pair: object) -> bool:
    """Whether a field and its column are of the replies, in one order or both."""
    return isinstance(pair, tuple) and str(pair[0]).partition(".")[0] == _REPLY


def _beginning(reply: str) -> str:
    text = " ".join(reply.split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
