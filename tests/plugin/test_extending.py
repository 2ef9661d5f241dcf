"""What plugins add, in sessions: the plugin of docs/extending.md, and ill-formed ones.

Of its four pairs, judged under two wordings, the rule of that page takes both sentences of ``dog``
for right. So 6 of 8 pairs are judged rightly, 14 of 16 sentences, and every verdict is the same
under both wordings: pair_accuracy 0.75, agreement 0.875, JSS 1.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .project import ChatServer, ids, no_traceback, run

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
FILES = dict(re.findall(r"(?ms)^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", PAGE.read_text("utf-8")))
WRONG = ("cats is", "boys was", "She have")  # what the rule of the page knows
USE = ("-p", "minimal_pairs", "-p", "plain_provider", "grammar.suite.toml")
KEY = "sk-plain-0123456789abcdef"


class PlainServer(ChatServer):
    """An endpoint with the format of the page's provider, and the rule of the page in it."""

    def __init__(self) -> None:
        self.headers: list[tuple[str, str | None]] = []
        super().__init__()
        self.base_url = self.base_url.removesuffix("/v1")
        self.reply = lambda prompt: "NO" if any(words in prompt for words in WRONG) else "YES"

    def answer(self, body: dict[str, Any]) -> bytes:
        self.asked.append(body)
        text = self.reply(body["messages"][-1]["content"])
        return json.dumps({"output": text, "stopped": False, "served": "plain-1"}).encode()

    def _handler(self) -> type:
        server = self

        class Handler(super()._handler()):
            def do_POST(self) -> None:
                server.headers.append((self.path, self.headers["Authorization"]))
                super().do_POST()

        return Handler


