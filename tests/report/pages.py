"""A page taken apart: its elements, and its evidence unpacked as a browser would."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from typing import Any


class Page(HTMLParser):
    """Tables by caption, attributes of every element, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = text
        self.tables: dict[str, list[list[str]]] = {}
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"style": [], "script": []}
        self.facts: list[list[str]] = []
        self._into: list[str] | None = None
        self._rows: list[list[str]] = []
        self._caption = ""
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)
        if tag in self.raw:
            self.raw[tag].append("")
        if tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")
        elif tag == "dl":
            self.facts.append([])
        elif tag in ("dt", "dd"):
            self.facts[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass
        if tag == "table":
            assert self._caption not in self.tables, self._caption
            self.tables[self._caption] = self._rows

    def handle_data(self, data: str) -> None:
        tags = set(self._open)
        if self._open and self._open[-1] in self.raw:
            self.raw[self._open[-1]][-1] += data
        elif "caption" in tags:
            self._caption += data
        elif tags & {"td", "th"}:
            self._rows[-1][-1] += data
        elif tags & {"dt", "dd"}:
            self.facts[-1][-1] += data

    @property
    def evidence(self) -> dict[str, Any]:
        (packed,) = re.findall(r'id="packed">([^<]*)<', self.text)
        found: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(packed)))
        return found
