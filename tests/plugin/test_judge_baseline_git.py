"""``--judge-baseline git:REF``: the recording in the repository is the baseline."""

from __future__ import annotations

import html
import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.report.pages import Page
from tests.repository import commit, git, repository

from .project import SPREAD_AT_NIGHT, WORDINGS, Project, even, no_traceback, parity_suite

GATED = 'no_regression = ["jss", "agreement"]'
NEW_WORDINGS = (WORDINGS[0], "Tell me quickly: {{number}}, even?", WORDINGS[2])

JUDGE = """
import json, pathlib, urllib.request
{imports}
def judge(messages):
    body = {{"model": "{model}", "temperature": 0, "messages": messages}}
    request = urllib.request.Request(
        "{url}/chat/completions", json.dumps(body).encode(), {{"content-type": "application/json"}}
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]["content"]
"""


def worse(prompt: str) -> str:
    """Wrong on all six numbers where it is asked quickly: two pairs of each item flip."""
    right = even(prompt)
    return right if not prompt.startswith("Tell me") else "NO" if right == "YES" else "YES"


@pytest.fixture
def project(recorded_once: Project) -> Project:
    return recorded_once


@pytest.fixture
def committed(project: Project) -> Project:
    """A project whose recording of a perfect judge is committed."""
    parity_suite(project.path, checks=GATED)
    project.record()
    repository(project.path)
    (project.path / ".gitignore").write_text("__pycache__\n.pytest_cache\n*.xml\nx.*\n")
    commit(project.path, "recorded")
    return project


def changed(project: Project) -> None:
    """The prompt is changed, the judge is worse under it, and both are recorded."""
    parity_suite(project.path, checks=GATED, wordings=NEW_WORDINGS)
    project.server.reply = worse
    project.record()


@SPREAD_AT_NIGHT
def test_a_worse_prompt_fails_and_every_output_says_what_changed_and_on_which_items(
    committed: Project, workers: tuple[str, ...]
) -> None:
    changed(committed)
    files = [part for form in ("md", "json", "html") for part in ("--judge-datasheet", f"x.{form}")]
    result = committed.run(
        *("parity.suite.toml", "--judge-baseline", "git:HEAD", "--junitxml", "x.xml"),
        *(*files, *workers),
    )
    result.assert_outcomes(failed=2)
    # Of each of 6 items two of three pairs flip: 6 of 18 agree.
    text = " ".join(result.stdout.str().split())
    assert "worse than HEAD: jss 1.00 to 0.33 (-0.67 [" in text
    assert "the prompt changed (2 lines, in 6 of 18 trials)" in text
    result.stdout.fnmatch_lines(
        [
            "  - Tell whether {{number}} is an even number.",
            "  + Tell me quickly: {{number}}, even?",
            "another verdict that counts against the judge: 6, on 6 items; most often:",
            "  p1: 1 time, such as parity/p1/t2/ab/r1",
            "    before:    NO (label NO): NO",
            "    now:       YES (label NO): YES",
        ]
    )
    assert "endpoint changed" not in text
    assert "settings changed" not in text
    no_traceback(result)
    summary = "the prompt changed (2 lines, in 6 of 18 trials)"
    diff = ["- Tell whether {{number}} is an even number.", "+ Tell me quickly: {{number}}, even?"]
    texts = {name: (committed.path / f"x.{name}").read_text("utf-8") for name in ("md", "html")}
    # Markdown, before the judges' own sections: what a comment on a pull request has.
    lines = texts["md"].partition("<details>")[0].splitlines()
    start = lines.index("**Compared with** `HEAD`: judge `mine`, suite `parity`")
    assert lines[start + 2].startswith("- `worse than HEAD: agreement 1.00 to 0.67 (-0.33 [")
    assert lines[start + 2].endswith(f"; {summary}`")
    assert lines[start + 3].startswith("- `worse than HEAD: jss 1.00 to 0.33 (-0.67 [")
    assert lines[start + 5 : start + 10] == ["```diff", summary, *diff, "```"]
    moved = "another verdict that counts against the judge: 6, on 6 items"
    assert lines[start + 11 : start + 16] == [
        f"- `no_regression[agreement,0.1]`: {moved}",
        "  - `p1: 1 time, such as parity/p1/t2/ab/r1`",
        "    - asked: `1`",
        "    - before: `NO (label NO): NO`",
        "    - now: `YES (label NO): YES`",
    ]
    assert [line for line in lines if line.startswith("  - ")] == [
        f"  - `p{n}: 1 time, such as parity/p{n}/t2/ab/r1`" for n in (1, 2, 3)
    ]
    # JSON.
    sheet = json.loads((committed.path / "x.json").read_text("utf-8"))
    jss = next(c for c in sheet["judges"][0]["checks"] if c["measure"] == "jss")["against"]
    assert (jss["baseline"], jss["summary"]) == ("HEAD", summary)
    assert jss["changes"] == [summary, *(f"  {line}" for line in diff)]
    assert (jss["moved"], jss["items"], len(jss["examples"])) == (6, 6, 3)
    assert jss["examples"][1] == {
        "item": "p2",
        "trial": "parity/p2/t2/ab/r1",
        "times": 1,
        "question": "2",
        "contents": [],
        "verdicts": ["YES (label YES)", "NO (label YES)"],
        "replies": ["YES", "NO"],
    }
    # The page: the diff, both numbers, the replies of both.
    page = Page(texts["html"])
    for line in (summary, *diff):
        assert html.escape(line) in texts["html"]
    rows = {row[1]: row for row in page.tables["mine in the baseline and in this session"][1:]}
    assert rows["jss"][2:4] == ["1.000", "0.333"]
    evidence = page.evidence
    columns, words = evidence["rows"], evidence["words"]
    trials = [words[columns["trial"][i]] for i, moved in enumerate(columns["changed"]) if moved]
    assert trials == [f"parity/p{n}/t2/ab/r1" for n in range(1, 7)]
    assert f"{moved}</span>" in texts["html"]
    assert texts["html"].count(">baseline <span") == 6  # three of each check
    # JUnit.
    noted = [
        item.get("value")
        for item in ET.parse(committed.path / "x.xml").iter("property")
        if item.get("name") == "changed"
    ]
    assert noted == [summary] * 2


