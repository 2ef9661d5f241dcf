from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.resolving import declared_judges, function_of, resolve_judges
from pytest_judgesense.judges.spec import JudgeSpec, table_of

A = JudgeSpec("a", "openai", "gpt")
B = JudgeSpec("b", "anthropic", "claude")
OBJECT = JudgeSpec("o", "callable", "m:f")


def _project(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return folder


MINE = '[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "gpt"\n'


def test_judges_are_declared_in_the_nearest_pyproject_upward(tmp_path: Path) -> None:
    inner = tmp_path / "one" / "two"
    inner.mkdir(parents=True)
    _project(tmp_path, MINE)
    assert list(declared_judges(inner)) == ["mine"]
    _project(tmp_path / "one", MINE.replace("mine", "nearer"))
    assert list(declared_judges(inner)) == ["nearer"]


def test_the_search_may_start_at_a_file(tmp_path: Path) -> None:
    _project(tmp_path, MINE)
    file = tmp_path / "x.suite.toml"
    file.touch()
    assert list(declared_judges(file)) == ["mine"]


def test_prompt_files_are_looked_up_beside_the_pyproject(tmp_path: Path) -> None:
    (tmp_path / "strict.md").write_text("Be strict.", encoding="utf-8")
    _project(tmp_path, MINE + 'prompts.strict = { file = "strict.md" }\n')
    inner = tmp_path / "tests"
    inner.mkdir()
    assert declared_judges(inner)["mine"].prompts.strict == "Be strict."


def test_a_pyproject_without_judges_declares_none(tmp_path: Path) -> None:
    assert declared_judges(_project(tmp_path, '[project]\nname = "x"\n')) == {}


@pytest.mark.parametrize("text", ["[tool", "\x00"])
def test_a_pyproject_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"pyproject\.toml cannot be read"):
        declared_judges(_project(tmp_path, text))


@pytest.mark.parametrize(
    "text", ["[tool.judgesense]\njudges = 5\n", "[tool.judgesense.judges]\nmine = 5\n"]
)
def test_what_is_no_table_is_an_error_that_shows_one(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"\[tool\.judgesense\.judges\.mine\]"):
        declared_judges(_project(tmp_path, text))


@pytest.mark.parametrize("text", ["tool = 5\n", "[tool]\njudgesense = 5\n"])
def test_tables_above_that_are_none_are_an_error_too(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"pyproject\.toml"):
        declared_judges(_project(tmp_path, text))


# Without names the declared judges, else those that the suite names.
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("temprature = 1", "temprature: no such key"),
        ("temperature = -1", "temperature: Input should be greater"),
        ("prices = 1", "prices: has to be a table"),
        ("prices = { prompt = 1, input = 2 }", "prices.completion: is missing"),
        ("repair = { model = 'x' }", "repair.model: no such key"),
        ("prompts.strict = { path = 'x' }", "prompts.strict.path: no such key"),
        ("arguments = { a = 'b' }", "found:    arguments are those of"),
    ],
)
def test_a_fault_of_a_table_names_its_key_and_no_class_of_this_package(
    tmp_path: Path, line: str, found: str
) -> None:
    with pytest.raises(UsageError, match="judge 'mine' is declared wrongly") as raised:
        declared_judges(_project(tmp_path, f"{MINE}{line}\n"))
    text = str(raised.value)
    assert found in text
    assert "Form" not in text
    assert "_File" not in text
    assert "remedy:   fix [tool.judgesense.judges.mine]" in text


def test_the_head_of_a_table_is_toml_for_any_name() -> None:
    assert table_of("prod-2") == "[tool.judgesense.judges.prod-2]"
    assert table_of("openai:gpt") == '[tool.judgesense.judges."openai:gpt"]'


