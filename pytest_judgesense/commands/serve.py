"""``judgesense serve``: the embedded judge, or a language model of this machine, over HTTP."""

from __future__ import annotations

import argparse
import time
from functools import partial

from pytest_judgesense.commands.options import number, registry_of, show
from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.local.llama_server import CONTEXT, served
from pytest_judgesense.judges.local.models import name_of
from pytest_judgesense.judges.simulated.endpoint import EmbeddedServer
from pytest_judgesense.judges.simulated.named_observers import PROFILES, observer_named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the port, and the model."""
    port = number("port", int, 65535)
    parser.add_argument("--port", type=port, default=8471, help="port (default: 8471; 0: any)")
    meaning = "a local model, by name or as PATH.gguf, instead of the embedded judge"
    parser.add_argument("--model", metavar="NAME", help=meaning)
    threads, context = number("number of threads", int), number("number of tokens", int)
    meaning = "of the processors that compute (default: all)"
    parser.add_argument("--threads", type=threads, metavar="N", help=meaning)
    meaning = f"tokens of a prompt and its reply together (default: {CONTEXT})"
    parser.add_argument("--context", type=context, metavar="N", help=meaning)


def run(options: argparse.Namespace) -> int:
    """Serve the embedded judge, or a model, until Ctrl-C."""
    if options.model is not None:
        return _serve_model(options)
    find = partial(observer_named, skills=registry_of(options).skills)
    with UsageError.instead_of(
        OSError, f"port {options.port} cannot be served", remedy="choose another port, or 0 for any"
    ):
        server = EmbeddedServer(options.port, find, totals=True)
    models = f"models: {', '.join(PROFILES)}. OpenAI: /chat/completions; Anthropic: /messages"
    show([f"the embedded judge is served at {server.base_url}", models, "Ctrl-C ends it."])
    try:
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        show([""])
    finally:
        server.server_close()
    return 0


def _serve_model(options: argparse.Namespace) -> int:
    settings = {"threads": options.threads, "context": options.context, "port": options.port}
    with served(options.model, **settings) as base_url:
        line = f"{name_of(options.model)} is served at {base_url}"
        show([line, "OpenAI: /chat/completions. Ctrl-C ends it."])
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            show([""])
    return 0
