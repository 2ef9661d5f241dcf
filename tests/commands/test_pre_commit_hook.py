"""The hook for pre-commit: what it calls is a command, and reads the files that it is given."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from pytest_judgesense.commands.main import main
from pytest_judgesense.suites.builtin import builtin_suites

ROOT = Path(__file__).parents[2]


def test_the_hook_lints_the_suite_files_that_it_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *words = shlex.split(hook["entry"])
    assert (program, hook["language"]) == ("judgesense", "python")
    sound = builtin_suites()["coherence"]
    assert re.search(hook["files"], sound.name)
    assert main([*words, str(sound)]) == 0
    broken = tmp_path / "broken.suite.toml"
    broken.write_text("schema = 1\n", encoding="utf-8")
    capsys.readouterr()
    assert main([*words, str(sound), str(broken)]) != 0
    told = capsys.readouterr()
    assert "broken.suite.toml" in told.out + told.err
