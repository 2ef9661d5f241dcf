"""The commands of the project as processes of their own, without waiting for imports each time.

A server that has imported everything forks a process for each command: it has its own folder,
environment and modules, and ends as any other. Where there is no fork it is started afresh. The
workers of pytest-xdist in such a command are forked as well, of a process in which nothing has run
yet; workers with an interpreter of their own are those of tests/plugin/test_interrupt.py and
test_neighbours.py.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name, walk_packages
from typing import IO, Any, Final, NoReturn

from tests.costs import FORKED, count_sessions

ROOT: Final = Path(__file__).parents[1]
# What pytest loads in an environment with the extra `all`: packages of the extra `test` cost every
# process two seconds.
PLUGINS: Final = ("pytest_judgesense.plugin", "xdist.plugin", "pytest_asyncio.plugin")


def environment_of(plugins: Sequence[str]) -> dict[str, str]:
    """What lets pytest load these plugins and no other that is installed."""
    return {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": ",".join(plugins)}


ENVIRONMENT: Final = environment_of(PLUGINS)
# What the server says when it has imported everything.
_READY: Final = b"ready"
# Optional libraries: several tests have functions that ask by openai.
_LIBRARIES: Final = ("jinja2", "matplotlib.figure", "openai")
_ANALYSES: Final = ("lightgbm", "shap", "statsmodels.stats.anova")
_MAINS: Final = {
    "judgesense": "pytest_judgesense.commands.main:main",
    "pytest": "pytest:console_main",
}


def run(
    program: str,
    *arguments: object,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    merged: bool = False,
    plugins: Sequence[str] = PLUGINS,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """What ``judgesense`` or ``pytest`` does with ``arguments``.

    Args:
        program: one of the two.
        arguments: those of the command line.
        cwd: the folder in which it runs; that of this process if not given.
        environment: all of its variables; those of this process if not given.
        merged: whether errors stand among the output, as on a terminal.
        plugins: what pytest loads.
        timeout: seconds after which it is killed.
    """
    own = dict(os.environ if environment is None else environment) | environment_of(plugins)
    folder = str(cwd or Path.cwd())
    texts = [str(argument) for argument in arguments]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        errors = out if merged else err
        if hasattr(os, "fork"):
            code = _server().run([program, *texts], folder, own, out, errors, timeout)
        else:
            code = subprocess.run(
                [sys.executable, "-c", _START, program, *texts],
                cwd=folder,
                env=own,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                timeout=timeout,
                check=False,
            ).returncode
        return subprocess.CompletedProcess([program, *texts], code, _text(out), _text(err))


_START: Final = "import sys; from tests.processes import _main; sys.exit(_main(sys.argv[1])())"


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8").replace(os.linesep, "\n")


class _Server:
    """The process that forks, and the socket on which it is asked."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        code = f"from tests.processes import _serve; _serve({theirs.fileno()})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=_clean(os.environ) | {"PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        atexit.register(self.close)
        self._await_ready()

    def _await_ready(self) -> None:
        """Wait until it has imported everything.

        Raises:
            RuntimeError: with its traceback, if it could not.
        """
        said = b""
        while said != _READY:
            part = self._socket.recv(65536)
            if not part:
                words = said.decode() or "it has printed why"
                raise RuntimeError(f"the server that forks has not started:\n{words}")
            said += part

    def run(
        self,
        arguments: Sequence[str],
        cwd: str,
        environment: Mapping[str, str],
        out: IO[bytes],
        err: IO[bytes],
        timeout: float,
    ) -> int:
        asked = {"arguments": arguments, "cwd": cwd, "environment": environment, "limit": timeout}
        message = json.dumps(asked).encode() + b"\n"
        socket.send_fds(self._socket, [message[:1]], [out.fileno(), err.fileno()])
        self._socket.sendall(message[1:])
        reply = self._socket.recv(16)
        if not reply:
            raise RuntimeError(f"the server that forks has ended while it ran {arguments}")
        code = int(reply)
        if code == -signal.SIGALRM:
            raise subprocess.TimeoutExpired(list(arguments), timeout)
        return code

    def close(self) -> None:
        self._socket.close()
        self._process.wait(timeout=10)


@cache
def _server() -> _Server:
    return _Server()


def _clean(environment: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in environment.items() if not k.startswith(("PYTEST", "COV_"))}


def _serve(descriptor: int) -> None:
    """Fork a process for each command that is asked for, until the socket is closed."""
    with socket.socket(fileno=descriptor) as ours:
        try:
            count_sessions(FORKED)
            _import_all()
        except Exception:
            ours.sendall(traceback.format_exc().encode())
            raise
        ours.sendall(_READY)
        while True:
            message, descriptors, *_ = socket.recv_fds(ours, 1, 2)
            if not message:
                return
            while not message.endswith(b"\n"):
                message += ours.recv(65536)
            if not (child := os.fork()):
                ours.close()
                _become(json.loads(message), *descriptors)
            for one in descriptors:
                os.close(one)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            ours.sendall(str(code).encode())


def _import_all(analyses: bool = True) -> None:
    """Import what processes that are forked need, and keep the collector away from it.

    Else it goes through all that is shared in every process again, which copies it: of a session
    of pytest it was three quarters.
    """
    import filelock  # noqa: F401
    import httpcore  # noqa: F401

    import pytest_judgesense

    for name in (*_LIBRARIES, *(_ANALYSES if analyses else ())):
        _import_if_installed(name)
    names = [m.name for m in walk_packages(pytest_judgesense.__path__, "pytest_judgesense.")]
    for name in ("pytest_judgesense", *PLUGINS, *names):
        # pytest warns of plugins that it could have rewritten, had they not been imported.
        module = import_module(name)
        module.__doc__ = f"{module.__doc__} PYTEST_DONT_REWRITE"
    share_certificates()
    gc.collect()
    freeze_for_good()


def _import_if_installed(name: str) -> None:
    """Import a library; one that is installed and lacks another is an error."""
    try:
        import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise
    except OSError:
        # Without the system's libgomp lightgbm is installed and cannot be loaded.
        if name != "lightgbm":
            raise


def share_certificates() -> None:
    """Let all clients of httpx share what each reads anew: 20 ms of the processor a client."""
    import httpx._transports.default as transports

    read = cache(transports.create_ssl_context)
    read(verify=True, cert=None, trust_env=True)  # as a client does that is told nothing
    transports.create_ssl_context = read


def freeze_for_good() -> None:
    """Keep the collector away from what there is now, though a measurement thaws what it froze."""
    gc.freeze()
    gc.freeze = gc.unfreeze = lambda: None


def _become(asked: Mapping[str, Any], out: int, err: int) -> NoReturn:
    """Be the process of a command, to its end."""
    signal.alarm(int(asked["limit"]))
    for theirs, ours in ((out, 1), (err, 2)):
        os.dup2(theirs, ours)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    tempfile.tempdir = None  # what was found under another environment
    program, *arguments = asked["arguments"]
    main = _main(program)
    scripts = Path(sys.executable).parent
    if any(argument.startswith(("-n", "--numprocesses")) for argument in arguments):
        _fork_workers()
    sys.argv = [str(scripts / program), *arguments]
    added = asked["environment"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = [str(scripts), *filter(None, added)]
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]  # a folder of that name may be there as well
    _leave(main)


def _leave(main: Callable[[], Any]) -> NoReturn:
    """Do it, and end with its exit status as a process does, but do not take its modules apart.

    That touches, and so copies, whatever is shared: it was half of what a short command takes.
    """
    try:
        code = main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined] # waits for threads that are no daemons
    atexit._run_exitfuncs()
    if code is not None and not isinstance(code, int):
        sys.stderr.write(f"{code}\n")
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # closed, or read by nobody
            stream.flush()
    os._exit(code or 0)


