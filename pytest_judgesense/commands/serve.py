"""``judgesense serve``: the embedded judge, or a language model of this machine, over HTTP."""

from __future__ import annotations

import argparse
import time

from pytest_judgesense.commands.options import FLAG, number, place_of, show
from pytest_judgesense.judges.local import CONTEXT
from pytest_judgesense.questions.serve.question import (
    PORT,
    FetchQuestion,
    KnownModelsQuestion,
    ServeQuestion,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the port, and the model."""
    port = number("port", int, 65535)
    meaning = f"port (default: {PORT}; 0: any)"
    parser.add_argument("--port", type=port, default=PORT, help=meaning)
    action = parser.add_mutually_exclusive_group()
    meaning = "a local model, by name or as PATH.gguf, instead of the embedded judge"
    action.add_argument("--model", metavar="NAME", help=meaning)
    meaning = "bring a model to this machine, and serve nothing; --list names them"
    action.add_argument("--get", metavar="NAME", help=meaning)
    meaning = "list the models that are known by name, and where they are"
    action.add_argument("--list", help=meaning, **FLAG)
    threads, context = number("number of threads", int), number("number of tokens", int)
    meaning = "of the processors that compute (default: all)"
    parser.add_argument("--threads", type=threads, metavar="N", help=meaning)
    meaning = f"tokens of a prompt and its reply together (default: {CONTEXT})"
    parser.add_argument("--context", type=context, metavar="N", help=meaning)


def run(options: argparse.Namespace) -> int:
    """Serve the embedded judge, or a model, until Ctrl-C; or get or list models."""
    if options.list:
        return show(KnownModelsQuestion().answer().lines())
    if options.get is not None:
        question = FetchQuestion(options.get)
        show(question.announcement())
        return show(question.answer().lines())
    serving = ServeQuestion(
        options.port, options.model, options.threads, options.context, place_of(options)
    )
    with serving.answer() as answer:
        show(answer.lines())
        _wait_for_interrupt()
    return 0


def _wait_for_interrupt() -> None:
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        show([""])
