"""``logprobs = true`` from the judge's table to the datasheet, the log and a regression check."""

from __future__ import annotations

import json

import pytest

from .project import forked

JUDGES = """
[tool.judgesense.judges.sure]
provider = "embedded"
model = "positional"
logprobs = true

[tool.judgesense.judges.plain]
provider = "embedded"
model = "positional"
"""
GATE = """
import pytest

@pytest.mark.soft_dark_current_ceiling(0.5, suite="vacuum@quick")
@pytest.mark.soft_position_effect_limit(2.0, suite="vacuum@quick")
@pytest.mark.no_regression("soft_position_effect", suite="vacuum@quick")
def test_gate(): pass
"""


def test_probabilities_are_recorded_measured_logged_and_gated(pytester: pytest.Pytester) -> None:
    (pytester.path / "pyproject.toml").write_text(JUDGES, encoding="utf-8")
    (pytester.path / "test_gate.py").write_text(GATE, encoding="utf-8")
    record = ["test_gate.py", "--judge-mode", "record", "--judge-name"]
    done = forked(pytester, *record, "sure", "--judge-save-baseline", "base.json")
    # Slot bias b = 1.6 is 2 b = 3.2 in log-odds of A against B; ties take what A and B leave.
    done.assert_outcomes(failed=1)
    replay = ["test_gate.py", "--judge-name", "sure", "--judge-baseline", "base.json"]
    done = forked(pytester, *replay, "--judge-datasheet", "log.jsonl", "-v")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "  FAIL vacuum@quick: the position moves the preference, in log-odds: 3.20 *",
            "    soft_position_effect 3.20 *, at most 2 wanted",
        ]
    )
    done.stdout.fnmatch_lines(["*soft_position_effect*3.2*<= 2 FAIL*"])
    lines = (pytester.path / "log.jsonl").read_text(encoding="utf-8").splitlines()
    told = [json.loads(line) for line in lines]
    assert len(told) == 40
    for one in told:
        assert one["probabilities"][one["verdict"]] == max(one["probabilities"].values())
        assert one["mass"] == pytest.approx(1)

    plain = forked(pytester, *record, "plain")
    plain.assert_outcomes(failed=1)
    plain.stdout.fnmatch_lines(["*no judgment carries probabilities*"])
    plain.stdout.no_fnmatch_line("*expected_share*")
    # Who has it set learns what else may be missing.
    assert "other tokens at the verdict" in " ".join(plain.stdout.str().split())
