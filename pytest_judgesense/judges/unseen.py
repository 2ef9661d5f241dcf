"""What the code of a judge does that no recording sees: processes, clients of their own, caches.

Such a judge is recorded by what it returned, or beside its requests. Here is what may have happened
instead, for the words of a notice or of an error: nothing of it is a proof.

Processes are seen while a judge is asked: by an audit hook and, those of a pool that are spawned,
where Python starts them, for no event tells of them. A client or a cache is seen by its module, or
by the files that the judge has read.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final

from pytest_judgesense.cassettes.scope import held
from pytest_judgesense.errors import StaleRecording, listed
from pytest_judgesense.judges.opened_files import OPENED
from pytest_judgesense.judges.spec import JudgeSpec, table_of

# Clients below Python's ``socket`` module, and those whose connection may be older than a trial.
_CLIENTS: Final = (
    "curl_cffi pycurl primp rnet wreq httpr tls_client grpc grpclib temporalio websockets "
    "websocket wsproto picows zmq pynng psycopg psycopg2 oracledb"
).split()
_CACHES: Final[tuple[str, ...]] = (
    "hishel",
    "requests_cache",
    "aiohttp_client_cache",
    "gptcache",
    "diskcache",
)
# Caches that are set: the module, its attribute, and how they are called.
_SET_CACHES: Final = (
    ("litellm", "cache", "litellm.cache"),
    ("langchain_core.globals", "_llm_cache", "langchain's cache"),
)
# Events of a process that begins, and where its program stands among their arguments.
_STARTED: Final = {
    "subprocess.Popen": 0,
    "os.posix_spawn": 0,
    "os.spawn": 1,
    "os.startfile": 0,
    "_winapi.CreateProcess": 0,
}
_UNNAMED: Final = {
    "os.system": "a shell",
    "os.fork": "a forked process",
    "os.forkpty": "a forked process",
}
_WORKER: Final = "a worker process"
# It keeps count of the resources of pools, and asks nobody.
_TRACKER: Final = "resource_tracker"
_OF_A_MODULE: Final = "<module>"
# Where every import of a module passes through.
_IMPORT: Final = "<frozen importlib._bootstrap>"
_MODULE: Final = ".py"
_MOST_NAMED: Final = 3
_INSTALLED: Final = frozenset(("site-packages", "dist-packages"))
# Where no judge keeps anything.
_OF_SYSTEM: Final = ("/dev/", "/etc/", "/proc/", "/sys/", "/usr/")

_ASKED: Final[ContextVar[set[str] | None]] = ContextVar("judgesense_starts", default=None)


class Unseen:
    """What judges did in this process that is not recorded. There is one: `UNSEEN`."""

    def __init__(self) -> None:
        self._is_watching = False
        self._started: dict[tuple[str, str], set[str]] = {}
        self._asking: set[tuple[str, str]] = set()

    def watch(self) -> None:
        """Note from now on which processes judges start; once in a process."""
        if not self._is_watching:
            self._is_watching = True
            sys.addaudithook(self._audit)
            _watch_workers(self._note)

    def by(self, judge: JudgeSpec) -> held[set[str] | None]:
        """Let the processes be of a judge that the code of a block starts, and all it starts."""
        return held(_ASKED, self._started.setdefault(_key(judge), set()))

    def has_asked(self, judge: JudgeSpec) -> None:
        """Note that a request of a judge was seen."""
        self._asking.add(_key(judge))

    def asks(self, judge: JudgeSpec) -> bool:
        """Whether a request of a judge was seen since this process began."""
        return _key(judge) in self._asking

    def processes_of(self, judge: JudgeSpec) -> list[str]:
        """The programs that a judge has started, and the workers of its pools."""
        started = self._started.get(_key(judge), set())
        return sorted({*started, _WORKER} if _has_workers() else started)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _UNNAMED:
            self._note(_UNNAMED[event])
        elif event in _STARTED:
            self._note(_program(arguments[_STARTED[event]]))

    def _note(self, name: str) -> None:
        started = _ASKED.get()
        if started is not None and not _is_of_an_installed_import():
            started.add(name)


UNSEEN: Final = Unseen()


def traffic_of(judge: JudgeSpec) -> list[str]:
    """By what a judge may have asked without being seen: processes, and clients that are loaded."""
    processes = UNSEEN.processes_of(judge)
    started = [f"a process ({_few(processes)})"] if processes else []
    clients = [name for name in _CLIENTS if name in sys.modules]
    return [*started, *([f"a client that is loaded ({_few(clients)})"] if clients else [])]


def caches_of(judge: JudgeSpec) -> list[str]:
    """Where a judge may have found its answers: caches that are loaded, and files that it read."""
    names = [name for name in _CACHES if name in sys.modules]
    names += [
        name
        for module, attribute, name in _SET_CACHES
        if getattr(sys.modules.get(module), attribute, None) is not None
    ]
    read = filter(_may_be_cache, OPENED.read_by(_key(judge)))
    files = sorted(map(_short, read), key=_says_cache)
    return [
        *([f"a cache ({_few(names)})"] if names else []),
        *([f"files that it read ({_few(files)})"] if files else []),
    ]


def plain_call_notice(judge: JudgeSpec, requests_elsewhere: int) -> str:
    """What a reader should know of a judge of which no request was seen.

    ``requests_elsewhere``: those that came from threads which belong to no running trial.
    """
    instead = [*traffic_of(judge), *caches_of(judge)]
    if requests_elsewhere:
        instead.insert(
            0,
            f"{requests_elsewhere} requests came from threads that belong to no running trial (let "
            "each trial start its threads)",
        )
    seen = f"; seen instead: {', '.join(instead)}" if instead else ""
    return (
        f"{judge.name}: no request was seen: replay does not run it; its code and files are "
        f"watched, what it asks elsewhere is not{seen}. If that is meant, say so: "
        f"{_by_return(judge)}"
    )


def beside_notice(judge: JudgeSpec) -> str | None:
    """What a reader should know where a judge may have asked beside its recorded requests."""
    traffic = traffic_of(judge)
    if not traffic:
        return None
    return (
        f"{judge.name}: its requests are recorded, and what it asks beside them is not: "
        f"{', '.join(traffic)}. No replay without a network was possible here: if a verdict needs "
        f"it, say {_by_return(judge)}"
    )


def from_cache(
    judge: JudgeSpec, suite: str, unasked: Sequence[str], of: int, paths: Sequence[Path]
) -> StaleRecording:
    """The error of a judge that makes no request now, for trials that are recorded with some."""
    caches = caches_of(judge)
    where = f": {', '.join(caches)}" if caches else ""
    return StaleRecording(
        f"judge {judge.name!r} on suite {suite} makes no request now, for {len(unasked)} of {of} "
        f"trials; they are recorded with requests, the first is {min(unasked)}",
        found=f"an answer from a cache, most likely{where}",
        expected="the requests of the judge: those that are recorded are kept",
        remedy="turn the cache off, or empty it, and run again; if the judge asks nobody any more, "
        f"delete {listed(paths)}",
    )


def unseen_remedy(judge: JudgeSpec) -> str:
    """What to do where a judge asks by what is not seen."""
    return (
        f"ask by a client that is recorded, or say {_by_return(judge)}: then what the function "
        "returns is recorded, and a replay does not run it"
    )


def _by_return(judge: JudgeSpec) -> str:
    setting = 'calls = "function"'
    if judge.function is None:
        return f"{setting} in {table_of(judge.name)}"
    return f"Judge({judge.name!r}, ..., {setting.replace(' ', '')})"


def _key(judge: JudgeSpec) -> tuple[str, str]:
    return judge.name, judge.model


# --- processes ------------------------------------------------------------------------------------


def _program(program: Any) -> str:
    """The name of a program; its arguments may hold secrets."""
    if not isinstance(program, str | bytes | os.PathLike):
        return "a program"
    return Path(os.fsdecode(program)).name


def _watch_workers(note: Callable[[str], None]) -> None:
    """Note the processes that pools spawn: `multiprocessing` and its relatives start them here.

    On Windows they begin by an event.
    """
    try:
        import _posixsubprocess
    except ImportError:
        return
    fork_exec = _posixsubprocess.fork_exec

    def noting(arguments: Sequence[Any], *more: Any) -> int:
        if not any(_TRACKER in os.fsdecode(each) for each in arguments):
            note(_WORKER)
        return fork_exec(arguments, *more)

    _posixsubprocess.fork_exec = noting  # type: ignore[assignment]


def _has_workers() -> bool:
    """Whether workers of a pool live that began before a judge was asked, as at its import."""
    pools = sys.modules.get("multiprocessing")
    return pools is not None and bool(pools.active_children())


def _is_of_an_installed_import() -> bool:
    """Whether an installed module is being imported: what it starts then looks at the system."""
    frame: FrameType | None = sys._getframe(2)
    module = ""
    while frame is not None and frame.f_code.co_filename != _IMPORT:
        if frame.f_code.co_name == _OF_A_MODULE:
            module = frame.f_code.co_filename
        frame = frame.f_back
    return frame is not None and _is_installed(module)


# --- caches ---------------------------------------------------------------------------


def _may_be_cache(path: str) -> bool:
    """Whether a file may hold answers: no code or program, and not of a package or the system."""
    if path.endswith(_MODULE) or path.startswith(_OF_SYSTEM) or _is_installed(path):
        return False
    return os.path.isfile(path) and not os.access(path, os.X_OK)  # noqa: PTH113


def _says_cache(path: str) -> tuple[bool, str]:
    """A key to sort by: what is called a cache comes first."""
    return "cache" not in path.lower(), path


def _is_installed(path: str) -> bool:
    return not _INSTALLED.isdisjoint(Path(path).parts) or path.startswith(_of_python())


@cache
def _of_python() -> tuple[str, ...]:
    """How the paths of Python's own files begin."""
    folder = sysconfig.get_path("stdlib")
    return "<frozen", folder + os.sep, str(Path(folder).resolve()) + os.sep


def _short(path: str) -> str:
    """A path as it is read: from the working folder where it lies below."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return shown if more <= 0 else f"{shown} and {more} more"
