"""What a name means that a report or a node id shows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from pytest_judgesense.checks.declaration import LISTING
from pytest_judgesense.errors import UsageError, unknown_name
from pytest_judgesense.measures.bar import CheckKind
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.questions.explain.answer import ExplainAnswer, sections_of
from pytest_judgesense.questions.explain.schema_pages import SCHEMA_PAGES, schema_page
from pytest_judgesense.questions.place import Place
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.builtin import PAGES, measure_page, page

ALL_PAGES: Final = (*SCHEMA_PAGES, *PAGES)
# Pages that are named where words are asked for that are no name.
_MOST_SPEAKING: Final = 3
_BETTER: Final = {"higher": "higher is better", "lower": "lower is better"}


@dataclass(frozen=True)
class ExplainQuestion:
    """What a name means. No call is made.

    Attributes:
        name: a measure, a check with or without its bar, or a page; ``None`` for the list of all.
        place: whose plugins add measures.
    """

    name: str | None = None
    place: Place = field(default_factory=Place)

    def answer(self) -> ExplainAnswer:
        """The meaning, and the sections of the page.

        Raises:
            UsageError: nothing is called so.
        """
        registry = self.place.registry
        if self.name is None:
            return _list_of(registry)
        if self.name in ALL_PAGES:
            return _page_called(self.name)
        name = self.name.partition("[")[0]
        check = registry.checks.get(name)
        measure = check.measure if check else registry.measures.get(name)
        if measure is not None:
            return _measure_explained(measure)
        if check is None:
            raise _unknown(name, registry)
        return _check_explained(name, check)


def _list_of(registry: Registry) -> ExplainAnswer:
    """All measures with their checks, and the pages."""
    measures = (
        f"{measure.name}{f' ({measure.check})' if measure.check else ''}: {measure.meaning}"
        for measure in registry.measures.values()
    )
    return ExplainAnswer(None, (*measures, f"pages: {', '.join(ALL_PAGES)}"))


def _page_called(name: str) -> ExplainAnswer:
    whole = schema_page(name) if name in SCHEMA_PAGES else page(name)
    head, *parts = re.split(r"^##+ (.+)\n", whole, flags=re.MULTILINE)
    introduction = head.partition("# ")[2]
    return ExplainAnswer(name, (), introduction, sections_of(parts))


def _check_explained(name: str, check: CheckKind) -> ExplainAnswer:
    """What a check of several measures holds against its bars."""
    separate = "its measures have separate pages: judgesense explain MEASURE"
    return ExplainAnswer(name, (f"{check.signature}: {check.meaning}", separate))


def _measure_explained(measure: Measure) -> ExplainAnswer:
    direction = _BETTER.get(measure.direction, "neither direction is better")
    gated = f"; checked by {measure.check}" if measure.check else ""
    paragraphs = (
        f"{measure.name}: {measure.meaning}",
        f"of {measure.unit}s, {direction}{gated}",
    )
    text = measure_page(measure.name)
    if text is None:
        source = measure.source or "this package"
        no_page = f"it has no page here; it is provided by {source}"
        return ExplainAnswer(measure.name, (*paragraphs, no_page))
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    return ExplainAnswer(measure.name, paragraphs, sections=sections_of(parts))


def _unknown(name: str, registry: Registry) -> UsageError:
    """The error that names what is called alike, or the measures whose pages use these words."""
    names = [*registry.measures, *registry.checks]
    error = unknown_name("measure or check", name, names, LISTING)
    words = _words_of(name)
    pages = {name: _words_of(measure_page(name) or "") for name in registry.measures}
    speaking = [name for name, text in pages.items() if len(words) > 4 and words in text]
    if not speaking:
        return error

    def order(name: str) -> tuple[bool, int]:
        return f"also called {words}" not in pages[name], -pages[name].count(words)

    one_of = " or ".join(sorted(speaking, key=order)[:_MOST_SPEAKING])
    remedy = f'read about "{words}" with: judgesense explain {one_of}'
    return UsageError(error.what, expected=error.expected, remedy=remedy)


def _words_of(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))
