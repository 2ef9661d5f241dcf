"""``ranked_first``: a configuration is the most stable one.

Like any check it passes by the estimate, here the rank; policy ``confident`` asks for a share of
first ranks among the resamples of topics as well; policy ``refuted`` fails it where the share is at
most the alpha that is left to each bar of the session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from pytest_judgesense.checks.declaration import named_arguments
from pytest_judgesense.checks.outcome import Assessment, DecisionRule, Outcome, OutcomeWord
from pytest_judgesense.errors import UsageError
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.debate.measures import INSTABILITY, RANK
from pytest_judgesense.instruments.debate.ranking import material_of, ranking_of
from pytest_judgesense.measures.bar import Check, CheckKind
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.registry import Registry

# The least share of resamples in which a configuration has to be first, to be so for sure.
_RANKED_FIRST: Final = 0.95


def declare_ranked_first(
    kind: CheckKind, args: Sequence[Any], kwargs: Mapping[str, Any], _: Registry
) -> Check:
    """The check with the configuration that it names."""
    arguments = named_arguments(kind, ("config",), args, kwargs)
    config = arguments.get("config")
    if not isinstance(config, str) or not all(config.rpartition(":")):
        raise UsageError(
            "ranked_first names no configuration",
            found=repr(config),
            expected="a judge and a prompt, as in " + kind.signature,
            remedy='write ranked_first = { config = "clean:p0" }',
        )
    return Check(kind, kind.name, {}, {"config": config}, arguments.get("suite") or "debate")


def judge_ranked_first(
    check: Check, kind: str, cells: Mapping[str, Cell], rule: DecisionRule
) -> Outcome:
    """The outcome on the cells of several judges on one suite: has it the lowest instability?

    Policy ``confident``: it has it in at least 95% of the resamples as well.

    Raises:
        UsageError: the suite has no debates.
    """
    materials = {slug: material_of(cell) for slug, cell in cells.items()}
    by_judge = {slug: material for slug, material in sorted(materials.items()) if material}
    first = next(iter(cells.values()))
    if not by_judge:
        raise UsageError(
            f"suite {first.suite} ranks no judges",
            found=f'kind = "{kind}"',
            expected='a suite with kind = "debate" for ranked_first',
        )
    ranking, _ = ranking_of(first.suite, by_judge, first.seed)
    name = str(check.condition["config"])
    row = ranking.find(name)
    stated = partial(Estimate, measure=RANK.name, suite=ranking.suite, condition=check.condition)
    warning, undecided = None, False
    if row is None:
        ranked = ", ".join(ranked_row.name for ranked_row in ranking.rows) or "none"
        reason = ranking.excluded.get(name, f"not among the configurations: {ranked}")
        estimate = stated(unavailable=reason)
        outcome: OutcomeWord = "inconclusive"
    else:
        estimate = stated(value=float(row.rank), n=len(ranking.rows), unit=RANK.unit)
        reason = f"first in {row.shares[0]:.1%} of the resamples of topics"
        outcome = "pass" if row.rank == 1 else "fail"
        undecided = row.rank == 1 and row.shares[0] < _RANKED_FIRST
        if rule.policy == "refuted" and row.rank > 1:
            undecided = row.shares[0] > rule.alpha
        if undecided:
            warning = f"{reason}: below {_RANKED_FIRST:.0%}, not settled"
            outcome = "pass" if rule.policy == "estimate" else "inconclusive"
    beside = tuple(
        stated(
            measure=INSTABILITY.name,
            condition={"config": ranked_row.name},
            value=ranked_row.instability,
        )
        for ranked_row in ranking.rows[:3]
    )
    tolerated = undecided and rule.policy == "refuted"
    finding = Assessment(estimate, 1.0, RANK, outcome, reason, warning, tolerated)
    return Outcome(check, ranking.suite, rule.policy, (finding,), beside)


RANKED_FIRST: Final = CheckKind(
    "ranked_first",
    "config, suite=",
    "the configuration (judge:prompt) is the most stable one on debates",
    declare_ranked_first,
    judge_ranked_first,
    compares=True,
    bare=("config",),
)