@SPREAD_AT_NIGHT
def test_what_changed_is_said_where_nothing_is_worse(
    committed: Project, workers: tuple[str, ...]
) -> None:
    pyproject = committed.path / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace('"m-1"', '"m-2"'))
    committed.cassette.unlink()
    committed.record()
    result = committed.run("parity.suite.toml", "--judge-baseline", "git:HEAD", *workers)
    result.assert_outcomes(passed=2)
    text = " ".join(result.stdout.str().split())
    assert "mine, parity since HEAD: undecided in" in text
    assert "; the model changed: model m-1 -> m-2" in text
    assert text.count("since HEAD") == 1
    assert "the prompt changed" not in text


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("a tag", marks=pytest.mark.long),
        "a worktree",
        pytest.param("a submodule", marks=pytest.mark.long),
    ],
)
def test_the_figures_are_the_same_in_any_checkout(
    committed: Project, tmp_path_factory: pytest.TempPathFactory, kind: str
) -> None:
    """In a worktree and in a submodule ``.git`` is a file that names the repository."""
    path, elsewhere, name = committed.path, tmp_path_factory.mktemp("elsewhere"), "HEAD"
    if kind == "a tag":
        git(path, "tag", "-a", "-m", "a tag object", "v1")
        name = "v1"
    elif kind == "a submodule":
        git(path, "init", "-q", "--separate-git-dir", str(elsewhere / "module"))
    else:
        git(path, "clone", "-q", "--bare", str(path), str(elsewhere / "bare"))
        shutil.rmtree(path / ".git")
        git(elsewhere / "bare", "worktree", "add", "-q", "--no-checkout", str(elsewhere / "tree"))
        (elsewhere / "tree" / ".git").rename(path / ".git")
        git(path, "worktree", "repair", str(path))
    assert (path / ".git").is_file() == (kind != "a tag")
    changed(committed)
    result = committed.run("parity.suite.toml", "--judge-baseline", f"git:{name}")
    result.assert_outcomes(failed=2)
    text = " ".join(result.stdout.str().split())
    assert f"worse than {name}: jss 1.00 to 0.33 (-0.67 [" in text


