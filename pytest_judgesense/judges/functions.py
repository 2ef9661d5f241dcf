"""A user's function: the arguments it gets from a suite, and its return value. Pure.

A judge in code has its own signature. It takes the messages of a prompt, like a model; or fields of
the suite by the names of its parameters, or by the judge's ``arguments`` if the names differ. Its
return value (a label, a bool, an Enum, a number, a dictionary, a text) becomes the text of a reply
and is parsed like any other.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import math
import sys
import sysconfig
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

from pytest_judgesense.errors import JudgeError, UsageError, listed
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.replies.confidence import ConfidenceFault, stated_confidence
from pytest_judgesense.replies.spellings import labels_of
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Verdict, is_number, score_text

# What a function may take besides the fields of the items, which go first where they have such a
# name: the template's text with its placeholders, its id, and the messages of the whole prompt; and
# the criterion that is asked for, where each has a call of its own.
TEMPLATE: Final = "template"
TEMPLATE_ID: Final = "template_id"
MESSAGES: Final = "messages"
CRITERION: Final = "criterion"
_WORDING: Final = frozenset({TEMPLATE, TEMPLATE_ID, MESSAGES})
# Common other names for the suites' names.
_USUAL: Final[Mapping[str, str]] = {
    name: field
    for field, names in {
        "task": "question prompt query request input instruction problem user_input",
        "a": "answer_a answer_1 answer1 response_a response_1 response1 output_a output_1 output1 "
        "candidate_a candidate_1 text_a text_1 completion_a completion_1 first left one",
        "b": "answer_b answer_2 answer2 response_b response_2 response2 output_b output_2 output2 "
        "candidate_b candidate_2 text_b text_2 completion_b completion_2 second right two other",
    }.items()
    for name in names.split()
}
_VARIADIC: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def refuse_python(judge: str, target: str, module: str) -> None:
    """Raise `UsageError` if the ``target`` of a judge's table is of Python's own ``module``.

    Such a function needs no file of code to be harmful: the table and the text of an item would do,
    as with ``os:system``.
    """
    root = module.partition(".")[0]
    if root in sys.stdlib_module_names or _comes_with_python(sys.modules.get(root)):
        raise UsageError(
            f"judge {judge!r} names a function of Python itself",
            found=target if target.startswith(f"{module}:") else f"{target}, which is of {module}",
            expected="a function of your own or of an installed package, in a module that is not "
            "called like one of Python's own",
            remedy="write a function that calls it, and name that one",
        )


def missing_file_remedy(error: BaseException) -> str:
    """What to do where the code of a judge cannot open a file; empty for any other error."""
    if not isinstance(error, OSError) or error.filename is None:
        return ""
    return (
        "put the file there, or open it from where the module is: "
        f"Path(__file__).parent / ...; a relative path starts at {Path.cwd()}"
    )


def module_of(function: Any) -> str:
    """The module that defines a callable; what is partially applied counts as what it applies."""
    while isinstance(function, partial):
        function = function.func
    module = getattr(function, "__module__", None)
    if isinstance(module, str):
        return module
    owner = getattr(function, "__self__", None)  # a function in C says no more
    if isinstance(owner, ModuleType):
        return owner.__name__
    return (owner if isinstance(owner, type) else type(owner)).__module__


def _comes_with_python(module: ModuleType | None) -> bool:
    """Whether a module lies among Python's own, such as ``test``, which is in no list of them."""
    path = getattr(module, "__file__", None)
    if path is None:
        return False
    folder = Path(sysconfig.get_path("stdlib")).resolve()
    file = Path(path).resolve()
    return file.is_relative_to(folder) and not {"site-packages", "dist-packages"} & {*file.parts}


