"""The workers of ``judgesense record`` as tasks of a Ray cluster: the user's, or a temporary one.

Whoever reaches a Ray cluster runs code in it, with the environment of whoever started it, keys
included. The temporary cluster is therefore reached from this machine alone, and by nobody who
lacks a token that is drawn for it; its folder is closed to other users. A cluster that the user
started is used as it is.
"""

from __future__ import annotations

import os
import secrets
import sys
from concurrent.futures import Future
from functools import cache, partial
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from pytest_judgesense.errors import JudgeError, UsageError, listed
from pytest_judgesense.questions.record.shards import Desk, ShardResult, record_shard

TEMPORARY: Final = "local"
"""The address that stands for a temporary cluster on this machine."""
# The path of a socket has at most 104 bytes, of which the temporary folder of macOS takes half.
_SHORT: Final = "/tmp" if sys.platform == "darwin" else None  # noqa: S108 - its name is not known


def protect_temporary_cluster() -> None:
    """Set what a temporary cluster is protected by, in the environment that its processes inherit.

    To be called before anything may import Ray, which reads it once.

    Raises:
        UsageError: Ray has been imported already, without it.
    """
    protection = _protection()
    if sys.modules.get("ray") and any(os.environ.get(k) != v for k, v in protection.items()):
        raise UsageError(
            "a temporary Ray cluster cannot be protected",
            found="Ray was imported before the command began",
            expected="Ray to be imported after the command has set what its processes inherit",
            remedy="start a cluster by 'ray start' and name it: --ray ADDRESS; or leave --ray out",
        )
    os.environ.update(protection)


# Once a process: Ray's client keeps the first token that it has read.
@cache
def _protection() -> dict[str, str]:
    return {
        # Off, services listen on the loopback address alone, on every system.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_AUTH_MODE": "token",
        # In the environment, for other users read neither it nor a file of it.
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
    }


class RayTasks:
    """Tasks of a Ray cluster, one a shard, and an actor for the desk.

    Args:
        address: of a cluster that runs, ``"auto"``, or `TEMPORARY` for one that ends with the job.
        max_calls: of the whole job.
        max_cost: of the whole job, in USD.

    Raises:
        UsageError: Ray is not installed, or is too old to protect a temporary cluster, or was
            imported before it could be.
        JudgeError: there is no such cluster, or the temporary one can be reached from other
            machines and was ended.
    """

    def __init__(self, address: str, max_calls: int | None, max_cost: float | None) -> None:
        if address == TEMPORARY:
            protect_temporary_cluster()
        with UsageError.instead_of(
            ImportError,
            "--ray needs Ray, which is not installed",
            remedy="pip install 'pytest-judgesense[ray]', or leave --ray out",
        ):
            import ray
            from ray import exceptions
        self.lost: tuple[type[Exception], ...] = (
            exceptions.WorkerCrashedError,
            exceptions.NodeDiedError,
            exceptions.ObjectLostError,
        )
        self._ray: Any = ray
        self._folder: TemporaryDirectory[str] | None = None
        self._was_there = bool(self._ray.is_initialized())
        if not self._was_there:
            self._connect(address)
        # Only the driver restarts a task, because it knows what is recorded.
        self._task: Any = self._ray.remote(max_retries=0)(record_shard)
        self._desk: Any = self._ray.remote(num_cpus=0, max_concurrency=64)(Desk).remote(
            max_calls, max_cost
        )
        self._ask = partial(_ask_actor, self._desk)

    def _connect(self, address: str) -> None:
        more = self._temporary() if address == TEMPORARY else {}
        with JudgeError.instead_of(
            (OSError, ValueError, RuntimeError, self._ray.exceptions.RayError),
            f"the Ray cluster {address!r} cannot be reached or started",
            expected="the address of a cluster that runs Ray of this version, or 'auto'",
            remedy="look at 'ray status --address ADDRESS'; a cluster that asks for a token finds "
            "it in RAY_AUTH_TOKEN, with RAY_AUTH_MODE=token",
        ):
            self._ray.init(address=address, log_to_driver=False, logging_level="ERROR", **more)
        if address == TEMPORARY:
            self._refuse_reachable()

    def _temporary(self) -> dict[str, Any]:
        # Ray has asked for tokens since 2.52; older ones ignore the environment above.
        if not hasattr(self._ray.exceptions, "AuthenticationError"):
            raise UsageError(
                "a temporary Ray cluster cannot be protected",
                found=f"Ray {self._ray.__version__}, which runs the tasks of whoever reaches it",
                expected="Ray 2.52 or later",
                remedy="pip install --upgrade 'pytest-judgesense[ray]', or leave --ray out",
            )
        # Ray opens its folders to all users; the one above them is not.
        self._folder = TemporaryDirectory(prefix="ray-", dir=_SHORT, ignore_cleanup_errors=True)
        return {"include_dashboard": False, "_temp_dir": str(Path(self._folder.name, "ray"))}

    def _refuse_reachable(self) -> None:
        addresses = [node["NodeManagerAddress"] for node in self._ray.nodes()]
        if not all(ip_address(address).is_loopback for address in addresses):
            self.close()
            raise JudgeError(
                "the temporary Ray cluster can be reached from other machines, and was ended",
                found=f"Ray {self._ray.__version__} on {listed(addresses)}",
                expected="a cluster on 127.0.0.1",
                remedy="use an older Ray, from 2.52 on, or leave --ray out",
            )

    def begin(self, *arguments: Any) -> Future[ShardResult]:
        """Start the task of a shard, with the arguments of `record_shard` but the last."""
        future: Future[ShardResult] = self._task.remote(*arguments, self._ask).future()
        return future

    def ask(self, method: str, *args: Any, **named: Any) -> Any:
        """The desk, which ends with its cluster."""
        with JudgeError.instead_of(
            self._ray.exceptions.RayActorError,
            "the Ray cluster of this job has ended",
            expected="a cluster that lives as long as the job; workers and nodes of it may be lost",
            remedy="run the same command again: what was answered is recorded, and not asked again",
        ):
            return self._ask(method, *args, **named)

    def close(self) -> None:
        """Leave the cluster; a temporary one ends."""
        if not self._was_there:
            self._ray.shutdown()
        if self._folder:
            self._folder.cleanup()


def _ask_actor(desk: Any, method: str, *args: Any, **named: Any) -> Any:
    from ray import get

    return get(getattr(desk, method).remote(*args, **named))
