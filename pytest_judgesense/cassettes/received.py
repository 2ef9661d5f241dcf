"""What is recorded of a response, and what of it its client gets on replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from pytest_judgesense.cassettes.bodies import (
    MOST_BYTES,
    NotDecodable,
    content_encoding,
    decoded,
    encoded,
    encodings_in,
    is_text,
    missing_decoder,
    opened,
)
from pytest_judgesense.cassettes.exchange import FAULT, RecordedResponse, as_body, as_bytes
from pytest_judgesense.cassettes.redaction import redact_url

# The last two are what SDKs know an error by (AWS), or whether to try again (OpenAI, Anthropic).
_RESPONSE_HEADERS: Final = frozenset(
    {"content-type", "location", "retry-after", "x-amzn-errortype", "x-should-retry"}
)
# Added to the recorded headers: the encodings in which a client was given the body.
ENCODED: Final = "judgesense-encoding"
# And how many bytes of a body did not come that its length had announced.
MISSING: Final = "judgesense-missing"
_ENCODING: Final = "content-encoding"
# The fault of a response with a body that nothing decodes.
UNDECODED: Final = "a body that cannot be decoded"
# No decoder takes what begins with it, nor is it text: clients fail at it as they did.
_NO_CONTENT: Final = b"\xff"


def allowed_headers(headers: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """The response headers that are recorded, by name in lower case; repeated ones are joined."""
    allowed: dict[str, str] = {}
    for name, value in headers:
        low = name.lower()
        if low in _RESPONSE_HEADERS:
            allowed[low] = f"{allowed[low]}, {value}" if low in allowed else value
    if "location" in allowed:
        allowed["location"] = redact_url(allowed["location"])
    return MappingProxyType(allowed)


def received(
    status: int,
    headers: Iterable[tuple[str, str]],
    data: bytes,
    most: int = MOST_BYTES,
    by_client: Callable[[bytes], bytes] | None = None,
    *,
    encoded_still: bool = False,
    missing: int = 0,
) -> RecordedResponse:
    """A response as it is recorded: allowed headers, and the body without its content encoding.

    The body is what the client makes of ``data``: ``by_client`` gives it, or raises. Without it
    that is what `decoded` gives. A client that leaves the body encoded, or may do so
    (``encoded_still``), is given it so again by `delivered`. What neither undoes is recorded as it
    came if it is text, or shows how it is compressed, and else not at all: nobody could find a
    secret in it. Of its announced length so many bytes were ``missing``.

    Raises:
        BodyTooLarge: the body has more than ``most`` bytes, as it came or decoded.
    """
    pairs = list(headers)
    encodings = content_encoding(pairs)
    allowed = dict(allowed_headers(pairs))
    if missing:
        allowed[MISSING] = str(missing)
    ours = theirs = None
    reason = missing_decoder(encodings)
    try:
        ours = decoded(data, encodings, most, whole=by_client is as_it_came)
    except NotDecodable as error:
        reason = str(error)
    if not encodings_in(encodings):
        return RecordedResponse(status, MappingProxyType(allowed), as_body(data))
    try:
        theirs = ours if by_client is None else by_client(data)
    except Exception as error:  # noqa: BLE001 - each client has its own
        reason = f"{type(error).__name__}: {error}"
    if theirs is not None and (theirs != data or by_client is None):
        content = theirs
        if encoded_still:
            allowed[ENCODED] = encodings
    elif theirs is not None and ours is not None and ours != data:
        content, allowed[ENCODED] = ours, encodings
    elif is_text(data) or opened(data):
        content, allowed[_ENCODING] = data, encodings
    else:
        allowed |= {_ENCODING: encodings, FAULT: UNDECODED}
        content = f"not recorded: the body cannot be decoded ({reason})".encode()
    return RecordedResponse(status, MappingProxyType(allowed), as_body(content))


def as_it_came(data: bytes) -> bytes:
    """``data``, for a client that decodes nothing: the code that uses it may."""
    return data


def delivered(response: RecordedResponse) -> tuple[bytes, dict[str, str]]:
    """The body and the headers of a recorded response as its client gets them."""
    content, headers = as_bytes(response.body), dict(response.headers)
    encodings, missing = headers.pop(ENCODED, None), headers.pop(MISSING, None)
    if encodings is not None and (packed := encoded(content, encodings)) is not None:
        content, headers[_ENCODING] = packed, encodings
    if headers.get(FAULT) == UNDECODED:
        content = _NO_CONTENT + content
    if missing is not None and missing.isdecimal():
        headers["content-length"] = str(len(content) + int(missing[:18]))
    return content, headers
