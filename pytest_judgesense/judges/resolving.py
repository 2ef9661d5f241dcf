"""From names to judges, and from a judge to what its calls need.

Judges are declared tables, Python objects, or ``provider:model``. A call needs the function or the
key; all credentials that may appear in calls are collected beforehand.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from pytest_judgesense.cassettes.credentials import (
    Credentials,
    environment_credentials,
    request_credentials,
)
from pytest_judgesense.cassettes.matching import is_loopback
from pytest_judgesense.errors import (
    JudgeError,
    UsageError,
    did_you_mean,
    listed,
    reason_of,
    unknown_name,
    unset_variable,
)
from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import project_file, read_text
from pytest_judgesense.judges.functions import missing_file_remedy, module_of, refuse_python
from pytest_judgesense.judges.local import BY_NAME, JUDGES, name_of
from pytest_judgesense.judges.project_code import (
    OtherCopy,
    code_folders,
    file_in,
    files_in,
    imported_file,
    in_front,
    is_of_project,
    modules_of_project,
    other_copy,
    outside_of,
)
from pytest_judgesense.judges.providers.base import JURY, provider_names
from pytest_judgesense.judges.providers.builtin import BUILT_IN, provider_of
from pytest_judgesense.judges.simulated.named_observers import PROFILES, observer_named
from pytest_judgesense.judges.spec import JudgeFunction, JudgeSpec, Provider, Repair, table_of

_RETIRED: Final = "retired"


def project_folder() -> Path:
    """The folder of the project that a command works in: else the working folder."""
    project = project_file(Path.cwd())
    return project.parent if project else Path.cwd()


def comes_along(judge: JudgeSpec) -> bool:
    """Whether the judge is exactly a language model with shipped recordings."""
    return judge.name in JUDGES and judge == judge_from_name(judge.name)


def judge_from_name(
    name: str, providers: Mapping[str, Provider] = BUILT_IN, declared: Iterable[str] = ()
) -> JudgeSpec:
    """The judge of a ``provider:model`` name with default settings.

    An embedded judge has the name of its profile, which is its whole identity; a local judge has
    that of its model, and can be selected by it.

    Raises:
        UsageError: the name is none; it lists those that are, the ``declared`` ones among them.
    """
    provider, _, model = name.partition(":")
    if model and provider == "embedded" and provider in providers:
        observer_named(model)
        settings: dict[str, Any] = {"seed": 0, "options": {}, "arguments": {}}
        settings["api"] = providers[provider]
        return JudgeSpec(model, provider, model, called=name, folder=Path(), **settings)
    # A judge of a table needs the forms of tables, and the embedded one does not.
    from pytest_judgesense.judges.judge_table import judge_from_table

    if name in JUDGES:
        model, more = JUDGES[name]
        defaults = {"provider": "local", "model": model, **BY_NAME, **more}
        spec = judge_from_table(name, defaults, Path(), providers)
        return replace(spec, called=f"local:{name}" if name == model else name)
    names = provider_names(providers)
    if provider not in names or not model:
        by_provider = (f"{provider}:MODEL" for provider in names if provider != "embedded")
        embedded = (f"embedded:{profile}" for profile in PROFILES)
        raise unknown_name("judge", name, [*declared, *embedded, *JUDGES, *by_provider])
    table: dict[str, Any] = {"provider": provider, "model": model}
    shown = name
    if provider == "local":
        shown, table = name_of(model), {**table, **BY_NAME}
    spec = judge_from_table(shown, table, Path(), providers)
    return replace(spec, called=name)


def declared_judges(
    start: Path, providers: Mapping[str, Provider] = BUILT_IN
) -> dict[str, JudgeSpec]:
    """Judges of the nearest ``pyproject.toml`` in the folder of ``start`` or above it.

    ``providers`` are those that plugins add, by name.

    Raises:
        UsageError: the file or a table in it is wrong.
    """
    path = project_file(start)
    if path is None:
        return {}
    table: Any = _project_table(path)
    for name in ("tool", "judgesense", "judges"):
        if name == "judges" and (unknown := sorted({*table} - {name, _RETIRED})):
            # Passed over, a misspelt table would leave the gate to the judge that a suite names.
            raise UsageError(
                f"[tool.judgesense] of {path} has a key that is not known",
                found=listed(map(repr, unknown)),
                expected="judges, such as [tool.judgesense.judges.mine], and "
                f"{_RETIRED}, the names of judges and suites that are there no more",
                remedy=did_you_mean(unknown[0], [name, _RETIRED]) or f"remove it from {path}",
            )
        table = _table(path, name, table.get(name, {}))
    if not table:
        return {}
    from pytest_judgesense.judges.judge_table import judge_from_table

    return {
        name: judge_from_table(name, _table(path, name, value), path.parent, providers)
        for name, value in table.items()
    }


def _table(path: Path, name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(
            f"[tool.judgesense] of {path} is wrong at {name!r}",
            found=repr(value),
            expected="a table, such as [tool.judgesense.judges.mine]",
        )
    return value


def retired_names(start: Path) -> tuple[str, ...]:
    """The judges and suites that the nearest ``pyproject.toml`` says are there no more.

    Raises:
        UsageError: the file is wrong.
    """
    path = project_file(start)
    names = _value_in_project(path, _RETIRED, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"{_RETIRED} in [tool.judgesense] of {path} is wrong",
            found=repr(names),
            expected=f'a list of names, such as {_RETIRED} = ["old-judge"]',
        )
    return tuple(names)


def declared_juries(start: Path) -> tuple[str, ...]:
    """The names of the juries among the judges of the nearest ``pyproject.toml``.

    Raises:
        UsageError: the file cannot be read.
    """
    tables = _value_in_project(project_file(start), "judges", {})
    if not isinstance(tables, dict):
        return ()
    return tuple(
        name for name, table in tables.items() if isinstance(table, dict) and "members" in table
    )


def _value_in_project(path: Path | None, key: str, default: object) -> object:
    """What a ``pyproject.toml`` has for a key of ``[tool.judgesense]``."""
    table: Any = {} if path is None else _project_table(path)
    for name in ("tool", "judgesense"):
        table = table.get(name, {}) if isinstance(table, dict) else {}
    return table.get(key, default) if isinstance(table, dict) else default


def _project_table(path: Path) -> dict[str, Any]:
    with UsageError.instead_of(
        (OSError, ValueError), f"{path} cannot be read", expected="a TOML file in UTF-8"
    ):
        return toml_value(read_text(path))


def resolve_judges(
    names: Sequence[str],
    declared: Mapping[str, JudgeSpec],
    objects: Mapping[str, JudgeSpec],
    suite_judges: Iterable[str] = (),
    providers: Mapping[str, Provider] = BUILT_IN,
    root: Path | None = None,
) -> list[JudgeSpec]:
    """The judges to measure, in order.

    These are the ``names`` that the user asked for; without any, the ``declared`` judges of
    ``pyproject.toml`` and the ``objects`` of ``conftest.py``; else those that the suite names.
    ``providers`` are those that plugins add, by name. Functions that no file declares are those of
    the project in ``root``, by default the working folder.

    Raises:
        UsageError: a name is unknown, two judges share a name, or there is no judge.
    """
    judges = {**declared, **objects}
    wanted = list(names) or list(judges) or list(suite_judges)
    if not wanted:
        raise UsageError(
            "there is no judge to measure",
            found="no --judge-name, no [tool.judgesense.judges.<name>] in pyproject.toml, none in "
            "conftest.py and none named by the suite",
            expected="at least one judge",
            remedy="add --judge-name embedded:clean to try it, or declare a judge: "
            '[tool.judgesense.judges.mine] provider = "openai", model = "..."',
        )

    def named(name: str) -> JudgeSpec:
        return judges[name] if name in judges else judge_from_name(name, providers, judges)

    resolved = [
        with_others(named(name), judges, providers, root or Path.cwd())
        for name in dict.fromkeys(wanted)
    ]
    refuse_shared_names(resolved)
    return resolved


def refuse_shared_names(judges: Iterable[JudgeSpec]) -> None:
    """Raise `UsageError` if two judges, or one and a member of a jury, share one name.

    Everything is told by it: test ids, recordings, figures. A member may be one of the ``judges``.
    """
    by_slug: dict[str, JudgeSpec] = {}
    members: list[JudgeSpec] = []
    for judge in judges:
        if (other := by_slug.setdefault(judge.slug.lower(), judge)) is not judge:
            raise _share_a_name(judge, other)
        members += judge.members
    for member in members:
        if (other := by_slug.setdefault(member.slug.lower(), member)) != member:
            raise _share_a_name(member, other)


def _share_a_name(judge: JudgeSpec, other: JudgeSpec) -> UsageError:
    return UsageError(
        "two judges share one name",
        found=f"{judge.provider}:{judge.model} and {other.provider}:{other.model}, both called "
        f"{judge.name!r}",
        expected="names that differ, upper and lower case apart",
        remedy="give one of them another name, or name the same one",
    )


def with_others(
    judge: JudgeSpec,
    judges: Mapping[str, JudgeSpec],
    providers: Mapping[str, Provider],
    root: Path,
) -> JudgeSpec:
    """A judge of the project in ``root`` with the judges that it names: who repairs, who votes.

    Raises:
        UsageError: it names one that is none of the ``judges``, or may not do that.
    """
    judge = in_project(judge, root)
    if judge.repair is not None and judge.repair.judge is not None:
        name = judge.repair.judge
        repairer = judges[name] if name in judges else judge_from_name(name, providers, judges)
        return _repaired_by(judge, judge.repair, repairer)
    if judge.jury is None:
        return judge
    given = {member.name: member for member in judge.jury.judges}
    members = [
        with_others(_member(judge, name, {**judges, **given}, providers), judges, providers, root)
        for name in judge.jury.members
    ]
    by_slug: dict[str, str] = {}
    for name, member in zip(judge.jury.members, members, strict=True):
        if member.slug.lower() == judge.slug.lower():
            raise UsageError(
                f"jury {judge.name!r} has a member of its own name",
                found=f"{name!r} among its members",
                expected="names that differ, upper and lower case apart: figures are told by them",
                remedy="give one of the two another name",
            )
        if (other := by_slug.setdefault(member.slug.lower(), name)) != name:
            raise UsageError(
                f"jury {judge.name!r} has one member twice",
                found=f"{other!r} and {name!r}, which are both called {member.name!r}",
                expected="judges that differ: a member has one vote",
                remedy=f"take one out of members in {table_of(judge.name)}",
            )
    return replace(judge, jury=replace(judge.jury, judges=tuple(members)))


def _member(
    jury: JudgeSpec, name: str, judges: Mapping[str, JudgeSpec], providers: Mapping[str, Provider]
) -> JudgeSpec:
    """The judge that a jury names.

    Raises:
        UsageError: there is none of that name, or it is a jury.
    """
    if name not in judges:
        try:
            return judge_from_name(name, providers, judges)
        except UsageError as error:
            others = {other for other in judges if other != jury.name}
            raise UsageError(
                f"jury {jury.name!r} has a member that is no judge: {name!r}",
                found=error.what,
                expected=f"a judge that is declared ({listed(sorted(others))}), or provider:model",
                remedy=did_you_mean(name, others)
                or f"declare it, {table_of(name)}, or take it out of {table_of(jury.name)}",
            ) from error
    if (member := judges[name]).jury is not None:
        raise UsageError(
            f"jury {jury.name!r} has a member that is a jury: {name!r}",
            found=f"{name}, of {listed(member.jury.members)}",
            expected="judges that are asked themselves",
            remedy=f"name its members in {table_of(jury.name)}, or leave it out",
        )
    return member


def with_members(judges: Iterable[JudgeSpec]) -> list[JudgeSpec]:
    """The judges, and before each jury those of its members that are not among them, once each."""
    given = list(judges)
    slugs = {judge.slug for judge in given}
    every: dict[str, JudgeSpec] = {}
    for judge in given:
        for member in judge.members:
            if member.slug not in slugs:
                every.setdefault(member.slug, member)
        every[judge.slug] = judge
    return list(every.values())


def _repaired_by(judge: JudgeSpec, repair: Repair, repairer: JudgeSpec) -> JudgeSpec:
    if repairer.provider in ("callable", JURY):
        raise UsageError(
            f"judge {judge.name!r} cannot have its replies repaired by {repairer.name!r}",
            found="a jury" if repairer.jury else "a Python function",
            expected="a judge with a provider: its calls are in the recording of the other's",
            remedy="name another judge, or repair = true for the same one",
        )
    return replace(judge, repair=replace(repair, spec=repairer))


def in_project(judge: JudgeSpec, root: Path) -> JudgeSpec:
    """A judge; a function that no file declares belongs to the project in ``root``."""
    if judge.provider != "callable":
        return judge
    declaring = None if judge.folder == Path() else judge.folder
    return replace(judge, folder=(declaring or root).absolute())


def judged_folders(spec: JudgeSpec) -> tuple[str, ...]:
    """The folders that stand in front of Python's path while a judge's function is run."""
    return () if spec.folder is None or spec.installed else code_folders(spec.folder)


def function_of(spec: JudgeSpec) -> JudgeFunction:
    """The function of a callable judge: that of its project, or that which is ``installed``.

    Raises:
        UsageError: it cannot be imported, is one of Python itself, or cannot be called as it is: a
            class, or a method without its object; or another copy of its code was imported before.
    """
    if spec.function is not None:
        if inspect.isclass(spec.function):
            raise _needs_an_object(spec, spec.function)
        _refuse_other_copy(spec, module_of(spec.function))
        return spec.function
    module, _, name = spec.model.partition(":")
    *within, last = name.split(".")
    importlib.invalidate_caches()  # the project may have been written a moment ago
    _refuse_other_copy(spec, module)
    try:
        with in_front(judged_folders(spec)):
            holder: Any = reduce(getattr, within, importlib.import_module(module))
            target: Any = getattr(holder, last)
    except (ImportError, AttributeError) as error:
        _refuse_other_copy(spec, module)
        lacking = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
        if lacking and not f"{module}.".startswith(f"{lacking}."):
            raise _lacking(spec, module, lacking, error) from error
        raise UsageError(
            f"the function of judge {spec.name!r} cannot be imported",
            found=f"{spec.model}: {error}",
            expected="package.module:function, importable from where pytest runs",
            remedy="fix the name, or put its folder on pythonpath",
        ) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a script that reads the command line exits
        if (variable := unset_variable(error)) is not None:
            raise UsageError(
                f"the module of judge {spec.name!r} reads an environment variable that is not set",
                found=f"{spec.model}: KeyError: {variable!r}",
                expected=f"{variable} in the environment, here and in CI",
                remedy=f"export {variable}=..., as where the judge was recorded; if it is a key, "
                f'a replay needs none with api_key_env = "{variable}" in the table of the judge',
            ) from error
        raise UsageError(
            f"the function of judge {spec.name!r} cannot be imported: its module fails",
            found=f"{spec.model}: {reason_of(error)}",
            expected="a module that is imported without an error",
            remedy=missing_file_remedy(error)
            or "fix it; a key that it reads is to be set, or, to replay, named by "
            'api_key_env = "NAME" in the table of the judge',
        ) from error
    _refuse_other_copy(spec, module)
    if not callable(target):
        raise UsageError(
            f"judge {spec.name!r} is not a function",
            found=f"{spec.model} is a {type(target).__name__}",
            expected="a function that takes messages and returns text",
        )
    # Of whatever module the name leads to it: `from os import system`, `package:os.system`.
    refuse_python(spec.name, spec.model, module_of(target))
    if inspect.isclass(target) or _is_unbound(holder, last):
        raise _needs_an_object(spec, target)
    function: JudgeFunction = target
    return function


def _is_unbound(holder: object, name: str) -> bool:
    """Whether an attribute is a method of a class, which takes an object of the class first."""
    if not inspect.isclass(holder):
        return False
    member = inspect.getattr_static(holder, name, None)
    if isinstance(member, staticmethod) or not inspect.isroutine(member):
        return False
    return getattr(getattr(holder, name), "__self__", None) is None


def _needs_an_object(spec: JudgeSpec, target: object) -> UsageError:
    module, _, name = spec.model.partition(":")
    is_class = inspect.isclass(target)
    owner, _, method = (name, "", "") if is_class else name.rpartition(".")
    if is_class and "__call__" not in dir(target):  # of its own, or of a class above it
        method = "METHOD"
    path = f"{owner}(...)" + (f".{method}" if method else "")
    return UsageError(
        f"judge {spec.name!r} is {'a class' if is_class else 'a method without its object'}",
        found=f"{spec.model}, which would be called without an object of {owner}",
        expected="a function, an object that can be called, or a method of an object",
        remedy=f"make one in {module}, judge = {path}, and name {module}:judge",
    )


def _refuse_other_copy(spec: JudgeSpec, module: str) -> None:
    """Raise `UsageError` where code of a judge was imported from another file than is meant."""
    if (project := spec.folder) is None:
        return
    if spec.installed:
        if (copy := other_copy(files_in(outside_of(project), module))) is not None:
            raise _not_installed(spec, copy)
    elif (copy := other_copy(_code_of(spec, module, project))) is not None:
        raise _not_of_project(spec, project, copy)


def _code_of(spec: JudgeSpec, module: str, project: Path) -> Mapping[str, Path]:
    """What the code of a judge needs of its project.

    A table means the module that its name leads to. An object is where it is, such as in the
    ``conftest.py`` of a folder, though there may be another at the top.
    """
    modules = modules_of_project(module, project)
    file = imported_file(module)
    if file is None or not is_of_project(file, project) or (spec.function is None and modules):
        return modules
    return modules_of_project(module, project, file)


def _not_of_project(spec: JudgeSpec, project: Path, copy: OtherCopy) -> UsageError:
    folder = next(
        (place for place in code_folders(project)[::-1] if copy.meant.is_relative_to(place)), ""
    )
    within = os.path.relpath(folder or project, project.resolve())
    return UsageError(
        f"another {copy.module} than that of the project was imported before judge {spec.name!r}",
        found=f"{copy.imported}, imported by a test, a conftest.py or a plugin",
        expected=f"{copy.meant}",
        remedy=f"let everybody import that one: pip install -e ., or pythonpath = "
        f'["{Path(within).as_posix()}"] for pytest; or, where the other copy is meant, as under '
        f"tox: installed = true in {table_of(spec.name)}",
    )


def _not_installed(spec: JudgeSpec, copy: OtherCopy) -> UsageError:
    return UsageError(
        f"judge {spec.name!r} is that which is installed, and another {copy.module} was imported",
        found=f"{copy.imported}",
        expected=f"{copy.meant}, because of installed = true",
        remedy="start pytest and not python -m pytest, which puts this folder in front of what is "
        f"installed, and take it out of pythonpath; or remove installed from {table_of(spec.name)}",
    )


def _lacking(spec: JudgeSpec, module: str, lacking: str, error: Exception) -> UsageError:
    """The error of a judge that imports what is not there."""
    remedy = f"install what {module} imports, here and in CI"
    if file_in(judged_folders(spec), lacking.partition(".")[0]) is not None:
        # Of the project's own package, such as a part in C, or a file with its version.
        remedy = "let a build make it in the project: pip install -e .; or, where the installed "
        remedy += f"copy is meant: installed = true in {table_of(spec.name)}"
    return UsageError(
        f"the function of judge {spec.name!r} needs {lacking}, which is not installed",
        found=f"{spec.model}: {error}",
        expected="a module that is imported without an error",
        remedy=remedy,
    )


def key_of(spec: JudgeSpec) -> tuple[str, str | None]:
    """Name and value of the environment variable that holds the judge's key."""
    if spec.provider in ("callable", "embedded", "local", JURY):
        return "", None
    name = spec.api_key_env or provider_of(spec).default_key_env
    return name, os.environ.get(name)