class Binding(NamedTuple):
    """Which fields a function takes.

    Attributes:
        fields: by parameter, in their order, the field that it is given.
        by_place: parameters that can be given by their place alone.
        wording: what it takes of the prompt, and not of the items: of `TEMPLATE`, `TEMPLATE_ID`
            and `MESSAGES`.
    """

    fields: Mapping[str, str]
    by_place: frozenset[str] = frozenset()
    wording: frozenset[str] = frozenset()

    def arguments(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """By parameter, the values that the function is given of ``fields``."""
        return {parameter: fields[field] for parameter, field in self.fields.items()}

    def call(self, function: Callable[..., Any], arguments: Mapping[str, Any]) -> partial[Any]:
        """The call of ``function`` with ``arguments``, still to be made."""
        placed = [value for name, value in arguments.items() if name in self.by_place]
        named = {name: value for name, value in arguments.items() if name not in self.by_place}
        return partial(function, *placed, **named)


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a call of ``function`` gives a coroutine: one of its own, or that of its class."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
    )


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """The parameters of ``function`` that accept a value; ``None`` if the signature is unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of some built-in functions
        return None
    return [parameter for parameter in parameters if parameter.kind not in _VARIADIC]


def shown(function: Callable[..., Any], name: str) -> str:
    """``function`` as an error shows it: its name and its parameters."""
    names = [parameter.name for parameter in parameters_of(function) or ()]
    return f"{name.rpartition(':')[2]}({', '.join(names)})"


def fields_of(suite: Suite) -> list[str]:
    """The fields that a function may take of every item of ``suite``, sorted."""
    fields = set.intersection(*({*item.fields} for item in suite.items))
    if suite.space.pairwise:
        fields |= {"a", "b"}
    if any(template.single for template in suite.templates):
        fields.add("answer")
    if suite.apart is not None:
        fields.add(CRITERION)
    return sorted(fields)


def binding_of(
    function: Callable[..., Any], judge: JudgeSpec, suite: Suite | None
) -> Binding | None:
    """The arguments that ``function`` takes from ``suite``; ``None`` if it takes only messages.

    It takes fields if the judge has ``arguments``, if a parameter has the name of a field, or if it
    needs more than one value. Without a suite there are no fields: a test calls it with messages.

    Raises:
        UsageError: a parameter has no field, or ``arguments`` contain an unknown name; the error
            shows the parameters and the fields. Or there are no parameters at all.
    """
    parameters = parameters_of(function)
    if parameters is None:
        return None
    if not inspect.signature(function).parameters:
        raise UsageError(
            f"judge {judge.name!r} takes nothing that could be judged",
            found=f"{shown(function, judge.model)}, a function without parameters",
            expected=f"a parameter for the messages, or fields of the suite by name, {MESSAGES} "
            "among them",
            remedy="give it one",
        )
    fields = [] if suite is None else fields_of(suite)
    by_name = {parameter.name: parameter for parameter in parameters}
    takeable = {*fields, *_WORDING}
    _refuse_reversed(judge, by_name, takeable)
    sources = {name: judge.arguments.get(name, name) for name in by_name}
    needed = [
        parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty
    ]
    if _takes_messages(judge, parameters, needed, set(fields)):
        return None
    unknown = [n for n in judge.arguments if n not in by_name or judge.arguments[n] not in takeable]
    missing = [name for name in needed if sources[name] not in takeable and name not in unknown]
    if unknown or missing:
        raise _unbound(function, judge, suite, [*unknown, *missing], fields)
    taken = {name: source for name, source in sources.items() if source in takeable}
    return Binding(
        taken,
        frozenset(
            parameter.name
            for parameter in parameters
            if parameter.kind is parameter.POSITIONAL_ONLY
        ),
        _WORDING.intersection(taken.values()).difference(fields),
    )


def _takes_messages(
    judge: JudgeSpec,
    parameters: Sequence[inspect.Parameter],
    needed: Sequence[str],
    fields: Collection[str],
) -> bool:
    """Whether a function takes the messages as its one argument, as models do."""
    if judge.arguments or any(parameter.name in fields for parameter in parameters):
        return False
    first = parameters[0] if parameters else None
    if first is not None and (first.kind is first.KEYWORD_ONLY or first.annotation in (str, "str")):
        return False  # a keyword, or a text: no list of messages
    return len(needed) <= 1 and (not needed or needed[0] == getattr(first, "name", None))


def _refuse_reversed(
    judge: JudgeSpec, parameters: Mapping[str, inspect.Parameter], fields: Collection[str]
) -> None:
    """Raise `UsageError` for a table that names fields first and parameters second."""
    table = judge.arguments
    fits = sum(name in parameters and source in fields for name, source in table.items())
    turned = {s: n for n, s in table.items() if s in parameters and n in fields}
    if len(turned) > fits:
        raise UsageError(
            f"arguments of judge {judge.name!r} is the wrong way round",
            found=_table(table),
            expected="parameters of the function first, fields of the suite second",
            remedy=f"write arguments = {_table(turned)}",
        )


def _unbound(
    function: Callable[..., Any],
    judge: JudgeSpec,
    suite: Suite | None,
    names: Sequence[str],
    fields: Sequence[str],
) -> UsageError:
    """The error that shows both sides, and the table that would join them."""
    signature = shown(function, judge.model)
    if suite is None:
        return UsageError(
            f"judge {judge.name!r} cannot be asked with messages",
            found=f"{signature}, which takes fields of a suite",
            expected="a function of one argument, the messages",
            remedy="call the function itself, or measure it on a suite",
        )
    unfilled = [
        f"{name} = {json.dumps(judge.arguments[name])}" if name in judge.arguments else name
        for name in names
    ]
    guessed = {name: _guess(name, fields) for name in names}
    return UsageError(
        f"judge {judge.name!r} cannot be given what suite {suite.name} has",
        found=f"{signature}; no field for {listed(unfilled)}",
        expected=f"fields of the suite: {listed(fields)}; or {TEMPLATE}, {TEMPLATE_ID}, {MESSAGES}",
        remedy=f"give the judge arguments = {_table({**judge.arguments, **guessed})}",
    )


def _guess(parameter: str, fields: Sequence[str]) -> str:
    """The field that a parameter most likely means, or dots for the reader to fill in."""
    usual = _USUAL.get(parameter.lower())
    if usual in fields:
        return str(usual)
    return next(iter(get_close_matches(parameter, fields, n=1)), "...")


def _table(pairs: Mapping[str, str]) -> str:
    listed = ", ".join(f"{name} = {json.dumps(value)}" for name, value in pairs.items())
    return "{ " + listed + " }"


def refuse_one_wording(
    function: Callable[..., Any], judge: JudgeSpec, suite: Suite, checks: Iterable[str]
) -> None:
    """Raise `UsageError` if ``checks`` compare wordings, and none reaches the function."""
    names = list(dict.fromkeys(checks))
    if not names:
        return
    binding = binding_of(function, judge, suite)
    if binding is None or binding.wording:
        return
    raise UsageError(
        f"{listed(names)} of suite {suite.name} compares wordings, and judge {judge.name!r} "
        "takes none",
        found=f"{shown(function, judge.model)}, the same call under each of "
        f"{len(suite.templates)} wordings",
        expected=f"a parameter {TEMPLATE} (the wording's text) or {TEMPLATE_ID}, or a function of "
        "the messages",
        remedy=f"add one to the function, or take {listed(names)} out of the suite",
    )


def has_own_prompt(binding: Binding | None) -> bool:
    """Whether a function is given neither the messages nor the text of the template."""
    return binding is not None and binding.wording.isdisjoint({TEMPLATE, MESSAGES})


def refuse_own_prompt(
    function: Callable[..., Any], judge: JudgeSpec, suite: Suite | None, binding: Binding | None
) -> None:
    """Raise `UsageError` if a suite asks with other prompts than the one in a function's code."""
    if suite is None or not has_own_prompt(binding):
        return
    if suite.apart is not None:
        _refuse_unseen_criterion(function, judge, suite, binding)
    if suite.form.expand is None:
        return
    if any(template.edits for template in suite.templates):
        return  # what it sends is changed on its way
    remedy = suite.form.prompt_in_code.format(judge=judge.name, source=suite.source or "SUITE")
    raise UsageError(
        f"suite {suite.name} asks with {len(suite.templates)} prompts, and that of judge "
        f"{judge.name!r} is in its own code",
        found=f"{shown(function, judge.model)}, the same call for each of them",
        expected=f"a parameter {TEMPLATE}, or a function of the messages",
        remedy="add one to the function" + f"; or run {remedy}" * bool(remedy),
    )


