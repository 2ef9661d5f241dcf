"""What of a revision goes on as what of today, told from what stood there and what is declared."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.earlier.successors import Declared, RecordedThen, Successors
from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.judge_table import declared_judge
from pytest_judgesense.judges.spec import JudgeSpec, slug_of
from pytest_judgesense.revisions.revision import Revision
from pytest_judgesense.suites.suite import Suite
from tests.repository import commit, repository
from tests.suites.files import CONTENT
from tests.suites.known import load_suite

ROOT = Path("/project")
SUITES = {"pairs": [ROOT / "suites" / "pairs" / "pairs.suite.toml"]}


def then(*recorded: tuple[str, str], folder: str = "cassettes") -> RecordedThen:
    """The judges that are recorded, each on a suite."""
    files = {
        (judge, suite): [ROOT / folder / judge / f"{suite}.jsonl"] for judge, suite in recorded
    }
    names = dict.fromkeys(suite for _, suite in recorded)
    suites = {name: [ROOT / "suites" / name / f"{name}.suite.toml"] for name in names}
    return RecordedThen(ROOT, suites, files)


def today(
    judges: Collection[str],
    suites: Collection[str] = ("pairs",),
    taken: Collection[str] = (),
    retired: Collection[str] = (),
) -> Declared:
    files = {name: ROOT / "suites" / name / f"{name}.suite.toml" for name in suites}
    return Declared(frozenset(judges), files, frozenset(taken), frozenset(retired))


def judge(name: str, was: str = "") -> JudgeSpec:
    return replace(declared_judge(name, print), was=was)


@pytest.mark.parametrize(
    ("there", "here", "asked", "slug"),
    [
        # The same name.
        (["old"], ["old"], judge("old"), "old"),
        # One there, one here.
        (["old"], ["new"], judge("new"), "old"),
        # One of two that are here is new.
        (["old"], ["old", "new"], judge("new"), ""),
        # Two there: its table says which.
        (["a", "b"], ["new"], judge("new"), ""),
        (["a", "b"], ["new"], judge("new", was="b"), "b"),
        # What it was is not there any more, and means nothing.
        (["old", "b"], ["b", "new"], judge("new", was="gone"), ""),
    ],
)
def test_a_judge_is_found_by_its_name_by_what_it_was_or_as_the_only_one(
    there: list[str], here: list[str], asked: JudgeSpec, slug: str
) -> None:
    of_then = then(*((name, "pairs") for name in there))
    assert Successors(of_then, today(here), "HEAD").judge(asked, ["pairs"]) == slug


@pytest.mark.parametrize(
    ("there", "of_today", "lost"),
    [
        ([("old", "pairs")], today(["old"]), ""),
        ([("old", "pairs")], today(["new"]), ""),
        ([("a", "pairs"), ("b", "pairs")], today(["a"]), "judge b"),
        ([("a", "pairs"), ("b", "pairs")], today(["a"], retired=["b"]), ""),
        ([("a", "pairs"), ("b", "pairs")], today(["a", "c"], taken=["b"]), ""),
        # Recordings of the judges that come along need no declaration.
        ([("a", "pairs"), ("clean", "pairs"), ("smollm2-135m", "pairs")], today(["a"]), ""),
        ([("a", "pairs"), ("a", "more")], today(["a"]), "suite more"),
        ([("a", "pairs"), ("a", "more")], today(["a"], retired=["more"]), ""),
        ([("a", "pairs"), ("a", "more")], today(["a"], taken=["more"]), ""),
        ([("a", "pairs"), ("b", "more")], today(["c"]), "suite more"),
    ],
)
def test_what_was_recorded_and_has_no_successor_is_refused(
    there: list[tuple[str, str]], of_today: Declared, lost: str
) -> None:
    successors = Successors(then(*there), of_today, "HEAD")
    if not lost:
        successors.refuse_lost()
        return
    name = lost.partition(" ")[2]
    with pytest.raises(UsageError, match=f"there at HEAD is declared no more: {lost}") as caught:
        successors.refuse_lost()
    assert f'was = "{name}"' in caught.value.remedy
    assert f'retired = ["{name}"]' in caught.value.remedy


@pytest.mark.parametrize(
    ("of_today", "is_lost"),
    [
        (today(["a", "b", "my-panel"]), True),
        (today(["a", "b", "the-jury"]), True),
        (today(["a", "b", "my-panel"], taken=["my panel"]), False),
        (today(["a", "b"], retired=["my panel"]), False),
        (today(["a", "b", slug_of("my panel")]), False),
    ],
)
def test_a_jury_of_then_needs_a_successor_as_a_judge_does(
    of_today: Declared, is_lost: bool
) -> None:
    # A name with a space has a slug of its own: my-panel is another judge.
    there = replace(then(("a", "pairs"), ("b", "pairs")), juries=["my panel"])
    successors = Successors(there, of_today, "HEAD")
    if is_lost:
        with pytest.raises(UsageError, match="at HEAD is declared no more: jury my panel"):
            successors.refuse_lost()
    else:
        successors.refuse_lost()
    assert successors.retired([]) == (("my panel",) if of_today.retired else ())


def test_what_is_called_retired_since_then_is_named() -> None:
    there = then(("a", "pairs"), ("b", "more"))
    successors = Successors(there, today(["a"], retired=["b", "more", "never"]), "HEAD")
    assert successors.retired([]) == ("b", "more")
    assert successors.retired(["b"]) == ("more",)


def test_a_suite_that_changed_its_name_at_its_place_is_not_lost() -> None:
    declared = today(["a"], suites=[])
    renamed = replace(declared, suites={"new": SUITES["pairs"][0]})
    Successors(then(("a", "pairs")), renamed, "HEAD").refuse_lost()


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    folder = tmp_path / "suites"
    folder.mkdir()
    (folder / "items.jsonl").write_text('{"id": "i", "text": "x", "label": "YES"}\n')
    (folder / "facts.suite.toml").write_text(CONTENT)
    return load_suite(folder / "facts.suite.toml")


def test_a_suite_is_found_at_its_place_or_by_its_name_or_by_what_it_was(suite: Suite) -> None:
    here, there = suite.path.resolve(), ROOT / "old" / "x.suite.toml"
    place_of = RecordedThen(ROOT, {suite.base: [here]}, {}).place_of
    assert place_of(suite) == here
    # Elsewhere under its name, also where its place was another suite's.
    moved = RecordedThen(ROOT, {suite.base: [there], "other": [here]}, {})
    assert moved.place_of(suite) == there
    # Under the name that it had.
    renamed = RecordedThen(ROOT, {"was": [there]}, {})
    assert renamed.place_of(suite) is None
    assert renamed.place_of(replace(suite, was="was")) == there
    # At its place under another name.
    assert RecordedThen(ROOT, {"other": [here]}, {}).place_of(suite) == here


def test_a_recording_is_found_in_its_folder_or_wherever_it_stands() -> None:
    usual = ROOT / "cassettes"
    assert then(("a", "pairs")).file_of("a", "pairs", usual) == usual / "a" / "pairs.jsonl"
    elsewhere = then(("a", "pairs"), folder="kept").file_of("a", "pairs", usual)
    assert elsewhere == ROOT / "kept" / "a" / "pairs.jsonl"
    assert then(("a", "pairs")).file_of("b", "pairs", usual) is None
    twice = [ROOT / name / "a" / "pairs.jsonl" for name in ("one", "two")]
    several = RecordedThen(ROOT, SUITES, {("a", "pairs"): twice})
    with pytest.raises(UsageError, match="recorded in several folders"):
        several.file_of("a", "pairs", usual)
    assert several.file_of("a", "pairs", ROOT / "two") == twice[1]


def test_items_beside_their_suite_are_no_recording(tmp_path: Path) -> None:
    root = repository(tmp_path / "repository")
    folder = root / "suites" / "facts"
    folder.mkdir(parents=True)
    (folder / "facts.suite.toml").write_text(CONTENT.replace("items.jsonl", "facts.jsonl"))
    (folder / "facts.jsonl").write_text('{"id": "i", "text": "x", "label": "YES"}\n')
    (root / "cassettes" / "mine").mkdir(parents=True)
    name = load_suite(folder / "facts.suite.toml").base
    (root / "cassettes" / "mine" / f"{name}.jsonl").write_text("")
    (folder / f"{name}.jsonl").write_text("")
    commit(root)
    recorded = RecordedThen.read(Revision.read("HEAD", root), root, tmp_path / "then")
    assert recorded.suites == {name: [(folder / "facts.suite.toml").resolve()]}
    assert [*recorded.recordings] == [("mine", name)]


def test_items_are_no_recording_wherever_their_suite_names_them(tmp_path: Path) -> None:
    # `judgesense init --items tiny.jsonl` gives the suite the name of its items.
    root = repository(tmp_path / "repository")
    for folder in ("suites/tiny", "cassettes/mine"):
        (root / folder).mkdir(parents=True)
    text = CONTENT.replace("items.jsonl", "../../tiny.jsonl")
    (root / "suites" / "tiny" / "tiny.suite.toml").write_text(text)
    (root / "tiny.jsonl").write_text('{"id": "i", "text": "x", "label": "YES"}\n')
    (root / "cassettes" / "mine" / "tiny.jsonl").write_text("")
    commit(root)
    recorded = RecordedThen.read(Revision.read("HEAD", root), root, tmp_path / "then")
    assert [*recorded.recordings] == [("mine", "tiny")]


def test_juries_of_then_are_those_of_the_tables_that_the_project_reads(suite: Suite) -> None:
    top = repository(suite.path.parents[1])
    (top / "pyproject.toml").write_text(
        '[tool.judgesense.judges.a]\nprovider = "embedded"\nmodel = "clean"\n'
        '[tool.judgesense.judges.panel]\nmembers = ["a", "embedded:noisy"]\n'
    )
    other = top / "other"  # a project of its own, without suites
    other.mkdir()
    (other / "pyproject.toml").write_text("[tool.judgesense.judges.theirs]\nmembers = []\n")
    commit(top)
    revision = Revision.read("HEAD", top)
    for root, juries in ((top, {"panel"}), (suite.path.parent, {"panel"}), (other, {"theirs"})):
        assert RecordedThen.read(revision, root, top / "then").juries == juries
    # What was not there then had no judges.
    assert RecordedThen.read(revision, top / "new", top / "then").juries == frozenset()


def test_what_is_declared_is_read_from_all_files_of_the_project(suite: Suite) -> None:
    root = suite.path.parents[1]
    suite.path.write_text(f'was = "facts-2024"\n{CONTENT}')
    (root / "pyproject.toml").write_text(
        '[tool.judgesense]\nretired = ["old"]\n'
        '[tool.judgesense.judges.prod]\nprovider = "embedded"\nmodel = "clean"\nwas = "beta"\n'
        '[tool.judgesense.judges.panel]\nmembers = ["prod", "openai:m"]\n'
    )
    declared = Declared.below(root, [judge("of conftest")], BUILT_IN)
    assert declared == Declared(
        # A member need not be declared beside its jury: its recording is not lost.
        frozenset({"prod", "panel", slug_of("openai:m"), slug_of("of conftest")}),
        {suite.base: suite.path.resolve()},
        frozenset({"facts-2024", "beta"}),
        frozenset({"old"}),
    )
    (root / "pyproject.toml").write_text('[tool.judgesense]\nretired = "old"\n')
    with pytest.raises(UsageError, match=r"retired in \[tool.judgesense\] of .* is wrong"):
        Declared.below(root, [], BUILT_IN)
