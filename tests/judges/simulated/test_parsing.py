from __future__ import annotations

import pytest

from pytest_judgesense.judges.prompts import render_messages
from pytest_judgesense.judges.simulated.named_observers import form_asked_for
from pytest_judgesense.judges.simulated.parsing import read_prompt
from tests.suites.known import builtin_suites, load_suite

PAIR = """You compare responses.

<task>
Write a note.
</task>

<response_a>
First text.
</response_a>

<response_b>
Second text.
</response_b>

Decide which response does the task better. {instruction}
"""


def test_candidates_context_and_instruction_are_told_apart() -> None:
    parsed = read_prompt(PAIR.format(instruction="Reply with A or B."))
    assert parsed.candidates == ("First text.", "Second text.")
    assert dict(parsed.context) == {"task": "Write a note."}
    assert parsed.instruction == (
        "You compare responses. Decide which response does the task better. Reply with A or B."
    )
    assert parsed.labels == ("A", "B")


def test_candidates_are_found_by_their_names_and_not_by_their_places() -> None:
    prompt = "<passage_b>\nlater\n</passage_b>\n<passage_a>\nearlier\n</passage_a>"
    assert read_prompt(prompt).candidates == ("earlier", "later")


@pytest.mark.parametrize("blank", ["", "  \n", "\n  ", "\t"])
def test_blank_candidates_are_read_as_they_are(blank: str) -> None:
    prompt = f"<response_a>\n{blank}\n</response_a>\n<response_b>\nx\n</response_b>\nA or B?"
    assert read_prompt(prompt).candidates == (blank, "x")


def test_candidates_of_several_paragraphs_and_with_markup_stay_whole() -> None:
    text = "First <b>part</b>.\n\nSecond part."
    prompt = f"<response_a>\n{text}\n</response_a>\n<response_b>\nx\n</response_b>"
    assert read_prompt(prompt).candidates == (text, "x")


@pytest.mark.parametrize(
    "heading",
    ["Response {}:", "### Answer ({})\n", "**Candidate {}**\n", "Output ({}):", "[Assistant {}]\n"],
)
def test_candidates_may_stand_under_headings(heading: str) -> None:
    a, b = heading.format("A"), heading.format("B")
    prompt = f"Compare.\n\n{a} First text.\n\n{b} Second text.\n\nReply with A or B."
    parsed = read_prompt(prompt)
    assert parsed.candidates == ("First text.", "Second text.")
    assert parsed.instruction == "Compare. Reply with A or B."


def test_one_candidate_is_no_comparison() -> None:
    assert read_prompt("<response_a>\nx\n</response_a>\nAnswer YES or NO.").candidates is None


@pytest.mark.parametrize(
    ("instruction", "labels"),
    [
        ("Answer YES or NO.", ("YES", "NO")),
        ("Rate it from 1 to 5.", ("1", "2", "3", "4", "5")),
        ("Rate it (0-2).", ("0", "1", "2")),
        ("Rate it 1–3.", ("1", "2", "3")),  # an en dash
        ("Rate it from 5 to 1.", ()),  # no range upward
        ("Say yes or no.", ()),  # labels are written in capitals
        ("Say what you think.", ()),
    ],
)
def test_labels_are_read_from_the_instruction(instruction: str, labels: tuple[str, ...]) -> None:
    assert read_prompt(f"<text>\nSome text.\n</text>\n{instruction}").labels == labels


def test_what_a_candidate_says_is_no_instruction() -> None:
    prompt = PAIR.format(instruction="Reply with A or B.").replace(
        "First text.", "Choose tie when only style, length and wording differ. YES or NO, 1 to 5."
    )
    parsed = read_prompt(prompt)
    assert (parsed.labels, parsed.tie, parsed.strict) == (("A", "B"), False, False)


@pytest.mark.parametrize(
    ("instruction", "tie", "strict"),
    [
        ("Reply with A or B.", False, False),
        ("Reply with A, B or tie.", True, False),
        ("Ties are allowed.", True, False),
        ("Until you necktied it.", False, False),  # no word of its own
        ("Choose tie when only wording or style differ.", True, True),  # two surface words
        ("Choose tie when only the style differs.", True, False),  # one is not enough
        ("Do not mind wording and style.", False, False),  # strict about ties that are not there
    ],
)
def test_ties_and_a_strict_criterion_are_read_from_the_instruction(
    instruction: str, tie: bool, strict: bool
) -> None:
    parsed = read_prompt(PAIR.format(instruction=instruction))
    assert (parsed.tie, parsed.strict) == (tie, strict)


@pytest.mark.parametrize(
    ("instruction", "inverted"),
    [
        ("Answer YES if it is correct and NO if it has an error.", False),
        ("Answer YES if it contains an error and NO if it contains none.", True),
        ("Answer YES for a wrong statement, NO for any other.", True),
        ("Is it free of mistakes? Answer NO or YES.", False),
    ],
)
def test_inverted_polarity_is_yes_for_an_error(instruction: str, inverted: bool) -> None:
    assert read_prompt(f"<statement>\nx\n</statement>\n{instruction}").inverted is inverted


# Whatever the built-in suites ask, the embedded judge must read as it is meant.
@pytest.mark.parametrize("name", sorted(builtin_suites()))
def test_the_built_in_prompts_are_read_as_they_are_meant(name: str) -> None:
    preset = "inverted" if name == "factuality" else None
    suite = load_suite(builtin_suites()[name], preset)
    for item in suite.items:
        for template in suite.templates:
            alone = "1" if template.single else None
            messages = render_messages(suite, item, template, "ab", content=alone)
            parsed = read_prompt("\n\n".join(m["content"] for m in messages))
            if suite.kind == "debate":
                assert dict(parsed.context) == dict(item.fields)
                continue
            if suite.kind == "temperature":
                key = "score" if template.single else "verdict"
                reasoned = template.condition.get("prompt_style") == "reasoned"
                assert form_asked_for(parsed) == (key, reasoned)
                assert parsed.candidates == (None if template.single else item.contents)
                assert parsed.tie is not template.single
                assert parsed.strict is False
                shown = {"answer"} if template.single else set()
                shown |= {"reference"} & {template.condition.get("judge_type")}
                assert set(parsed.context) == {"question", *shown}
                continue
            assert parsed.labels == suite.space.labels
            assert parsed.tie is suite.space.tie
            # A text that closes the mark around it is read as if it ended there.
            if item.condition.get("probe") != "fence":
                assert parsed.candidates == (item.contents or None)
            assert parsed.inverted is (template.polarity == "inverted")
            assert parsed.strict is (template.condition.get("arm") == "strict")
            # What slots are called stands in the tags.
            assert {text.strip("\n") for text in parsed.context.values()} == {
                text.strip("\n")
                for name, text in item.fields.items()
                if not name.startswith("name_")
            }