@pytest.fixture
def plain() -> Iterator[PlainServer]:
    served = PlainServer()
    yield served
    served.close()


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the page, but its judge; its plugin can be imported by workers too."""
    for name, text in FILES.items():
        if "/" not in name and name != "conftest.py":
            (pytester.path / name).write_text(text)
    pytester.syspathinsert()
    monkeypatch.setenv("PYTHONPATH", str(pytester.path), prepend=":")
    return pytester.path


@pytest.fixture
def rule(folder: Path) -> Path:
    """The same with its judge, a Python function."""
    (folder / "conftest.py").write_text(FILES["conftest.py"])
    return folder


def declare(folder: Path, server: PlainServer) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "plain"\nmodel = "m-1"\n'
        f'base_url = "{server.base_url}"\noptions = {{ effort = 3 }}\n'
    )


def sheet_of(path: Path) -> dict[str, Any]:
    (judge,) = json.loads(path.read_text())["judges"]
    return judge


def pooled(sheet: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [m for m in sheet["measures"] if m["measure"] == name and not m["condition"]]
    return found


def test_the_instrument_of_the_page_is_short() -> None:
    # A third party writes an instrument in under 100 lines: kind, measure, check and section.
    assert len(FILES["minimal_pairs.py"].splitlines()) < 100


# -- all four together -----------------------------------------------------------------------------


def test_all_four_record_and_replay_the_same_on_any_number_of_workers(
    pytester: pytest.Pytester,
    folder: Path,
    plain: PlainServer,
    workers: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    declare(folder, plain)
    monkeypatch.setenv("PLAIN_API_KEY", KEY)
    both = (*USE, "test_grammar.py")  # the suite file asks for 0.7, the marker for 0.9
    recorded = run(pytester, *both, *workers, "--judge-mode", "record")
    recorded.assert_outcomes(passed=1, failed=1)
    assert len(plain.asked) == 16  # 4 pairs x 2 sentences x 2 wordings, each once
    assert {body["effort"] for body in plain.asked} == {3}
    assert set(plain.headers) == {("/generate", f"Bearer {KEY}")}
    cassette = (folder / "cassettes" / "mine" / "grammar.jsonl").read_text()
    assert KEY not in cassette
    plain.forget()
    monkeypatch.delenv("PLAIN_API_KEY")
    texts = []
    for index, args in enumerate([workers, ()]):
        path = folder / f"sheet{index}.json"
        replayed = run(pytester, "-vv", *both, *args, "--judge-datasheet", str(path))
        replayed.assert_outcomes(passed=1, failed=1)
        replayed.stdout.fnmatch_lines(["    pair dog: both right 2, both wrong 0"])
        texts.append(path.read_text())
    assert plain.asked == []
    assert texts[0] == texts[1]
    sheet = sheet_of(folder / "sheet0.json")
    assert sheet["judge"]["provider"] == "plain"
    assert sheet["judge"]["options"] == {"effort": 3}
    assert sheet["judge"]["served"] == ["plain-1"]
    measure = pooled(sheet, "pair_accuracy")
    assert (measure["count"], measure["n"], measure["unit"]) == (6, 8, "pair")
    assert measure["clustered"]["clusters"] == 4
    assert (pooled(sheet, "agreement")["count"], pooled(sheet, "jss")["value"]) == (14, 1.0)
    (section,) = [one for one in sheet["analyses"] if one["analysis"] == "missed_pairs"]
    assert section == {
        "analysis": "missed_pairs",
        "suite": "grammar",
        "rows": [{"pair": "dog", "both_right": 2, "both_wrong": 0}],
        "lines": ["pair dog: both right 2, both wrong 0"],
    }
    assert {check["check"]: check["outcome"] for check in sheet["checks"]} == {
        "pair_accuracy_floor[0.7]": "pass",
        "pair_accuracy_floor[0.9]": "fail",
    }


def test_another_option_is_another_question(
    pytester: pytest.Pytester, folder: Path, plain: PlainServer
) -> None:
    # A server on 127.0.0.1 needs no key.
    declare(folder, plain)
    run(pytester, *USE, "--judge-mode", "record").assert_outcomes(passed=1)
    table = folder / "pyproject.toml"
    table.write_text(table.read_text().replace("effort = 3", "effort = 4"))
    result = run(pytester, *USE)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*changed since it was recorded*"])


def test_a_provider_is_named_on_the_command_line_and_given_to_a_judge_object(
    pytester: pytest.Pytester, folder: Path
) -> None:
    (folder / "conftest.py").write_text(
        "from plain_provider import pytest_judgesense_providers as given\n"
        "from pytest_judgesense import Judge\n\n"
        "def pytest_judgesense_judges(config):\n"
        "    return [Judge('object', provider=given()[0], model='m-2', options={'effort': 1})]\n"
    )
    names = ("--judge-name", "plain:m-1", "--judge-name", "object")
    result = run(pytester, *USE, *names, "--collect-only", "-q")
    first, second = ids(result)
    assert first.startswith("grammar.suite.toml::plain-m-1-")  # a colon stands in no id
    assert second == "grammar.suite.toml::object::pair_accuracy_floor[0.7]"
    # Without a key nobody is asked, and the message names the variable of the plugin.
    asked = run(pytester, *USE, *names, "--judge-mode", "record")
    asked.assert_outcomes(failed=2)
    asked.stdout.fnmatch_lines(["*no environment variable PLAIN_API_KEY"])


# -- measures --------------------------------------------------------------------------------------


def test_the_marker_fails_with_the_units_that_speak_against_it(
    pytester: pytest.Pytester, rule: Path
) -> None:
    result = run(pytester, "-p", "minimal_pairs", "test_grammar.py", "--judge-mode", "live")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "pair_accuracy_floor[[]0.9[]] of judge rule on grammar: fail",
            "  pair_accuracy = 0.750, wanted >= 0.9: fail",
            "    6 of 8 pairs; 95% interval *",
            "  pairs that speak against it: 2, on 1 item",
            "    grammar/dog-right/t1/ab/r1: YES (label YES)",
        ]
    )
    no_traceback(result)


@pytest.mark.long
def test_a_command_for_its_page_is_not_shown_for_it_has_none(
    pytester: pytest.Pytester, rule: Path
) -> None:
    pytest.importorskip("jinja2")
    use = ("-p", "minimal_pairs", "test_grammar.py", "--judge-mode", "live")
    shown = pytester.runpytest_subprocess(*use, "--judge-datasheet", "sheet.html")
    text = shown.stdout.str()
    assert "FAIL grammar: only 6 of 8 pairs" in text
    for report in (text, (rule / "sheet.html").read_text()):
        assert "judgesense explain" not in report


def test_its_marker_is_listed_strict_and_has_its_bounds(
    pytester: pytest.Pytester, rule: Path
) -> None:
    listed = run(pytester, "-p", "minimal_pairs", "--markers").stdout.str()
    assert "@pytest.mark.pair_accuracy_floor(bar, limit=, suite=" in listed
    assert "both sentences of a minimal pair are judged rightly" in listed
    args = ("-p", "minimal_pairs", "test_grammar.py", "--strict-markers", "--judge-mode", "record")
    run(pytester, *args).assert_outcomes(failed=1)
    assert "pair_accuracy" not in run(pytester, "--markers").stdout.str()
    test = rule / "test_grammar.py"
    test.write_text(test.read_text().replace("0.9", "1.5"))
    wrong = run(pytester, *args)
    assert wrong.ret == pytest.ExitCode.USAGE_ERROR
    wrong.stderr.fnmatch_lines(["*expected: a number from 0 to 1, as in pair_accuracy_floor(*"])


def test_a_fixture_reads_it_and_policy_confident_holds_its_bound(
    pytester: pytest.Pytester, rule: Path
) -> None:
    (rule / "test_read.py").write_text(
        "def test_it(judge_datasheet, judge_check):\n"
        "    assert judge_datasheet('pair_accuracy', suite='grammar.suite.toml').value == 0.75\n"
        "    judge_check('pair_accuracy_floor', 0.7, suite='grammar.suite.toml')\n"
    )
    args = ("-p", "minimal_pairs", "test_read.py", "--judge-mode", "record")
    run(pytester, *args).assert_outcomes(passed=1)
    result = run(pytester, *args, "--judge-policy", "confident")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*pair_accuracy = 0.750, wanted >= 0.7: inconclusive"])


def test_no_regression_compares_it_unit_by_unit(pytester: pytest.Pytester, rule: Path) -> None:
    suite = rule / "grammar.suite.toml"
    suite.write_text(suite.read_text() + 'no_regression = "pair_accuracy"\n')
    args = (*USE, "--judge-mode", "live")
    saved = run(pytester, *args, "--judge-save-baseline", "base.json")
    saved.assert_outcomes(passed=1, skipped=1)
    run(pytester, *args, "--judge-baseline", "base.json").assert_outcomes(passed=2)
    judge = rule / "conftest.py"
    judge.write_text(judge.read_text().replace('"cats is", ', ""))
    worse = run(pytester, *args, "--judge-baseline", "base.json", "--judge-policy", "confident")
    # Two pairs of one cluster are missed that were not: of four clusters that shows nothing.
    open_ = "OPEN grammar: pair_accuracy went from 0.75 to 0.50 since the baseline: inconclusive"
    text = " ".join(worse.stdout.str().split())
    assert open_ in text
    assert "2 of 8 worse, 0 better" in text


PARTS = """
from pytest_judgesense.errors import InternalError
from pytest_judgesense.profile import any_above, one_of
from pytest_judgesense.registry import Report


