"""What plugins add, in sessions: the plugin of docs/extending.md, and ill-formed ones.

Of its four pairs, judged under two wordings, the rule of that page takes both sentences of ``dog``
for right. So 6 of 8 pairs are judged rightly, 14 of 16 sentences, and every verdict is the same
under both wordings: pair_accuracy 0.75, agreement 0.875, JSS 1.
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_judgesense.errors import JudgesenseError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.registry import Registry, extended, hooks_of
from pytest_judgesense.trial import Design, Judgment, Trial, Verdict

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


# -- both together --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param((), id="plain", marks=pytest.mark.long),
        pytest.param(("-n", "0"), id="n0", marks=pytest.mark.long),
        pytest.param(("-n", "2"), id="n2"),
    ],
)
def test_both_record_and_replay_the_same_on_any_number_of_workers(
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
    args = ("-p", "minimal_pairs", "test_grammar.py", "--strict-markers", "--judge-mode", "live")
    result = run(pytester, *args)
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


def test_its_marker_is_listed_and_has_its_bounds(pytester: pytest.Pytester, rule: Path) -> None:
    listed = run(pytester, "-p", "minimal_pairs", "--markers").stdout.str()
    assert "@pytest.mark.pair_accuracy_floor(bar, limit=, known=" in listed
    assert "both sentences of a minimal pair are judged rightly" in listed
    assert "pair_accuracy" not in run(pytester, "--markers").stdout.str()
    test = rule / "test_grammar.py"
    test.write_text(test.read_text().replace("0.9", "1.5"))
    wrong = run(pytester, "-p", "minimal_pairs", "test_grammar.py", "--judge-mode", "record")
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
    judge = rule / "conftest.py"
    judge.write_text(judge.read_text().replace('"cats is", ', ""))
    worse = run(pytester, *args, "--judge-baseline", "base.json", "--judge-policy", "confident")
    # Two pairs of one cluster are missed that were not: of four clusters that shows nothing.
    open_ = "OPEN grammar: pair_accuracy went from 0.75 to 0.50 since the baseline: inconclusive"
    text = " ".join(worse.stdout.str().split())
    assert open_ in text
    assert "2 of 8 worse, 0 better" in text


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
    command = pytester.run(*judgesense, "report", "log.jsonl", "-o", "logs.json")
    assert command.ret == 0
    command.stdout.fnmatch_lines(["    pair_accuracy *6/8*"])
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
    assert main([*twice, "plan", "--lint", "grammar.suite.toml"]) == 0
    assert main([*twice, "plan", "grammar.suite.toml"]) == 0
    assert "pair_accuracy_floor[0.7]" in capsys.readouterr().out
    # Without the plugin there is a report without its measure.
    assert main(["report", "log.jsonl"]) == 0
    assert "pair_accuracy" not in capsys.readouterr().out
    assert main(["-p", "not_there", "plan", "--lint"]) == 2
    assert "plugin not_there cannot be loaded" in capsys.readouterr().err


# -- ill-formed plugins ----------------------------------------------------------------------------

_HEAD = """
from minimal_pairs import *
from plain_provider import build, parse
from pytest_judgesense.registry import *
"""

AT_START = {
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
    "a taken measure": (
        (
            "def pytest_judgesense_measures():\n"
            "    return [Measure('jss', 'higher', 'call', 'mine', list)]"
        ),
        "measure 'jss' of plugin ill has a name that is taken",
    ),
    "a taken provider": (
        (
            "def pytest_judgesense_providers():\n"
            "    return [Provider('openai', build, parse, 'http://127.0.0.1')]"
        ),
        "provider 'openai' of plugin ill has a name that is taken",
    ),
    "the name of no provider": (
        (
            "def pytest_judgesense_providers():\n"
            "    return [Provider('callable', build, parse, 'http://127.0.0.1')]"
        ),
        "provider 'callable' of plugin ill has a name that is taken",
    ),
    "a hook that skips": (
        "import pytest\ndef pytest_judgesense_providers(): pytest.skip('not here')",
        "plugin ill: its pytest_judgesense_providers failed",
    ),
    "a hook that fails": (
        "def pytest_judgesense_providers(): return 1 / 0",
        "plugin ill: its pytest_judgesense_providers failed",
    ),
    "two plugins with one name": (
        "def pytest_judgesense_measures(): return [PAIR_ACCURACY]",
        "a measure 'pair_accuracy' of plugin ill",
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
}


def _ill(folder: Path, code: str) -> tuple[str, ...]:
    # Only its own hooks: those of the example would be there twice.
    (folder / "ill.py").write_text(
        _HEAD + "for name in [n for n in globals() if n.startswith('pytest_judgesense_')]:\n"
        "    del globals()[name]\n" + code + "\n"
    )
    return "-p", "ill", *USE, "--judge-mode", "live"


def _registry(folder: Path, code: str) -> Registry:
    """What the package, the plugin of the page and the ill-formed one give together."""
    _ill(folder, code)
    plugins = [
        (name, SimpleNamespace(**runpy.run_path(str(folder / f"{name}.py"))))
        for name in ("minimal_pairs", "ill")
    ]
    return extended(BUILT_IN, hooks_of(plugins))


@pytest.mark.parametrize("what", [*AT_START, *AT_COLLECTION])
def test_what_is_ill_formed_is_an_error_that_names_the_plugin(folder: Path, what: str) -> None:
    code, message = (AT_START | AT_COLLECTION)[what]
    with pytest.raises(JudgesenseError) as caught:
        _registry(folder, code)
    assert message in str(caught.value)


@pytest.mark.parametrize("what", ["no measure", "a hook that skips"])
def test_what_is_ill_formed_ends_the_session_at_its_start_or_with_its_collection(
    pytester: pytest.Pytester, rule: Path, what: str
) -> None:
    code, message = (AT_START | AT_COLLECTION)[what]
    result = run(pytester, *_ill(rule, code))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()
    no_traceback(result)


@pytest.mark.parametrize("what", AT_MEASURING)
def test_what_goes_wrong_while_measuring_is_an_error_that_names_the_measure(
    folder: Path, what: str
) -> None:
    code, message = AT_MEASURING[what]
    registry = _registry(folder, code)
    trial = Trial("grammar/i1/t1/ab/r1", "grammar", "i1", "i1", "t1")
    cell = Cell(
        *("rule", "grammar", Design(kind="paraphrase", labels=("YES", "NO"))),
        (Judgment(trial, "rule", Verdict("YES"), reply="YES"),),
        measures=registry.measures_on("paraphrase"),
    )
    with pytest.raises(JudgesenseError) as caught:
        estimate_all(cell)
    assert message in str(caught.value)


@pytest.mark.parametrize("what", ["an estimate that exits"])
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


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.long)])
def test_what_goes_wrong_while_measuring_loses_no_judgment(
    pytester: pytest.Pytester, rule: Path, workers: tuple[str, ...]
) -> None:
    # Live answers are in no recording: the log and the baseline are all that is left of them.
    code, message = AT_MEASURING["an estimate that fails"]
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


def test_an_ill_formed_plugin_is_told_of_under_workers_too(
    pytester: pytest.Pytester, rule: Path
) -> None:
    code, message = AT_COLLECTION["a taken measure"]
    result = run(pytester, *_ill(rule, code), "-n", "2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()


def test_a_folder_s_conftest_is_too_late(pytester: pytest.Pytester, rule: Path) -> None:
    late = rule / "late"
    late.mkdir()
    (late / "conftest.py").write_text("def pytest_judgesense_providers():\n    return []\n")
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
            for name in ("measures", "providers")
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
    assert "@pytest.mark.pair_accuracy_floor(bar, limit=, known=" in listed
