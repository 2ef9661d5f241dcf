"""The ranking in a session: printed, gated, the same from logs and under workers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests import processes
from tests.plugin.project import forked
from tests.suites.known import builtin_suites

NAMES = [part for name in ("clean", "mixed") for part in ("--judge-name", f"embedded:{name}")]
DEBATE = ["--judge-suite", "debate", *NAMES]


def ranking(text: str) -> list[str]:
    """The lines of the ranking."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("suite debate"))
    return lines[start : start + 12]  # two of the suite, the head, six rows, three of the advice


def test_the_ranking_stands_before_the_datasheet_and_comes_again_from_the_log(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    done = forked(pytester, *DEBATE, "-vv", "--judge-datasheet", "log.jsonl")
    assert done.ret == 0
    text = done.stdout.str()
    assert text.index("= judge ranking =") < text.index("= judge datasheet =")
    assert "1 to 3  clean:p2" in text
    assert "recommended: clean:p2" in text
    again = processes.run("judgesense", "report", "--ranking", "log.jsonl", cwd=pytester.path)
    assert ranking(again.stdout) == ranking(text)
    line = json.loads(Path(pytester.path / "log.jsonl").read_text().splitlines()[0])
    assert set(line["scores"]) == {"argument_quality", "evidence", "clash", "weighing"}


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_the_datasheet_holds_the_ranking_of_all_judges_whoever_measured_them(
    pytester: pytest.Pytester, workers: list[str]
) -> None:
    if workers:
        pytest.importorskip("xdist")
    done = forked(pytester, *DEBATE, *workers, "--judge-datasheet", "d.json")
    assert done.ret == 0
    judges = json.loads(Path(pytester.path / "d.json").read_text())["judges"]
    for judge in judges:
        found = {table["analysis"]: table for table in judge["analyses"]}
        assert [row["rank"] for row in found["ranking"]["rows"]] == [1, 2, 3, 4, 5, 6]
        assert found["ranking_basis"]["rows"][0]["denominator"] == "n"
        assert {"anova", "post_hoc", "measure_pca"} <= set(found)


def test_datasheets_of_single_judges_are_joined_to_the_ranking_of_all(
    pytester: pytest.Pytester,
) -> None:
    for name in ("clean", "mixed"):
        alone = ["--judge-suite", "debate", "--judge-name", f"embedded:{name}"]
        forked(pytester, *alone, "--judge-datasheet", f"{name}.json")
    forked(pytester, *DEBATE, "--judge-datasheet", "both.json")
    merged = ("recordings", "join", "clean.json", "mixed.json", "-o", "all.json")
    assert processes.run("judgesense", *merged, cwd=pytester.path).returncode == 0
    one, other = (json.loads((pytester.path / f"{n}.json").read_text()) for n in ("all", "both"))
    assert [j["analyses"] for j in one["judges"]] == [j["analyses"] for j in other["judges"]]


def test_ranked_first_belongs_to_the_judge_that_it_names(pytester: pytest.Pytester) -> None:
    # The shipped suite with one check more; a rank is no bar that every good judge clears.
    shipped = builtin_suites()["debate"]
    shutil.copytree(shipped.parent, pytester.path / "mine")
    suite = pytester.path / "mine" / shipped.name
    check = 'ranked_first = { config = "clean:p2" }\n'
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace("[checks]\n", f"[checks]\n{check}", 1), encoding="utf-8")
    listed = forked(pytester, "mine", *NAMES, "--collect-only", "-q").stdout.str()
    assert "::clean::ranked_first[clean:p2]" in listed
    assert "::mixed::ranked_first" not in listed
    done = forked(pytester, "mine", *NAMES, "--judge-policy", "confident", "-vv")
    done.stdout.fnmatch_lines(["*ranked_first[[]clean:p2] of judge clean on debate: inconclusive"])


def test_a_marker_compares_the_judges_of_its_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.ranked_first("mixed:p0", suite="debate")
        def test_it():
            pass
        """
    )
    done = forked(pytester, *NAMES)
    done.assert_outcomes(failed=2)
    text = done.stdout.str()
    assert "rank (config=mixed:p0) = 6.000, wanted <= 1: fail" in text
    assert "beside it: instability (config=clean:p0)" in text


def test_an_unknown_configuration_is_inconclusive_and_lists_the_known(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.ranked_first("clean:p9", suite="debate")
        def test_it():
            pass
        """
    )
    done = forked(pytester, *NAMES[:2])
    done.assert_outcomes(failed=1)
    said = " ".join(done.stdout.str().split())
    assert "not among the configurations: clean:p2, clean:p0, clean:p1" in said
