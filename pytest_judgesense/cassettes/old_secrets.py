"""Secrets in recordings that exist already: of this project, and those of others as plain text.

Nothing is changed, and only the place and kind of a secret are shown.
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
from pytest_judgesense.cassettes.exchange import Exchange, as_body, as_bytes
from pytest_judgesense.cassettes.redaction import scrub, scrub_body, scrub_url
from pytest_judgesense.cassettes.storage import numbered_exchanges
from pytest_judgesense.errors import BodyTooLarge, BrokenCassette, UsageError, listed
from pytest_judgesense.files.opening import read_bytes

_SUFFIXES: Final = (".json", ".jsonl", ".yaml", ".yml")
# Placeholders of removed secrets, of this project or of users' filters.
_REMOVED: Final = re.compile(
    r"(?:(?:bearer|basic|token)\s++)?(?:\[secret: .*\]|<.*>|\*+|x+|\W*+"
    r"(?:redacted|removed|filtered|dummy|placeholder|secret|fake|masked|scrubbed)[\w -]*+\W*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CassetteFault:
    """A secret in a recording: its place and kind, never its value."""

    place: str
    kind: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The faults that a search has found, in the order of files and exchanges.

    ``skipped`` are the variables that were not searched for, with the reason.
    """

    faults: tuple[CassetteFault, ...]
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
    faults: list[CassetteFault] = []
    broken: list[BrokenCassette] = []
    files = exchanges = 0
    environment = list(environment_credentials(environ))
    for path in _files(paths):
        credentials = Credentials(environment)
        try:
            if path.suffix == ".jsonl":
                recorded = [
                    (f"{path}:{number}", exchange) for number, exchange in numbered_exchanges(path)
                ]
                faults += _faults_of_cassette(path, recorded, credentials)
                exchanges += len(recorded)
            else:
                faults += _faults_in_text(path, credentials)
        except BrokenCassette as error:
            broken.append(error)
            continue
        files += 1
    skipped = dict(sorted(Credentials(environment).skipped.items()))
    return Checked(tuple(faults), tuple(broken), skipped, files, exchanges)


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
                expected="a folder, or a file with one of: " + listed(_SUFFIXES),
            )


def _faults_of_cassette(
    path: Path, recorded: Iterable[tuple[str, Exchange]], credentials: Credentials
) -> list[CassetteFault]:
    for _, exchange in recorded:
        credentials.learn((name, value) for _, name, value in _shown(exchange))
    faults = [
        CassetteFault(place, kind)
        for place, exchange in recorded
        for kind in _kinds_in(exchange, credentials.values)
    ]
    # Else elsewhere in the file: in names, headers and fields that nothing reads.
    return faults or _faults_in_text(path, credentials)


def _faults_in_text(path: Path, credentials: Credentials) -> list[CassetteFault]:
    """The secrets in a file of any form; in which part of it is not known."""
    with BrokenCassette.instead_of(OSError, f"{path} cannot be read"):
        text = as_body(read_bytes(path))

    def searched() -> tuple[object, set[str]]:
        if path.suffix == ".jsonl" and isinstance(text, str):  # its bodies have been searched
            return scrub(text, credentials.values)
        return scrub_body(text, credentials.values)

    return [CassetteFault(str(path), kind) for kind in _kinds(searched)]


def _shown(exchange: Exchange) -> Iterator[tuple[str, str, str]]:
    """The credentials that an exchange shows by their place: part, description and value."""
    parts = {
        "request": request_credentials(exchange.request.url, ()),
        "response": response_credentials(exchange.response.headers.items()),
    }
    for part, shown in parts.items():
        for name, value in shown:
            if not _REMOVED.fullmatch(value):
                yield part, name, value


def _kinds_in(exchange: Exchange, secrets: Mapping[str, str]) -> Iterator[str]:
    """What secrets an exchange holds, and in which part."""
    for part, name, value in _shown(exchange):
        if len(value) >= SHORTEST_SECRET:
            yield f"{part}: {name}"
    request, response = exchange.request, exchange.response
    parts: dict[str, Callable[[], tuple[object, set[str]]]] = {
        "URL": lambda: scrub_url(request.url, secrets),
        "request body": lambda: _scrubbed(as_bytes(request.body), (), secrets),
        "response body": lambda: _scrubbed(
            as_bytes(response.body), response.headers.items(), secrets
        ),
    }
    for part, searched in parts.items():
        yield from (f"{part}: {kind}" for kind in _kinds(searched))


def _kinds(searched: Callable[[], tuple[object, set[str]]]) -> list[str]:
    try:
        return sorted(searched()[1])
    except BodyTooLarge as error:
        return [f"cannot be searched: {error.what}"]


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
