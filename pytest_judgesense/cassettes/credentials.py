"""Which values are secret: a judge's key, the environment, and credentials in requests.

Every environment variable with the name of a credential (``HF_TOKEN``) counts. For judges that get
their key elsewhere, the credentials in their requests count: headers, cookies, user and password of
a URL. Values that are short, boolean or numeric are ordinary words, and replacing them would change
prompts. They are skipped and named.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from types import MappingProxyType
from typing import Final, Literal, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

PLACEHOLDER: Final = "judgesense-placeholder-no-key"
# A letter case of its own would make it look like a secret.
_OF_A_VARIABLE: Final = re.compile(rf"{PLACEHOLDER}-([a-z0-9-]+)")


def placeholder_for(variable: str) -> str:
    """The text that a client is given in place of the key in an environment ``variable``."""
    return f"{PLACEHOLDER}-{variable.lower().replace('_', '-')}"


def variable_in(texts: Iterable[str]) -> str | None:
    """The variable whose placeholder one of the ``texts`` holds; ``None`` if there is none."""
    named = next(filter(None, map(_OF_A_VARIABLE.search, texts)), None)
    return named and named[1].upper().replace("-", "_")


SHORTEST_SECRET: Final = 8
# A client that signs every request differently must not make the list, and so the search, grow.
MOST_LEARNED: Final = 256
# Sources of credentials. Those of a response never displace those of a request.
Source: TypeAlias = Literal["request", "response"]
_SOURCES: Final[tuple[Source, ...]] = ("request", "response")

_ANYWHERE: Final = re.compile(
    r"TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|CREDENTIAL|API_?KEY|BEARER|COOKIE|PRIVATE_?KEY"
)
_PARTS: Final = frozenset(
    "KEY KEYS AUTH AUTHORIZATION PASS PWD PAT CREDS JWT DSN WEBHOOK SIGNATURE SESSION".split()
)
# The working directory, a socket, how Ray asks for its token; and an organisation, which is not a
# credential but private.
_NOT: Final = frozenset({"PWD", "OLDPWD", "SSH_AUTH_SOCK", "RAY_AUTH_MODE"})
_ORGANISATION: Final = re.compile(r"OPENAI_(?:ORG|PROJECT)|ORGANI[SZ]ATION_ID$")
_BOOLEAN: Final = frozenset("true false yes no on off none null enabled disabled".split())
_NUMBER: Final = re.compile(r"[-+]?[\d_.,: ]+(?:e[-+]?\d+)?", re.IGNORECASE)

_SECRET_HEADER: Final = re.compile(
    r"auth|cookie|token|secret|passw|passphrase|credential|api-?key|-key$|signature|session|"
    r"bearer|jwt|(?:^|-)(?:pass|access|sign)(?:$|-)|organi[sz]ation|^openai-project$|"
    r"^sec-websocket-protocol$",
    re.IGNORECASE,
)
# They name a request, not who makes it.
_PLAIN_HEADER: Final = re.compile(
    r"idempotency-key|sec-websocket-(?!protocol)|max-tokens|-tokens|access-control-|"
    r"(?:^|-)sign-in",
    re.IGNORECASE,
)
_SECRET_FIELD: Final = re.compile(
    r"(?:^|[_-])(?:api[_-]?key|access[_-]?key|access[_-]?token|refresh[_-]?token|id[_-]?token"
    r"|auth[_-]?token|bearer[_-]?token|session[_-]?token|security[_-]?token|client[_-]?secret"
    r"|secret[_-]?key|secret[_-]?access[_-]?key|private[_-]?key|password|passwd|pwd|passphrase"
    r"|authorization|jwt|account[_-]?key|connection[_-]?string|set[_-]?cookie"
    r"|org(?:ani[sz]ation)?[_-]?id)$",
    re.IGNORECASE,
)
# A token is a word of the reply as well, and a session one of a debate: by its value it is known.
_MAYBE_SECRET_FIELD: Final = re.compile(
    r"(?:^|[_-])(?:token|secret|cookie|session|signature)$", re.IGNORECASE
)
_LIKE_A_SECRET: Final = re.compile(r"(?=[^\d]*\d)[\w.~+/=;:%-]{16,}", re.ASCII)
# Longer than words of paths are.
_LONG_WORD: Final = re.compile(r"[A-Za-z]{24,}")
# Of URLs, beside those that fields have too.
SECRET_PARAMETERS: Final = frozenset(
    """
    access_token api-key api_key apikey auth bearer client_secret code credential key pass password
    secret sig signature
    subscription-key token x-amz-credential x-amz-security-token x-amz-signature
    """.split()
)
# `name=value` of an authorization, and names that are none of a parameter elsewhere.
_PARAMETER: Final = re.compile(r'(?<![^\s,])([\w-]+)="?([^\s",]+)')
_OF_SCHEMES: Final = frozenset(
    "credential response username mac oauth_token oauth_consumer_key oauth_signature".split()
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_URL_PASSWORD: Final = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")


def in_words(name: str) -> str:
    """``name`` with ``_`` between the words that capitals begin: ``client_Secret``."""
    return _CAMEL.sub("_", name)


def secret_name(name: str) -> bool:
    """Whether a JSON field of this name holds a credential: ``api_key``, ``clientSecret``."""
    return _SECRET_FIELD.search(in_words(name)) is not None


def maybe_secret_name(name: str) -> bool:
    """Whether a field of this name holds a credential if its value looks like one: ``token``."""
    return _MAYBE_SECRET_FIELD.search(in_words(name)) is not None


def looks_secret(value: str) -> bool:
    """Whether a text is long, without blanks and with a digit: no word of a reply."""
    return _LIKE_A_SECRET.fullmatch(value) is not None


def why_skipped(value: str) -> str:
    """Why ``value`` is not searched for; empty if it is."""
    text = value.strip()
    if text.lower() in _BOOLEAN:
        return "boolean"
    if text and _NUMBER.fullmatch(text):
        return "a number"
    return f"{len(text)} characters" if len(text) < SHORTEST_SECRET else ""


def _named_like_one(name: str) -> bool:
    upper = name.upper()
    parts = set(re.split(r"[^A-Z0-9]+", in_words(name).upper()))
    credential = _ANYWHERE.search(upper) or _ORGANISATION.search(upper) or parts & _PARTS
    return upper not in _NOT and bool(credential or upper.endswith("KEY"))


def environment_credentials(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Name and value of the variables that are named like a credential, and of URL passwords."""
    for name, value in sorted(environ.items()):
        if not value:
            continue
        if _named_like_one(name):
            yield name, value
        elif password := _URL_PASSWORD.search(value):
            yield name, unquote(password[1])


