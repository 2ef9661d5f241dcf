"""``judgesense init --from-log``: from a log of another tool to a gate, and no file edited."""

from __future__ import annotations

import itertools
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.commands import import_, init
from pytest_judgesense.commands.main import build_parser, main
from pytest_judgesense.errors import JudgesenseError, LogError, UsageError
from pytest_judgesense.files.row_options import RowOptions
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.paraphrase.foreign_table import read_table
from pytest_judgesense.judges.prompts import render_messages
from pytest_judgesense.questions.init.from_log import frozen_suites
from pytest_judgesense.questions.init.question import InitQuestion
from pytest_judgesense.questions.init.suite_file import LogOptions
from pytest_judgesense.questions.lint_report import lint_report
from pytest_judgesense.report.log import log_line
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial, content_of_slot
from tests import processes
from tests.commands.within import judgesense, measured

DATA = Path(__file__).parents[2] / "data" / "tools"


def test_four_commands_from_a_log_of_inspect_to_a_gate(tmp_path: Path) -> None:
    log = tmp_path / "hours.eval"
    shutil.copy(DATA / log.name, log)
    more = ("--cluster", "place", "--label", "human")
    one = judgesense("import", "hours.eval", "-o", "hours.jsonl", *more, cwd=tmp_path)
    assert one.returncode == 0, one.stderr
    two = judgesense("init", "--from-log", "hours.jsonl", cwd=tmp_path)
    assert two.returncode == 0, two.stderr
    assert "20 outputs in 10 clusters; verdicts of the log: NO 10, YES 10" in two.stdout
    assert "wording t1 is the judge's own prompts, whole" in two.stdout
    judge = ("--judge-name", "embedded:clean", "suites/hours")
    three = measured(tmp_path, judge[1], "suites/hours/hours.suite.toml", mode="record")
    assert {check.outcome for check in three.checks} == {"pass"}
    four = processes.run("pytest", *judge, cwd=tmp_path)
    assert four.returncode == 0, four.stdout
    assert "4 passed, 2 skipped" in four.stdout
    # The judge that wrote the log, asked by its own prompt, says again what it said.
    first = [json.loads(line) for line in (tmp_path / "hours.jsonl").read_text().splitlines()]
    said = {line["item"]: line["reply"] for line in first}
    sent = {line["item"]: line["source"]["prompt"] for line in first}
    suite = load_suite(tmp_path / "suites" / "hours" / "hours.suite.toml", None, BUILT_IN.forms)
    assert prompts_of(suite, "t1") == sent
    cassette = (tmp_path / "cassettes" / "clean" / "hours.jsonl").read_text().splitlines()
    exchanges = [one for one in map(json.loads, cassette) if "trial" in one]
    assert len(exchanges) == 20 * 3 * 3  # outputs, wordings, replicates
    lines = [one for one in exchanges if "/t1/ab/r1" in one["trial"]]
    replies = {one["trial"].split("/")[1]: json.loads(one["response"]["body"]) for one in lines}
    assert {
        item: reply["choices"][0]["message"]["content"] for item, reply in replies.items()
    } == said


def prompts_of(suite: Suite, template: str) -> dict[str, list[dict[str, str]]]:
    """What the judge is sent, by item."""
    return {
        trial.item: messages_of(suite, trial)
        for trial in plan_trials(suite)
        if (trial.template, trial.replicate) == (template, 1)
    }


def messages_of(suite: Suite, trial: Trial) -> list[dict[str, str]]:
    item = next(one for one in suite.items if one.id == trial.item)
    template = next(one for one in suite.templates if one.id == trial.template)
    return render_messages(suite, item, template, trial.order)


# --- the judge's own prompt -----------------------------------------------------------------------


def line(item: int, verdict: str | None = "YES", **more: Any) -> dict[str, Any]:
    """A line of a log whose prompt holds the text that was judged."""
    text = f"Text number {item}."
    source = {
        "prompt": [{"role": "user", "content": f"{text} Good? YES or NO."}],
        "fields": {"answer": text},
    }
    said = {"unparsed": "no verdict"} if verdict is None else {"verdict": verdict}
    design = {"kind": "paraphrase", "labels": ["YES", "NO"]}
    trial = {"trial": f"s/{item}", "judge": "openai/gpt-4o-mini", "suite": "s", "item": str(item)}
    return {**trial, **said, "source": source, "design": design, **more}