def counted(cell):
    yield f"{len(cell.judgments)} replies were looked at"


def half_blind(estimates):
    return "half blind" if any_above("pair_accuracy", 0.5)(estimates) else None


def refuse(estimates):
    if any(one.measure == "pair_accuracy" and one.value == 1 for one in estimates):
        raise InternalError("all pairs are right")


def pytest_judgesense_report_sections():
    return [
        Report(
            words=one_of(half_blind, "half blind", instead_of=["moderately stable", "stable"]),
            doubts=(counted,),
            identities=(refuse,),
            closing=(lambda entrants, seed: [f"{len(entrants)} judge was here"],),
        )
    ]
"""


def test_a_plugin_adds_words_notices_and_closing_sentences(
    pytester: pytest.Pytester, rule: Path
) -> None:
    (rule / "parts.py").write_text(PARTS)
    args = ("-p", "parts", *USE, "--judge-mode", "live", "-v", "--judge-datasheet")
    shown = run(pytester, *args, "x.jsonl")
    shown.assert_outcomes(passed=1)
    # 4 pairs x 2 sentences x 2 wordings; pair_accuracy is 0.75.
    lines = ["  profile: half blind", "  notice: *16 replies were looked at"]
    shown.stdout.fnmatch_lines([*lines, "*1 judge was here"])
    modules = ("-p", "minimal_pairs", "-p", "parts")
    judgesense = (sys.executable, "-m", "pytest_judgesense.commands", *modules)
    reported = pytester.run(*judgesense, "report", "x.jsonl", "--datasheet", "x.md")
    assert reported.ret == 0
    assert "1 judge was here" in (rule / "x.md").read_text()
    # A judge that errs nowhere contradicts what the plugin requires of its estimates.
    (rule / "conftest.py").write_text(
        FILES["conftest.py"].replace('"She have"', '"She have", "dog bark."')
    )
    refused = run(pytester, *args, "y.jsonl")
    refused.stdout.fnmatch_lines(["*the datasheet cannot be made: all pairs are right"])


# -- the command line ------------------------------------------------------------------------------


def _installed(folder: Path) -> None:
    """What installing the plugin as a package leaves behind: its module, and its entry points."""
    metadata = folder / "minimal_pairs-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: minimal-pairs\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[pytest11]\nminimal_pairs = minimal_pairs\n\n[judgesense]\nminimal_pairs = minimal_pairs\n"
    )


@pytest.mark.long
def test_an_installed_plugin_is_known_to_pytest_and_to_the_command_line(
    pytester: pytest.Pytester, rule: Path
) -> None:
    _installed(rule)
    first = pytester.runpytest_subprocess(
        "grammar.suite.toml", "--judge-mode", "record", "--judge-datasheet", "log.jsonl"
    )
    first.assert_outcomes(passed=1)
    judgesense = (sys.executable, "-m", "pytest_judgesense.commands")
    command = pytester.run(*judgesense, "report", "log.jsonl", "--datasheet", "logs.json")
    assert command.ret == 0
    command.stdout.fnmatch_lines(["    pair_accuracy *6/8*", "    pair dog: both right 2*"])
    assert pooled(sheet_of(rule / "logs.json"), "pair_accuracy")["count"] == 6


def test_the_command_line_loads_a_module_by_p_once(
    pytester: pytest.Pytester, rule: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pytest_judgesense.commands.main import main

    run(pytester, *USE, "--judge-mode", "live", "--judge-datasheet", "log.jsonl")
    capsys.readouterr()
    twice = ["-p", "minimal_pairs", "-p", "minimal_pairs"]
    assert main([*twice, "compare", "log.jsonl", "log.jsonl"]) == 0
    assert "  pair_accuracy " in capsys.readouterr().out
    assert main([*twice, "lint", "grammar.suite.toml"]) == 0
    assert main([*twice, "power", "grammar.suite.toml"]) == 0
    assert "pair_accuracy_floor[0.7]" in capsys.readouterr().out
    assert main(["report", "log.jsonl"]) == 2
    assert "load the plugin that adds it: judgesense -p MODULE" in capsys.readouterr().err
    assert main(["-p", "not_there", "lint"]) == 2
    assert "plugin not_there cannot be loaded" in capsys.readouterr().err


# -- ill-formed plugins ----------------------------------------------------------------------------

_HEAD = """
from minimal_pairs import *
from plain_provider import build, parse
from pytest_judgesense.registry import *
"""

AT_START = {
    "a taken measure": (
        (
            "def pytest_judgesense_measures():\n"
            "    return [Measure('jss', 'higher', 'call', 'mine', list)]"
        ),
        "measure 'jss' of plugin ill has a name that is taken",
    ),
    "no measure": (
        "def pytest_judgesense_measures(): return ['pair_accuracy']",
        "plugin ill: its pytest_judgesense_measures returned something else",
    ),
    "a contradiction": (
        (
            "def pytest_judgesense_measures():\n"
            "    return [Measure('mine', 'lower', 'call', 'mine', list, gate='floor')]"
        ),
        "plugin ill: its pytest_judgesense_measures failed",
    ),
}

AT_COLLECTION = {
    "a taken provider": (
        (
            "def pytest_judgesense_providers():\n"
            "    return [Provider('openai', build, parse, 'http://127.0.0.1')]"
        ),
        "provider 'openai' of plugin ill has a name that is taken",
    ),
    "a taken kind": (
        "def pytest_judgesense_suite_kinds(): return [SuiteKind('ladder', Kind('ladder', items))]",
        "kind of suites 'ladder' of plugin ill has a name that is taken",
    ),
    "a kind of another name": (
        "def pytest_judgesense_suite_kinds(): return [SuiteKind('x', Kind('y', items))]",
        "kind 'x' of plugin ill has no form",
    ),
    "a measure of a kind that contradicts itself": (
        (
            "def pytest_judgesense_suite_kinds():\n"
            "    mine = Measure('mine', 'lower', 'call', '', list)\n"
            "    return [SuiteKind('x', Kind('x', items), (mine,))]"
        ),
        "measure mine has a unit and a meaning",
    ),
    "a kind whose form fails": (
        "def pytest_judgesense_suite_kinds(): return [SuiteKind('x', lambda: 1 / 0)]",
        "kind 'x' of plugin ill cannot be used",
    ),
    "a kind with something else for a measure": (
        (
            "def pytest_judgesense_suite_kinds():\n"
            "    return [SuiteKind('x', Kind('x', items), ('jss',))]"
        ),
        "kind 'x' of plugin ill is malformed",
    ),
    "a report with something else for a word": (
        "def pytest_judgesense_report_sections(): return [Report(words=('stable',))]",
        "a Report of plugin ill is malformed",
    ),
    "a report with one function for several": (
        "def pytest_judgesense_report_sections(): return [Report(doubts=len)]",
        "expected: doubts: a tuple",
    ),
    "a taken section": (
        (
            "def pytest_judgesense_report_sections():\n"
            "    return [ReportSection('tier', missed, missed_lines)]"
        ),
        "report section 'tier' of plugin ill has a name that is taken",
    ),
    "a hook that skips": (
        ("import pytest\ndef pytest_judgesense_report_sections(): pytest.skip('not here')"),
        "plugin ill: its pytest_judgesense_report_sections failed",
    ),
    "a hook that fails": (
        "def pytest_judgesense_report_sections(): return 1 / 0",
        "plugin ill: its pytest_judgesense_report_sections failed",
    ),
    "two plugins with one name": (
        "def pytest_judgesense_suite_kinds(): return [SuiteKind(KIND, Kind(KIND, items))]",
        "a kind of suites 'minimal-pairs' of plugin ill",
    ),
    "a taken word": (
        (
            "from pytest_judgesense.profile import Word\n"
            "def pytest_judgesense_report_sections():\n"
            "    return [Report(words=(Word('stable', bool),))]"
        ),
        "word 'stable' of plugin ill has a name that is taken",
    ),
    "a report of something else": (
        (
            "from pytest_judgesense.profile import Word\n"
            "def pytest_judgesense_report_sections():\n"
            "    return [Report(words=Word('ill', bool))]"
        ),
        "a Report of plugin ill is malformed",
    ),
    "a taken name in a report": (
        (
            "def pytest_judgesense_report_sections():\n"
            "    return [Report(sections=(ReportSection('tier'),))]"
        ),
        "report section 'tier' of plugin ill has a name that is taken",
    ),
}

AT_MEASURING = {
    "an estimate that fails": (
        (
            "def pytest_judgesense_measures():\n"
            "    return [Measure('mine', 'lower', 'call', 'mine', lambda cell: 1 / 0)]"
        ),
        "measure 'mine' of plugin ill could not be taken of judge rule on suite grammar",
    ),
    "an estimate of something else": (
        (
            "def pytest_judgesense_measures():\n"
            "    return [Measure('mine', 'lower', 'call', 'mine', pair_accuracy)]"
        ),
        "measure 'mine' of plugin ill gave something else than its estimates on suite grammar",
    ),
    "an estimate that skips": (
        (
            "def pytest_judgesense_measures():\n"
            "    import pytest\n"
            "    skips = lambda cell: pytest.importorskip('not_installed_here')\n"
            "    return [Measure('mine', 'lower', 'call', 'mine', skips)]"
        ),
        "measure 'mine' of plugin ill could not be taken of judge rule on suite grammar",
    ),
    "an estimate that exits": (
        (
            "def pytest_judgesense_measures():\n"
            "    import sys\n"
            "    return [Measure('mine', 'lower', 'call', 'mine', lambda cell: sys.exit(3))]"
        ),
        "measure 'mine' of plugin ill could not be taken of judge rule on suite grammar",
    ),
    "a condition that no file holds": (
        (
            "def pytest_judgesense_measures():\n"
            "    from pytest_judgesense.measures.cell import unavailable\n"
            "    take = lambda cell: [unavailable(MINE, cell, 'none', {'at': object()})]\n"
            "    MINE = Measure('mine', 'lower', 'call', 'mine', take)\n"
            "    return [MINE]"
        ),
        "measure 'mine' of plugin ill gave something else than its estimates on suite grammar",
    ),
    "rows that JSON cannot hold": (
        (
            "def pytest_judgesense_report_sections():\n"
            "    return [ReportSection('mine', lambda *_: [{'x': {1}}], missed_lines)]"
        ),
        "report section 'mine' of plugin ill cannot be made of judge rule on suite grammar",
    ),
    "a notice that fails": (
        (
            "def pytest_judgesense_report_sections():\n"
            "    return [Report(doubts=(lambda cell: 1 / 0,))]"
        ),
        "a part of the report of plugin ill cannot be made",
    ),
}


def _ill(folder: Path, code: str) -> tuple[str, ...]:
    # Only its own hooks: those of the example would be there twice.
    (folder / "ill.py").write_text(
        _HEAD + "for name in [n for n in globals() if n.startswith('pytest_judgesense_')]:\n"
        "    del globals()[name]\n" + code + "\n"
    )
    return "-p", "ill", *USE, "--judge-mode", "live"


@pytest.mark.parametrize("what", [*AT_START, *AT_COLLECTION])
def test_what_is_ill_formed_ends_the_session_at_its_start_or_with_its_collection(
    pytester: pytest.Pytester, rule: Path, what: str
) -> None:
    code, message = (AT_START | AT_COLLECTION)[what]
    result = run(pytester, *_ill(rule, code))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()
    no_traceback(result)


def test_a_word_that_fails_names_its_plugin_and_leaves_the_checks(
    pytester: pytest.Pytester, rule: Path
) -> None:
    word = "Word('ill', lambda estimates: 1 / 0)"
    code = (
        "from pytest_judgesense.profile import Word\n"
        f"def pytest_judgesense_report_sections(): return [Report(words=({word},))]"
    )
    result = run(pytester, *_ill(rule, code))
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*a part of the report of plugin ill cannot be made; ZeroDivisionError: *; fix the plugin"]
    )
    no_traceback(result)


@pytest.mark.parametrize("what", AT_MEASURING)
def test_what_goes_wrong_while_measuring_fails_the_check(
    pytester: pytest.Pytester, rule: Path, what: str
) -> None:
    code, message = AT_MEASURING[what]
    result = run(pytester, *_ill(rule, code))
    assert message in result.stdout.str() + result.stderr.str()
    assert result.ret in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.USAGE_ERROR)
    no_traceback(result)


def test_evidence_that_fails_names_the_plugin_in_the_check_that_shows_it(
    pytester: pytest.Pytester, rule: Path
) -> None:
    (rule / "ill.py").write_text(
        "import minimal_pairs\n"
        "from minimal_pairs import pytest_judgesense_suite_kinds\n"
        "from pytest_judgesense.registry import Evidence\n"
        "find = Evidence('pairs', lambda cell, condition: 1 / 0)\n"
        "def pytest_judgesense_measures():\n"
        "    return [minimal_pairs.PAIR_ACCURACY._replace(evidence=find)]\n"
    )
    suite = rule / "grammar.suite.toml"
    suite.write_text(suite.read_text().replace("= 0.7", "= 0.9"))
    result = run(pytester, "-p", "ill", "grammar.suite.toml", "--judge-mode", "live")
    result.assert_outcomes(failed=1)
    said = "evidence of measure 'pair_accuracy' of plugin ill cannot be found in suite grammar"
    assert said in result.stdout.str()
    no_traceback(result)


def test_a_brief_that_fails_names_the_plugin(
    pytester: pytest.Pytester, rule: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")  # of what has no room nothing is asked
    code = (
        "def pytest_judgesense_report_sections():\n"
        "    rows = lambda cell, estimates, suite: [{'a': 1}]\n"
        "    return [ReportSection('ill', rows, lambda rows: ['one'], brief=lambda rows: 1 / 0)]"
    )
    result = run(pytester, *_ill(rule, code))
    result.stdout.fnmatch_lines(["*a part of the report of plugin ill cannot be made*"])
    no_traceback(result)


COMPARING = """
from pytest_judgesense.registry import Board, Comparison

