"""`judgesense import`: nothing that is given, and nothing in a file, is passed over in silence."""

from __future__ import annotations

import gzip
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from tests.foreign import decision_row, game_row, pair_rows, write_rows

GRADES = "id,thread,score,person,shown\n1,t,4,4,ab\n2,t,3,2,ab\n3,u,5,5,ab\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def command(*arguments: str) -> tuple[int, str]:
    """The exit code of a command in this process, and what it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            code = main(list(arguments))
        except SystemExit as ended:
            code = int(ended.code or 0)
    return code, printed.getvalue()


def table(text: str, *arguments: str, name: str = "t.csv") -> tuple[int, str]:
    Path(name).write_text(text, encoding="utf-8")
    return command("import", name, "-o", "log.jsonl", "--judge", "j", *arguments)


def judged() -> list[dict[str, str]]:
    return [json.loads(line) for line in Path("log.jsonl").read_text("utf-8").splitlines()]


# --- options ---------------------------------------------------------------------------------

MAPPED = ("--map", "item=id", "--map", "verdict=score", "--map", "label=person")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--cluster", "thread"),
        ("--label", "person"),
        ("--order", "shown"),
        ("--threshold", "0.5"),
        ("--threshold", "0"),
        ("--scale", "4"),
        ("--scorer", "helpful"),
        ("--pairs", "pairs.jsonl"),
        ("--reparse", None),
        ("--variant", "Vanilla"),
    ],
)
def test_an_option_that_a_table_has_no_use_for_is_a_wrong_command(
    option: str, value: str | None
) -> None:
    code, printed = table(GRADES, *MAPPED, option, *([value] if value else []))
    assert code == 2
    assert f"{option} is not used: t.csv was read as judgments of the form table" in printed
    assert "expected:" in printed
    assert not Path("log.jsonl").exists()


@pytest.mark.parametrize(
    ("kind", "row", "option"),
    [
        ("games", game_row("p", "A>B", "A>B", "B>A"), ("--judge", "j")),
        ("games", game_row("p", "A>B", "A>B", "B>A"), ("--map", "item=pair_id")),
        ("games", game_row("p", "A>B", "A>B", "B>A"), ("--names", "verdict=slot")),
        ("judgesense", decision_row(1, 1, "YES", "NO"), ("--value", "YES=1")),
        ("judgesense", decision_row(1, 1, "YES", "NO"), ("--suite", "s")),
        ("judgesense", decision_row(1, 1, "YES", "NO"), ("--reparse",)),
        ("games", game_row("p", "A>B", "A>B", "B>A"), ("--replicate", "2")),
        ("games", game_row("p", "A>B", "A>B", "B>A"), ("--lists", "judgments=game")),
        ("games", game_row("p", "A>B", "A>B", "B>A"), ("--join", "own.jsonl=pair_id")),
    ],
)
def test_an_option_of_another_form_is_a_wrong_command(
    kind: str, row: dict[str, object], option: tuple[str, ...]
) -> None:
    write_rows(Path("own.jsonl"), [row])
    code, printed = command("import", "--format", kind, "own.jsonl", "-o", "log.jsonl", *option)
    assert code == 2
    assert f"{option[0]} is not used: own.jsonl was read as judgments of the form {kind}" in printed


def test_pairs_are_for_decisions_and_not_for_the_pairs_themselves() -> None:
    write_rows(Path("pairs.jsonl"), pair_rows("coherence"))
    code, printed = command(
        *("import", "pairs.jsonl", "-o", "s.suite.toml", "--pairs", "pairs.jsonl")
    )
    assert code == 2
    assert "--pairs is not used: pairs.jsonl was read as a suite of the form judgesense" in printed


def test_words_as_grades_have_no_threshold() -> None:
    score = {"name": "ok", "score": 1.0, "success": True, "evaluationModel": "m"}
    run = {"testCases": [{"name": "a", "input": "q", "metricsData": [score]}]}
    Path("run.json").write_text(json.dumps(run), encoding="utf-8")
    imported = ("import", "run.json", "-o", "log.jsonl")
    assert command(*imported, "--threshold", "0.5")[0] == 0
    assert command(*imported, "--threshold", "0.5", "--scale", "4")[0] == 2
    code, printed = command(*imported, "--reparse")
    assert (code, "--reparse is not used" in printed) == (2, True)


def test_what_a_field_names_is_a_slot_or_a_content() -> None:
    code, printed = table(GRADES, *MAPPED, "--names", "a=first")
    assert (code, "'a=first' is neither a=slot nor a=content" in printed) == (2, True)
    code, printed = command("init", "--names", "a=slot")
    assert (code, "--names without --callable or --from-log" in printed) == (2, True)


def test_a_field_that_is_given_twice_is_a_wrong_command() -> None:
    code, printed = table(GRADES, *MAPPED, "--suite", "s", "--map", "suite=thread")
    assert (code, "the suite is given twice" in printed) == (2, True)


def test_a_word_to_rename_that_does_not_occur_is_told() -> None:
    code, printed = table(GRADES, *MAPPED, "--value", "excellent=5")
    assert code == 0
    assert "--value excellent=5 is not used: nothing is called excellent" in printed


# --- words of verdicts and labels ------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdicts", "labels", "proposed"),
    [
        (("poor", "fine"), ("0", "1"), "--value 0=VERDICT --value 1=VERDICT"),
        (("true", "false"), ("si", "no"), "--value no=VERDICT --value si=VERDICT"),
        (("A", "B"), ("X", "Y"), "--value X=1 --value Y=2"),
        (("A", "B"), ("model_2", "model_2"), "--value model_2=1, or 2"),
    ],
)
def test_verdicts_and_labels_without_a_common_word_are_an_error_with_both(
    verdicts: tuple[str, str], labels: tuple[str, str], proposed: str
) -> None:
    lines = [f"{n},{verdicts[n % 2]},{labels[n % 2]}\n" for n in range(6)]
    code, printed = table("item,verdict,label\n" + "".join(lines))
    assert code == 3
    for words in (verdicts, labels):
        assert ", ".join(sorted({*words})) in printed
    assert proposed in printed
    assert not Path("log.jsonl").exists()


def test_slots_of_both_orders_with_labels_that_name_no_candidate_are_an_error() -> None:
    lines = [f"{n},{o},{'AB'[n % 2]},{'XY'[n % 2]}\n" for n in range(9) for o in ("ab", "ba")]
    text = "item,order,verdict,label\n" + "".join(lines)
    code, printed = table(text)
    assert code == 3
    assert "verdicts A, B; labels X, Y" in printed
    code, printed = table(text, "--value", "X=1", "--value", "Y=2", "--names", "verdict=content")
    assert code == 0
    assert {(one["chosen"], one["label"]) for one in judged()} == {("1", "1"), ("2", "2")}
    # A label among the slots is none of a pair either.
    assert table(text.replace(",Y\n", ",A\n"))[0] == 3


def test_a_judge_that_is_never_right_is_taken_if_the_words_are_meant() -> None:
    text = "item,verdict,label\n1,blue,red\n2,blue,red\n"
    assert table(text)[0] == 3
    code, _ = table(text, "--value", "blue=blue", "--value", "red=red")
    assert code == 0
    code, printed = command("report", "log.jsonl")
    assert (code, "agreement " in printed, "0/2" in printed) == (0, True, True)


def test_words_that_are_renamed_are_those_of_the_file_in_any_case() -> None:
    text = "item,verdict,label\n1,Yes,pass\n2,NO,fail\n"
    assert table(text, "--value", "yes=pass", "--value", "no=fail")[0] == 0
    assert [one["verdict"] for one in judged()] == ["pass", "fail"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("0", "2", "Tie"), "labels: 0, 2, tie"),
        (("0", "1"), "labels: 0 (no), 1 (yes)"),
        (("1", "2", "4"), "grades: 1, 2, 4"),
        (("left", "middle", "tie"), "labels: left, middle, tie"),
        (("4,0", "3,5", "3"), "score: 3 to 4"),
        (("2", "3", "#N/A"), "labels: #N/A, 2, 3"),
    ],
)
def test_it_is_told_how_verdicts_are_read(words: tuple[str, ...], told: str) -> None:
    lines = [f"{n};{word}\n" for n, word in enumerate(words)]
    code, printed = table("item;verdict\n" + "".join(lines))
    assert code == 0
    assert f"verdicts of suite t are read as {told}; --value WORD=A" in printed


# --- files -----------------------------------------------------------------------------------


def test_names_of_any_length_are_reported() -> None:
    """Prompts as ids, alike in their first 1,100 characters."""
    names = ["p" * 1100 + end for end in "xyx"]
    lines = [
        f"{name},{n},{word}\n" for n, (name, word) in enumerate(zip(names, "ABA", strict=True))
    ]
    code, printed = table("item,replicate,verdict\n" + "".join(lines))
    assert code == 0
    assert "more than 1000 characters" in printed
    items = [one["item"] for one in judged()]
    assert items[0] == items[2] != items[1]
    assert max(map(len, items)) < 100
    assert command("report", "log.jsonl")[0] == 0


@pytest.mark.parametrize(
    ("given", "numbers", "told"),
    [
        (["0", "1", "10"], [1, 2, 3], "the replicate names replicates, which are numbered: 0 is 1"),
        (["seed-9", "seed-10", "seed-9"], [1, 2, 1], "seed-9 is 1, seed-10 is 2"),
        (["-1", "0", "1"], [1, 2, 3], "the replicate names replicates"),
        (["1.0", "2.0", "2"], [1, 2, 2], ""),
    ],
)
def test_replicates_of_any_name_are_numbered(
    given: list[str], numbers: list[int], told: str
) -> None:
    lines = [f"{n},{name},YES\n" for n, name in enumerate(given)]
    code, printed = table("item,replicate,verdict\n" + "".join(lines))
    assert code == 0
    assert told in printed
    assert [one["replicate"] for one in judged()] == numbers


def test_fields_of_nested_objects_are_columns() -> None:
    rows = [
        {"id": 1, "out": {"parsed": {"winner": "YES"}, "texts": ["x", "It is so."]}},
        {"id": 2, "out": {"parsed": {"winner": "NO"}, "texts": ["y", "It is not."]}},
    ]
    write_rows(Path("t.jsonl"), rows)
    imported = ("import", "t.jsonl", "-o", "log.jsonl", "--map", "item=id", "--map")
    code, printed = command(*imported, "verdict=out.parsed.winner", "--map", "reply=out.texts.1")
    assert code == 0, printed
    assert [(one["verdict"], one["reply"]) for one in judged()] == [
        ("YES", "It is so."),
        ("NO", "It is not."),
    ]
    code, printed = command(*imported, "verdict=out.winner")
    assert (code, "no row has a column 'out.winner'" in printed) == (2, True)


def test_verdicts_are_read_from_replies_if_there_is_nothing_else() -> None:
    text = "id,order,text\n1,ab,The first is shorter. Verdict: A\n1,ba,Verdict: B\n2,ab,Hm.\n"
    code, printed = table(text, "--map", "item=id", "--map", "reply=text")
    assert code == 2
    assert "--labels A,B, or --map reply=" in printed
    mapped = ("--map", "item=id", "--map", "reply=text", "--labels", "A,B,tie")
    code, printed = table(text, *mapped)
    assert code == 0, printed
    assert [one.get("verdict") for one in judged()] == ["A", "B", None]
    # Replies state slots, in either order: content 1 twice.
    assert [one["chosen"] for one in judged()] == ["1", "1", None]
    code, printed = table(text + "3,ab,A\n", *mapped, "--map", "verdict=text")
    assert (code, "--labels is not used: a column holds the verdicts" in printed) == (2, True)


def test_verdicts_of_a_scale_are_read_from_replies() -> None:
    text = 'id,text,person\n1,"Clear. [[4]]",4\n2,Score: 2,3\n'
    mapped = ("--map", "item=id", "--map", "reply=text", "--map", "label=person")
    code, printed = table(text, *mapped, "--labels", "1,2,3,4,5")
    assert code == 0, printed
    assert [one["verdict"] for one in judged()] == ["4", "2"]
    assert {json.dumps(one["design"]["labels"]) for one in judged()} == {
        json.dumps(["1", "2", "3", "4", "5"])
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "item\tverdict\n1\tYES\n"),
        ("t.csv", "sep=;\nitem;verdict\n1;YES\n"),
        ("t.csv", " item , verdict \n1, YES\n"),
        ("t.tsv", "item\tverdict\n1\tYES\n"),
        ("t.jsonl", '[{"item": 1, "verdict": "YES"}]'),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_tables_are_read_as_programs_write_them(name: str, text: str, packed: bool) -> None:
    data = text.encode()
    path = Path(f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(data, mtime=0) if packed else data)
    code, printed = command("import", str(path), "-o", "log.jsonl")
    assert code == 0, printed
    assert [(one["suite"], one["item"], one["verdict"]) for one in judged()] == [("t", "1", "YES")]


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("t.csv", "item,verdict\n1,YES\n".encode("utf-16-le"), "holds a NUL character"),
        ("t.csv", "item,verdict\n1,größer\n".encode("cp1252"), "iconv -f WINDOWS-1252"),
        ("t.csv", b"item,verdict\n1,YES\x00\n", "t.csv:2 holds a NUL character"),
        ("t.xlsx", b"PK\x03\x04rest", "expected: a ZIP archive"),
        ("t.csv.gz", gzip.compress(b"item,verdict\n" * 99, mtime=0)[:-9], "cut off"),
        ("t.jsonl", b'{\n "item": 1,\n "verdict": "YES"\n}\n', "write each on one line"),
        ("t.json", b'{"a": [{"item": 1}], "b": [{"thing": 2}]}', "t.json#a or t.json#b"),
        ("t.json", b'{"item": 1, "verdict": "YES"}', "t.json holds no rows"),
        ("t.jsonl", b'{"item": 1, "verdict": Infinity}\n', "a finite number"),
    ],
)
def test_what_cannot_be_read_says_what_to_do(name: str, data: bytes, told: str) -> None:
    Path(name).write_bytes(data)
    code, printed = command("import", name, "-o", "log.jsonl")
    assert code == 3
    assert told in printed


def test_a_field_that_only_later_rows_have_is_read() -> None:
    rows = [{"item": 1, "verdict": "YES"}, {"item": 2, "verdict": None, "failed": "HTTP 500"}]
    write_rows(Path("t.jsonl"), rows)
    assert command("import", "t.jsonl", "-o", "log.jsonl")[0] == 0
    assert [one.get("failed") for one in judged()] == [None, "HTTP 500"]


def test_a_packed_log_says_how_it_is_unpacked() -> None:
    Path("log.jsonl.gz").write_bytes(gzip.compress(b"{}\n", mtime=0))
    code, printed = command("report", "log.jsonl.gz")
    assert (code, "gunzip log.jsonl.gz" in printed) == (3, True)


def test_an_empty_replicate_is_no_name() -> None:
    rows = '{"item": 1, "verdict": "YES", "replicate": NaN}\n'
    rows += '{"item": 1, "verdict": "NO", "replicate": 2}\n'
    Path("t.jsonl").write_text(rows, encoding="utf-8")
    code, printed = command("import", "t.jsonl", "-o", "log.jsonl")
    assert (code, "names replicates" in printed) == (0, False)
    assert [one["replicate"] for one in judged()] == [1, 2]


# --- tables of other shapes ------------------------------------------------------------------


def test_each_repetition_may_have_a_file_of_its_own() -> None:
    for replicate in ("1", "2"):
        code, printed = table(
            "item,verdict\nq1,A\nq2,B\n", "--suite", "s", "--replicate", replicate
        )
        assert code == 0, printed
        Path("log.jsonl").rename(f"{replicate}.jsonl")
    code, printed = command("report", "1.jsonl", "2.jsonl")
    assert code == 0
    assert "repeat_flip_rate" in printed
    assert "0/2" in printed


@pytest.mark.parametrize("places", ["first=a", "second=b"])
def test_one_of_two_candidates_names_is_a_wrong_command(places: str) -> None:
    code, printed = table("item,a,b,verdict\nq1,x,y,A\n", "--map", places)
    assert (code, "the columns of two candidates' names" in printed) == (2, True)


def test_lists_and_people_are_read_by_the_command() -> None:
    Path("people.csv").write_text("q,anna,ben\n1,A,B\n2,B,B\n", encoding="utf-8")
    Path("runs.json").write_text(
        '[{"q": 1, "runs": ["A", "A"]}, {"q": "2", "runs": ["B"]}]', "utf-8"
    )
    code, printed = command(
        *("import", "runs.json", "-o", "log.jsonl", "--judge", "j", "--suite", "s"),
        *("--lists", "runs=run", "--join", "people.csv=q", "--map", "item=q"),
        *("--map", "replicate=run", "--map", "verdict=runs"),
        *("--map", "people.anna=anna", "--map", "people.ben=ben"),
    )
    assert code == 0, printed
    assert [line["people"] for line in judged()] == [
        {"label": {"anna": "1", "ben": "2"}},
        {"label": {"anna": "1", "ben": "2"}},
        {"label": {"anna": "2", "ben": "2"}},
    ]
    assert [line["label"] for line in judged()] == [None, None, "2"]
    assert command("import", "runs.json", "-o", "x.jsonl", "--join", "people.csv")[0] == 2
    listed = ("import", "runs.json", "-o", "x.jsonl", "--judge", "j", "--map", "item=q")
    listed += ("--map", "verdict=runs", "--map", "replicate=run", "--lists", "runs=run")
    code, printed = command(*listed, "--replicate", "2")
    assert (code, "the replicate is given twice" in printed) == (2, True)
    code, printed = command(*listed, "--lists", "runs=again")
    assert (code, "--lists names column runs more than once" in printed) == (2, True)
    code, printed = command(*listed, "--value", "a=A", "--value", "a=B")
    assert (code, "--value says two things of a" in printed) == (2, True)


def test_several_files_joins_and_patterns_are_read_by_the_command() -> None:
    """By hand: two files, a row of two runs each; anna agrees with q1 alone."""
    Path("runs").mkdir()
    Path("runs/j1.csv").write_text("q,run_1,run_2\nq1,YES,YES\nq2,NO,YES\n", encoding="utf-8")
    Path("runs/j2.csv").write_text("q,run_1,run_2\nq1,NO,NO\nq2,NO,NO\n", encoding="utf-8")
    Path("people.csv").write_text("person,q,label\nanna,q1,YES\nanna,q2,YES\n", "utf-8")
    Path("topics.csv").write_text("q,topic\nq1,t\nq2,t\n", encoding="utf-8")
    given = ("--lists", "run_{replicate}", "--map", "item=q", "--map", "verdict=run")
    given += ("--map", "judge=file", "--suite", "s", "--map", "cluster=topic")
    joins = ("--join", "people.csv=q", "--join", "topics.csv=q")
    both = ("import", "runs/j1.csv", "runs/j2.csv", "-o", "log.jsonl")
    code, printed = command(*both, *given, *joins)
    assert code == 0, printed
    lines = [(one["judge"], one["item"], one["replicate"], one["verdict"]) for one in judged()]
    assert lines[:4] == [
        ("j1.csv", "q1", 1, "YES"), ("j1.csv", "q1", 2, "YES"),
        ("j1.csv", "q2", 1, "NO"), ("j1.csv", "q2", 2, "YES"),
    ]  # fmt: skip
    assert {(one["people"]["label"]["anna"], one["cluster"]) for one in judged()} == {("YES", "t")}
    first = Path("log.jsonl").read_bytes()
    assert command("import", "runs/*.csv", "-o", "log.jsonl", *given, *joins)[0] == 0
    assert Path("log.jsonl").read_bytes() == first
    code, printed = command("import", "runs/j1.csv", "runs/j2.csv", "-o", "log.jsonl")
    assert (code, "is each file a judge's?" in printed) == (2, True), printed
    assert command("import", "runs/*.tsv", "-o", "log.jsonl")[0] == 2