def log_of(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "log.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
    return path


def made(folder: Path, **more: Any) -> Suite:
    """The one suite that the command makes of the folder's log; it is linted without an error."""
    of_log(folder, **more).answer()
    (file,) = (folder / "suites").rglob("*.suite.toml")
    linted = lint_report([file])
    assert not linted.errors, str(linted)
    return load_suite(file, None, BUILT_IN.forms)


def of_log(folder: Path, log: Path | None = None, **more: Any) -> InitQuestion:
    """The question that begins in ``folder`` with a log, by default the one there."""
    return InitQuestion(folder, log=LogOptions(log or folder / "log.jsonl", **more))


def test_whole_prompts_are_the_items_to_the_letter(tmp_path: Path) -> None:
    ones = [line(n) for n in range(4)]
    ones[2]["source"]["prompt"][0]["content"] = (
        "Text number 2. Quite '''different''' \\ {{answer}}."
    )
    log_of(tmp_path, *ones)
    suite = made(tmp_path)
    assert suite.templates[0].text == "{{prompt}}"
    sent = prompts_of(suite, "t1")
    assert [sent[str(n)] for n in range(4)] == [one["source"]["prompt"] for one in ones]


def test_outputs_without_a_prompt_are_left_out_beside_whole_prompts(tmp_path: Path) -> None:
    """A tool keeps no prompt of a grader that has failed."""
    ones = [line(n) for n in range(5)]
    del ones[1]["source"]["prompt"]
    (suite,) = frozen_suites(log_of(tmp_path, *ones))
    assert (suite.template, [output.item for output in suite.outputs]) == (
        "{{prompt}}",
        ["0", "2", "3", "4"],
    )
    assert suite.notes == ("1 output whose prompt the log does not hold: left out",)


def test_a_system_message_that_all_share_is_the_suites(tmp_path: Path) -> None:
    ones = [line(n) for n in range(3)]
    for one in ones:
        one["source"]["prompt"].insert(0, {"role": "system", "content": "Be '''strict'''.\x07"})
    log_of(tmp_path, *ones)
    suite = made(tmp_path)
    assert suite.system == "Be '''strict'''.\x07"
    assert suite.templates[0].text == "{{prompt}}"
    assert prompts_of(suite, "t1")["0"] == ones[0]["source"]["prompt"]


def test_without_a_prompt_a_wording_is_given_or_asked_for(tmp_path: Path) -> None:
    ones = [line(n) for n in range(3)]
    for one in ones:
        del one["source"]["prompt"]
    log_of(tmp_path, *ones)
    (tmp_path / "own.txt").write_text("Is {{answer}} good? YES or NO.", encoding="utf-8")
    (found,) = frozen_suites(tmp_path / "log.jsonl", template="Is {{answer}} good? YES or NO.")
    assert found.source == "the template that was given"
    with pytest.raises(UsageError, match=r"found: +text\n +expected: answer"):
        frozen_suites(tmp_path / "log.jsonl", template="{{text}}")
    suite = made(tmp_path, template=tmp_path / "own.txt")
    assert suite.templates[0].text == "Is {{answer}} good? YES or NO."
    with pytest.raises(UsageError, match=r"found: +the texts answer\n(?s:.)*--template FILE"):
        frozen_suites(tmp_path / "log.jsonl")


# --- items, labels, draws -------------------------------------------------------------------------


def test_outputs_are_drawn_in_proportion_to_the_verdicts(tmp_path: Path) -> None:
    verdicts = ["YES"] * 18 + ["NO"] * 9 + [None] * 3
    log = log_of(tmp_path, *(line(n, verdict) for n, verdict in enumerate(verdicts)))
    (found,) = frozen_suites(log, sample=10, seed=3)
    # 18, 9 and 3 of 30: exactly 6, 3 and 1 of 10.
    assert Counter(one.verdict for one in found.outputs) == {"YES": 6, "NO": 3, None: 1}
    assert found.notes == ("10 of 30 outputs drawn by seed 3",)
    assert [int(one.item) for one in found.outputs] == sorted(
        int(one.item) for one in found.outputs
    )
    (again,) = frozen_suites(log, sample=10, seed=3)
    assert again.outputs == found.outputs
    (other,) = frozen_suites(log, sample=10, seed=4)
    assert other.outputs != found.outputs
    # 4.2, 2.1 and 0.7 of 7: the largest remainder gets the one that is left.
    (found,) = frozen_suites(log, sample=7)
    assert Counter(one.verdict for one in found.outputs) == {"YES": 4, "NO": 2, None: 1}
    (found,) = frozen_suites(log, sample=100)
    assert len(found.outputs) == 30


def test_labels_and_clusters_come_along_and_agreement_is_gated_where_all_are_labelled(
    tmp_path: Path,
) -> None:
    log_of(tmp_path, *(line(n, "YES", cluster=f"c{n // 2}", label="NO") for n in range(6)))
    suite = made(tmp_path)
    assert {item.label for item in suite.items} == {"NO"}
    assert [item.cluster for item in suite.items] == ["c0", "c0", "c1", "c1", "c2", "c2"]
    assert {check.name for check in suite.checks} == {
        *("jss_floor", "repeat_flip_rate_bound", "unparsed_rate_ceiling", "agreement_floor"),
        "no_regression",
    }
    (found,) = frozen_suites(log_of(tmp_path, line(1, label="NO"), line(2)))
    assert not found.labelled


def test_a_scale_is_whole_and_its_wordings_are_gated_within_a_step(tmp_path: Path) -> None:
    design = {"kind": "paraphrase", "labels": ["2", "4", "5"], "ordinal": True}
    log_of(tmp_path, *(line(n, ("2", "4")[n % 2], design=design) for n in range(4)))
    suite = made(tmp_path)
    assert suite.space.labels == ("2", "3", "4", "5")
    assert "within_one_agreement_floor" in {check.name for check in suite.checks}


def test_pairs_are_asked_in_both_orders(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"p{n}",
            "said": "AB"[n % 2],
            "shown": ("ab", "ba")[n % 2],
            "why": f"What is {n}?",
            "one": f"It is {n}.",
            "two": f"It is not {n}.",
            "gold": "1",
        }
        for n in range(6)
    ]
    (tmp_path / "pairs.json").write_text(json.dumps(rows), encoding="utf-8")
    columns = {"item": "id", "verdict": "said", "order": "shown", "label": "gold"}
    columns |= {"field.question": "why", "field.a": "one", "field.b": "two"}
    read = read_table(tmp_path / "pairs.json", columns, names={"verdict": "slot", "a": "content"})
    (tmp_path / "log.jsonl").write_text(
        "".join(f"{log_line(*one)}\n" for one in read.judgments), encoding="utf-8"
    )
    (tmp_path / "own.txt").write_text("{{task}}\n[A]{{a}}\n[B]{{b}}\nWhich is better, A or B?")
    suite = made(tmp_path, template=tmp_path / "own.txt")
    assert suite.templates[0].text == "{{task}}\n[A]{{a}}\n[B]{{b}}\nWhich is better, A or B?"
    assert suite.orders == "both"
    assert suite.items[1].contents == ("It is 1.", "It is not 1.")
    assert "order_positional_bound" in {check.name for check in suite.checks}


