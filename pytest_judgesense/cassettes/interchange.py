"""Recordings in the forms of others: vcrpy's YAML and JSON files, and OpenAI's batch files.

A vcrpy file has no trials. The files written here have them beside each interaction, under
``judgesense``, which vcrpy and pytest-recording ignore; so they play there, and convert back
exchange for exchange. Foreign files are data: YAML is parsed by the safe loader, and everything is
recorded through a `Cassette`, which removes secrets.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from http.client import responses
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar

import yaml

from pytest_judgesense.cassettes.credentials import (
    Credentials,
    environment_credentials,
    request_credentials,
)
from pytest_judgesense.cassettes.exchange import CALL, Exchange, as_body
from pytest_judgesense.cassettes.redaction import Redactor
from pytest_judgesense.errors import BrokenCassette, CassetteError, LogError
from pytest_judgesense.files import read_bytes, read_text
from pytest_judgesense.limits import DEEPEST, check_depth, json_value, limits

Form: TypeAlias = Literal["yaml", "json"]
_T = TypeVar("_T")

BATCH_URL: Final = "/v1/chat/completions"
_OURS: Final = "judgesense"
_INSTANT: Final = "%Y-%m-%dT%H:%M:%SZ"
# A batch file keeps no headers; the body of an answer is JSON.
JSON_HEADERS: Final = (("content-type", "application/json"),)
# libyaml is ten times as fast, and not in every build of PyYAML. Either is safe.
_SafeLoader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SafeDumper: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@dataclass(frozen=True, slots=True)
class Answered:
    """A request and its answer as somebody else has recorded them, secrets and all.

    ``where`` is the place in the file, ``data`` the answer as it came over the wire; ``trial`` and
    ``recorded_at`` are ``None`` where the file does not say.
    """

    where: str
    method: str
    url: str
    body: str | bytes
    status: int
    headers: tuple[tuple[str, str], ...]
    data: bytes
    trial: str | None = None
    recorded_at: str | None = None
    sent_headers: tuple[tuple[str, str], ...] = ()

    @property
    def shown(self) -> str:
        """Its place, its method and its URL, without credentials."""
        known = Credentials(request_credentials(self.url, self.sent_headers))
        known.know(environment_credentials(os.environ))
        url = Redactor(known, noting=False).url(self.url)
        return f"{self.where}: {self.method} {url}"


@dataclass(frozen=True, slots=True)
class BatchResult:
    """A line of the output or error file of a batch.

    Without a ``status`` the request was not answered; ``reason`` is the provider's.
    """

    where: str
    custom_id: str
    status: int | None
    data: bytes
    reason: str = ""
    recorded_at: str | None = None


def vcr_text(exchanges: Iterable[Exchange], form: Form) -> str:
    """A vcrpy file with ``exchanges``, in ASCII: vcrpy opens it in the locale's encoding.

    Raises:
        CassetteError: an exchange is the call of a function or, in JSON, no text; or, in YAML,
            none that UTF-8 can hold.
    """
    # What a function made of the answers is none of them.
    kept = (exchange for exchange in exchanges if not exchange.returns)
    interactions = [_interaction(exchange, form) for exchange in kept]
    value = {"interactions": interactions, "version": 1}
    if form == "json":
        return json.dumps(value, indent=4) + "\n"
    try:
        return str(yaml.dump(value, Dumper=_SafeDumper))
    except UnicodeEncodeError as error:
        raise CassetteError(
            "the cassette has no form in a vcrpy YAML file",
            found="an unpaired surrogate in a text",
            expected="text that UTF-8 can encode",
            remedy="convert to JSON",
        ) from error


def _interaction(exchange: Exchange, form: Form) -> dict[str, Any]:
    request, response = exchange.request, exchange.response
    found = ""
    if request.method == CALL:
        found = "the call of a Python function, not of an HTTP endpoint"
    elif form == "json" and not (isinstance(request.body, str) and isinstance(response.body, str)):
        found = "a body that is not text"
    if found:
        raise CassetteError(
            f"call {exchange.call} of trial {exchange.trial} has no form in a vcrpy "
            f"{form.upper()} file",
            found=found,
            expected="an HTTP exchange" + (" of text" if form == "json" else ""),
            remedy="convert to YAML" if "text" in found else "keep this recording as it is",
        )
    return {
        "request": {
            "body": request.body or None,
            "headers": {},
            "method": request.method,
            "uri": request.url,
        },
        "response": {
            "body": {"string": response.body},
            "headers": {name: [text] for name, text in sorted(response.headers.items())},
            "status": {"code": response.status, "message": responses.get(response.status, "")},
        },
        _OURS: {name: getattr(exchange, name) for name in ("trial", "call", "recorded_at")},
    }


def read_vcr(path: Path) -> list[Answered]:
    """The interactions of a vcrpy file, YAML or JSON by its suffix, in their order.

    Raises:
        BrokenCassette: the file cannot be read; names file and interaction.
    """
    where = str(path)
    try:
        text = read_text(path)
        is_json = path.suffix == ".json"
        value = json_value(text) if is_json else _yaml_value(text)
        check_depth(value)
        if _written(value, {}) > limits().file_bytes:
            raise ValueError("with its aliases expanded it is larger than file_bytes")  # noqa: TRY301
        where = f"{path}: the file"
        interactions = _typed(_typed(value, dict, "the file").get("interactions"), list, where)
        found = []
        for number, interaction in enumerate(interactions, start=1):
            where = f"{path}: interaction {number}"
            found.append(_answered(_typed(interaction, dict, "it"), where))
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        raise BrokenCassette(
            f"{where} cannot be read as a recording of vcrpy",
            found=" ".join(str(error).split())[:300],
            expected="a mapping with version 1 and a list of interactions, each with request "
            "(method, uri, body) and response (status, headers, body), of plain values",
            remedy="record it again with vcrpy 1.0 or later",
        ) from error
    return found


def _yaml_value(text: str) -> Any:
    # Made of nested nodes by recursion in C, which ends the process where they are too many.
    depth = 0
    try:
        for event in yaml.parse(text, _SafeLoader):
            if isinstance(event, yaml.ScalarEvent) and _merges(event):
                at = f" (at line {mark.line + 1})" if (mark := event.start_mark) else ""
                raise ValueError(f"a merge key, which no recording has{at}")
            if isinstance(event, yaml.CollectionStartEvent | yaml.CollectionEndEvent):
                depth += 1 if isinstance(event, yaml.CollectionStartEvent) else -1
                if depth > DEEPEST:
                    raise ValueError(f"nested deeper than {DEEPEST}")
    except yaml.YAMLError as error:
        if "nesting depth" in str(error):  # the limit of newer parsers, which read ahead
            raise ValueError(f"nested deeper than {DEEPEST}") from error
        raise
    return yaml.load(text, _SafeLoader)  # noqa: S506 - a safe one


def _status(value: Any, name: str) -> int:
    status: int = _typed(value, int, name)
    if not 100 <= status <= 999:
        raise ValueError(f"{name} is {status}, and no status of HTTP")
    return status


def _merges(event: yaml.ScalarEvent) -> bool:
    """Whether a scalar is the key ``<<``: mappings in mappings cost older parsers their product."""
    if event.tag is not None:
        return bool(event.tag == "tag:yaml.org,2002:merge")
    return bool(event.value == "<<" and event.implicit[0])


def _written(value: Any, known: dict[int, int]) -> int:
    """Characters of a YAML value with its aliases expanded: a few lines can stand for gigabytes."""
    if isinstance(value, str | bytes):
        return len(value)
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        inner = [*value, *value.values()] if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_written(one, known) for one in inner)
    return known[id(value)]


def _answered(interaction: Mapping[str, Any], where: str) -> Answered:
    request = _typed(interaction.get("request"), dict, "request")
    response = _typed(interaction.get("response"), dict, "response")
    status = _typed(response.get("status"), dict, "response.status")
    body = _typed(response.get("body"), dict, "response.body")
    content = body if "base64_string" in body else None
    ours = _typed(interaction.get(_OURS, {}), dict, _OURS)
    trial, recorded_at = (
        None if ours.get(name) is None else _typed(ours[name], str, f"{_OURS}.{name}")
        for name in ("trial", "recorded_at")
    )
    if recorded_at is not None:
        datetime.strptime(recorded_at, _INSTANT).replace(tzinfo=UTC)
    return Answered(
        where=where,
        method=_typed(request.get("method"), str, "request.method"),
        url=_typed(request.get("uri"), str, "request.uri"),
        body=as_body(_bytes(request.get("body"), "request.body")),
        status=_status(status.get("code"), "response.status.code"),
        headers=tuple(_headers(response.get("headers") or {}, "response.headers")),
        data=_bytes(body.get("string", content), "response.body.string"),
        trial=trial,
        recorded_at=recorded_at,
        sent_headers=tuple(_headers(request.get("headers") or {}, "request.headers")),
    )


def _headers(value: Any, of: str) -> Iterator[tuple[str, str]]:
    for name, given in _typed(value, dict, of).items():
        for text in given if isinstance(given, list) else [given]:
            plain = text.decode("latin-1") if isinstance(text, bytes) else str(text)
            yield str(name), plain


def _bytes(value: Any, name: str) -> bytes:
    if value is None or isinstance(value, bytes):
        return value or b""
    if isinstance(value, dict) and "base64_string" in value:
        return base64.b64decode(value["base64_string"])
    if isinstance(value, dict | list):
        # The object that aiohttp was given as ``json=`` is stored unchanged.
        return json.dumps(value).encode()
    # Besides text, a plain YES or 1 of YAML.
    text = str(value) if isinstance(value, bool | int | float) else _typed(value, str, name)
    return text.encode("utf-8", "surrogatepass")


def _typed(value: Any, kind: type[_T], name: str) -> _T:
    if not isinstance(value, kind) or isinstance(value, bool):
        message = f"{name} is {type(value).__name__}, not {kind.__name__}"
        raise ValueError(message)  # noqa: TRY004 - the file is wrong, not the program
    return value


def batch_line(custom_id: str, body: bytes) -> str:
    """A line of a batch's input file, without a line end; ``body`` is inserted unchanged."""
    head = json.dumps({"custom_id": custom_id, "method": "POST", "url": BATCH_URL})
    return f'{head[:-1]}, "body": {body.decode()}}}'


