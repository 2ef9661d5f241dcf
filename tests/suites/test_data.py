"""The built-in suites as data: what section B of the issue promises, counted from the files."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import pytest

from pytest_judgesense.judges.prompts import render_messages
from pytest_judgesense.judges.simulated.evidence import sentences
from pytest_judgesense.judges.simulated.parsing import written
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.rules import prompts_of
from pytest_judgesense.suites.shortcuts import in_one_alone
from pytest_judgesense.suites.suite import Suite, Template, template_pairs
from pytest_judgesense.trial import Trial
from tests.suites.known import builtin_suites, load_suite, presets_of

PARAPHRASE = ("coherence", "factuality", "preference", "relevance")
PAIRWISE = ("preference", "relevance")
EVERY = [
    (name, preset)
    for name, path in builtin_suites().items()
    for preset in (None, *presets_of(path))
]


# With 60 transcripts of up to 16,000 tokens; in the gate a preset stands for them.
BY_TEXT = [
    pytest.param(*place, marks=[pytest.mark.long] * (place == ("depth", None))) for place in EVERY
]


def _suite(name: str, preset: str | None = None) -> Suite:
    return load_suite(builtin_suites()[name], preset)


def _lines(name: str, file: str = "items.jsonl") -> list[dict[str, Any]]:
    text = (builtin_suites()[name].parent / file).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


TASKS = _lines("ladder", "tasks.jsonl")


def _paraphrase_pairs(suite: Suite) -> int:
    """Template pairs on one item."""
    templates = [template.id for template in suite.templates]
    return len(suite.items) * len(template_pairs(templates, suite.pairs))


def _words(text: str) -> int:
    return len(text.split())


# --- paraphrase suites -----------------------------------------------------------------------


@pytest.mark.parametrize("name", PARAPHRASE)
def test_a_paraphrase_suite_has_forty_items_and_five_templates(name: str) -> None:
    suite = _suite(name)
    assert len(suite.items) == 40
    assert [template.id for template in suite.templates] == ["t1", "t2", "t3", "t4", "t5"]
    assert {template.polarity for template in suite.templates} == {"normal"}


# The ring of 5 templates gives 5 pairs an item, all combinations 10; 40 items: 200 and 400.
@pytest.mark.parametrize("name", PARAPHRASE)
@pytest.mark.parametrize(("preset", "pairs"), [(None, 200), ("all-pairs", 400)])
def test_the_number_of_paraphrase_pairs(name: str, preset: str | None, pairs: int) -> None:
    assert _paraphrase_pairs(_suite(name, preset)) == pairs


@pytest.mark.parametrize("name", PARAPHRASE)
def test_the_published_preset_has_25_items_in_one_order_and_125_pairs(name: str) -> None:
    suite = _suite(name, "published")
    trials = plan_trials(suite)
    assert len(suite.items) == 25
    assert len(trials) == 125  # 25 items x 5 templates, each asked once
    assert len({(t.item, t.order) for t in trials}) == 25
    assert _paraphrase_pairs(suite) == 125  # 25 items x the ring of 5


@pytest.mark.parametrize("name", PARAPHRASE)
@pytest.mark.parametrize("preset", [None, "all-pairs"])
def test_every_item_and_template_is_asked_once_in_each_order(name: str, preset: str | None) -> None:
    orders = 2 if name in PAIRWISE else 1
    asked = Counter((t.item, t.template) for t in plan_trials(_suite(name, preset)))
    assert len(asked) == 40 * 5
    assert set(asked.values()) == {orders}


@pytest.mark.parametrize("preset", [None, "published"])
def test_half_of_the_statements_are_supported(preset: str | None) -> None:
    labels = Counter(item.label for item in _suite("factuality", preset).items)
    assert set(labels) == {"YES", "NO"}
    assert abs(labels["YES"] - labels["NO"]) <= 1  # 25 items are odd


@pytest.mark.parametrize(("preset", "each"), [(None, 8), ("published", 5)])
def test_each_level_of_coherence_stands_equally_often(preset: str | None, each: int) -> None:
    labels = Counter(item.label for item in _suite("coherence", preset).items)
    assert labels == dict.fromkeys(["1", "2", "3", "4", "5"], each)


def _better_slot(trial: Trial) -> str:
    return "A" if (trial.label == "1") == (trial.order == "ab") else "B"


@pytest.mark.parametrize("name", PAIRWISE)
@pytest.mark.parametrize("order", ["ab", "ba"])
def test_the_better_option_is_in_slot_a_for_half_of_the_items(name: str, order: str) -> None:
    trials = plan_trials(_suite(name))
    shown = {t.item: _better_slot(t) for t in trials if t.order == order}
    slots = Counter(shown.values())
    assert abs(slots["A"] - slots["B"]) <= len(shown) % 2


@pytest.mark.parametrize("name", PAIRWISE)
def test_in_the_published_order_slot_and_content_are_told_apart(name: str) -> None:
    shown = {t.item: t for t in plan_trials(_suite(name, "published"))}.values()
    # What is under a quarter is flagged.
    for share in (
        sum(trial.order == "ab" for trial in shown) / len(shown),
        sum(_better_slot(trial) == "A" for trial in shown) / len(shown),
    ):
        assert 0.25 <= share <= 0.75


@pytest.mark.parametrize("name", PARAPHRASE)
@pytest.mark.parametrize("count", [40, 25])
def test_items_spread_over_difficulty_and_no_difficulty_gives_the_label_away(
    name: str, count: int
) -> None:
    lines = _lines(name)[:count]
    difficulty = Counter(line["difficulty"] for line in lines)
    assert set(difficulty) == {"easy", "medium", "hard"}
    assert min(difficulty.values()) >= count // 5
    for level in difficulty:
        labels = Counter(line["label"] for line in lines if line["difficulty"] == level)
        assert len(labels) >= 2
        assert max(labels.values()) - min(labels.values()) <= 3


@pytest.mark.parametrize("name", PARAPHRASE)
def test_the_stimuli_are_all_different(name: str) -> None:
    shown = [json.dumps([dict(i.fields), sorted(i.contents)]) for i in _suite(name).items]
    assert len(set(shown)) == len(shown)


@pytest.mark.parametrize("name", PARAPHRASE)
@pytest.mark.parametrize("preset", [None, "same-format"])
def test_templates_of_a_suite_show_the_same(name: str, preset: str | None) -> None:
    suite = _suite(name, preset)
    blocks = [re.findall(r"<(\w+)>\n({{\w+}})\n</\1>", t.text) for t in suite.templates]
    assert blocks[0]
    assert all(sorted(found) == sorted(blocks[0]) for found in blocks)
    assert len({template.text for template in suite.templates}) == len(suite.templates)


@pytest.mark.parametrize("name", PARAPHRASE)
def test_wordings_of_one_format_differ_in_the_instruction_alone(name: str) -> None:
    texts = [template.text for template in _suite(name, "same-format").templates]
    assert len({text.splitlines()[-1] for text in texts}) == 1, "one demand of a form"
    assert len({text.split("\n\n")[0] for text in texts}) == 1, "the parts stand in one order"
    for text in texts:
        assert not re.search(
            r"step by step|think|reason|explain|json|you are|imagine|act as|pretend",
            text.replace("makes sense", "").replace("line of thought", ""),
            re.IGNORECASE,
        )


@pytest.mark.parametrize("name", PARAPHRASE)
def test_wordings_vary_in_form_and_order_as_those_of_the_paper(name: str) -> None:
    # JudgeSense: templates differ in wording, format demand and stated anchors.
    texts = [template.text for template in _suite(name).templates]
    forms = {(written("1", text) or "bare").replace("1", "X") for text in texts}
    assert len(forms) >= 4  # JSON, double brackets, behind "Verdict:", the label alone
    assert len({re.search(r"<(\w+)>", text).start() < 5 for text in texts}) == 2  # type: ignore[union-attr]
    assert not any(re.search(r"you are|imagine|act as|pretend", t, re.IGNORECASE) for t in texts)


def test_the_inverted_template_is_there_on_request_only() -> None:
    assert "t6" not in {template.id for template in _suite("factuality").templates}
    asked = {
        template.id: template.polarity for template in _suite("factuality", "inverted").templates
    }
    assert asked == dict.fromkeys(["t1", "t2", "t3", "t4", "t5"], "normal") | {"t6": "inverted"}
    assert len(plan_trials(_suite("factuality", "inverted"))) == 240  # 40 items x 6 templates


# --- vacuum ----------------------------------------------------------------------------------


def test_the_vacuum_has_sixty_pairs_and_120_calls_in_both_orders() -> None:
    suite = _suite("vacuum")
    trials = plan_trials(suite)
    assert len(suite.items) == 60
    assert Counter(trial.order for trial in trials) == {"ab": 60, "ba": 60}
    assert suite.space.tie


def test_there_is_nothing_to_judge_in_the_vacuum() -> None:
    kinds: Counter[str] = Counter()
    for item in _suite("vacuum").items:
        a, b = item.contents
        kind = str(item.condition["category"])
        kinds[kind] += 1
        assert item.label is None
        # The difference carries nothing, and makes the two orders two requests.
        assert a.split() == b.split()
        assert a != b
        if kind == "empty":
            assert "" in (a, b)
        elif kind == "whitespace":
            assert a.isspace()
            assert b.isspace()
        else:
            assert kind == "identical"
            assert a.strip()
    assert (
        len(
            {
                prompt
                for _, by_order in prompts_of(_suite("vacuum"))
                for by_template in by_order.values()
                for prompt in by_template.values()
            }
        )
        == 120
    )
    assert set(kinds) == {"empty", "whitespace", "identical"}
    assert min(kinds.values()) >= 10


# --- ladder ----------------------------------------------------------------------------------


# Judge Datasheet (2606.15610): 10 tasks give 50, 40, 30, 20, 10 pairs at distance 1 to 5 and 60
# same-subset pairs; 3 different-subset pairs and 2 fillers a task. Both orders: 2 x 260 calls.
@pytest.mark.parametrize(("preset", "tasks", "calls"), [(None, 20, 1040), ("published", 10, 520)])
def test_the_ladder_has_the_published_number_of_pairs(
    preset: str | None, tasks: int, calls: int
) -> None:
    suite = _suite("ladder", preset)
    counts = Counter((i.condition["distance"], i.condition["subset"]) for i in suite.items)
    each = {(d, "same"): 6 - d for d in range(1, 6)}
    each |= {(0, "same"): 6, (0, "different"): 3, (0, "filler"): 2}
    assert counts == {kind: number * tasks for kind, number in each.items()}
    trials = plan_trials(suite)
    assert len(trials) == calls
    assert Counter(t.order for t in trials) == {"ab": calls // 2, "ba": calls // 2}
    assert len({t.cluster for t in trials}) == tasks
    assert suite.space.tie


@pytest.mark.parametrize("preset", [None, "published"])
def test_the_better_candidate_of_a_ladder_pair_is_content_one_for_half_at_every_distance(
    preset: str | None,
) -> None:
    items = _suite("ladder", preset).items
    for distance in range(1, 6):
        labels = Counter(i.label for i in items if i.condition["distance"] == distance)
        assert labels["1"] == labels["2"]


def _added(task: dict[str, Any], kind: str) -> list[str]:
    """The sentence that each level has and no level below: its required element."""
    seen = set(sentences(task[kind][0]))
    added = []
    for text in task[kind][1:]:
        new = set(sentences(text)) - seen
        assert len(new) == 1, f"{task['id']}: one sentence more than all levels below, not {new}"
        added += new
        seen |= new
    return added


@pytest.mark.parametrize("kind", ["levels", "rewordings"])
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task["id"])
def test_a_higher_level_contains_every_element_sentence_of_a_lower_one(
    task: dict[str, Any], kind: str
) -> None:
    added = _added(task, kind)
    for level, text in enumerate(task[kind]):
        held = sentences(text)
        assert [sentence for sentence in held if sentence in added] == added[:level]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task["id"])
def test_a_rewording_shares_no_sentence_with_its_level(task: dict[str, Any]) -> None:
    for level, reworded in zip(task["levels"], task["rewordings"], strict=True):
        assert set(sentences(level)).isdisjoint(sentences(reworded))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task["id"])
def test_an_alternative_states_other_elements_than_its_level(task: dict[str, Any]) -> None:
    added = _added(task, "levels")
    for other in task["alternatives"]:
        held = sentences(other["text"])
        assert [i for i, one in enumerate(added, start=1) if one in held] == other["elements"]
        assert other["elements"] != list(range(1, len(other["elements"]) + 1))
        assert 1 <= len(other["elements"]) <= 4


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task["id"])
def test_a_rewording_states_the_same_facts_and_a_filler_too_at_greater_length(
    task: dict[str, Any],
) -> None:
    for level, reworded in zip(task["levels"], task["rewordings"], strict=True):
        assert in_one_alone(level, reworded) == []
    for filler in task["fillers"]:
        plain = task["levels"][filler["level"]]
        assert in_one_alone(plain, filler["text"]) == []
        # By at least a quarter and at most as much again, so that it is padding and no other text.
        assert 1.25 <= _words(filler["text"]) / _words(plain) <= 2


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task["id"])
def test_texts_of_a_task_have_lengths_within_ten_percent(task: dict[str, Any]) -> None:
    texts = [*task["levels"], *task["rewordings"]]
    texts += [other["text"] for other in task["alternatives"]]
    lengths = [_words(text) for text in texts]
    assert max(lengths) <= 1.1 * min(lengths)


def test_no_two_tasks_of_the_ladder_are_alike() -> None:
    for one, other in combinations(TASKS, 2):
        assert one["task"] != other["task"]
        assert set(one["elements"]) != set(other["elements"])


# --- ladder-fine -----------------------------------------------------------------------------

FINE = _lines("ladder-fine", "tasks.jsonl")


def test_the_fine_ladder_has_ten_tasks_two_pairs_a_distance_and_both_orders() -> None:
    # 10 tasks x 2 pairs x 3 distances x 2 orders.
    suite = _suite("ladder-fine")
    counts = Counter(item.condition["distance"] for item in suite.items)
    assert counts == {0.25: 20, 0.5: 20, 0.75: 20}
    trials = plan_trials(suite)
    assert len(trials) == 120
    assert len({trial.cluster for trial in trials}) == 10


def test_the_fine_ladder_is_pooled_with_the_whole_steps_of_the_ladder() -> None:
    # 60 pairs in quarters and, of 20 tasks, 15 pairs at distance 1 to 5: the ladder's own trials.
    suite, ladder = _suite("ladder-fine", "pooled"), _suite("ladder")
    assert len(suite.items) == 60 + 300
    shared = {t.id for t in plan_trials(suite)} & {t.id for t in plan_trials(ladder)}
    assert len(shared) == 600
    assert {item.cluster for item in _suite("ladder-fine").items} <= {t["id"] for t in TASKS}


@pytest.mark.parametrize("task", FINE, ids=lambda task: task["id"])
def test_quarter_k_states_one_part_more_than_the_one_before_and_is_the_same_else(
    task: dict[str, Any],
) -> None:
    added = _added(task, "quarters")
    for k, text in enumerate(task["quarters"]):
        assert [one for one in added if one in sentences(text)] == added[:k]
    lengths = [_words(text) for text in task["quarters"]]
    assert max(lengths) <= 1.1 * min(lengths)


@pytest.mark.parametrize("task", FINE, ids=lambda task: task["id"])
def test_a_task_in_quarters_is_that_of_the_ladder_under_the_same_id(task: dict[str, Any]) -> None:
    whole = next(one for one in TASKS if one["id"] == task["id"])
    assert task["task"] == whole["task"]


# --- criterion -------------------------------------------------------------------------------


# 20 tasks x (6 + 5 + 1 pairs at distances 0, 1, 5) x 2 arms x 2 orders; 10 tasks in the preset.
@pytest.mark.parametrize(("preset", "calls"), [(None, 960), ("published", 480)])
def test_the_criterion_asks_the_same_pairs_under_both_prompts(
    preset: str | None, calls: int
) -> None:
    trials = plan_trials(_suite("criterion", preset))
    assert len(trials) == calls
    assert {t.condition["distance"] for t in trials} == {0, 1, 5}
    assert {t.condition["subset"] for t in trials} == {"same"}
    arms = {
        arm: {(t.item, t.order) for t in trials if t.condition["arm"] == arm}
        for arm in ("baseline", "strict")
    }
    assert arms["baseline"] == arms["strict"]


def test_the_baseline_arm_asks_what_the_ladder_asks() -> None:
    # Its trials are the ladder's: recorded once, they must be the same requests.
    criterion, ladder = _suite("criterion"), _suite("ladder")
    ladder_trials = {trial.id for trial in plan_trials(ladder)}
    shared = [t for t in plan_trials(criterion) if t.condition["arm"] == "baseline"]
    assert {trial.id for trial in shared} <= ladder_trials
    assert criterion.system == ladder.system
    assert criterion.templates[0].text == ladder.templates[0].text
    items = {item.id: item for item in ladder.items}
    assert all(items[item.id] == item for item in criterion.items)


def test_the_strict_prompt_names_what_is_no_difference() -> None:
    # Judge Datasheet (arXiv 2606.15610): only wording, style, fluency, length or surface.
    baseline, strict = _suite("criterion").templates
    words = ("wording", "style", "fluency", "length", "surface")
    assert all(word in strict.text for word in words)
    assert not any(word in baseline.text for word in words)


# --- what the judge sees ---------------------------------------------------------------------


def _rendered(suite: Suite, item: Item, order: str) -> list[str]:
    return [
        "\n".join(
            m["content"]
            for m in render_messages(
                suite,
                item,
                template,
                order,  # type: ignore[arg-type]
                content="1" if template.single else None,
            )
        )
        for template in suite.templates
    ]


def _numbers_of(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


@pytest.mark.parametrize(("name", "preset"), BY_TEXT)
def test_a_prompt_holds_the_texts_of_its_stimulus_and_nothing_else(
    name: str, preset: str | None
) -> None:
    # Word for word: the template's own, the system prompt's and the stimulus's; so there is no
    # room for a label, a level, an id or a pair id.
    suite = _suite(name, preset)

    def own(template: Template, names: tuple[tuple[str, str], ...]) -> Counter[str]:
        """The words of a prompt; what slots are called may be a part of one, as in a tag."""
        text = template.text
        for name, called in names:
            text = text.replace(f"{{{{{name}}}}}", called)
        text = re.sub(r"{{\w+}}", " ", text)
        return _numbers_of((template.system or suite.system) + "\n" + text)

    words_of = cache(own)
    for item in suite.items:
        for template, prompt in zip(suite.templates, _rendered(suite, item, "ab"), strict=True):
            shown = item.texts("ab", "1" if template.single else None)
            names = tuple((n, shown.pop(n)) for n in ("name_a", "name_b") if n in shown)
            words = words_of(template, names)
            if suite.kind == "temperature" and template.condition["judge_type"] != "reference":
                shown.pop("reference")
            stimulus = sum(map(_numbers_of, shown.values()), Counter[str]())
            assert _numbers_of(prompt) == words + stimulus


@pytest.mark.parametrize(("name", "preset"), EVERY)
def test_a_prompt_does_not_depend_on_label_id_cluster_or_condition(
    name: str, preset: str | None
) -> None:
    suite = _suite(name, preset)
    for item in suite.items:
        bare = replace(item, id="x", cluster="x", label=None, condition={})
        for order in ("ab", "ba"):
            assert _rendered(suite, item, order) == _rendered(suite, bare, order)


@pytest.mark.parametrize(("name", "preset"), EVERY)
def test_no_id_stands_in_any_prompt(name: str, preset: str | None) -> None:
    suite = _suite(name, preset)
    trials = {trial.item: trial.id for trial in plan_trials(suite)}
    for item in suite.items:
        for prompt in _rendered(suite, item, "ab"):
            assert item.id not in prompt
            assert trials[item.id] not in prompt


# The stimuli were written by hand: none may carry a mark of its rank.
RANKED = re.compile(
    r"\b(?:level|label|quality|gold|distance|subset|filler|pair|variant|rewording|score|item)"
    r"[ _-]?(?:id|no\.?)?[ _:#-]*\d|\b(?:vac|coh|fact|pref|rel)-\d",
    re.IGNORECASE,
)


@pytest.mark.parametrize(("name", "preset"), BY_TEXT)
def test_no_stimulus_carries_a_mark_of_its_rank(name: str, preset: str | None) -> None:
    for item in _suite(name, preset).items:
        for text in (*item.fields.values(), *item.contents):
            assert not RANKED.search(text), item.id


@pytest.mark.parametrize(("name", "preset"), EVERY)
def test_the_exchanged_order_shows_the_same_words_in_exchanged_slots(
    name: str, preset: str | None
) -> None:
    suite = _suite(name, preset)
    for item in suite.items:
        # Of texts that name their slot, as a forged reply does, those that this order shows.
        exchanged = replace(item, contents=item.contents_in("ba")[::-1], swapped=())
        both = zip(_rendered(suite, item, "ba"), _rendered(suite, exchanged, "ab"), strict=True)
        for template, (one, other) in zip(suite.templates, both, strict=True):
            assert one == other or template.single  # of one candidate there is no other order


@pytest.mark.parametrize("name", sorted(builtin_suites()))
def test_a_suite_names_the_judge_that_runs_it_without_a_key(name: str) -> None:
    # Of debates, judges are ranked: it takes several.
    more = ("embedded:mixed", "embedded:noisy") if name == "debate" else ()
    assert _suite(name).judges == ("embedded:clean", *more)
    assert _suite(name).checks


@pytest.mark.parametrize("task", FINE, ids=lambda task: task["id"])
def test_what_is_no_part_stays_in_every_quarter(task: dict[str, Any]) -> None:
    # The opening and another element; the four others of quarter 0 are padding, that parts replace.
    first, *others = (sentences(text) for text in task["quarters"])
    lasting = [one for one in first if one in others[-1]]
    assert len(lasting) == 2
    assert all(set(lasting) <= set(other) for other in others)


@pytest.mark.parametrize(
    ("name", "preset"),
    [(n, p) for n, p in EVERY if n in ("criterion", "ladder", "ladder-fine", "vacuum")],
)
def test_templates_of_other_pairs_play_no_roles_and_ask_for_no_reason(
    name: str, preset: str | None
) -> None:
    # The Judge Datasheet asks for an object of a schema; its presets do, and no other.
    is_paper = (preset or "").startswith("paper")
    for template in _suite(name, preset).templates:
        assert not re.search(
            r"step by step|think|reason|explain|you are|imagine|act as|pretend",
            template.text,
            re.IGNORECASE,
        ), template.id
        assert ("JSON" in template.text) == is_paper, template.id
