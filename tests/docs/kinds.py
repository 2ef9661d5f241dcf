"""What is done with a fenced block that is no command: it is loaded as what it is.

`problems_of` refuses a block that nothing here knows how to hold against the project.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from pytest_judgesense.errors import JudgesenseError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.temperature.stimuli import GradedItem
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.plugin.options import OPTIONS
from pytest_judgesense.suites import schema
from pytest_judgesense.suites.suite import ReplyForm
from pytest_judgesense.trial import Verdict
from tests.checks.known import declare_check
from tests.docs.blocks import ROOT, Block, Page, blocks_of, commands_of, missing_lines

# Files that pytest and the plugin find by their names.
FOUND = {"pyproject.toml", "pytest.ini", "conftest.py"}
# Names of formulas that are no measures; tests/judges/simulated and, of temperatures,
# tests/instruments/temperature/test_analytic.py and tests/instruments/rubric compute them.
SYMBOLS = {
    "embedded-judge.md": {"x", "m", "logit"} | {"p", "latent"},
    "rubric.md": {"overall", "passes"},
    "measures/pass_mark_flips.md": {"overall", "passes"},
    "measures/separability.md": {"p", "y_st"},
    "temperature.md": {"p_T"},
}
# Commands of README and of the site's first page that .ci/run runs, step by step, and what of them
# stands there. The suites of the checkout are run by the block of README that shows their output.
RUN_BY_THE_GATE = {
    "python3 -m venv .venv && .venv/bin/pip install --quiet '.[all]' && .venv/bin/pytest suites": (
        'install "$environment" "$wheel$extras"',
        '(main_job "$work/user-all" "[all]")',
    ),
    # The same, a command a line.
    "python3 -m venv .venv": ('environment "$environment"',),
    ".venv/bin/pip install --quiet '.[all]'": ('install "$environment" "$wheel$extras"',),
    ".venv/bin/pytest suites": ('(main_job "$work/user-all" "[all]")',),
    ".venv/bin/pip install --quiet --editable '.[all,test]' && "
    ".venv/bin/pytest -n auto --dist worksteal": (
        "install \"$work/venv\" --editable '.[all,test]'",
        '"$work/venv/bin/pytest" -n auto --dist worksteal',
    ),
}
_INSTALL = re.compile(r"(?:python -m )?pip install 'pytest-judgesense\[(\w+)\]'")


def problems_of(block: Block, page: Page) -> Iterator[str]:
    """What is wrong with a block; it is run or loaded, in its page's folder."""
    page.write(block)
    if "file" in block.notes and not _is_used(block):
        yield f"{block.where}: nothing on the page uses the file {block.notes['file']}"
    if "serves" in block.notes:
        yield from page.serve(block)
    elif block.language == "console":
        if "not run" not in block.notes:
            yield from page.problems_of(block)
    elif "measured by" in block.notes:
        yield from _script(block, shlex.split(block.notes["measured by"]))
    elif "output of" in block.notes:
        yield from _output(block, page)
    elif "part of" in block.notes:
        yield from _part(block, page)
    elif (check := KINDS.get(block.language)) is not None:
        try:
            check(block, page)
        except (AssertionError, JudgesenseError, SyntaxError, ValueError) as error:
            yield f"{block.where}: {type(error).__name__}: {error}"
    elif "file" not in block.notes:
        yield f"{block.where}: nobody executes a block of {block.language!r}"


def problems_of_page(name: str, folder: Path) -> str:
    """What is wrong with the blocks of a page, run in their order in an empty folder."""
    with Page(folder) as page:
        return "\n\n".join(wrong for block in blocks_of(name) for wrong in problems_of(block, page))


def is_for_a_task(name: str) -> bool:
    """Whether a page leads through a task; a file of tests of their own runs these."""
    return name.startswith("howto/")


def _is_used(block: Block) -> bool:
    path = Path(block.notes["file"])
    # A test file is run by its folder; a module is imported by its name.
    names = {path.name, path.parts[0], path.name.split(".")[0]}
    if path.name in FOUND:
        return True
    other_texts = [b.text for b in blocks_of(block.page) if b is not block and b.text != block.text]
    return any(re.search(rf"\b{re.escape(name)}\b", text) for name in names for text in other_texts)


def _output(block: Block, page: Page) -> Iterator[str]:
    arguments = shlex.split(block.notes["output of"])
    # Those of README are typed in the checkout.
    in_checkout = ROOT if block.page == "README.md" else None
    quiet = ["-p", "no:cacheprovider"] if arguments[0] == "pytest" else []
    _, output = page.run([*arguments, *quiet], in_checkout)
    if missing := missing_lines(block.text.splitlines(), output):
        yield f"{block.where}: {arguments} did not print {missing}\nbut\n{output}"


def _part(block: Block, page: Page) -> Iterator[str]:
    whole = json.loads((page.folder / block.notes["part of"]).read_text(encoding="utf-8"))
    if json.loads(block.text) not in list(_values(whole)):
        yield f"{block.where}: {block.notes['part of']} has no such value"


def _values(value: Any) -> Iterator[Any]:
    yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for inner_value in inner:
        yield from _values(inner_value)


def _script(block: Block, arguments: list[str]) -> Iterator[str]:
    """A benchmark takes minutes: it must be there, take these options, and print such words."""
    script = ROOT / arguments[1]
    if arguments[0] != "python" or not script.is_file():
        yield f"{block.where}: there is no {arguments[1]}"
        return
    source = script.read_text(encoding="utf-8")
    words = re.findall(r"[a-z]{4,}", block.text.split("\n\n")[0].splitlines()[0].lower())
    unknown = [word for word in words if word not in source.lower()]
    unknown += [option for option in arguments[2:] if option not in source]
    if unknown:
        yield f"{block.where}: {arguments[1]} prints no {', '.join(unknown)}"


