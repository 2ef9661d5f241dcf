"""``--judge-name`` and its ini twin: where judges come from, and what names them."""

from __future__ import annotations

import json

import pytest

from tests.suites.known import builtin_suites

from .project import PYTHON_JUDGE, TRIALS, WORDINGS, Project, ids, no_traceback, parity_suite, run

CHECK = "jss_floor[0.8]"


@pytest.fixture
def project(recorded_once: Project) -> Project:
    return recorded_once


def _ids(pytester: pytest.Pytester, *arguments: str) -> list[str]:
    return ids(run(pytester, "--collect-only", "-q", "parity.suite.toml", *arguments))


def test_without_the_option_every_declared_judge_is_measured(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path, judges=["embedded:noisy"])
    pytester.makepyprojecttoml(
        '[tool.judgesense.judges.one]\nprovider = "openai"\nmodel = "m"\n'
        '[tool.judgesense.judges.two]\nprovider = "anthropic"\nmodel = "m"\n'
    )
    assert _ids(pytester) == [f"parity.suite.toml::{name}::{CHECK}" for name in ("one", "two")]


def test_the_nearest_pyproject_upward_of_the_suite_declares(pytester: pytest.Pytester) -> None:
    table = '[tool.judgesense.judges.{}]\nprovider = "openai"\nmodel = "m"\n'
    inner = pytester.mkdir("inner")
    parity_suite(inner / "suites")
    (pytester.path / "pyproject.toml").write_text(table.format("outer"))
    (inner / "pyproject.toml").write_text(table.format("inner"))
    result = run(pytester, "--collect-only", "-q", "--rootdir", str(pytester.path), "inner/suites")
    assert [name.split("::")[1] for name in ids(result)] == ["inner"]


def test_without_any_declared_judge_the_suite_names_its_own(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path, judges=["embedded:noisy", "openai:m"])
    # The embedded judge is called by its profile; a name with a colon loses it, and says so.
    noisy, other = (name.split("::")[1] for name in _ids(pytester))
    assert noisy == "noisy"
    assert other.startswith("openai-m-")


def test_the_named_judges_are_measured_in_the_order_of_their_names(
    pytester: pytest.Pytester,
) -> None:
    parity_suite(pytester.path)
    pytester.makepyprojecttoml('[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m"\n')
    arguments = ["--judge-name", "embedded:mixed", "--judge-name", "mine"]
    assert [name.split("::")[1] for name in _ids(pytester, *arguments)] == ["mixed", "mine"]


def test_a_declared_judge_asks_its_endpoint_with_its_settings(project: Project) -> None:
    project.declare('temperature = 0.5\nmax_tokens = 7\nseed = 11\nsystem = "Be brief."')
    project.record()
    bodies = [json.loads(json.loads(line)["request"]["body"]) for line in project.lines()]
    assert len(bodies) == TRIALS
    for body in bodies:
        assert (body["model"], body["temperature"], body["max_tokens"], body["seed"]) == (
            "m-1",
            0.5,
            7,
            11,
        )
        assert body["messages"][0] == {"role": "system", "content": "Be brief."}


def test_a_python_object_of_conftest_is_recorded_and_replayed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    parity_suite(pytester.path)
    pytester.makeconftest(
        "import os\n"
        + PYTHON_JUDGE.replace("    number =", "    assert 'OFF' not in os.environ\n    number =")
    )
    run(pytester, "parity.suite.toml", "--judge-mode", "record").assert_outcomes(passed=1)
    # Replayed, it is not called: it could not answer any more.
    monkeypatch.setenv("OFF", "1")
    run(pytester, "parity.suite.toml").assert_outcomes(passed=1)


def test_an_async_function_may_be_a_judge(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path)
    pytester.makeconftest(PYTHON_JUDGE.replace("def even", "async def even"))
    run(pytester, "parity.suite.toml", "--judge-mode", "record").assert_outcomes(passed=1)


def test_a_callable_judge_is_imported_by_its_name(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(pytester.path)
    pytester.makepyfile(house_judge=PYTHON_JUDGE)
    parity_suite(pytester.path)
    result = run(
        pytester,
        "parity.suite.toml",
        *("--judge-mode", "record", "--judge-name", "callable:house_judge:even"),
    )
    result.assert_outcomes(passed=1)


def test_conftest_returning_no_judge_is_a_usage_error(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path)
    pytester.makeconftest("def pytest_judgesense_judges(config):\n    return ['mine']\n")
    result = run(pytester, "parity.suite.toml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*'mine'*", "*pytest_judgesense.Judge*"])
    no_traceback(result)