def function_judge(project: Project) -> str:
    """A function is the judge, and recorded; returns its table, with ``{}`` for the module."""
    (project.path / "old_judge.py").write_text(
        JUDGE.format(model="m", url=project.server.base_url, imports="import math")
    )
    table = '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "{}:judge"\n'
    (project.path / "pyproject.toml").write_text(table.format("old_judge"))
    project.pytester.syspathinsert()
    parity_suite(project.path, checks=GATED)
    project.record()
    return table


@pytest.mark.long
def test_a_recording_of_a_function_without_its_returns_is_one_error(project: Project) -> None:
    """As an earlier version wrote it."""
    function_judge(project)
    lines = project.cassette.read_text().splitlines(keepends=True)
    kept = [line for line in lines if '"RETURN"' not in line]
    assert 0 < len(kept) < len(lines)
    repository(project.path)
    project.cassette.write_text("".join(kept))
    commit(project.path)
    project.cassette.write_text("".join(lines))
    result = project.run("parity.suite.toml", "--judge-baseline", "git:HEAD")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*holds no returns*", "*remedy:*record and commit once*"])
    no_traceback(result)


@pytest.mark.long
def test_the_code_of_that_time_is_needed_by_nobody(project: Project) -> None:
    """A function of a module that is gone: its returns are in the recording."""
    table = function_judge(project)
    repository(project.path)
    commit(project.path)
    (project.path / "old_judge.py").unlink()
    (project.path / "new_judge.py").write_text(
        JUDGE.format(model="m", url=project.server.base_url, imports="")
    )
    (project.path / "pyproject.toml").write_text(table.format("new_judge"))
    changed(project)
    result = project.run("parity.suite.toml", "--judge-baseline", "git:HEAD")
    result.assert_outcomes(failed=2)
    text = " ".join(result.stdout.str().split())
    assert "worse than HEAD: jss 1.00 to 0.33" in text
    assert "the prompt changed (2 lines, in 6 of 18 trials)" in text


@SPREAD_AT_NIGHT
def test_without_a_baseline_nothing_is_compared(
    committed: Project, workers: tuple[str, ...]
) -> None:
    files = [part for form in ("md", "json", "html") for part in ("--judge-datasheet", f"x.{form}")]
    result = committed.run("parity.suite.toml", "-rs", "--junitxml", "x.xml", *files, *workers)
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["SKIPPED*not compared: --judge-baseline git:REF compares*"])
    reason = "--judge-baseline git:REF compares with the recording as it was"
    (judge,) = json.loads((committed.path / "x.json").read_text("utf-8"))["judges"]
    assert judge["checks"] == []
    assert judge["not_compared"] == [
        {
            "check": f"no_regression[{measure},0.1]",
            "measure": measure,
            "suite": "parity",
            "reason": reason,
        }
        for measure in ("agreement", "jss")
    ]
    row = f"| not compared | `mine` | `parity` | `no_regression[jss,0.1]` | `{reason}` |"
    assert row in (committed.path / "x.md").read_text("utf-8").splitlines()
    page = (committed.path / "x.html").read_text("utf-8")
    assert f"Not compared: <code>no_regression[jss,0.1]</code> on parity: {reason}" in page
    outcomes = [
        item.get("value")
        for item in ET.parse(committed.path / "x.xml").iter("property")
        if item.get("name") == "outcome"
    ]
    assert outcomes == ["not compared"] * 2


def test_what_was_not_there_yet_is_one_line(committed: Project) -> None:
    """The suite is new, or HEAD is the first commit: no fault of anybody."""
    page = ("--judge-datasheet", "x.html")
    first = committed.run("parity.suite.toml", "--judge-baseline", "git:HEAD^", "-rs", *page)
    first.assert_outcomes(skipped=2)
    assert first.ret == pytest.ExitCode.OK
    first.stdout.fnmatch_lines(["SKIPPED*HEAD^ is not there: HEAD has no parent*"])
    told = "--judge-baseline git:HEAD^: not compared: HEAD^ is not there: HEAD has no parent"
    assert told in first.outlines
    text = (committed.path / "x.html").read_text("utf-8")
    assert "HEAD^ is not there: HEAD has no parent" in text
    assert 'data-before="0"' in text


