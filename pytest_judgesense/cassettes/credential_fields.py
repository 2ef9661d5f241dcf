"""Names of elements and attributes that hold credentials, and values that look like one.

A name says little in markup: `<token>A</token>` is a verdict, `<password>correct horse</password>`
a text to be judged. So a value counts only if it is no word, number, date or sentence.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import lru_cache
from typing import Final

from pytest_judgesense.cassettes.credentials import SHORTEST_SECRET, in_words, secret_name
from pytest_judgesense.cassettes.shapes import LONGEST_NAME


class Field(Enum):
    """What a name says of the value that stands under it."""

    PASSWORD = auto()  # chosen by people, so it may be short
    KEY = auto()  # of this name is nothing but a credential
    MAYBE = auto()  # a credential, or a word of a reply: a token, a session
    RARELY = auto()  # a credential if it is a long string in base64: a primary, a key
    OTHER = auto()


# Ends of names in lower case, with `_` between their words.
_OF_PASSWORDS: Final = re.compile(
    r"(?:passwords?|passwd|passphrase|passcode|pass|pwd|(?:^|_)p(?:sw|w))"
    r"(?:_?(?:\d+|text|value|plain(?:_?text)?))?$"
)
_OF_KEYS: Final = re.compile(
    r"(?:(?:api|access|secret|private|account|storage|shared|encryption|decryption|validation"
    r"|signing|master|machine|subscription|license|function|service|server|webhook)_?keys?"
    r"|(?:client|app|application|consumer|shared|api|token)_?secret"
    r"|(?:access|refresh|auth|bearer|session|security|api|id)_?token"
    r"|connection_?strings?)(?:_?(?:\d+|text|value|base64))?$"
)
_OF_MAYBE: Final = re.compile(
    r"(?:tokens?|secrets?|credentials?|cookies?|session_?id|csrf|xsrf|signature(?:_?value)?"
    r"|cipher_?value|assertion|auth(?:orization)?_?code|ticket|key_?material|secret_?string|totp_?seed|saml_?(?:response|assertion|art)|delegation_?key|rsa_?key_?value|authorization"
    r"|(?:^|_)(?:auth|jwt|bearer|session|sig|sas|pat|dsn|viewstate|org(?:ani[sz]ation)?_?id))"
    r"(?:_?(?:\d+|text|value|base64|content|to_sign))?$"
)
_OF_RARELY: Final = re.compile(r"(?:^|_)(?:primary|secondary|key\d*)$")
_SEPARATORS: Final = re.compile(r"[\s._/-]+")

_SCHEME: Final = re.compile(r"(?i:bearer|basic|token|apikey|sharedkey|negotiate)\s+")
_OPAQUE: Final = re.compile(r"[!-~]+")
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# `${KEY}`, `%KEY%`, `{{ key }}`, `#{key}#`, `@string/key`: filled in elsewhere.
_FILLED_IN: Final = re.compile(r"\$|%\w*%|\{\{|#\{|@\w+/|\[secret:")
_LINE_OF_BASE64: Final = re.compile(r"[A-Za-z0-9+/_=-]+")
_SHORTEST_LINE: Final = 40
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}")
_UUID: Final = re.compile(r"\{?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?")
# A word in any case, with a number behind it or before it; a number, and the middle of a moment.
_WORD: Final = re.compile(
    r"(?:[A-Z]?[a-z]{1,20}+(?:[A-Z][a-z]{1,15}+){0,5}|[A-Z]{1,20}+(?:[a-z]{2,15}+)?)\d{0,4}"
    r"|\d{1,8}(?:[a-z]{1,12}|[A-Z]{1,10})?|\d\dT\d\d"
)
_OF_WORDS: Final = re.compile(r"[A-Za-z0-9]+")
_CLASSES: Final = tuple(map(re.compile, ("[a-z]", "[A-Z]", r"\d", r"[^A-Za-z0-9]")))
# What passwords have and names of things do not.
_MARK: Final = re.compile(r"[!#$%&*?@^~|+=]")
_MOST_CLASSES: Final = 3
# Shorter ones under such a name are words of a reply or ids.
_SHORTEST_TOKEN: Final = 16
_LONGEST_PASSWORD: Final = 64


@lru_cache(maxsize=4096)
def field_of(name: str) -> Field:
    """What the name of an element, an attribute or a setting says; its prefix says nothing."""
    local = name.strip().rpartition(":")[2][-LONGEST_NAME:]
    words = _SEPARATORS.sub("_", in_words(local)).lower()
    if _OF_PASSWORDS.search(words):
        return Field.PASSWORD
    if _OF_MAYBE.search(words) and not _OF_KEYS.search(words):
        return Field.MAYBE
    if _OF_KEYS.search(words) or secret_name(local):
        return Field.KEY
    return Field.RARELY if _OF_RARELY.search(words) else Field.OTHER


def is_credential(field: Field, value: str) -> bool:
    """Whether ``value``, without the text around it, looks like what ``field`` may hold."""
    value = in_one_line(value)
    if not is_opaque(value) or _is_of_words(value):
        return field is Field.PASSWORD and is_opaque(value) and _has_marks(value)
    if field is Field.RARELY:
        return _BASE64.fullmatch(value) is not None and _classes(value) >= _MOST_CLASSES
    if field is Field.MAYBE or (field is Field.KEY and _classes(value) == 1):
        return len(value) >= _SHORTEST_TOKEN
    return field is not Field.OTHER


def is_opaque(value: str) -> bool:
    """Whether ``value`` may be a credential at all: no sentence, number, URL or placeholder."""
    return (
        len(value) >= SHORTEST_SECRET
        and _OPAQUE.fullmatch(value) is not None
        and any(map(str.isalpha, value))
        and not (_URL.match(value) or _FILLED_IN.match(value))
    )


def is_identifier(value: str) -> bool:
    """Whether ``value`` is a UUID: it names a thing, unless its field says otherwise."""
    return _UUID.fullmatch(value.strip()) is not None


def without_scheme(value: str) -> str:
    """``value`` without the scheme of an authorization: ``Bearer``, ``Basic``."""
    scheme = _SCHEME.match(value)
    return value[scheme.end() :] if scheme else value


def in_one_line(value: str) -> str:
    """``value`` without the line ends of base64; any other text with blanks as it is."""
    lines = value.split()
    lengths = {len(line) for line in lines[:-1]}
    if len(lengths) != 1 or min(lengths) < _SHORTEST_LINE or len(lines[-1]) > max(lengths):
        return value
    return "".join(lines) if all(map(_LINE_OF_BASE64.fullmatch, lines)) else value


def _is_of_words(value: str) -> bool:
    return all(map(_WORD.fullmatch, _OF_WORDS.findall(value)))


def _classes(value: str) -> int:
    return sum(kind.search(value) is not None for kind in _CLASSES)


def _has_marks(value: str) -> bool:
    """Whether a word has the marks and digits that rules for passwords ask for: `Summer24!`."""
    return (
        len(value) <= _LONGEST_PASSWORD
        and _MARK.search(value) is not None
        and _classes(value) > _MOST_CLASSES
    )