def _refuse_unseen_criterion(
    function: Callable[..., Any], judge: JudgeSpec, suite: Suite, binding: Binding | None
) -> None:
    """Raise `UsageError` if nothing tells a function which criterion it is asked for."""
    if binding is not None and CRITERION in binding.fields.values():
        return
    raise UsageError(
        f"suite {suite.name} asks for each criterion in a call of its own, and judge "
        f"{judge.name!r} is not told for which",
        found=f"{shown(function, judge.model)}, the same call for each of "
        f"{listed(criterion.name for criterion in suite.space.criteria)}",
        expected=f"a parameter {CRITERION} or {TEMPLATE}, or a function of the messages",
        remedy=f'add one to the function, or ask for all in one call: calls = "joint" in '
        f"{suite.path}",
    )


# --- what a function returns ----------------------------------------------------------------------

_RETURNS: Final = "a text, a label, a bool, an Enum, a number, or a dictionary with the verdict"


def said_by(value: object, judge: JudgeSpec, space: DecisionSpace | None) -> str:
    """The text of a reply that a function's return amounts to; ``None`` is an empty reply.

    A bool and a dictionary become the JSON objects that replies may be; an Enum its value, or its
    name where that is a label of ``space`` and its value is none, or a number.

    Raises:
        JudgeError: it is nothing that states a verdict.
    """
    if value is None:
        return ""
    if isinstance(value, enum.Enum):
        return _of_enum(value, judge, space)
    if isinstance(value, str):
        return str.__str__(value)  # of a subclass the text alone
    if callable(item := getattr(value, "item", None)) and type(value).__module__ == "numpy":
        value = item()  # a scalar of numpy
    if isinstance(value, bool):
        if space is not None and space.score is None and {*space.labels} == {"0", "1"}:
            return str(int(value))
        return json.dumps({"verdict": value})
    if isinstance(value, float) and space is not None and space.score and math.isfinite(value):
        return score_text(value)  # without an exponent
    if isinstance(value, int | float):
        return repr(value)
    plain = _plain(value)
    if plain is None:
        raise JudgeError(
            f"judge {judge.name!r} returned no verdict",
            found=f"a value of the type {type(value).__name__}",
            expected=_RETURNS,
            remedy=f"fix {judge.model}",
        )
    return json.dumps(_inner(judge, space, plain), ensure_ascii=False, default=str)