def test_names_keep_apart_in_ids_and_files_what_a_slug_would_confuse(
    pytester: pytest.Pytester,
) -> None:
    parity_suite(pytester.path)
    pytester.makeconftest(
        PYTHON_JUDGE.replace('Judge("mine", even)', 'Judge("a/b", even), Judge("a b", even)')
    )
    result = run(pytester, "parity.suite.toml", "--judge-mode", "record", "-rp")
    result.assert_outcomes(passed=2)
    passed = [line for line in result.outlines if line.startswith("PASSED parity.suite.toml::")]
    slugs = {line.split("::")[1] for line in passed}
    assert len(slugs) == 2
    assert all(slug.startswith("a-b-") for slug in slugs)
    assert {path.name for path in (pytester.path / "cassettes").iterdir()} == slugs


def test_two_judges_of_one_name_are_a_usage_error(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path)
    pytester.makepyprojecttoml(
        '[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m"\n'
        '[tool.judgesense.judges.Mine]\nprovider = "openai"\nmodel = "n"\n'
    )
    result = run(pytester, "parity.suite.toml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*two judges share one name*"])


# A judge's own prompts are what it is sent.


def test_own_paraphrases_replace_the_wordings_of_the_suite(project: Project) -> None:
    (project.path / "second.txt").write_text("Second: {{number}}? YES or NO.")
    project.declare(
        'prompts.paraphrases = { parity = ["First: {{number}}? YES or NO.", '
        '{ file = "second.txt" }] }'
    )
    result = project.run("parity.suite.toml", "--judge-mode", "record")
    result.assert_outcomes(passed=1)
    assert sorted(project.server.prompts) == sorted(
        f"{word}: {number}? YES or NO." for word in ("First", "Second") for number in range(1, 7)
    )


def test_own_pairwise_and_strict_prompts_are_sent(project: Project) -> None:
    text = builtin_suites()["criterion"].read_text(encoding="utf-8")
    tasks = builtin_suites()["ladder"].parent / "tasks.jsonl"
    first = tasks.read_text(encoding="utf-8").splitlines()[0]
    (project.path / "tasks.jsonl").write_text(first + "\n", encoding="utf-8")
    suite = project.path / "criterion.suite.toml"
    suite.write_text(
        text.replace("../ladder/tasks.jsonl", "tasks.jsonl").replace(
            "distances = [0, 1, 5]", "distances = [5]"
        ),
        encoding="utf-8",
    )
    (project.path / "strict.txt").write_text("STRICT {{task}} A: {{a}} B: {{b}}")
    project.declare(
        'prompts.pairwise = "USUAL {{task}} A: {{a}} B: {{b}}"\n'
        'prompts.strict = { file = "strict.txt" }'
    )
    project.server.reply = lambda prompt: "tie"
    project.run("criterion.suite.toml", "--judge-mode", "record")
    # One task has one pair at distance 5, asked in both orders under both prompts.
    assert sorted(prompt[:6] for prompt in project.server.prompts) == (
        ["STRICT", "STRICT", "USUAL ", "USUAL "]
    )
    assert all(" A: " in prompt and " B: " in prompt for prompt in project.server.prompts)


def test_an_own_prompt_that_the_suite_cannot_fill_names_what_it_may_ask_for(
    project: Project,
) -> None:
    project.declare('prompts.paraphrases = ["{{figure}}?", "Is {{number}}?"]')
    result = project.run("parity.suite.toml", "--judge-mode", "record")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*{{figure}}*", "*{{number}}*"])
    no_traceback(result)
    assert project.server.asked == []


def test_the_wordings_of_the_suite_are_sent_where_a_judge_has_none(project: Project) -> None:
    project.record()
    bodies = [json.loads(json.loads(line)["request"]["body"]) for line in project.lines()]
    ending = "\nReply YES or NO and nothing else."
    assert sorted(body["messages"][-1]["content"] for body in bodies) == sorted(
        wording.replace("{{number}}", str(number)) + ending
        for wording in WORDINGS
        for number in range(1, 7)
    )
