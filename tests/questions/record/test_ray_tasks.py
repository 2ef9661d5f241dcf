"""A temporary Ray cluster: who reaches it, who runs tasks in it, and what is left of it.

With Ray (in the long gate, the oldest version allowed and the newest) against the real cluster of a
real job; what is decided before Ray is imported, without it.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import JudgeError, UsageError
from pytest_judgesense.questions.record.question import RayTasks, protect_temporary_cluster
from tests.cassettes.killing import FastServer, write_project

PROTECTION = ("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN")
# What a process of somebody else tries: the address of the cluster, and a task.
STRANGER = """
import pathlib, sys, ray
address, file = sys.argv[1:]
ray.init(address=address, log_to_driver=False, logging_level="ERROR")
ray.get(ray.remote(num_cpus=0)(lambda: pathlib.Path(file).write_text("ran")).remote())
"""
REFUSED_S = 60


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The environment without Ray's settings, and as it was after the test."""
    for name in PROTECTION:
        # Set first: what is deleted without having been there is not restored.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return monkeypatch


def test_a_token_of_the_users_is_replaced_by_a_fresh_one(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("RAY_AUTH_TOKEN", "a-token-of-the-user")
    environment.setenv("RAY_AUTH_MODE", "disabled")
    environment.delitem(sys.modules, "ray", raising=False)
    protect_temporary_cluster()
    listens_elsewhere, mode, token = (os.environ[name] for name in PROTECTION)
    assert (listens_elsewhere, mode) == ("0", "token")
    assert len(bytes.fromhex(token)) == 32
    # Ray's client of a process keeps the first token, so the second cluster has it too.
    protect_temporary_cluster()
    assert os.environ["RAY_AUTH_TOKEN"] == token


def test_ray_that_was_imported_before_is_an_error(environment: pytest.MonkeyPatch) -> None:
    environment.setitem(sys.modules, "ray", SimpleNamespace())
    with pytest.raises(UsageError, match="Ray was imported before the command began"):
        protect_temporary_cluster()
    assert "RAY_AUTH_TOKEN" not in os.environ


def test_a_ray_without_tokens_is_refused_before_a_cluster_begins(
    environment: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # As Ray 2.51 is: it has no such error, and its `init` would begin a cluster.
    package = tmp_path / "installed" / "ray"
    package.mkdir(parents=True)
    lost = ("WorkerCrashedError", "NodeDiedError", "ObjectLostError")
    errors = "".join(f"class {name}(Exception): pass\n" for name in lost)
    (package / "exceptions.py").write_text(errors)
    (package / "__init__.py").write_text(
        "from ray import exceptions\n"
        "__version__ = '2.51.2'\n"
        "def is_initialized(): return False\n"
        "def init(**settings): raise SystemExit('a cluster began')\n"
    )
    for name in [name for name in sys.modules if name.partition(".")[0] == "ray"]:
        environment.delitem(sys.modules, name)
    environment.syspath_prepend(package.parent)
    write_project(tmp_path / "project", "http://127.0.0.1:9/v1", items=2)
    environment.chdir(tmp_path / "project")
    environment.setenv("OPENAI_API_KEY", "sk-made-up-0000")
    try:
        assert main(["record", "even.suite.toml", "--judge-name", "mine", "--ray"]) == 2
    finally:
        for name in ("ray", "ray.exceptions"):
            sys.modules.pop(name, None)
    told = capsys.readouterr().err
    assert "Ray 2.51.2, which runs the tasks of whoever reaches it" in told
    assert "Ray 2.52 or later" in told


class RunningJob:
    """A job on a temporary cluster, recognised by its home folder, which is empty at first."""

    def __init__(self, folder: Path, base_url: str) -> None:
        self.home, self.temporary = folder / "home", folder / "t"
        self.home.mkdir()
        self.temporary.mkdir()
        write_project(folder / "project", base_url, items=400)
        options = ("even.suite.toml", "--judge-name", "mine", "--ray", "--judge-concurrency", "8")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pytest_judgesense.commands", "record", *options],
            cwd=folder / "project",
            env={
                **{name: value for name, value in os.environ.items() if name not in PROTECTION},
                "HOME": str(self.home),
                # The path of a socket has at most 107 bytes, and pytest's folder is a long one.
                "TMPDIR": "/tmp",
                "OPENAI_API_KEY": "sk-made-up-0000",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def processes(self) -> Iterator[tuple[int, dict[str, str]]]:
        """The command, its cluster and its workers, with the environment that each began with."""
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                entries = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
            except OSError:  # it has ended, or is another user's
                continue
            environment = dict(entry.partition("=")[::2] for entry in entries)
            if environment.get("HOME") == str(self.home):
                yield int(folder.name), environment

    def listening(self) -> dict[int, set[tuple[IPv4Address | IPv6Address, int]]]:
        """The addresses and ports of TCP at which each of its processes listens."""
        addresses = _listening_sockets()
        return {
            pid: {addresses[n] for n in _sockets(pid) & set(addresses)}
            for pid, _ in self.processes()
        }

    def control_port(self) -> int:
        """That of the process that takes in whoever joins the cluster."""
        for pid, addresses in self.listening().items():
            if b"gcs_server" in Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0]:
                return min(port for _, port in addresses)
        raise AssertionError("there is no control process")

    def token(self) -> str:
        return next(e["RAY_AUTH_TOKEN"] for _, e in self.processes() if "RAY_AUTH_TOKEN" in e)

    def folder(self) -> Path:
        """Its temporary folder, by the file that a worker's log is written to."""
        return next(
            Path(*target.parts[:3])
            for pid, _ in self.processes()
            for target in _open_files(pid)
            if target.parts[:2] == ("/", "tmp") and target.parts[2].startswith("ray-")
        )


def _open_files(pid: int) -> Iterator[Path]:
    for descriptor in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            yield descriptor.readlink()
        except OSError:  # closed since
            continue


def _sockets(pid: int) -> set[str]:
    named = (path.name for path in _open_files(pid))
    return {name.removeprefix("socket:[").rstrip("]") for name in named if name[:6] == "socket"}


def _listening_sockets() -> dict[str, tuple[IPv4Address | IPv6Address, int]]:
    addresses = {}
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, _, state, *_rest = fields = line.split()
            if state == "0A":  # it listens
                host, _, port = local.partition(":")
                addresses[fields[9]] = (_address(host), int(port, 16))
    return addresses


def _address(host: str) -> IPv4Address | IPv6Address:
    # Words of 32 bits in the order of this machine's bytes.
    words = [bytes.fromhex(host[at : at + 8]) for at in range(0, len(host), 8)]
    address = ip_address(b"".join(w[::-1] if sys.byteorder == "little" else w for w in words))
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address


def stranger(address: str, file: Path, settings: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Somebody's process, with nothing of the job's but the address."""
    home = file.parent / f"home-{file.name}"
    home.mkdir()
    return subprocess.Popen(
        [sys.executable, "-c", STRANGER, address, str(file)],
        cwd="/",
        env={"PATH": os.environ["PATH"], "HOME": str(home), **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_a_cluster_that_others_reach_is_ended() -> None:
    ended = []
    tasks = object.__new__(RayTasks)
    tasks._was_there, tasks._folder = False, None
    tasks._ray = SimpleNamespace(
        __version__="3.0",
        nodes=lambda: [{"NodeManagerAddress": "192.0.2.2"}],
        shutdown=lambda: ended.append(True),
    )
    with pytest.raises(JudgeError, match=r"Ray 3\.0 on 192\.0\.2\.2"):
        tasks._refuse_reachable()
    assert ended
    tasks._ray.nodes = lambda: [{"NodeManagerAddress": "127.0.0.1"}]
    tasks._refuse_reachable()


@pytest.mark.long
@pytest.mark.skipif(
    not find_spec("ray"), reason="there is no ray: pip install 'pytest-judgesense[ray]'"
)
def test_an_address_without_a_cluster_is_an_error(tmp_path: Path) -> None:
    write_project(tmp_path / "project", "http://127.0.0.1:9/v1", items=2)
    options = ("even.suite.toml", "--judge-name", "mine", "--ray", "nonsense")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest_judgesense.commands", "record", *options],
        cwd=tmp_path / "project",
        env={**os.environ, "OPENAI_API_KEY": "sk-made-up-0000"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 3
    assert "the Ray cluster 'nonsense' cannot be reached or started" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.long
@pytest.mark.skipif(
    not find_spec("ray"), reason="there is no ray: pip install 'pytest-judgesense[ray]'"
)
def test_a_temporary_cluster_is_nobody_elses(tmp_path: Path) -> None:
    # 1,600 calls of 1 s on average, 8 at once: 200 s, of which the test takes some 90.
    server = FastServer(slowest_s=2.0)
    job = RunningJob(tmp_path, server.base_url)
    try:
        while len(server.asked) < 8:
            assert job.process.poll() is None, job.process.communicate()[0]
            time.sleep(0.05)
        listening = job.listening()
        ports = set().union(*listening.values())
        assert len(ports) >= 5  # control, node, agent, worker, driver
        assert {(address, port) for address, port in ports if not address.is_loopback} == set()
        folder = job.folder()
        assert folder.stat().st_mode & 0o077 == 0

        address = f"127.0.0.1:{job.control_port()}"
        # Who has the token gets in, so the others are refused for the lack of it.
        known = {"RAY_AUTH_MODE": "token", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
        invited = stranger(address, tmp_path / "invited", known | {"RAY_AUTH_TOKEN": job.token()})
        assert invited.wait(REFUSED_S) == 0
        assert (tmp_path / "invited").read_text() == "ran"
        settings: dict[str, dict[str, str]] = {
            "without": {},
            "disabled": known | {"RAY_AUTH_MODE": "disabled"},
            "another": known | {"RAY_AUTH_TOKEN": secrets.token_hex(32)},
        }
        strangers = [stranger(address, tmp_path / name, s) for name, s in settings.items()]
        time.sleep(REFUSED_S)
        assert [name for name in settings if (tmp_path / name).exists()] == []
        for process in strangers:
            process.kill()
            process.wait()
        assert job.process.poll() is None  # it has not ended meanwhile
    finally:
        job.process.send_signal(signal.SIGINT)
        out, _ = job.process.communicate(timeout=60)
        server.close()
    assert "interrupted; the same command asks only what is missing" in out
    assert list(job.home.rglob("*")) == []
    assert not folder.exists()
