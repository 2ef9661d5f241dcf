"""What CI is told: properties in JUnit XML, annotations and the job summary of GitHub Actions."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_judgesense.plugin.ci import Failures

from .project import PYTHON_JUDGE, WORDINGS, Project, even, flips_on_two, parity_suite, run

CHECKS = "jss_floor = 0.9\nagreement_floor = 0.9"
MARKED = """
import pytest

@pytest.mark.jss_floor(0.9, suite="parity.suite.toml")
@pytest.mark.agreement_floor(0.9, suite="parity.suite.toml")
def test_marked():
    pass

def test_called(judge_check):
    judge_check("flip_rate_bound", 0.2, suite="parity.suite.toml")

def test_ordinary(request):
    request.node.user_properties.append(("mine", "yes"))
"""
# See `flips_on_two`: JSS 16/18 = 0.889, flip rate 2/18 = 0.111, agreement 17/18 = 0.944.
JSS = {
    "check": "jss_floor[0.9]",
    "measure": "jss",
    "value": "0.889",
    "bar": "0.9",
    "outcome": "fail",
    "suite": "parity",
    "judge": "mine",
    "policy": "estimate",
}
AGREEMENT = {**JSS, "check": "agreement_floor[0.9]", "measure": "agreement"}
AGREEMENT |= {"value": "0.944", "outcome": "pass"}


@pytest.fixture
def project(recorded_once: Project) -> Project:
    return recorded_once


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A step of a job; the file of its summary."""
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    return summary


@pytest.fixture
def recorded(project: Project) -> Project:
    parity_suite(project.path, checks=CHECKS)
    project.server.reply = flips_on_two
    project.record()
    return project


def properties(path: Path) -> dict[str, dict[str, str]]:
    """Properties by the name of the test case."""
    return {
        case.get("name", ""): {p.get("name", ""): p.get("value", "") for p in case.iter("property")}
        for case in ET.parse(path).getroot().iter("testcase")
    }


def annotations(lines: Iterable[str]) -> list[tuple[dict[str, str], str]]:
    """Properties and message of each workflow command, read as a runner does."""

    def unescaped(text: str) -> str:
        return re.sub("%(25|0D|0A|3A|2C)", lambda found: chr(int(found[1], 16)), text)

    found = []
    for line in lines:
        if line.lstrip().startswith("::"):
            command, _, message = line.lstrip()[2:].partition("::")
            name, _, given = command.partition(" ")
            assert name == "error"
            pairs = [pair.partition("=") for pair in given.split(",")]
            found.append(({key: unescaped(value) for key, _, value in pairs}, unescaped(message)))
    return found


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param((), id="plain", marks=pytest.mark.long),
        pytest.param(("-n", "0"), id="n0", marks=pytest.mark.long),
        pytest.param(("-n", "2"), id="n2"),
    ],
)
def test_ci_is_told_by_properties_annotations_and_summary_whatever_the_workers(
    recorded: Project, workers: tuple[str, ...], github: Path
) -> None:
    """One session for all three: workers take their time to start."""
    github.write_text("# Before\n\n")
    (recorded.path / "test_it.py").write_text(MARKED)
    result = recorded.run(
        ".", "-vv", *workers, "--junitxml", "report.xml", "--judge-datasheet", "x.md"
    )
    result.assert_outcomes(passed=3, failed=2)
    assert_annotated(recorded, result)
    # Appended once, by the controller.
    written = (recorded.path / "x.md").read_text(encoding="utf-8")
    assert github.read_text(encoding="utf-8") == f"# Before\n\n{written}"
    assert "| **FAIL** | `mine` | `parity` | `jss_floor[0.9]` | `jss = 0.889" in written
    found = properties(recorded.path / "report.xml")
    jss, agreement = found["jss_floor[0.9]"], found["agreement_floor[0.9]"]
    assert jss.items() >= JSS.items()
    assert agreement.items() >= AGREEMENT.items()
    assert jss["explanation"].startswith("jss = 0.889, wanted >= 0.9: fail; ")  # and what settles
    # The interval that gates, to the digits of the datasheet.
    row = next(line.split() for line in result.outlines if line.startswith("    jss "))
    assert row[3:5] == [f"[{jss['lower']},", f"{jss['upper']}]"]
    # Two checks of one test, in the order in which its markers apply.
    marked = found["test_marked[mine]"]
    assert {k: v for k, v in marked.items() if "." not in k} == jss
    assert {k.removesuffix(".2"): v for k, v in marked.items() if "." in k} == agreement
    assert found["test_called[mine]"]["value"] == "0.111"
    assert found["test_ordinary"] == {"mine": "yes"}