def test_what_is_declared_no_more_fails_until_it_is_said_what_became_of_it(
    committed: Project,
) -> None:
    second = parity_suite(committed.path / "second", name="second", checks=GATED)
    committed.run(second, "--judge-mode", "record")
    commit(committed.path, "a second suite")
    shutil.rmtree(committed.path / "second")
    result = committed.run("parity.suite.toml", "--judge-baseline", "git:HEAD")
    result.assert_outcomes(failed=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["*what was there at HEAD is declared no more: suite second*", "*was = *retired = *"]
    )
    no_traceback(result)
    with (committed.path / "pyproject.toml").open("a") as file:
        file.write('\n[tool.judgesense]\nretired = ["second"]\n')
    result = committed.run("parity.suite.toml", "--judge-baseline", "git:HEAD")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*called retired since HEAD: second*"])


def test_what_is_declared_no_more_is_refused_where_no_check_compares(committed: Project) -> None:
    parity_suite(committed.path / "other", name="other", checks="jss_floor = 0.1")
    commit(committed.path, "a second suite")
    (committed.path / "parity.suite.toml").unlink()
    result = committed.run("--judge-baseline", "git:HEAD")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*what was there at HEAD is declared no more: suite parity*"])
    no_traceback(result)


def test_the_recordings_of_then_are_those_of_its_ini_file(committed: Project) -> None:
    # The branch names another folder, that of an old and worse judge.
    good = committed.path / "good"
    shutil.copytree(committed.path / "cassettes", good)
    changed(committed)
    (committed.path / "cassettes").rename(committed.path / "old")
    good.rename(committed.path / "cassettes")
    commit(committed.path, "an old recording")
    (committed.path / "pytest.ini").write_text("[pytest]\naddopts = --judge-cassettes old\n")
    result = committed.run("parity.suite.toml", "--judge-baseline", "git:HEAD")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*worse than HEAD: agreement 1.00 to *"])


def test_a_check_that_is_not_compared_is_outside_the_family(committed: Project) -> None:
    """Holm counts what is tested: the checks of a suite that is new are not."""
    other = parity_suite(committed.path / "new", name="new", checks=GATED)
    changed(committed)
    committed.run(other, "--judge-mode", "record")
    result = committed.run(
        "parity.suite.toml",
        other,
        "--judge-baseline",
        "git:HEAD",
        "-vv",
        "-rs",
        *("--judge-datasheet", "x.json", "--judge-datasheet", "x.html"),
    )
    result.assert_outcomes(failed=2, skipped=2)
    result.stdout.fnmatch_lines(["datasheet written: *x.html"])  # without judgments of then
    reason = "not compared: suite new was not there at HEAD"
    result.stdout.fnmatch_lines([f"SKIPPED*{reason}"])
    assert f"--judge-baseline git:HEAD: {reason}" in result.outlines
    sheet = json.loads((committed.path / "x.json").read_text())
    explanations = [check["explanation"] for check in sheet["judges"][0]["checks"]]
    # Two quantities, and not four.
    assert all("for 2 comparisons" in text for text in explanations), explanations


def test_no_revision_is_one_error_with_a_remedy(committed: Project) -> None:
    result = committed.run("parity.suite.toml", "--judge-baseline", "git:nothing")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*there is no revision 'nothing'*", "*remedy:*"])
    no_traceback(result)


def test_early_stopping_is_not_hindered_by_what_is_not_compared(committed: Project) -> None:
    parity_suite(
        committed.path,
        checks=f"agreement_floor = 0.2\n{GATED}",
        extra="[design]\nearly_stop = true\n",
    )
    committed.cassette.unlink()
    committed.record()
    result = committed.run("parity.suite.toml", "-v")
    assert "was asked completely: no_regression" not in result.stdout.str()


