"""Secrets in recordings that exist already: of this project, and stock vcrpy's YAML and JSON.

Nothing is changed and nothing is shown but where a secret stands and of what kind it is. YAML is
read by the safe loader, which builds plain values only: a tag that would run code is an error.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from pytest_judgesense.cassettes.bodies import decoded, parts_path
from pytest_judgesense.cassettes.credentials import (
    SHORTEST_SECRET,
    Credentials,
    environment_credentials,
    request_credentials,
    response_credentials,
)
from pytest_judgesense.cassettes.exchange import Body, as_body
from pytest_judgesense.cassettes.journal import read_exchanges
from pytest_judgesense.cassettes.scrubbing import redact_url, scrub, scrub_body
from pytest_judgesense.errors import BrokenCassette, UsageError

__all__ = ["Checked", "Finding", "check_cassettes"]

_SUFFIXES: Final = (".json", ".jsonl", ".yaml", ".yml")
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What stands where a secret was removed: by this project, or by filters that people write.
_REMOVED: Final = re.compile(
    r"(?:(?:bearer|basic|token)\s+)?(?:\[secret: .*\]|<.*>|\*+|x+|\W*"
    r"(?:redacted|removed|filtered|dummy|placeholder|secret|fake|masked|scrubbed)[\w -]*\W*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret in a recording: where it stands and what it is, never its value."""

    place: str
    what: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What a search found.

    Attributes:
        findings: in the order of files and exchanges.
        broken: errors of the files that could not be read.
        skipped: variables that were not searched for, with the reason.
        files, exchanges: how many were read.
    """

    findings: tuple[Finding, ...]
    broken: tuple[BrokenCassette, ...]
    skipped: Mapping[str, str]
    files: int
    exchanges: int


@dataclass(frozen=True, slots=True)
class _Recorded:
    """One exchange of any format; ``place`` is where it stands in its file."""

    place: str
    url: str
    sent: Body
    answered: Body
    sent_headers: Sequence[tuple[str, str]] = ()
    answered_headers: Sequence[tuple[str, str]] = ()


def check_cassettes(paths: Iterable[Path], environ: Mapping[str, str]) -> Checked:
    """Search recordings for the credentials of ``environ``, and for whatever looks like one.

    Args:
        paths: cassettes, or folders that hold some.
        environ: its variables that are named like a credential are searched for.

    Raises:
        UsageError: a path is not there, or is no cassette by its suffix.
    """
    findings: list[Finding] = []
    broken: list[BrokenCassette] = []
    files = exchanges = 0
    environment = list(environment_credentials(environ))
    for path in _files(paths):
        credentials = Credentials(environment)
        try:
            recorded = list(_read(path))
        except BrokenCassette as error:
            broken.append(error)
            continue
        files += 1
        exchanges += len(recorded)
        for exchange in recorded:
            shown = [
                *request_credentials(exchange.url, exchange.sent_headers),
                *response_credentials(exchange.answered_headers),
            ]
            credentials.learn(pair for pair in shown if not _REMOVED.fullmatch(pair[1]))
        found = [
            finding for exchange in recorded for finding in _findings(exchange, credentials.values)
        ]
        findings += found or _in_the_rest(path, credentials.values)
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


def _read(path: Path) -> Iterator[_Recorded]:
    if path.suffix == ".jsonl":
        for line, exchange in enumerate(read_exchanges(path), start=1):
            yield _Recorded(
                f"{path}:{line}",
                exchange.request.url,
                exchange.request.body,
                exchange.response.body,
                answered_headers=list(exchange.response.headers.items()),
            )
        return
    loads: Callable[[str], Any] = json.loads
    if path.suffix in (".yaml", ".yml"):
        loads = _load_yaml
    try:
        data = loads(path.read_text(encoding="utf-8"))
        interactions = data["interactions"]
        yield from [
            _interaction(f"{path}: interaction {number}", interaction)
            for number, interaction in enumerate(interactions, start=1)
        ]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise BrokenCassette(
            f"{path} cannot be read",
            found=f"{type(error).__name__}: {error}",
            expected="a cassette of vcrpy: interactions of a request and a response each",
            remedy="restore the file from version control",
        ) from error


def _load_yaml(text: str) -> Any:
    try:
        return yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader, as fast as C
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _interaction(place: str, data: Mapping[str, Any]) -> _Recorded:
    request, response = data["request"], data["response"]
    sent_headers = list(_headers(request.get("headers")))
    answered_headers = list(_headers(response.get("headers")))
    return _Recorded(
        place,
        str(request["uri"]),
        _body(request.get("body"), sent_headers),
        _body(response.get("body"), answered_headers),
        sent_headers,
        answered_headers,
    )


def _headers(value: Any) -> Iterator[tuple[str, str]]:
    for name, given in (value or {}).items():
        for one in given if isinstance(given, list) else [given]:
            yield str(name), one.decode("latin-1") if isinstance(one, bytes) else str(one)


def _body(value: Any, headers: Iterable[tuple[str, str]]) -> Body:
    if isinstance(value, dict):
        if "base64_string" in value:
            try:
                value = base64.b64decode(value["base64_string"])
            except binascii.Error as error:
                raise ValueError(f"base64_string is not base64: {error}") from error
        else:
            value = value.get("string")
    if value is None:
        return ""
    data = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    encodings = ",".join(text for name, text in headers if name.lower() == "content-encoding")
    content = decoded(data, encodings)
    return as_body(data if content is None else content)


def _findings(exchange: _Recorded, secrets: Mapping[str, str]) -> Iterator[Finding]:
    place = exchange.place
    for part, shown in (
        ("request", request_credentials(exchange.url, exchange.sent_headers)),
        ("response", response_credentials(exchange.answered_headers)),
    ):
        for name, value in shown:
            if len(value) >= SHORTEST_SECRET and not _REMOVED.fullmatch(value):
                yield Finding(place, f"{part}: {name}")
    url = redact_url(exchange.url)
    yield from (Finding(place, f"URL: {name}") for name in sorted(scrub(url, secrets)[1]))
    for part, body in (("request", exchange.sent), ("response", exchange.answered)):
        for name in sorted(scrub_body(body, secrets)[1]):
            yield Finding(place, f"{part} body: {name}")


def _in_the_rest(path: Path, secrets: Mapping[str, str]) -> Iterator[Finding]:
    """Known values elsewhere in the file: in comments, names, fields that nothing reads."""
    text = path.read_text(encoding="utf-8")
    if (beside := parts_path(path)).is_file():
        text += beside.read_text(encoding="utf-8")
    if any(value in text for value in secrets.values()):
        yield from (Finding(str(path), name) for name in sorted(scrub(text, secrets)[1]))