def test_a_composite_check_has_a_number_for_each_bar(pytester: pytest.Pytester) -> None:
    check = "judgesense/criterion.suite.toml::mixed::criterion_tradeoff[0.2,0.8,0.8]"
    run(pytester, check, "--judge-name", "embedded:mixed", "--junitxml", "report.xml")
    (found,) = properties(pytester.path / "report.xml").values()
    # README shows the same three: 6 of 240, 122 of 200 and 38 of 40 calls.
    assert found["value"] == "0.025; 0.610; 0.950"
    assert found["lower"] == "0.009; 0.511; 0.797"
    assert found["bar"] == "0.2; 0.8; 0.8"
    names = ["raw_false_preference", "target_sensitivity", "target_sensitivity"]
    assert found["measure"].split("; ") == names
    assert (found["check"], found["outcome"]) == ("criterion_tradeoff[0.2,0.8,0.8]", "fail")


def test_a_regression_check_tells_the_difference_and_its_interval(recorded: Project) -> None:
    parity_suite(recorded.path, checks='no_regression = ["agreement"]')
    recorded.cassette.unlink()
    recorded.record("--judge-save-baseline", "b.json")
    recorded.cassette.unlink()
    recorded.server.reply = lambda prompt: "NO"
    arguments = ["--judge-baseline", "b.json", "--junitxml", "report.xml"]
    recorded.run("parity.suite.toml", "--judge-mode", "record", *arguments)
    (found,) = properties(recorded.path / "report.xml").values()
    # 17 of 18 were right; now the 9 about odd numbers are.
    assert found["value"] == f"{9 / 18 - 17 / 18:+.3f}"
    assert f"95% bounds [{found['lower']}, {found['upper']}]" in found["explanation"]
    assert found["measure"] == "agreement"
    assert found["changed"] == "N/A"  # beside the verdicts nothing is known to


def test_what_changed_since_a_baseline_is_noted_and_annotated(
    recorded: Project, github: Path
) -> None:
    checks = 'no_regression = ["agreement"]'
    parity_suite(recorded.path, checks=checks)
    recorded.cassette.unlink()
    recorded.record("--judge-save-baseline", "b.json")
    parity_suite(recorded.path, checks=checks, wordings=("Even? {{number}}", *WORDINGS[1:]))
    recorded.server.reply = lambda prompt: "NO" if even(prompt) == "YES" else "YES"
    recorded.cassette.unlink()
    arguments = ["--judge-baseline", "b.json", "--junitxml", "report.xml"]
    result = recorded.run("parity.suite.toml", "--judge-mode", "record", *arguments)
    (found,) = properties(recorded.path / "report.xml").values()
    assert found["changed"] == "the prompt changed (2 lines)"
    ((_, message),) = annotations(result.outlines)
    assert message == f"{found['explanation']}; the prompt changed (2 lines)"
    # The job summary has it as well, with the items.
    summary = github.read_text(encoding="utf-8")
    assert "**Compared with** `the baseline`: judge `mine`, suite `parity`" in summary
    assert "+Even? {{number}}\n" in summary


def test_what_could_not_be_measured_says_so(project: Project, github: Path) -> None:
    result = project.run("parity.suite.toml", "--junitxml", "report.xml")
    result.assert_outcomes(failed=1)
    (found,) = properties(project.path / "report.xml").values()
    assert (found["outcome"], found["value"], found["bar"]) == ("not measured", "N/A", "0.8")
    assert "18 of 18 trials are not recorded" in found["explanation"]
    (((place, message)),) = annotations(result.outlines)
    assert place["title"] == "jss_floor[0.8] of judge mine on parity: not measured"
    assert "remedy:   record it" in message
    text = github.read_text(encoding="utf-8")
    assert "**Not measured: 1**" in text
    assert "18 of 18 trials are not recorded" in text


