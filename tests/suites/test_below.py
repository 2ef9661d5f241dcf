"""The suite files of a project."""

from __future__ import annotations

from pathlib import Path

from pytest_judgesense.suites.below import head_of, suite_files_below


def test_suite_files_are_looked_for_where_a_project_has_them(tmp_path: Path) -> None:
    there = ("b.suite.toml", "suites/a/a.suite.toml")
    nowhere = (".git/x.suite.toml", "env/x.suite.toml", "build/x.suite.toml")
    for place in (*there, *nowhere):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    found = [path.relative_to(tmp_path).as_posix() for path in suite_files_below(tmp_path)]
    assert found == [*there]


def test_the_head_of_a_suite_file_is_its_name_and_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.suite.toml"
    path.write_text('name = "a"\nwas = "b"\nkind = "paraphrase"\n')
    assert head_of(path) == {"name": "a", "was": "b"}
    path.write_text("name = 3\n")
    assert head_of(path) == {}
    path.write_text("name = ")  # its own load says what is wrong
    assert head_of(path) == {}