def missing_key(spec: JudgeSpec) -> JudgeError | None:
    """The error of a judge, or of who repairs its replies, whose key is not in the environment.

    A variable that is set to nothing holds none, as in CI where a secret is not given. An endpoint
    on this machine needs none, and a function only one that its table names.
    """
    name, key = key_of(spec)
    if spec.provider == "callable" and spec.api_key_env:
        name, key = spec.api_key_env, os.environ.get(spec.api_key_env)
    if name and not key and not _is_on_this_machine(spec):
        asked = base_url_of(spec) if spec.provider != "callable" else spec.model
        return JudgeError(
            f"{name} is not set: judge {spec.name!r} has no key, and nobody was asked",
            found=f"no environment variable {name}",
            expected=f"the key of {asked} in {name}; what is recorded needs none",
            remedy=f"export {name}=..., or name another variable by api_key_env",
        )
    repairer = spec.repair.spec if spec.repair else None
    return missing_key(repairer) if repairer else None


def _is_on_this_machine(spec: JudgeSpec) -> bool:
    if spec.provider == "callable":
        return False
    return is_loopback(urlsplit(base_url_of(spec)).hostname or "")


def base_url_of(spec: JudgeSpec) -> str:
    """Where the judge is asked: as declared, else at the provider's default endpoint.

    That of Bedrock is the one of the region which the environment names for all of AWS.
    """
    if spec.base_url:
        return spec.base_url
    url = provider_of(spec).default_base_url
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return url.replace("us-east-1", region) if spec.provider == "bedrock" and region else url


def credentials_of(spec: JudgeSpec, credentials: Credentials | None = None) -> Credentials:
    """All credentials that may appear in the judge's requests and answers.

    They are added to ``credentials``. Where several variables have the same value, the one of the
    judge's key names it.
    """
    secrets = credentials if credentials is not None else Credentials()
    name, key = key_of(spec)
    secrets.know([(name, key)] if key else [])
    secrets.know(environment_credentials(os.environ))
    if spec.base_url:
        secrets.know(request_credentials(spec.base_url, ()))
    if spec.repair is not None and spec.repair.spec is not None:
        credentials_of(spec.repair.spec, secrets)
    return secrets