# -- one function a language -----------------------------------------------------------------------


def _toml(block: Block, page: Page) -> None:
    value = tomllib.loads(block.text)
    if "file" in block.notes:
        return  # what uses the file reads it
    recognised = False
    if groups := value.get("project", {}).get("entry-points"):
        assert set(groups) <= {"pytest11", "judgesense"}
        shown = {other.notes.get("file") for other in blocks_of(block.page)}
        named = {module for group in groups.values() for module in group.values()}
        assert {f"{module}.py" for module in named} <= shown, "a module that no block shows"
        recognised = True
    # What another suite has, a suite that takes its items from it need not say.
    if "schema" in value and "from" in value.get("stimuli", {}):
        recognised = True
    elif "schema" in value:
        schema.SuiteForm.model_validate(value, context=BUILT_IN.forms)
        recognised = True
    tool = value.get("tool", {})
    for name, table in tool.get("judgesense", {}).get("judges", {}).items():
        _judge(name, table, page)
        recognised = True
    if options := tool.get("pytest", {}).get("ini_options"):
        ours = {option.ini for option in OPTIONS}
        assert {key for key in options if key.startswith("judge_")} <= ours
        recognised = True
    for entry in value.get("equivalence", ()):
        schema.EquivalenceForm.model_validate(entry)
        recognised = True
    for name, declared in value.get("checks", {}).items():
        _check(name, declared)
        recognised = True
    assert recognised, "neither a suite, nor judges, nor options, nor checks"


def _judge(name: str, table: Mapping[str, Any], page: Page) -> None:
    prompts = table.get("prompts", {})
    # A prompt in a file that the page does not show stands for any.
    for prompt in prompts.values() if isinstance(prompts, dict) else ():
        if isinstance(prompt, dict) and isinstance(file := prompt.get("file"), str):
            path = page.folder / file
            if not path.is_file():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("{{a}} {{b}}", encoding="utf-8")
    judge_from_table(name, table, page.folder)


def _check(name: str, declared: Any) -> None:
    for condition in declared if isinstance(declared, list) else [declared]:
        if isinstance(condition, dict):
            declare_check(name, (), condition)
        else:
            declare_check(name, (condition,), {})


def _json(block: Block, page: Page) -> None:
    value = json.loads(block.text)
    if "file" in block.notes:
        return
    forms = [k.reply for k in BUILT_IN.forms.values() if isinstance(k.reply, ReplyForm)]
    outcomes = [form.read(block.text, False)[0] for form in forms]
    assert any(isinstance(outcome, Verdict) for outcome in outcomes), f"no judgment: {outcomes}"
    assert "winner" in value


def _jsonl(block: Block, page: Page) -> None:
    lines = [json.loads(line) for line in block.text.splitlines()]
    if "file" not in block.notes:
        for line in lines:
            form = GradedItem if "elements" in line else schema.PairItem
            form.model_validate(line)


def _python(block: Block, page: Page) -> None:
    compile(block.text, block.where, "exec")
    if "file" in block.notes:
        return
    assert block.page == "README.md", "an example has a file, and a command of the page runs it"
    (page.folder / "test_example.py").write_text(block.text, encoding="utf-8")
    code, output = page.run(["pytest", "-q", "test_example.py", "--judge-name", "embedded:clean"])
    assert code == 0, output


def _sh(block: Block, page: Page) -> None:
    if "not run" in block.notes:
        return
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for line in block.text.splitlines():
        if extra := _INSTALL.fullmatch(line):
            assert extra[1] in extras["optional-dependencies"], f"there is no extra {extra[1]}"
            continue
        assert line in RUN_BY_THE_GATE, "a shell command of a page is a console block"
        assert all(step in gate for step in RUN_BY_THE_GATE[line]), f"not in .ci/run: {line}"


def _yaml(block: Block, page: Page) -> None:
    """Of a workflow the commands of ours are those that the page's console blocks run."""
    run = re.findall(r"^\s*(?:- )?run: (.+)$", block.text, re.MULTILINE)
    assert isinstance(yaml.safe_load(block.text), dict)
    shown = [
        command.arguments
        for other in blocks_of(block.page)
        if other.language == "console"
        for command in commands_of(other)
    ]
    for line in run:
        if line.startswith(("pytest", "judgesense")):
            assert shlex.split(line) in shown, f"no console block of the page runs: {line}"


def _text(block: Block, page: Page) -> None:
    """A file, or formulas: each line begins with what it is the formula of."""
    if "file" in block.notes:
        return
    names = set(re.findall(r"^(\w+|\S)", block.text, re.MULTILINE))
    unknown = names - set(BUILT_IN.measures) - SYMBOLS.get(block.page, set())
    assert names, "an empty block"
    assert not unknown, f"neither an output nor the formula of a measure: {unknown}"


def _written(block: Block, page: Page) -> None:
    assert "file" in block.notes, "such a block is the content of a file"


KINDS: dict[str, Callable[[Block, Page], None]] = {
    "csv": _written,
    "ini": _written,
    "json": _json,
    "jsonl": _jsonl,
    "python": _python,
    "sh": _sh,
    "text": _text,
    "toml": _toml,
    "yaml": _yaml,
}
