"""An explanation: paragraphs, and the sections of a page as a terminal shows its Markdown."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.text.layout import WIDTH


class PageSection(NamedTuple):
    """A part of a page: its title, and the text below it, both in Markdown."""

    title: str
    text: str


def sections_of(parts: Sequence[str]) -> tuple[PageSection, ...]:
    """Sections of titles and the texts below them, in turn."""
    titles_and_texts = zip(parts[::2], parts[1::2], strict=True)
    return tuple(PageSection(title, text.strip()) for title, text in titles_and_texts)


@dataclass(frozen=True)
class ExplainAnswer(QuestionAnswer):
    """What a name means.

    Attributes:
        name: of the measure, check or page; ``None`` of the list of all.
        paragraphs: plain sentences.
        introduction: what stands at the head of a page, in Markdown; empty where there is none.
        sections: of the page.
    """

    name: str | None
    paragraphs: tuple[str, ...]
    introduction: str = ""
    sections: tuple[PageSection, ...] = ()

    def lines(self) -> Iterator[str]:
        """The paragraphs, then the page without the marks of Markdown."""
        for paragraph in self.paragraphs:
            yield from _wrapped(paragraph)
        yield from _plain_lines(self.introduction)
        for section in self.sections:
            yield from ("", section.title.replace("`", ""))
            yield from _plain_lines(section.text)

    def to_dict(self) -> Mapping[str, Any]:
        return {
            "name": self.name,
            "paragraphs": list(self.paragraphs),
            "introduction": self.introduction,
            "sections": [section._asdict() for section in self.sections],
        }


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