def read_batch_results(path: Path) -> Iterator[BatchResult]:
    """The lines of the output or error file of a batch, as OpenAI and vLLM write them.

    Raises:
        LogError: the file or a line of it cannot be read; names file and line.
    """
    with LogError.instead_of(OSError, f"the results {path} cannot be read"):
        lines = read_bytes(path).split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            yield _result(_typed(json_value(line), dict, "the line"), where)
        except (ValueError, RecursionError) as error:
            raise LogError(
                f"{where} is not a result of a batch",
                found=str(error),
                expected="a JSON object with custom_id, response (status_code, body) and error",
                remedy="download the output or error file of the batch again",
            ) from error


def _result(line: Mapping[str, Any], where: str) -> BatchResult:
    custom_id = _typed(line.get("custom_id"), str, "custom_id")
    error, response = line.get("error"), line.get("response")
    body = status = None
    if response is not None:
        status = _status(_typed(response, dict, "response").get("status_code"), "status_code")
        body = response.get("body")
        if body is None and status >= HTTPStatus.BAD_REQUEST:
            # vLLM puts its server's answer beside the response.
            body = error if isinstance(error, dict) and "error" in error else {"error": error}
    if body is None:
        return BatchResult(where, custom_id, None, b"", _reason(error))
    return BatchResult(where, custom_id, status, _compact(body), "", _created(body))


def _reason(error: Any) -> str:
    if isinstance(error, dict):
        return str(error.get("message") or error.get("code") or error)
    return str(error or "no response and no error")


def _compact(body: Any) -> bytes:
    """A body as servers send it; a batch file holds it parsed, so its spaces are unknown."""
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(body, separators=(",", ":")).encode()


def _created(body: Any) -> str | None:
    """When the answer was made: ``created``, in seconds since 1970."""
    created = body.get("created") if isinstance(body, dict) else None
    if not isinstance(created, int) or created <= 0:
        return None
    try:
        return datetime.fromtimestamp(created, UTC).strftime(_INSTANT)
    except (ValueError, OverflowError, OSError):
        return None