# --- slots and contents ---------------------------------------------------------------------------

PAIR_TEMPLATE = "{{task}}\nA: {{a}}\nB: {{b}}\nWhich is better? A or B."
PLACES = ("--map", "first=first", "--map", "second=second")
SAID = ("--names", "verdict={}", "--names", "label={}")


def pair_rows(
    texts: str, words: str, orders: Callable[[int], Sequence[str]]
) -> list[dict[str, str]]:
    """36 pairs of which the longer text is better, judged rightly, in the orders of each.

    ``texts`` and ``words`` (verdict and label) are slots or contents. Candidate 1 is called amy,
    candidate 2 zed; of every third pair the second is better, so that neither is always right.
    """
    rows = []
    for n in range(36):
        contents = [f"Wind {n} is moving air.", f"Wind {n}?"]
        contents = contents[::-1] if n % 3 == 0 else contents
        names = ["amy", "zed"]
        for order in orders(n):
            shown = contents if order == "ab" else contents[::-1]
            named = names if order == "ab" else names[::-1]
            judged = contents if words == "content" else shown
            better = "AB"[judged.index(max(judged, key=len))]
            left, right = shown if texts == "slot" else contents
            row = {"pair": f"p{n}", "shown": order, "first": named[0], "second": named[1]}
            row |= {"left": left, "right": right, "ask": f"Wind {n}?"}
            rows.append({**row, "pick": better, "gold": better})
    return rows


