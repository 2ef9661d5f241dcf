"""The type `Judge` of users: how Python code declares a judge, and what the fixture is."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from pytest_judgesense.errors import UsageError

if TYPE_CHECKING:
    from pytest_judgesense.judges.providers.base import Reply
    from pytest_judgesense.judges.spec import JudgeFunction, JudgeSpec

# The text of the user's turn, or whole messages, each with ``role`` and ``content``.
Prompt: TypeAlias = str | Sequence[Mapping[str, str]]


class Judge:
    """A judge: returned from ``pytest_judgesense_judges`` in a ``conftest.py``, or measured.

    It is also the type of the fixture `judge`, which alone can be asked.

    Args:
        name: how tests and reports call it.
        function: any function, sync or async. It takes the messages (a list of ``{"role": ...,
            "content": ...}``), or fields of the suite by the names of its parameters or by
            ``arguments``; it returns a text, a label, a bool, an Enum, a number or a dictionary.
        settings: the keys of a table ``[tool.judgesense.judges.<name>]``; ``provider`` may be a
            `Provider` itself, and the ``members`` of a jury may be judges.

    Attributes:
        name: name of the judge.

    Raises:
        UsageError: a setting is unknown or wrong.
    """

    def __init__(self, name: str, function: JudgeFunction | None = None, **settings: Any) -> None:
        # Pydantic's forms are for judges that are declared, not for the type of a fixture.
        from pytest_judgesense.judges.judge_table import declared_judge

        # What a function is made with stands there: a part of one, an object.
        source = Path(sys._getframe(1).f_code.co_filename).resolve()
        if isinstance(members := settings.get("members"), list | tuple):
            settings["members"] = [m.spec if isinstance(m, Judge) else m for m in members]
        self._spec = declared_judge(name, function, source, **settings)

    @property
    def name(self) -> str:
        return self._spec.name

    @property
    def slug(self) -> str:
        """Its name in test ids and names of files."""
        return self._spec.slug

    @property
    def spec(self) -> JudgeSpec:
        """What was declared."""
        return self._spec

    def __repr__(self) -> str:
        return f"Judge({self.name!r})"

    def ask(self, prompt: Prompt) -> Reply:
        """The reply to a prompt or to whole messages.

        Raises:
            JudgeError: the call failed.
            CassetteError: replaying, and the recording does not serve.
            UsageError: the judge is not that of the fixture.
        """
        self._refuse()

    async def ask_async(self, prompt: Prompt) -> Reply:
        """`ask`, for ``async def`` tests; several questions may run concurrently."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise UsageError(
            f"judge {self.name!r} cannot be asked here",
            found="a judge that Python code declared, which no recording belongs to",
            expected="the fixture `judge` of a test, whose questions are recorded",
            remedy="return it from pytest_judgesense_judges and ask the fixture, or measure it by "
            "pytest_judgesense.measure",
        )
