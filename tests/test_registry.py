"""The values that plugins give, and what becomes of them outside of a session."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import measure
from pytest_judgesense.checks.declaration import declare_check
from pytest_judgesense.checks.judgments_against import evidence_of
from pytest_judgesense.checks.outcome import judge_check
from pytest_judgesense.checks.regression import Side, compare
from pytest_judgesense.errors import ExtensionError, UsageError
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.bar import gate_of
from pytest_judgesense.measures.cell import Cell, Units, rate, unavailable
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.measures.definition import untaken
from pytest_judgesense.registry import (
    HttpRequest,
    Measure,
    Provider,
    Registry,
    Reply,
    extended,
)
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.report.logged_cells import datasheet_of_cells
from pytest_judgesense.suites.schema import OF_SOME_KINDS
from pytest_judgesense.trial import Design, Failed, Judgment, Trial, Verdict
from tests.shipped import CASSETTES
from tests.suites.known import absent_suites, of_known_kinds, registry_of


def wordy(cell: Cell) -> Iterable[Estimate]:
    """Replies of more than one word; it reads the reply, not the verdict."""
    if not cell.judgments:
        return [unavailable(WORDY, cell, "nothing was asked")]
    units = Units.collect(
        ((one,) for one in cell.judgments), lambda one: float(len((one.reply or "").split()) > 1)
    )
    return [rate(WORDY, cell, units)]


WORDY = Measure("wordy_rate", "lower", "call", "more than a word", wordy, gate="ceiling")


def known(*measures: Measure) -> Registry:
    hooks = [("mine", lambda: list(measures))]
    return extended(BUILT_IN, lambda hook: hooks if hook.endswith("measures") else [])


def cell(replies: list[str], registry: Registry, kind: str = "vacuum") -> Cell:
    """One trial an item, each with the verdict YES and one of ``replies``."""
    design = Design(kind=kind, labels=("YES", "NO"))
    judgments = tuple(
        Judgment(
            Trial(f"s/i{n}/t1/ab/r1", "s", f"i{n}", f"i{n}", "t1"), "j", Verdict("YES"), reply=r
        )
        for n, r in enumerate(replies, start=1)
    )
    return Cell("j", "s", design, judgments, measures=registry.measures_on(kind))


def test_what_is_built_in_stays_as_it_is() -> None:
    registry = known(WORDY)
    mine = WORDY._replace(source="mine")
    assert dict(registry.measures) == {
        **BUILT_IN.measures,
        "wordy_rate": WORDY._replace(source="mine"),
    }
    assert dict(registry.checks) == {**BUILT_IN.checks, "wordy_rate_ceiling": gate_of(mine)}
    assert "wordy_rate" not in BUILT_IN.measures
    assert extended(BUILT_IN, lambda hook: []) is BUILT_IN


def test_a_measure_is_estimated_checked_and_has_its_bounds_and_its_margin() -> None:
    own = known(Measure("wordy_rate", "lower", "call", "m", wordy, gate="limit", bounds=(0, 0.4)))
    # 1 of 4 replies has more than one word.
    estimates = estimate_all(cell(["YES", "YES", "Well, YES", "YES"], own))
    found = find_estimate(estimates, "wordy_rate")
    assert found is not None
    assert (found.count, found.n, found.unit) == (1, 4, "call")
    for bar, word in ((0.25, "pass"), (0.2, "fail")):
        check = declare_check("wordy_rate_limit", (bar,), {}, own)
        assert not check.floor
        assert judge_check(check, "s", estimates).outcome == word
    with pytest.raises(UsageError, match=r"a number from 0 to 0\.4"):
        declare_check("wordy_rate_limit", (0.5,), {}, own)
    assert declare_check("no_regression", ("wordy_rate",), {}, own).bars == {"margin": 0.1}
    with pytest.raises(UsageError, match="no measure named 'wordy_rate'"):
        declare_check("no_regression", ("wordy_rate",), {}, BUILT_IN)


def test_an_entry_among_the_measures_of_a_built_in_kind_is_all_that_a_measure_takes() -> None:
    kinds = [
        replace(kind, measures=(*kind.measures, WORDY)) if kind.name == "vacuum" else kind
        for kind in BUILT_IN.kinds.values()
    ]
    own = registry_of(kinds)
    asked = cell(["YES", "YES", "Well, YES", "YES"], own)
    outcome = judge_check(
        declare_check("wordy_rate_ceiling", (0.2,), {}, own), "s", estimate_all(asked)
    )
    assert outcome.outcome == "fail"
    _, groups = evidence_of(outcome, asked)
    assert [one.trial.item for group in groups for one in group] == ["i3"]
    (entry,) = json.loads(datasheet_json(datasheet_of_cells([asked], registry=own)))["judges"]
    assert "wordy_rate" in [one["measure"] for one in entry["measures"]]


def test_a_measure_of_some_kinds_is_not_taken_on_others() -> None:
    own = known(Measure("wordy_rate", "lower", "call", "m", wordy, kinds=("ladder",)))
    assert find_estimate(estimate_all(cell(["YES"], own)), "wordy_rate") is None


def test_replies_that_change_under_the_same_verdicts_are_a_change_of_such_a_measure() -> None:
    own = known(WORDY)
    wordy_rate = own.measures["wordy_rate"]
    short = cell(["YES"] * 6, own)
    long = cell(["Well, YES", "I say YES", "Oh, YES", "YES", "YES", "YES"], own)
    now = compare(Side.of(short), Side.of(long), wordy_rate)
    assert not now.identical
    assert now.sign == -1
    # 3 of 6 became wordy and none the other way; higher is worse, so the difference is negative.
    assert now.difference is not None
    assert (now.difference.value, now.difference.worse, now.difference.better) == (-0.5, 3, 0)
    assert compare(Side.of(short), Side.of(short), wordy_rate).identical
    # A built-in measure sees the verdicts alone.
    assert compare(Side.of(short), Side.of(long), BUILT_IN.measures["unparsed_rate"]).identical


def test_an_estimate_of_another_unit_or_suite_is_put_right_or_refused() -> None:
    def elsewhere(of: Cell) -> list[Estimate]:
        return [Estimate("wordy_rate", "another", value=0.5, n=2, unit="call")]

    own = known(Measure("wordy_rate", "lower", "reply", "m", wordy))
    found = find_estimate(estimate_all(cell(["YES"], own)), "wordy_rate")
    assert found is not None
    assert found.unit == "reply"
    wrong = known(Measure("wordy_rate", "lower", "call", "m", elsewhere))
    with pytest.raises(ExtensionError, match="measure 'wordy_rate' of plugin mine gave something"):
        estimate_all(cell(["YES"], wrong))
    twice = known(Measure("wordy_rate", "lower", "call", "m", lambda of: [*wordy(of), *wordy(of)]))
    with pytest.raises(ExtensionError, match="each condition once"):
        estimate_all(cell(["YES"], twice))


def test_a_kind_that_nobody_knows_names_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"kind = 'mine'[\s\S]*one of: "):
        cell(["YES"], BUILT_IN, kind="mine")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "My measure"}, "the name of a measure is like my_measure"),
        ({"direction": "up"}, "direction is one of higher, lower, construct"),
        ({"gate": "floor"}, "gate is one of: ceiling, bound, limit"),
        ({"direction": "construct"}, "gate is one of: none"),
        ({"unit": ""}, "a unit and a meaning"),
        ({"bounds": (1, 0)}, "bounds are low and high"),
        ({"margin": -1}, "margin is at least 0"),
        ({"bounds": "ab"}, "bounds are two numbers"),
        ({"bounds": (1,)}, "bounds are two numbers"),
        ({"estimator": 0.5}, "its estimator is a function"),
        ({"estimator": untaken}, "its estimator is a function"),
        ({"evidence": "calls"}, "its evidence is of type Evidence"),
        ({"brief": "m"}, "its brief is of type Brief"),
        ({"kinds": "ladder"}, "as in kinds=('ladder',)"),
    ],
)
def test_a_measure_that_contradicts_itself_is_refused(change: dict[str, Any], message: str) -> None:
    fields = {"name": "m", "direction": "lower", "unit": "call", "meaning": "m", "estimator": wordy}
    measure = Measure(**{**fields, "gate": "bound", **change})
    with pytest.raises(ExtensionError, match="plugin mine: its ") as raised:
        known(measure)
    assert message in str(raised.value)


def _build(settings: Any, base_url: str, key: str | None, messages: Any, seed: Any) -> HttpRequest:
    raise RuntimeError(key)


def _parse(status: int, body: str) -> Reply:
    return Reply(json.loads(body)["said"])


PLAIN = Provider("plain", _build, _parse, "http://127.0.0.1", source="mine")


def test_a_provider_that_cannot_build_says_so_without_the_key() -> None:
    with pytest.raises(ExtensionError, match="provider 'plain' of plugin mine") as raised:
        PLAIN.request(None, "", "sk-secret", [], None)  # type: ignore[arg-type]
    assert "RuntimeError" in str(raised.value)
    assert "sk-secret" not in str(raised.value)
    other = Provider("plain", lambda *_: "GET /", _parse, "http://127.0.0.1", source="mine")  # type: ignore[arg-type, return-value]
    with pytest.raises(ExtensionError, match="not a request"):
        other.request(None, "", None, [], None)  # type: ignore[arg-type]


def test_what_a_provider_cannot_parse_is_a_failed_call() -> None:
    assert PLAIN.read(200, '{"said": "YES"}') == Reply("YES")
    failed = PLAIN.read(200, "<html>")
    assert isinstance(failed, Failed)
    assert failed.reason.startswith("provider plain cannot read the response, JSONDecodeError")
    # The command line and the retries know an HTTP error by how it begins.
    assert PLAIN.read(503, "busy") == Failed("HTTP 503: busy")
    other = Provider("plain", _build, lambda *_: "YES", "http://127.0.0.1", source="mine")  # type: ignore[arg-type, return-value]
    with pytest.raises(ExtensionError, match="not a reply"):
        other.read(200, "")


@pytest.mark.parametrize("name", ["", "Plain", "a:b", "1st"])
def test_names_that_cannot_be_written_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="the name of a provider"):
        Provider(name, _build, _parse, "http://127.0.0.1")


def test_no_two_tables_of_the_report_share_a_name() -> None:
    tables = (*BUILT_IN.report.sections, *BUILT_IN.report.comparisons)
    names = [name for table in tables for name in table.all_names]
    assert len(names) == len(set(names))
    assert all(re.fullmatch("[a-z][a-z0-9_]*", name) for name in names)


def test_no_two_instruments_share_a_name() -> None:
    kinds = BUILT_IN.kinds.values()
    for part in ("checks", "papers"):
        names = [value.name for kind in kinds for value in getattr(kind, part)]
        assert len(names) == len(set(names)), part
    # An importer may read what another one does, where its option is given.
    formats = [(own.name, own.option) for room in BUILT_IN.rooms for own in room.importers()]
    assert len(formats) == len(set(formats)) == len(BUILT_IN.importers) + len(BUILT_IN.variants)
    assert len({word.text for word in BUILT_IN.report.words}) == len(BUILT_IN.report.words)


def said_no(cell: Cell) -> list[Estimate]:
    units = Units.collect(
        ((one,) for one in cell.judgments), lambda one: float(one.verdict == "NO")
    )
    return [rate(RESTRAINT, cell, units)]


RESTRAINT = Measure("restraint", "higher", "call", "NO is said", said_no, "floor", best="units")


def test_a_measure_in_the_list_of_its_kind_has_everything_that_a_measure_has() -> None:
    vacuum = BUILT_IN.kinds["vacuum"]
    kinds = {**BUILT_IN.kinds, "vacuum": replace(vacuum, measures=(*vacuum.measures, RESTRAINT))}
    registry = registry_of(kinds.values())
    # An estimate: none of three replies is NO.
    of = cell(["YES"] * 3, registry)
    estimates = estimate_all(of)
    found = find_estimate(estimates, "restraint")
    assert found is not None
    assert (found.count, found.n) == (0, 3)
    # A check, which fails, and what is shown against the judge.
    check = declare_check("restraint_floor", (0.5,), {"suite": "vacuum"}, registry)
    outcome = judge_check(check, "s", estimates)
    assert outcome.outcome == "fail"
    title, groups = evidence_of(outcome, of)
    assert (title, len(groups)) == ("calls that speak against it", 3)
    # A marker, and a comparison with a baseline.
    assert "fail unless restraint >= bar" in registry.checks["restraint_floor"].marker
    assert declare_check("no_regression", ("restraint",), {}, registry).measure == "restraint"
    # Nothing but the list of the kind has changed.
    assert set(registry.measures) - set(BUILT_IN.measures) == {"restraint"}
    assert set(registry.checks) - set(BUILT_IN.checks) == {"restraint_floor"}


@pytest.mark.parametrize(
    "suite",
    [
        "vacuum",
        "coherence@quick",
        *of_known_kinds("ladder@quick", "rubric@quick", "depth@quick"),
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in (
                "preference@quick",
                *of_known_kinds("criterion", "debate@paper-quick", "probe", "temperature"),
            )
        ),
    ],
)
def test_the_rooms_that_a_suite_needs_give_what_all_rooms_give(suite: str) -> None:
    everywhere = tuple(room._replace(joins=lambda _: True) for room in BUILT_IN.rooms)
    measured = [
        measure("embedded:mixed", suite, cassettes=CASSETTES, registry=registry)
        for registry in (BUILT_IN, replace(BUILT_IN, rooms=everywhere))
    ]
    alone, among_all = map(json.loads, map(datasheet_json, measured))
    assert alone == among_all
    assert alone["judges"][0]["measures"]


def test_a_part_of_the_registry_is_made_once() -> None:
    # Each check of a session and each measurement asks for it.
    assert BUILT_IN.of_rooms(("vacuum",)) is BUILT_IN.of_rooms(["vacuum"])
    assert BUILT_IN.of_rooms([room.name for room in BUILT_IN.rooms]) is BUILT_IN


def test_the_keys_of_some_kinds_are_those_that_kinds_have_of_their_own() -> None:
    # The form of a suite file knows them before any kind is imported.
    assert {key for form in BUILT_IN.forms.values() for key in form.keys} <= OF_SOME_KINDS
    if not absent_suites():
        assert {key for form in BUILT_IN.forms.values() for key in form.keys} == OF_SOME_KINDS


CHECKOUT = Path(__file__).parents[1]
# What is put into the file of a room, above its `INSTRUMENTS` and at the head of their measures.
ONE_MORE = """
from pytest_judgesense.measures.definition import Measure


