"""Failures that are known, in a session: what compares them, and how others could be declared."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.checks.known import PROPOSED, proposed_at, unknowable
from pytest_judgesense.checks.outcome import Outcome
from pytest_judgesense.files.output import toml_key, toml_text
from pytest_judgesense.measures.bar import KNOWN_ARGUMENTS, NO_REGRESSION, Check
from pytest_judgesense.plugin.declared_check import DeclaredCheck, checks_of
from pytest_judgesense.plugin.results import KnownProposal
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.builtin import is_built_in
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.suite import CheckDeclaration
from pytest_judgesense.trial import grouped

_PASTED: Final = (
    "# To accept this for a while: give reasons, and paste over the lines of these names"
)
_ANOTHER: Final = "nothing was measured, or one answer was given to everything: no number to accept"


# --- compared -------------------------------------------------------------------------------------


def comparison_of(member: DeclaredCheck, members: Sequence[DeclaredCheck]) -> DeclaredCheck | None:
    """The check that compares the measure of a known failure with a baseline.

    Args:
        member: the check whose failure is known.
        members: all that the session declares: the strictest of those that compare the same.

    Returns:
        One that nobody declares, with the margin of the measure, where none does; ``None`` where
        the measure has no direction or is never compared.
    """
    check = member.check
    if check.of is None or not check.of.comparable:
        return None
    declared = [
        other
        for other in members
        if other.check.kind.regression
        and other.key[:3] == member.key[:3]
        and (other.check.measure, dict(other.check.condition))
        == (check.measure, dict(check.narrowed))
    ]
    if declared:
        return min(declared, key=lambda other: other.check.bars["margin"])
    bars = {"margin": check.of.margin}
    compared = Check(NO_REGRESSION, check.measure, bars, check.narrowed, check.suite, check.of)
    return member._replace(check=compared)


def comparisons_of_known(members: Sequence[DeclaredCheck]) -> list[DeclaredCheck]:
    """The comparisons of known failures that no declared check makes."""
    declared = {member.key for member in members if member.check.kind.regression}
    compared = (comparison_of(member, members) for member in members if member.check.known)
    return [each for each in compared if each is not None and each.key not in declared]


# --- proposed -------------------------------------------------------------------------------------


def proposal_of(member: DeclaredCheck, outcome: Any, test: str) -> KnownProposal | None:
    """How a failure could be declared known; ``None`` where it is, or there is no place for that.

    Args:
        member: the check.
        outcome: its outcome, of any kind.
        test: the id of the test that declares it; empty for its suite file.
    """
    suite, check = member.suite, member.check
    if check.known or not isinstance(outcome, Outcome) or not outcome.fails:
        return None
    if not test and is_built_in(suite.path):
        return None  # whose file is no part of the project
    return KnownProposal(
        place=test or str(suite.path),
        suite="" if test else suite.name,
        check=check.id,
        key=check.key,
        at=proposed_at(outcome),
        floor=check.floor,
        instead=unknowable(check) or _ANOTHER,
    )


def proposal_lines(
    proposals: Sequence[KnownProposal], day: date, registry: Registry
) -> Iterator[str]:
    """The lines that declare failures known, without a reason: TOML, and arguments of markers.

    Args:
        proposals: of all judges and processes; of one check the worst number is taken.
        day: of the session, in UTC.
        registry: with the kinds of the suites.
    """
    until = (day + PROPOSED).isoformat()
    if any(proposal.at is not None for proposal in proposals):
        yield _PASTED
    by_place = grouped(proposals, lambda proposal: (proposal.place, proposal.suite))
    for (place, suite), of_place in sorted(by_place.items()):
        by_key = {key: _worst(of_key) for key, of_key in grouped(of_place, _key_of).items()}
        can_be = [proposal for proposal in by_key.values() if proposal.at is not None]
        cannot = (by_key[key] for key in sorted(by_key) if by_key[key].at is None)
        if suite:
            yield from _toml_lines(Path(place), suite, can_be, until, registry)
        else:
            yield from (_marker_line(proposal, until) for proposal in can_be)
        yield from (f"# {each.check} cannot be known so: {each.instead}" for each in cannot)


def _key_of(proposal: KnownProposal) -> str:
    return proposal.key


def _worst(proposals: Sequence[KnownProposal]) -> KnownProposal:
    """Of proposals for one check that with the worst number; one without any, where there is one.

    A judge of which there is no number to accept fails whatever is known.
    """
    numbered = [(proposal.at, proposal) for proposal in proposals if proposal.at is not None]
    if len(numbered) < len(proposals):
        return next(proposal for proposal in proposals if proposal.at is None)
    choose = min if proposals[0].floor else max
    return choose(numbered, key=lambda pair: pair[0])[1]


def _toml_lines(
    path: Path, suite: str, proposals: Sequence[KnownProposal], until: str, registry: Registry
) -> Iterator[str]:
    """A line of the suite's file for each name of a check, with all that is declared of that."""
    loaded = load_suite(path, suite.partition("@")[2] or None, registry.forms)
    numbers = {proposal.key: proposal.at for proposal in proposals}
    if numbers:
        yield f"# {os.path.relpath(path)}"
    for name, pairs in grouped(checks_of(loaded, registry), _name_of).items():
        if any(check.key in numbers for check, _ in pairs):
            tables = [
                {**declaration.arguments, **_of_failure(numbers.get(check.key), until)}
                for check, declaration in pairs
            ]
            yield f"{toml_key(name)} = {toml_text(tables[0] if len(tables) == 1 else tables)}"


def _name_of(pair: tuple[Check, CheckDeclaration]) -> str:
    return pair[1].name


def _of_failure(at: float | None, until: str) -> dict[str, Any]:
    """The arguments that declare a failure known; none without a number."""
    return {} if at is None else dict(zip(KNOWN_ARGUMENTS, ("", at, until), strict=True))


def _marker_line(proposal: KnownProposal, until: str) -> str:
    shown = ", ".join(
        f"{name}={json.dumps(argument)}"
        for name, argument in _of_failure(proposal.at, until).items()
    )
    return f"# {proposal.place}, beside the bar of {proposal.check}: {shown}"