def imported(folder: Path, rows: Sequence[Mapping[str, str]], *more: str) -> str:
    """What ``judgesense import`` prints of rows with these texts; an error is raised."""
    (folder / "s.json").write_text(json.dumps(rows), encoding="utf-8")
    fields = {"item": "pair", "verdict": "pick", "label": "gold", "field.task": "ask"}
    fields |= {"field.a": "left", "field.b": "right"}
    mapped = [word for name, of in fields.items() for word in ("--map", f"{name}={of}")]
    given = ["import", str(folder / "s.json"), "-o", str(folder / "log.jsonl")]
    return "\n".join(
        import_.run(build_parser().parse_args([*given, "--judge", "j", *mapped, *more]))
    )


def right_of(folder: Path, *more: str) -> tuple[int, int]:
    """On how many items of the suite made a judge is right that picks the longer of two texts."""
    (folder / "own.txt").write_text(PAIR_TEMPLATE, encoding="utf-8")
    given = ["init", "--from-log", str(folder / "log.jsonl"), "--template", str(folder / "own.txt")]
    list(init.run(build_parser().parse_args([*given, str(folder / "made"), *more])))
    (file,) = (folder / "made").rglob("*.suite.toml")
    suite = load_suite(file, None, BUILT_IN.forms)
    trials = [trial for trial in plan_trials(suite) if trial.template == "t1"]
    wrong = set()
    for trial in trials:
        lines = messages_of(suite, trial)[-1]["content"].splitlines()
        slot = max(lines[1:3], key=len)[0]
        if content_of_slot(slot, trial.order) != trial.label:
            wrong.add(trial.item)
    items = {trial.item for trial in trials}
    return len(items - wrong), len(items)


ORDER = ("--map", "order=shown")


@pytest.mark.parametrize(
    ("seed", "texts", "words", "place"),
    [
        # In the gate texts and words of two kinds, each way, in one of the two places.
        pytest.param(seed, *named, marks=() if seed in (2, 4) else pytest.mark.long)
        for seed, named in enumerate(
            itertools.product(("slot", "content"), ("slot", "content"), (ORDER, PLACES))
        )
    ],
)
def test_a_judge_that_picks_the_better_text_is_right_in_any_order_of_rows(
    tmp_path: Path, seed: int, texts: str, words: str, place: Sequence[str]
) -> None:
    said = [word.format(words) for word in SAID]
    rows = pair_rows(texts, words, lambda n: ("ab", "ba"))
    random.Random(seed).shuffle(rows)
    printed = imported(tmp_path, rows, *place, *said)
    assert f"notice: the texts a and b of suite s are {texts}s: " in printed
    assert right_of(tmp_path) == (36, 36)


@pytest.mark.parametrize(
    ("orders", "texts", "place"),
    [
        # In the gate each order and each kind of texts once.
        pytest.param(*named, marks=() if number in (0, 6) else pytest.mark.long)
        for number, named in enumerate(
            itertools.product(
                (lambda n: ["ba"], lambda n: [("ab", "ba")[n % 2]]),
                ("slot", "content"),
                (ORDER, PLACES),
            )
        )
    ],
)
def test_of_items_in_one_order_it_is_asked_once_for_all_fields(
    tmp_path: Path, texts: str, orders: Callable[[int], Sequence[str]], place: Sequence[str]
) -> None:
    rows = pair_rows(texts, "slot", orders)
    with pytest.raises(UsageError) as caught:
        imported(tmp_path, rows, *place)
    assert "the verdicts, labels and texts a and b of suite s name slots" in caught.value.what
    assert caught.value.remedy.endswith("and --names a=slot, or --names a=content")
    assert not (tmp_path / "log.jsonl").exists()
    said = [word.format("slot") for word in SAID]
    imported(tmp_path, rows, *place, *said, "--names", f"a={texts}")
    assert right_of(tmp_path) == (36, 36)


def test_in_order_ab_alone_no_text_is_asked_for(tmp_path: Path) -> None:
    imported(tmp_path, pair_rows("slot", "slot", lambda n: ["ab"]), "--map", "order=shown")
    assert right_of(tmp_path) == (36, 36)


