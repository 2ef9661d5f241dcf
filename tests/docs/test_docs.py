"""README and docs against the project: blocks are run, tables are computed, names exist.

How a block is written and run, and by which comments above it, is told in `tests.docs.blocks`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_judgesense import measure, plugin
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.datasheets.datasheet import AgainstBaseline, Calls, KnownState, OverSessions
from pytest_judgesense.errors import SendingRefused
from pytest_judgesense.files.shapes import SHAPES
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.ladder.stimuli import LadderTask, QuarterTask
from pytest_judgesense.instruments.temperature.causal import unusable
from pytest_judgesense.instruments.temperature.stimuli import GradedItem
from pytest_judgesense.judges.judge_table import _JudgeForm, _JuryForm
from pytest_judgesense.judges.providers.base import provider_names
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.simulated.named_observers import PROFILES
from pytest_judgesense.judges.trust import _VARIABLES, ANY_FILES
from pytest_judgesense.plugin.options import OPTIONS
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites import schema
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Verdict
from tests.docs.blocks import (
    DOCS,
    PAGE_NAMES,
    PAGES,
    ROOT,
    Block,
    Page,
    all_blocks,
    blocks_of,
    commands_of,
    name_of,
    needs_of,
    text_of,
)
from tests.docs.kinds import is_for_a_task, problems_of, problems_of_page
from tests.docs.site import commands, made_page
from tests.suites.known import builtin_suites
from tests.test_rooms import foundations, room_of

CHECKS, MEASURES = BUILT_IN.checks, BUILT_IN.measures
COMMANDS = ("pytest", "judgesense", "python", "export", "git")
FIXTURES = {"judge", "judge_check", "judge_datasheet"}
# What looks like an option of ours and is a field of imported files, a key of suite files, of the
# replies of temperature@paper, a table of the datasheet, or a benchmark.
FOREIGN_FIELDS = {
    "judge_or_system",
    "judge_model",
    "judge_type",
    "judge_pairs",
    "judge_reason",
    "judge_result",
    "judge_spread",
    "judge_pick",
    "judge_results",
}
# The check of the example plugin in extending.md.
OF_A_PLUGIN = {"pair_accuracy_floor"}

# Pages of the gallery, each of files that others published.
GALLERY = (
    *("composo", "debias-llm-as-a-judge", "llm-judge-consistency"),
    *("llmbar", "pandalm", "position-bias-analyzer"),
)
IS_TERMINAL = "import sys; print(sys.stdout.isatty())"
# Page and reason of every block that needs what is not here.
NOT_RUN = Counter(
    {
        ("README.md", "needs a key"): 1,
        ("index.md", "start.md runs them"): 1,
        **{(f"gallery/{name}.md", "needs the published files"): 1 for name in GALLERY},
        ("debates.md", "needs keys"): 1,
        ("debates.md", "takes a while"): 1,
        ("local-models.md", "needs a model"): 1,
        ("suites.md", "needs a key"): 1,
        ("recordings.md", "needs a GPU"): 1,
        ("howto/shards.md", "needs Slurm"): 2,
        ("page.md", "needs datasheets of several days"): 1,
        ("people.md", "a person labels on the page"): 1,
        ("howto/calibration.md", "recordings of a judge of your own"): 1,
        ("howto/rubric.md", "a function and tables of your own"): 1,
        ("howto/probes.md", "needs a suite of your own"): 1,
        ("depth.md", "needs a suite of your own"): 1,
        ("groups.md", "needs a suite of your own"): 1,
        ("howto/leniency.md", "needs a suite of your own"): 1,
        ("confidence.md", "needs a suite of your own"): 1,
    }
)

# -- what a first visit sees -----------------------------------------------------------------------


def test_readme_is_short_and_the_start_begins_with_a_function_of_ones_own() -> None:
    assert len(text_of("README.md").splitlines()) <= 130
    assert _headings("start.md")[0] == "Install"
    assert "Your own function" in _headings("start.md")[1]


def test_the_site_begins_with_installation_a_first_judge_and_questions() -> None:
    first = ["Install", "Your first judge", "What do you want to know?"]
    assert _headings("index.md")[:3] == first
    assert "](start.md)" in text_of("index.md").partition("## Install")[0]


def _headings(name: str) -> list[str]:
    lines = text_of(name).splitlines()
    return [line.removeprefix("## ") for line in lines if line.startswith("## ")]


# -- what the blocks do ----------------------------------------------------------------------------


# Pages whose commands other tests of the gate give as well, with what these are. Of pages that
# begin with a function of one's own start.md stays.
LONG = {
    "checks.md": "tests/plugin/test_markers.py, tests/plugin/test_fixtures.py",
    "ci.md": "tests/plugin/test_ci.py, tests/questions/init",
    "extending.md": "tests/plugin/test_extending.py",
    "functions.md": "tests/questions/init/test_from_function.py",
    "judges.md": "tests/judges/test_judge.py, tests/plugin/test_functions.py",
    "options.md": "tests/plugin/test_discovery.py, tests/plugin/test_judge_suite.py",
    "recordings.md": "tests/plugin/test_judge_mode.py, tests/plugin/test_judge_verify.py",
    "temperature.md": "tests/instruments/temperature",  # it fits hundreds of trees
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in LONG else ())
        for name in PAGE_NAMES
        if not is_for_a_task(name)
    ],
)
def test_every_block_does_what_is_shown(name: str, tmp_path: Path) -> None:
    """A block is run, or loaded as what it is; one that nobody executes is a problem."""
    if (needed := needs_of(name)) and (reason := unusable(needed)):
        pytest.skip(f"{name} is not run: {reason}")
    problems = problems_of_page(name, tmp_path)
    assert not problems, problems


def test_where_a_page_is_long_there_are_the_tests_that_give_its_commands() -> None:
    assert set(LONG) <= set(PAGE_NAMES)
    paths = [path for paths in LONG.values() for path in paths.split(", ")]
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    ("language", "text", "notes"),
    [
        ("", "anything", {}),
        ("rust", "fn main() {}", {}),
        ("text", "Some words that nothing prints.", {}),
        ("text", "jss = 1", {"output of": "python -c pass"}),
        ("toml", "[tool.other]\nkey = 1", {}),
        ("toml", "[checks]\njss_flor = 0.9", {}),
        ("toml", '[project.entry-points.pytest11]\nx = "nowhere"', {}),
        ("toml", '[tool.judgesense.judges.x]\nprovider = "nobody"', {}),
        ("json", '{"a": 1}', {}),
        ("jsonl", '{"id": "x"}', {}),
        ("python", "def broken(:", {}),
        ("python", "print(1)", {}),
        ("sh", "pytest --judge-mode live", {}),
        ("sh", "pip install 'pytest-judgesense[everything]'", {}),
        ("yaml", "run: pytest --judge-mode live", {}),
        ("ini", "[pytest]", {}),
        ("csv", "a,b", {"file": "unused.csv"}),
        ("text", "rows", {"measured by": "python benchmarks/none.py"}),
        ("console", "$ python -c print(1)\n2", {}),
        ("console", f"$ python -c '{IS_TERMINAL}'\nTrue", {}),
        ("console", f"$ python -c '{IS_TERMINAL}'\nFalse", {"at": "a terminal"}),
    ],
)
def test_a_block_that_nobody_executes_is_a_problem(
    language: str, text: str, notes: dict[str, str], tmp_path: Path
) -> None:
    with Page(tmp_path) as page:
        assert list(problems_of(Block("index.md", 1, language, text + "\n", notes), page))


def test_no_fence_is_overlooked() -> None:
    for name in PAGE_NAMES:
        fences = re.findall(r"^\s*(?:`{3,}|~{3,})", text_of(name), re.MULTILINE)
        assert len(fences) == 2 * len(blocks_of(name)), name


def test_blocks_that_are_not_run_stand_in_the_list() -> None:
    not_run = Counter(
        (page, block.notes["not run"])
        for page in PAGE_NAMES
        for block in blocks_of(page)
        if "not run" in block.notes
    )
    assert not_run == NOT_RUN


@pytest.mark.parametrize("block", all_blocks("console"), ids=lambda block: block.where)
def test_commands_are_ours(block: Block) -> None:
    commands = list(commands_of(block))
    assert commands, "a console block begins its commands with $"
    for command in commands:
        assert command.arguments[0] in COMMANDS


# -- what the tables say ---------------------------------------------------------------------------


def page_text(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def table_rows(name: str, heading: str) -> list[list[str]]:
    """Cells of the first table below a heading, code marks removed; ``\\|`` is a bar."""
    text = page_text(name)
    assert f"\n{heading}\n" in text, f"{name} has no {heading!r}"
    lines = text.split(f"\n{heading}\n", 1)[1].splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
        rows.append([cell.strip().strip("`").replace("\\|", "|") for cell in cells])
    return rows


SPACES = {
    "YES/NO": DecisionSpace(("YES", "NO")),
    "1 to 5": DecisionSpace(("1", "2", "3", "4", "5"), ordinal=True),
    "-2 to 2": DecisionSpace(("-2", "-1", "0", "1", "2"), ordinal=True),
    "A/B": DecisionSpace(("A", "B"), pairwise=True),
    "A/B/tie": DecisionSpace(("A", "B"), pairwise=True, tie=True),
    "A/B/tie/abstain": DecisionSpace(("A", "B"), pairwise=True, tie=True, abstain=True),
    "Output (a)/(b)": DecisionSpace(
        ("A", "B"), pairwise=True, names={"A": ("Output (a)",), "B": ("Output (b)",)}
    ),
}


def test_the_examples_of_replies_are_parsed_as_shown() -> None:
    rows = table_rows("replies.md", "## Examples")
    assert len(rows) > 20
    for reply, space, shown in rows:
        text = "" if reply == "(nothing)" else reply.replace("\\n", "\n")
        outcome = parse_reply(text, SPACES[space])
        outcome_shown = (
            outcome.value if isinstance(outcome, Verdict) else f"unparsed: {outcome.reason}"
        )
        assert outcome_shown == shown, reply


def test_the_forms_of_foreign_files_are_those_that_are_known() -> None:
    rows = table_rows("logs.md", "## `judgesense import`")
    titles = {shape.name: shape.title for shape in SHAPES}
    assert sorted(name for name, _ in rows) == sorted([*BUILT_IN.importers, *titles])
    assert {name: files for name, files in rows if name in titles} == titles


def test_the_reasons_of_replies_are_those_of_the_parser() -> None:
    from pytest_judgesense import replies

    listed = [row[0] for row in table_rows("replies.md", "## Reasons")]
    closed_list = (replies.__doc__ or "").partition("a closed list")[2]
    written = re.findall(r"^``(.+?)``", closed_list, re.MULTILINE)
    assert listed == written


def stated(reply: str, key: str) -> Any:
    """What a reply of one object of JSON states; ``None`` if it is another text."""
    try:
        return json.loads(reply).get(key)
    except ValueError:
        return None


def content_chosen(template: str, order: str, replies: list[str]) -> str | None:
    """The answer of the item, ``1`` or ``2``, that a trial of the suite prefers, or ``tie``."""
    if template.startswith("single"):  # one grade each, in the order of their slots
        first, second = (stated(reply, "score") for reply in replies)
        if first is None or second is None:
            return None
        slot = "tie" if first == second else "A" if first > second else "B"
    else:
        slot = {"A": "A", "B": "B", "C": "tie"}.get(stated(replies[0], "verdict"), "none")
    contents = {"ab": {"A": "1", "B": "2"}, "ba": {"A": "2", "B": "1"}}[order]
    return contents.get(slot, "tie" if slot == "tie" else None)


def test_agreement_by_temperature_is_that_of_the_shipped_recording() -> None:
    """Counted anew from the texts of the replies, for the table is made in the long tests alone."""
    items = map(json.loads, (ROOT / "suites/temperature/items.jsonl").read_text().splitlines())
    labels = {item["id"]: item["label"] for item in items}
    replies: dict[str, list[str]] = {}
    for exchange in read_exchanges(ROOT / "cassettes/clean/temperature.jsonl"):
        answer = json.loads(exchange.response.body)
        replies.setdefault(exchange.trial, []).append(answer["choices"][0]["message"]["content"])
    right, asked = Counter[str](), Counter[str]()
    for trial, texts in replies.items():
        _, item, template, order, temperature, _ = trial.split("/")
        asked[temperature] += 1
        right[temperature] += content_chosen(template, order, texts) == labels[item]
    rows = re.findall(
        r"^ +temperature (\S+) +(\d+) +(\S+) \(", page_text("temperature.md"), re.MULTILINE
    )
    assert rows == [
        (f"{float(name[1:]):g}", f"{trials}", f"{right[name] / trials:.3f}")
        for name, trials in sorted(asked.items())
    ]


def test_the_instruments_are_those_that_there_are_with_what_they_build_on() -> None:
    listed = {
        room: (set(filter(None, kinds.split("`, `"))), set(re.findall(r"^(\w+)`", on)))
        for room, kinds, on in table_rows("architecture.md", "## Instruments")
    }
    kinds = {
        room: {kind for kind in BUILT_IN.kinds if room_of(kind) == f"instruments/{room}/"}
        for room in foundations()
    }
    assert listed == {room: (kinds[room], on) for room, on in foundations().items()}


def test_the_variables_of_allowances_are_listed() -> None:
    listed = {row[0] for row in table_rows("judges.md", "## Keys and environment variables")}
    assert {*_VARIABLES.values()} <= listed


def test_the_allowance_that_is_shown_holds_as_said(monkeypatch: pytest.MonkeyPatch) -> None:
    (shown,) = [b for b in blocks_of("judges.md") if "JUDGESENSE_ALLOW_HOSTS=" in b.text]
    (command,) = commands_of(shown)
    monkeypatch.setenv(*command.arguments[1].split("=", 1))
    judge = judge_from_name("openai:any")
    for url in (
        "https://gateway.example.com",
        "https://a.corp.example:8443",
        "http://gpu-box:8000",
    ):
        ANY_FILES.refuse_host(judge, url, "OPENAI_API_KEY")
    for url in ("http://gateway.example.com", "https://a.corp.example", "https://gpu-box:8000"):
        with pytest.raises(SendingRefused):
            ANY_FILES.refuse_host(judge, url, "OPENAI_API_KEY")


def test_the_workflow_for_forks_replays_without_a_secret() -> None:
    section = page_text("ci.md").partition("\n## Pull requests from forks\n")[2]
    text = section.partition("```yaml\n")[2].partition("```")[0]
    workflow = yaml.safe_load(text)
    assert workflow[True] == {"pull_request": None}  # YAML 1.1 takes `on` for true
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in text
    (job,) = workflow["jobs"].values()
    assert "permissions" not in job
    checkout, *_, last = job["steps"]
    assert checkout["with"] == {"persist-credentials": False}
    assert last == {"run": "pytest -q suites --judge-mode replay"}


def test_the_embedded_profiles_have_the_parameters_shown() -> None:
    rows = table_rows("embedded-judge.md", "## Profiles")
    header = ["clean", "mixed", "positional", "noisy"]
    assert header == list(PROFILES)
    for name, *cells in rows:
        for profile, cell in zip(header, cells, strict=True):
            value = getattr(PROFILES[profile], name.strip("`"))
            assert str(value) == cell.strip("`"), (profile, name)
    assert {row[0] for row in rows} == set(PROFILES["clean"].__slots__) - {"name", "skills"}


# -- the names that the pages use ------------------------------------------------------------------

TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def test_options() -> None:
    options = {f"--{option.name}" for option in OPTIONS}
    assert set(re.findall(r"--judge-[a-z-]+", TEXT)) <= options
    # On a page by hand, where it is told what is behind it; its meaning stands in the reference.
    assert {name for name in options if f"`{name}" not in page_text("options.md")} == set()


def test_markers() -> None:
    named = set(re.findall(r"\b(?!test_)[a-z_]+_(?:floor|ceiling|bound|limit)\b", TEXT))
    # What looks like a check and is the limit of one bar among several of a check.
    limits = {
        name
        for check in CHECKS.values()
        for name in re.findall(r"\b[a-z_]+_limit\b(?==)", check.arguments)
    }
    assert named - {"lower_bound", "upper_bound"} - OF_A_PLUGIN - limits <= set(CHECKS)
    # Those that gate no measure alone are explained there; measures name theirs in their table.
    composite = {name for name, check in CHECKS.items() if check.measure is None}
    explained = set(re.findall(r"^### `(\w+)`$", page_text("checks.md"), re.MULTILINE))
    assert composite == explained - FIXTURES


def test_fixtures() -> None:
    assert {name for name in plugin.__all__ if not name.startswith("_")} == FIXTURES
    inis = {option.ini for option in OPTIONS}
    assert set(re.findall(r"\bjudge_[a-z_]+\b", TEXT)) <= FIXTURES | inis | FOREIGN_FIELDS
    text = page_text("checks.md")
    assert all(f"### `{name}`" in text for name in FIXTURES)


def test_measures() -> None:
    """By hand a list with a link to each page; the site tells the rest in one table."""
    links = re.findall(r"\[`(\w+)`\]\(measures/\1\.md\)", page_text("measures.md"))
    assert sorted(links) == sorted(MEASURES)
    site_page = made_page("measures.md")
    for name, info in MEASURES.items():
        check = f"`{info.check}`" if info.check else "none"
        (row,) = re.findall(rf"^\| \[`{name}`\].*$", site_page, re.MULTILINE)
        assert row.startswith(f"| [`{name}`](measures/{name}.md) | {info.unit} | ")
        assert f" | {check} | " in row


def test_the_rules_of_the_profile() -> None:
    words = [row[0] for row in table_rows("datasheet.md", "## Profile rules")]
    assert words == [word.text for word in BUILT_IN.report.words]


def test_suites() -> None:
    named = set(re.findall(r"--judge-suite ([a-z]+)(?:@[a-z-]+)?\b", TEXT))
    declared = {
        tomllib.loads(block.text)["name"] for block in all_blocks("toml") if "schema" in block.text
    }
    assert named <= set(builtin_suites()) | declared | {"cohrence"}
    assert all(f"(suites/{name}.md)" in page_text("suites.md") for name in builtin_suites())


def test_cli_commands() -> None:
    names = [name for name, _ in commands()]
    in_code = re.findall(r"(?:`|^\$ )judgesense ([a-z]+)", TEXT, re.MULTILINE)
    assert set(in_code) <= {name.partition(" ")[0] for name in names}
    # On a page by hand, with what it is for; its arguments stand in the reference.
    assert all(f"`judgesense {name.partition(' ')[0]}" in TEXT for name in names)


def test_judges() -> None:
    text = page_text("judges.md")
    assert {row[0] for row in table_rows("judges.md", "## Keys")} == set(_JudgeForm.model_fields)
    assert {row[0] for row in table_rows("juries.md", "## Keys")} == set(_JuryForm.model_fields)
    # Under a heading of their own, or as a line of the table of presets.
    names = provider_names(BUILT_IN.providers)
    assert all(f"### `{name}`" in text or f"\n| `{name}` | `http" in text for name in names)


def test_keys_of_suite_files() -> None:
    text = page_text("suites.md")
    forms = {
        "## Top level": schema.SuiteForm,
        "## `[space]`": schema.SpaceForm,
        "## `[stimuli]`": schema.StimuliForm,
        "## `[design]`": schema.DesignForm,
        "## `[[templates]]`": schema.TemplateForm,
        "## `[[equivalence]]`": schema.EquivalenceForm,
        "## `[presets.NAME]`": schema.PresetForm,
    }
    for heading, form in forms.items():
        keys = {info.alias or name for name, info in form.model_fields.items()}
        assert {row[0] for row in table_rows("suites.md", heading)} == keys, heading
    lines = (GradedItem, schema.ContentItem, LadderTask, QuarterTask)
    for line in lines:
        assert all(f"`{name}`" in text for name in line.model_fields)


def test_fields_of_files(tmp_path: Path) -> None:
    """Every key of a real datasheet and of a real log line is explained."""
    measured = measure("embedded:clean", "vacuum")
    for name in ("sheet.json", "log.jsonl"):
        measured.write(tmp_path / name)
    sheet = json.loads((tmp_path / "sheet.json").read_text(encoding="utf-8"))
    explained = {row[0] for row in table_rows("datasheet.md", "## JSON, field by field")}
    of_calls = {f"judges[].calls.{name}" for name in Calls.__slots__}
    # Where a suite asks otherwise than the judge declares, and where people labelled items.
    parts = ("max_tokens", "temperature", "calibration")
    sometimes = {f"judges[].parts[].{name}" for name in parts}
    # Of a jury.
    sometimes |= {f"judges[].judge.{name}" for name in ("members", "rule", "quorum")}
    # Of checks that compare with a baseline.
    against = "judges[].checks[].against"
    over = "judges[].checks[].over"
    known = "judges[].checks[].known"
    sometimes |= {against, over, known, "judges[].not_compared"}
    rows = dict(table_rows("datasheet.md", "## JSON, field by field"))
    assert all(f"`{name}`" in rows[against] for name in AgainstBaseline.__slots__)
    assert all(f"`{name}`" in rows[over] for name in OverSessions.__slots__)
    assert all(f"`{name}`" in rows[known] for name in KnownState.__slots__)
    assert explained == set(_paths(sheet)) | of_calls | sometimes
    line = json.loads((tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()[0])
    fields = {row[0] for row in table_rows("logs.md", "## Fields")}
    # In place of a verdict, or beside one of a judge with logprobs.
    elsewhere = {"unparsed", "failed", "probabilities", "mass"}
    # Of judges that state how sure they are.
    elsewhere |= {"confidence", "unusable_confidence"}
    # Of items that people labelled, and of imported logs.
    elsewhere |= {"people", "stratum", "picked", "skipped", "design.labelled"}
    elsewhere |= {"source", "source.prompt", "source.fields", "source.names", "source.score"}
    assert fields == set(_paths(line)) | elsewhere


# Objects whose keys are the data's, or are explained elsewhere on the page.
_BY_NAME = ("condition", "suites", "versions", "parts[].calls", "analyses")


def _paths(value: object, name: str = "") -> Iterator[str]:
    if isinstance(value, dict) and value and not name.endswith(_BY_NAME):
        for key, inner in value.items():
            yield from _paths(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from _paths(value[0], f"{name}[]") if not name.endswith(_BY_NAME) else [name]
    else:
        yield name


LINK = re.compile(r"\]\(([^)#:\s]+\.(?:md|json))(?:#[^)]*)?\)")


def _linked(page: Path) -> set[Path]:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    return {(page.parent / target).resolve() for target in links}


def test_the_map_leads_to_every_page() -> None:
    """From the index, by links within the pages, everything in docs is reached."""
    reached: set[Path] = set()
    ahead = {DOCS / "index.md"}
    while ahead:
        reached |= ahead
        ahead = {to for page in ahead if page.suffix == ".md" for to in _linked(page)} - reached
    files = {path for path in DOCS.rglob("*") if path.suffix in (".md", ".json")}
    assert {name_of(path) for path in files - reached} == set()
    # What stands at the top is one step away.
    top = {path for path in DOCS.glob("*.md") if path.name != "index.md"}
    assert top <= _linked(DOCS / "index.md")


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in _linked(page):
            assert target.is_file(), f"{name_of(page)}: {target}"
