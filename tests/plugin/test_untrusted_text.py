"""Judges' words on a terminal: no control character, no escape sequence, whatever way they take."""

from __future__ import annotations

import json

import pytest

from pytest_judgesense.cassettes.storage import read_exchanges
from tests import processes

from .project import Project

# Clears the screen, sets the title, hides text, goes back over the line, turns its direction.
EVIL = "NO\x1b[2J\x1b]0;owned\x07\x1b[8mhidden\r\x08\x9b31m\u202egnp\x00"
RAW = ("\x1b", "\x07", "\x08", "\x9b", "\u202e", "\x00", "\r")


def _raw(text: str) -> list[str]:
    return [sign for sign in RAW if sign in text.replace("\r\n", "\n")]


@pytest.mark.parametrize(
    "tb",
    ["long", *(pytest.param(tb, marks=pytest.mark.long) for tb in ("short", "native", "line"))],
)
def test_a_failing_check_and_its_summary(project: Project, tb: str) -> None:
    project.server.reply = lambda prompt: EVIL if prompt.startswith("Tell") else "YES"
    result = project.run(
        "parity.suite.toml", "--judge-mode", "record", "-rA", f"--tb={tb}", "--color=no"
    )
    result.assert_outcomes(failed=1)
    assert _raw(result.stdout.str()) == []


@pytest.mark.parametrize("color", ["no", "yes"])
def test_a_test_that_compares_prints_logs_and_raises_a_reply(project: Project, color: str) -> None:
    project.server.reply = lambda prompt: f"{EVIL}\nsecond line\n"
    project.pytester.makepyfile(
        """
        import logging, pytest

        def test_compares(judge):
            assert judge.ask("1").text == "YES\\nsecond line"

        def test_prints_and_raises(judge):
            text = judge.ask("2").text
            print(text)
            logging.getLogger("mine").warning(text)
            raise ValueError(text)

        def test_fails(judge):
            pytest.fail(judge.ask("3").text, pytrace=False)

        def test_skips(judge):
            pytest.skip(judge.ask("4").text)
        """
    )
    result = project.run("--judge-mode", "record", "-rA", "-vv", "-l", f"--color={color}")
    text = result.stdout.str()
    # pytest's own colours are sequences too: none of the judge's may be among them.
    assert "\x1b[2J" not in text
    assert "\x1b]0;" not in text
    assert "\x1b[8m" not in text
    signs = _raw(text) if color == "no" else [s for s in _raw(text) if s != "\x1b"]
    assert signs == []
    assert r"\x1b[2J" in text
    assert "second line" in text


def test_an_error_that_quotes_a_recording(project: Project) -> None:
    project.record()
    lines = project.lines()
    entry = json.loads(lines[0])
    entry["request"]["body"] = entry["request"]["body"].replace("even", f"odd{EVIL[2:6]}")
    project.cassette.write_text(
        "\n".join([json.dumps(entry, ensure_ascii=False), *lines[1:]]) + "\n"
    )
    result = project.run("parity.suite.toml", "-rA", "--color=no")
    result.assert_outcomes(failed=1)
    assert _raw(result.stdout.str()) == []
    project.cassette.write_text('{"trial\x1b]0;owned\x07"}\n')
    broken = project.run("parity.suite.toml", "-rA", "--color=no")
    broken.assert_outcomes(failed=1)
    assert _raw(broken.stdout.str()) == []


def test_judgesense_report_of_a_log_full_of_escapes(project: Project) -> None:
    log = project.path / "evil.jsonl"
    lines = [
        {"trial": f"t{EVIL}/{i}/{t}", "judge": f"j{EVIL}", "suite": f"s{EVIL}", "item": str(i),
         "template": f"{t}{EVIL}", "condition": {"distance": EVIL}, "verdict": f"v{EVIL}"}
        for i in range(3) for t in ("a", "b")
    ]  # fmt: skip
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = processes.run("judgesense", "report", log)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert _raw(output) == []
    log.write_text(json.dumps(lines[0] | {"order": EVIL}) + "\n")
    done = processes.run("judgesense", "report", log)
    assert done.returncode == 3
    assert _raw(done.stderr) == []


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.long)])
def test_half_of_a_surrogate_pair_costs_no_output(
    project: Project, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    summary = project.path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    project.server.model = "\udc00m"
    project.server.reply = lambda prompt: "NO\udc00" if prompt.startswith("Tell") else "YES \ud83d"
    names = ["x.json", "x.md", "x.html", "x.jsonl"]
    asked = [word for name in names for word in ("--judge-datasheet", name)]
    result = project.run(
        "parity.suite.toml", "--judge-mode", "record", "--junitxml", "x.xml", *asked, *workers
    )
    output = result.stdout.str() + result.stderr.str()
    assert "cannot be read" not in output
    assert "cannot be written" not in output
    assert "Traceback" not in output
    assert "mine" in output
    for name in [*names, "x.xml", "summary.md"]:
        assert (project.path / name).read_text(encoding="utf-8").strip(), name
    sheet = json.loads((project.path / "x.json").read_text(encoding="utf-8"))
    assert sheet["judges"][0]["judge"]["served"] == ["\ufffdm"]
    # The recording is evidence, and holds what was sent: an escape of six characters.
    assert r"\\udc00m" in project.cassette.read_text(encoding="utf-8")
    replayed = project.run("parity.suite.toml", "--judge-datasheet", "y.json")
    assert "Traceback" not in replayed.stdout.str()


def test_half_of_a_surrogate_pair_in_an_item_is_replaced(project: Project) -> None:
    """Of an item that JSON escapes; what is not escaped cannot stand in UTF-8."""
    lines = (project.path / "parity.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0]) | {"number": "2, half \udc00 and whole \ud83d\ude00"}
    (project.path / "parity.jsonl").write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n")
    names = ["x.md", "x.jsonl"]
    asked = [word for name in names for word in ("--judge-datasheet", name)]
    result = project.run("parity.suite.toml", "--judge-mode", "record", *asked)
    output = result.stdout.str() + result.stderr.str()
    assert "Traceback" not in output
    assert "INTERNALERROR" not in output
    for name in names:
        assert (project.path / name).read_text(encoding="utf-8").strip(), name
    sent = [exchange.request.body for exchange in read_exchanges(project.cassette)]
    assert any(
        "half \ufffd and whole \U0001f600" in json.dumps(json.loads(body), ensure_ascii=False)
        for body in sent
    )


@pytest.mark.parametrize("wrong", ["item", "marker", pytest.param("judge", marks=pytest.mark.long)])
def test_no_error_of_a_collection_gives_a_workflow_command(
    project: Project, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    evil = "##[add-mask]d"
    arguments = ["parity.suite.toml"]
    if wrong == "item":
        line = {"id": "i1", "number": "2", "label": evil}
        (project.path / "parity.jsonl").write_text(json.dumps(line) + "\n")
    elif wrong == "judge":
        arguments += ["--judge-name", evil]
    else:
        project.pytester.makepyfile(
            f"""
            import pytest

            @pytest.mark.jss_floor(0.9, suite={evil!r})
            def test_it(): pass
            """
        )
        arguments = ["."]
    result = project.run(*arguments)
    output = result.stdout.str() + result.stderr.str()
    assert result.ret != 0
    assert "add-mask]d" in output
    assert [line for line in output.splitlines() if "##[" in line] == []
