"""Datasheets that somebody has edited: a value of another kind is refused before it is used."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import measure
from pytest_judgesense.commands.main import main
from pytest_judgesense.report.datasheet_file import datasheet_json, refuse_other_kinds


@cache
def _written() -> dict[str, Any]:
    sheet = measure(["embedded:clean", "embedded:noisy"], ["vacuum@quick", "coherence"])
    found: dict[str, Any] = json.loads(datasheet_json(sheet))
    return found


def test_what_is_written_is_of_these_kinds() -> None:
    refuse_other_kinds(_written())


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("measures", 0, "measure"), ["jss"]),
        (("measures", 0, "condition"), 0.5),
        (("measures", 0, "value"), "0.5"),
        (("measures", 0, "value"), True),
        (("measures", 0, "n"), None),
        (("measures", 0, "flags"), "degenerate"),
        (("measures", 0, "missing", "failed"), []),
        (("measures", 0, "clustered"), {"lower": 0.1}),
        (("checks", 0, "gates"), [3]),
        (("checks", 0, "bar"), None),
        (("analyses", 0, "rows"), {}),
        (("parts", 0, "calls", "prompt_tokens"), [1]),
        (("parts", 0, "recorded"), "today"),
        (("judge", "name"), 3),
    ],
)
@pytest.mark.parametrize("command", ["compare", "recordings join"])
def test_a_value_of_another_kind_is_an_error_that_says_where(
    command: str,
    place: tuple[str | int, ...],
    value: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    edited = copy.deepcopy(_written())
    of: Any = edited["judges"][0]
    for key in place[:-1]:
        of = of[key]
    of[place[-1]] = value
    (tmp_path / "then.json").write_text(json.dumps(_written()))
    (tmp_path / "now.json").write_text(json.dumps(edited))
    files = [str(tmp_path / name) for name in ("then.json", "now.json")]
    more = ["-o", str(tmp_path / "both.json")] if command == "recordings join" else []
    assert main([*command.split(), *files, *more]) == 3
    told = capsys.readouterr().err
    assert f"{tmp_path / 'now.json'} is not a datasheet that can be" in told
    assert "judges.0." + ".".join(map(str, place)) in told
