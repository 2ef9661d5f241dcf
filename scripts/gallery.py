"""The gallery: judges that people know, measured from logs that others published.

``docs/gallery/judges.toml`` says which files of which repository at which commit, under which
licence, and how they are imported; ``SHA256SUMS`` has their digests, ``results.json`` what was
measured. The files are not part of the project, and nothing is fetched. To measure, put them into
a folder ``FILES``, a clone of each repository at its commit under the name of its origin::

    FILES/llmbar/Dataset/LLMBar/Natural/evaluators/GPT-4/Vanilla/result.json
    FILES/pandalm/data/testset-v1.json

``python scripts/gallery.py``
    writes the pages from the results
``python scripts/gallery.py FILES [--origin NAME]``
    checks the digests, imports and reports the files, and writes the results and the pages
``python scripts/gallery.py FILES --digests``
    writes the digests of the files that the table names
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from shlex import quote
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pytest_judgesense.commands.main import main as judgesense

CHECKOUT = Path(__file__).resolve().parent.parent
GALLERY = CHECKOUT / "docs" / "gallery"
FRONT = CHECKOUT / "docs" / "index.md"
TABLE, DIGESTS, RESULTS = (GALLERY / name for name in ("judges.toml", "SHA256SUMS", "results.json"))
# What the pages call a measure, in the order of their columns, and in a sentence.
MEASURES = {
    "first_slot_rate": ("first slot", "first slot {}%"),
    "side_bias": ("side bias", ""),
    "order_positional": ("pairs by slot", "{}% of pairs by slot"),
    "repeat_flip_rate": ("repeats", "{}% change on repeat"),
    "agreement": ("label", "{}% as labelled"),
}
_MOST_LISTED = 6
_BEGIN, _END = "<!-- gallery -->", "<!-- end of gallery -->"
_HOLE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Log:
    """One import: what is read, with the options of the command, and what it writes."""

    kind: str
    path: str
    options: tuple[str, ...]
    beside: tuple[str, ...]
    output: str


@dataclass(frozen=True)
class Origin:
    """A repository with logs of judges; see the head of the table."""

    name: str
    title: str
    repository: str
    commit: str
    licence: str
    about: str
    limits: Sequence[str]
    measures: Sequence[str]
    suites: Mapping[str, str]
    judges: Mapping[str, Sequence[str]]
    log: Sequence[Mapping[str, Any]]

    def logs(self, root: str = "") -> list[Log]:
        """All imports, of the files in the folder ``root``."""
        return [
            log
            for place, form in enumerate(self.log, start=1)
            for log in self._logs(place, form, root)
        ]

    def _logs(self, place: int, form: Mapping[str, Any], root: str) -> Iterator[Log]:
        each = form.get("each", {})
        for values in product(*each.values()):
            filled = {"root": root}
            for names, value in zip(each, values, strict=True):
                filled |= zip(names.split(","), value.split(","), strict=True)
            yield Log(
                form["kind"],
                _filled(form["path"], filled),
                tuple(_filled(option, filled) for option in form["options"]),
                tuple(form.get("with", ())),
                "-".join((self.name, str(place), *list(filled.values())[1:])) + ".jsonl",
            )

    def reads(self, path: str) -> bool:
        """Whether a file of the repository is imported."""
        return any(
            path in (log.path, *log.beside)
            or (path.startswith(f"{log.path}/") and self._is_chosen(path, log))
            for log in self.logs()
        )

    @staticmethod
    def _is_chosen(path: str, log: Log) -> bool:
        *_, variant, name = path.split("/")
        return name == "result.json" and variant in log.options


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _HOLE.sub(lambda hole: values[hole[1]], text)


def origins() -> list[Origin]:
    """The origins of the table."""
    form = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return [Origin(**origin) for origin in form["origin"]]


# -- files -----------------------------------------------------------------------------------------


def digests() -> dict[str, str]:
    """The SHA-256 of each file, by its path below the folder of files."""
    lines = DIGESTS.read_text(encoding="utf-8").splitlines()
    return {path: digest for digest, path in (line.split("  ", 1) for line in lines)}


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def problems(folder: Path, origin: Origin) -> list[str]:
    """What is wrong with the files of an origin, and where they are."""
    expected = {
        path: digest for path, digest in digests().items() if path.startswith(origin.name + "/")
    }
    missing = [path for path in expected if not (folder / path).is_file()]
    changed = [
        path
        for path, digest in expected.items()
        if path not in missing and digest_of(folder / path) != digest
    ]
    where = f"{origin.repository} at {origin.commit} has them"
    return [
        f"{folder / paths[0]} {what}{f', and {len(paths) - 1} more' * (len(paths) > 1)}: {where}"
        for what, paths in (("is not there", missing), ("has another SHA-256", changed))
        if paths
    ]


def write_digests(folder: Path) -> None:
    """Write the digests of the files that are imported."""
    lines = [
        f"{digest_of(path)}  {path.relative_to(folder).as_posix()}\n"
        for origin in origins()
        for path in sorted((folder / origin.name).rglob("*"))
        if path.is_file() and origin.reads(path.relative_to(folder / origin.name).as_posix())
    ]
    DIGESTS.write_text("".join(lines), encoding="utf-8")


# -- measuring -------------------------------------------------------------------------------------


def measured(folder: Path, origin: Origin) -> dict[str, Any]:
    """What the project's commands print of an origin, by judge and suite.

    Each suite has the number of its ``judgments``, those ``without_verdict``, its ``clusters``, and
    by measure value, count, n and the bounds of the clustered interval.
    """
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        root = folder / origin.name
        logs = []
        for log in origin.logs(str(root)):
            logs.append(str(work / log.output))
            form = ("--format", log.kind)
            _run("import", str(root / log.path), *form, "-o", logs[-1], *log.options)
        sheet = work / "datasheet.json"
        _run("report", *logs, "-o", str(sheet))
        return results_of(json.loads(sheet.read_text(encoding="utf-8")), origin)


def results_of(sheet: Mapping[str, Any], origin: Origin) -> dict[str, Any]:
    """The results of an origin, of its datasheet."""
    results: dict[str, Any] = {}
    for part in sheet["judges"]:
        by_suite: dict[str, Any] = {suite: {} for suite in origin.suites}
        for estimate in part["measures"]:
            suite, measure = by_suite[estimate["suite"]], estimate["measure"]
            if estimate["condition"] or estimate["value"] is None:
                continue
            if measure == "unparsed_rate":
                suite["without_verdict"] = estimate["count"]
                suite["judgments"] = estimate["n"]
            if measure in origin.measures:
                clustered = estimate["clustered"]
                suite["clusters"] = max(suite.get("clusters", 0), clustered["clusters"])
                suite[measure] = {key: estimate[key] for key in ("value", "count", "n")}
                suite[measure] |= {end: round(clustered[end], 6) for end in ("lower", "upper")}
        results[part["judge"]["name"]] = by_suite
    return {judge: results[judge] for judge in origin.judges}


def _run(*arguments: str) -> None:
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        code = judgesense(arguments)
    if code:
        raise SystemExit(f"judgesense {' '.join(arguments)}\n{printed.getvalue()}")


# -- pages -----------------------------------------------------------------------------------------


def number(value: float) -> str:
    """A share in two digits."""
    return f"{value:.2f}".removeprefix("0") if value < 0.995 else "1.00"


def cell(estimate: Mapping[str, float] | None) -> str:
    """An estimate with its clustered interval."""
    if estimate is None:
        return "-"
    value, lower, upper = (number(estimate[key]) for key in ("value", "lower", "upper"))
    return f"{value} [{lower}, {upper}]"


def pages(results: Mapping[str, Any]) -> dict[Path, str]:
    """The pages of the gallery, by path, and the first page of the site.

    Of the first pages of both, what stands between two comments is made.
    """
    made = {
        GALLERY / f"{origin.name}.md": page_of(origin, results[origin.name]) for origin in origins()
    }
    for path, lines in ((GALLERY / "index.md", index_of(results)), (FRONT, front_of(results))):
        text = path.read_text(encoding="utf-8")
        before, _, rest = text.partition(_BEGIN)
        made[path] = "\n".join([before + _BEGIN, *lines, _END + rest.partition(_END)[2]])
    return made


def page_of(origin: Origin, results: Mapping[str, Any]) -> str:
    """The page of an origin."""
    lines = [f"# {origin.title}", "", *_wrapped(origin.about), ""]
    # The side bias is the distance of the first slot from a half: the table of all judges has it.
    columns = [name for name in MEASURES if name in origin.measures and name != "side_bias"]
    for suite, title in origin.suites.items():
        parts = {judge: by_suite[suite] for judge, by_suite in results.items()}
        sizes = {part["judgments"] for part in parts.values()}
        clusters = {part["clusters"] for part in parts.values()}
        lines += [f"## {title}", ""]
        silent = {part["without_verdict"] for part in parts.values()}
        told = f"{_range(sizes)} judgments of {_range(clusters)} clusters"
        lines += [f"A judge: {told}, {_range(silent)} without a verdict.", ""]
        head = "|".join(["judge", *(f"{MEASURES[name][0]}:" for name in columns)])
        rows = (
            [origin.judges[judge][0], *(cell(part.get(name)) for name in columns)]
            for judge, part in parts.items()
        )
        lines += [*table(head, rows), ""]
    lines += ["## What the log does not say", "", *(f"- {limit}" for limit in origin.limits), ""]
    lines += ["## Source", "", *source_of(origin), ""]
    return "\n".join(lines)


def table(head: str, rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """A Markdown table; columns whose name ends in a colon hold numbers."""
    names = head.split("|")
    yield " | ".join(name.removesuffix(":") for name in names)
    yield "|".join("---:" if name.endswith(":") else "---" for name in names)
    yield from map(" | ".join, rows)


def _range(numbers: Iterable[int]) -> str:
    ordered = sorted(numbers)
    least, most = f"{ordered[0]:,}", f"{ordered[-1]:,}"
    return least if least == most else f"{least} to {most}"


def _wrapped(text: str) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > 110:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def source_of(origin: Origin) -> Iterator[str]:
    """Where the files are, their digests, and the commands that make the figures of them."""
    own = {path: digest for path, digest in digests().items() if path.startswith(origin.name + "/")}
    yield f"{origin.repository}, commit `{origin.commit}`, licence {origin.licence}."
    yield ""
    if len(own) > _MOST_LISTED:
        lines = "".join(f"{digest}  {path}\n" for path, digest in own.items())
        whole = hashlib.sha256(lines.encode()).hexdigest()
        yield f"The SHA-256 of its {len(own)} files are in `docs/gallery/SHA256SUMS`; that of these"
        yield f"lines is `{whole}`."
    else:
        rows = ([f"`{path.partition('/')[2]}`", f"`{digest}`"] for path, digest in own.items())
        yield from table("file|SHA-256", rows)
    yield from ["", "<!-- not run: needs the published files -->", "```sh"]
    yield f"git clone {origin.repository} {origin.name}"
    yield f"git -C {origin.name} checkout {origin.commit}"
    for place, form in enumerate(origin.log, start=1):
        yield from _import_of(origin, place, form)
    yield f"judgesense report {origin.name}-*.jsonl"
    yield "```"


def _import_of(origin: Origin, place: int, form: Mapping[str, Any]) -> Iterator[str]:
    """The command of an import; a loop where several are alike."""
    each = form.get("each", {})
    holes = [name for names in each for name in names.split(",")]
    output = "-".join((origin.name, str(place), *(f"${{{name}}}" for name in holes)))
    command = ["judgesense", "import"]
    command += [_shell(f"{origin.name}/{form['path']}", origin.name), "--format", form["kind"]]
    command += ["-o", f'"{output}.jsonl"' if each else f"{output}.jsonl"]
    command += [_shell(option, origin.name) for option in form["options"]]
    for names, values in each.items():
        if "," in names:
            yield f"while IFS=, read -r {' '.join(names.split(','))}; do"
        else:
            yield f"for {names} in {' '.join(values)}; do"
    yield " ".join(command)
    for names, values in reversed(each.items()):
        yield from ["done <<END", *values, "END"] if "," in names else ["done"]


def _shell(text: str, root: str) -> str:
    """A word of the command; what stands in braces is a variable of the loop."""
    text = text.replace("{root}", root)
    looped = _HOLE.sub(lambda hole: f"${{{hole[1]}}}", text)
    return quote(text) if looped == text else f'"{looped}"'


def index_of(results: Mapping[str, Any]) -> Iterator[str]:
    """The table of all judges."""
    rows = []
    for origin in origins():
        suite = next(iter(origin.suites))
        for judge, (title, model) in origin.judges.items():
            part = results[origin.name][judge][suite]
            whole = sum(of_suite["judgments"] for of_suite in results[origin.name][judge].values())
            estimates = [cell(part.get(name)) for name in MEASURES]
            link = f"[{origin.title}]({origin.name}.md)"
            rows.append([title, f"`{model}`", link, f"{whole:,}", *estimates])
    titles = "|".join(f"{title}:" for title, _ in MEASURES.values())
    counted = sum(
        part["judgments"]
        for by_judge in results.values()
        for by_suite in by_judge.values()
        for part in by_suite.values()
    )
    yield f"{len(rows)} judges, {counted:,} judgments, {len(results)} origins:"
    yield ""
    yield from table(f"judge|model|log|judgments:|{titles}", rows)


def front_of(results: Mapping[str, Any]) -> Iterator[str]:
    """The rows of the site's first page: a judge, its model, what was found."""
    by_name = {origin.name: origin for origin in origins()}
    front = tomllib.loads(TABLE.read_text(encoding="utf-8"))["front"]
    rows = []
    for name, _, judge in (entry.partition("/") for entry in front):
        origin = by_name[name]
        suite = next(iter(origin.suites))
        part = results[name][judge][suite]
        found = [
            sentence.format(round(100 * part[measure]["value"]))
            for measure, (_, sentence) in MEASURES.items()
            if sentence and measure in part
        ]
        title, model = origin.judges[judge]
        rows.append([title, f"`{model}`", f"[{'; '.join(found)}](gallery/{name}.md)"])
    yield from table("judge|model|what was found", rows)


