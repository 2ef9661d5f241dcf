"""The workflows that a repository gets: one that replays and comments, one that asks every night.

Each is named after the folder of its project, so that two projects of one repository have two
workflows, and two checks in GitHub's list.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from textwrap import indent
from typing import Any, Final

from pytest_judgesense.files.foreign_results import slug
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.judges.providers.builtin import BUILT_IN
from pytest_judgesense.questions.init.folders import ProjectFolders
from pytest_judgesense.questions.init.installing import MISSING, installs
from pytest_judgesense.questions.init.written_files import IS_WRITTEN, declared_in, written
from pytest_judgesense.revisions.repository import default_branch, top_of
from pytest_judgesense.suites.builtin import template_text

_FOLDER: Final = Path(".github", "workflows")
_REPLAY: Final = "judges"
_NIGHTLY: Final = "judges-nightly"
_FIRST_KEY: Final = "OPENAI_API_KEY"  # of the workflow that is written
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Where a job begins whose steps run in the folder of the project.
_JOB: Final = "    runs-on: ubuntu-latest\n    # in the folder of the project\n"
# Signs that GitHub reads in the name of a branch.
_PATTERN: Final = re.compile(r"[+!\[\]]")


@dataclass(frozen=True, slots=True)
class _Workflow:
    """A workflow and the place where GitHub looks for it.

    Attributes:
        path: of its file, from the working folder where it lies above.
        title: of the workflow and of its check.
        within: the folder of the project in the repository; empty at its top.
    """

    path: Path
    title: str
    within: str

    @classmethod
    def of(cls, project: Path, name: str) -> _Workflow:
        """That of a project, called ``name`` and after its folder."""
        inside = project.resolve()
        top = top_of(inside)
        if top is None or top == inside:
            return cls(project / _FOLDER / f"{name}.yml", name, "")
        within = inside.relative_to(top).as_posix()
        stem = f"{name}-{slug(within.replace('/', '-'))}"
        # Folders of different names may have one slug.
        paths = (top / _FOLDER / f"{free}.yml" for free in chain([stem], _numbered(stem)))
        path = next(path for path in paths if not path.exists() or _runs_in(path, within))
        return cls(Path(os.path.relpath(path)), f"{name} ({within})", within)

    def text(self, template: str, values: Mapping[str, str]) -> str:
        """The text of the workflow, with what stands for the capital words of its template."""
        text = template_text(template)
        run = f"    defaults:\n      run:\n{_directory(self.within)}" if self.within else ""
        text = text.replace(_JOB, f"    runs-on: ubuntu-latest\n{run}")
        words = {"TITLE": _scalar(self.title), "NAME": self.path.stem, **values}
        words["COMMENT_TITLE"] = _scalar(f"{self.title}, comment")
        # Once, so that no value is read as a word.
        return re.sub("|".join(rf"\b{word}\b" for word in words), lambda word: words[word[0]], text)


def write_replay(folders: ProjectFolders, step: str) -> Iterator[str]:
    """The workflow that replays, and what is to be written into it, if anything is."""
    workflow = _Workflow.of(folders.project, _REPLAY)
    branch = _PATTERN.sub(r"\\\g<0>", default_branch(folders.project))
    script = indent(template_text("init/comment.sh"), 10 * " ").strip()
    values = {"INSTALL": step, "BRANCH": _scalar(branch), "SUITES": folders.suites.as_posix()}
    values["COMMENT"] = script
    line = written(workflow.path, workflow.text("init/workflow.yml", values))
    yield line
    if line.startswith(IS_WRITTEN) and not installs(step):
        yield f"            its step Install fails until then: {MISSING}"


def write_nightly(folders: ProjectFolders, step: str) -> Iterator[str]:
    """The workflow that asks every night, with the keys of the judges that are declared."""
    keys = _keys_of((declared_in(folders.project / "pyproject.toml") or {}).values())
    workflow = _Workflow.of(folders.project, _NIGHTLY)
    values = {"INSTALL": step, "SUITES": folders.suites.as_posix()}
    # Of a step that does not run in the folder of the project.
    for word, file in (("DATASHEETS", "datasheet.*"), ("HISTORY", "judge-history.jsonl")):
        values[word] = (Path(workflow.within) / file).as_posix()
    text = workflow.text("init/nightly.yml", values)
    line = "          {0}: ${{{{ secrets.{0} }}}}\n"
    text = text.replace(line.format(_FIRST_KEY), "".join(map(line.format, keys)))
    yield written(workflow.path, text)
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


def _numbered(stem: str) -> Iterator[str]:
    return (f"{stem}-{number}" for number in count(2))


def _directory(within: str) -> str:
    return f"        working-directory: {_scalar(within)}\n"


def _runs_in(path: Path, within: str) -> bool:
    """Whether a workflow that is there is that of the project in this folder."""
    return _directory(within) in read_text(path)


def _scalar(text: str) -> str:
    """A text as YAML has it, whatever it looks like: ``on`` is a truth there, ``1.0`` a number."""
    return json.dumps(text, ensure_ascii=False)
