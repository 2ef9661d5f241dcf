"""Which column tells the outputs of two sessions apart by what was asked.

One that the user names; else questions, which are all texts that the judge was shown but the
outputs.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Final

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.synonyms import candidates_among, column_of
from pytest_judgesense.questions.compare.judged_session import JudgedSession, columns_of, shown_of
from pytest_judgesense.questions.compare.within_strata import Strata
from pytest_judgesense.trial import Judgment

# Of the outputs of the session that has fewer: questions that both happen to share decide only if
# they are so many. All outputs say more than a few of them.
_LEAST_SHARED: Final = 0.5


def strata_of(
    column: str | None, sessions: tuple[JudgedSession, JudgedSession], *, pairwise: bool
) -> Strata | None:
    """What tells outputs apart by what was asked; ``None`` where nothing does.

    Args:
        column: that the user names.
        sessions: the reference, and now.
        pairwise: whether two outputs are compared.

    Raises:
        UsageError: a session does not have the column, or it holds the outputs themselves.
    """
    shown = dict.fromkeys(
        name
        for session in sessions
        for judgment in session.judgments
        for name in shown_of(judgment)
    )
    outputs = _outputs_among(shown, pairwise=pairwise)
    if column is None:
        return _questions([name for name in shown if name not in outputs], outputs, pairwise)
    _refuse_column(column, outputs, sessions)
    return Strata(column, lambda judgment: columns_of(judgment).get(column, "").strip() or None)


def _refuse_column(
    column: str, outputs: Collection[str], sessions: tuple[JudgedSession, JudgedSession]
) -> None:
    """Raise a `UsageError` if a session does not have the column, or it holds the outputs."""
    if column in outputs:
        raise UsageError(
            f"column {column!r} holds the outputs: of equal ones nothing could have moved",
            found="the texts that were judged",
            expected="a column of what was asked, such as the question or its kind",
            remedy="name that one, or leave --strata out",
        )
    for session in sessions:
        names = dict.fromkeys(
            name for judgment in session.judgments for name in columns_of(judgment)
        )
        if column not in names:
            raise UsageError(
                f"{session.where} has no column {column!r} of its outputs",
                found=listed(names) or "no text that was shown, and no condition",
                expected="a column that both sessions have",
                remedy="import the log with it: "
                f"judgesense import table FILE --map condition.{column}=COLUMN",
            )


def _outputs_among(shown: Collection[str], *, pairwise: bool) -> set[str]:
    """The names of the texts that were judged, as far as their names tell it."""
    output = column_of("output", shown)
    candidates = candidates_among(shown) if pairwise else None
    return {*(candidates or ()), *(() if output is None else (output,))}


def _questions(asked: Sequence[str], outputs: Collection[str], pairwise: bool) -> Strata | None:
    """The texts that were shown but for the outputs; ``None`` where these are not told apart."""
    if not asked or not (pairwise or outputs):
        return None

    def question(judgment: Judgment) -> str | None:
        shown = shown_of(judgment)
        return json.dumps([shown.get(name) for name in asked]) if shown else None

    return Strata(", ".join(asked), question, _LEAST_SHARED)