def request_credentials(url: str, headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The credentials in a request, each with a description."""
    for name, value in _secret_headers(headers):
        if name == "cookie":
            yield from _cookies(value)
        elif name.endswith("authorization"):
            yield from _authorization(f"{name} header", value)
        else:
            yield f"{name} header", value
    yield from _credentials_in(url)


@lru_cache(maxsize=256)  # a judge asks one URL thousands of times
def _credentials_in(url: str) -> tuple[tuple[str, str], ...]:
    try:
        parts = urlsplit(url)
    except ValueError:  # no URL, and no request then
        return ()
    users = {"username of the URL": parts.username, "password of the URL": parts.password}
    credentials = [(name, unquote(value)) for name, value in users.items() if value]
    for name, value in parse_qsl(parts.query):
        if _names_parameter(name) or (name.lower() in SECRET_PARAMETERS and looks_secret(value)):
            credentials.append((f"{name} in the URL", value))
    for name, value in pairwise(map(unquote, parts.path.split("/"))):
        # /token/..., but not /key/rotate
        if _names_parameter(name) and (looks_secret(value) or _LONG_WORD.fullmatch(value)):
            credentials.append((f"{name} in the URL", value))
    return tuple(credentials)


def _names_parameter(name: str) -> bool:
    return secret_name(name) or name.lower() in ("key", "token", "sig", "signature", "secret")


def response_credentials(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The credentials in a response's headers: cookies, and names of an organisation."""
    for name, value in _secret_headers(headers):
        if name == "set-cookie":
            yield from _cookies(value.partition(";")[0])
        else:
            yield f"{name} header", value


def _secret_headers(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for name, value in headers:
        low = name.lower()
        if _names_secret(low):
            yield low, value


@lru_cache(maxsize=256)  # the requests to an endpoint, and its answers, have the same headers
def _names_secret(header: str) -> bool:
    return bool(_SECRET_HEADER.search(header)) and not _PLAIN_HEADER.search(header)


def _cookies(value: str) -> Iterator[tuple[str, str]]:
    for pair in value.split(";"):
        content = pair.partition("=")[2].strip().strip('"')
        # A cookie may as well say `theme=darkmode`.
        if any(character.isdigit() for character in content) or len(content) >= 16:
            yield "cookie", content


def _authorization(name: str, value: str) -> Iterator[tuple[str, str]]:
    scheme, _, rest = value.strip().partition(" ")
    if not rest:
        yield name, scheme
        return
    # Digest, AWS4-HMAC-SHA256, OAuth, Hawk, ApiKey id=..., Token token=...
    parameters = dict(_PARAMETER.findall(rest))
    for parameter, content in parameters.items():
        is_id = parameter.lower() == "id" and looks_secret(content)
        if is_id or _names_parameter(parameter) or parameter.lower() in _OF_SCHEMES:
            # Of AWS the account's key stands before day and region.
            yield name, content.partition("/")[0] if parameter == "Credential" else unquote(content)
    if parameters and "," in rest:
        return
    yield name, rest.strip()
    if scheme.lower() == "basic":
        try:
            user, _, password = base64.b64decode(rest, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return
        yield f"{name}, password", password
        yield f"{name}, user", user


class Credentials:
    """The secret values that are known, by name. Safe with threads; grows while recording.

    Attributes:
        values: all of them by name, in a mapping that is replaced when one is added; a name with
            several values is numbered.
        skipped: the names of those that are not searched for, with the reason.
        removed: the names of those that were found and removed before writing.
    """

    def __init__(self, credentials: Iterable[tuple[str, str]] = ()) -> None:
        """Take over ``known`` names and values; of two names for one value the first counts."""
        self.values: Mapping[str, str] = MappingProxyType({})
        self.skipped: dict[str, str] = {}
        self.removed: set[str] = set()
        self._lock = Lock()
        self._names: dict[str, str] = {}
        self._learned: dict[str, dict[str, str]] = {source: {} for source in _SOURCES}
        self.know(credentials)

    def know(self, named: Iterable[tuple[str, str]]) -> None:
        """Add credentials by name; those that are skipped are remembered as such."""
        with self._lock:
            for name, value in named:
                reason = why_skipped(value)
                if value and reason:
                    self.skipped[name] = reason
                for part in _parts(value) if not reason else ():
                    self._names.setdefault(part, name)
            self._index()

    def learn(self, shown: Iterable[tuple[str, str]], source: Source = "request") -> None:
        """Add the credentials of a request or a response; beyond a limit the oldest goes."""
        with self._lock:
            learned = self._learned[source]
            fresh = {
                part: name
                for name, value in shown
                if not why_skipped(value)
                for part in _parts(value)
                if part not in self._names and part not in learned
            }
            if fresh:
                self._learned[source] = dict([*learned.items(), *fresh.items()][-MOST_LEARNED:])
                self._index()

    @property
    def shown(self) -> Mapping[str, str]:
        """The values that requests have shown and that were not known before any, with names."""
        return self._learned["request"]

    def _index(self) -> None:
        by_name: dict[str, str] = {}
        names = self._names
        for source in _SOURCES:
            names = {**self._learned[source], **names}
        for value, name in names.items():
            label, number = name, 1
            while label in by_name:
                number += 1
                label = f"{name} {number}"
            by_name[label] = value
        self.values = MappingProxyType(by_name)


def _parts(value: str) -> Iterator[str]:
    """``value``, and the long lines of a multi-line value (a PEM key), which may occur alone."""
    text = value.strip()
    yield text
    if "\n" in text:
        yield from (line for line in map(str.strip, text.splitlines()) if len(line) >= 24)
