"""Recordings of real language models that come with the package: what they hold, and what is shown.

Every number is counted here from the recorded bodies alone, by a reader of a few lines; the program
has to come to the same from the same files, by name, in an empty folder, and asking nobody.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_judgesense import measure
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.commands.main import main
from tests import processes
from tests.shipped import CASSETTES
from tests.suites.known import builtin_suites, load_suite, of_known_kinds

WORDINGS = ("coherence@quick", "factuality@quick", "preference@quick", "relevance@quick")
OTHERS = (*WORDINGS, "ladder-fine", "ladder@quick", "criterion@quick")
STRUCTURED = ("smollm2-135m", "qwen2.5-coder-0.5b")
RECORDED = {
    "smollm2-135m": ("vacuum@quick", *OTHERS, *of_known_kinds("probe@quick", "rubric")),
    "qwen2.5-coder-0.5b": ("vacuum", *OTHERS, *of_known_kinds("probe@quick", "rubric@quick")),
    "smollm2-135m-free-text": ("vacuum@quick",),
    "qwen2.5-coder-0.5b-logprobs": ("vacuum@quick", "coherence@quick"),
}


class Said(NamedTuple):
    item: str
    template: str
    order: str
    verdict: str | None


def said(judge: str, suite: str) -> list[Said]:
    """What the judge said, from the bodies: the one value of the object, or nothing."""
    base, _, preset = suite.partition("@")
    asked = {t.id for t in load_suite(builtin_suites()[base], preset or None).templates}
    found = []
    for exchange in read_exchanges(CASSETTES / judge / f"{base}.jsonl"):
        _, item, template, order, _ = exchange.trial.split("/")
        if template not in asked:  # of another preset
            continue
        text = json.loads(exchange.response.body)["choices"][0]["message"]["content"]
        try:
            verdict = json.loads(text)["verdict"]
        except (ValueError, KeyError, TypeError):
            verdict = None
        found.append(Said(item, template, order, verdict))
    return found


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """By judge and suite: the datasheet of a replay by name in an empty folder."""
    folder = tmp_path_factory.mktemp("empty")
    by_suite = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for judge, suites in RECORDED.items():
            measure(judge, suites).write("x.json")
            (sheet,) = json.loads(Path("x.json").read_text(encoding="utf-8"))["judges"]
            assert sheet["judge"]["name"] == judge
            assert sheet["calls"]["made"] == 0
            # They are no good judges.
            assert "fail" in {check["outcome"] for check in sheet["checks"]}
            by_suite |= {(judge, suite): sheet for suite in suites}
    return by_suite


def measured(sheet: dict[str, Any], suite: str, measure: str) -> dict[str, Any]:
    (row,) = [
        row
        for row in sheet["measures"]
        if (row["suite"], row["measure"], row["condition"]) == (suite, measure, {})
    ]
    return dict(row)


def ring_of(judge: str, suite: str) -> tuple[int, int]:
    """How many neighbouring wordings agree on an item in one order, and of how many."""
    by_place: dict[tuple[str, str], dict[str, str | None]] = {}
    for one in said(judge, suite):
        by_place.setdefault((one.item, one.order), {})[one.template] = one.verdict
    pairs = [
        (answers[first], answers[second])
        for answers in by_place.values()
        for names in (sorted(answers),)
        for first, second in (*pairwise(names), (names[-1], names[0]))
    ]
    return sum(one == other for one, other in pairs), len(pairs)


@pytest.mark.parametrize("judge", STRUCTURED)
@pytest.mark.parametrize("suite", WORDINGS)
def test_agreement_of_wordings_is_that_of_the_bodies(
    judge: str, suite: str, sheets: dict[tuple[str, str], dict[str, Any]]
) -> None:
    row = measured(sheets[judge, suite], suite, "jss")
    assert (row["count"], row["n"]) == ring_of(judge, suite)


@pytest.mark.parametrize("judge", [*STRUCTURED, "qwen2.5-coder-0.5b-logprobs"])
def test_dark_current_is_that_of_the_bodies(
    judge: str, sheets: dict[tuple[str, str], dict[str, Any]]
) -> None:
    # The gated one counts the baseline prompt alone.
    verdicts = [one.verdict for one in said(judge, "vacuum") if one.template == "baseline"]
    suite = RECORDED[judge][0]
    row = measured(sheets[judge, suite], suite, "dark_current")
    assert (row["count"], row["n"]) == (sum(v in ("A", "B") for v in verdicts), len(verdicts))


def test_structured_replies_state_a_verdict_and_free_ones_of_so_small_a_model_do_not(
    sheets: dict[tuple[str, str], dict[str, Any]],
) -> None:
    structured = [
        one
        for suite in RECORDED["smollm2-135m"]
        if suite not in of_known_kinds("rubric")  # replies with a grade for each criterion
        for one in said("smollm2-135m", suite)
    ]
    assert sum(one.verdict is None for one in structured) <= 0.01 * len(structured)
    for judge in STRUCTURED:
        for suite in RECORDED[judge]:
            assert measured(sheets[judge, suite], suite, "unparsed_rate")["count"] == 0
    free = measured(
        sheets["smollm2-135m-free-text", "vacuum@quick"], "vacuum@quick", "unparsed_rate"
    )
    assert free["count"] > 0.5 * free["n"]


def test_probabilities_are_those_of_the_recorded_tokens(
    sheets: dict[tuple[str, str], dict[str, Any]],
) -> None:
    sheet = sheets["qwen2.5-coder-0.5b-logprobs", "vacuum@quick"]
    # The likeliest of what stands on the labels is what was said, at temperature 0.
    assert measured(sheet, "vacuum@quick", "soft_dark_current")["value"] > 0.5
    row = measured(sheet, "vacuum@quick", "soft_position_effect")
    assert row["value"] > 0


def rows() -> list[str]:
    """The table of docs/local-models.md, counted from the bodies."""
    lines = []
    for suite in ("vacuum", *OTHERS):
        cells = []
        for judge in STRUCTURED[::-1]:
            answers = said(judge, RECORDED[judge][0] if suite == "vacuum" else suite)
            given = Counter(one.verdict for one in answers)
            most, times = given.most_common(1)[0]
            agreed = ""
            if len({one.template for one in answers}) > 2:
                same, pairs = ring_of(judge, suite)
                agreed = f"; {pairs - same} of {pairs} pairs of wordings differ"
            cells.append(f"`{most}` in {times} of {len(answers)}{agreed}")
        lines.append(f"| `{suite}` | {' | '.join(cells)} |")
    return lines


def test_the_page_says_what_the_models_said() -> None:
    page = (CASSETTES.parent / "docs" / "local-models.md").read_text(encoding="utf-8")
    found = re.findall(
        r"^\| `(?:vacuum|coherence|factuality|preference|relevance|ladder|criterion)[^\n]*",
        page,
        re.MULTILINE,
    )
    assert found == rows()


def test_all_suites_are_replayed_on_what_is_recorded_of_a_model_and_ids_say_which_that_is(
    tmp_path: Path,
) -> None:
    judge = "qwen2.5-coder-0.5b"
    # Not where the installation has them, as in a checkout beside an installed wheel.
    for suite, path in builtin_suites().items():
        shutil.copytree(path.parent, tmp_path / "suites" / suite)
    done = processes.run(
        "pytest", "-q", "-p", "no:cacheprovider", "suites", "--judge-name", judge, "-rA",
        "--judge-datasheet", tmp_path / "x.json", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    line = re.compile(r"^(?:PASSED|FAILED) suites/([\w-]+)/.*?::([^\s]+)", re.MULTILINE)
    ended = line.findall(done.stdout)
    recorded = {name.partition("@")[0]: name for name in RECORDED[judge]}
    assert recorded.keys() <= {suite for suite, _ in ended}
    for suite, check in ended:
        assert check.endswith("@quick]") == recorded.get(suite, "").endswith("@quick"), check
    # Of what is not recorded in any design nothing is measured.
    (sheet,) = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["judges"]
    assert {part["suite"] for part in sheet["parts"]} == set(RECORDED[judge])

    # An id is pasted back as it stands, and a suite that is named is asked as a whole.
    pasted = "suites/coherence/coherence.suite.toml::" + judge + "::jss_floor[0.7@quick]"
    for words, said_so in (
        ((pasted,), "flips: 33"),
        (("--judge-suite", "coherence"), "trials are not recorded"),
    ):
        again = processes.run(
            "pytest", "-q", "-p", "no:cacheprovider", *words, "--judge-name", judge,
            cwd=tmp_path,
        )  # fmt: skip
        assert again.returncode == 1
        assert said_so in again.stdout


def test_the_tables_of_two_papers_are_printed_from_what_is_recorded_of_the_smallest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    judge, words = "smollm2-135m", []
    for paper in ("jss", "datasheet"):
        assert main(["paper", paper, "--quick", "--judge-name", judge]) == 0
        words.append(capsys.readouterr().out)
    for task in ("coherence", "relevance", "preference"):
        same, pairs = ring_of(judge, f"{task}@paper-quick")
        (row,) = re.findall(
            rf"^ +{judge} +{task} +([\d.]+).* (\d+) +(\d+) +0\.000 ", words[0], re.MULTILINE
        )
        # The paper's three runs, which are alike: the temperature is 0.
        assert row == (f"{same / pairs:.3f}", str(3 * (pairs - same)), str(3 * pairs))
    # YES to every statement, whether it asks for the truth or for an error; some are cut off there.
    assert {one.verdict for one in said(judge, "factuality@paper-quick")} == {"YES", None}
    assert re.search(rf"^ +{judge} +factuality +1\.000 .* 0\.600 ", words[0], re.MULTILINE)
    dark = [one.verdict in ("A", "B") for one in said(judge, "vacuum@paper-quick")]
    (row,) = re.findall(rf"^ +{judge} +DC +([\d.]+) .* (\d+) +(\d+) +call", words[1], re.MULTILINE)
    assert row == (f"{sum(dark) / len(dark):.4f}", str(sum(dark)), str(len(dark)))
