"""The reference is what the code says today, and its schemas hold for what the code writes."""

from __future__ import annotations

import json
import re
import tomllib
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.plugin.options import OPTIONS
from pytest_judgesense.questions.explain.question import SUITE_HEADINGS
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.report.log import read_log
from tests.docs.blocks import DOCS, ROOT, Page
from tests.docs.site import commands, hooks, reference
from tests.report.test_datasheet_file import compared
from tests.suites.known import builtin_suites

GENERATOR = hooks().generate
FIXTURES = ("judge", "judge_check", "judge_datasheet")
NAMES = sorted(path.stem for path in (DOCS / "schemas").glob("*.json"))
# One of each kind, those with few trials.
SUITES = (
    "coherence@published",
    "vacuum",
    "ladder-fine",
    "criterion@published",
    "debate",
    "temperature",
)


def test_what_is_committed_is_what_the_code_says() -> None:
    texts: dict[Path, str] = GENERATOR.outputs()
    stale = [
        path.relative_to(ROOT).as_posix()
        for path, text in texts.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    assert not stale, "run python docs/reference/generate.py"
    assert {*(DOCS / "schemas").glob("*"), GENERATOR.CHECK_NAMES} == set(texts)
    assert not [*(DOCS / "reference").glob("*.md")], "the site's build makes these pages"


def test_every_option_command_check_and_measure_stands_in_the_reference() -> None:
    pages = reference()
    for option in OPTIONS:
        assert f"| `--{option.name}" in pages["reference/options.md"]
        assert f"| `{option.ini}` |" in pages["reference/options.md"]
    for name, command in commands():
        _, _, section = pages["reference/cli.md"].partition(f"\n## `judgesense {name}`\n")
        rows = section.partition("\n## ")[0]
        for action in command._actions:
            names = [*action.option_strings] or [str(action.metavar)]
            shown = [written.replace("|", "\\|") for written in names]  # as cells of a table
            assert action.dest == "help" or all(text in rows for text in shown), (name, names)
            # Whoever searches the site finds what it is for, not its name alone.
            assert action.help, (name, names)
    for name, check in BUILT_IN.checks.items():
        assert f"\n## `{name}`\n" in pages["reference/markers.md"]
        assert check.signature in pages["reference/markers.md"]
    for name, measure in BUILT_IN.measures.items():
        assert (DOCS / "measures" / f"{name}.md").is_file()
        page = pages["reference/markers.md"]
        assert measure.check is None or f"(../measures/{name}.md)" in page
    assert all(f"\n## `{name}`\n" in pages["reference/fixtures.md"] for name in FIXTURES)


def test_every_key_of_the_forms_is_explained() -> None:
    all_schemas = GENERATOR.schemas.all_schemas()
    forms = [form for form in SUITE_HEADINGS if form != "SuiteForm"]
    parts = [
        *(all_schemas["judge"]["$defs"][form] for form in ("Judge", "Jury")),
        all_schemas["suite"],
        *(all_schemas["suite"]["$defs"][form] for form in forms),
    ]
    for part in parts:
        for name, value in part["properties"].items():
            assert value.get("description"), name


def schema_of(name: str) -> dict[str, Any]:
    return json.loads((DOCS / "schemas" / f"{name}.json").read_text(encoding="utf-8"))


def closed(schema: Any) -> Any:
    """The schema with nothing permitted beside what it names: what is written is all told."""
    if isinstance(schema, list):
        return [closed(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {
        key: {name: closed(key) for name, key in value.items()}
        if key in ("properties", "$defs")
        else closed(value)
        for key, value in schema.items()
    }
    return {"additionalProperties": False, **inner} if "properties" in schema else inner


def problems(name: str, values: Any) -> list[str]:
    validator = Draft202012Validator(closed(schema_of(name)))
    return [error.message for value in values for error in validator.iter_errors(value)]


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(schema_of(name))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what a session over suites of every kind has written."""
    folder = tmp_path_factory.mktemp("written")
    arguments = [part for suite in SUITES for part in ("--judge-suite", suite)]
    files = ["--judge-datasheet", "sheet.json", "--judge-datasheet", "log.jsonl"]
    names = ["--judge-name", "embedded:clean", "--judge-save-baseline", "baseline.json"]
    with Page(folder) as page:
        page.run(["pytest", "-q", *arguments, *files, *names])
        code, output = page.run(["judgesense", "report", "log.jsonl", "-o", "again.json"])
    assert code == 0, output
    return folder


@pytest.mark.parametrize("name", ["sheet.json", "again.json"])
def test_datasheets(written: Path, name: str) -> None:
    sheet = json.loads((written / name).read_text(encoding="utf-8"))
    assert {part["suite"] for part in sheet["judges"][0]["parts"]} == set(SUITES)
    assert problems("datasheet", [sheet]) == []


def test_a_datasheet_of_a_comparison() -> None:
    sheet = json.loads(datasheet_json(sheet_of([compared("s")], seed=0, mode="replay")))
    sheet["judges"][0]["judge"]["provider"] = "openai"
    assert problems("datasheet", [sheet]) == []


def test_the_pages_of_measures_name_their_suites(written: Path) -> None:
    """What has a value on a suite says so on its page: by kind, or as pairwise, or all."""
    sheet = json.loads((written / "sheet.json").read_text(encoding="utf-8"))
    for entry in sheet["judges"][0]["measures"]:
        if entry["unavailable"] is None:
            name, suite = entry["measure"], entry["suite"].partition("@")[0]
            form = tomllib.loads(builtin_suites()[suite].read_text(encoding="utf-8"))
            words = {form["kind"], "all"} | (
                {"pairwise"} if form["space"].get("pairwise") else set()
            )
            head = (DOCS / "measures" / f"{name}.md").read_text(encoding="utf-8").splitlines()[2]
            assert words & set(re.findall(r"\w+", head.split("suites: ")[1])), (name, suite)


def test_log_lines(written: Path) -> None:
    lines = (written / "log.jsonl").read_text(encoding="utf-8").splitlines()
    # Some of each suite, and every line that is no verdict.
    some = {line.partition("/")[0] + str(number % 40): line for number, line in enumerate(lines)}
    without_verdict = [line for line in lines if '"verdict":' not in line]
    assert (
        problems("judgment", [json.loads(line) for line in (*some.values(), *without_verdict)])
        == []
    )
    kinds = {json.loads(line)["design"]["kind"] for line in some.values()}
    assert kinds == {"paraphrase", "vacuum", "ladder", "criterion", "debate", "temperature"}


def test_a_log_that_the_schema_accepts_is_read(tmp_path: Path) -> None:
    line = {"trial": "s/1/t1", "judge": "j", "suite": "s", "item": "1", "verdict": "YES"}
    assert problems("judgment", [line]) == []
    (tmp_path / "log.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert len(list(read_log(tmp_path / "log.jsonl"))) == 1


def test_baselines(written: Path) -> None:
    baseline = json.loads((written / "baseline.json").read_text(encoding="utf-8"))
    assert problems("baseline", [baseline]) == []


def test_recordings() -> None:
    files = sorted((ROOT / "cassettes").rglob("*.jsonl"))
    assert files
    for file in files:
        with file.open(encoding="utf-8") as lines:
            assert problems("exchange", [json.loads(line) for line in islice(lines, 5)]) == []


@pytest.mark.parametrize("name", builtin_suites())
def test_suites_and_their_items(name: str) -> None:
    path = builtin_suites()[name]
    suite = tomllib.loads(path.read_text(encoding="utf-8"))
    assert problems("suite", [suite]) == []
    stimuli = (path.parent / suite["stimuli"]["file"]).read_text(encoding="utf-8").splitlines()
    lines = [json.loads(line) for line in stimuli[:5]]
    # Not closed: a debate may hold further keys.
    validator = Draft202012Validator(schema_of("item"))
    assert [error.message for line in lines for error in validator.iter_errors(line)] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("suite", {"schema": "judgesense/suite/1", "name": "x", "kind": "guess"}),
        ("judge", {"provider": "openai", "modell": "m"}),
        ("judge", {"members": ["a"]}),
        ("judgment", {"trial": "a", "judge": "j", "suite": "s", "item": "1"}),
        (
            "judgment",
            {"trial": "a", "judge": "j", "suite": "s", "item": "1", "verdict": "A", "failed": "x"},
        ),
        ("exchange", {"trial": "a", "call": 0}),
        ("datasheet", {"schema": "judgesense/datasheet/2"}),
        ("baseline", {"schema": "judgesense/baseline/1", "seed": 0, "versions": {}, "judges": []}),
        ("item", {"id": "", "task": "an empty id"}),
    ],
)
def test_what_is_wrong_is_refused(name: str, value: dict[str, Any]) -> None:
    assert list(Draft202012Validator(schema_of(name)).iter_errors(value))
