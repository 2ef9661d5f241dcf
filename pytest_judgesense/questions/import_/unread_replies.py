"""Replies of which most state none of the verdicts that were asked for: the wrong ones were read.

A file may hold what a judged model wrote beside what the judge said, and no name of a column is
sure. Where the user, or the shape of the file, says which the replies are, it is a notice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.proposals import ShownSetting
from pytest_judgesense.trial import Design, Judgment

_SHOWN: Final = 3
_LONGEST_SHOWN: Final = 60
_REPLY: Final = "reply"
# A line that gives a grade.
_GRADED: Final = re.compile(r"(?im)^\W{0,8}(?:score|rating|grade)\W{0,4}[:=]\W{0,4}\d")


def notice_of_unread(
    judgments: Sequence[tuple[Judgment, Design]],
    given: ImportOptions,
    chosen: ImportOptions,
    implied: Sequence[ShownSetting] = (),
) -> list[str]:
    """Notices if more than half of the replies state none of ``--labels``, or some one twice.

    Args:
        judgments: as they were read.
        given: what the user says of the file.
        chosen: what was read, with what the file shows.
        implied: what its shape implies.

    Raises:
        UsageError: neither the user nor the shape says which column holds the replies.
    """
    replies = [judgment for judgment, _ in judgments if judgment.reply]
    repeated = _repeated(replies) if chosen.labels else []
    unread = [judgment for judgment in replies if judgment.verdict is None]
    if not chosen.labels or 2 * len(unread) <= len(replies):
        return repeated
    labels = ",".join(chosen.labels)
    count = f"{len(unread):,} of {len(replies):,} replies state none of {labels}"
    shown = "; ".join(repr(_beginning(judgment.reply or "")) for judgment in unread[:_SHOWN])
    by_shape = [setting.setting.value for setting in implied if setting.setting.field == "map"]
    if any(_is_of_replies(pair) for pair in (*given.map, *by_shape)):
        return [f"{count}, for instance {shown}", *repeated]
    columns = " and ".join(column for name, column in chosen.map if _is_of_replies((name, column)))
    raise UsageError(
        f"{count}: the column {columns or _REPLY} may hold no replies of the judge",
        found=shown,
        expected="replies that state one of the labels",
        remedy="name the column of the judge's replies: --map reply=COLUMN; or leave out --labels "
        "and name the column of its verdicts: --map verdict=COLUMN",
    )


def _repeated(replies: Sequence[Judgment]) -> list[str]:
    """A notice of replies with the same grade on several lines, which may be of several things."""
    several = [
        judgment
        for judgment in replies
        if judgment.verdict is not None and len(_GRADED.findall(judgment.reply or "")) > 1
    ]
    if not several:
        return []
    shown = repr(_beginning(several[0].reply or ""))
    count = f"{len(several):,} of {len(replies):,} replies"
    return [f"{count} state the same grade on several lines, for instance {shown}: it is read once"]


def _is_of_replies(pair: object) -> bool:
    """Whether a field and its column are of the replies, in one order or both."""
    return isinstance(pair, tuple) and str(pair[0]).partition(".")[0] == _REPLY


def _beginning(reply: str) -> str:
    text = " ".join(reply.split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