def test_junit_says_the_same_whatever_the_width_of_the_terminal(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.server.reply = flips_on_two
    parity_suite(project.path, checks="jss_floor = 0.9")
    project.pytester.makepyfile(
        test_it="import pytest\n\n"
        '@pytest.mark.jss_floor(0.95, suite="parity.suite.toml")\n'
        "def test_marked(): pass\n\n"
        "def test_called(judge_check):\n"
        "    judge_check('jss_floor', 0.99, suite='parity.suite.toml')\n"
    )
    project.record()
    told = []
    for width in ("60", "200"):
        monkeypatch.setenv("COLUMNS", width)
        project.run(".", "--junitxml", "report.xml").assert_outcomes(failed=3)
        failures = ET.parse(project.path / "report.xml").iter("failure")
        told.append([(failure.get("message"), failure.text) for failure in failures])
    assert told[0] == told[1]
    # The whole sentence, on one line: 16 of 18 pairs agree.
    assert any("2 of 18 verdicts change" in str(message) for message, _ in told[0])


def test_a_test_that_is_run_again_tells_what_came_of_the_last_time(recorded: Project) -> None:
    recorded.pytester.makepyfile(
        test_it="def test_it(judge_check):\n"
        "    for _ in range(2):\n"
        "        judge_check('agreement_floor', 0.9, suite='parity.suite.toml')\n"
    )
    recorded.run("test_it.py", "--junitxml", "report.xml").assert_outcomes(passed=1)
    assert list(properties(recorded.path / "report.xml")["test_it[mine]"]) == [
        *("check", "measure", "value", "lower", "upper", "bar", "outcome", "suite", "judge"),
        *("policy", "explanation"),
    ]


def entry(check: str = "jss_floor[0.9]", **other: str) -> dict[str, str]:
    """What a check that failed leaves on the report of its test."""
    explained = {"explanation": "jss = 0.889, wanted >= 0.9: fail"}
    return {**JSS, "check": check, **explained, **other}


def annotated(
    entries: Iterable[dict[str, str]], file: str = "parity.suite.toml", rootdir: str = "/repository"
) -> list[tuple[dict[str, str], str]]:
    """The annotations of a session in which one test at line 5 of a file failed."""
    failures = Failures()
    failures.receive(SimpleNamespace(location=(file, 4, "a test"), judgesense_checks=[*entries]))
    return annotations(failures.annotation_lines(Path(rootdir)))


@pytest.mark.parametrize(
    ("workspace", "file", "place"),
    [
        ("/repository", "parity.suite.toml", "parity.suite.toml"),
        # The project is a folder of the repository.
        ("/", "parity.suite.toml", "repository/parity.suite.toml"),
        ("", "tests/test_it.py", "tests/test_it.py"),
        # A suite of the package, or of another checkout, is no file of the repository.
        ("/repository", "../site-packages/vacuum.suite.toml", None),
        ("/elsewhere", "parity.suite.toml", None),
        # Commas, colons and percents are read back.
        ("/repository", "a, b: 100%/parity.suite.toml", "a, b: 100%/parity.suite.toml"),
    ],
)
def test_failing_checks_are_annotated_at_their_lines(
    github: Path, monkeypatch: pytest.MonkeyPatch, workspace: str, file: str, place: str | None
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", workspace)
    ((found, message),) = annotated([entry("jss_floor[0.9,polarity=raw]")], file)
    where = {} if place is None else {"file": place, "line": "5"}
    title = "jss_floor[0.9,polarity=raw] of judge mine on parity: fail"
    assert found == {**where, "title": title}
    assert message == "jss = 0.889, wanted >= 0.9: fail"


@pytest.mark.parametrize(
    ("changed", "added"),
    [("N/A", ""), ("the prompt changed (2 lines)", "; the prompt changed (2 lines)")],
)
def test_what_changed_is_part_of_an_annotation(github: Path, changed: str, added: str) -> None:
    ((_, message),) = annotated([entry(changed=changed, explanation="100% worse\nfor all")])
    assert message == f"100% worse\nfor all{added}"


def test_of_many_annotations_the_last_counts_the_rest(github: Path) -> None:
    entries = [entry(f"jss_floor[0.9{number}]") for number in range(10, 22)]
    assert len(annotated(entries[:10])) == 10
    found = annotated(entries)
    assert len(found) == 10  # of 12: GitHub shows ten of a step
    assert found[-1] == ({"title": "more checks"}, "3 more did not pass: see the job summary")


def test_elsewhere_there_are_no_annotations(github: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert annotated([entry()]) == []


def assert_annotated(recorded: Project, result: pytest.RunResult) -> None:
    found = {
        where["file"]: (where["line"], where["title"], message)
        for where, message in annotations(result.outlines)
    }
    lines = recorded.suite.read_text().splitlines()
    suite_line = 1 + lines.index("jss_floor = 0.9")
    title = "jss_floor[0.9] of judge mine on parity: fail"
    assert set(found) == {"parity.suite.toml", "test_it.py"}
    where, titled, message = found["parity.suite.toml"]
    assert (where, titled) == (str(suite_line), title)
    assert message.startswith("jss = 0.889, wanted >= 0.9: fail")
    # Line 4 of the file is the first decorator: Python takes it for the function's first line.
    assert found["test_it.py"][:2] == ("4", title)


def test_properties_of_others_are_no_checks(recorded: Project, github: Path) -> None:
    recorded.pytester.makepyfile(
        test_it="def test_it(request):\n"
        "    request.node.user_properties += [('check', 'x'), ('outcome', 'fail')]\n"
        "    assert False\n"
    )
    result = recorded.run("test_it.py")
    result.assert_outcomes(failed=1)
    assert annotations(result.outlines) == []
    assert not github.exists()


def test_elsewhere_a_session_tells_ci_nothing(
    recorded: Project, github: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS")
    result = recorded.run("parity.suite.toml")
    assert annotations(result.outlines) == []
    assert not github.exists()


def test_a_summary_keeps_to_the_limit_and_says_what_is_cut(recorded: Project, github: Path) -> None:
    before = "x" * (1024 * 1024 - 1500)  # what other steps' tools have left room for
    github.write_text(before)
    recorded.run("parity.suite.toml")
    text = github.read_text(encoding="utf-8")
    assert len(text.encode()) <= 1024 * 1024
    assert "Cut here:" in text
    assert "`jss_floor[0.9]`" in text
    assert text.endswith("--judge-datasheet datasheet.md**\n")


def test_a_run_without_a_judge_leaves_the_summary_alone(
    pytester: pytest.Pytester, github: Path
) -> None:
    pytester.makepyfile("def test_it(): assert False")
    result = run(pytester)
    assert not github.exists()
    assert annotations(result.outlines) == []


def test_a_summary_that_cannot_be_written_fails_nothing(recorded: Project, github: Path) -> None:
    github.mkdir()
    parity_suite(recorded.path, checks="agreement_floor = 0.9")
    result = recorded.run("parity.suite.toml")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["the job summary cannot be written: *"])


def test_a_judge_gives_no_command_to_the_runner(project: Project, github: Path) -> None:
    evil = "NO\n::stop-commands::x\n  ::add-mask::pass\n##[error]owned"
    project.server.reply = lambda prompt: evil
    project.pytester.makepyfile(
        test_it="def test_it(judge):\n    text = judge.ask('Is 2 even?').text\n"
        "    print(text)\n    assert text == 'YES'\n"
    )
    both = ("parity.suite.toml", "test_it.py")
    result = project.run(*both, "--judge-mode", "record", "-rA", "-vv")
    shown = result.stdout.str()
    assert result.ret == 1
    assert "stop-commands" in shown
    commands = [line for line in shown.splitlines() if line.lstrip().startswith("::")]
    assert [line for line in commands if not line.startswith("::error file=")] == []
    assert "##[" not in shown


def test_what_is_said_of_a_broken_recording_gives_no_command(
    recorded: Project, github: Path
) -> None:
    with recorded.cassette.open("a", encoding="utf-8") as file:
        file.write('{"a": "##[add-mask]pwn\\q"}\n')
    result = recorded.run("parity.suite.toml")
    shown = result.stdout.str()
    assert "::error file=" in shown
    assert "add-mask]pwn" in shown
    assert "##[" not in shown


def test_properties_hold_no_character_that_xml_cannot(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(PYTHON_JUDGE.replace('"mine"', r'"mi\x1b[31m\x00\u202ene"'))
    parity_suite(pytester.path)
    run(pytester, "--judge-mode", "record", "--junitxml", "report.xml").assert_outcomes(passed=1)
    (found,) = properties(pytester.path / "report.xml").values()
    assert found["judge"] == r"mi\x1b[31m\x00\u202ene"


def test_a_credential_in_a_suite_does_not_reach_the_report(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-0123456789abcdefghijKLMNOP"
    monkeypatch.setenv("MY_KEY", secret)
    project.declare('api_key_env = "MY_KEY"')
    project.server.status = lambda prompt: 400
    project.server.reply = lambda prompt: secret
    project.run("parity.suite.toml", "--judge-mode", "record", "--junitxml", "report.xml")
    text = (project.path / "report.xml").read_text(encoding="utf-8")
    assert "jss_floor[0.8]" in text
    assert secret not in text
