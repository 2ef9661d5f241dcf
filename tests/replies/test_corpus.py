"""The parser on free-text replies of two small language models, as two readers have labelled them.

`scripts/collect_replies.py` asked for them. The readers saw the labels of the space, the prompt's
wording, the finish reason and the text, and not what the parser says of it, nor each other: of 600
stated verdicts drawn at random (``set``: ``drawn``), of every other reply on which the parser and
its first version differ (``differs``), and, once the parser had been repaired by these, of all
other stated verdicts (``rest``). ``readers`` is what each of them says. ``label`` is what is held
to be right: what both say, and ``none`` where they differ, so that the parser is wrong there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_judgesense.replies import parse_reply
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.proportions import wilson
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Verdict

DATA = Path(__file__).parent / "data"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "replies.md"
MODELS = {
    "smollm2-135m": "SmolLM2-135M-Instruct",
    "qwen2.5-coder-0.5b": "Qwen2.5-Coder-0.5B-Instruct",
}
# What the parser states and not both of the readers; the list is complete.
WRONG = {
    "The correct answer is A, Verdict: B": ("B", ["none", "none"]),
    '"{verdict": "YES"} or {"verdict": "NO"}': ("NO", ["none", "none"]),
    'Output (b). Your output should be either "Output (b)" or "Output (a)" because of the '
    "requirement to answer a question with the label alone.\n\nOutput (b). Your output should be "
    'either "Output (b)" or "Output (a)".\n\nYour output should be "Output (a)" for both '
    "Outputs.": ("B", ["none", "none"]),
    "The answer is not incorrect.\nVerdict: NO": ("NO", ["NO", "none"]),
    "Verdict: NO\nThe answer is correct. The prime": ("NO", ["NO", "none"]),
    "A. Your bill": ("A", ["A", "none"]),
    "B\n\nC": ("B", ["B", "none"]),
}


def space_of(form: Mapping[str, Any]) -> DecisionSpace:
    names = MappingProxyType({label: tuple(said) for label, said in form.get("names", {}).items()})
    return DecisionSpace(**{**form, "labels": tuple(form["labels"]), "names": names})


@cache
def replies() -> tuple[dict[str, Any], ...]:
    """The lines of the corpus, each with what the parser states: a verdict or ``none``."""
    wordings = json.loads((DATA / "corpus-wordings.json").read_text(encoding="utf-8"))
    spaces = {name: space_of(wording["space"]) for name, wording in wordings.items()}
    found = []
    for model in MODELS:
        for line in (DATA / f"corpus-{model}.jsonl").read_text(encoding="utf-8").splitlines():
            reply = json.loads(line)
            suite, item, wording = reply["prompt"].split("/")
            cut = reply["finish_reason"] == "length"
            outcome = parse_reply(reply["text"], spaces[f"{suite}/{wording}"], truncated=cut)
            stated = outcome.value if isinstance(outcome, Verdict) else "none"
            found.append({**reply, "stated": stated, "item": f"{suite}/{item}"})
    return tuple(found)


def stated(of: Iterable[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    return [reply for reply in of or replies() if reply["stated"] != "none"]


def test_the_corpus_is_as_large_and_as_varied_as_is_said() -> None:
    every = replies()
    assert len(every) >= 2000
    assert min(Counter(reply["model"] for reply in every).values()) >= 500
    assert {reply["temperature"] for reply in every} == {0, 1.5}
    assert {reply["max_tokens"] for reply in every} == {4, 12, 40, 120}
    assert len({reply["prompt"] for reply in every}) >= 100
    assert sum(reply.get("set") == "drawn" for reply in every) == 600


def test_every_stated_verdict_has_been_read() -> None:
    assert [reply["text"] for reply in stated() if "label" not in reply] == []


def test_stated_verdicts_are_right_but_for_those_that_are_listed() -> None:
    wrong = {r["text"]: (r["stated"], r["readers"]) for r in stated() if r["stated"] != r["label"]}
    assert wrong == WRONG


def row(name: str, of: Iterable[dict[str, Any]]) -> str:
    """A row of the table of docs/replies.md."""
    found = stated(of)
    right = [float(reply["stated"] == reply["label"]) for reply in found]
    paper = wilson(sum(right), len(right))
    by_item = clustered_proportion(right, [reply["item"] for reply in found])
    assert by_item is not None
    cells = [
        name,
        f"{len(list(of)):,}",
        f"{len(found):,}",
        f"{len(right) - sum(right):.0f}",
        f"{sum(right) / len(right):.2%}",
        f"{paper.lower:.2%} to {paper.upper:.2%}",
        f"{by_item.lower:.2%} to {by_item.upper:.2%}",
    ]
    return "| " + " | ".join(cells) + " |"


def rows() -> list[str]:
    every = replies()
    return [
        *(row(title, [r for r in every if r["model"] == model]) for model, title in MODELS.items()),
        row("the 600 drawn", [r for r in every if r.get("set") == "drawn"]),
        row("the others", [r for r in every if r.get("set") == "rest"]),
        row("together", every),
    ]


def test_the_page_says_how_many_are_right() -> None:
    assert [line for line in rows() if line not in PAGE.read_text(encoding="utf-8")] == []


def test_a_label_that_opens_a_comparison_in_prose_is_a_verdict() -> None:
    text = "Output (a) is better than Output (b) in this scenario."
    found = [reply for reply in replies() if reply["text"] == text]
    assert {(r["stated"], r["label"], *r["readers"]) for r in found} == {("A", "A", "A", "A")}


def test_the_readers_agree_on_all_but_8_texts_and_disagreement_counts_against_the_parser() -> None:
    read = [reply for reply in replies() if "readers" in reply]
    differ = {reply["text"]: reply["label"] for reply in read if len(set(reply["readers"])) > 1}
    assert (len(differ), set(differ.values())) == (8, {"none"})
    assert all(r["label"] == r["readers"][0] for r in read if r["text"] not in differ)


def test_at_least_99_of_100_stated_verdicts_are_right() -> None:
    for found in (stated(), stated(r for r in replies() if r.get("set") == "drawn")):
        assert sum(r["stated"] == r["label"] for r in found) >= 0.99 * len(found)
