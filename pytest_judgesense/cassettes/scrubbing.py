"""What a cassette never holds: credentials.

Three rules. Request headers are not recorded at all, and of a response's headers only those of an
allow-list. In URLs, the values of query parameters that carry secrets by their name are replaced.
And wherever a known credential's value occurs, in plain, JSON-escaped or percent-encoded form,
``[secret: NAME]`` stands in its place. Values shorter than eight characters are no secrets but
words, and replacing them would rewrite prompts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from pytest_judgesense.cassettes.exchange import Body

__all__ = ["REDACTED", "allowed_headers", "redact_url", "scrub", "scrub_body"]

REDACTED: Final = "REDACTED"
SHORTEST_SECRET: Final = 8

# `location` because a redirect cannot be followed without it.
_RESPONSE_HEADERS: Final = frozenset({"content-type", "location", "retry-after"})
_SECRET_PARAMETERS: Final = frozenset(
    """
    access_token api-key api_key apikey auth client_secret code key password secret sig signature
    subscription-key token x-amz-credential x-amz-security-token x-amz-signature
    """.split()
)


def allowed_headers(headers: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """The response headers that are recorded, by name in lower case; repeated ones are joined."""
    kept: dict[str, str] = {}
    for name, value in headers:
        low = name.lower()
        if low in _RESPONSE_HEADERS:
            kept[low] = f"{kept[low]}, {value}" if low in kept else value
    if "location" in kept:
        kept["location"] = redact_url(kept["location"])
    return MappingProxyType(kept)


@lru_cache(maxsize=256)  # a judge asks one URL thousands of times
def redact_url(url: str) -> str:
    """``url`` with the values of its secret query parameters replaced; the rest as it was."""
    parts = urlsplit(url)
    query = "&".join(_redacted(pair) for pair in parts.query.split("&"))
    return url if query == parts.query else urlunsplit(parts._replace(query=query))


def _redacted(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}={REDACTED}" if equals and unquote(name).lower() in _SECRET_PARAMETERS else pair


def scrub(text: str, secrets: Mapping[str, str]) -> tuple[str, set[str]]:
    """``text`` without the values of ``secrets``.

    Args:
        text: what is to be recorded.
        secrets: values of credentials by name (of the environment variable, usually).

    Returns:
        The text with ``[secret: NAME]`` in place of each value, and the names that were found.
    """
    found: set[str] = set()
    # Longest first: a secret that holds another one must not be cut in two.
    for name, value in sorted(secrets.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(value) < SHORTEST_SECRET:
            continue
        for form in (value, json.dumps(value)[1:-1], quote(value, safe="")):
            if form in text:
                text = text.replace(form, f"[secret: {name}]")
                found.add(name)
    return text, found


def scrub_body(body: Body, secrets: Mapping[str, str]) -> Body:
    """``body`` without the values of ``secrets``, for bytes as for text."""
    if isinstance(body, str):
        return scrub(body, secrets)[0]
    # Latin-1 maps every byte to one character and back.
    as_latin = {name: value.encode().decode("latin-1") for name, value in secrets.items()}
    return scrub(body.decode("latin-1"), as_latin)[0].encode("latin-1")
