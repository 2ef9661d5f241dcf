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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from itertools import islice, product
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from pytest_judgesense.cassettes.bodies import MOST_BYTES, content_encoding, decoded
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
    Exchange,
    RecordedResponse,
    as_body,
    as_bytes,
    nodes,
)
from pytest_judgesense.grouping import grouped
from pytest_judgesense.limits import json_value

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
        "sk-|sk_|xai-|pplx-|rk_|rk-",
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
    ("a Slack webhook", "/B", r"/(T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{20,})"),
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
# The mark of a hint is a separator in it with the two characters before, or a rare character. The
# marks of a text are soon found; only hints with one of them, or without any, are searched for.
_SEPARATORS: Final = "-_.="
_RARE: Final = "~JKI/TEAx"


def _marks(text: str) -> Iterator[str]:
    for separator in _SEPARATORS:
        place = text.find(separator, 2)
        while place >= 0:
            yield text[place - 2 : place + 1]
            place = text.find(separator, place + 1)
    yield from (character for character in _RARE if character in text)


def _by_mark() -> dict[str, list[tuple[str, str, str]]]:
    """By mark, ``""`` for none: the hints, each with the name and the pattern of its shape."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for name, hints, shape in _SHAPES:
        for hint in hints.split("|"):
            found.setdefault(next(_marks(hint), ""), []).append((hint, name, shape))
    return found


_BY_MARK: Final = _by_mark()
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
    parts, position, names = [], 0, set()
    for start, end, name in _spans(text, secrets):
        parts += [text[position:start], _placeholder(name)]
        position = end
        names.add(name)
    return "".join((*parts, text[position:])), names


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
    """``body``, text or bytes, without secret fields and values; the names that were found."""
    body, in_frames = _without_secrets_in_frames(body, secrets)
    if isinstance(body, bytes):
        # Latin-1 maps every byte to one character and back.
        as_latin = {name: as_bytes(value).decode("latin-1") for name, value in secrets.items()}
        text, found = _scrub_text(body.decode("latin-1"), as_latin)
        return text.encode("latin-1", "replace"), found | in_frames
    text, found = _scrub_text(body, secrets)
    return text, found | in_frames


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


def _placeholder(name: str) -> str:
    return f"[secret: {re.sub(r'[^A-Za-z0-9_ ,.-]', '-', name)}]"


# --- where a value stands in a text --------------------------------------------------------------


def _spans(text: str, secrets: Mapping[str, str]) -> Iterator[tuple[int, int, str]]:
    """The places of secrets in ``text``, from left to right; overlapping ones are merged."""
    views = _views(text) if secrets else set()
    found: list[tuple[int, int, int, str]] = []
    for name, value in secrets.items():
        if len(value) < SHORTEST_SECRET:
            continue
        # Loops instead of any(): most texts hold nothing, and finding that out must cost little.
        for form in _forms(value):
            for view in views:
                if form.text in view:
                    matches = form.pattern.finditer(text)
                    found += [(*match.span(), -len(value), name) for match in matches]
                    break
    marks = {"", *_marks(text)} & _BY_MARK.keys()
    for name, shape in {one[1:] for mark in marks for one in _BY_MARK[mark] if one[0] in text}:
        pattern = _pattern(shape)
        group = 1 if pattern.groups else 0
        found += [(*match.span(group), 0, name) for match in pattern.finditer(text)]
    found += [(*span, 0, "a private key") for span in _private_keys(text)]
    taken = [match.span() for match in PLACEHOLDER.finditer(text)]
    # Longest value first where two overlap: a secret that holds another must not be cut in two.
    merged: list[tuple[int, int, int, str]] = []
    for start, end, rank, name in sorted(found):
        # The last that does not begin behind it; they do not overlap.
        place = bisect_right(taken, (start, len(text))) - 1
        if place >= 0 and end <= taken[place][1]:
            continue
        if merged and start < merged[-1][1]:
            before = merged.pop()
            best = min(before[2:], (rank, name))
            merged.append((before[0], max(end, before[1]), *best))
        else:
            merged.append((start, end, rank, name))
    yield from ((start, end, _NUMBER.sub("", name)) for start, end, _, name in merged)


def _private_keys(text: str) -> Iterator[tuple[int, int]]:
    """From the first beginning of a PEM block to the next end, and so on."""
    start = None
    for edge in _KEY_EDGE.finditer(text):
        if edge[1] == "BEGIN":
            start = edge.start() if start is None else start
        elif start is not None:
            yield start, edge.end()
            start = None


def _views(text: str) -> set[str]:
    """``text``, and its content with escapes undone: cheap to search, unlike with regexes."""
    views = {text, text.lower()}
    if "\\" in text:
        views |= {_ESCAPE.sub(_unescaped, text), _LINE_ENDS.sub("", text)}
    if "\n" in text or "\r" in text:
        views.add(re.sub(r"[\r\n \t]+", "", text))
    if "%" in text or "+" in text:
        views |= {unquote(unquote(view)).replace("+", " ") for view in views}
        views |= {unquote(unquote(view)) for view in views}
    if "&" in text:
        # Python refuses to read a number of thousands of digits, and no character has one.
        views |= {html.unescape(_NO_CHARACTER.sub("", _ZEROS.sub(r"\1", v))) for v in views}
    return views


_LINE_ENDS: Final = re.compile(r"(?:(?<!\\)\\+[nr])+")
_ZEROS: Final = re.compile(r"(&#[xX]?)0+(?=[0-9a-fA-F])")
_NO_CHARACTER: Final = re.compile(r"&#(?:\d{8,}|[xX][0-9a-fA-F]{7,});?")
_ESCAPE: Final = re.compile(
    r"\\+(u[0-9a-fA-F]{4}|u\{0*[0-9a-fA-F]{1,6}\}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[0-3][0-7]{2}|.)",
    re.DOTALL,
)
_LETTERS: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def _unescaped(match: re.Match[str]) -> str:
    escape = match[1]
    if len(escape) == 1:
        return _LETTERS.get(escape, escape)
    code = int(escape, 8) if escape.isdecimal() else int(escape[1:].strip("{}"), 16)
    return chr(code) if code <= sys.maxunicode else ""


@dataclass(frozen=True)
class _Form:
    """A value in one encoding, with partial characters at ends whose bits are shared."""

    text: str
    gap: str = ""
    before: str = ""
    behind: str = ""
    any_case: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        # A match begins where a run of backslashes does: from within it nothing is tried again.
        first = _written(self.text[0], slashes=r"(?<!\\)\\+")
        inner = self.gap.join([first, *map(_written, self.text[1:])])
        flags = re.IGNORECASE if self.any_case else 0
        return re.compile(self.before + inner + self.behind, flags)


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
    forms += [_Form(text) for text in {json.dumps(value)[1:-1], quote(value)} - {value}]
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
_FORM: Final = re.compile(r"[\w.%+-]+=[^\s&{}\"]*(?:&[\w.%+-]+=[^\s&{}\"]*)*")
_STREAM: Final = re.compile(r"^data:", re.MULTILINE)
# The usual format of JSON; the format has no meaning.
_LAYOUTS: Final[tuple[dict[str, Any], ...]] = ({"separators": (",", ":")}, {}, {"indent": 2})
_LINE_END: Final = re.compile(r"[\r\n]")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_INDICES: Final = 8
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
    start = body.lstrip("\ufeff \t\r\n")[:1]
    if start in ("{", "[") and (value := _loaded(body)):
        return [_Document("", body, value=value)]
    if start != "{" and not _STREAM.search(body):
        return []
    events = []
    for line in _LINE.findall(body):
        found = _EVENT.fullmatch(line)
        if found is None:
            events.append(_Document("", line))
            continue
        before, source, after = found.groups()
        # An event of plain text is a string.
        value = _loaded(source) or ([source] if before else None)
        events.append(_Document(before, source, after, value))
    return events


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
            waiting += [(value, place, (*path, place), fields) for place in places]
        elif isinstance(value, dict):
            plain = (one for one in value.items() if not isinstance(one[1], str | list | dict))
            indices = (one for one in plain if f"_{one[0]}".endswith("_index"))
            number = tuple(islice(indices, _MOST_INDICES))
            waiting += [
                (value, name, (*path, number, name), (*fields, name)) for name in reversed(value)
            ]


def _strings_of(documents: Iterable[_Document]) -> Iterator[_String]:
    for document in documents:
        if document.value is None:
            continue
        events = document.value[0]
        # Gemini's stream is a list of events: as in others, which one it was joins nothing.
        holder = events if isinstance(events, list) else document.value
        for place in range(len(holder)):
            yield from _strings(holder, place)


def _without_secret_fields(text: str) -> tuple[str, set[str]]:
    if _FORM.fullmatch(form := text.strip()):
        redacted = _redacted_pairs(form)
        return (
            (text.replace(form, redacted), {"a form field"}) if redacted != form else (text, set())
        )
    fields = {field[1][-_LONGEST_NAME:] for field in _FIELD.finditer(text)}
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
    for key in ("path", "fields"):
        for group in grouped(_strings_of(documents), attrgetter(key)).values():
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


def received(
    status: int, headers: Iterable[tuple[str, str]], data: bytes, most: int = MOST_BYTES
) -> RecordedResponse:
    """A response as it is recorded: allowed headers, content encoding undone where possible.

    Raises:
        BodyTooLarge: the body has more than ``most`` bytes, as it came or decoded.
    """
    pairs = list(headers)
    encodings = content_encoding(pairs)
    content = decoded(data, encodings, most)
    allowed = dict(allowed_headers(pairs))
    if content is None:
        content, allowed["content-encoding"] = data, encodings
    return RecordedResponse(status, MappingProxyType(allowed), as_body(content))


_T = TypeVar("_T")
# Texts with a known result of the removal: those of the calls in flight.
_REMEMBERED: Final = 512


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
            self._cleaned[clean, dirty] = values, result, found
        if found and self._noting:
            self.credentials.removed.update(found)
            self.removed.update(found)
        return result
