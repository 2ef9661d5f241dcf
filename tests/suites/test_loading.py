from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.suites.suite import Suite
from tests.suites.known import load_suite, presets_of

from .files import CONTENT, ITEMS, LADDER, PAIRS, PAIRWISE, ladder_task, write_suite

Load = Callable[..., Suite]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    folders = (tmp_path / str(number) for number in count())

    def loaded(toml: str = CONTENT, rows: Any = ITEMS, preset: str | None = None) -> Suite:
        # A suite file is read once in a process: every one gets a place of its own.
        folder = next(folders)
        folder.mkdir()
        return load_suite(write_suite(folder, toml, rows), preset)

    return loaded


def test_a_suite_file_becomes_a_suite(load: Load) -> None:
    suite = load()
    assert (suite.name, suite.base, suite.kind) == ("tiny", "tiny", "paraphrase")
    assert suite.system == "Answer with the label alone."
    assert suite.space.labels == ("YES", "NO")
    assert [item.id for item in suite.items] == ["one", "two", "three"]
    assert [item.label for item in suite.items] == ["YES", "NO", "YES"]
    assert [template.id for template in suite.templates] == ["t1", "t2"]


def test_what_is_left_out_has_the_documented_defaults(load: Load) -> None:
    suite = load()
    assert (suite.pairs, suite.replicates, suite.checks, suite.judges) == ("ring", 1, (), ())
    assert not suite.space.tie
    assert not suite.space.abstain


def test_a_suite_without_candidates_has_one_order(load: Load) -> None:
    # orders = "both" is the default of the design, and there is nothing to exchange.
    assert load().orders == "ab"
    assert load(PAIRWISE, PAIRS).orders == "both"


def test_the_blank_lines_around_a_template_do_not_reach_the_judge(load: Load) -> None:
    toml = CONTENT.replace('"Is this right? {{text}}"', '"""\n\nIs it? {{text}}\n\n"""')
    assert load(toml).templates[0].text == "Is it? {{text}}"


def test_stimuli_are_found_beside_the_suite_file_and_not_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_suite(tmp_path, CONTENT, ITEMS)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert len(load_suite(Path("..") / path.name).items) == 3


def test_blank_lines_among_the_stimuli_are_passed_over(load: Load) -> None:
    assert len(load(rows=[ITEMS[0], "", "   ", ITEMS[1]]).items) == 2


def test_a_line_separator_inside_a_text_does_not_end_the_line(load: Load) -> None:
    # U+2028 is legal inside a JSON string, and str.splitlines() would cut there.
    row = '{"id": "one", "text": "first\u2028second", "label": "YES"}'
    assert load(rows=[row]).items[0].fields["text"] == "first\u2028second"


def test_inverted_and_optional_templates_stay_out_until_a_preset_asks_for_them(load: Load) -> None:
    toml = (
        CONTENT
        + '[[templates]]\nid = "t3"\npolarity = "inverted"\ndefault = false\n'
        + 'text = "Wrong? {{text}}"\n[presets.inverted]\ntemplates = "all"\n'
        + '[presets.two]\ntemplates = ["t3", "t1"]\n'
    )
    assert [t.id for t in load(toml).templates] == ["t1", "t2"]
    assert [t.polarity for t in load(toml, preset="inverted").templates] == [
        "normal",
        "normal",
        "inverted",
    ]
    # In the order of the file, which is the order of the trials.
    assert [t.id for t in load(toml, preset="two").templates] == ["t1", "t3"]


PRESETS = """
[design]
pairs = "ring"
orders = "both"
replicates = 2
[presets.short]
items = 2
orders = "balanced"
pairs = "all"
replicates = 3
[presets.same]
"""


def test_a_preset_changes_what_it_names_and_nothing_else(load: Load) -> None:
    short, same, plain = (load(PAIRWISE + PRESETS, PAIRS, p) for p in ("short", "same", None))
    assert [item.id for item in short.items] == ["p1", "p2"]
    assert (short.orders, short.pairs, short.replicates) == ("balanced", "all", 3)
    assert (same.orders, same.pairs, same.replicates) == ("both", "ring", 2)
    assert same.items == plain.items


def test_a_preset_has_a_name_of_its_own_and_the_base_of_its_suite(load: Load) -> None:
    suite = load(PAIRWISE + PRESETS, PAIRS, "short")
    assert (suite.name, suite.base) == ("pairs@short", "pairs")


def test_items_of_a_ladder_preset_count_tasks(load: Load) -> None:
    toml = LADDER + "[presets.one]\nitems = 1\n"
    rows = [ladder_task(), ladder_task("other")]
    # 26 pairs a task (see test_stimuli).
    assert len(load(toml, rows).items) == 52
    assert len(load(toml, rows, "one").items) == 26


