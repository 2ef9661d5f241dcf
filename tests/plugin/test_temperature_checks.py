"""A sweep in a session: its tables and checks, the same from its log and under workers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import processes

from .project import forked

SWEEP = ["--judge-suite", "temperature", "--judge-name", "embedded:clean"]
TABLES = {
    "temperature_table",
    "temperature_correlations",
    "temperature_effects",
    "temperature_moderation",
    "standing",
    "temperature_attributions",
    "temperature_importances",
    "temperature_attribution_points",
    "temperature_majority",
    "temperature_votes",
    "temperature_errors",
    "temperature_replies",
    "excluded",
}


def analyses(path: Path) -> dict[str, Any]:
    (judge,) = json.loads(path.read_text(encoding="utf-8"))["judges"]
    return {table["analysis"]: table["rows"] for table in judge["analyses"]}


@pytest.mark.parametrize(
    "counts", [("2",), pytest.param(("2", "0"), marks=pytest.mark.long)], ids="".join
)
def test_the_tables_are_the_same_under_workers_and_from_the_log(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, counts: tuple[str, ...]
) -> None:
    pytest.importorskip("xdist")
    monkeypatch.setenv("COLUMNS", "100")
    for workers in counts:
        files = [f"sheet{workers}.json", f"log{workers}.jsonl"]
        written = [part for name in files for part in ("--judge-datasheet", name)]
        done = forked(pytester, "-vv", *SWEEP, *written, "-n", workers)
        done.assert_outcomes(passed=5)
        done.stdout.fnmatch_lines(
            [
                # Agreement at 0.01, 1 and 2: 216, 196 and 174 of 216; 174 / 216 - 412 / 432.
                "*effect of >= 1.5 on agreement, paired: -0.148*",
                # At 2 consistency is 0.722; its one-sided bound is just below the limit of 0.5.
                "*recommended temperature (*: 1; with*",
                "*recommended_temperature*PASS",
            ]
        )
    for file in ("sheet{}.json", "log{}.jsonl"):
        assert len({(pytester.path / file.format(n)).read_bytes() for n in counts}) == 1
    sheet = pytester.path / "sheet2.json"
    found = analyses(sheet)
    of_people = {"people_confusion"} & {*found}
    assert set(found) == {*TABLES, *of_people, "recommended_temperature"}
    best = [row["temperature"] for row in found["recommended_temperature"] if row["recommended"]]
    assert best == [1.0]
    report = ("report", "log2.jsonl", "-o", "again.json")
    assert processes.run("judgesense", *report, cwd=pytester.path).returncode == 0
    from_log = analyses(pytester.path / "again.json")
    # A log has no checks to climb by; everything else is in it.
    assert from_log == {name: found[name] for name in (*TABLES, *of_people)}


def test_markers_gate_a_temperature_an_effect_and_the_recommended_one(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.agreement_floor(0.85, suite="temperature", temperature=1)
        @pytest.mark.temperature_effect_bound("agreement", 0.2)
        @pytest.mark.recommended_temperature(agreement=0.85, at_least=1)
        @pytest.mark.majority_agreement_floor(0.9, k=3, temperature=1.0)
        def test_fine():
            pass

        @pytest.mark.agreement_floor(0.85, suite="temperature")
        @pytest.mark.temperature_effect_bound("consistency", 0.1)
        @pytest.mark.recommended_temperature(agreement=0.85, at_least=2)
        def test_too_hot():
            pass
        """
    )
    done = forked(pytester, "--judge-name", "embedded:clean")
    done.assert_outcomes(passed=1, failed=1)
    text = done.stdout.str()
    # Means of 72 cells. Agreement at 2: 174 of 216. Consistency at 0.01, 1 and 2: 72, 65 and 52
    # of 72, the last of which is 0.229 below the mean of the first two.
    assert "agreement (temperature=2.0) = 0.806, wanted >= 0.85: fail" in text
    assert "temperature_effect (outcome=consistency) = 0.229, wanted <= 0.1: fail" in text
    assert "recommended_temperature = 1.000, wanted >= 2: fail" in text
    assert "at 2: agreement 0.806, wanted >= 0.85" in text


def test_a_wrong_argument_of_a_marker_is_a_usage_error(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.recommended_temperature(at_least=1)
        def test_it():
            pass
        """
    )
    done = forked(pytester, "--judge-name", "embedded:clean")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "recommended_temperature has no bar" in done.stderr.str() + done.stdout.str()


@pytest.mark.long
def test_a_judge_is_compared_with_its_baseline_at_a_temperature(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.no_regression("agreement", suite="temperature")
        @pytest.mark.no_regression("consistency", suite="temperature", temperature=1.0)
        @pytest.mark.no_regression("majority_agreement", suite="temperature", k=3)
        def test_it():
            pass
        """
    )
    own = ["--judge-name", "embedded:clean"]
    forked(pytester, *own, "--judge-save-baseline", "base.jsonl").assert_outcomes(passed=1)
    done = forked(pytester, "-vv", *own, "--judge-baseline", "base.jsonl")
    done.assert_outcomes(passed=1)
    assert "no_regression[consistency,0.1,temperature=1.0]: PASS" in done.stdout.str()
