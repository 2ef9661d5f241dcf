"""What a repository alone may not decide: what is sent to a judge, and where.

Who records a branch of somebody else runs its judge tables, its suites and its options. So while
recording, prompts, suites and items come from the folder of the project, links resolved, and a
judge is asked at the host that its key belongs to, or on this machine. More is for the user to
allow: by a path on the command line, the environment, a configuration folder; by nothing in the
project.

Code is not restricted: a Python judge, a ``conftest.py`` or a plugin may send anything. So commands
that only read a repository run no judge of its code at all.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from pytest_judgesense.cassettes.matching import is_loopback
from pytest_judgesense.errors import CodeNotRun, SendingRefused, UsageError, listed
from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.judges.providers.builtin import BUILT_IN
from pytest_judgesense.judges.resolving import project_folder
from pytest_judgesense.judges.spec import JudgeSpec, Provider
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.suite import Suite

_Kind: TypeAlias = Literal["hosts", "paths"]
_VARIABLES: Final[dict[_Kind, str]] = {
    "hosts": "JUDGESENSE_ALLOW_HOSTS",
    "paths": "JUDGESENSE_ALLOW_PATHS",
}
_SEPARATORS: Final[dict[_Kind, str]] = {"hosts": ",", "paths": os.pathsep}
_PORTS: Final = {"http": 80, "https": 443}
_HOST: Final = r"([a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?"
# URLs that two parsers could read as different hosts are refused, because clients have their own
# parser.
_URL: Final = re.compile(
    rf"(https?)://(?:[a-z0-9_.~%!$&'()*+,;=:-]*@)?{_HOST}(?:[/?#]|\Z)", re.ASCII | re.IGNORECASE
)
_ALLOWED: Final = re.compile(rf"(?:(https?)://)?(\*\.)?{_HOST}/?", re.ASCII | re.IGNORECASE)


class Origin(NamedTuple):
    """Where a judge is asked."""

    scheme: str
    host: str
    port: int

    @property
    def is_here(self) -> bool:
        """Whether that is this machine."""
        return is_loopback(self.host.strip("[]"))

    def __str__(self) -> str:
        """As an allowance names it: without ``https://`` and without the usual port."""
        scheme = "" if self.scheme == "https" else f"{self.scheme}://"
        return scheme + self.host + ("" if self.port == _PORTS[self.scheme] else f":{self.port}")


def origin_of(url: str) -> Origin | None:
    """Scheme, host and port of a URL; ``None`` where it does not say them plainly."""
    parts = _URL.match(url)
    return parts and _origin(parts[1], parts[2], parts[3])


def _origin(scheme: str | None, host: str, port: str | None) -> Origin:
    scheme = (scheme or "https").lower()
    return Origin(scheme, host.lower(), int(port or _PORTS[scheme]))


