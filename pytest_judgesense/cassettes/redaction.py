"""Removing credentials from everything that a cassette stores.

Request headers are not recorded at all, and response headers only from an allow-list. In URLs, JSON
and form fields, values with the name of a secret become ``REDACTED``. Then all text is searched for
the values of known credentials, and for strings with the unmistakable pattern of a key; each is
replaced by ``[secret: NAME]``.

A value is found in plain text and in its usual encodings: JSON-escaped (twice, for JSON within
JSON), percent-encoded, HTML-escaped, in base64 at each of its three alignments and with line
breaks, in hexadecimal; and split over the events of a stream.
"""

from __future__ import annotations

import base64
import html
import json
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from itertools import accumulate, product
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar
from urllib.parse import quote, unquote, unquote_to_bytes, urlsplit, urlunsplit

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
    too_many_parts,
)
from pytest_judgesense.cassettes.credentials import (
    SECRET_PARAMETERS,
    SHORTEST_SECRET,
    Credentials,
    looks_secret,
    maybe_secret_name,
    secret_name,
)
from pytest_judgesense.cassettes.eventstream import frames_of
from pytest_judgesense.cassettes.exchange import (
    FAULT,
    Exchange,
    RecordedResponse,
    as_body,
    as_bytes,
    nodes,
)
from pytest_judgesense.cassettes.searching import Literals, clusters, joined_places
from pytest_judgesense.grouping import grouped
from pytest_judgesense.limits import json_value

if TYPE_CHECKING:
    from pytest_judgesense.cassettes.searching import Found

REDACTED: Final = "REDACTED"
# Of the characters that `_placeholder` writes: a search stops at the next bracket.
PLACEHOLDER: Final = re.compile(r"\[secret: [A-Za-z0-9_ ,.-]*\]")

