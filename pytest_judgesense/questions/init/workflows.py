"""The workflows that replay and that ask every night, where GitHub looks for them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.files.foreign_results import slug
from pytest_judgesense.judges.providers.builtin import BUILT_IN
from pytest_judgesense.questions.init.installing import MISSING, installs
from pytest_judgesense.questions.init.written_files import IS_WRITTEN, declared_in, written
from pytest_judgesense.revisions.repository import top_of
from pytest_judgesense.suites.builtin import template_text

_WORKFLOW: Final = Path(".github", "workflows", "judges.yml")
_INSTALL: Final = "          INSTALL\n"  # where the command stands that installs
_FIRST_KEY: Final = "OPENAI_API_KEY"  # of the workflow that is written
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def write_replay(folder: Path, step: str) -> Iterator[str]:
    """The workflow that replays, and what is to be written into it, if anything is."""
    line = _write_workflow(folder, step, template_text("init/workflow.yml"), _WORKFLOW.stem)
    yield line
    if line.startswith(IS_WRITTEN) and not installs(step):
        yield f"            its step Install fails until then: {MISSING}"


def write_nightly(folder: Path, step: str) -> Iterator[str]:
    """The workflow that asks every night, with the keys of the judges that are declared."""
    keys = _keys_of((declared_in(folder / "pyproject.toml") or {}).values())
    line = "          {0}: ${{{{ secrets.{0} }}}}\n"
    text = template_text("init/nightly.yml").replace(
        line.format(_FIRST_KEY), "".join(map(line.format, keys))
    )
    yield _write_workflow(folder, step, text, "judges-nightly")
    secrets = (
        f"these secrets: {', '.join(keys)}" if keys else "the secrets of your functions, if any"
    )
    yield f"            it needs {secrets}; what a night costs: judgesense plan SUITE"


def _keys_of(judges: Iterable[Mapping[str, Any]]) -> list[str]:
    """The variables with the keys of judges, by their tables."""
    usual = {name: provider.default_key_env for name, provider in BUILT_IN.items()}
    named = (judge.get("api_key_env") or usual.get(judge.get("provider", "")) for judge in judges)
    # It is written into a file of commands.
    return sorted({key for key in named if isinstance(key, str) and _VARIABLE.fullmatch(key)})


def _write_workflow(folder: Path, step: str, text: str, name: str) -> str:
    """A workflow where GitHub looks for it: at the top of the repository, under its own name.

    Args:
        folder: that of the project.
        step: the command that installs.
        text: the workflow, with a place for that command.
        name: that of its file.
    """
    text = text.replace(_INSTALL, f"          {step}\n")
    project = folder.resolve()
    top = top_of(project)
    if top is None or top == project:
        return written(folder / _WORKFLOW.with_stem(name), text)
    within = project.relative_to(top).as_posix()
    path = top / _WORKFLOW.with_stem(f"{name}-{slug(within.replace('/', '-'))}")
    job = "    runs-on: ubuntu-latest\n"
    run = f"    defaults:\n      run:\n        working-directory: {json.dumps(within)}\n"
    text = text.replace(job, job + run)
    # Of a step that does not run there.
    for file in ("datasheet.*", "report.xml", "judge-history.jsonl"):
        text = text.replace(f"            {file}\n", f"            {within}/{file}\n")
    return written(Path(os.path.relpath(path)), text)