def test_a_row_of_both_orders_holds_contents(tmp_path: Path) -> None:
    ab = pair_rows("content", "slot", lambda n: ["ab"])
    ba = pair_rows("content", "slot", lambda n: ["ba"])
    rows = [one | {"swapped": other["pick"]} for one, other in zip(ab, ba, strict=True)]
    (tmp_path / "s.json").write_text(json.dumps(rows), encoding="utf-8")
    columns = {"item": "pair", "verdict.ab": "pick", "verdict.ba": "swapped", "label": "gold"}
    columns |= {"field.task": "ask", "field.a": "left", "field.b": "right"}
    read = read_table(tmp_path / "s.json", columns, names={"verdict": "slot"})
    assert (read.objections, [n for n in read.notices if "texts" in n]) == ((), [])
    (tmp_path / "log.jsonl").write_text("\n".join(log_line(*one) for one in read.judgments))
    assert right_of(tmp_path) == (36, 36)


def test_an_inspect_log_with_texts_is_read_as_a_table_is(tmp_path: Path) -> None:
    rows = pair_rows("slot", "slot", lambda n: ("ba", "ab"))
    samples = [
        {
            "id": n,
            "input": row["ask"],
            "metadata": row,
            "scores": {
                "pairs": {
                    "value": row["pick"],
                    "metadata": {
                        "grading": [
                            {"role": "user", "content": f"{row['left']}\n{row['right']}"},
                            {"role": "assistant", "content": row["pick"]},
                        ]
                    },
                }
            },
        }
        for n, row in enumerate(rows)
    ]
    log = {"eval": {"task": "s", "scorers": [{"name": "pairs"}]}, "samples": samples}
    (tmp_path / "i.json").write_text(json.dumps(log), encoding="utf-8")
    given = ["import", str(tmp_path / "i.json"), "-o", str(tmp_path / "log.jsonl")]
    given += ["--order", "shown", "--label", "gold", *(word.format("slot") for word in SAID)]
    given += ["--map", "field.task=ask", "--map", "field.a=left", "--map", "field.b=right"]
    # Each sample is an item, in one order, unless the pair is named.
    with pytest.raises(UsageError, match="the texts a and b of suite s name slots or contents"):
        list(import_.run(build_parser().parse_args(given)))
    printed = list(import_.run(build_parser().parse_args([*given, "--map", "item=pair"])))
    assert any("the texts a and b of suite s are slots: " in line for line in printed)
    assert right_of(tmp_path) == (36, 36)


def own_lines(orders: Sequence[str], **source: Any) -> list[dict[str, Any]]:
    """Lines of a log of one's own, with texts as they were shown, and no design."""
    rows = pair_rows("slot", "slot", lambda n: orders)
    return [
        {
            "trial": f"s/{row['pair']}/{row['shown']}",
            "judge": "j",
            "suite": "s",
            "item": row["pair"],
            "order": row["shown"],
            "verdict": row["pick"],
            "label": content_of_slot(row["pick"], "ab" if row["shown"] == "ab" else "ba"),
            "source": {
                "fields": {"task": row["ask"], "a": row["left"], "b": row["right"]},
                **source,
            },
        }
        for row in rows
    ]