def _main(program: str) -> Any:
    return resolve_name(_MAINS[program])


# --- workers of pytest-xdist ---------------------------------------------------------------------


def _fork_workers() -> None:
    """Let execnet take workers that are forked, now, before anything has run in this process."""
    import execnet.gateway_io

    ours, theirs = socket.socketpair()
    if not (child := os.fork()):
        ours.close()
        _nurse(theirs)
    theirs.close()

    def close() -> None:
        ours.close()
        os.waitpid(child, 0)

    # Called after what execnet has registered, for that comes later.
    atexit.register(close)
    lock = threading.Lock()

    class Forked(execnet.gateway_base.Popen2IO):
        """What execnet has of a worker's process: its pipes, its end, and how to end it."""

        def __init__(self, args: Sequence[str], execmodel: Any) -> None:
            stdin, to_worker = os.pipe()
            from_worker, stdout = os.pipe()
            self._lives, life = os.pipe()
            asked = {"cwd": str(Path.cwd()), "environment": dict(os.environ)}
            with lock:
                socket.send_fds(ours, [b"{"], [stdin, stdout, life])
                ours.sendall(json.dumps(asked).encode()[1:] + b"\n")
                self._pid = int(ours.recv(16))
            for one in (stdin, stdout, life):
                os.close(one)
            pipes = open(to_worker, "wb"), open(from_worker, "rb")  # noqa: PTH123, SIM115
            super().__init__(*pipes, execmodel=execmodel)

        def wait(self) -> int:
            os.read(self._lives, 1)  # nothing, as soon as the worker is gone
            return 0

        def kill(self) -> None:
            os.kill(self._pid, signal.SIGKILL)  # it is not waited for until this process ends

    execnet.gateway_io.Popen2IOMaster = Forked


def _nurse(asked: socket.socket) -> NoReturn:
    """Fork a worker for each that is asked for, and wait for them all at the end."""
    while True:
        message, descriptors, *_ = socket.recv_fds(asked, 1, 3)
        if not message:
            break
        while not message.endswith(b"\n"):
            message += asked.recv(65536)
        if not (child := os.fork()):
            asked.close()
            _work(json.loads(message), *descriptors)
        for one in descriptors:
            os.close(one)
        asked.sendall(str(child).encode())
    while True:
        try:
            os.wait()
        except ChildProcessError:
            os._exit(0)


def _work(asked: Mapping[str, Any], stdin: int, stdout: int, life: int) -> NoReturn:
    """Be a worker of execnet, to its end; ``life`` is closed by it."""
    signal.alarm(0)
    os.dup2(stdin, 0)
    os.dup2(stdout, 1)
    os.close(stdin)
    os.close(stdout)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    tempfile.tempdir = None  # what was found under another environment
    sys.argv = ["-c"]
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    # What execnet has a worker do first: `popen_bootstrapline`.
    first = eval(sys.stdin.readline())
    _leave(lambda: exec(first, {"__name__": "__main__"}))
