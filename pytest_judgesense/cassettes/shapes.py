"""Strings that are shaped like keys of services: their patterns, and where they stand in bytes.

Every pattern here is applied to untrusted text and is linear: it starts at a place that its own
repetitions do not cross, so that no two attempts read the same stretch. It is applied only where a
substring that every match contains, its hint, is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from pytest_judgesense.cassettes.searching import OF_ROWS, around_rows, parts_of

# Longer than the end of a name by which a field is known as secret.
LONGEST_NAME: Final = 64
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
# `\nsk-...` in JSON: the letter before the key belongs to the escape.
_EDGE: Final = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"


@dataclass(frozen=True)
class Shape:
    """What keys of one kind look like.

    Attributes:
        name: what they are called in a placeholder.
        hints: substrings, one of which every key has, separated by bars.
        written: the pattern; of one with a group the group is the key.
        before: how far before its hint a key may begin; nothing for a parameter of a URL.
        at_edge: whether no letter or digit is before it.
    """

    name: str
    hints: str
    written: str
    before: Sequence[int] = (0,)
    at_edge: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """The pattern, compiled where its hint is found: all take longer than 1,000 replies."""
        source = (f"{_EDGE}{self.written}" if self.at_edge else self.written).encode()
        return re.compile(source, re.DOTALL)


def _key(name: str, hints: str, written: str, before: Sequence[int] = (0,)) -> Shape:
    return Shape(name, hints, written, before, at_edge=True)


SHAPES: Final = (
    _key(
        "an API key",
        "sk-|sk_|gsk-|gsk_|xai-|pplx-|rk_|rk-",
        r"(?:sk|gsk|xai|pplx|rk)[-_](?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}",
    ),
    _key("an AWS key", "AKIA|ASIA", r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _key("a Google key", "AIza|AQ.", r"(?:AIza[0-9A-Za-z_-]{35}|AQ\.[A-Za-z0-9_-]{40,})"),
    _key(
        "a GitHub token",
        "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_",
        r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})",
    ),
    _key("a Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _key("a GitLab token", "glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
    _key("an npm token", "npm_", r"npm_[A-Za-z0-9]{36,}"),
    _key("an NVIDIA key", "nvapi-", r"nvapi-[A-Za-z0-9_-]{20,}"),
    _key("a Replicate token", "r8_", r"r8_[A-Za-z0-9]{30,}"),
    _key("a SendGrid key", "SG.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _key("a DigitalOcean token", "dop_v1_|doo_v1_|dor_v1_", r"do[opr]_v1_[a-f0-9]{40,}"),
    _key("a Google access token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    _key(
        "a service's key",
        "|".join(_PREFIXES),
        # A dot may be before and within such a key, so the lookahead is limited to a stretch.
        rf"(?:{_PREFIXED})(?=[A-Za-z._-]{{0,60}}\d)[A-Za-z0-9._-]{{20,}}",
    ),
    _key(
        "a service's key",
        _SHORT_PREFIXED,
        rf"(?:{_SHORT_PREFIXED})(?=[A-Za-z]*\d)[A-Za-z0-9]{{20,}}(?![A-Za-z0-9_])",
    ),
    _key("a webhook's secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,}={0,2}"),
    _key("a Databricks token", "dapi", r"dapi[a-f0-9]{32}(?![A-Za-z0-9])"),
    _key("a Twilio key", "SK", r"SK[a-f0-9]{32}(?![A-Za-z0-9])"),
    _key("a Mailchimp key", "-us", r"[a-f0-9]{32}-us\d{1,2}(?![A-Za-z0-9])", (32,)),
    _key("an Airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _key(
        "a Bedrock key",
        "ABSK|bedrock-api-key-",
        r"(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/]{80,}={0,2}",
    ),
    _key("a Mapbox token", "k.eyJ", r"[ps]k\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}", (1,)),
    _key("a Telegram token", ":A", r"(?:bot)?(\d{5,16}:A[A-Za-z0-9_-]{34})(?![\w-])", range(5, 20)),
    _key("a Slack token", "xoxa-|xoxb-|xoxe-|xoxp-|xoxr-|xoxs-", r"xox[abeprs]-[A-Za-z0-9-]{20,}"),
    _key(
        "a JSON web token",
        "eyJ",
        r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ),
    _key("an organisation id", "org-", r"org-(?=[A-Za-z]*\d)[A-Za-z0-9]{20,}"),
    Shape(
        "a user and password",
        "asic |ASIC ",
        r"(?i:\bbasic) (?=[A-Za-z+/]*\d)([A-Za-z0-9+/]{16,}={0,2})(?![A-Za-z0-9+/=])",
        (1,),
    ),
    Shape("an Entra secret", "Q~", r"(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])", (4,)),
    Shape("a Terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}", (14,)),
    Shape("a storage key", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{80,}={0,2})"),
    Shape("an age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Shape("a Discord webhook", "/webhooks/", r"/webhooks/(\d{17,20}/[A-Za-z0-9_-]{60,})"),
    Shape("a Slack webhook", "/T", r"/(T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{20,})"),
    Shape(
        "a bearer token",
        "earer|EARER",
        r"(?i:bearer)\s+(?=[A-Za-z._~+/-]*\d)([A-Za-z0-9._~+/-]{20,}=*)",
        (1,),
    ),
    Shape(
        "a key in a URL",
        "key=|sig=|token=|secret=|signature=|Key=|Signature=|Token=",
        r"[?&](?:(?:x-amz-)?signature|\w*key|sig|\w*token|\w*secret)=([\w.~%+/-]{16,})",
        (),
    ),
)
# It has no shape, but stands between a colon and an `@`.
PASSWORD: Final = Shape(
    "a password in a URL", "://", r"[a-z]://[^\s/:@\"'\\]*:([^\s/@\"'\\\[]+)@[A-Za-z0-9\[]", (1,)
)
_MARK: Final = 2


def _by_mark() -> dict[bytes, list[tuple[bytes, Shape]]]:
    """By mark: the hints that begin so, each with its shape."""
    by_mark: dict[bytes, list[tuple[bytes, Shape]]] = {}
    for shape in SHAPES:
        for hint in shape.hints.encode().split(b"|"):
            by_mark.setdefault(hint[:_MARK], []).append((hint, shape))
    return by_mark


BY_MARK: Final = _by_mark()
# Bytes of hints, the rarest in texts first.
_RAREST: Final = b"~=:. -_/JKSzxp"
# Most keys begin with a word and one of these; the others are few.
_MARKS_OF_HINTS: Final = (b"-", b"_", b".")
# Of the others, those of keys that have a dot within them.
_DOTTED: Final = (b"eyJ", b"pat")


class _Hint(NamedTuple):
    """A hint with the rarest of its bytes, without which it need not be looked for."""

    rare: bytes
    octets: bytes
    shape: Shape

    def is_in(self, text: bytes) -> bool:
        """Whether it stands in ``text``."""
        return self.rare in text and self.octets in text


_ALL_HINTS: Final = tuple(
    _Hint(bytes([next(octet for octet in (*_RAREST, *hint) if octet in hint)]), hint, shape)
    for hinted in BY_MARK.values()
    for hint, shape in hinted
)
_AT_HEADS: Final = tuple(
    hint for hint in _ALL_HINTS if hint.shape.at_edge and hint.shape.before == (0,)
)
_WITHIN: Final = tuple(hint for hint in _ALL_HINTS if hint not in _AT_HEADS)
_UNMARKED: Final = tuple(
    hint
    for hint in _AT_HEADS
    if not any(mark in hint.octets for mark in _MARKS_OF_HINTS) and hint.octets not in _DOTTED
)
# So many bytes of what a key begins with are compared before its pattern is.
_HEAD: Final = 4
# Behind any of these a key may begin; behind these letters if a backslash is before them.
_BETWEEN_WORDS: Final = bytes({*range(256)} - {*OF_ROWS[:64]})
_AS_BLANKS: Final = bytes.maketrans(_BETWEEN_WORDS, b" " * len(_BETWEEN_WORDS))
_OF_ESCAPES: Final = b"nrt"
# With the row beside it, as much of it as is looked for.
_LONGEST_HINT: Final = 1 << 10
# Any number of blanks may be between these and the key.
_BEARERS: Final = (b"earer", b"EARER")
_PRIVATE_KEY: Final = b"PRIVATE KEY"
_KEY_EDGE: Final = re.compile(rb"-----(BEGIN|END) [A-Z ]*PRIVATE KEY(?: BLOCK)?-----")


def shaped(data: bytes) -> Iterator[tuple[int, int, int, str]]:
    """The strings that are shaped like keys."""
    yield from _passwords(data)
    if _PRIVATE_KEY in data:
        yield from _private_keys(data)
    found: set[tuple[int, int, int, str]] = set()
    for start, part in parts_of(data, _LONGEST_HINT):
        # A key is a row within its hint or beside it, or has one.
        if rows := around_rows(part, OF_ROWS):
            for hint in {*_at_heads(rows), *_within(rows, part)}:
                for span in _matches(data, hint, start, start + len(part)):
                    if span not in found:
                        found.add(span)
                        yield span


def _at_heads(rows: bytes) -> Iterator[_Hint]:
    """The hints with which a word of the rows may begin."""
    if not any(mark in rows for mark in _MARKS_OF_HINTS):
        return (hint for hint in _UNMARKED if hint.is_in(rows))
    heads = {word[: _HEAD + 1] for word in rows.translate(_AS_BLANKS).split()}
    heads |= {head[1:] for head in heads if head[0] in _OF_ESCAPES}
    begun = {head[:length] for head in heads for length in (_MARK, _MARK + 1, _HEAD)}
    return (hint for hint in _AT_HEADS if hint.octets.partition(b".")[0][:_HEAD] in begun)


def _within(rows: bytes, part: bytes) -> Iterator[_Hint]:
    """The hints that stand anywhere in the rows, or before them."""
    return (hint for hint in _WITHIN if hint.is_in(part if hint.octets in _BEARERS else rows))


def _matches(
    data: bytes, hint: _Hint, first: int, last: int
) -> Iterator[tuple[int, int, int, str]]:
    """The keys that have this hint, from where to where it may stand."""
    pattern, before = hint.shape.pattern, hint.shape.before
    place = data.find(hint.octets, first, last)
    while place >= 0:
        for distance in before or (_from_parameter(data, place),):
            if distance <= place and (match := pattern.match(data, place - distance)):
                yield (*match.span(pattern.groups and 1), 0, hint.shape.name)
        place = data.find(hint.octets, place + 1, last)


def _from_parameter(data: bytes, place: int) -> int:
    """How far before ``place`` its parameter of a URL begins."""
    first = max(0, place - LONGEST_NAME)
    return place - max(data.rfind(b"?", first, place), data.rfind(b"&", first, place))


def _passwords(data: bytes) -> Iterator[tuple[int, int, int, str]]:
    """Passwords in URLs: they have no shape but stand between a colon and an ``@``."""
    hint = PASSWORD.hints.encode()
    at_sign, slash = data.find(b"@"), -1
    place = data.find(hint) if at_sign >= 0 else -1
    while place >= 0:
        behind = place + len(hint)
        at_sign = at_sign if at_sign >= behind else data.find(b"@", behind)
        if at_sign < 0:
            return
        slash = slash if slash >= behind or slash == _NOWHERE else data.find(b"/", behind)
        slash = _NOWHERE if slash < 0 else slash
        is_near = place > 0 and (slash == _NOWHERE or at_sign < slash)
        if is_near and (match := PASSWORD.pattern.match(data, place - 1)):
            yield (*match.span(1), 0, PASSWORD.name)
        place = data.find(hint, behind)


_NOWHERE: Final = -2


def _private_keys(data: bytes) -> Iterator[tuple[int, int, int, str]]:
    """From the first beginning of a PEM block to the next end, and so on."""
    start = None
    for edge in _KEY_EDGE.finditer(data):
        if edge[1] == b"BEGIN":
            start = edge.start() if start is None else start
        elif start is not None:
            yield start, edge.end(), 0, "a private key"
            start = None
