"""A key that the endpoint echoes, and where a session could write it: everywhere is searched."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from pytest_judgesense.api import MeasuredDatasheet

from .project import Project, even, measured, parity_suite

KEY = "Zq7-x_Rv3LmPw9kT2"
LOUD = ("--log-cli-level=DEBUG", "--log-file=all.log", "--log-file-level=DEBUG", "-rA", "-vv")
FILES = ("--junitxml=junit.xml", "--judge-datasheet=sheet.json", "--judge-datasheet=log.jsonl")


def _told(project: Project, *outputs: str) -> dict[str, str]:
    """Everything that a session left: its output, and all files but the test's own."""
    files = {
        str(path.relative_to(project.path)): path.read_text(encoding="utf-8", errors="replace")
        for path in project.path.rglob("*")
        if path.is_file() and path.suffix not in (".toml", ".pyc", ".py")
    }
    return files | {f"output {number}": text for number, text in enumerate(outputs)}


@pytest.fixture
def echoing(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The key is in the environment; every other reply quotes it, plain or in base64."""
    monkeypatch.setenv("MY_JUDGE_KEY", KEY)
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    project.declare('api_key_env = "MY_JUDGE_KEY"\nsystem = "false friends"')

    def reply(prompt: str) -> str:
        if prompt.startswith("Tell"):
            return f"wrong key {KEY} or {base64.b64encode(KEY.encode()).decode()}"
        return even(prompt)

    project.server.reply = reply
    return project


@pytest.mark.parametrize(
    ("mode", "workers"),
    [
        pytest.param("record", (), id="record-plain", marks=pytest.mark.long),
        pytest.param("record", ("-n", "2"), id="record-n2"),
        pytest.param("live", (), id="live-plain"),
        pytest.param("live", ("-n", "2"), id="live-n2", marks=pytest.mark.long),
    ],
)
def test_the_key_stands_nowhere(echoing: Project, mode: str, workers: tuple[str, ...]) -> None:
    result = echoing.run("parity.suite.toml", "--judge-mode", mode, *LOUD, *FILES, *workers,
                         "--judge-save-live", "kept")  # fmt: skip
    assert result.ret in (0, 1), result.stdout.str()
    told = _told(echoing, result.stdout.str(), result.stderr.str())
    expected = {"junit.xml", "sheet.json", "log.jsonl", "all.log"}
    expected |= {"kept/mine/parity.jsonl" if mode == "live" else "cassettes/mine/parity.jsonl"}
    assert expected <= set(told)
    encoded = base64.b64encode(KEY.encode()).decode()[:20]
    assert [name for name, text in told.items() if KEY in text or encoded in text] == []
    assert "[secret: MY_JUDGE_KEY]" in told["log.jsonl"]
    assert "removed from the recording: MY_JUDGE_KEY" in told["sheet.json"]
    output = result.stdout.str()
    assert output.count("secrets removed from what was recorded: MY_JUDGE_KEY") == 1
    assert output.count("TOKENIZERS_PARALLELISM (boolean)") == 1
    # A word of the environment eats no text.
    (cassette,) = (name for name in told if name.endswith("mine/parity.jsonl"))
    assert "false friends" in told[cassette]


@pytest.mark.parametrize("mode", ["record", pytest.param("live", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "workers",
    [
        pytest.param((), id="plain"),
        pytest.param(("-n", "1"), id="n1", marks=pytest.mark.long),
        pytest.param(("-n", "2", "--dist", "loadfile"), id="n2"),
    ],
)
def test_a_key_that_a_later_suite_uses_stands_nowhere_either(
    project: Project, mode: str, workers: tuple[str, ...]
) -> None:
    # The first suite asks for it, and its replies quote it. The second, which is another worker's
    # where there are two, sends it with each call, as soon as all of the first is recorded.
    wordings = ["Is number {{number}} even?", "Is number {{number}} twice another?"]
    parity_suite(project.path, name="second", wordings=wordings)
    (project.path / "pyproject.toml").unlink()
    (project.path / "conftest.py").write_text(
        "import time, httpx\n"
        "from pathlib import Path\n"
        "from pytest_judgesense import Judge\n"
        f"calls = Path({str(project.path / 'calls.txt')!r})\n"
        "def code(messages):\n"
        "    later = 'Is number' in messages[-1]['content']\n"
        "    until = time.monotonic() + 30\n"
        "    while later and time.monotonic() < until:\n"
        "        if calls.exists() and calls.read_text().count('.') >= 18:\n"
        "            break\n"
        "        time.sleep(0.05)\n"
        f"    headers = {{'X-Api-Key': {KEY!r}}} if later else {{}}\n"
        "    asked = {'model': 'code', 'messages': messages}\n"
        f"    url = '{project.server.base_url}/chat/completions'\n"
        "    answer = httpx.post(url, json=asked, headers=headers).json()\n"
        "    with calls.open('a') as file:\n"
        "        file.write('-' if later else '.')\n"
        "    return answer['choices'][0]['message']['content']\n"
        "def pytest_judgesense_judges(config):\n"
        "    return [Judge('code', code)]\n"
    )
    project.server.reply = lambda prompt: f"{even(prompt)}\n\n(signed {KEY})"
    result = project.run(
        "parity.suite.toml", "second.suite.toml", "--judge-mode", mode, "--judge-save-live", "kept",
        "--judge-datasheet=sheet.json", "--judge-datasheet=log.jsonl", *workers,
    )  # fmt: skip
    told = _told(project)
    for name in ("parity", "second"):
        cassette = told[f"{'kept' if mode == 'live' else 'cassettes'}/code/{name}.jsonl"]
        assert cassette.count("(signed [secret: x-api-key header])") >= 12  # 6 numbers, 2 wordings
    assert [name for name, text in told.items() if KEY in text] == []
    assert "secrets removed from what was recorded: x-api-key header" in result.stdout.str()


def test_recording_and_replay_read_the_same(
    echoing: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = measured(echoing, mode="record")
    monkeypatch.delenv("MY_JUDGE_KEY")
    replayed = measured(echoing)
    assert readings(recorded) == readings(replayed)
    assert any("[secret: MY_JUDGE_KEY]" in str(reply) for _, _, reply in readings(replayed))


def readings(sheet: MeasuredDatasheet) -> list[tuple[object, ...]]:
    (cell,) = sheet.cells
    return [(one.trial.id, one.outcome, one.reply) for one in cell.judgments]


def test_no_request_reaches_a_log(project: Project) -> None:
    marked = "zebra-crossing"
    project.declare(f'system = "{marked}"')
    (project.path / "conftest.py").write_text(
        # As a package that sets its own level while a judge imports it.
        "import logging\n"
        "for name in ('httpx', 'httpcore.http11', 'vcr.stubs'):\n"
        "    logging.getLogger(name).setLevel(logging.DEBUG)\n"
        "def pytest_runtest_call(item):\n"
        "    logging.getLogger('judge').warning('logs are on')\n"
    )
    # A judge that says YES to everything fails, and a failing item shows all its sections.
    project.server.reply = lambda prompt: "YES"
    result = project.run(
        "parity.suite.toml",
        "--judge-mode",
        "record",
        *LOUD,
        "--junitxml=junit.xml",
        "-o",
        "junit_logging=all",
    )
    result.assert_outcomes(failed=1)
    told = _told(project, result.stdout.str())
    assert "logs are on" in told["all.log"]
    assert "logs are on" in told["junit.xml"]
    address = project.server.base_url.removeprefix("http://").removesuffix("/v1")
    for name in ("all.log", "junit.xml"):
        assert "chat/completions" not in told[name]
        assert address not in told[name]
    assert not any(
        marked in line or "chat/completions" in line
        for line in result.outlines
        if "DEBUG" in line or "INFO" in line
    )


def test_the_judge_fixture_and_a_judge_of_python_leak_neither(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_SECRET", KEY)
    (project.path / "pyproject.toml").unlink()
    project.suite.unlink()
    (project.path / "conftest.py").write_text(
        "import os\nfrom pytest_judgesense import Judge\n"
        "def ask(messages):\n"
        "    if 'raise' in messages[-1]['content']:\n"
        "        raise RuntimeError('refused ' + os.environ['OTHER_SECRET'])\n"
        "    return 'said ' + os.environ['OTHER_SECRET']\n"
        "def pytest_judgesense_judges(config):\n    return [Judge('mine', ask)]\n"
    )
    project.pytester.makepyfile(
        "def test_says(judge):\n    assert judge.ask('hello').text == 'YES'\n"
        "def test_raises(judge):\n    judge.ask('raise')\n"
    )
    result = project.run("--judge-mode", "record", *LOUD, "--junitxml=junit.xml", "-l")
    result.assert_outcomes(failed=2)
    told = _told(project, result.stdout.str(), result.stderr.str())
    assert [name for name, text in told.items() if KEY in text] == []
    assert "said [secret: OTHER_SECRET]" in result.stdout.str()
    assert "secrets removed from what was recorded: OTHER_SECRET" in result.stdout.str()
    assert Path(project.path / "cassettes" / "mine" / "tests").is_dir()


# Judges that quote a key which no variable is named for: in a reply, in an error, in a URL, and in
# the body of a request beside the header that shows it.
QUOTING = """
import httpx
from pytest_judgesense import Judge

KEY = {key!r}
HEADERS = {{"Authorization": "Bearer " + KEY}}
URL = {url!r}

def ask(messages, url="/chat/completions", **more):
    body = {{"model": "m", "messages": messages, **more}}
    return httpx.post(URL + url, json=body, headers=HEADERS)

def reply(messages):
    said = ask(messages).json()["choices"][0]["message"]["content"]
    return said + "\\n\\n(asked with " + KEY + ")"

def error(messages):
    ask(messages)
    raise ValueError("no such key: " + KEY)

def url(messages):
    ask(messages, "/secret/" + KEY).raise_for_status()

def body(messages):
    return ask(messages, auth=KEY).json()["choices"][0]["message"]["content"]

def pytest_judgesense_judges(config):
    return [Judge(one.__name__, one) for one in (reply, error, url, body)]
"""


@pytest.mark.long
@pytest.mark.parametrize("judge", ["reply", "error", "url", "body"])
def test_a_key_that_only_the_requests_of_a_function_show_stands_nowhere_after_a_replay(
    project: Project, judge: str
) -> None:
    (project.path / "pyproject.toml").unlink()
    conftest = QUOTING.format(key=KEY, url=project.server.base_url)
    (project.path / "conftest.py").write_text(conftest)
    outputs = ["--judge-name", judge, "-vv", *FILES, "--judge-datasheet=sheet.html"]
    outputs += ["--judge-save-baseline=baseline.json"]
    project.run("parity.suite.toml", "--judge-mode", "record", *outputs)
    replayed = project.run("parity.suite.toml", *outputs)
    told = _told(project, replayed.stdout.str(), replayed.stderr.str())
    assert {"baseline.json", "log.jsonl", "sheet.html", "junit.xml"} <= set(told)
    assert [name for name, text in told.items() if KEY in text] == []
    if judge in ("reply", "error"):
        assert "[secret: authorization header]" in told["log.jsonl"]
    # A prompt that has changed is shown beside the recorded one.
    suite = project.path / "parity.suite.toml"
    suite.write_text(suite.read_text().replace("even", "divisible by two"))
    changed = project.run("parity.suite.toml", *outputs)
    told = _told(project, changed.stdout.str(), changed.stderr.str())
    assert "divisible by two" in changed.stdout.str()
    assert [name for name, text in told.items() if KEY in text] == []


@pytest.mark.parametrize(
    "where", ["headers={'Authorization': 'Bearer ' + KEY}", "params={'key': KEY}"]
)
@pytest.mark.parametrize("word", [pytest.param("anything", marks=pytest.mark.long), "divisible"])
def test_a_placeholder_for_a_key_may_be_a_word_of_prompts_and_replies(
    project: Project, monkeypatch: pytest.MonkeyPatch, where: str, word: str
) -> None:
    # A machine without the key sets some word, which the prompts and the replies hold too.
    (project.path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "asking:asks"\n'
    )
    (project.path / "asking.py").write_text(
        "import httpx, os\n"
        "def asks(messages):\n"
        "    KEY = os.environ['ANY_NAME']\n"
        "    asked = {'model': 'm', 'messages': messages}\n"
        f"    url = '{project.server.base_url}/chat/completions'\n"
        f"    answer = httpx.post(url, json=asked, {where}).json()\n"
        "    return answer['choices'][0]['message']['content']\n"
    )
    suite = project.path / "parity.suite.toml"
    suite.write_text(suite.read_text().replace("even?", f"even, and {word} of use?"))
    project.server.reply = lambda prompt: f"{even(prompt)}\n\nThere is {word} to say."
    monkeypatch.setenv("ANY_NAME", KEY)
    recorded = measured(project, mode="record")
    assert KEY not in project.cassette.read_text()
    monkeypatch.setenv("ANY_NAME", word)
    replayed = measured(project)
    assert readings(recorded) == readings(replayed)
    assert all(word in str(reply) for _, _, reply in readings(replayed))
