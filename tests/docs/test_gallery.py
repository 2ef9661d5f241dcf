"""The gallery's pages show its results, and its results are what plain counting finds in the files.

The files of others are no part of the project: where they are, every figure is counted again here,
without the project's code (`tests.docs.counting`). The bounds of intervals are those of `stats`,
which its own tests cover.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts import gallery
from tests.docs import counting
from tests.docs.blocks import ROOT, blocks_of
from tests.docs.counting import Counted
from tests.foreign import write_rows
from tests.shared_data import GALLERY, LLMBAR, needs_gallery, needs_llmbar

RESULTS: dict[str, Any] = json.loads(gallery.RESULTS.read_text(encoding="utf-8"))
ORIGINS = {origin.name: origin for origin in gallery.origins()}


# -- what the project holds ------------------------------------------------------------------------


def test_the_pages_show_the_results() -> None:
    made = gallery.pages(RESULTS)
    assert {path.name for path in made if path.parent == gallery.GALLERY} == {
        path.name for path in gallery.GALLERY.glob("*.md")
    }
    for path, text in made.items():
        again = f"{path} is not what its results say: python scripts/gallery.py"
        assert path.read_text(encoding="utf-8") == text, again


def test_twelve_judges_of_four_origins_are_shown() -> None:
    assert list(RESULTS) == list(ORIGINS)
    assert len(ORIGINS) >= 4
    models = {model for origin in ORIGINS.values() for _, model in origin.judges.values()}
    assert len(models) >= 12


@pytest.mark.parametrize("name", ORIGINS)
def test_each_judge_of_an_origin_has_its_figures(name: str) -> None:
    origin = ORIGINS[name]
    assert list(RESULTS[name]) == list(origin.judges)
    for by_suite in RESULTS[name].values():
        assert list(by_suite) == list(origin.suites)
        for part in by_suite.values():
            assert 0 <= part["without_verdict"] < part["judgments"]
            for measure in origin.measures:
                estimate = part[measure]
                assert estimate["lower"] <= estimate["value"] <= estimate["upper"]
                assert 0 <= estimate["count"] <= estimate["n"] <= part["judgments"]


@pytest.mark.parametrize("name", ORIGINS)
def test_an_origin_says_where_its_files_are(name: str) -> None:
    origin = ORIGINS[name]
    assert origin.repository.startswith("https://github.com/")
    assert len(bytes.fromhex(origin.commit)) == 20
    assert origin.licence.startswith(("MIT", "Apache-2.0"))
    assert origin.limits
    paths = {path for path in gallery.digests() if path.startswith(f"{name}/")}
    for log in origin.logs():
        below = f"{name}/{log.path}"
        assert any(path == below or path.startswith(f"{below}/") for path in paths), below


# -- the script, on files made up here -------------------------------------------------------------

MADE_UP = {
    "name": "made-up",
    "title": "Made up",
    "repository": "https://github.com/nobody/nothing",
    "commit": "0" * 40,
    "licence": "MIT",
    "about": "Two questions.",
    "limits": ["Anything."],
    "measures": ["agreement", "repeat_flip_rate"],
    "suites": {"s": "Questions"},
    "judges": {"j-2": ["Second", "j-2"], "j-1": ["First", "j-1"]},
    "log": [
        {
            "kind": "table",
            "path": "votes-{judge}.jsonl",
            "options": [
                *("--judge", "{judge}", "--suite", "s", "--lists", "votes=run"),
                *("--map", "replicate=run", "--map", "verdict=votes"),
                *("--join", "{root}/labels.jsonl=item"),
            ],
            "with": ["labels.jsonl"],
            "each": {"judge": ["j-1", "j-2"]},
        }
    ],
}


def made_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> gallery.Origin:
    """An origin with its files and their digests."""
    files = folder / "made-up"
    files.mkdir()
    questions = [f"q{number}" for number in range(1, 7)]
    labels = ["A", "B", "A", "A", "A", "A"]
    rows = [{"item": q, "label": label} for q, label in zip(questions, labels, strict=True)]
    write_rows(files / "labels.jsonl", rows)
    right: list[list[str | None]] = [[label, label] for label in labels]
    votes = {"j-1": right, "j-2": [["A", "B"], ["A", None], *right[2:]]}
    for judge, of_judge in votes.items():
        rows = [{"item": q, "votes": said} for q, said in zip(questions, of_judge, strict=True)]
        write_rows(files / f"votes-{judge}.jsonl", rows)
    origin = gallery.Origin(**MADE_UP)
    monkeypatch.setattr(gallery, "DIGESTS", folder / "SHA256SUMS")
    monkeypatch.setattr(gallery, "origins", lambda: [origin])
    gallery.write_digests(folder)
    return origin


def test_the_files_of_an_origin_are_imported_and_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = made_up(tmp_path, monkeypatch)
    assert gallery.problems(tmp_path, origin) == []
    results = gallery.measured(tmp_path, origin)
    assert list(results) == ["j-2", "j-1"]
    second, first = (results[judge]["s"] for judge in results)
    # Of twelve votes one is missing; of q1 and q2 one is right. q1 flips, q2 has one vote alone.
    assert (second["judgments"], second["without_verdict"]) == (12, 1)
    assert [second["agreement"][key] for key in ("count", "n", "value")] == [9, 12, 0.75]
    assert [second["repeat_flip_rate"][key] for key in ("count", "n")] == [1, 5]
    assert [first["agreement"][key] for key in ("count", "n")] == [12, 12]
    assert [first["repeat_flip_rate"][key] for key in ("count", "n")] == [0, 6]
    page = gallery.page_of(origin, results)
    assert "12 judgments of 6 clusters, 0 to 1 without a verdict." in page
    assert "Second | .20 [" in page
    assert gallery.digests()["made-up/labels.jsonl"] in page


def test_files_that_are_missing_or_others_are_told_with_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = made_up(tmp_path, monkeypatch)
    (tmp_path / "made-up" / "labels.jsonl").unlink()
    (tmp_path / "made-up" / "votes-j-1.jsonl").write_text("{}\n", encoding="utf-8")
    missing, changed = gallery.problems(tmp_path, origin)
    assert "labels.jsonl is not there" in missing
    assert "votes-j-1.jsonl has another SHA-256" in changed
    for problem in (missing, changed):
        assert f"https://github.com/nobody/nothing at {'0' * 40}" in problem


def test_the_script_says_how_the_files_are_laid_out() -> None:
    shown = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "gallery.py"), "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "FILES/pandalm/data/testset-v1.json" in shown
    assert "nothing is fetched" in shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("files", "--origin", "nope"), "no origin is called nope: llmbar, "),
        (("--digests",), "need the folder of the files"),
        (("--origin", "llmbar"), "need the folder of the files"),
    ],
)
def test_a_wrong_command_writes_nothing(
    arguments: tuple[str, ...],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["gallery.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        gallery.main()
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


# -- the files of others ---------------------------------------------------------------------------


def same(part: dict[str, Any], counted: Counted, measures: list[str]) -> None:
    """The figures of a judge on a suite are those that were counted."""
    assert part["judgments"] == counted.judgments
    assert part["without_verdict"] == counted.without_verdict
    assert part["clusters"] == max(counted.shares[measure].clusters for measure in measures)
    for measure in measures:
        share, estimate = counted.shares[measure], part[measure]
        assert (estimate["count"], estimate["n"]) == (share.count, share.n), measure
        assert estimate["value"] == pytest.approx(share.value), measure


@needs_gallery
@pytest.mark.parametrize("name", ORIGINS)
def test_every_figure_is_what_plain_counting_finds(name: str) -> None:
    origin = ORIGINS[name]
    assert gallery.problems(GALLERY, origin) == []
    counted = counting.of_origin(name, GALLERY / name)
    judges = {(judge, suite) for judge in origin.judges for suite in origin.suites}
    assert {*counted} == judges
    for (judge, suite), figures in counted.items():
        same(RESULTS[name][judge][suite], figures, [*origin.measures])


@needs_llmbar
def test_figures_of_two_judges_of_llmbar_are_counted_from_their_share() -> None:
    counted = counting.counted(counting.llmbar(LLMBAR))
    assert {judge for judge, _ in counted} == {"ChatGPT", "LLaMA2"}
    for (judge, suite), figures in counted.items():
        same(RESULTS["llmbar"][judge][suite], figures, [*ORIGINS["llmbar"].measures])


@needs_gallery
@pytest.mark.skipif(sys.platform == "win32", reason="the commands are of a POSIX shell")
@pytest.mark.parametrize("name", ["pandalm", "llm-judge-consistency"])
def test_the_commands_of_a_page_make_its_figures(name: str, tmp_path: Path) -> None:
    (block,) = (block for block in blocks_of(f"gallery/{name}.md") if block.notes.get("not run"))
    lines = [line for line in block.text.splitlines() if not line.startswith("git ")]
    assert lines[-1] == f"judgesense report {name}-*.jsonl"
    lines[-1] += " -o sheet.json"
    (tmp_path / name).symlink_to((GALLERY / name).resolve())
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run(
        ["sh", "-e", "-c", "\n".join(lines)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    sheet = json.loads((tmp_path / "sheet.json").read_text(encoding="utf-8"))
    assert gallery.results_of(sheet, ORIGINS[name]) == RESULTS[name]