# -- the command -----------------------------------------------------------------------------------


def main() -> None:
    """Read the command line, and write what it asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="?", type=Path, help="the folder of the files")
    parser.add_argument("--origin", action="append", help="only this origin; may be repeated")
    parser.add_argument("--digests", action="store_true", help="write the digests of the files")
    options = parser.parse_args()
    names = [origin.name for origin in origins()]
    if unlike := {*(options.origin or ())} - {*names}:
        parser.error(f"no origin is called {min(unlike)}: {', '.join(names)}")
    if options.files is None and (options.digests or options.origin):
        parser.error("--digests and --origin need the folder of the files")
    if options.digests:
        write_digests(options.files)
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for origin in origins() if options.files else ():
        if options.origin and origin.name not in options.origin:
            continue
        if wrong := problems(options.files, origin):
            raise SystemExit("\n".join(wrong))
        results[origin.name] = measured(options.files.resolve(), origin)
        print(f"measured: {origin.name}")
    if missing := [origin.name for origin in origins() if origin.name not in results]:
        raise SystemExit(f"no results of {', '.join(missing)}: measure them first")
    results = {origin.name: results[origin.name] for origin in origins()}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for path, text in pages(results).items():
        path.write_text(text, encoding="utf-8")
        print(f"written: {path.relative_to(CHECKOUT)}")


if __name__ == "__main__":
    main()