def test_a_log_of_ones_own_shows_says_or_is_asked_what_its_texts_are(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    shows, says, silent = folders
    log = log_of(shows, *own_lines(["ba", "ab"]))
    (suite,) = frozen_suites(log, template=PAIR_TEMPLATE)
    assert any("the texts a and b of suite s are slots: " in note for note in suite.notes)
    assert right_of(shows) == (36, 36)
    log_of(says, *own_lines(["ba"], names={"a": "slot"}))
    assert right_of(says) == (36, 36)
    log = log_of(silent, *own_lines(["ba"]))
    with pytest.raises(UsageError, match="say it: --names a=slot, or --names a=content"):
        frozen_suites(log, template=PAIR_TEMPLATE)
    assert right_of(silent, "--names", "a=slot") == (36, 36)
    with pytest.raises(UsageError, match="--names label=slot is not used"):
        named = RowOptions(names=(("a", "slot"), ("label", "slot")))
        frozen_suites(log, template=PAIR_TEMPLATE, row_options=named)


def test_a_foreign_file_is_read_as_import_reads_it(tmp_path: Path) -> None:
    """Twelve pairs in both orders, below a key: the judge's slots and the people's contents."""
    rows = [
        {
            "q": f"q{n}",
            "question": f"Why {n}?",
            "first": "long and good" if order == "ab" else "bad",
            "second": "bad" if order == "ab" else "long and good",
            "order": order,
            "winner": "A" if order == "ab" else "B",
            "gold": "1",
        }
        for n in range(12)
        for order in ("ab", "ba")
    ]
    log = tmp_path / "foreign.json"
    log.write_text(json.dumps({"rows": rows, "skipped": [{"q": "q99"}]}), encoding="utf-8")
    fields = {"item": "q", "field.question": "question", "field.a": "first", "field.b": "second"}
    of_rows = RowOptions(
        map=(*fields.items(), ("verdict", "winner"), ("label", "gold")),
        names=(("verdict", "slot"), ("label", "content"), ("a", "slot")),
    )
    template = "Judge {{question}}\n{{a}}\n{{b}}"
    (suite,) = frozen_suites(log, template=template, row_options=of_rows)
    assert suite.template == "Judge {{task}}\n{{a}}\n{{b}}"
    assert "text question is called task in the suite" in suite.notes
    assert any("the list 'rows'" in note for note in suite.notes)
    texts = {(output.fields["a"], output.fields["b"], output.label) for output in suite.outputs}
    assert texts == {("long and good", "bad", "1")}
    with pytest.raises(UsageError, match="no column holds the verdict"):
        frozen_suites(log, template=template)


def test_options_of_foreign_rows_are_refused_for_a_log(tmp_path: Path) -> None:
    """Its fields have their names."""
    log = log_of(tmp_path, line(1), line(2, "NO"))
    with pytest.raises(UsageError, match="--map item=q is not used"):
        frozen_suites(log, row_options=RowOptions(map=(("item", "q"),)))


def test_texts_of_an_item_that_differ_are_an_error_with_both_lines(tmp_path: Path) -> None:
    rows = pair_rows("slot", "slot", lambda n: ("ba", "ab"))
    rows[3]["left"] += " "
    said = [word.format("slot") for word in SAID]
    with pytest.raises(LogError) as caught:  # slots, as the other 35 show
        imported(tmp_path, rows, "--map", "order=shown", *said)
    assert caught.value.what == "a of item p1 of suite s differs between two rows"
    assert "s.json, record 3: " in caught.value.found
    assert "s.json, record 4: " in caught.value.found
    # A statement against what rows show is against their texts.
    with pytest.raises(LogError, match="a of item p0 of suite s differs between two rows"):
        imported(tmp_path, rows[:2], "--map", "order=shown", *said, "--names", "a=content")
    ones = own_lines(["ba", "ab"], names={"a": "slot"})
    ones[1]["source"]["fields"]["task"] += "?"
    with pytest.raises(LogError, match=r"task of item p0 .*\n.*log\.jsonl:1: .*log\.jsonl:2: "):
        frozen_suites(log_of(tmp_path, *ones), template=PAIR_TEMPLATE)
    (suite,) = frozen_suites(tmp_path / "log.jsonl", template=PAIR_TEMPLATE.replace("{{task}}", ""))
    assert len(suite.outputs) == 36  # no wording shows the task


def test_labels_and_prompts_of_an_item_that_differ_are_an_error(tmp_path: Path) -> None:
    ones = [line(1, label="NO"), line(1, label="YES", replicate=2)]
    with pytest.raises(LogError, match=r"label of item 1 .*\n.*log\.jsonl:1: 'NO'; .*:2: 'YES'"):
        frozen_suites(log_of(tmp_path, *ones), template="{{answer}}")
    ones = [line(1), line(2) | {"item": "1", "replicate": 2}]
    with pytest.raises(LogError, match=r"the prompt of openai/gpt-4o-mini, t1, ab, of item 1 "):
        frozen_suites(log_of(tmp_path, *ones))
    # Another wording has another prompt.
    (suite,) = frozen_suites(log_of(tmp_path, ones[0], ones[1] | {"template": "t2"}), labels=["NO"])
    assert [output.fields for output in suite.outputs] == [
        {"prompt": "Text number 1. Good? YES or NO."}
    ]


def test_a_verdict_of_any_line_is_a_possible_answer(tmp_path: Path) -> None:
    ones = own_lines(["ab", "ba"], names={"a": "slot"})
    ones[1]["verdict"] = "tie"
    for lines in (ones, ones[::-1]):
        (suite,) = frozen_suites(log_of(tmp_path, *lines), template=PAIR_TEMPLATE)
        assert suite.space.tie


def test_what_is_printed_to_try_pairs_without_a_prompt_gives_verdicts(tmp_path: Path) -> None:
    rows = "".join(
        f"i{n},{order},{verdict},What is {n}?,It is {n}.,I do not know.\n"
        for n in range(4)
        for order, verdict in (("ab", "A"), ("ba", "B"))
    )
    (tmp_path / "log.csv").write_text(
        f"item,order,verdict,question,one,two\n{rows}", encoding="utf-8"
    )
    fields = ["field.question=question", "field.a=one", "field.b=two"]
    mapped = [word for one in fields for word in ("--map", one)]
    named = ("--names", "verdict=slot")
    judgesense("import", "log.csv", "-o", "l.jsonl", *mapped, *named, cwd=tmp_path)
    (tmp_path / "own.txt").write_text(
        "{{task}}\n<response_a>\n{{a}}\n</response_a>\n<response_b>\n{{b}}\n</response_b>\n"
        "Which of the two is better? Answer with one of: A, B."
    )
    begun = ("init", "--from-log", "l.jsonl", "--template", "own.txt")
    done = judgesense(*begun, cwd=tmp_path, merged=True)
    assert "--judge-name embedded:clean tries it without a key" in done.stdout
    (file,) = (tmp_path / "suites").rglob("*.suite.toml")
    sheet = measured(tmp_path, "embedded:clean", str(file), mode="live")
    (unparsed,) = (e for e in sheet.estimates if (e.measure, e.condition) == ("unparsed_rate", {}))
    # Four items in two orders, under the wordings of the suite: all are answered.
    assert (unparsed.count, unparsed.n % 8) == (0, 0)
    assert unparsed.n > 0


def test_a_project_keeps_its_judges_and_a_suite_that_is_there_is_left_alone(
    tmp_path: Path,
) -> None:
    log_of(tmp_path, line(1), line(2, "NO"))
    made(tmp_path)
    # A log holds no settings of its judge: none is declared, and the commands ask for one.
    assert not (tmp_path / "pyproject.toml").exists()
    other = tmp_path / "other"
    other.mkdir()
    known = '[tool.judgesense.judges.mine]\nprovider = "embedded"\nmodel = "clean"\n'
    (other / "pyproject.toml").write_text(known, encoding="utf-8")
    for told in ("written:    ", "left alone: "):
        lines = of_log(other, tmp_path / "log.jsonl").answer().report
        assert any(line.startswith(f"{told}{other / 'suites' / 's'}") for line in lines)
    assert (other / ".github" / "workflows" / "judges.yml").is_file()
    assert (other / "pyproject.toml").read_text(encoding="utf-8") == known


# --- what cannot be done --------------------------------------------------------------------------


def test_a_log_that_does_not_say_what_was_judged_says_how_it_would(tmp_path: Path) -> None:
    log = log_of(tmp_path, *({**line(n), "source": {}} for n in range(2)))
    with pytest.raises(LogError, match=r"does not hold what was judged(?s:.)*--map field\.NAME"):
        frozen_suites(log)
    some = log_of(tmp_path, line(1), {**line(2), "source": {}})
    (found,) = frozen_suites(some)
    assert found.notes == ("1 judgments do not say what was judged: left out",)


def test_one_answer_to_all_asks_what_else_there_is(tmp_path: Path) -> None:
    design = {"kind": "paraphrase", "labels": ["good"]}
    log = log_of(tmp_path, *(line(n, "good", design=design) for n in range(3)))
    with pytest.raises(UsageError, match="--labels YES,NO"):
        frozen_suites(log)
    (found,) = frozen_suites(log, labels=["good", "bad"])
    assert found.space.labels == ("good", "bad")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"source": {"fields": {"answer": 7}}}, "source.fields is malformed"),
        ({"source": {"fields": "answer"}}, "source.fields is malformed"),
        ({"source": 7}, "field 'source' is wrong"),
        (
            {"design": {"kind": "paraphrase", "labels": ["x", "y"], "ordinal": True}},
            "whole numbers",
        ),
        ({"design": {"kind": "x", "labels": ["A", "B"], "pairwise": True}}, "in another order"),
    ],
)
def test_a_line_that_makes_no_suite_is_an_error(
    tmp_path: Path, more: dict[str, Any], told: str
) -> None:
    log_of(tmp_path, line(1), {**line(2, "NO"), **more})
    with pytest.raises(JudgesenseError, match=told):
        of_log(tmp_path).answer()
    assert not (tmp_path / "suites").exists()


def test_a_sample_of_nothing_is_a_wrong_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["init", "--from-log", "log.jsonl", "--sample", "0"])
    assert caught.value.code == 2
    assert "a number of outputs is a whole number, at least 1" in capsys.readouterr().err
