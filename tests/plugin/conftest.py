"""Fixtures of the plugin tests. What measures is imported here, once, for all inner sessions."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import httpcore  # noqa: F401 - httpx imports it late, and keeps the exceptions that it saw first
import pytest

import pytest_judgesense

from .project import ChatServer, Once, Project, RecordedOnce, even, flips_on_two

# An inner session forgets what it imports itself: the next one would import it anew.
for _module in walk_packages(pytest_judgesense.__path__, "pytest_judgesense."):
    import_module(_module.name)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    served = ChatServer()
    yield served
    served.close()


@pytest.fixture
def project(pytester: pytest.Pytester, server: ChatServer) -> Project:
    return Project(pytester, server)


@pytest.fixture(scope="session")
def _server_of_all() -> Iterator[ChatServer]:
    served = ChatServer()
    yield served
    served.close()


@pytest.fixture(scope="session")
def _kept_recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recordings")


@pytest.fixture
def recorded_once(
    pytester: pytest.Pytester, _server_of_all: ChatServer, _kept_recordings: Path
) -> RecordedOnce:
    """A project like `project`, whose recording is copied where another test has made it."""
    served = _server_of_all
    served.forget()
    served.reply, served.status, served.model = even, lambda prompt: 200, "served-1"
    served.delay_s, served.most = 0.0, 0
    return RecordedOnce(pytester, served, _kept_recordings)


# `-n 0` takes the way of a session without xdist; in the gate test_xdist.py compares the two.
@pytest.fixture(
    params=[
        pytest.param((), id="plain"),
        pytest.param(("-n", "0"), id="n0", marks=pytest.mark.long),
        pytest.param(("-n", "2"), id="n2"),
    ]
)
def workers(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Arguments of a session without xdist, with no worker of it, and with two."""
    return request.param


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """The projects that a module records once, and the sessions that several tests read."""
    return Once(tmp_path_factory.mktemp("once"))


@pytest.fixture
def flipping(project: Project, once: Once, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Recorded with `flips_on_two`: 16 of 18 pairs of wordings agree, and 17 of 18 verdicts."""
    monkeypatch.setenv("COLUMNS", "100")
    project.server.reply = flips_on_two
    once.project("flipping", project.path, project.record)
    return project
