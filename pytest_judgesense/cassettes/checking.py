"""Secrets in recordings that exist already: of this project, and stock vcrpy's YAML and JSON.

Nothing is changed, and only the place and kind of a secret are shown. YAML is read by the safe
loader, which builds only plain values: a tag that would run code is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_judgesense.cassettes.bodies import (
    NotDecodable,
    content_encoding,
    decoded,
    is_text,
    missing_decoder,
    opened,
)
from pytest_judgesense.cassettes.credentials import (
    SHORTEST_SECRET,
    Credentials,
    environment_credentials,
    request_credentials,
    response_credentials,
)
from pytest_judgesense.cassettes.exchange import as_body, as_bytes
from pytest_judgesense.cassettes.interchange import Answered, read_vcr
from pytest_judgesense.cassettes.redaction import scrub, scrub_body, scrub_url
from pytest_judgesense.cassettes.storage import numbered_exchanges
from pytest_judgesense.errors import BodyTooLarge, BrokenCassette, UsageError
from pytest_judgesense.files import read_text

_SUFFIXES: Final = (".json", ".jsonl", ".yaml", ".yml")
# Placeholders of removed secrets, of this project or of users' filters.
_REMOVED: Final = re.compile(
    r"(?:(?:bearer|basic|token)\s++)?(?:\[secret: .*\]|<.*>|\*+|x+|\W*+"
    r"(?:redacted|removed|filtered|dummy|placeholder|secret|fake|masked|scrubbed)[\w -]*+\W*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret in a recording: its place and kind, never its value."""

    place: str
    what: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings of a search, in the order of files and exchanges.

    ``skipped`` are the variables that were not searched for, with the reason.
    """

    findings: tuple[Finding, ...]
    broken: tuple[BrokenCassette, ...]
    skipped: Mapping[str, str]
    files: int
    exchanges: int


def check_cassettes(paths: Iterable[Path], environ: Mapping[str, str]) -> Checked:
    """Search recordings for the credentials of ``environ`` and for anything with the pattern of
    one.

    ``paths`` are cassettes, or folders that hold some; the variables that are searched for are
    those that are named like a credential.

    Raises:
        UsageError: a path does not exist, or does not have the suffix of a cassette.
    """
    findings: list[Finding] = []
    broken: list[BrokenCassette] = []
    files = exchanges = 0
    environment = list(environment_credentials(environ))
    for path in _files(paths):
        try:
            recorded = list(_read(path))
        except BrokenCassette as error:
            broken.append(error)
            continue
        files += 1
        exchanges += len(recorded)
        credentials = Credentials(environment)
        for one in recorded:
            credentials.learn((name, value) for _, name, value in _shown(one))
        secrets = credentials.values
        found = [finding for one in recorded for finding in _findings(one, secrets)]
        # Else elsewhere in the file: in comments, names, headers and fields that nothing reads.
        names = () if found else scrub(read_text(path), secrets)[1]
        findings += found or [Finding(str(path), name) for name in sorted(names)]
    skipped = dict(sorted(Credentials(environment).skipped.items()))
    return Checked(tuple(findings), tuple(broken), skipped, files, exchanges)


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(
                file for file in path.rglob("*") if file.suffix in _SUFFIXES and file.is_file()
            )
        elif path.suffix in _SUFFIXES and path.exists():
            yield path
        else:
            raise UsageError(
                f"{path} cannot be searched",
                found="no cassette by its suffix" if path.exists() else "no such file",
                expected="a folder, or a file with one of: " + ", ".join(_SUFFIXES),
            )


def _read(path: Path) -> Iterator[Answered]:
    if path.suffix != ".jsonl":
        yield from read_vcr(path)
        return
    for number, exchange in numbered_exchanges(path):
        request, response = exchange.request, exchange.response
        yield Answered(
            where=f"{path}:{number}",
            method=request.method,
            url=request.url,
            body=request.body,
            status=response.status,
            headers=tuple(response.headers.items()),
            data=as_bytes(response.body),
        )


def _shown(one: Answered) -> Iterator[tuple[str, str, str]]:
    """The credentials that an exchange shows by their place: part, description and value."""
    sent, received = (
        request_credentials(one.url, one.sent_headers),
        response_credentials(one.headers),
    )
    for part, shown in (("request", sent), ("response", received)):
        for name, value in shown:
            if not _REMOVED.fullmatch(value):
                yield part, name, value


def _findings(one: Answered, secrets: Mapping[str, str]) -> Iterator[Finding]:
    for part, name, value in _shown(one):
        if len(value) >= SHORTEST_SECRET:
            yield Finding(one.where, f"{part}: {name}")
    parts: dict[str, Callable[[], tuple[object, set[str]]]] = {
        "URL": lambda: scrub_url(one.url, secrets),
        "request body": lambda: _scrubbed(as_bytes(one.body), one.sent_headers, secrets),
        "response body": lambda: _scrubbed(one.data, one.headers, secrets),
    }
    for part, searched in parts.items():
        try:
            names = searched()[1]
        except BodyTooLarge as error:
            names = {f"cannot be searched: {error.what}"}
        yield from (Finding(one.where, f"{part}: {name}") for name in sorted(names))


def _scrubbed(
    data: bytes, headers: Iterable[tuple[str, str]], secrets: Mapping[str, str]
) -> tuple[object, set[str]]:
    encodings = content_encoding(headers)
    try:
        content = decoded(data, encodings)
    except NotDecodable:
        content = None
    if content is None and not is_text(data) and opened(data) is None:
        why = missing_decoder(encodings) or f"it is not {encodings}"
        return data, {f"cannot be searched: {why}"}
    return scrub_body(as_body(data if content is None else content), secrets)
