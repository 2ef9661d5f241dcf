"""A prompt from production on items of one's own: what the endpoint gets, and what is refused."""

from __future__ import annotations

import json

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.plugin.declared_check import DeclaredCheck, checks_of
from pytest_judgesense.plugin.state import state_of
from tests.suites.known import load_suite

from .project import Project, configured, no_traceback, parity_suite

PAIRS = """
schema = "judgesense/suite/1"
name = "shop"
kind = "paraphrase"
[space]
labels = ["A", "B"]
pairwise = true
tie = true
[stimuli]
file = "shop.jsonl"
{templates}
[checks]
agreement_floor = 0.5
"""
ONE = '[[templates]]\nid = "t1"\ntext = "{{a}} or {{b}}? A, B or tie."\n'
TWO = ONE + '[[templates]]\nid = "t2"\ntext = "Better: {{a}} or {{b}}? A, B or tie."\n'


@pytest.fixture
def shop(project: Project) -> Project:
    """Two pairs; the first text of each is the better one."""
    project.suite.unlink()
    lines = [
        {"id": f"s{n}", "task": f"q{n}", "texts": [f"good {n}", f"bad {n}"], "label": "1"}
        for n in (1, 2)
    ]
    (project.path / "shop.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (project.path / "shop.suite.toml").write_text(PAIRS.replace("{templates}", ONE))
    (project.path / "judge.txt").write_text("PROD {{task}}: A={{a}} B={{b}}")
    project.declare('prompts.pairwise = { file = "judge.txt" }')
    project.server.reply = lambda prompt: "A" if "A=good" in prompt else "B"
    return project


def _two_wordings(shop: Project) -> None:
    (shop.path / "shop.suite.toml").write_text(PAIRS.replace("{templates}", TWO))


def _identity(shop: Project) -> dict[str, object]:
    sheet = json.loads((shop.path / "sheet.json").read_text())
    found: dict[str, object] = sheet["judges"][0]["judge"]
    return found


def test_the_production_prompt_is_sent_on_pairs_of_ones_own(shop: Project) -> None:
    written = ("--judge-datasheet", "sheet.json")
    result = shop.run("shop.suite.toml", "--judge-mode", "record", *written)
    result.assert_outcomes(passed=1)
    # Two pairs in both orders.
    assert sorted(shop.server.prompts) == [
        "PROD q1: A=bad 1 B=good 1",
        "PROD q1: A=good 1 B=bad 1",
        "PROD q2: A=bad 2 B=good 2",
        "PROD q2: A=good 2 B=bad 2",
    ]
    assert _identity(shop)["own_prompts"]


def unsent_error_of(project: Project) -> UsageError:
    """The error of the prompts of the judge ``mine`` that a session of all suites would send."""
    suites = sorted(str(path.name) for path in project.path.glob("*.suite.toml"))
    state = state_of(configured(project.pytester, *suites))
    (judge,) = state.run.measurements.judges(project.path)
    members = [
        DeclaredCheck(judge, suite, check)
        for suite in map(load_suite, map(project.path.joinpath, suites))
        for check, _ in checks_of(suite, BUILT_IN)
    ]
    state.run.family.declared.append(lambda: members)
    (error,) = state.run.family.unsent_prompts(with_builtin=False)
    return error


def test_pairs_under_two_wordings_refuse_a_pairwise_prompt(shop: Project) -> None:
    _two_wordings(shop)
    error = unsent_error_of(shop)
    assert str(error).startswith("judge 'mine' has prompts that no suite sends")
    assert error.found == "prompts.pairwise; shop shows pairs under 2 wordings of its own"
    assert "prompts.paraphrases = { shop = [...] }" in error.remedy


def test_two_production_wordings_are_sent_where_two_are_compared(shop: Project) -> None:
    _two_wordings(shop)
    shop.declare(
        'prompts.paraphrases = { shop = [{ file = "judge.txt" }, "NEXT A={{a}} B={{b}}"] }'
    )
    shop.run("shop.suite.toml", "--judge-mode", "record")
    assert {prompt[:4] for prompt in shop.server.prompts} == {"PROD", "NEXT"}


def test_one_production_prompt_for_texts_with_labels_is_sent(project: Project) -> None:
    kept = project.suite.read_text().partition('[[templates]]\nid = "t2"')[0]
    project.suite.write_text(kept + "[checks]\nagreement_floor = 0.5\n")
    (project.path / "judge.txt").write_text("PROD {{number}}")
    project.declare('prompts.paraphrases = { parity = [{ file = "judge.txt" }] }')
    result = project.run("parity.suite.toml", "--judge-mode", "record")
    result.assert_outcomes(passed=1)
    assert sorted(project.server.prompts) == [f"PROD {n}" for n in range(1, 7)]


def test_one_wording_for_a_suite_that_compares_three_is_an_error(project: Project) -> None:
    project.declare('prompts.paraphrases = ["{{number}}?"]')
    result = project.run("parity.suite.toml", "--judge-mode", "record")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*has one wording, and suite parity compares wordings"])
    no_traceback(result)
    assert project.server.asked == []


SENT = "parity shows one text a call under 3 wordings of its own"


@pytest.mark.parametrize(
    ("prompts", "found"),
    [
        ('prompts.pairwise = "{{a}}{{b}}"', "prompts.pairwise"),
        ('prompts.strict = "{{a}}{{b}}"', "prompts.strict"),
        ('prompts.paraphrases = { party = ["{{number}}?"] }', "prompts.paraphrases.party"),
    ],
)
def test_a_prompt_that_nothing_sends_is_an_error(
    project: Project, prompts: str, found: str
) -> None:
    project.declare(prompts)
    assert unsent_error_of(project).found == f"{found}; {SENT}"


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "n2"])
def test_a_prompt_that_nothing_sends_ends_the_session(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.declare('prompts.pairwise = "{{a}}{{b}}"')
    result = project.run("parity.suite.toml", "--judge-mode", "record", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*judge 'mine' has prompts that no suite sends", f"*found: *prompts.pairwise; {SENT}"]
    )
    no_traceback(result)
    assert project.server.asked == []


def test_a_part_of_a_project_is_run_and_says_what_it_does_not_send(shop: Project) -> None:
    # The prompt is for pairs/, and the session runs parity/ alone: it is in use.
    for name in ("parity", "shop"):
        folder = shop.path / "suites" / name
        folder.mkdir(parents=True)
    for file in ("shop.suite.toml", "shop.jsonl"):
        (shop.path / file).rename(shop.path / "suites" / "shop" / file)
    parity_suite(shop.path / "suites" / "parity")
    shop.server.reply = lambda prompt: "YES"
    written = ("--judge-datasheet", "sheet.json")
    result = shop.run("suites/parity", "--judge-mode", "record", *written)
    assert result.ret in (0, 1)
    assert "prompts.pairwise of judge mine not sent: parity shows one text" in result.stdout.str()
    assert _identity(shop)["own_prompts"] is None


def test_a_builtin_suite_by_name_is_a_part_as_well(project: Project) -> None:
    project.declare('prompts.pairwise = "{{a}}{{b}}"')
    result = project.run("--judge-suite", "coherence")
    result.stdout.fnmatch_lines(["*trials are not recorded*"])
    assert "no suite sends" not in result.stdout.str() + result.stderr.str()


def test_the_datasheet_of_two_suites_holds_the_prompts_that_one_of_them_sends(
    shop: Project,
) -> None:
    parity_suite(shop.path)  # the first by name
    plain = shop.server.reply
    shop.server.reply = lambda prompt: plain(prompt) if "PROD" in prompt else "YES"
    shop.run("--judge-mode", "record", "--judge-datasheet", "sheet.json", ".")
    assert _identity(shop)["own_prompts"]