def refuse_unusable_confidence(text: str, judge: JudgeSpec, space: DecisionSpace) -> None:
    """Raise a `JudgeError` if a reply that a function's values amount to states no usable one.

    Only of a reply with a verdict: any other is unparsed anyhow.
    """
    outcome = parse_reply(text, space)
    if not isinstance(outcome, Verdict):
        return
    stated = stated_confidence(text, space, outcome.value)
    if isinstance(stated, ConfidenceFault):
        raise JudgeError(
            f"judge {judge.name!r} returned a confidence that is none",
            found=stated.found,
            expected=stated.expected,
            remedy=f"bring it to that range in {judge.model}, or leave it out where the judge "
            "states none; a number that is no confidence has another key",
        )


def _of_enum(member: enum.Enum, judge: JudgeSpec, space: DecisionSpace | None) -> str:
    value, name = member.value, (member.name or "").replace("_", " ")  # a Flag's 0 has no name

    def is_label(text: str) -> bool:
        return space is not None and isinstance(labels_of(space).read(text), Verdict)

    # Numbers count the members: where they begin at 0, 1 is the second candidate.
    counts = not isinstance(value, str) or is_number(value)
    if counts and is_label(name):
        return name
    if isinstance(value, str | int | float):
        text = said_by(value, judge, space)
        if is_label(text) or not is_label(name):
            return text
    return name


def _plain(value: object) -> dict[str, Any] | None:
    """A dictionary, a dataclass or a pydantic model as a dictionary; ``None`` for all else."""
    if isinstance(value, Mapping):
        return {str(key): inner for key, inner in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    dump = getattr(value, "model_dump", None)
    dumped = dump() if callable(dump) and not isinstance(value, type) else None
    return dumped if isinstance(dumped, dict) else None


def _inner(judge: JudgeSpec, space: DecisionSpace | None, value: object) -> object:
    """A ``value`` of a dictionary with Enums as said; some of them are numbers to JSON."""
    inner = partial(_inner, judge, space)
    if isinstance(value, enum.Enum):
        return _of_enum(value, judge, space)
    if isinstance(value, Mapping):
        return {key: inner(part) for key, part in value.items()}
    return [inner(part) for part in value] if isinstance(value, list | tuple) else value