# `location` because a redirect cannot be followed without it.
# The last two are what SDKs know an error by (AWS), or whether to try again (OpenAI, Anthropic).
_RESPONSE_HEADERS: Final = frozenset(
    {"content-type", "location", "retry-after", "x-amzn-errortype", "x-should-retry"}
)
# A private key of 4096 bits has 3,300 characters.
_LONGEST_HIDDEN: Final = 4000
# Every pattern here is applied to untrusted text and is linear: it starts at a place that its own
# repetitions do not cross, so that no two attempts read the same stretch. Name, a substring that
# every match contains (cheap to search), and the pattern. `\nsk-...` in JSON: the letter before the
# key belongs to the escape.
_EDGE: Final = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
# Of services whose keys have a known prefix, as documented.
_PREFIXES: Final = """
    ATATT3 GOCSPX- HRKU- NRAK- PMAK- api_org_ csk- dckr_oat_ dckr_pat_ dp.pt. dp.sa. dp.st. figd_
    fm2_ glc_ gldt- glptt- glrt- glsa_ hvb. hvs. jina_ lin_api_ lsv2_ ntn_ ops_eyJ pcsk_ phx_
    pscale_ pypi-AgEI rubygems_ sb_secret_ sbp_ shpat_ shpca_ shppa_ shpss_ sntrys_ sntryu_ sq0atp-
    sq0csp- tgp_v1_ tskey- tvly- wandb_v1_ xapp- xkeysib-
""".split()
_PREFIXED: Final = "|".join(map(re.escape, _PREFIXES))
# Of others, whose prefix also begins names of variables: only letters and digits follow.
_SHORT_PREFIXED: Final = "esecret_|flp_|fw_|rpa_|vck_"
# Of services, each after an edge.
_KEYS: Final = (
    (
        "an API key",
        "sk-|sk_|gsk-|gsk_|xai-|pplx-|rk_|rk-",
        r"(?:sk|gsk|xai|pplx|rk)[-_](?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}",
    ),
    ("an AWS key", "AKIA|ASIA", r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("a Google key", "AIza|AQ.", r"(?:AIza[0-9A-Za-z_-]{35}|AQ\.[A-Za-z0-9_-]{40,})"),
    (
        "a GitHub token",
        "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_",
        r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})",
    ),
    ("a Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    ("a GitLab token", "glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("an npm token", "npm_", r"npm_[A-Za-z0-9]{36,}"),
    ("an NVIDIA key", "nvapi-", r"nvapi-[A-Za-z0-9_-]{20,}"),
    ("a Replicate token", "r8_", r"r8_[A-Za-z0-9]{30,}"),
    ("a SendGrid key", "SG.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("a DigitalOcean token", "dop_v1_|doo_v1_|dor_v1_", r"do[opr]_v1_[a-f0-9]{40,}"),
    ("a Google access token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    (
        "a service's key",
        "|".join(_PREFIXES),
        # A dot may be before and within such a key, so the lookahead is limited to a stretch.
        rf"(?:{_PREFIXED})(?=[A-Za-z._-]{{0,60}}\d)[A-Za-z0-9._-]{{20,}}",
    ),
    (
        "a service's key",
        _SHORT_PREFIXED,
        rf"(?:{_SHORT_PREFIXED})(?=[A-Za-z]*\d)[A-Za-z0-9]{{20,}}(?![A-Za-z0-9_])",
    ),
    ("a webhook's secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,}={0,2}"),
    ("a Databricks token", "dapi", r"dapi[a-f0-9]{32}(?![A-Za-z0-9])"),
    ("a Twilio key", "SK", r"SK[a-f0-9]{32}(?![A-Za-z0-9])"),
    ("a Mailchimp key", "-us", r"[a-f0-9]{32}-us\d{1,2}(?![A-Za-z0-9])"),
    ("an Airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    (
        "a Bedrock key",
        "ABSK|bedrock-api-key-",
        r"(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/]{80,}={0,2}",
    ),
    ("a Mapbox token", "k.eyJ", r"[ps]k\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"),
    ("a Telegram token", ":A", r"(?:bot)?(\d{5,16}:A[A-Za-z0-9_-]{34})(?![\w-])"),
    ("a Slack token", "xox", r"xox[abeprs]-[A-Za-z0-9-]{20,}"),
    (
        "a JSON web token",
        "eyJ",
        r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ),
    ("an organisation id", "org-", r"org-(?=[A-Za-z]*\d)[A-Za-z0-9]{20,}"),
)
_SHAPES: Final = (
    *((name, hints, _EDGE + shape) for name, hints, shape in _KEYS),
    (
        "a user and password",
        "asic |ASIC ",
        r"(?i:\bbasic) (?=[A-Za-z+/]*\d)([A-Za-z0-9+/]{16,}={0,2})(?![A-Za-z0-9+/=])",
    ),
    ("an Entra secret", "Q~", r"(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])"),
    ("a Terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}"),
    ("a storage key", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{80,}={0,2})"),
    ("an age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("a Discord webhook", "/webhooks/", r"/webhooks/(\d{17,20}/[A-Za-z0-9_-]{60,})"),
    ("a Slack webhook", "/T", r"/(T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{20,})"),
    (
        "a bearer token",
        "earer|EARER",
        r"(?i:bearer)\s+(?=[A-Za-z._~+/-]*\d)([A-Za-z0-9._~+/-]{20,}=*)",
    ),
    ("a password in a URL", "://", r"[a-z]://[^\s/:@\"'\\]*:([^\s/@\"'\\\[]+)@[A-Za-z0-9\[]"),
    (
        "a key in a URL",
        "key=|sig=|token=|secret=|signature=|Key=|Signature=|Token=",
        r"[?&](?:(?:x-amz-)?signature|\w*key|sig|\w*token|\w*secret)=([\w.~%+/-]{16,})",
    ),
)
# How far before a hint its key begins, if not at it.
_BEFORE: Final[Mapping[str, Iterable[int]]] = {
    **dict.fromkeys(("asic ", "ASIC ", "earer", "EARER", "k.eyJ"), (1,)),
    "-us": (32,),
    "Q~": (4,),
    ".atlasv1.": (14,),
    ":A": range(5, 20),
}
# A key has at least so many characters of these in a row, within its hint or beside it, so that
# texts without such a row are done with.
_OF_RUNS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/%"
_OF_NAMES: Final = _OF_RUNS[:64]
_MARK: Final = 2


def _marks(text: str) -> Iterator[str]:
    """The beginnings that hints have in common, at each place of ``text``."""
    return (text[place : place + _MARK] for place in range(len(text) - 1))


def _by_mark() -> dict[str, list[tuple[str, str, str]]]:
    """By mark: the hints that begin so, each with the name and the pattern of its shape."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for name, hints, shape in _SHAPES:
        for hint in hints.split("|"):
            if hint != _IN_A_URL:
                found.setdefault(hint[:_MARK], []).append((hint, name, shape))
    found[_IN_A_URL[:_MARK]] = [
        (_IN_A_URL, name, shape) for name, hints, shape in _SHAPES if hints == _IN_A_URL
    ]
    return found


_IN_A_URL: Final = "://"
_BY_MARK: Final = _by_mark()
_HINTS: Final = {hint.encode() for known in _BY_MARK.values() for hint, _, _ in known}
# The first four bytes of those that have so many, and two of the others.
_LONG_HINTS: Final = tuple({hint[:4] for hint in _HINTS if len(hint) >= 4})
_SHORT_HINTS: Final = tuple({hint[:_MARK] for hint in _HINTS if len(hint) < 4})
# Compiled where its hint is found: compiling all takes longer than reading a thousand replies.
_pattern = cache(partial(re.compile, flags=re.DOTALL))
# Of several credentials of one name: which comes first may be chance.
_NUMBER: Final = re.compile(r" \d+$")
_SEPARATOR: Final = re.compile(r"([/?&=#;])")
_KEY_EDGE: Final = re.compile(r"-----(BEGIN|END) [A-Z ]*PRIVATE KEY(?: BLOCK)?-----")


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


@lru_cache(maxsize=256)  # a judge asks one URL thousands of times
def redact_url(url: str) -> str:
    """``url`` without user and password, the values of its secret parameters replaced."""
    if not ("?" in url or "@" in url or "#" in url):
        return url
    try:
        parts = urlsplit(url)
    except ValueError:  # a bracket that is never closed: ambiguous
        return REDACTED
    query, fragment = _redacted_pairs(parts.query), _redacted_pairs(parts.fragment)
    host = parts.netloc.rpartition("@")[2]
    if (host, query, fragment) == (parts.netloc, parts.query, parts.fragment):
        return url
    return urlunsplit(parts._replace(netloc=host, query=query, fragment=fragment))


def _redacted_pairs(text: str) -> str:
    return "&".join(_redacted(pair) for pair in text.split("&"))


def _redacted(pair: str) -> str:
    name, equals, value = pair.partition("=")
    plain = unquote(name)
    secret = plain.lower() in SECRET_PARAMETERS or secret_name(plain)
    secret = secret or (maybe_secret_name(plain) and looks_secret(unquote(value)))
    return f"{name}={REDACTED}" if equals and secret else pair


def scrub_url(url: str, secrets: Mapping[str, str]) -> tuple[str, set[str]]:
    """``url`` redacted, and without the values of ``secrets``; the names that were found."""
    redacted = redact_url(url)
    try:
        parts = urlsplit(redacted)
    except ValueError:
        return scrub(redacted, secrets)
    tail, found = scrub(urlunsplit(parts._replace(scheme="", netloc="")), secrets)
    tail, encoded = _without_encoded_keys(tail)
    host, in_host = scrub(parts.netloc, secrets)
    # Brackets in a host are an address of IPv6, and nothing else.
    host = PLACEHOLDER.sub("secret", host)
    scheme = f"{parts.scheme}:" if parts.scheme else ""
    slashes = "//" if parts.netloc else ""
    return f"{scheme}{slashes}{host}{tail}", found | encoded | in_host


def _without_encoded_keys(tail: str) -> tuple[str, set[str]]:
    """The end of a URL without segments and values that are shaped like keys once decoded."""
    if "%" not in tail:
        return tail, set()
    pieces, names = _SEPARATOR.split(tail), set()
    for place, piece in enumerate(pieces):
        if "%" in piece and (found := scrub(unquote(unquote(piece)), {})[1]):
            pieces[place] = _placeholder(min(found))
            names |= found
    return "".join(pieces), names


def scrub(text: str, secrets: Mapping[str, str]) -> tuple[str, set[str]]:
    """``text`` without the values of ``secrets`` and without strings shaped like keys.

    ``secrets`` are by name, usually of the environment variable. Each value is replaced by
    ``[secret: NAME]``; the names that were found are returned too.
    """
    data, names = _scrub_data(text.encode("utf-8", "surrogatepass"), secrets)
    return (data.decode("utf-8", "surrogatepass") if names else text), names


def _scrub_data(data: bytes, secrets: Mapping[str, str]) -> tuple[bytes, set[str]]:
    """`scrub` of bytes, which are text in UTF-8 or anything else."""
    parts, position, names = [], 0, set()
    for start, end, name in _spans_of_bytes(data, secrets):
        parts += [data[position:start], _placeholder(name).encode()]
        position = end
        names.add(name)
    return (b"".join((*parts, data[position:])) if names else data), names


def without_secrets(value: Any, secrets: Mapping[str, str]) -> Any:
    """``value``, from JSON, with all its texts processed by `scrub`; keys are kept."""
    if isinstance(value, str):
        return scrub(value, secrets)[0]
    if isinstance(value, list):
        return [without_secrets(one, secrets) for one in value]
    if isinstance(value, dict):
        return {key: without_secrets(one, secrets) for key, one in value.items()}
    return value


def scrub_body(body: str | bytes, secrets: Mapping[str, str]) -> tuple[str | bytes, set[str]]:
    """``body``, text or bytes, without secret fields and values; the names that were found.

    Bytes are searched as the text that they are, in UTF-16 or UTF-32, and unpacked if they are
    compressed; then written again in the same form.

    Raises:
        BodyTooLarge: unpacked they are.
    """
    body, in_frames = _without_secrets_in_frames(body, secrets)
    clean: str | bytes
    if isinstance(body, str) and "\0" not in body:
        clean, found = _scrub_text(body, secrets)
    else:
        clean, found = _scrub_bytes(as_bytes(body), secrets)
        clean = as_body(clean) if isinstance(body, str) else clean
    return clean, found | in_frames


def _scrub_bytes(data: bytes, secrets: Mapping[str, str]) -> tuple[bytes, set[str]]:
    if (packed := opened(data)) is not None:
        encoding, content = packed
        inner, found = scrub_body(as_body(content), secrets)
        return (encoded(as_bytes(inner), encoding) or b"") if found else data, found
    if (wide := _wide_text(data)) is not None:
        codec, text = wide
        text, found = _scrub_text(text, secrets)
        if found:
            return text.encode(codec), found
    # Latin-1 maps every byte to one character and back.
    if not _is_structured(text := data.decode("latin-1")):
        return _scrub_data(data, secrets)
    as_latin = {name: as_bytes(value).decode("latin-1") for name, value in secrets.items()}
    text, found = _scrub_text(text, as_latin)
    return text.encode("latin-1", "replace"), found


def _wide_text(data: bytes) -> tuple[str, str] | None:
    """Encoding and text of bytes in UTF-16 or UTF-32; ``None`` if they are neither."""
    codec = json.detect_encoding(data)
    if not codec.startswith(("utf-16", "utf-32")):
        return None
    try:
        return codec, data.decode(codec)
    except UnicodeDecodeError:
        return None


def _without_secrets_in_frames(
    body: str | bytes, secrets: Mapping[str, str]
) -> tuple[str | bytes, set[str]]:
    """The frames of a binary event stream without secrets, whole ones and such as they share."""
    if body[:1] not in ("\0", b"\0"):  # the length of a frame is below 2**24
        return body, set()
    frames, rest = frames_of(as_bytes(body))
    names: set[str] = set()
    texts = []
    for frame in frames:
        text, found = _scrub_text(frame.text, secrets)
        texts.append(text)
        names |= found
    # Put together as a stream of text: of JSON, a line end is a blank.
    lines = [f"data: {_LINE_END.sub(' ', text)}" for text in texts]
    joined, split = _without_split_secrets("\n".join(lines), secrets)
    if not (names := names | split):
        return body, names
    for place, (line, clean) in enumerate(zip(lines, joined.split("\n"), strict=True)):
        text = clean.removeprefix("data: ") if clean != line else texts[place]
        if text != frames[place].text:
            frames[place] = frames[place].with_text(text)
    return as_body(b"".join(map(bytes, frames)) + rest), names


def _scrub_text(text: str, secrets: Mapping[str, str]) -> tuple[str, set[str]]:
    if not _is_structured(text):
        text, fields = _without_secret_pairs(text)
        text, found = scrub(text, secrets)
        return text, fields | found
    _check_parts(text)
    text, fields = _without_secret_fields(text)
    text, found = scrub(text, secrets)
    text, split = _without_split_secrets(text, secrets)
    text, copies = _without_copies_of_tokens(text)
    return text, fields | found | split | copies


def same_but_for_secrets(recorded: str, asked: str) -> bool:
    """Whether ``recorded`` is ``asked`` with placeholders where that has any text.

    A placeholder matches at least one character, and all of them 4,000 each on average. The parts
    between them are searched from left to right: if they can be placed at all, then each at its
    first place.
    """
    if recorded == asked:
        return True
    first, *parts = PLACEHOLDER.split(recorded)
    if not parts or not asked.startswith(first):
        return False
    position, last = len(first), parts.pop()
    for part in parts:
        place = asked.find(part, position + 1)
        if place < 0:
            return False
        position = place + len(part)
    left = len(asked) - len(PLACEHOLDER.sub("", recorded))
    fits = position + 1 + len(last) <= len(asked) and asked.endswith(last)
    return fits and left <= _LONGEST_HIDDEN * (len(parts) + 1)


@lru_cache(maxsize=1024)
def _placeholder(name: str) -> str:
    return f"[secret: {re.sub(r'[^A-Za-z0-9_ ,.-]', '-', name)}]"


# --- where a value stands in a text --------------------------------------------------------------


_Span: TypeAlias = tuple[int, int, str]


def _spans(text: str, secrets: Mapping[str, str]) -> Iterator[_Span]:
    """The places of secrets in ``text``, from left to right; overlapping ones are merged."""
    data = text.encode("utf-8", "surrogatepass")
    spans = _spans_of_bytes(data, secrets)
    if len(data) == len(text):
        yield from spans
        return
    last = place = 0
    for start, end, name in spans:
        first = place + len(data[last:start].decode("utf-8", "surrogatepass"))
        place = first + len(data[start:end].decode("utf-8", "surrogatepass"))
        last = end
        yield first, place, name


def _spans_of_bytes(data: bytes, secrets: Mapping[str, str]) -> list[_Span]:
    """The places of secrets in bytes, which are text in UTF-8 or anything else."""
    known = _known(tuple(secrets.items()))
    wide = data.decode("latin-1")  # one character a byte, which patterns of text take
    places = known.literals.find(data)
    found = [*known.spans(wide, places), *_shaped(wide, places)]
    if "PRIVATE KEY" in wide:
        found += [(*span, 0, "a private key") for span in _private_keys(wide)]
    if not found:
        return []
    taken = [match.span() for match in PLACEHOLDER.finditer(wide)]
    # Longest value first where two overlap: a secret that holds another must not be cut in two.
    merged: list[tuple[int, int, int, str]] = []
    for start, end, rank, name in sorted(set(found)):
        # The last that does not begin behind it; they do not overlap.
        place = bisect_right(taken, (start, len(wide))) - 1 if taken else -1
        if place >= 0 and end <= taken[place][1]:
            continue
        if merged and start < merged[-1][1]:
            before = merged.pop()
            best = min(before[2:], (rank, name))
            merged.append((before[0], max(end, before[1]), *best))
        else:
            merged.append((start, end, rank, name))
    return [(start, end, _without_number(name)) for start, end, _, name in merged]


@lru_cache(maxsize=1024)
def _without_number(name: str) -> str:
    return _NUMBER.sub("", name)


def _shaped(wide: str, places: Found) -> Iterator[tuple[int, int, int, str]]:
    """The strings that are shaped like keys."""
    yield from _passwords(wide)
    if not places.has_runs:
        return
    beginning, within = places.of(_BEGINNING), places.of(_WITHIN)
    # At an edge; the letter before it may belong to an escape.
    letters = places.are(beginning - 1, _OF_NAMES)
    escaped = places.are(beginning - 1, b"nrt") & places.are(beginning - 2, b"\\")
    beginning = beginning[places.in_run(beginning) & (~letters | escaped)]
    near = places.are(within + 6, b" \t\n\r\v\f")  # `bearer`, and more than one blank
    for distance in (-16, 0, 1, 4, 5, 6, 7, 10, 11):
        near |= places.in_run(within + distance)
    hinted = (
        place
        for some in (beginning, within[near])
        for place in (
            *places.beginning_with(some, _LONG_HINTS),
            *map(int, places.with_pairs(some, _SHORT_HINTS)),
        )
    )
    for place in hinted:
        for hint, name, shape in _BY_MARK.get(wide[place : place + _MARK], ()):
            if wide.startswith(hint, place):
                pattern = _pattern(shape)
                for start in _starts(wide, place, hint):
                    if start >= 0 and (match := pattern.match(wide, start)):
                        yield (*match.span(1 if pattern.groups else 0), 0, name)


def _starts(wide: str, place: int, hint: str) -> Iterable[int]:
    """Where a key may begin whose hint is at ``place``."""
    if hint.endswith("=") and hint != "AccountKey=":  # a parameter of a URL, of any name
        first = max(0, place - _LONGEST_NAME)
        return (max(wide.rfind(mark, first, place) for mark in "?&"),)
    return (place - distance for distance in _BEFORE.get(hint, (0,)))


def _passwords(wide: str) -> Iterator[tuple[int, int, int, str]]:
    """Passwords in URLs: they have no shape but stand between a colon and an ``@``."""
    ((_, name, shape),) = _BY_MARK[_IN_A_URL[:_MARK]]
    pattern, at, slash = _pattern(shape), wide.find("@"), -1
    place = wide.find(_IN_A_URL) if at >= 0 else -1
    while place >= 0:
        behind = place + len(_IN_A_URL)
        at = at if at >= behind else wide.find("@", behind)
        if at < 0:
            return
        slash = slash if slash >= behind or slash == _NOWHERE else wide.find("/", behind)
        slash = _NOWHERE if slash < 0 else slash
        is_near = place > 0 and (slash == _NOWHERE or at < slash)
        if is_near and (match := pattern.match(wide, place - 1)):
            yield (*match.span(1), 0, name)
        place = wide.find(_IN_A_URL, behind)


_NOWHERE: Final = -2


def _private_keys(text: str) -> Iterator[tuple[int, int]]:
    """From the first beginning of a PEM block to the next end, and so on."""
    start = None
    for edge in _KEY_EDGE.finditer(text):
        if edge[1] == "BEGIN":
            start = edge.start() if start is None else start
        elif start is not None:
            yield start, edge.end()
            start = None


# --- known values ---------------------------------------------------------------------------------

# The groups of literals: parts of values, the beginnings of keys, other hints, and escapes.
_VALUES: Final = 0b111
_BEGINNING: Final = 0b11000
_WITHIN: Final = 0b100000
_ESCAPED: Final = 0b1000000
_HEX: Final = b"0123456789abcdefABCDEF"
# Of escapes, the first three bytes: `%41`, `\u0041`, `\x41`, `\101`, `&#65;` and the like.
_ESCAPES: Final = (
    (_ESCAPED, (b"%", _HEX, _HEX)),
    (_ESCAPED, (b"\\", b"uUx0123", _HEX + b"{")),
    (_ESCAPED, (b"&", b"#", b"0123456789xX")),
)
# An anchor is a part of a value, of this many bytes, that encodings for text leave as it is.
_ANCHOR: Final = 4
# Written by escapes, each of its characters takes at most so many.
_LONGEST_ESCAPE: Final = 24
_MAY_FOLLOW: Final = "\\%&+\r\n"
_PLAIN: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_MOST_WINDOWS: Final = 12


class _Known:
    """The known values, prepared to be found in bytes."""

    def __init__(self, values: Iterable[tuple[str, str]]) -> None:
        # By anchor, in lower case: the forms that have it, each with its place there.
        self._anchored: dict[bytes, list[tuple[_Form, int, str, int]]] = {}
        literals = [*_ESCAPES, *_literals_of_hints()]
        taken: list[list[set[int]]] = [[set() for _ in range(_ANCHOR)] for _ in range(3)]
        for name, value in values:
            if len(value) < SHORTEST_SECRET:
                continue
            for form in _forms(value):
                # Values in hexadecimal, in base64 and as they are share no characters with others.
                group = 1 if form.any_case else 2 if form.gap else 0
                for offset in _anchors_of(form, taken[group]):
                    anchor = form.octets[offset : offset + _ANCHOR]
                    known = self._anchored.setdefault(anchor.lower(), [])
                    known.append((form, offset, name, -len(value)))
                    cases = [bytes({octet, *bytes([octet]).swapcase()}) for octet in anchor]
                    places = cases if form.any_case else [*map(_one, anchor)]
                    literals.append((1 << group, places))
        self.literals = Literals(literals, _OF_RUNS)
        # All cases of an anchor that forms have: of most there is one.
        self._words = sorted({word for anchor in self._anchored for word in self._written(anchor)})

    def _written(self, anchor: bytes) -> Iterator[bytes]:
        for form, offset, _, _ in self._anchored[anchor]:
            if form.any_case:
                yield from map(bytes, product(*({o, *bytes([o]).swapcase()} for o in anchor)))
            else:
                yield form.octets[offset : offset + _ANCHOR]

    def spans(self, wide: str, places: Found) -> Iterator[tuple[int, int, int, str]]:
        """The places of the values, each with its rank and its name."""
        if not self._anchored:
            return
        # Stretches of the text in which a form is to be looked for.
        stretches: dict[tuple[_Form, str, int], list[tuple[int, int]]] = {}

        def look(place: int, wide: str, first: int, last: int) -> None:
            for form, offset, name, rank in self._anchored[
                wide[place : place + _ANCHOR].encode("latin-1").lower()
            ]:
                if form.may_stand(wide, place, offset):
                    around = _LONGEST_ESCAPE * (len(form.octets) + 4)
                    stretch = max(0, first - around), last + around
                    stretches.setdefault((form, name, rank), []).append(stretch)

        for place in places.beginning_with(places.of(_VALUES), self._words):
            look(place, wide, place, place)
        # Where letters are written by escapes, an anchor may be. In lines of a few characters each
        # no anchor is whole.
        around = _LONGEST_ESCAPE * 8
        both = joined_places(places.of(_ESCAPED), places.ends_of_short_lines(_SHORT_LINE))
        escaped = clusters(both, 2 * around)
        pieces = [
            _unescaped(wide[max(0, first - around) : last + around]) for first, last in escaped
        ]
        if pieces:
            ends = [*accumulate(len(piece) + _ANCHOR for piece in pieces)]
            plain = ("\0" * _ANCHOR).join(pieces)
            found = self.literals.find(plain.encode("latin-1", "replace"))
            for place in found.beginning_with(found.of(_VALUES), self._words):
                first, last = escaped[bisect_right(ends, place)]
                look(place, plain, first, last)
        for (form, name, rank), given in stretches.items():
            for first, last in _joined_stretches(given):
                for match in form.pattern.finditer(wide, first, last):
                    yield (*match.span(), rank, name)


_SHORT_LINE: Final = 12


def _anchors_of(form: _Form, taken: list[set[int]]) -> list[int]:
    """Where the anchors of ``form`` begin: one, or two of which a line end leaves one.

    Those that add the fewest bytes to the ``taken`` ones at each place of an anchor: the fewer
    there are, the fewer places of a text have to be looked at.
    """
    octets = form.octets
    chosen: list[int] = []
    for _ in range(2 if form.gap else 1):
        apart = [at for at in form.windows if all(abs(at - one) >= _ANCHOR for one in chosen)]
        if not apart:
            break

        def added(at: int) -> int:
            return sum(
                octets[at + n] not in there for n, there in enumerate(taken) if at + n < len(octets)
            )

        best = min(apart, key=added)
        chosen.append(best)
        for octet, there in zip(octets[best : best + _ANCHOR], taken, strict=False):
            there.add(octet)
    return chosen


def _one(octet: int) -> bytes:
    return bytes([octet])


def _joined_stretches(given: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    ordered = sorted(given)
    first, last = ordered[0]
    for start, end in ordered[1:]:
        if start > last:
            yield first, last
            first, last = start, end
        last = max(last, end)
    yield first, last


_known = lru_cache(maxsize=16)(_Known)


@cache
def _literals_of_hints() -> tuple[tuple[int, Sequence[bytes]], ...]:
    """The hints: those that keys begin with, in two groups, and the others."""
    beginning = {hint for _, hints, _ in _KEYS for hint in hints.split("|")} - _BEFORE.keys()
    every = {hint for known in _BY_MARK.values() for hint, _, _ in known} - {_IN_A_URL}
    return tuple(
        (
            (8 << ord(hint[0]) % 2) if hint in beginning else _WITHIN,
            [*map(_one, hint.encode())],
        )
        for hint in sorted(every)
    )


# Each alternative begins with its character, for which the others are passed over quickly.
_RUN_OF_ESCAPES: Final = re.compile(
    r"%[0-9a-fA-F%]++|\\\\*+u[0-9a-fA-F]{4}(?:\\[0-9a-fA-Fu]++)*+"
    r"|\\\\*+x[0-9a-fA-F]{2}(?:\\[0-9a-fA-Fx]++)*+|\\\\*+u\{0*+[0-9a-fA-F]{1,6}\}"
    r"|\\\\*+U[0-9a-fA-F]{8}|\\\\*+[0-3][0-7]{2}|&#0*+\d{1,7};(?:&#\d{1,7};)*+|&#[xX]0*+[0-9a-fA-F]{1,6};"
)
_TWICE: Final = re.compile(r"%(?:25)++(?=[0-9a-fA-F]{2})")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")


def _unescaped(wide: str) -> str:
    """A stretch of text with escaped characters as they are, and without line ends."""
    while "\\\\" in wide:
        wide = wide.replace("\\\\", "\\")
    for end in ("\\n", "\\r", "\n", "\r"):
        wide = wide.replace(end, "")
    return _RUN_OF_ESCAPES.sub(_meant, wide)


def _meant(match: re.Match[str]) -> str:
    escapes = match[0]
    kind = escapes[1]
    if escapes[0] == "%":
        once = _TWICE.sub("%", escapes) if "%25" in escapes else escapes
        try:
            return bytes.fromhex(once.replace("%", " ")).decode("latin-1")
        except ValueError:
            return unquote_to_bytes(once).decode("latin-1")
    if kind == "x" or (kind == "u" and escapes[2] != "{"):
        try:
            octets = bytes.fromhex(escapes.replace(f"\\{kind}", " "))
        except ValueError:
            return _ESCAPE.sub(_character, escapes)
        if kind == "x":
            return octets.decode("latin-1")
        return _as_wide(octets.decode("utf-16-be", "surrogatepass"))
    if kind == "#" and escapes[2] not in "xX":
        codes = map(int, escapes[2:-1].split(";&#"))
        return _as_wide("".join(chr(code) for code in codes if code <= sys.maxunicode))
    digits = escapes.lstrip("\\&#uUxX{").rstrip(";}")
    code = int(digits, 16 if kind in "uU#" else 8)
    return _as_wide(chr(code)) if code <= sys.maxunicode else ""


def _character(match: re.Match[str]) -> str:
    return _as_wide(chr(int(match[1] or match[2], 16)))


def _as_wide(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


_LETTERS: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


@dataclass(frozen=True)
class _Form:
    """A value in one encoding, with partial characters at ends whose bits are shared."""

    text: str
    gap: str = ""
    before: str = ""
    behind: str = ""
    any_case: bool = False

    @cached_property
    def octets(self) -> bytes:
        """The text as it stands in UTF-8."""
        return self.text.encode("utf-8", "surrogatepass")

    @cached_property
    def windows(self) -> tuple[int, ...]:
        """Where anchors may begin: parts that most encodings leave as they are."""
        octets = self.octets
        rated: dict[int, list[int]] = {}
        for at in range(max(1, len(octets) - _ANCHOR + 1)):
            rated.setdefault(
                sum(octet in _PLAIN for octet in octets[at : at + _ANCHOR]), []
            ).append(at)
        best = rated[max(rated)]
        return tuple(best[:: -(-len(best) // _MOST_WINDOWS)])

    def may_stand(self, wide: str, place: int, offset: int) -> bool:
        """Whether the text goes on as the form does from ``offset`` on, up to an escape."""
        rest = self.wide[offset:]
        following, its = rest[_ANCHOR : _ANCHOR + 1], wide[place + _ANCHOR : place + _ANCHOR + 1]
        if following and not self.any_case and its != following and its not in _MAY_FOLLOW:
            return False
        there = wide[place : place + len(rest)]
        if self.any_case:
            rest, there = rest.lower(), there.lower()
        if there == rest:
            return True
        pairs = enumerate(zip(rest, there, strict=False))
        other = next((at for at, (mine, its) in pairs if mine != its), len(there))
        return other == len(there) or there[other] in _MAY_FOLLOW

    @cached_property
    def wide(self) -> str:
        """`octets`, one character a byte."""
        return self.octets.decode("latin-1")

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        # A match begins where a run of backslashes does: from within it nothing is tried again.
        first = _written(self.text[0], slashes=r"(?<!\\)\\+")
        inner = self.gap.join([first, *map(_written, self.text[1:])])
        flags = re.IGNORECASE if self.any_case else 0
        source = self.before + inner + self.behind
        return re.compile(source.encode("utf-8", "surrogatepass").decode("latin-1"), flags)


def _written(character: str, slashes: str = r"\\+") -> str:
    """A pattern for the ways in which a character is written: plain, escaped, encoded."""
    code = ord(character)
    units = character.encode("utf-16-be", "surrogatepass").hex()
    unicode = r"\\+u".join(f"(?i:{units[i : i + 4]})" for i in range(0, len(units), 4))
    escapes = [f"u{unicode}", rf"u\{{0*(?i:{code:x})\}}", f"U(?i:{code:08x})"]
    if code < 256:
        escapes += [f"x(?i:{code:02x})", f"{code:03o}"]
    octets = character.encode("utf-8", "surrogatepass")
    percent = "".join(f"%(?:25)*(?i:{octet:02x})" for octet in octets)
    escapes += [letter for letter, meant in _LETTERS.items() if character == meant]
    ways = [re.escape(character), f"{slashes}(?:{'|'.join(escapes)})", percent]
    ways.append(f"&#(?:0*{code}|[xX]0*(?i:{code:x}));")
    if not character.isalnum():
        ways.insert(0, rf"(?:{slashes})?{re.escape(character)}")
        named = html.escape(character)
        ways += [r"\+"] if character == " " else []
        ways += [re.escape(named)] if named != character else []
    if character == "\\":
        ways.insert(0, slashes)
    if character in "%&":  # with which the longer ways begin
        ways.reverse()
    return f"(?:{'|'.join(ways)})"


@lru_cache(maxsize=1024)
def _forms(value: str) -> tuple[_Form, ...]:
    octets = value.encode("utf-8", "surrogatepass")
    forms = [_Form(value), _Form(octets.hex(), any_case=True)]
    written = {json.dumps(value)[1:-1], quote(value), html.escape(value)}
    forms += [_Form(text) for text in written - {value}]
    alphabet = "[A-Za-z0-9+/_-]"
    gap = r"(?:\\+[nr]|[\r\n])*"
    for shift in range(3):
        encoded = base64.b64encode(bytes(shift) + octets).decode()
        # Characters of six bits that lie wholly within the value's own.
        first, last = -(-shift * 8 // 6), (shift + len(octets)) * 8 // 6
        inner = encoded[first:last]
        before = f"{alphabet}{gap}" if shift else ""
        shared = (shift + len(octets)) * 8 % 6
        behind = f"(?:{gap}{alphabet})?={{0,2}}" if shared else ""
        for text in {inner, inner.translate(str.maketrans("+/", "-_"))}:
            forms.append(_Form(text, gap, before, behind))
    return tuple(forms)


def forms_in_lines(value: str) -> set[str]:
    """``value`` as a line of a cassette holds it: in a text, and in a string of a JSON body."""
    in_text = json.dumps(value, ensure_ascii=False)[1:-1]
    return {in_text, json.dumps(in_text, ensure_ascii=False)[1:-1]}


# --- fields, and values that are split over the strings of a body ---------------------------------


_FIELD: Final = re.compile(r'"([\w-]*+)"\s*+:')
# Longer than the end of a name by which a field is known as secret.
_LONGEST_NAME: Final = 64
_FORM: Final = re.compile(r"[\w.%+-]++=[^\s&{}\"]*+(?:&[\w.%+-]++=[^\s&{}\"]*+)*+")
_START: Final = re.compile(r"[\ufeff \t\r\n]*+([{\[])")
# The usual format of JSON; the format has no meaning.
_LAYOUTS: Final[tuple[dict[str, Any], ...]] = ({"separators": (",", ":")}, {}, {"indent": 2})
_LINE_END: Final = re.compile(r"[\r\n]")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_INDICES: Final = 8
# How a value of JSON begins.
_OF_JSON: Final = frozenset('{["-0123456789tfnNI\ufeff \t')
# The parts of a structured body are looked at one by one. Replies have some thousands.
_MOST_QUOTES: Final = 2_000_000
_MOST_LINES: Final = 100_000
# Of the content of a message: two may share a value.
_PARTS: Final = 2
_EVENT: Final = re.compile(r"((?:data:[ ]?)?)(.+?)(\r?\n?)", re.DOTALL)


@dataclass(slots=True)
class _Document:
    """A JSON text, or one event of a stream, with the text around it."""

    before: str
    source: str
    after: str = ""
    # In a list, so that a document that is one string can be replaced as well.
    value: list[Any] | None = None

    def written(self) -> str:
        """The text as it is now; layout and line ends as they were."""
        text, loaded = self.source, _loaded(self.source)
        if self.value is not None and loaded is None:
            text = self.value[0]
        # Compared by text, because a NaN is not equal to itself.
        elif self.value and loaded and repr(loaded) != repr(self.value):
            text = _laid_out_like(text, loaded[0], self.value[0])
        return f"{self.before}{text}{self.after}"


class _String(NamedTuple):
    """A string of a document, except field names.

    ``path`` are the fields and positions that lead to it, with the numbers of an ``index`` beside
    them; ``fields`` are only the fields.
    """

    holder: Any
    key: Any
    path: tuple[Any, ...]
    fields: tuple[str, ...]

    @property
    def text(self) -> str:
        return str(self.holder[self.key])


def _documents(body: str) -> list[_Document]:
    """The body as one JSON document, or as the events of a stream (SSE, JSON Lines); else none."""
    if not _is_structured(body):
        return []
    start = _START.match(body)
    if start and (value := _loaded(body)):
        return [_Document("", body, value=value)]
    if not (start and start[1] == "{") and not _is_stream(body):
        return []
    events = []
    for line in _LINE.findall(body):
        found = _EVENT.fullmatch(line)
        if found is None:
            events.append(_Document("", line))
            continue
        before, source, after = found.groups()
        # An event of plain text is a string.
        value = _loaded(source) if source[:1] in _OF_JSON else None
        value = value or ([source] if before else None)
        events.append(_Document(before, source, after, value))
    return events


def _check_parts(text: str) -> None:
    """Refuse a structured body with more parts than can be looked at one by one."""
    if text.count('"') > _MOST_QUOTES:
        raise too_many_parts(f"more than {_MOST_QUOTES} quotes")
    if _is_stream(text) and text.count("\n") > _MOST_LINES:
        raise too_many_parts(f"more than {_MOST_LINES} lines of a stream")


def _is_structured(text: str) -> bool:
    """Whether ``text`` begins as JSON does, or has lines of an event stream."""
    return _START.match(text) is not None or _is_stream(text)


def _is_stream(text: str) -> bool:
    return text.startswith("data:") or "\ndata:" in text


def _loaded(text: str) -> list[Any] | None:
    try:
        return [json_value(text.removeprefix("\ufeff"))]
    except ValueError:
        return None


def _laid_out_like(source: str, before: Any, value: Any) -> str:
    """``value`` written as ``source`` writes ``before``."""
    for layout, ascii_only in product(_LAYOUTS, (False, True)):
        if json.dumps(before, ensure_ascii=ascii_only, **layout) == source:
            return json.dumps(value, ensure_ascii=ascii_only, **layout)
    return json.dumps(value, ensure_ascii=False)


def _strings(holder: Any, key: Any) -> Iterator[_String]:
    waiting: list[tuple[Any, Any, tuple[Any, ...], tuple[str, ...]]] = [(holder, key, (), ())]
    while waiting:
        holder, key, path, fields = waiting.pop()
        value = holder[key]
        if isinstance(value, str):
            yield _String(holder, key, path, fields)
        elif isinstance(value, list):
            places = range(len(value) - 1, -1, -1)
            waiting += [
                (value, place, (*path, place), fields)
                for place in places
                if isinstance(value[place], _HOLDS_TEXT)
            ]
        elif isinstance(value, dict):
            number = tuple(
                (name, part)
                for name, part in value.items()
                if name.endswith("index") and _is_index(name, part)
            )[:_MOST_INDICES]
            waiting += [
                (value, name, (*path, number, name), (*fields, name))
                for name in reversed(value)
                if isinstance(value[name], _HOLDS_TEXT)
            ]


_HOLDS_TEXT: Final = (str, list, dict)


def _is_index(name: str, value: object) -> bool:
    return f"_{name}".endswith("_index") and not isinstance(value, _HOLDS_TEXT)


def _strings_of(documents: Iterable[_Document]) -> Iterator[_String]:
    for document in documents:
        if document.value is None:
            continue
        events = document.value[0]
        # Gemini's stream is a list of events: as in others, which one it was joins nothing.
        holder = events if isinstance(events, list) else document.value
        for place in range(len(holder)):
            yield from _strings(holder, place)


def _without_secret_pairs(text: str) -> tuple[str, set[str]]:
    """A form without the values of fields that are named like a secret."""
    if "=" not in text or not _FORM.fullmatch(form := text.strip()):
        return text, set()
    redacted = _redacted_pairs(form)
    return (text.replace(form, redacted), {"a form field"}) if redacted != form else (text, set())


def _without_secret_fields(text: str) -> tuple[str, set[str]]:
    fields = {field[-_LONGEST_NAME:] for field in set(_FIELD.findall(text))}
    if not any(map(_may_be_secret, fields)):
        return text, set()
    documents, names = _documents(text), set()
    for string in _strings_of(documents):
        name = next((field for field in string.fields if secret_name(field)), None)
        if name is None and looks_secret(string.text):
            name = next((field for field in string.fields if maybe_secret_name(field)), None)
        if name is not None and string.text not in ("", REDACTED):
            string.holder[string.key] = REDACTED
            names.add(f"field {name}")
    return "".join(document.written() for document in documents) if names else text, names


@lru_cache(maxsize=1024)  # the requests to an endpoint, and its answers, have the same fields
def _may_be_secret(field: str) -> bool:
    return secret_name(field) or maybe_secret_name(field)


def _without_split_secrets(text: str, secrets: Mapping[str, str]) -> tuple[str, set[str]]:
    """``text`` without values that are split over the strings of one field.

    Streams deliver a reply in deltas, token probabilities a token at a time, and a message may have
    several parts. Strings belong together by their path, with the choice that they number; or by
    their fields alone.
    """
    is_stream = "data:" in text or "}\n{" in text or "}\r\n{" in text
    if not is_stream and '"logprobs' not in text and text.count('"text"') < _PARTS:
        return text, set()
    documents, names = _documents(text), set()
    strings = list(_strings_of(documents))
    for key in ("path", "fields"):
        for group in grouped(strings, attrgetter(key)).values():
            if len(group) > 1:
                spans = [*_spans("".join(one.text for one in group), secrets)]
                names |= {name for _, _, name in spans}
                _cut(group, spans, everywhere=not is_stream)
    return "".join(document.written() for document in documents) if names else text, names


def _cut(group: list[_String], spans: list[tuple[int, int, str]], *, everywhere: bool) -> None:
    """Take spans of the joined text out of its strings.

    The placeholder replaces the first of them, or is inserted ``everywhere``: in a request each
    part of a message must match another key at that place. Both are in order, and spans do not
    overlap, so each string and each span is visited once.
    """
    position = current = 0
    for string in group:
        text, parts, cut = string.text, [], 0
        end = position + len(text)
        while current < len(spans) and spans[current][0] < end:
            first, last, name = spans[current]
            if first >= position or (everywhere and text):
                parts += [text[cut : max(cut, first - position)], _placeholder(name)]
            cut = min(last, end) - position
            if last > end:
                break
            current += 1
        if parts or cut:
            string.holder[string.key] = "".join((*parts, text[cut:]))
            if string.key == "token":
                _forget_copies(string.holder)
        position = end


def _without_copies_of_tokens(text: str) -> tuple[str, set[str]]:
    """``text`` without what token probabilities repeat of tokens that a placeholder replaces."""
    if '"logprobs' not in text or not (PLACEHOLDER.search(text) or REDACTED in text):
        return text, set()
    documents, found = _documents(text), False
    for string in _strings_of(documents):
        if string.key == "token" and _is_removed(string.text):
            found |= _forget_copies(string.holder)
    # Gemini's alternatives are a separate list, by position.
    for one in nodes([document.value for document in documents]):
        if not isinstance(one, dict):
            continue
        chosen, others = one.get("chosenCandidates"), one.get("topCandidates")
        if isinstance(chosen, list) and isinstance(others, list):
            for place, token in enumerate(chosen[: len(others)]):
                said = token.get("token") if isinstance(token, dict) else None
                if _is_removed(said) and others[place]:
                    others[place], found = {}, True
    written = "".join(document.written() for document in documents) if found else text
    return written, {"copies of a token"} if found else set()


def _is_removed(text: object) -> bool:
    """Whether a secret stood in ``text``, or went on there from the strings before."""
    return isinstance(text, str) and (text in ("", REDACTED) or bool(PLACEHOLDER.search(text)))


def _forget_copies(token: dict[str, Any]) -> bool:
    """Remove the bytes of a token and the alternatives to it; whether there were any."""
    found = False
    for key, nothing in (("bytes", None), ("top_logprobs", [])):
        if token.get(key):
            token[key], found = nothing, True
    return found


# --- what is recorded -----------------------------------------------------------------------------


# Added to the recorded headers: the encodings in which a client was given the body.
ENCODED: Final = "judgesense-encoding"
# And how many bytes of a body did not come that its length had announced.
MISSING: Final = "judgesense-missing"
_ENCODING: Final = "content-encoding"
# The fault of a response with a body that nothing decodes.
UNDECODED: Final = "a body that cannot be decoded"
# No decoder takes what begins with it, nor is it text: clients fail at it as they did.
_NO_CONTENT: Final = b"\xff"


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
    if encodings is not None and (given := encoded(content, encodings)) is not None:
        content, headers[_ENCODING] = given, encodings
    if headers.get(FAULT) == UNDECODED:
        content = _NO_CONTENT + content
    if missing is not None and missing.isdecimal():
        headers["content-length"] = str(len(content) + int(missing[:18]))
    return content, headers


_T = TypeVar("_T")
# Texts with a known result of the removal: those of the calls in flight.
_REMEMBERED: Final = 512
_LONGEST_REMEMBERED: Final = 2**18


class Redactor:
    """Removes known secrets and, if ``noting``, notes what it found. Thread-safe."""

    def __init__(self, credentials: Credentials, *, noting: bool) -> None:
        self.credentials = credentials
        # Names of the credentials that were found and removed.
        self.removed: set[str] = set()
        self._noting = noting
        # Results by text and method: the searched secrets, the text without them, those found.
        self._cleaned: dict[tuple[Any, Any], tuple[Any, Any, frozenset[str]]] = {}

    def url(self, url: str) -> str:
        """``url`` without secrets."""
        return self._without_secrets(scrub_url, url)

    def text(self, text: str) -> str:
        """``text`` without secrets."""
        return self._without_secrets(scrub, text)

    def body(self, body: str | bytes) -> str | bytes:
        """``body`` without secret fields and values."""
        return self._without_secrets(scrub_body, body)

    def response(self, response: RecordedResponse) -> RecordedResponse:
        """``response`` without secrets."""
        headers = {name: self.text(text) for name, text in response.headers.items()}
        body = self.body(response.body)
        return replace(response, headers=MappingProxyType(headers), body=body)

    def exchange(self, exchange: Exchange) -> Exchange:
        """``exchange`` without secrets."""
        request = exchange.request
        asked = replace(request, url=self.url(request.url), body=self.body(request.body))
        return replace(exchange, request=asked, response=self.response(exchange.response))

    def narrowed_to(self, values: Collection[str]) -> Redactor:
        """One that removes only these known values, and notes here what it found."""
        known = self.credentials.values.items()
        narrowed = Redactor(Credentials(one for one in known if one[1] in values), noting=True)
        narrowed.removed, narrowed.credentials.removed = self.removed, self.credentials.removed
        return narrowed

    def _without_secrets(
        self, clean: Callable[[_T, Mapping[str, str]], tuple[_T, set[str]]], dirty: _T
    ) -> _T:
        # A URL is the same in every call, and a body comes by several times on its way: searching
        # costs more than anything else that is done with it here.
        values = self.credentials.values
        searched, known, found = self._cleaned.get((clean, dirty), (None, dirty, frozenset()))
        result: _T = known
        if searched is not values:  # they grow, and are another mapping then
            result, names = clean(dirty, values)
            found = frozenset(names)
            if len(self._cleaned) >= _REMEMBERED:
                self._cleaned.clear()
            if not isinstance(dirty, str | bytes) or len(dirty) <= _LONGEST_REMEMBERED:
                self._cleaned[clean, dirty] = values, result, found
        if found and self._noting:
            self.credentials.removed.update(found)
            self.removed.update(found)
        return result
