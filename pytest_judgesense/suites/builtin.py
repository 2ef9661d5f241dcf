"""Where the data of the project are, in every kind of install: suites, recordings, pages.

An editable install reads the checkout. A wheel contains them as one archive; a process unpacks what
it needs into a temporary folder and removes that at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

_PACKAGE = Path(__file__).resolve().parent.parent
_ARCHIVE = _PACKAGE / "data.zip"
_UNPACKED = "judgesense-data-"
SUITE_SUFFIX: Final = ".suite.toml"
# Where a project has its suites, a folder each; the second where a build takes the first for code.
SUITE_FOLDERS: Final = ("suites", "tests/suites")


def builtin_suites() -> dict[str, Path]:
    """Name and file of every built-in suite, in alphabetical order."""
    files = sorted(_data("suites/").glob("*/*.suite.toml"))
    return {file.name.removesuffix(SUITE_SUFFIX): file for file in files}


def is_built_in(path: Path) -> bool:
    """Whether a suite file comes with the installation, whatever links lead to either."""
    return path.resolve().is_relative_to(_data("suites/").resolve())


def is_unpacked(path: Path) -> bool:
    """Whether a file is of the data that a process has unpacked: nobody's suite, wherever it lies.

    The temporary folder of the system may be one of the project, or the whole of it may be searched
    for suites while another process has its data there.
    """
    return any(part.startswith(_UNPACKED) for part in path.parts)


def suite_file(name: str, root: Path = Path(), *near: Path) -> Path | None:
    """The suite file that a path or a name means: the one of the project, else the built-in one.

    A path starts at one of the folders ``near``, or at ``root``, the project's.
    """
    of_project = [root / folder / name / f"{name}{SUITE_SUFFIX}" for folder in SUITE_FOLDERS]
    paths = (
        *(folder / name for folder in (*near, root)),
        *of_project,
        builtin_suites().get(name, of_project[0]),
    )
    return next(
        (path for path in paths if path.name.endswith(SUITE_SUFFIX) and path.is_file()), None
    )


def builtin_cassette(relative: Path) -> Path | None:
    """A recording that comes with the installation (read only), ``<judge>/<suite>.jsonl``."""
    path = _data(f"cassettes/{relative.as_posix()}")
    return path if path.is_file() else None


def cassettes_in(folder: Path, judge: str, names: Iterable[str]) -> dict[str, Path]:
    """The recordings of a judge in ``folder`` by name, else those of the installation."""
    files = {name: Path(judge) / f"{name}.jsonl" for name in names}
    return {
        name: path if (path := folder / file).exists() else builtin_cassette(file) or path
        for name, file in files.items()
    }


def template_text(name: str) -> str:
    """The text of a file of ``templates/``, named with its folders: ``init/workflow.yml``."""
    # All of them at once: a process unpacks a folder no more than once.
    return (_data("templates/") / name).read_text(encoding="utf-8")


# Pages by hand that `judgesense explain NAME` shows of an installation, in ``docs/``.
PAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "drift": "howto/drift.md",
        "early-stopping": "early-stopping.md",
        "extending": "extending.md",
        "juries": "juries.md",
        "migrate": "howto/migrate.md",
        "panel": "howto/panel.md",
        "rubric-suites": "howto/rubric.md",
    }
)


def page(name: str) -> str:
    """The text of one of `PAGES`, in Markdown."""
    return _data(f"docs/{PAGES[name]}").read_text(encoding="utf-8")


def schema_text(name: str) -> str:
    """The JSON Schema of a file, by the name that it has in ``docs/schemas``."""
    return (_data("docs/schemas/") / f"{name}.json").read_text(encoding="utf-8")


def measure_page(name: str) -> str | None:
    """The page of a measure, in Markdown; ``None`` for one that has none."""
    path = _data("docs/measures/") / f"{name}.md"
    return path.read_text(encoding="utf-8") if path.is_file() else None


@cache
def _data(prefix: str) -> Path:
    """The place of a data file, or folder (``/`` at its end), which may not exist."""
    if not _ARCHIVE.is_file():
        return _PACKAGE.parent / prefix
    from zipfile import ZipFile

    with ZipFile(_ARCHIVE) as archive:
        wanted = [name for name in archive.namelist() if name.startswith(prefix)]
        archive.extractall(_unpacked(), wanted)
    return _unpacked() / prefix


@cache
def _unpacked() -> Path:
    import atexit
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix=_UNPACKED)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