def test_of_each_keeps_the_middle_of_every_distance_and_subset_of_a_task(load: Load) -> None:
    toml = LADDER + "[presets.one]\nof_each = 1\n[presets.two]\nof_each = 2\n"
    # Pairs at distance 1 to 5: 5, 4, 3, 2, 1; 6 rewordings, 3 alternatives, 2 fillers.
    one = [item.id for item in load(toml, [ladder_task()], "one").items]
    pairs = ["d1-23", "d2-13", "d3-14", "d4-04", "d5-05", "same-2", "diff-2", "filler-1"]
    assert one == [f"note-{pair}" for pair in pairs]
    two = load(toml, [ladder_task(), ladder_task("other")], "two").items
    assert len(two) == 2 * (4 * 2 + 1 + 3 * 2)  # of distance 5 there is one
    # The better text of a pair is the first in one task and the second in the other.
    labels = {item.id: item.label for item in two if item.condition["distance"]}
    of_note = [id_ for id_ in labels if id_.startswith("note-")]
    assert all(labels[id_] != labels[id_.replace("note", "other")] for id_ in of_note)


def test_presets_are_listed_in_the_order_of_the_file(tmp_path: Path) -> None:
    assert presets_of(write_suite(tmp_path, PAIRWISE + PRESETS, PAIRS)) == ("short", "same")


def test_an_unknown_preset_lists_those_that_are_there(load: Load) -> None:
    with pytest.raises(UsageError, match="one of: same, short"):
        load(PAIRWISE + PRESETS, PAIRS, "shrt")


def test_an_unknown_template_of_a_preset_lists_those_that_are_there(load: Load) -> None:
    with pytest.raises(UsageError, match="one of: t1, t2"):
        load(CONTENT + '[presets.x]\ntemplates = ["t9"]\n', preset="x")


def test_checks_are_declared_with_their_lines(load: Load) -> None:
    toml = CONTENT + "[checks]\njss_floor = 0.9\nflip_rate_bound = { bar = 0.1, distance = 1 }\n"
    lines = toml.splitlines()
    checks = load(toml).checks
    assert [(c.name, dict(c.arguments)) for c in checks] == [
        ("jss_floor", {"bar": 0.9}),
        ("flip_rate_bound", {"bar": 0.1, "distance": 1}),
    ]
    assert [c.line for c in checks] == [
        lines.index("jss_floor = 0.9") + 1,
        lines.index("flip_rate_bound = { bar = 0.1, distance = 1 }") + 1,
    ]


def test_one_check_may_stand_several_times_in_a_list(load: Load) -> None:
    checks = load(CONTENT + "[checks]\njss_floor = [0.8, { bar = 0.9 }]\n").checks
    assert [(c.name, c.arguments["bar"]) for c in checks] == [
        ("jss_floor", 0.8),
        ("jss_floor", 0.9),
    ]


@pytest.mark.parametrize("value", ["true", '"high"'])
def test_a_check_without_a_bar_is_an_error(load: Load, value: str) -> None:
    with pytest.raises(SuiteError, match=r"check jss_floor .* has no bar"):
        load(CONTENT + f"[checks]\njss_floor = {value}\n")


# A digest says whether two runs asked the same and counted it the same way.
@pytest.mark.parametrize(
    "addition",
    ["[checks]\njss_floor = 0.5\n", "[presets.short]\nitems = 1\n"],
)
def test_bars_and_presets_do_not_change_the_digest(load: Load, addition: str) -> None:
    assert load(CONTENT + addition).digest == load().digest


def test_judges_and_description_do_not_change_the_digest(load: Load) -> None:
    head = 'description = "About."\njudges = ["embedded:clean"]\n'
    assert load(head + CONTENT).digest == load().digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Is this right?", "Is this so?"),
        ("Answer with the label alone.", "Answer."),
        ("[space]", "[design]\nreplicates = 2\n[space]"),
        ("[space]", '[design]\npairs = "all"\n[space]'),
    ],
)
def test_whatever_is_asked_or_counted_changes_the_digest(load: Load, old: str, new: str) -> None:
    assert load(CONTENT.replace(old, new)).digest != load().digest


def test_stimuli_and_the_chosen_preset_change_the_digest(load: Load) -> None:
    assert load(rows=ITEMS[:2]).digest != load().digest
    toml = CONTENT + "[presets.short]\nitems = 1\n"
    assert load(toml, preset="short").digest != load(toml).digest


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"gone\.suite\.toml cannot be read"):
        load_suite(tmp_path / "gone.suite.toml")


