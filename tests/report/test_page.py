"""The page without a browser: its numbers are those of the JSON, and it holds nothing but text."""

from __future__ import annotations

import base64
import csv
import hashlib
import html
import io
import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from markupsafe import escape

from pytest_judgesense.checks.regression import Side
from pytest_judgesense.datasheets.datasheet import (
    AgainstBaseline,
    ChangedItem,
    CheckLine,
    Datasheet,
    GatedNumber,
    UncomparedCheck,
)
from pytest_judgesense.datasheets.sections import ReportSection
from pytest_judgesense.errors import UsageError
from pytest_judgesense.estimate import compact, find_estimate, number_text
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report import packing, page
from pytest_judgesense.report.assembly import datasheet_text, sheet_of
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.report.failing_checks import MOST_EXHIBITS
from pytest_judgesense.report.gauges import gauge
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.page import page_text
from pytest_judgesense.report.summary import Missed
from pytest_judgesense.report.view import view_of
from pytest_judgesense.trial import Design, Judgment, Trial, Unparsed, Verdict
from tests.suites.known import of_known_kinds

from .pages import Page
from .replaying import checked, replayed

SUITES = of_known_kinds("vacuum", "ladder@published", "coherence@published", "debate")
# No criterion and no temperatures: figures 1, 2, 3, 5 and 6, and 8 of debates.
FIGURES = len(SUITES) + 2
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[2J\u202egnp"


@cache
def shown_sheet() -> Datasheet:
    parts = [checked(replayed(judge, suite)) for judge in ("noisy", "mixed") for suite in SUITES]
    return sheet_of(parts, seed=0, mode="replay")


def evidence(*, prompts: bool = True) -> PageEvidence:
    known = [replayed(judge, suite) for judge in ("mixed", "noisy") for suite in SUITES]
    return PageEvidence(
        tuple(one.cell for one in known),
        {
            (one.judge.name, one.suite.name): {
                judgment.trial.id: one.prompt_of(judgment.trial.id) for judgment in one.judgments
            }
            for one in known
        }
        if prompts
        else {},
    )


@cache
def shown_page() -> Page:
    return Page(page_text(view_of(shown_sheet()), evidence()))


def _number(value: float | None, flags: list[str], place: str = "") -> str:
    return number_text(value, tuple(flags), place)  # type: ignore[arg-type]


def test_every_measure_stands_on_the_page_with_the_digits_of_the_json() -> None:
    sheet = json.loads(datasheet_json(shown_sheet()))
    seen = 0
    for entry in sheet["judges"]:
        name = entry["judge"]["name"]
        for suite in SUITES:
            for caption, conditioned in (
                (f"Measures of {name} on {suite}", False),
                (f"By condition: {name} on {suite}", True),
            ):
                wanted = [
                    m
                    for m in entry["measures"]
                    if m["suite"] == suite and bool(m["condition"]) == conditioned
                ]
                rows = shown_page().tables[caption][1:] if wanted else []
                assert len(rows) == len(wanted)
                for row, measure in zip(rows, wanted, strict=True):
                    seen += 1
                    assert row[0].startswith(measure["measure"])
                    for key, value in measure["condition"].items():
                        assert f"{key.replace('_', ' ')} {value}" in row[0]
                    if measure["value"] is None:
                        assert row[1] == f"N/A: {measure['unavailable']}"
                        continue
                    flags = measure["flags"]
                    assert row[2] == _number(measure["value"], flags)
                    count = measure["count"]
                    assert row[1] == (
                        f"n {measure['n']}" if count is None else f"{count:.12g}/{measure['n']}"
                    )
                    shown_ends = ((row[3], "clustered", ""), (row[4], "interval", "in the paper "))
                    for cell, ends, where in shown_ends:
                        if measure[ends] is None:
                            assert cell == ""
                        else:
                            lower = _number(measure[ends]["lower"], flags, f"lower end {where}")
                            upper = _number(measure[ends]["upper"], flags, f"upper end {where}")
                            assert cell == f"[{lower}, {upper}]"
                    missing = measure["missing"]
                    for word in ("unparsed", "failed"):
                        assert (f"{missing[word]} {word}" in row[5]) == bool(missing[word])
    assert seen == sum(len(entry["measures"]) for entry in sheet["judges"])


def test_every_table_of_an_instrument_has_a_title_in_words() -> None:
    drawn = {one.name for one in BUILT_IN.report.sections if one.only_drawn}
    no_table = {
        one.name for one in BUILT_IN.report.sections if one.rows is ReportSection(one.name).rows
    }
    titles = BUILT_IN.report.titles
    assert {name for name, title in titles.items() if not title} <= drawn | no_table
    shown = re.findall(r"<summary>([^<:]*)[^<]*\(\d+ rows\)</summary>", shown_page().text)
    assert {"Judges by rank", "Every two judges compared"} <= {*shown}
    for title in {*shown} & {*titles.values()}:
        assert title.casefold() not in {name.replace("_", " ") for name in titles}


def test_tables_of_analyses_have_the_digits_of_the_json() -> None:
    compared: Counter[str] = Counter()
    for entry in json.loads(datasheet_json(shown_sheet()))["judges"]:
        for analysis in entry["analyses"]:
            if analysis["analysis"] == "standing":
                continue  # the units by cluster: data for comparisons, too many to be read
            name, suite = analysis["analysis"].replace("_", " "), analysis["suite"]
            own = f"{name} of {entry['judge']['name']} on {suite}"
            tables = shown_page().tables
            head, *rows = tables.get(own) or tables[f"{name} on {suite}"]
            assert len(rows) == len(analysis["rows"])
            for row, known in zip(rows, analysis["rows"], strict=True):
                cells = dict(zip(head, row, strict=True))
                for key, value in known.items():
                    cell = cells[key.replace("_", " ")]
                    if isinstance(value, float):
                        assert cell == number_text(value)
                    elif isinstance(value, list):
                        texts = [
                            number_text(one) if isinstance(one, float) else str(one)
                            for one in value
                        ]
                        assert cell == (", ".join(texts) or "none")
                    elif isinstance(value, int | str) and not isinstance(value, bool):
                        assert cell == str(value)
                    compared[suite] += 1
    # In the ranking of debates, configurations are compared one by one.
    assert all(compared[suite] > (1000 if suite == "debate" else 50) for suite in SUITES), compared


def test_checks_stand_with_those_that_did_not_pass_first() -> None:
    sheet = json.loads(datasheet_json(shown_sheet()))
    for entry in sheet["judges"]:
        name = entry["judge"]["name"]
        rows = shown_page().tables[f"Checks of {name}, those that did not pass first"][1:]
        outcomes = [row[0].split()[-1] for row in rows]
        assert outcomes == sorted(outcomes, key=["fail", "inconclusive", "pass"].index)
        assert sorted((row[1], row[2], row[0].split()[-1]) for row in rows) == sorted(
            (line["check"], line["suite"], line["outcome"]) for line in entry["checks"]
        )
        explained = {(row[1], row[2]): row[3] for row in rows}
        for line in entry["checks"]:
            text = explained[line["check"], line["suite"]]
            assert text == "".join([line["explanation"], *line["warnings"]])


def test_identity_and_provenance_stand_at_the_end() -> None:
    sheet = json.loads(datasheet_json(shown_sheet()))
    entry = sheet["judges"][0]
    facts = shown_page().facts
    assert len(facts) == 3  # a judge, another one, and the page
    known = dict(zip(facts[0][::2], facts[0][1::2], strict=True))
    judge, calls = entry["judge"], entry["calls"]
    assert known["Model asked"] == f"{judge['provider']}:{judge['model']}"
    assert known["Model served"] == ", ".join(judge["served"])
    assert known["Prompts digest"] == judge["prompts"]
    assert known["Recorded"].startswith(judge["recorded"]["first"][:10])
    assert known["Seed"] == str(judge["seed"])
    assert known["Calls"].startswith(f"{calls['made']} made, {calls['replayed']} replayed")
    of_page = dict(zip(facts[-1][::2], facts[-1][1::2], strict=True))
    assert of_page["numpy"] == sheet["versions"]["numpy"]
    text = shown_page().text
    assert text.index("numpy") > text.index('id="evidence"')


def test_tables_of_figures_are_the_rows_of_their_csv() -> None:
    files = {
        attributes["download"]: attributes["href"]
        for tag, attributes in shown_page().elements
        if tag == "a" and "download" in attributes
    }
    tables = {
        caption: rows
        for caption, rows in shown_page().tables.items()
        if caption.startswith("Numbers of figure")
    }
    assert len(files) == len(tables) == FIGURES
    for (_, href), (_, rows) in zip(files.items(), tables.items(), strict=True):
        assert href is not None
        text = base64.b64decode(href.partition("base64,")[2]).decode()
        written = list(csv.reader(io.StringIO(text)))
        assert len(written) == len(rows)
        for one, other in zip(written[1:], rows[1:], strict=True):
            for raw, cell in zip(one, other, strict=True):
                if "." in raw and re.fullmatch(r"-?[\d.e-]+", raw):
                    assert cell == number_text(float(raw))
                else:
                    assert cell in (raw, "N/A")


def test_the_policy_lets_one_script_and_one_style_through_and_nothing_else() -> None:
    whole = shown_page()
    (policy,) = [
        attributes["content"]
        for tag, attributes in whole.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    packed, script = whole.raw["script"]
    (style,) = whole.raw["style"]
    assert set(packed) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
    for text, name in ((style, "style-src"), (script, "script-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    for tag, attributes in whole.elements:
        assert "style" not in attributes, (tag, attributes)
        assert not any(key.startswith("on") for key in attributes), (tag, attributes)
        for key in ("src", "href", "xlink:href", "action"):
            assert (attributes.get(key) or "#").startswith(("#", "data:text/csv"))


def test_what_judges_and_suites_are_called_is_text() -> None:
    sheet = shown_sheet()
    part = replace(
        sheet.judges[0].parts[0],
        identity={"name": HOSTILE, "provider": "openai", "model": HOSTILE},
        served=(HOSTILE,),
        notices=(HOSTILE,),
        analyses=({"analysis": HOSTILE, "suite": HOSTILE, "rows": [{HOSTILE: HOSTILE}]},),
    )
    hostile = replace(
        sheet, judges=(replace(sheet.judges[0], identity=part.identity, parts=(part,)),)
    )
    text = page_text(view_of(hostile))
    assert "alert(1)" in text
    assert "<img" not in text
    assert text.count("<script") == 2
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[2J\\u202egnp" in text


def test_the_evidence_holds_every_trial_with_its_prompt_and_reply() -> None:
    found = shown_page().evidence
    rows, words = found["rows"], found["words"]
    cells = evidence().cells
    judgments = [judgment for cell in cells for judgment in cell.judgments]
    prompts = evidence().prompts
    assert {len(column) for column in rows.values()} == {len(judgments)}
    for i, judgment in enumerate(judgments):
        assert words[rows["trial"][i]] == judgment.trial.id
        assert words[rows["judge"][i]] == judgment.judge
        reply = rows["reply"][i]
        assert (None if reply < 0 else found["replies"][reply]) == judgment.reply
        asked = "\n".join(found["lines"][line] for line in found["prompts"][rows["prompt"][i]])
        assert asked == prompts[judgment.judge, judgment.trial.suite][judgment.trial.id]
        said = words[rows["said"][i]]
        assert rows["kind"][i] == (0 if isinstance(judgment.outcome, Verdict) else 1)
        assert said == getattr(judgment.outcome, "value", getattr(judgment.outcome, "reason", ""))
    # Each text stands once.
    for table in ("words", "replies", "lines"):
        assert len(found[table]) == len(set(found[table]))


def _cell(judgments: list[Judgment], **design: object) -> Cell:
    made = Design(**{"kind": "paraphrase", "labels": ("YES", "NO"), **design})  # type: ignore[arg-type]
    return Cell("j", "s", made, tuple(judgments))


def _judgment(template: str, said: str, *, order: str = "ab", replicate: int = 1) -> Judgment:
    trial = Trial(f"s/i/{template}/{order}/r{replicate}", "s", "i", "i", template, order, replicate)  # type: ignore[arg-type]
    return Judgment(trial, "j", Verdict(said), reply=said)


def _flips(cell: Cell) -> list[tuple[str, str, str]]:
    found = Page(page_text(view_of(shown_sheet()), PageEvidence((cell,)))).evidence
    trial = [found["words"][number] for number in found["rows"]["trial"]]
    return [(trial[a][4:], trial[b][4:], kind) for a, b, kind in found["flips"]]


def test_flips_are_found_by_wording_order_and_replicate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "draw", lambda figure: "")
    wording = _cell(
        [_judgment("t1", "YES"), _judgment("t2", "NO"), _judgment("t3", "NO")],
        pairs=(("t1", "t2"), ("t2", "t3")),  # t1 and t3 are not compared
    )
    assert _flips(wording) == [("t1/ab/r1", "t2/ab/r1", "wording")]
    slots = [replace(_judgment("t1", "A"), chosen="1")]
    slots.append(replace(_judgment("t1", "A", order="ba"), chosen="2"))
    order = _cell(slots, kind="ladder", labels=("A", "B"), pairwise=True)
    assert _flips(order) == [("t1/ab/r1", "t1/ba/r1", "order")]
    runs = [_judgment("t1", said, replicate=n) for n, said in enumerate("YNY", start=1)]
    runs.append(replace(_judgment("t1", "?", replicate=4), outcome=Unparsed("no label")))
    assert _flips(_cell(runs, kind="temperature")) == [("t1/ab/r1", "t1/ab/r2", "replicate")]


def test_a_baseline_stands_beside_what_is_judged_now() -> None:
    old, new = replayed("mixed", "vacuum"), replayed("noisy", "vacuum")
    renamed = tuple(replace(judgment, judge="noisy") for judgment in old.judgments)
    before = Side(old.estimates, replace(old.cell, judgments=renamed))
    sheet = sheet_of([checked(new)], seed=0, mode="replay")
    whole = Page(
        page_text(view_of(sheet), PageEvidence((new.cell,), {}, {("noisy", "vacuum"): before}))
    )
    rows = {row[1]: row for row in whole.tables["noisy in the baseline and in this session"][1:]}
    values = [
        next(e.value for e in side.estimates if e.measure == "dark_current" and not e.condition)
        for side in (old, new)
    ]
    assert rows["dark_current"][2:4] == [
        number_text(value) for value in values if value is not None
    ]
    found = whole.evidence["rows"]
    then = {judgment.trial.id: judgment for judgment in old.judgments}
    changed = [
        (then[j.trial.id].verdict, type(then[j.trial.id].outcome)) != (j.verdict, type(j.outcome))
        for j in new.judgments
    ]
    assert found["changed"] == [int(one) for one in changed]
    assert 0 < sum(changed) < len(changed)


def test_without_prompts_the_page_says_what_would_show_them() -> None:
    text = page_text(view_of(shown_sheet()), evidence(prompts=False))
    assert "The judgment log holds no prompts" in text
    assert "The judgment log holds no prompts" not in shown_page().text


def test_long_replies_are_cut_where_the_file_would_grow_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page, "draw", lambda figure: "")
    monkeypatch.setattr(packing, "_MOST_EVIDENCE", 6_000)
    noise = base64.b64encode(hashlib.shake_256(b"").digest(30_000)).decode()  # 40,000 characters
    reply = replace(_judgment("t1", "YES"), reply=noise)
    text = page_text(view_of(shown_sheet()), PageEvidence((_cell([reply]),)))
    assert Page(text).evidence["replies"] == [noise[:4_000]]
    assert "replies are cut after 4,000 characters" in text


def test_the_same_sheet_is_the_same_page_with_line_feeds() -> None:
    text = datasheet_text(".html", view_of(shown_sheet()), evidence=evidence())
    assert text == shown_page().text
    assert "\r" not in text


def test_without_jinja_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "find_spec", lambda name: None if name == "jinja2" else True)
    with pytest.raises(UsageError) as caught:
        datasheet_text(".html", view_of(shown_sheet()))
    assert "jinja2 not installed" in str(caught.value)
    assert "pip install 'pytest-judgesense[html]'" in str(caught.value)


def test_without_matplotlib_the_page_has_its_small_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "find_spec", lambda name: None if name == "matplotlib" else True)
    monkeypatch.setattr(page, "draw", lambda figure: pytest.fail("matplotlib is not there"))
    text = page_text(view_of(shown_sheet()))
    assert text.count('<svg class="gauge"') > 20
    assert "Larger figures need matplotlib" in text
    assert 'id="figures"' not in text


def test_every_failing_check_has_a_figure_and_the_sentence_of_the_terminal() -> None:
    text = shown_page().text
    for judge in view_of(shown_sheet()).judges:
        assert judge.failing
        for lines in judge.failing:
            for line in lines:
                missed = [gate for gate in line.gates if gate.outcome != "pass"]
                assert missed, line.check
                of_suite = [e for e in judge.sheet.estimates if e.suite == line.suite]
                for gate in missed:
                    found = find_estimate(of_suite, gate.measure, gate.condition)
                    assert found is not None
                    assert gauge(found, gate) in text
            assert html.escape(lines[0].sentence) in text
            assert str(escape(lines[0].measured)) in text


def test_what_was_not_measured_fails_its_judge_and_stands_once_below_what_failed() -> None:
    parts = [replayed(judge, "vacuum").sheet for judge in ("noisy", "mixed")]  # without checks
    sheet = sheet_of(parts, seed=0, mode="replay")
    missed = [Missed("noisy", "ladder", "no cassette", 9), Missed("gone", "ladder", "no key", 1)]
    text = page_text(view_of(sheet), missed=missed)
    assert "1 of 2 judges fail" in text
    assert text.count("no checks, 9 not measured") == 2  # on the tile and at the judge
    assert text.count("ladder: 9 checks not measured") == 1
    assert text.count("no cassette") == 1
    assert "<strong>gone</strong>: 1 check not measured on ladder: no key" in text
    assert text.index('id="verdicts-title"') < text.index("no key") < text.index("no cassette")


def test_figures_without_numbers_are_not_mentioned() -> None:
    assert "without numbers" not in shown_page().text
    assert "--judge-suite criterion" not in shown_page().text  # what figure 4 would need


def test_a_check_of_a_baseline_shows_both_numbers_and_the_verdicts_that_changed() -> None:
    old, new = replayed("mixed", "vacuum"), replayed("noisy", "vacuum")
    renamed = tuple(replace(judgment, judge="noisy") for judgment in old.judgments)
    before = Side(old.estimates, replace(old.cell, judgments=renamed))
    (was,) = [e for e in old.estimates if e.measure == "dark_current" and not e.condition]
    assert was.value is not None
    moved = next(
        now.trial
        for then, now in zip(old.judgments, new.judgments, strict=True)
        if then.verdict is not None and now.verdict not in (None, then.verdict)
    )
    texts = {"verdicts": ("tie", HOSTILE), "replies": ("then", HOSTILE), "contents": (HOSTILE,)}
    item = ChangedItem(moved.item, moved.id, 3, HOSTILE, **texts)
    changes = (f"  - {HOSTILE}", "  + ours")
    against = AgainstBaseline("HEAD", f"the prompt {HOSTILE}", changes, 7, 5, (item,))
    line = CheckLine(
        check="no_regression[dark_current,0.05]",
        measure="dark_current",
        suite="vacuum",
        bar={"margin": 0.05},
        outcome="fail",
        policy="estimate",
        explanation="regressed",
        sentence="dark_current went from there to here",
        gates=(GatedNumber("dark_current", {}, was.value, "before", "fail"),),
        against=against,
    )
    left_out = UncomparedCheck("no_regression[jss]", "jss", "vacuum", HOSTILE)
    view = view_of(sheet_of([new.sheet.with_checks([line], [left_out])], seed=0, mode="replay"))
    text = page_text(view, PageEvidence((new.cell,), {}, {("noisy", "vacuum"): before}))
    assert f"before {compact(was.value)}</text>" in text
    assert f"{against.moved_words}</span>" in text
    assert f"<h4>{moved.item}</h4>" in text
    assert text.count(">baseline <span") == text.count(">now <span") == 1
    # Where the judgments are not at hand, such as of a file, what the check holds is shown.
    alone = page_text(view)
    assert ">baseline <span" not in alone
    assert f"<h4>{moved.item}: 3 times, such as {moved.id}</h4>" in alone
    assert ">tie: then</pre>" in alone
    for shown in (text, alone):
        assert "\n  + ours\n</pre>" in shown
        assert "<p>vacuum, since HEAD: the prompt &lt;/script&gt;" in shown
        assert "Not compared: <code>no_regression[jss]</code> on vacuum: &lt;/script&gt;" in shown
        assert "<img src=x" not in shown
        assert "\x1b" not in shown


def test_what_is_shown_of_judgments_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = replayed("noisy", "vacuum")
    long = tuple(replace(one, reply="<" * 100_000) for one in whole.judgments)
    line = next(one for one in checked(whole).checks if one.outcome == "fail")
    many = [replace(line, check=f"{line.check}{n}", sentence=f"s{n}") for n in range(200)]
    view = view_of(sheet_of([whole.sheet.with_checks(many)], seed=0, mode="replay"))
    monkeypatch.setattr(page, "draw", lambda figure: "")
    text = page_text(view, PageEvidence((replace(whole.cell, judgments=long),)))
    replies = re.findall(r'<pre class="reply"[^>]*>([^<]*)</pre>', text)
    assert len(replies) == MOST_EXHIBITS  # one judgment a group on this suite
    assert {html.unescape(reply) for reply in replies} == {"<" * 2_000 + " …"}


def test_a_number_that_no_suite_has_alone_is_drawn_of_its_check() -> None:
    """As of a check that compares the suites of two settings: its estimate stands in none."""
    whole = replayed("mixed", "vacuum")
    gate = GatedNumber("some_effect", {"outcome": "x"}, 0.1, "at most", "fail", 0.4, 0.3, 0.5)
    line = replace(checked(whole).checks[0], outcome="fail", sentence="it moves", gates=(gate,))
    text = page_text(view_of(sheet_of([whole.sheet.with_checks([line])], seed=0, mode="replay")))
    assert "some_effect 0.40, 95% interval 0.30 to 0.50; at most 0.10 wanted" in text