def tables(suite, judges, seed, secondary):
    return {{"ill": {tables}}}

def pytest_judgesense_report_sections():
    return [Comparison("ill", tables, {board}, {lines})]
"""
BOARD = "lambda suite, tables: Board('Ill', ('x',), (('1',),))"
LINES = "lambda suite, tables: ['one line']"


@pytest.mark.long
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
@pytest.mark.parametrize(
    ("tables", "board", "lines", "lost"),
    [
        ("1 / 0", BOARD, LINES, set()),
        ("[object()]", BOARD, LINES, set()),
        ("[{'x': 1}]", "lambda suite, tables: 1 / 0", LINES, {"md"}),
        ("[{'x': 1}]", "lambda suite, tables: None", LINES, {"md"}),
        ("[{'x': 1}]", BOARD, "lambda suite, tables: 1 / 0", set()),
    ],
)
def test_a_comparison_that_fails_names_the_plugin_and_costs_no_other_output(
    pytester: pytest.Pytester,
    rule: Path,
    tables: str,
    board: str,
    lines: str,
    lost: set[str],
    workers: tuple[str, ...],
) -> None:
    ill = _ill(rule, COMPARING.format(tables=tables, board=board, lines=lines))
    forms = ("json", "jsonl", "md", "html", "csv")
    written = [word for form in forms for word in ("--judge-datasheet", f"x.{form}")]
    saved = ("--judge-save-baseline", "base.json")
    result = run(pytester, *ill, *written, *saved, "-vv", *workers)
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "a part of the report of plugin ill cannot be made" in result.stdout.str()
    no_traceback(result)
    assert {form for form in forms if not (rule / f"x.{form}").is_file()} == lost
    assert (rule / "base.json").is_file()
    # The log is reported on with the same words, and by no traceback.
    main = [sys.executable, "-m", "pytest_judgesense.commands", "-p", "minimal_pairs", "-p", "ill"]
    outputs = ("--datasheet", "again.json", "--datasheet", "again.md")
    again = pytester.run(*main, "report", "x.jsonl", *outputs)
    assert again.ret != 0
    assert "a part of the report of plugin ill cannot be made" in (
        again.stdout.str() + again.stderr.str()
    )
    assert "Traceback" not in again.stderr.str()


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
@pytest.mark.parametrize("what", ["an estimate that fails"])
def test_what_goes_wrong_while_measuring_loses_no_judgment(
    pytester: pytest.Pytester, rule: Path, what: str, workers: tuple[str, ...]
) -> None:
    # Live answers are in no recording: the log and the baseline are all that is left of them.
    code, message = AT_MEASURING[what]
    ill = _ill(rule, code)
    written = ("--judge-datasheet", "x.jsonl", "--judge-datasheet", "x.json")
    result = run(pytester, *ill, *written, "--judge-save-baseline", "base.json", *workers)
    result.assert_outcomes(failed=1)
    assert message in result.stdout.str()
    assert len((rule / "x.jsonl").read_text().splitlines()) == 16
    baseline = (rule / "base.json").read_text()
    assert sum('"verdict"' in line for line in baseline.splitlines()) == 16  # a line each
    sheet = sheet_of(rule / "x.json")
    assert sheet["measures"] == []  # nothing is estimated in place of what the plugin breaks


def test_a_soft_measure_may_give_nothing(pytester: pytest.Pytester, rule: Path) -> None:
    code = (
        "def pytest_judgesense_measures():\n"
        "    return [Measure('mine', 'lower', 'call', 'mine', lambda cell: [], soft=True)]"
    )
    run(pytester, *_ill(rule, code)).assert_outcomes(passed=1)


def test_an_item_whose_id_is_no_text_names_the_plugin(
    pytester: pytest.Pytester, rule: Path
) -> None:
    text = (rule / "minimal_pairs.py").read_text()
    (rule / "minimal_pairs.py").write_text(text.replace("id=f\"{row['id']}-{side}\"", "id=3"))
    result = run(pytester, *USE, "--judge-mode", "live")
    assert "kind 'minimal-pairs' of plugin minimal_pairs cannot be used" in (
        result.stdout.str() + result.stderr.str()
    )
    no_traceback(result)


def test_one_text_in_place_of_several_names_the_plugin(
    pytester: pytest.Pytester, rule: Path
) -> None:
    doubt = "def pytest_judgesense_report_sections(): return [Report(doubts=(lambda cell: 'abc',))]"
    result = run(pytester, *_ill(rule, doubt))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*a part of the report of plugin ill cannot be made*"])
    result.stdout.fnmatch_lines(["*a text, 'abc', in place of several*"])


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_notice_that_fails_is_told_of_without_a_section_beside_it(
    pytester: pytest.Pytester, rule: Path, workers: tuple[str, ...]
) -> None:
    # Without the plugin of the page, which has a section.
    (rule / "ill.py").write_text(
        "from minimal_pairs import pytest_judgesense_measures, pytest_judgesense_suite_kinds\n"
        "from pytest_judgesense.registry import Report\n"
        "def pytest_judgesense_report_sections():\n"
        "    return [Report(doubts=(lambda cell: 1 / 0,))]\n"
    )
    result = run(pytester, "-p", "ill", "grammar.suite.toml", "--judge-mode", "live", *workers)
    result.assert_outcomes(failed=1)
    assert "a part of the report of plugin ill cannot be made" in result.stdout.str()
    no_traceback(result)


def test_an_ill_formed_plugin_is_told_of_under_workers_too(
    pytester: pytest.Pytester, rule: Path
) -> None:
    code, message = AT_COLLECTION["a taken kind"]
    result = run(pytester, *_ill(rule, code), "-n", "2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()


def test_a_kind_that_refuses_its_stimuli_names_file_and_reason(
    pytester: pytest.Pytester, rule: Path
) -> None:
    pairs = rule / "pairs.jsonl"
    pairs.write_text(
        pairs.read_text().replace('"wrong": "The dog bark."', '"wrong": "The dog barks."')
    )
    result = run(pytester, *USE, "--judge-mode", "live")
    result.stdout.fnmatch_lines(
        [
            "*pairs dog of suite grammar have nothing to tell apart",
            "*fix the stimuli of *grammar.suite.toml",
        ]
    )
    pairs.write_text('{"id": "x", "right": "A."}\n')
    result = run(pytester, *USE, "--judge-mode", "live")
    result.stdout.fnmatch_lines(
        ["*the stimuli in *pairs.jsonl are not of the kind*", "*a line has*"]
    )
    no_traceback(result)


def test_a_folder_s_conftest_is_too_late(pytester: pytest.Pytester, rule: Path) -> None:
    late = rule / "late"
    late.mkdir()
    (late / "conftest.py").write_text("def pytest_judgesense_report_sections():\n    return []\n")
    (late / "test_it.py").write_text("def test_it(): pass\n")
    result = run(pytester, "-p", "minimal_pairs")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*late?conftest.py comes too late to add anything"])
    # Named on the command line, it is loaded in time.
    run(pytester, "late").assert_outcomes(passed=1)


def test_hooks_are_not_called_where_nothing_is_measured(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "called = []\n"
        + "".join(
            f"def pytest_judgesense_{name}():\n    called.append('{name}')\n    return []\n"
            for name in ("measures", "providers", "suite_kinds", "report_sections")
        )
        + "def pytest_unconfigure(config):\n    print('called:', *called)\n"
    )
    pytester.makepyfile("def test_it(): pass\n")
    result = run(pytester, "-s")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["called: measures"])


def test_optional_hooks_stand_where_this_plugin_is_switched_off(
    pytester: pytest.Pytester, folder: Path
) -> None:
    marked = "@pytest.hookimpl(optionalhook=True)\ndef pytest_judgesense_"
    text = FILES["minimal_pairs.py"].replace("def pytest_judgesense_", marked)
    (folder / "optional_pairs.py").write_text(f"import pytest\n{text}")
    (folder / "test_grammar.py").unlink()
    pytester.makepyfile("def test_it(): pass\n")
    run(pytester, "-p", "no:judgesense", "-p", "optional_pairs").assert_outcomes(passed=1)
    listed = run(pytester, "-p", "optional_pairs", "--markers").stdout.str()
    assert "@pytest.mark.pair_accuracy_floor(bar, limit=, suite=" in listed