def test_toml_that_cannot_be_read_is_named_with_its_place(load: Load) -> None:
    with pytest.raises(SuiteError, match="line 2"):
        load('schema = "judgesense/suite/1"\nname = \n')


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    path = write_suite(tmp_path, CONTENT, ITEMS)
    path.write_bytes('name = "caf\u00e9"'.encode("latin-1"))
    with pytest.raises(SuiteError, match="expected: a TOML file in UTF-8"):
        load_suite(path)


def test_stimuli_that_are_not_there_are_named(tmp_path: Path) -> None:
    path = write_suite(tmp_path, CONTENT.replace("items.jsonl", "gone.jsonl"), ITEMS)
    with pytest.raises(SuiteError, match=r"gone\.jsonl"):
        load_suite(path)


def test_a_line_that_is_not_json_is_named_by_its_number(load: Load) -> None:
    with pytest.raises(SuiteError, match=r"items\.jsonl:2 is not JSON"):
        load(rows=[ITEMS[0], '{"id": '])


def test_a_file_without_items_is_an_error(load: Load) -> None:
    with pytest.raises(SuiteError, match="holds no items"):
        load(rows=[])


def test_distances_that_no_pair_has_are_an_error(load: Load) -> None:
    toml = LADDER.replace("[[templates]]", "distances = [7]\n[[templates]]")
    with pytest.raises(SuiteError, match="has no items"):
        load(toml, [ladder_task()])


def test_a_repeated_id_names_both_lines(load: Load) -> None:
    with pytest.raises(
        SuiteError, match=r"items\.jsonl:3 .*\n.*:3, key id: 'one', which line 1 has"
    ):
        load(rows=[ITEMS[0], ITEMS[1], ITEMS[0]])


def test_a_label_outside_the_decision_space_is_an_error(load: Load) -> None:
    with pytest.raises(SuiteError, match=r"item one .*\n.*'MAYBE'\n.*YES, NO"):
        load(rows=[{"id": "one", "text": "x", "label": "MAYBE"}])


@pytest.mark.parametrize("value", [None, 5, ["x"], {"y": "z"}, True])
def test_a_field_that_is_no_text_is_an_error(load: Load, value: Any) -> None:
    # str(None) would put the word "None" before the judge.
    with pytest.raises(SuiteError, match=r"items\.jsonl:1, key text: .*\n.*input should be"):
        load(rows=[{"id": "one", "text": value, "label": "YES"}])


def test_the_type_of_a_value_with_parts_is_named(load: Load) -> None:
    with pytest.raises(SuiteError) as caught:
        load(rows=[{"id": "one", "text": {"title": "Lamp"}, "label": "YES"}])
    assert 'key text: an object: {"title": "Lamp"}' in caught.value.found
    assert "json.dumps" in caught.value.remedy


@pytest.mark.parametrize("secret", ["label", "id", "difficulty", "cluster"])
def test_a_template_cannot_ask_for_what_the_judge_must_not_see(load: Load, secret: str) -> None:
    # The judge sees what is to be judged, and nothing that says how.
    rows = [{"id": "i", "text": "x", "label": "YES", "difficulty": "easy", "cluster": "c"}]
    with pytest.raises(SuiteError, match=f"found:    {{{{{secret}}}}}"):
        load(CONTENT.replace("right? {{text}}", f"right? {{{{{secret}}}}} {{{{text}}}}"), rows)


def test_a_field_that_one_item_lacks_is_named_with_the_item(load: Load) -> None:
    rows = [ITEMS[0], {"id": "bare", "body": "x", "label": "NO"}]
    with pytest.raises(
        SuiteError, match=r"item bare does not have\n.*\{\{text\}\}\n.*one of: body"
    ):
        load(rows=rows)