def test_a_recording_is_found_whatever_folder_it_is_recorded_in_now(
    committed: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside: Path = tmp_path_factory.mktemp("outside")
    result = committed.run(
        "parity.suite.toml",
        "--judge-baseline",
        "git:HEAD",
        "--judge-cassettes",
        str(outside),
        "--judge-mode",
        "record",
    )
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*since HEAD: *"])


def _items(project: Project) -> list[dict[str, str]]:
    return [json.loads(line) for line in (project.path / "parity.jsonl").read_text().splitlines()]


NOT_COMPARED = (
    "1 of 6 items are gone since HEAD (p1); 1 of 6 items have other texts than at HEAD (p2); 1 of "
    "these have the label of then; 2 new items are not compared (n71, n73); 1 items have another "
    "label than at HEAD (p3)"
)


def other_items(project: Project) -> None:
    """One item is gone and another edited under its id; two are new; a label has changed."""
    items = _items(project)[1:]
    items[0] |= {"number": "22"}
    items[1] |= {"label": "YES"}
    items += [{"id": f"n{n}", "number": f"{n}", "label": "NO"} for n in (71, 73)]
    (project.path / "parity.jsonl").write_text("\n".join(map(json.dumps, items)))
    project.record()


def screen_of(result: pytest.RunResult) -> str:
    """What stands below the tests, without the ends of lines."""
    text = result.stdout.str()
    return " ".join((text.partition(" judge datasheet ")[2] or text).split())


@SPREAD_AT_NIGHT
def test_the_first_screen_counts_what_is_not_compared(
    committed: Project, workers: tuple[str, ...]
) -> None:
    other_items(committed)
    result = committed.run("parity.suite.toml", "--judge-baseline", "git:HEAD", *workers)
    screen = screen_of(result)
    assert f"notice: parity: {NOT_COMPARED}" in screen
    assert screen.count("items are gone") == 1
    # The same judge: what its data are now is no way around the comparison.
    result.assert_outcomes(passed=2)
    no_traceback(result)


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param((), id="plain", marks=pytest.mark.long),
        pytest.param(("-n", "0"), id="n0", marks=pytest.mark.long),
        pytest.param(("-n", "2"), id="n2"),
    ],
)
def test_a_worker_with_another_check_hides_nothing_of_a_comparison(
    committed: Project, workers: tuple[str, ...]
) -> None:
    """The check of another worker knows nothing of a baseline, and may be the first to end."""
    checks = 'agreement_floor = 0.1\njss_floor = 0.1\nno_regression = ["jss"]'
    parity_suite(committed.path, checks=checks)
    other_items(committed)
    result = committed.run("parity.suite.toml", "--judge-baseline", "git:HEAD", *workers)
    # What the revision compared is compared, and dropping it is said.
    result.assert_outcomes(passed=4)
    screen = screen_of(result)
    dropped = "looser than at HEAD: no_regression[agreement,0.1] dropped"
    assert f"notice: parity: {NOT_COMPARED} notice: parity: {dropped}" in screen
    assert (screen.count("items are gone"), screen.count("looser than")) == (1, 1)


@SPREAD_AT_NIGHT
@pytest.mark.parametrize("brief", ["-q", "--no-summary"])
def test_where_no_notice_says_it_the_line_on_the_baseline_counts_what_is_not_compared(
    committed: Project, brief: str, workers: tuple[str, ...]
) -> None:
    other_items(committed)
    result = committed.run("parity.suite.toml", "--judge-baseline", "git:HEAD", brief, *workers)
    result.assert_outcomes(passed=2)
    screen = screen_of(result)
    assert "mine, parity since HEAD: " in screen
    assert f"; nothing changed in what was sent; {NOT_COMPARED}" in screen
    assert screen.count("items are gone") == 1


def test_a_branch_loosens_no_comparison_for_itself(committed: Project) -> None:
    """The margin is widened, the other comparison dropped, and more replies may be missing."""
    changed(committed)
    parity_suite(
        committed.path,
        checks='no_regression = [{ measure = "jss", margin = 0.9 }]',
        wordings=NEW_WORDINGS,
    )
    with (committed.path / "pyproject.toml").open("a") as file:
        file.write('\n[tool.pytest.ini_options]\njudge_max_missing = "1"\n')
    result = committed.run("parity.suite.toml", "--judge-baseline", "git:HEAD")
    result.assert_outcomes(failed=2)
    screen = " ".join(result.stdout.str().partition(" judge datasheet ")[2].split())
    assert "worse than HEAD: jss 1.00 to 0.33" in screen
    assert "worse than HEAD: agreement 1.00 to 0.67" in screen
    assert "judge_max_missing 0.05 -> 1 (0.05 holds)" in screen
    assert (
        "looser than at HEAD: no_regression[jss,0.1] -> no_regression[jss,0.9]; "
        "no_regression[agreement,0.1] dropped; comparisons hold as they were"
    ) in screen