@dataclass(frozen=True, slots=True)
class Trust:
    """Which files are the project's, and which the user's. Made by `Trust.of`.

    Attributes:
        root: folder of the project, links resolved; ``None`` if code calls, whose files may be
            anywhere.
        typed: files and folders that the user has named, links resolved.
        runs_code: whether functions of judges may be imported and called.
    """

    root: Path | None = None
    typed: tuple[Path, ...] = ()
    runs_code: bool = True

    @classmethod
    def of(cls, root: Path, typed: Iterable[Path]) -> Trust:
        """The rules for the project at ``root``, given the paths that the user has typed.

        A path through the project leads where the project's links lead: it allows nothing more.
        """
        root = root.resolve()
        return cls(root, tuple(p.resolve() for p in typed if not _leads_through(root, p)))

    @classmethod
    def here(cls, *typed: Path) -> Trust:
        """The rules for a command in the project of the working folder, given these paths."""
        return cls.of(project_folder(), typed)

    def refuse_suite(self, suite: Suite) -> None:
        """Raise `SendingRefused` if the suite or its items are neither the project's nor allowed.

        One that comes with the package, or that the user has named, may name any file.
        """
        if self.root is None or self._is_typed(suite.path):
            return
        if suite.path not in {path.resolve() for path in builtin_suites().values()}:
            self.refuse_files(f"suite {suite.name}", (suite.path, *suite.files))

    def refuse_files(self, owner: str, files: Iterable[Path]) -> None:
        """Raise `SendingRefused` if one of the ``files`` is neither the project's nor allowed."""
        for file in files:
            if self.root is None or file.is_relative_to(self.root) or self._is_typed(file):
                continue
            if any(file.is_relative_to(_folder(path)) for path in self._allowed("paths")):
                continue
            raise SendingRefused(
                f"{owner} cannot be asked about: a file of it lies outside the project",
                found=str(file),
                expected=f"files in {self.root}, with links resolved: a repository alone may not "
                "decide what else is sent",
                remedy=self._how_to_allow("paths", str(file.parent)),
            )

    def refuse_code(self, judge: JudgeSpec) -> None:
        """Raise `CodeNotRun` if the function of ``judge`` may not be imported."""
        if not self.runs_code:
            raise CodeNotRun(
                f"judge {judge.name!r} is code, which is not run here",
                found=f"{judge.model}, whose recording holds requests: which verdicts their "
                "answers state is for the function to say",
                expected="a recording of what the function returned, or a judge with a provider",
                remedy="replay it with pytest, which runs it",
            )

    def refuse_host(self, judge: JudgeSpec, base_url: str, variable: str) -> None:
        """Raise `SendingRefused` unless a judge may be asked at ``base_url``.

        It may on this machine, at the host of the provider whose key ``variable`` holds, and where
        the user allows it. A variable of no known provider may be sent to the hosts of all of them.
        """
        origin = origin_of(base_url)
        providers = [*BUILT_IN.values(), *filter(None, [judge.api])]
        owners = [
            provider for provider in providers if provider.default_key_env == variable
        ] or providers
        own = [origin_of(provider.default_base_url) for provider in owners]
        defaults = [default for default in own if default]
        if origin is None:
            reason, remedy = "a base_url with no plain host", "write it as https://HOST:PORT/PATH"
        elif (
            origin.is_here
            or origin in defaults
            or _is_host_of(origin, owners)
            or self._allows(origin)
        ):
            return
        else:
            reason = f"{origin}, with the key in {variable}" if variable else str(origin)
            remedy = self._how_to_allow("hosts", str(origin))
        expected = [
            *dict.fromkeys(str(default) for default in defaults if not default.is_here),
            "this machine",
        ]
        raise SendingRefused(
            f"judge {judge.name!r} is not asked: its host is not that of its key's provider",
            found=reason,
            expected=f"{listed(expected)}, or a host that you allow: a repository alone "
            "may not decide where prompts and keys go",
            remedy=remedy,
        )

    def _allows(self, origin: Origin) -> bool:
        return any(_covers(host, origin) for host in self._allowed("hosts"))

    def _is_typed(self, path: Path) -> bool:
        return any(path.is_relative_to(folder) for folder in self.typed)

    def _allowed(self, kind: _Kind) -> list[str]:
        """What the user allows, in the environment and then in the configuration file."""
        file = self._configuration
        if file is None:
            return _in_environment(kind)
        with UsageError.instead_of(
            (OSError, ValueError), f"{file} cannot be read", expected="a TOML file in UTF-8"
        ):
            text = read_text(file) if file.is_file() else ""
            value: Any = toml_value(text).get(f"allow_{kind}", [])
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise UsageError(
                f"allow_{kind} of {file} is wrong", found=repr(value), expected="a list of texts"
            )
        return [*_in_environment(kind), *value]

    @property
    def _configuration(self) -> Path | None:
        """The user's configuration file; ``None`` if it would be within the project.

        Of a folder within the project the repository could bring one.
        """
        home = "APPDATA" if os.name == "nt" else "XDG_CONFIG_HOME"
        file = Path(os.environ.get(home) or _expanded("~/.config"), "judgesense", "config.toml")
        if not file.is_absolute() or (self.root and _leads_through(self.root, file)):
            return None
        return file

    def _how_to_allow(self, kind: _Kind, more: str) -> str:
        value = _SEPARATORS[kind].join([*_in_environment(kind), more])
        file = self._configuration
        other = f", or allow_{kind} = [{json.dumps(more)}] in {file}" if file else ""
        return f"if you trust it: export {_VARIABLES[kind]}={shlex.quote(value)}{other}"


# Of a caller that is code: its files are trusted.
ANY_FILES: Final = Trust()
# Of a command that reads recordings and runs nothing.
NO_CODE: Final = Trust(runs_code=False)


def _is_host_of(origin: Origin, owners: Iterable[Provider]) -> bool:
    """Whether one of the ``owners`` has several hosts, of which ``origin`` is one."""
    usual = (origin.scheme, origin.port) == ("https", _PORTS["https"])
    return usual and any(
        provider.hosts and re.fullmatch(provider.hosts, origin.host) for provider in owners
    )


def _in_environment(kind: _Kind) -> list[str]:
    entries = os.environ.get(_VARIABLES[kind], "").split(_SEPARATORS[kind])
    return [entry.strip() for entry in entries if entry.strip()]


def _covers(allowed: str, origin: Origin) -> bool:
    parts = _ALLOWED.fullmatch(allowed)
    if parts is None:
        raise UsageError(
            "an allowed host is none",
            found=repr(allowed),
            expected="HOST, HOST:PORT or *.DOMAIN, reached by https; http://HOST without it",
            remedy=f"fix {_VARIABLES['hosts']}, or allow_hosts of your configuration file",
        )
    permitted = _origin(parts[1], parts[3], parts[4])
    if parts[2]:
        return origin.host.endswith(f".{permitted.host}") and origin == permitted._replace(
            host=origin.host
        )
    return origin == permitted


def _folder(allowed: str) -> Path:
    path = Path(_expanded(allowed))
    if path.is_absolute():
        return path.resolve()
    raise UsageError(
        "an allowed path is relative",
        found=repr(allowed),
        expected="a whole path: a relative one would depend on the project",
        remedy=f"fix {_VARIABLES['paths']}, or allow_paths of your configuration file",
    )


def _expanded(path: str) -> str:
    return os.path.expanduser(path)  # noqa: PTH111 - that of `Path` raises where there is no home


def _leads_through(root: Path, path: Path) -> bool:
    """Whether ``path`` lies in the folder ``root``, or one of its folders does by a link."""
    path = Path(os.path.abspath(path))  # noqa: PTH100 - as pytest reads it, no link resolved yet
    return any(ancestor.resolve().is_relative_to(root) for ancestor in (path, *path.parents))
