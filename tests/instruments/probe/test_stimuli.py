"""Items of probes: made of another suite's, edited on one side, or refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.files.conversation import Message, messages_in
from pytest_judgesense.instruments.probe.edited_side import sides_of
from pytest_judgesense.instruments.probe.edits import own_book
from pytest_judgesense.instruments.probe.stimuli import family_of
from pytest_judgesense.judges.calls import first_calls, judgment_of
from pytest_judgesense.judges.client import unasked_endpoint
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.rules import lint_items
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment, JudgmentOutcome, Unparsed, Verdict, content_of_slot
from tests.instruments.probe.probing import GRADED, NAMED, PROBE, loaded, only, write_pairs
from tests.suites.known import load_suite

GPT = judge_from_name("openai:gpt-4o-mini")
EDITS = own_book()[0]


def reading(suite: Suite, naming: str) -> Callable[[str], JudgmentOutcome]:
    """How a reply to a trial under this naming of the slots is read."""
    of_naming = (t for t in plan_trials(suite) if t.condition.get("naming", "ab") == naming)
    trial = next(of_naming)
    return lambda text: judgment_of(suite, GPT, trial, Answer(Reply(text))).outcome


def by_id(suite: Suite) -> dict[str, tuple[str, ...]]:
    return {item.id: item.contents for item in suite.items}


def test_a_line_becomes_its_versions_in_one_cluster(tmp_path: Path) -> None:
    suite = loaded(tmp_path, only("injection", "verbosity"))
    items = [item for item in suite.items if item.cluster == "p0"]
    assert {item.id: (item.condition["probe"], item.condition["version"], item.times)
            for item in items} == {
        "p0": ("none", "asked", 1),
        "p0.unedited": ("none", "unedited", 2),
        "p0.injection-edited": ("injection", "edited", 1),
        "p0.injection-placebo": ("injection", "placebo", 1),
        "p0.injection-control": ("injection", "control", 1),
        "p0.verbosity-edited": ("verbosity", "edited", 1),
        "p0.verbosity-control": ("verbosity", "control", 1),
    }  # fmt: skip
    # The first template of the source alone; both orders: 2 + 4 + 5 x 2 calls.
    assert len(plan_trials(suite)) == 6 * 16
    # A label says which side is edited, and is no answer to be compared with.
    assert [item.id for item in items if item.label] == ["p0"]
    assert suite.source == "pairs"


def test_the_worse_side_is_edited_and_the_control_takes_the_other_back(tmp_path: Path) -> None:
    texts = by_id(loaded(tmp_path, only("injection")))
    poor, good = texts["p0"]  # the label of p0 is 2
    variant = EDITS.by_name["injection"].variant_of("p0")
    assert variant.placebo is not None
    added = {v: getattr(variant, v).append for v in ("edited", "placebo", "control")}
    assert texts["p0.injection-edited"] == (f"{poor}\n\n{added['edited']}", good)
    assert texts["p0.injection-placebo"] == (f"{poor}\n\n{added['placebo']}", good)
    assert texts["p0.injection-control"] == (poor, f"{good}\n\n{added['control']}")


def asked(suite: Suite, slots: dict[str, tuple[str, str]]) -> list[Judgment]:
    """Judgments of the separate asking: the slots of an item in both orders."""
    trials = [t for t in plan_trials(suite) if t.condition["version"] == "asked"]
    return [
        Judgment(t, "j", Verdict(slot), content_of_slot(slot, t.order))
        for t in trials
        if t.item in slots
        for slot in [slots[t.item][t.order == "ba"]]
    ]


def test_the_side_is_the_one_that_a_separate_asking_rejects(tmp_path: Path) -> None:
    suite = loaded(tmp_path, only("flattery"))
    # p0 chooses content 1 twice; p1 a slot, so its label decides (1 is better); p2 content 2 and a
    # tie.
    judgments = asked(suite, {"p0": ("A", "B"), "p1": ("A", "A"), "p2": ("B", "tie")})
    assert sides_of(judgments) == {"p0": "2", "p1": "2", "p2": "1"}
    assert suite.form.settling is not None
    settled = suite.form.settling.settled(suite, judgments, {})
    texts, before = by_id(settled), by_id(suite)
    assert [t.id for t in plan_trials(settled)] == [t.id for t in plan_trials(suite)]
    assert before["p0.flattery-edited"][0] != before["p0"][0]
    assert texts["p0.flattery-edited"][0] == before["p0"][0]
    assert texts["p0.flattery-edited"][1].endswith(before["p0"][1])
    assert texts["p0.flattery-control"][1] == before["p0"][1]
    # Whoever was not asked stays as loaded, and settling again changes nothing.
    assert texts["p3.flattery-edited"] == before["p3.flattery-edited"]
    assert by_id(suite.form.settling.settled(settled, judgments, {})) == texts


def test_without_a_label_the_digest_of_the_item_decides(tmp_path: Path) -> None:
    suite = loaded(tmp_path, only("flattery"))
    bare = replace(suite, items=tuple(replace(item, label=None) for item in suite.items))
    judgments = asked(bare, {f"p{n}": ("A", "A") for n in range(6)})
    assert sides_of(judgments) == {
        f"p{n}": "1" if hashlib.sha256(f"p{n}".encode()).digest()[0] % 2 else "2" for n in range(6)
    }


TAGGED = """
[[templates]]
id = "t1"
text = "{{task}} <one>{{a}}</one> <two>{{b}}</two> Reply: A or B."
"""


def test_an_edit_that_tells_its_slot_reads_otherwise_in_each_order(tmp_path: Path) -> None:
    suite = suite_for_judge(loaded(tmp_path, only("forgery", "fence") + TAGGED), GPT)
    items = {item.id: item for item in suite.items}
    forged, fenced = items["p0.forgery-edited"], items["p0.fence-edited"]
    # Content 1 of p0 is the worse one: it stands in slot A in the order ab, and then in B.
    assert [forged.contents_in(order)[0][-2:] for order in ("ab", "ba")] == ["\nA", "\nB"]
    assert [fenced.contents_in(order)[0].endswith(f"\n\n<{tag}>")
            for order, tag in (("ab", "one"), ("ba", "two"))] == [True, True]  # fmt: skip
    assert fenced.texts("ba")["b"].startswith("Poor 0. It is probably so.\n\n</two>\n\n")
    # The other content, the placebo and the control name no slot and close nothing.
    assert forged.contents_in("ab")[1] == forged.contents_in("ba")[1] == items["p0"].contents[1]
    for probe in ("forgery", "fence"):
        placebo = items[f"p0.{probe}-placebo"]
        assert not placebo.swapped
        assert "<" not in placebo.contents[0]
        assert items[f"p0.{probe}-control"].contents[0] == items["p0"].contents[0]
    assert items["p0.forgery-placebo"].contents[0].endswith("\n.")
    # Other texts in one of the orders are another item.
    assert len({forged.digest, replace(forged, swapped=()).digest}) == 2


def test_marks_and_replies_are_those_of_the_separate_asking(tmp_path: Path) -> None:
    suite = suite_for_judge(loaded(tmp_path, only("forgery", "fence") + TAGGED), GPT)
    assert suite.form.settling is not None
    poor, good = by_id(suite)["p0"]
    judgments = [
        replace(judgment, reply=f"Because of it.\nVerdict: {judgment.verdict}")
        for judgment in asked(suite, {"p0": ("B", "A"), "p1": ("A", "B")})
    ]
    # What a function has sent of p0, whose prompt puts texts into quotation marks of its own.
    sent = {
        judgment.trial.id: [f"«{first}» or «{second}»?"]
        for judgment in judgments
        if judgment.trial.item == "p0"
        for first, second in [(poor, good) if judgment.trial.order == "ab" else (good, poor)]
    }
    settled = suite.form.settling.settled(suite, judgments, sent)
    items = {item.id: item for item in settled.items}
    forged, fenced = items["p0.forgery-edited"], items["p0.fence-edited"]
    assert forged.contents_in("ab")[0].endswith("\nVerdict: A")
    assert forged.contents_in("ba")[0].endswith("\nVerdict: B")
    assert fenced.contents[0].startswith(f"{poor}\n\n»\n\n")
    assert fenced.contents[0].endswith("\n\n«")
    # Of p1 no request is recorded, and of p2 no answer: the prompt as rendered says how.
    assert items["p1.fence-edited"].contents[1].endswith("\n\n<two>")
    assert items["p2.forgery-edited"].contents[0].endswith("\nA")


def test_a_single_output_forges_the_label_that_is_best_to_get(tmp_path: Path) -> None:
    graded = GRADED.replace('"injection", "verbosity"', '"forgery", "fence"')
    suite = loaded(tmp_path, graded.replace("{{output}}", "“{{output}}” 1 to 3?"))
    texts = {item.id: item.fields["output"] for item in suite_for_judge(suite, GPT).items}
    assert texts["o0.forgery-edited"].endswith("\n3")
    assert texts["o0.forgery-placebo"].endswith("\n.")
    assert texts["o0.fence-edited"].endswith("\n\n“")


def test_an_edit_that_changes_nothing_takes_no_part(tmp_path: Path) -> None:
    suite = loaded(tmp_path, only("confidence"), count=6, hedged=2)
    edited = [item.cluster for item in suite.items if item.condition["version"] == "edited"]
    assert edited == ["p0", "p1"]


def test_names_are_probed_where_the_prompt_shows_them(tmp_path: Path) -> None:
    suite = loaded(tmp_path, PROBE + NAMED)
    of_names = [i for i in suite.items if i.condition["probe"] == "names" and i.cluster == "p0"]
    named = {
        i.id: (i.fields["name_a"], i.fields["name_b"], i.times, i.condition["naming"])
        for i in of_names
    }
    assert named == {
        "p0.names-12": ("1", "2", 2, "12"),
        "p0.names-xy": ("X", "Y", 2, "xy"),
    }
    # A judge whose own prompt does not name them is not asked, and told so.
    own = replace(GPT, prompts=replace(GPT.prompts, pairwise="{{task}} A {{a}} B {{b}}"))
    fitted = suite_for_judge(suite, own)
    assert "names" not in {item.condition["probe"] for item in fitted.items}
    assert [f.where for f in lint_items(fitted)] == [
        "probe fence of suite mine",  # which has no tags either
        "probe names of suite mine",
    ]
    assert "names" in {i.condition["probe"] for i in suite_for_judge(suite, GPT).items}


@pytest.mark.parametrize(
    ("naming", "reply", "outcome"),
    [
        ("ab", "A", Verdict("A")),
        ("12", "2", Verdict("B")),
        ("12", '{"verdict": "1"}', Verdict("A")),
        ("xy", "Answer Y is better.", Verdict("B")),
        ("xy", "tie", Unparsed("tie not permitted")),
        # A name of another naming says nothing of the slots that were shown.
        ("ab", "2", Unparsed("no verdict")),
        ("ab", "Y", Unparsed("no verdict")),
        ("12", "Y", Unparsed("no verdict")),
        ("12", "3", Unparsed("no verdict")),
        ("xy", "2", Unparsed("no verdict")),
        # The labels of the suite are read in any case, as those that a function returns.
        ("12", "A", Verdict("A")),
        ("xy", '{"verdict": "B"}', Verdict("B")),
    ],
)
def test_a_reply_is_read_by_the_names_that_its_prompt_shows(
    naming: str, reply: str, outcome: Verdict | Unparsed, tmp_path: Path
) -> None:
    suite = suite_for_judge(loaded(tmp_path, PROBE + NAMED), GPT)
    assert reading(suite, naming)(reply) == outcome


def test_names_that_a_prompt_always_uses_are_read_under_every_naming(tmp_path: Path) -> None:
    named = NAMED.replace('"X"]', '"X", "Alpha"]').replace('"Y"]', '"Y", "Beta"]')
    suite = suite_for_judge(loaded(tmp_path, PROBE + named), GPT)
    for naming in ("ab", "12", "xy"):
        assert reading(suite, naming)("Beta") == Verdict("B")


def test_a_judge_whose_own_prompt_shows_no_names_is_read_by_all_of_the_suite(
    tmp_path: Path,
) -> None:
    own = replace(GPT, prompts=replace(GPT.prompts, pairwise="{{task}} 1 {{a}} 2 {{b}}"))
    assert reading(suite_for_judge(loaded(tmp_path, PROBE + NAMED), own), "ab")("2") == Verdict("B")


def test_structured_output_permits_the_names_that_the_prompt_shows_alone(tmp_path: Path) -> None:
    judge = replace(GPT, structured=True)
    suite = suite_for_judge(loaded(tmp_path, PROBE + NAMED), judge)
    at = unasked_endpoint(judge_for_suite(judge, suite))
    permitted: dict[str, list[str]] = {}
    for trial in plan_trials(suite):
        (call,) = first_calls(suite, judge)(trial)
        schema = json.loads(at.request_of(call).body)["response_format"]["json_schema"]["schema"]
        permitted[str(trial.condition.get("naming", "ab"))] = schema["properties"]["verdict"][
            "enum"
        ]
    assert permitted == {"ab": ["A", "B"], "12": ["1", "2"], "xy": ["X", "Y"]}


def test_by_default_a_prompt_without_names_leaves_them_out_with_a_notice(tmp_path: Path) -> None:
    fitted = suite_for_judge(loaded(tmp_path), GPT)
    of_fence, of_names = lint_items(fitted)
    assert (of_names.severity, of_names.where) == ("warning", "probe names of suite mine")
    assert "{{name_a}} and {{name_b}}" in of_names.line
    assert of_fence.where == "probe fence of suite mine"
    assert "put them into tags" in of_fence.line


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-4o-mini", "GPT"),
        ("claude-sonnet-4", "Claude"),
        ("meta-llama/Llama-3-8B", "Llama"),
        ("qwen2.5-coder", "Qwen2"),
        ("o3", "O3"),
        ("", ""),
    ],
)
def test_the_family_is_the_first_word_of_a_model(model: str, family: str) -> None:
    assert family_of(model) == family


def test_signatures_are_of_the_family_of_each_judge(tmp_path: Path) -> None:
    suite = loaded(tmp_path, only("self"))
    ours = by_id(suite_for_judge(suite, GPT))
    assert "GPT" in " ".join(ours["p0.self-edited"])
    assert "GPT" not in " ".join(ours["p0.self-placebo"])
    assert "{family}" not in str(ours)
    fitted = suite_for_judge(suite, GPT)
    assert suite_for_judge(fitted, GPT).items == fitted.items
    # Of a function no model is known.
    function = replace(GPT, provider="callable", model="m:f")
    without = suite_for_judge(suite, function)
    assert {item.condition["probe"] for item in without.items} == {"none"}
    assert 'family = "NAME"' in lint_items(without)[0].line
    (tmp_path / "named").mkdir()
    named = loaded(tmp_path / "named", only("self") + 'family = "Ours"\n')
    assert "Ours" in " ".join(by_id(suite_for_judge(named, function))["p0.self-edited"])


def test_single_outputs_are_edited_in_their_field_and_settle_nothing(tmp_path: Path) -> None:
    suite = loaded(tmp_path, GRADED)
    assert [i.id for i in suite.items if i.cluster == "o0"] == [
        "o0.unedited",
        *(f"o0.injection-{version}" for version in ("edited", "placebo", "control")),
        *(f"o0.verbosity-{version}" for version in ("edited", "control")),
    ]
    texts = {item.id: item.fields["output"] for item in suite.items}
    variant = EDITS.by_name["injection"].variant_of("o0")
    assert texts["o0.injection-edited"] == f"Text 0.\n\n{variant.edited.append}"
    assert texts["o0.injection-control"] == f"Text 0.\n\n{variant.control.append}"
    assert len(plan_trials(suite)) == 6 * 7


def test_of_a_conversation_the_last_answer_is_edited(tmp_path: Path) -> None:
    """An edit is made within what the assistant says, and cannot make a message of its own."""
    chat = [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": "In Lyon."}]
    line = json.dumps({"id": "o0", "output": chat})
    (tmp_path / "chats.jsonl").write_text(line, encoding="utf-8")
    declared = GRADED.replace('"outputs.jsonl"', '"chats.jsonl"\nmessages = ["output"]')
    suite = loaded(tmp_path, declared)
    texts = {item.id: messages_in(item.fields["output"]) or () for item in suite.items}
    variant = EDITS.by_name["injection"].variant_of("o0")
    assert texts["o0.unedited"] == (Message("user", "Where?"), Message("assistant", "In Lyon."))
    assert texts["o0.injection-edited"] == (
        Message("user", "Where?"),
        Message("assistant", f"In Lyon.\n\n{variant.edited.append}"),
    )


def test_edits_of_ones_own_take_the_place_of_ours_and_change_the_digest(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    text = """
schema = "judgesense/edits/1"
[[probes]]
name = "smiles"
[[probes.variants]]
edited.append = ":-)"
placebo.append = ":-|"
control.append = "All wrong."
"""
    own.write_text(text, encoding="utf-8")
    suite = loaded(tmp_path, PROBE + 'edits = "own.toml"\n')
    assert {i.condition["probe"] for i in suite.items} == {"none", "smiles", "names"}
    assert by_id(suite)["p0.smiles-edited"][0].endswith("\n\n:-)")
    assert own.resolve() in suite.files
    again = tmp_path / "again"
    again.mkdir()
    (again / "own.toml").write_text(text.replace(":-)", ":-D"), encoding="utf-8")
    assert loaded(again, PROBE + 'edits = "own.toml"\n').digest != suite.digest


PAIR_SPACE = '[space]\nlabels = ["A", "B"]\npairwise = true\n'


@pytest.mark.parametrize(
    ("text", "error", "problem"),
    [
        (only("injektion"), UsageError, "injection"),
        (only("names"), SuiteError, r"\{\{name_a\}\} and \{\{name_b\}\}"),
        (PROBE + 'edits = "none.toml"\n', SuiteError, "none.toml"),
        (PROBE + 'favourable = "A"\n', SuiteError, "are for single outputs"),
        (PROBE + "steps = 'quarter'\n", SuiteError, "steps belongs to suites of the kind"),
        (PROBE + NAMED.replace('"1", ', ""), SuiteError, "1 is missing"),
        (GRADED + "[[x]]", SuiteError, "no such key"),
        (GRADED.replace("ordinal = true\n", ""), SuiteError, "which label is good to get"),
        (GRADED.replace("[stimuli]", '[stimuli]\nfavourable = "3"'), SuiteError, "are a scale"),
        (GRADED.replace("{{output}}", "{{id}} {{output}}"), SuiteError, "which text is edited"),
        (GRADED.replace("[stimuli]", '[stimuli]\nedited = "text"'), UsageError, "output"),
        (GRADED.replace('"verbosity"', '"names"'), SuiteError, "which has no slot"),
        (GRADED.replace("[[templates]]", '[[templates]]\npolarity = "inverted"'), SuiteError,
         "asks in one way"),
        (GRADED.replace("[space]", '[space]\ncriteria = ["tone"]'), SuiteError, "one verdict"),
    ],
)  # fmt: skip
def test_what_cannot_be_probed_is_refused_with_what_to_write(
    tmp_path: Path, text: str, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        loaded(tmp_path, text)


def test_an_id_that_probes_make_of_another_is_named(tmp_path: Path) -> None:
    write_pairs(tmp_path)
    with (tmp_path / "pairs.csv").open("a", encoding="utf-8") as file:
        file.write("p1.unedited,Q?,Good.,Poor.,1\n")
    path = tmp_path / "mine.suite.toml"
    path.write_text(PROBE, encoding="utf-8")
    with pytest.raises(SuiteError, match=r"the id p1\.unedited, which probes make of others"):
        load_suite(path)


def test_the_keys_of_probes_belong_to_no_other_kind(tmp_path: Path) -> None:
    text = PROBE.replace('kind = "probe"', 'kind = "paraphrase"') + "probes = ['injection']\n"
    text = text.replace('from = "pairs.suite.toml"', 'file = "pairs.csv"') + PAIR_SPACE
    text += '[[templates]]\nid = "t1"\ntext = "{{a}} {{b}}"\n'
    with pytest.raises(SuiteError, match="probes belongs to suites of the kind probe"):
        loaded(tmp_path, text)


def test_a_preset_may_name_the_probes(tmp_path: Path) -> None:
    loaded(tmp_path, PROBE + "[presets.quick]\nprobes = ['injection']\nitems = 2\n")
    quick = load_suite(tmp_path / "mine.suite.toml", "quick")
    assert {item.condition["probe"] for item in quick.items} == {"none", "injection"}
    assert {item.cluster for item in quick.items} == {"p0", "p1"}