def test_a_misspelt_table_of_judges_is_an_error_and_leaves_the_gate_to_no_other_judge(
    tmp_path: Path,
) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text('[tool.judgesense.judge.mine]\nprovider = "embedded"\nmodel = "clean"\n')
    with pytest.raises(UsageError, match="has a key that is not known") as raised:
        declared_judges(tmp_path)
    assert "found:    'judge'" in str(raised.value)
    assert "[tool.judgesense.judges.mine]" in str(raised.value)


def test_without_names_all_declared_judges_and_objects_are_taken() -> None:
    assert resolve_judges([], {"a": A, "b": B}, {"o": OBJECT}, ["embedded:clean"]) == [A, B, OBJECT]


def test_without_names_and_declarations_the_suite_names_its_judges() -> None:
    assert [j.name for j in resolve_judges([], {}, {}, ["embedded:clean"])] == ["clean"]


def test_names_choose_among_the_declared_in_the_order_that_was_asked() -> None:
    assert resolve_judges(["b", "a"], {"a": A, "b": B}, {}) == [B, A]


def test_a_name_given_twice_counts_once() -> None:
    assert resolve_judges(["a", "a"], {"a": A}, {}) == [A]


def test_an_object_replaces_a_declared_judge_of_its_name() -> None:
    own = JudgeSpec("a", "callable", "m:f")
    assert resolve_judges(["a"], {"a": A}, {"a": own}) == [own]


def test_a_declared_name_wins_over_a_provider() -> None:
    declared = JudgeSpec("openai:gpt", "anthropic", "claude")
    assert resolve_judges(["openai:gpt"], {"openai:gpt": declared}, {}) == [declared]


def test_a_provider_and_a_model_need_no_declaration() -> None:
    (judge,) = resolve_judges(["anthropic:claude"], {}, {})
    assert (judge.provider, judge.model) == ("anthropic", "claude")


def test_no_judge_at_all_is_an_error_that_says_how_to_declare_one() -> None:
    with pytest.raises(UsageError) as caught:
        resolve_judges([], {}, {})
    assert "--judge-name embedded:clean" in caught.value.remedy
    assert "[tool.judgesense.judges.mine]" in caught.value.remedy


def test_an_unknown_name_lists_the_declared_the_profiles_and_the_providers() -> None:
    with pytest.raises(UsageError) as caught:
        resolve_judges(["mien"], {"mine": A}, {})
    for valid in ("mine", "embedded:clean", "openai:MODEL", "anthropic:MODEL", "callable:MODEL"):
        assert valid in caught.value.expected
    assert caught.value.remedy == "did you mean 'mine'?"


def test_two_judges_that_would_share_files_are_an_error() -> None:
    # "clean" is the embedded profile's name; on some file systems so is "CLEAN".
    other = JudgeSpec("CLEAN", "openai", "gpt")
    with pytest.raises(UsageError, match="two judges share one name"):
        resolve_judges(["CLEAN", "embedded:clean"], {"CLEAN": other}, {})


def test_a_mistyped_table_of_the_project_gets_the_one_that_is_meant(tmp_path: Path) -> None:
    _project(tmp_path, MINE.replace("judgesense.judges", "judgesense.judge"))
    with pytest.raises(UsageError) as caught:
        declared_judges(tmp_path)
    assert caught.value.remedy == "did you mean 'judges'?"


def test_a_module_that_needs_an_environment_variable_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needs_one.py").write_text(
        "import os\nMODEL = os.environ['GRADER_MODEL_OF_TESTS']\n"
        "def judge(messages):\n    return MODEL\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    spec = JudgeSpec("mine", "callable", "needs_one:judge")
    with pytest.raises(UsageError, match="reads an environment variable that is not set") as caught:
        function_of(spec)
    assert "GRADER_MODEL_OF_TESTS" in caught.value.found
    assert "export GRADER_MODEL_OF_TESTS=" in caught.value.remedy
    # A dictionary of the module's own is no environment.
    (tmp_path / "own_table.py").write_text("X = {}['GRADER_MODEL_OF_TESTS']\n")
    with pytest.raises(UsageError, match="its module fails"):
        function_of(JudgeSpec("mine", "callable", "own_table:judge"))