@pytest.mark.parametrize("shown", ["{{a}}", "{{b}}", ""])
def test_a_pairwise_template_shows_both_candidates(load: Load, shown: str) -> None:
    with pytest.raises(SuiteError, match="template t1 of suite pairs does not show both"):
        load(PAIRWISE.replace("{{a}} {{b}}", shown), PAIRS)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('name = "tiny"', 'name = "tiny"\ncolour = "red"', "colour"),
        ('name = "tiny"', 'name = "../tiny"', "name"),
        ('schema = "judgesense/suite/1"', 'schema = "judgesense/suite/2"', "schema"),
        ('kind = "paraphrase"', 'kind = "essay"', "kind"),
        ('labels = ["YES", "NO"]', 'labels = ["YES"]', "labels"),
        ('labels = ["YES", "NO"]', 'labels = ["YES", "YES"]', "labels must be unique"),
        ('labels = ["YES", "NO"]', 'labels = ["lo", "hi"]\nordinal = true', "whole numbers"),
        ('labels = ["YES", "NO"]', 'labels = ["²", "³"]\nordinal = true', "whole numbers"),
        ('labels = ["YES", "NO"]', 'labels = ["1", "--2"]\nordinal = true', "whole numbers"),
        (
            'labels = ["YES", "NO"]',
            f'labels = ["1", "{"9" * 5_000}"]\nordinal = true',
            "18 digits",
        ),
        ('labels = ["YES", "NO"]', 'labels = ["1", "2"]\npairwise = true', "pairwise space"),
        ('id = "t2"', 'id = "t1"', "template ids must be unique"),
        ('id = "t2"', 'id = "t 2"', "templates.1.id"),
        ("[space]", "[design]\nreplicates = 0\n[space]", "design.replicates"),
        ("[space]", '[design]\norders = "ba"\n[space]', "design.orders"),
        ('kind = "paraphrase"', 'kind = "vacuum"', "pairwise = true"),
        ('kind = "paraphrase"', 'kind = "criterion"', 'arm = "strict"'),
    ],
)
def test_a_wrong_key_or_value_is_an_error_that_names_it(
    load: Load, old: str, new: str, place: str
) -> None:
    assert old in CONTENT
    with pytest.raises(SuiteError) as caught:
        load(CONTENT.replace(old, new))
    assert "is not of the form judgesense/suite/1" in caught.value.what
    assert place in caught.value.found


@pytest.mark.parametrize(
    ("old", "new", "meant", "table"),
    [
        ("[space]", "[design]\nreplicate = 2\n[space]", "replicates", "[design]"),
        ("[space]", "[space]\npair_wise = true", "pairwise", "[space]"),
        ("[stimuli]", "[stimuli]\ncolumn = {}", "columns", "[stimuli]"),
        ('id = "t2"', 'id = "t2"\npolarities = "inverted"', "polarity", "[templates]"),
        ("[space]", "[presets.quick]\nitem = 3\n[space]", "items", "[presets.quick]"),
        ('name = "tiny"', 'name = "tiny"\ndescripton = "x"', "description", "the file"),
    ],
)
def test_a_mistyped_key_of_a_suite_gets_the_one_that_is_meant(
    load: Load, old: str, new: str, meant: str, table: str
) -> None:
    assert old in CONTENT
    with pytest.raises(SuiteError) as caught:
        load(CONTENT.replace(old, new, 1))
    assert f"did you mean {meant!r}?" in caught.value.remedy
    assert caught.value.expected.startswith(f"the keys of {table}: ")
    assert "no such key" in caught.value.found


def test_of_many_mistyped_keys_ten_are_shown(load: Load) -> None:
    keys = "".join(f"mistyped{number} = 1\n" for number in range(1000))
    with pytest.raises(SuiteError) as caught:
        load(keys + CONTENT)
    assert caught.value.found.count("no such key") == 10
    assert caught.value.found.endswith("; and 990 more")


def test_a_mistyped_key_of_a_line_gets_the_one_that_is_meant(load: Load) -> None:
    with pytest.raises(SuiteError, match=r"items\.jsonl:2 is not of the form") as caught:
        load(PAIRWISE, [PAIRS[0], {**PAIRS[1], "lable": "1"}])
    assert "did you mean 'label'?" in caught.value.expected
    assert "docs/" not in caught.value.expected + caught.value.remedy


@pytest.mark.parametrize(
    "change",
    [{"texts": ["one"]}, {"label": "3"}, {"task": None}, {"colour": "red"}, {"id": "a/b"}],
)
def test_a_wrong_line_is_an_error_that_names_file_and_line(
    load: Load, change: dict[str, Any]
) -> None:
    with pytest.raises(SuiteError, match=r"items\.jsonl:2 is not of the form") as caught:
        load(PAIRWISE, [PAIRS[0], {**PAIRS[1], **change}])
    assert next(iter(change)) in caught.value.found


@pytest.mark.parametrize("line", [None, 3, [1]])
def test_a_line_that_is_no_object_is_shown_as_a_whole(load: Load, line: Any) -> None:
    with pytest.raises(SuiteError, match=r"items\.jsonl:2 is not an object") as caught:
        load(PAIRWISE, [PAIRS[0], line])
    assert caught.value.found == json.dumps(line)
    assert caught.value.expected.startswith("an object with a key for each column")
    assert caught.value.remedy == "fix it, or leave it out"


@pytest.mark.parametrize("key", ["elements", "levels", "rewordings"])
def test_a_ladder_task_has_five_elements_and_six_levels(load: Load, key: str) -> None:
    task = ladder_task()
    with pytest.raises(SuiteError, match=key):
        load(LADDER, [{**task, key: task[key][:-1]}])
