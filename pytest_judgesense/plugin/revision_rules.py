"""What a branch may not loosen for itself: the rules by which it is compared with a revision.

The policy and the share of missing replies stand in pytest's ini file, and so do further options.
Where this file is looser than it was, regression checks are decided as it was; what is typed on
the command line, or in ``PYTEST_ADDOPTS``, is no part of the branch, and holds.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from pytest_judgesense.checks.outcome import MOST_MISSING, Policy
from pytest_judgesense.files.pytest_ini import CASSETTES, CASSETTES_OPTION, stated

_POLICY: Final = "judge-policy"
_MISSING: Final = "judge-max-missing"
_STRICTEST: Final = "confident"


class SessionRules(NamedTuple):
    """How regression checks are decided.

    Attributes:
        policy: of the session.
        most_missing: the share of units that may be missing.
        loosened: what the branch has loosened, in clauses.
    """

    policy: Policy
    most_missing: float
    loosened: tuple[str, ...] = ()


def rules_of(own: SessionRules, then: Mapping[str, Any], typed: Sequence[str]) -> SessionRules:
    """The rules that hold: those of this session, where those of a revision are not stricter.

    Args:
        own: as the session has them.
        then: pytest's ini file at the revision.
        typed: the options that are typed.
    """
    policy, most_missing = own.policy, own.most_missing
    loosened = []
    if _POLICY not in typed and stated(then, _POLICY) == _STRICTEST != policy:
        loosened.append(f"judge_policy {_STRICTEST} -> {policy} ({_STRICTEST} holds)")
        policy = _STRICTEST
    if _MISSING not in typed:
        before = MOST_MISSING
        with suppress(ValueError):
            before = float(stated(then, _MISSING) or MOST_MISSING)
        if before < most_missing:
            loosened.append(f"judge_max_missing {before:g} -> {most_missing:g} ({before:g} holds)")
            most_missing = before
    return SessionRules(policy, most_missing, tuple(loosened))


def cassettes_of(then: Mapping[str, Any], rootdir: Path, typed: Sequence[str]) -> Path | None:
    """The folder of the recordings that an ini file names; ``None`` where it is typed.

    Args:
        then: pytest's ini file at the revision.
        rootdir: the folder that holds it.
        typed: the options that are typed.
    """
    return (
        None
        if CASSETTES_OPTION in typed
        else rootdir / (stated(then, CASSETTES_OPTION) or CASSETTES)
    )


def typed_options(config: pytest.Config) -> list[str]:
    """The names of the options that are typed."""
    words = [*map(str, config.invocation_params.args)]
    with suppress(ValueError):
        words += shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    return [word[2:].partition("=")[0] for word in words if word.startswith("--")]
