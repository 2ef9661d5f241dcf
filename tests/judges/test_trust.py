"""What a repository alone must not decide: where judges are asked, and which files they are shown.

No test here connects: the rule is one of names. tests/plugin/test_untrusted_branch.py holds every
way of asking against it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import SendingRefused, UsageError
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.judges.providers.base import HttpRequest, Reply
from pytest_judgesense.judges.providers.builtin import BUILT_IN
from pytest_judgesense.judges.resolving import key_of
from pytest_judgesense.judges.spec import JudgeSpec, Provider
from pytest_judgesense.judges.trust import ANY_FILES, Trust, origin_of
from tests.plugin.project import parity_suite
from tests.suites.known import builtin_suites, load_suite
from tests.test_linear import holds, repeated

HOSTS, PATHS = "JUDGESENSE_ALLOW_HOSTS", "JUDGESENSE_ALLOW_PATHS"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's configurations; no allowance stands anywhere yet."""
    for name in (HOSTS, PATHS, "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home" / ".config"
    folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME" if os.name != "nt" else "APPDATA", str(folder))
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of a project."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def configure(home: Path, text: str) -> Path:
    file = home / "judgesense" / "config.toml"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    return file


# -- hosts -----------------------------------------------------------------------------------------

PLAIN = Provider(
    "plain",
    lambda *_: HttpRequest("POST", "", {}, b""),
    lambda _status, _body: Reply(""),
    "https://models.example.com/api",
    "PLAIN_API_KEY",
)
KEYLESS = replace(PLAIN, name="keyless", default_key_env="")


def judge(provider: str, base_url: str | None = None, variable: str | None = None) -> JudgeSpec:
    model = "clean" if provider == "embedded" else "m"
    table = {"provider": provider, "model": model, "base_url": base_url, "api_key_env": variable}
    providers = {**BUILT_IN, "plain": PLAIN, "keyless": KEYLESS}
    return judge_from_table("mine", table, Path(), providers)


def asked(spec: JudgeSpec, trust: Trust = ANY_FILES) -> None:
    from pytest_judgesense.judges.client import unasked_endpoint

    # Where it would be asked, and with the key of which variable, as the client has it.
    trust.refuse_host(spec, unasked_endpoint(spec).base_url, key_of(spec)[0])


OPENAI, ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com"


@pytest.mark.parametrize(
    ("provider", "base_url", "variable"),
    [
        ("openai", None, None),
        ("anthropic", None, None),
        ("embedded", None, None),
        ("plain", None, None),
        ("keyless", None, None),
        # Spelt out, or in part.
        ("openai", OPENAI, None),
        ("openai", "https://API.OpenAI.com:443", None),
        ("anthropic", "https://api.anthropic.com/v1/", None),
        # A key of one's own name may be any provider's.
        ("openai", None, "MY_KEY"),
        ("openai", ANTHROPIC + "/v1", "MY_KEY"),
        ("plain", None, "MY_KEY"),
        # Each key at home, whatever the form of the requests.
        ("openai", ANTHROPIC + "/v1", "ANTHROPIC_API_KEY"),
        ("anthropic", "https://api.openai.com", "OPENAI_API_KEY"),
        # This machine.
        ("openai", "http://127.0.0.1:8000/v1", None),
        ("openai", "http://127.8.8.8/v1", "OPENAI_API_KEY"),
        ("openai", "http://LOCALHOST:1", None),
        ("anthropic", "http://[::1]:8000", None),
        ("embedded", "http://127.0.0.1:8471/v1", None),
    ],
)
def test_a_judge_is_asked_at_home(
    provider: str, base_url: str | None, variable: str | None
) -> None:
    asked(judge(provider, base_url, variable))


FOREIGN = [
    ("openai", "https://judge.example/v1", None),
    ("openai", "https://judge.example/v1", "MY_KEY"),
    ("anthropic", "https://judge.example", None),
    # Without TLS, even at home: the key would go to whoever listens.
    ("openai", "http://api.openai.com/v1", None),
    ("openai", "https://api.openai.com:8443/v1", None),
    # The key of another provider.
    ("openai", OPENAI, "ANTHROPIC_API_KEY"),
    ("anthropic", None, "OPENAI_API_KEY"),
    ("openai", ANTHROPIC, None),
    ("plain", None, "OPENAI_API_KEY"),
    ("keyless", None, "ANTHROPIC_API_KEY"),
    # Without a key the prompts go there all the same.
    ("embedded", "https://judge.example/v1", None),
    ("keyless", "https://judge.example", None),
    # Names that look like home.
    ("openai", "https://api.openai.com.judge.example/v1", None),
    ("openai", "https://api.openai.com@judge.example/v1", None),
    ("openai", "https://judge.example/https://api.openai.com/v1", None),
    ("openai", "https://judge.example?@api.openai.com", None),
    ("openai", "https://127.0.0.1.judge.example/v1", None),
    ("openai", "https://localhost.judge.example/v1", None),
    ("openai", "http://0.0.0.0:8000/v1", None),
    ("openai", "http://192.168.0.7:8000/v1", None),
]


@pytest.mark.parametrize(("provider", "base_url", "variable"), FOREIGN)
def test_a_judge_is_asked_nowhere_else(
    provider: str, base_url: str | None, variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = judge(provider, base_url, variable)
    with pytest.raises(SendingRefused, match="its host is not that of its key's provider") as error:
        asked(spec)
    name = key_of(spec)[0]
    assert not name or f"with the key in {name}" in error.value.found
    # What it says to do is what helps.
    line = re.search(rf"export ({HOSTS})=(\S+?),? or ", error.value.remedy)
    assert line, error.value.remedy
    monkeypatch.setenv(line[1], *shlex.split(line[2]))
    asked(spec)


# Parsers differ in where the host of these begins and ends, or there is none.
@pytest.mark.parametrize(
    "base_url",
    [
        "https://api.openai.com\\@judge.example/v1",
        "https://judge.example\\.api.openai.com/v1",
        "https://api.openai.com\t.judge.example/v1",
        "https://api.openai.com\n@judge.example/v1",
        " https://api.openai.com/v1",
        "https://a@b@api.openai.com/v1",
        "https://api.openai.com%2ejudge.example/v1",
        "https://api.openai.com%40judge.example/v1",
        "https://api.openai.com:443:80/v1",
        "https://api.openai.com:x/v1",
        "https:api.openai.com/v1",
        "https:///api.openai.com/v1",
        "//api.openai.com/v1",
        "api.openai.com/v1",
        "file:///etc/passwd",
        "https://api.ope\u212aai.com/v1",  # the sign of Kelvin, a K to some
        "http://[",
        "",
    ],
)
@pytest.mark.parametrize("allowed", [None, "api.openai.com", "judge.example"])
def test_a_url_with_no_plain_host_is_refused_whatever_is_allowed(
    base_url: str, allowed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if allowed:
        monkeypatch.setenv(HOSTS, allowed)
    with pytest.raises(SendingRefused, match="no plain host"):
        ANY_FILES.refuse_host(judge("openai"), base_url, "OPENAI_API_KEY")


@pytest.mark.parametrize(
    ("allowed", "base_url", "permitted"),
    [
        ("judge.example", "https://judge.example/v1", True),
        ("Judge.Example", "https://JUDGE.example:443", True),
        ("https://judge.example/", "https://judge.example", True),
        (" one.example , judge.example ,", "https://judge.example", True),
        ("judge.example:8443", "https://judge.example:8443/v1", True),
        ("http://judge.example", "http://judge.example/v1", True),
        ("http://judge.example:8000", "http://judge.example:8000/v1", True),
        ("[2001:db8::1]:8443", "https://[2001:db8::1]:8443/v1", True),
        ("*.judge.example", "https://eu.judge.example/v1", True),
        ("*.judge.example", "https://a.eu.judge.example/v1", True),
        ("*.judge.example:8443", "https://eu.judge.example:8443", True),
        ("judge.example", "https://user:word@judge.example/v1", True),
        # Another port is another service, and TLS is not given away by the way.
        ("judge.example", "https://judge.example:8443/v1", False),
        ("judge.example:8443", "https://judge.example/v1", False),
        ("judge.example", "http://judge.example/v1", False),
        ("http://judge.example", "https://judge.example/v1", False),
        ("*.judge.example", "https://judge.example/v1", False),
        ("*.judge.example", "https://otherjudge.example/v1", False),
        ("*.judge.example", "https://eu.judge.example:8443/v1", False),
        ("judge.example", "https://eu.judge.example/v1", False),
        ("judge.example", "https://judge.example.evil.example/v1", False),
        ("judge.example", "https://judge.example@evil.example/v1", False),
        ("", "https://judge.example/v1", False),
        (" , ", "https://judge.example/v1", False),
    ],
)
@pytest.mark.parametrize("where", ["environment", "configuration"])
def test_allowed_hosts(
    allowed: str,
    base_url: str,
    permitted: bool,
    where: str,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if where == "environment":
        monkeypatch.setenv(HOSTS, allowed)
    else:
        listed = [one.strip() for one in allowed.split(",") if one.strip()]
        configure(home, f"allow_hosts = {listed!r}\n")
    spec = judge("openai", base_url)
    if permitted:
        asked(spec)
        return
    with pytest.raises(SendingRefused):
        asked(spec)


@pytest.mark.parametrize("allowed", ["*", "a/b", "https://judge.example/v1", "a b", "ftp://a"])
def test_an_allowance_that_names_no_host_is_an_error_that_shows_it(
    allowed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOSTS, allowed)
    with pytest.raises(UsageError, match="an allowed host is none") as error:
        asked(judge("openai", "https://judge.example/v1"))
    assert error.value.found == repr(allowed)


def test_the_line_to_set_keeps_what_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOSTS, "one.example, *.two.example")
    with pytest.raises(SendingRefused) as error:
        asked(judge("openai", "http://judge.example:8000/v1"))
    kept = "'one.example,*.two.example,http://judge.example:8000'"
    assert f"export {HOSTS}={kept}" in error.value.remedy


def test_no_secret_of_a_url_is_shown() -> None:
    with pytest.raises(SendingRefused) as error:
        asked(judge("openai", "https://user:pa55word@judge.example/v1?key=pa55word"))
    assert "judge.example" in str(error.value)
    assert "pa55word" not in str(error.value)


def test_reading_a_url_takes_no_more_than_its_length() -> None:
    for unit in ("a", "a@", ":1", "%", "[", "."):
        holds(repeated(unit, lambda text: origin_of(f"https://{text}")), 100_000)


# -- files -----------------------------------------------------------------------------------------


def written(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("Which is better, {{a}} or {{b}}?", encoding="utf-8")
    return path


def prompts_of(name: str, folder: Path) -> tuple[Path, ...]:
    """The files of a judge that is declared in ``folder`` with a prompt in the file ``name``."""
    table: dict[str, Any] = {"provider": "embedded", "model": "clean"}
    table["prompts"] = {"pairwise": {"file": name}}
    return judge_from_table("mine", table, folder).prompts.files


def link(at: Path, to: Path) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    try:
        at.symlink_to(to, target_is_directory=to.is_dir())
    except OSError:
        pytest.skip("this system lets nobody make links")


# From the project's folder to the name that its table gives the prompt.
def _within(root: Path) -> str:
    written(root / "prompts" / "p.txt")
    return "prompts/p.txt"


def _link_within(root: Path) -> str:
    link(root / "p.txt", written(root / "prompts" / "q.txt"))
    return "p.txt"


def _and_back(root: Path) -> str:
    written(root / "p.txt")
    return f"../{root.name}/p.txt"


def _above(root: Path) -> str:
    written(root.parent / "p.txt")
    return "../p.txt"


def _absolute(root: Path) -> str:
    return str(written(root.parent / "p.txt"))


def _link(root: Path) -> str:
    link(root / "p.txt", written(root.parent / "secret.txt"))
    return "p.txt"


def _link_to_link(root: Path) -> str:
    link(root / "q.txt", written(root.parent / "secret.txt"))
    link(root / "p.txt", root / "q.txt")
    return "p.txt"


def _linked_folder(root: Path) -> str:
    link(root / "prompts", written(root.parent / "secrets" / "p.txt").parent)
    return "prompts/p.txt"


def _namesake(root: Path) -> str:
    written(root.with_name(root.name + "-2") / "p.txt")
    return f"../{root.name}-2/p.txt"


@pytest.mark.parametrize("prompt", [_within, _link_within, _and_back])
def test_prompts_of_the_project_are_sent(prompt: Callable[[Path], str], root: Path) -> None:
    files = prompts_of(prompt(root), root)
    assert files
    Trust.of(root, []).refuse_files("judge 'mine'", files)


@pytest.mark.parametrize(
    "prompt", [_above, _absolute, _link, _link_to_link, _linked_folder, _namesake]
)
def test_other_prompts_are_not(
    prompt: Callable[[Path], str], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = prompts_of(prompt(root), root)
    trust = Trust.of(root, [])
    with pytest.raises(SendingRefused, match="outside the project") as error:
        trust.refuse_files("judge 'mine'", files)
    assert error.value.found == str(files[0])
    assert str(root) in error.value.expected
    # Code that asks has files of its own.
    ANY_FILES.refuse_files("judge 'mine'", files)
    # What it says to do is what helps.
    line = re.search(rf"export ({PATHS})=(\S+?),? or ", error.value.remedy)
    assert line, error.value.remedy
    monkeypatch.setenv(line[1], *shlex.split(line[2]))
    trust.refuse_files("judge 'mine'", files)


def test_the_project_may_itself_be_reached_by_a_link(root: Path, tmp_path: Path) -> None:
    link(tmp_path / "here", root)
    files = prompts_of(_within(root), tmp_path / "here")
    Trust.of(tmp_path / "here", []).refuse_files("judge 'mine'", files)


@pytest.mark.parametrize("where", ["environment", "configuration"])
def test_folders_that_the_user_allows(
    root: Path, tmp_path: Path, where: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, other = tmp_path / "shared", tmp_path / "other"
    if where == "environment":
        monkeypatch.setenv(PATHS, os.pathsep.join(map(str, [tmp_path / "none", shared])))
    else:
        configure(home, f"allow_paths = [{str(shared)!r}]\n")
    trust = Trust.of(root, [])
    trust.refuse_files("judge 'mine'", prompts_of(str(written(shared / "a" / "p.txt")), root))
    with pytest.raises(SendingRefused):
        trust.refuse_files("judge 'mine'", prompts_of(str(written(other / "p.txt")), root))
    # An allowed link leads where it leads, one from an allowed folder out of it.
    link(tmp_path / "link", other)
    monkeypatch.setenv(PATHS, str(tmp_path / "link"))
    trust.refuse_files("judge 'mine'", prompts_of(str(other / "p.txt"), root))
    monkeypatch.delenv(PATHS)
    if where == "environment":
        monkeypatch.setenv(PATHS, str(shared))
    link(shared / "q.txt", other / "p.txt")
    with pytest.raises(SendingRefused):
        trust.refuse_files("judge 'mine'", prompts_of(str(shared / "q.txt"), root))


def test_a_relative_path_is_no_allowance(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PATHS, "shared")
    with pytest.raises(UsageError, match="an allowed path is relative"):
        Trust.of(root, []).refuse_files("judge 'mine'", prompts_of(_above(root), root))


# -- suites, and paths that are typed --------------------------------------------------------------


def with_items(suite: Path, name: str) -> Path:
    """The suite file, which takes its items from the file ``name``."""
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace('file = "parity.jsonl"', f"file = {name!r}"), encoding="utf-8")
    return suite


def test_a_suite_of_the_project_is_sent(root: Path) -> None:
    Trust.of(root, []).refuse_suite(load_suite(parity_suite(root / "suites")))


@pytest.mark.parametrize("name", builtin_suites())
def test_suites_that_come_with_the_package_are_sent(root: Path, name: str) -> None:
    Trust.of(root, []).refuse_suite(load_suite(builtin_suites()[name]))


@pytest.mark.parametrize("absolute", [False, True])
def test_items_outside_the_project_are_not(root: Path, tmp_path: Path, absolute: bool) -> None:
    parity_suite(tmp_path / "private")
    items = tmp_path / "private" / "parity.jsonl"
    name = str(items) if absolute else "../private/parity.jsonl"
    suite = load_suite(with_items(parity_suite(root), name))
    with pytest.raises(SendingRefused, match="suite parity cannot be asked about") as error:
        Trust.of(root, []).refuse_suite(suite)
    assert error.value.found == str(items.resolve())


def test_items_behind_a_link_are_not(root: Path, tmp_path: Path) -> None:
    parity_suite(tmp_path / "private")
    suite = parity_suite(root)
    (root / "parity.jsonl").unlink()
    link(root / "parity.jsonl", tmp_path / "private" / "parity.jsonl")
    with pytest.raises(SendingRefused, match=r"parity\.jsonl"):
        Trust.of(root, []).refuse_suite(load_suite(suite))


def test_the_items_that_a_preset_adds_are_not(root: Path, tmp_path: Path) -> None:
    text = builtin_suites()["ladder-fine"].read_text(encoding="utf-8")
    assert "pooled_with" in text
    for name, folder in (("ladder-fine", root / "a"), ("ladder", tmp_path / "private")):
        folder.mkdir()
        for file in builtin_suites()[name].parent.iterdir():
            changed = file.read_text(encoding="utf-8")
            if file.name.endswith(".suite.toml"):
                changed = changed.replace("../ladder/", "../../private/")
            (folder / file.name).write_text(changed, encoding="utf-8")
    (preset,) = re.findall(r"\[presets\.(\w+)\](?:\n(?!\[).*)*pooled_with", text)
    path, trust = root / "a" / "ladder-fine.suite.toml", Trust.of(root, [])
    trust.refuse_suite(load_suite(path))
    with pytest.raises(SendingRefused, match=r"private.ladder\.suite\.toml"):
        trust.refuse_suite(load_suite(path, preset))


def test_a_suite_file_behind_a_link_is_not(root: Path, tmp_path: Path) -> None:
    # Its items are the project's; its wordings are not.
    parity_suite(root)
    private = with_items(parity_suite(tmp_path / "private"), str(root / "parity.jsonl"))
    (root / private.name).unlink()
    link(root / private.name, private)
    with pytest.raises(SendingRefused, match=r"private.parity\.suite\.toml"):
        Trust.of(root, []).refuse_suite(load_suite(root / private.name))


def test_a_folder_that_is_typed_gives_its_prompts_too(root: Path, tmp_path: Path) -> None:
    files = prompts_of(str(written(tmp_path / "shared" / "prompts" / "p.txt")), root)
    with pytest.raises(SendingRefused):
        Trust.of(root, []).refuse_files("judge 'mine'", files)
    Trust.of(root, [tmp_path / "shared"]).refuse_files("judge 'mine'", files)


@pytest.mark.parametrize("typed", ["shared/parity.suite.toml", "shared", ".", "project/../shared"])
def test_a_suite_whose_path_is_typed_is_sent_with_its_items(
    root: Path, tmp_path: Path, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parity_suite(tmp_path / "elsewhere")
    name = "../elsewhere/parity.jsonl"
    suite = load_suite(with_items(parity_suite(tmp_path / "shared"), name))
    with pytest.raises(SendingRefused):
        Trust.of(root, []).refuse_suite(suite)
    monkeypatch.chdir(tmp_path)
    Trust.of(root, [Path(typed)]).refuse_suite(suite)
    # To the prompts of the project's judges such a file gives nothing but itself.
    trust = Trust.of(root, [Path("shared/parity.suite.toml")])
    with pytest.raises(SendingRefused):
        trust.refuse_files("judge 'mine'", prompts_of("../shared/parity.jsonl", root))


@pytest.mark.parametrize("way", ["straight", "through a link to the project"])
def test_a_typed_path_that_leads_through_the_project_allows_nothing(
    root: Path, tmp_path: Path, way: str
) -> None:
    parity_suite(tmp_path / "private")
    link(root / "suites", tmp_path / "private")
    project = root
    if way != "straight":
        project = tmp_path / "checkout"
        link(project, root)
    typed = project / "suites" / "parity.suite.toml"
    with pytest.raises(SendingRefused, match="private"):
        Trust.of(root, [typed, typed.parent]).refuse_suite(load_suite(typed))


# -- the user's own configuration ------------------------------------------------------------------


def test_a_configuration_within_the_project_is_not_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME" if os.name != "nt" else "APPDATA", str(root))
    configure(root, 'allow_hosts = ["judge.example"]\n')
    spec = judge("openai", "https://judge.example/v1")
    with pytest.raises(SendingRefused) as error:
        asked(spec, Trust.of(root, []))
    assert "config.toml" not in error.value.remedy
    asked(spec)  # where no project is asked about, it is the user's


def test_nor_is_one_that_the_project_leads_to(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(tmp_path, 'allow_hosts = ["judge.example"]\n')
    link(root / "config", tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME" if os.name != "nt" else "APPDATA", str(root / "config"))
    with pytest.raises(SendingRefused):
        asked(judge("openai", "https://judge.example/v1"), Trust.of(root, []))


def test_a_relative_place_of_configurations_is_none(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_CONFIG_HOME" if os.name != "nt" else "APPDATA", ".")
    configure(root, 'allow_hosts = ["judge.example"]\n')
    with pytest.raises(SendingRefused):
        asked(judge("openai", "https://judge.example/v1"))


@pytest.mark.skipif(os.name == "nt", reason="there it is %APPDATA%")
def test_without_xdg_config_home_it_is_the_folder_config_of_the_home(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    configure(home, 'allow_hosts = ["judge.example"]\n')
    asked(judge("openai", "https://judge.example/v1"))


@pytest.mark.parametrize(
    "text", ['allow_hosts = "judge.example"', "allow_hosts = [1]", "allow_hosts = ["]
)
def test_a_wrong_configuration_is_an_error_that_names_it(text: str, home: Path) -> None:
    file = configure(home, text)
    with pytest.raises(UsageError, match=re.escape(str(file))):
        asked(judge("openai", "https://judge.example/v1"))


def test_nothing_of_it_is_read_where_nothing_has_to_be_allowed(home: Path, root: Path) -> None:
    configure(home, "allow_hosts = [")
    asked(judge("openai"))
    Trust.of(root, []).refuse_files("judge 'mine'", prompts_of(_within(root), root))