def _said_tie(cell):
    from pytest_judgesense.measures.cell import Units, rate

    units = Units.collect(((one,) for one in cell.judgments), lambda one: one.verdict == "tie")
    return [rate(RESTRAINT, cell, units)]


RESTRAINT: Final = Measure("restraint", "higher", "call", "a tie is said", _said_tie, "floor")


INSTRUMENTS: Final = ("""
MARKED = """
import pytest

@pytest.mark.restraint_floor(0.93, suite="vacuum")
def test_it(): pass
"""


@pytest.mark.long
@pytest.mark.skipif(bool(absent_suites()), reason="the reference tells of all rooms")
def test_a_new_built_in_measure_is_one_file_of_code(tmp_path: Path) -> None:
    shutil.copytree(CHECKOUT / "pytest_judgesense", tmp_path / "pytest_judgesense")
    shutil.copytree(CHECKOUT / "docs", tmp_path / "docs")
    for name in ("suites", "cassettes"):
        (tmp_path / name).symlink_to(CHECKOUT / name)
    sources = [*tmp_path.glob("pytest_judgesense/**/*.py")]
    sources += tmp_path.glob("pytest_judgesense/**/*.txt")
    before = {path: path.read_bytes() for path in sources}
    file = tmp_path / "pytest_judgesense" / "instruments" / "vacuum" / "instrument.py"
    head, given, rest = file.read_text(encoding="utf-8").partition("\nINSTRUMENTS: Final = (")
    before_list, listed, measures = rest.partition("measures=(")
    assert given
    assert listed
    file.write_text(f"{head}{ONE_MORE}{before_list}{listed}RESTRAINT, {measures}", encoding="utf-8")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    # What is made from the values, and nothing else is written.
    made = run("docs/reference/generate.py")
    assert made.returncode == 0, made.stderr
    changed = {path.name for path, text in before.items() if path.read_bytes() != text}
    assert changed == {"instrument.py", "check_markers.txt"}
    for source in (CHECKOUT / "suites" / "vacuum").iterdir():
        shutil.copy(source, tmp_path)
    suite = tmp_path / "vacuum.suite.toml"
    text = suite.read_text(encoding="utf-8")
    assert text.endswith("[checks]\ndark_current_ceiling = { bar = 0.07, limit = 0.1 }\n")
    suite.write_text(text + "restraint_floor = 0.93\n", encoding="utf-8")
    (tmp_path / "test_marked.py").write_text(MARKED, encoding="utf-8")
    done = run(
        *("-m", "pytest", "-v", "--strict-markers", "-p", "no:cacheprovider", "--color=no"),
        *("vacuum.suite.toml", "test_marked.py", "--judge-mode", "live"),
        *("--judge-name", "embedded:clean", "--judge-name", "embedded:noisy"),
    )
    # A verdict on nothing is a tie or a winner, so the share of ties passes where the dark current
    # (at most 1 - 0.93 = 0.07) does: with the clean judge.
    shown = re.findall(r"^(\S+::\S+) (PASSED|FAILED) ", done.stdout, re.MULTILINE)
    assert dict(shown) == {
        name: outcome
        for judge, outcome in (("clean", "PASSED"), ("noisy", "FAILED"))
        for name in (
            f"vacuum.suite.toml::{judge}::dark_current_ceiling[0.07]",
            f"vacuum.suite.toml::{judge}::restraint_floor[0.93]",
            f"test_marked.py::test_it[{judge}]",
        )
    }, done.stdout + done.stderr
