"""Models by name and by path: where they are, and what is wrong where they are not."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from pytest_judgesense.errors import JudgeError, UsageError
from pytest_judgesense.judges import local
from pytest_judgesense.judges.judge_table import declared_judge, judge_from_table
from pytest_judgesense.judges.local import MODELS, file_of, models_folder, name_of
from pytest_judgesense.judges.prompts import judge_for_suite
from pytest_judgesense.judges.resolving import key_of, resolve_judges
from tests.report.replaying import suite_named

from .known import TINY, WEIGHTS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of models, of which a made-up one is known."""
    monkeypatch.setenv("JUDGESENSE_MODELS", str(tmp_path / "models"))
    monkeypatch.setitem(local.MODELS, "tiny", TINY)  # type: ignore[arg-type]
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


def test_models_stand_in_the_users_cache_unless_a_variable_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUDGESENSE_MODELS", raising=False)
    for platform, variable, below in (
        ("linux", "XDG_CACHE_HOME", tmp_path),
        ("win32", "LOCALAPPDATA", tmp_path),
    ):
        monkeypatch.setattr(sys, "platform", platform)
        monkeypatch.setenv(variable, str(tmp_path))
        assert models_folder() == below / "judgesense" / "models"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert models_folder() == Path.home() / "Library" / "Caches" / "judgesense" / "models"
    monkeypatch.setenv("JUDGESENSE_MODELS", str(tmp_path / "own"))
    assert MODELS["smollm2-135m"].path == tmp_path / "own" / "smollm2-135m.gguf"


def test_a_model_that_is_not_here_is_an_error_that_names_the_command(folder: Path) -> None:
    for name in MODELS:
        with pytest.raises(JudgeError, match=re.escape(f"judgesense serve --get {name}")):
            file_of(name)
    (folder / "tiny.gguf").write_bytes(WEIGHTS)
    assert file_of("tiny") == folder / "tiny.gguf"


@pytest.mark.parametrize(
    ("content", "found"),
    [(WEIGHTS + b"!", f"{len(WEIGHTS) + 1} bytes"), (WEIGHTS[::-1], "SHA-256")],
)
def test_another_file_of_that_name_is_not_asked(folder: Path, content: bytes, found: str) -> None:
    (folder / "tiny.gguf").write_bytes(content)
    with pytest.raises(JudgeError, match=found):
        file_of("tiny")


def test_a_path_is_a_model_that_is_called_by_its_file_wherever_it_is(folder: Path) -> None:
    path = folder / "Some.Model.Q4.gguf"
    with pytest.raises(JudgeError, match="is not there"):
        file_of(str(path))
    path.write_bytes(b"GGUF")
    assert (file_of(str(path)), name_of(str(path))) == (path, "Some.Model.Q4")
    (judge,) = resolve_judges([f"local:{path}"], {}, {})
    assert (judge.name, judge.model) == ("Some.Model.Q4", str(path))


@pytest.mark.parametrize("name", MODELS)
def test_the_name_of_a_model_is_the_name_of_a_judge(name: str) -> None:
    """Recordings come by that name, so it must mean the same everywhere and for ever."""
    short, long = (resolve_judges([given], {}, {})[0] for given in (name, f"local:{name}"))
    assert short == long
    assert (short.name, short.slug, short.provider, short.model) == (name, name, "local", name)
    assert (short.structured, short.max_tokens, short.temperature) == (True, 40, 0.0)
    assert short.seed == 0
    assert key_of(short) == ("", None)
    own = declared_judge(name, provider="openai", model="m")
    assert resolve_judges([name], {name: own}, {}) == [own]


def test_a_declared_judge_asks_in_free_text_unless_it_says_otherwise() -> None:
    table = {"provider": "local", "model": "smollm2-135m"}
    plain = judge_from_table("mine", table, Path())
    assert (plain.structured, plain.max_tokens, plain.timeout_s) == (None, 256, 600.0)
    assert (plain.threads, plain.context, plain.seed) == (None, None, 0)
    assert judge_for_suite(plain, suite_named("vacuum")).reply_schema is None
    told = judge_from_table(
        "mine",
        {**table, "structured": True, "threads": 1, "context": 512, "seed": 3, "timeout_s": 9.0},
        Path(),
    )
    assert (told.threads, told.context, told.seed, told.timeout_s) == (1, 512, 3, 9.0)
    assert judge_for_suite(told, suite_named("vacuum")).reply_schema is not None


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"provider": "local", "model": "no-such-model"}, "smollm2-135m"),
        ({"provider": "local", "model": "tiny", "threads": 0}, "threads"),
        ({"provider": "local", "model": "tiny", "context": 10}, "context"),
        ({"provider": "openai", "model": "m", "threads": 2}, "for the provider local"),
        ({"provider": "embedded", "model": "clean", "context": 999}, "for the provider local"),
    ],
)
def test_what_a_local_judge_cannot_be_is_an_error(
    table: dict[str, object], said: str, folder: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        judge_from_table("mine", table, folder)


def test_the_models_of_the_documentation_are_those_that_are_known() -> None:
    root = Path(__file__).parents[3]
    text = (root / "docs" / "local-models.md").read_text("utf-8")
    readme = (root / "README.md").read_text("utf-8")
    for model in MODELS.values():
        short = f"| `{model.name}` | {model.title}, {model.quantisation} | `{model.sha256}` |"
        assert short in readme
        size = f"{model.bytes / 1e6:.0f} MB"
        row = [f"`{model.name}`", model.title, model.quantisation, size, model.licence]
        assert f"| {' | '.join(row)} | `{model.sha256}` |" in text
