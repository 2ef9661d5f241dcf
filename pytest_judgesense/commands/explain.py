"""``judgesense explain``: the meaning of a measure, and what to do when its check fails."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from pytest_judgesense.checks.declaration import LISTING
from pytest_judgesense.commands.options import registry_of
from pytest_judgesense.commands.schema_pages import SCHEMA_PAGES, schema_page
from pytest_judgesense.errors import UsageError, unknown_name
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.builtin import PAGES, measure_page, page
from pytest_judgesense.text.layout import WIDTH

_ALL_PAGES: Final = (*SCHEMA_PAGES, *PAGES)
# Pages that are named where words are asked for that are no name.
_MOST_SPEAKING: Final = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the name."""
    help_text = (
        "a measure (jss) or a check (jss_floor), as reports and node ids name it, or a page "
    )
    help_text += f"({', '.join(_ALL_PAGES)}); all measures are listed without one"
    parser.add_argument("name", metavar="NAME", nargs="?", help=help_text)


def run(options: argparse.Namespace) -> Iterator[str]:
    """Explain a measure, or what a check holds against its bar; without a name list them."""
    registry = registry_of(options)
    if options.name is None:
        for each in registry.measures.values():
            gated = f" ({each.check})" if each.check else ""
            yield from _wrapped(f"{each.name}{gated}: {each.meaning}")
        yield from _wrapped(f"pages: {', '.join(_ALL_PAGES)}")
        return
    if options.name in _ALL_PAGES:
        whole = schema_page(options.name) if options.name in SCHEMA_PAGES else page(options.name)
        head, *parts = re.split(r"^##+ (.+)\n", whole, flags=re.MULTILINE)
        yield from _plain_lines(head.partition("# ")[2])
        yield from _sections(parts)
        return
    name = options.name.partition("[")[0]
    check = registry.checks.get(name)
    measure = check.measure if check else registry.measures.get(name)
    if measure is None:
        if check is None:
            raise _unknown(name, registry)
        yield from _wrapped(f"{check.signature}: {check.meaning}")
        yield from _wrapped("its measures have separate pages: judgesense explain MEASURE")
        return
    yield from _wrapped(f"{measure.name}: {measure.meaning}")
    better = {"higher": "higher is better", "lower": "lower is better"}
    direction = better.get(measure.direction, "neither direction is better")
    gated = f"; checked by {measure.check}" if measure.check else ""
    yield from _wrapped(f"of {measure.unit}s, {direction}{gated}")
    if (text := measure_page(measure.name)) is None:
        source = measure.source or "this package"
        yield from _wrapped(f"it has no page here; it is provided by {source}")
        return
    yield from _sections(re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:])


def _sections(parts: Sequence[str]) -> Iterator[str]:
    """Titles and the texts below them, in turn, as lines."""
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        yield from ("", title.replace("`", ""))
        yield from _plain_lines(text.strip())


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


def _plain_lines(text: str) -> Iterator[str]:
    """Markdown as plain lines: links by their words, fences by their content."""
    plain = re.sub(r"\[([^\[\]]+)\]\([^()]+\)", r"\1", text)
    for part in re.split(r"(^```.*?^```$)", plain, flags=re.MULTILINE | re.DOTALL):
        if part.startswith("```"):
            yield from (f"  {line}" for line in part.splitlines()[1:-1])
            continue
        for paragraph in filter(None, part.strip().split("\n\n")):
            if paragraph.startswith("|"):
                yield from (f"  {line}" for line in _unmarked(paragraph).splitlines())
            elif not paragraph.startswith("<!--"):
                yield from _wrapped(" ".join(_unmarked(paragraph).split()), "  ")


def _unmarked(text: str) -> str:
    """Without the marks of code and of bold type; within code two stars are a power."""
    words_and_code = text.split("`")
    return "".join(
        part if place % 2 else part.replace("**", "") for place, part in enumerate(words_and_code)
    )


def _wrapped(text: str, first: str = "") -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent="  ", break_on_hyphens=False
    )
