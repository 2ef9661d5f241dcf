"""Strings that are shaped like keys of services: their patterns, and where they stand in bytes.

Every pattern here is applied to untrusted text and is linear: it starts at a place that its own
repetitions do not cross, so that no two attempts read the same stretch. It is applied only where a
substring that every match contains, its hint, is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pytest_judgesense.cassettes.searching import Found

# The groups of literals that are hints: those that keys begin with, and others.
BEGINNING: Final = 0b11000
_WITHIN: Final = 0b100000
# Longer than the end of a name by which a field is known as secret.
LONGEST_NAME: Final = 64
# Name, hints, and pattern. `\nsk-...` in JSON: the letter before the key belongs to the escape.
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
SHAPES: Final = (
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
OF_RUNS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/%"
OF_NAMES: Final = OF_RUNS[:64]
_MARK: Final = 2


def _by_mark() -> dict[str, list[tuple[str, str, str]]]:
    """By mark: the hints that begin so, each with the name and the pattern of its shape."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for name, hints, shape in SHAPES:
        for hint in hints.split("|"):
            if hint != _IN_A_URL:
                found.setdefault(hint[:_MARK], []).append((hint, name, shape))
    found[_IN_A_URL[:_MARK]] = [
        (_IN_A_URL, name, shape) for name, hints, shape in SHAPES if hints == _IN_A_URL
    ]
    return found


_IN_A_URL: Final = "://"
BY_MARK: Final = _by_mark()
_HINTS: Final = {hint.encode() for known in BY_MARK.values() for hint, _, _ in known}
# The first four bytes of those that have so many, and two of the others.
_LONG_HINTS: Final = tuple({hint[:4] for hint in _HINTS if len(hint) >= 4})
_SHORT_HINTS: Final = tuple({hint[:_MARK] for hint in _HINTS if len(hint) < 4})
# Compiled where its hint is found: compiling all takes longer than reading a thousand replies.
pattern_of = cache(partial(re.compile, flags=re.DOTALL))
_KEY_EDGE: Final = re.compile(r"-----(BEGIN|END) [A-Z ]*PRIVATE KEY(?: BLOCK)?-----")


def shaped(wide: str, places: Found) -> Iterator[tuple[int, int, int, str]]:
    """The strings that are shaped like keys."""
    yield from _passwords(wide)
    if not places.has_runs:
        return
    beginning, within = places.of(BEGINNING), places.of(_WITHIN)
    # At an edge; the letter before it may belong to an escape.
    letters = places.are(beginning - 1, OF_NAMES)
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
        for hint, name, shape in BY_MARK.get(wide[place : place + _MARK], ()):
            if wide.startswith(hint, place):
                pattern = pattern_of(shape)
                for start in _starts(wide, place, hint):
                    if start >= 0 and (match := pattern.match(wide, start)):
                        yield (*match.span(1 if pattern.groups else 0), 0, name)


def _starts(wide: str, place: int, hint: str) -> Iterable[int]:
    """Where a key may begin whose hint is at ``place``."""
    if hint.endswith("=") and hint != "AccountKey=":  # a parameter of a URL, of any name
        first = max(0, place - LONGEST_NAME)
        return (max(wide.rfind(mark, first, place) for mark in "?&"),)
    return (place - distance for distance in _BEFORE.get(hint, (0,)))


def _passwords(wide: str) -> Iterator[tuple[int, int, int, str]]:
    """Passwords in URLs: they have no shape but stand between a colon and an ``@``."""
    ((_, name, shape),) = BY_MARK[_IN_A_URL[:_MARK]]
    pattern, at, slash = pattern_of(shape), wide.find("@"), -1
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


def private_keys(text: str) -> Iterator[tuple[int, int]]:
    """From the first beginning of a PEM block to the next end, and so on."""
    start = None
    for edge in _KEY_EDGE.finditer(text):
        if edge[1] == "BEGIN":
            start = edge.start() if start is None else start
        elif start is not None:
            yield start, edge.end()
            start = None


@cache
def literals_of_hints() -> tuple[tuple[int, Sequence[bytes]], ...]:
    """The hints: those that keys begin with, in two groups, and the others."""
    beginning = {hint for _, hints, _ in _KEYS for hint in hints.split("|")} - _BEFORE.keys()
    every = {hint for known in BY_MARK.values() for hint, _, _ in known} - {_IN_A_URL}
    return tuple(
        (
            (8 << ord(hint[0]) % 2) if hint in beginning else _WITHIN,
            [bytes([octet]) for octet in hint.encode()],
        )
        for hint in sorted(every)
    )
