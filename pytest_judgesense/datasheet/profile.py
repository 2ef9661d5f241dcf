"""A one-line sketch of a judge, from named rules. Descriptions, not classes. Pure.

Every rule is a word with what must hold for it (`RULES`, in the order in which words stand). Rules
read the pooled estimates of the suites that were run, and of the target sensitivity the one at
distance 1; what was not measured has no word. With DC the dark current, RFP, SCS and PFP the raw,
stable and positional false preference:

================================  ==================================================================
word                              holds when
================================  ==================================================================
degenerate on SUITE               a JSS is flagged degenerate
presentation-conflicted           RFP >= 0.1, PFP > RFP / 2, DC >= 0.2
mixed stable-positional           RFP >= 0.1, SCS and PFP >= RFP / 4; not presentation-conflicted
positional                        RFP >= 0.1, PFP > RFP / 2; none of the two above
vacuum-clean                      DC <= 0.05
faint dark current                0.05 < DC < 0.2; none of the three words on position
strong dark current               DC >= 0.2; none of the three words on position
sensitive, insensitive            target sensitivity at distance 1: >= 0.75, < 0.75
stable                            every JSS >= 0.9, every kappa >= 0.8; degenerate cells left out
moderately stable                 every JSS >= 0.8; not stable
wording-sensitive                 a JSS < 0.8
one-sided                         a side bias > 0.1
unreliable in form                an unparsed rate > 0.02
================================  ==================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from pytest_judgesense.estimate import Estimate

__all__ = ["RULES", "Rule", "profile_sketch"]

_Estimates: TypeAlias = Sequence[Estimate]


@dataclass(frozen=True, slots=True)
class Rule:
    """A word of the sketch.

    Attributes:
        word: as the sketch says it.
        holds: whether it holds for the estimates of a judge.
        each: name the suites that it holds on, one by one.
    """

    word: str
    holds: Callable[[_Estimates], bool]
    each: bool = False

    def words(self, estimates: _Estimates) -> list[str]:
        """What the rule has to say of the estimates: nothing, its word, or one for each suite."""
        if not self.each:
            return [self.word] if self.holds(estimates) else []
        return [f"{self.word} on {one.suite}" for one in estimates if self.holds([one])]


def profile_sketch(estimates: Iterable[Estimate]) -> str:
    """The sketch; empty where nothing that the rules name was measured."""
    known = list(estimates)
    words = (word for rule in RULES for word in rule.words(known))
    return ", ".join(dict.fromkeys(words))


def _pooled(estimates: _Estimates, measure: str, **condition: object) -> list[Estimate]:
    return [
        estimate
        for estimate in estimates
        if estimate.measure == measure
        and dict(estimate.condition) == condition
        and estimate.value is not None
    ]


def _values(estimates: _Estimates, measure: str, **condition: object) -> list[float]:
    return [one.value or 0.0 for one in _pooled(estimates, measure, **condition)]


def _some(measure: str, holds: Callable[[float], bool], **condition: object) -> Callable[..., bool]:
    """Whether the first estimate of a measure was made, and is as wanted."""
    return lambda estimates: any(map(holds, _values(estimates, measure, **condition)[:1]))


def _any_above(measure: str, limit: float) -> Callable[[_Estimates], bool]:
    return lambda estimates: any(value > limit for value in _values(estimates, measure))


def _degenerate(estimates: _Estimates) -> bool:
    return any("degenerate" in one.flags for one in _pooled(estimates, "jss"))


def _shares(estimates: _Estimates) -> tuple[float, float, float] | None:
    """Raw, stable and positional false preference, where the first is large enough to describe."""
    found = [
        _values(estimates, name)
        for name in (
            "raw_false_preference",
            "stable_cross_sensitivity",
            "positional_false_preference",
        )
    ]
    if not all(found) or found[0][0] < 0.1:
        return None
    return found[0][0], found[1][0], found[2][0]


def _mostly_positional(estimates: _Estimates) -> bool:
    shares = _shares(estimates)
    return shares is not None and shares[2] > shares[0] / 2


def _conflicted(estimates: _Estimates) -> bool:
    return _mostly_positional(estimates) and _strong_dark(estimates)


def _mixed(estimates: _Estimates) -> bool:
    shares = _shares(estimates)
    if shares is None or _conflicted(estimates):
        return False
    return min(shares[1:]) >= shares[0] / 4


def _positional(estimates: _Estimates) -> bool:
    return _mostly_positional(estimates) and not (_conflicted(estimates) or _mixed(estimates))


def _position_named(estimates: _Estimates) -> bool:
    return _conflicted(estimates) or _mixed(estimates) or _positional(estimates)


_strong_dark: Final = _some("dark_current", lambda dark: dark >= 0.2)
_faint_dark: Final = _some("dark_current", lambda dark: 0.05 < dark < 0.2)


def _jss(estimates: _Estimates) -> list[float]:
    """Every JSS of a judge that did not say the same to everything."""
    return [e.value or 0.0 for e in _pooled(estimates, "jss") if "degenerate" not in e.flags]


def _stable(estimates: _Estimates) -> bool:
    jss = _jss(estimates)
    return bool(jss) and min(jss) >= 0.9 and all(k >= 0.8 for k in _values(estimates, "kappa"))


def _moderate(estimates: _Estimates) -> bool:
    jss = _jss(estimates)
    return bool(jss) and min(jss) >= 0.8 and not _stable(estimates)


RULES: Final = (
    Rule("degenerate", _degenerate, each=True),
    Rule("presentation-conflicted", _conflicted),
    Rule("mixed stable-positional", _mixed),
    Rule("positional", _positional),
    Rule("vacuum-clean", _some("dark_current", lambda dark: dark <= 0.05)),
    Rule("faint dark current", lambda e: _faint_dark(e) and not _position_named(e)),
    Rule("strong dark current", lambda e: _strong_dark(e) and not _position_named(e)),
    Rule("sensitive", _some("target_sensitivity", lambda rate: rate >= 0.75, distance=1)),
    Rule("insensitive", _some("target_sensitivity", lambda rate: rate < 0.75, distance=1)),
    Rule("stable", _stable),
    Rule("moderately stable", _moderate),
    Rule("wording-sensitive", lambda e: any(jss < 0.8 for jss in _jss(e))),
    Rule("one-sided", _any_above("side_bias", 0.1)),
    Rule("unreliable in form", _any_above("unparsed_rate", 0.02)),
)
