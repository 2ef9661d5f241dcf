"""``judgesense serve``: the embedded judge over HTTP."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Final

from pytest_judgesense.commands.options import registry_of
from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.simulated.profiles import PROFILES, observer_named
from pytest_judgesense.judges.simulated.server import EmbeddedServer

_LARGEST_PORT: Final = 65535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the port."""
    parser.add_argument("--port", type=_port, default=8471, help="port (default: 8471; 0: any)")
    parser.set_defaults(run=run)


def _port(text: str) -> int:
    value = int(text)
    if not 0 <= value <= _LARGEST_PORT:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {_LARGEST_PORT}")
    return value


def run(options: argparse.Namespace) -> int:
    """Serve the embedded judge."""
    find = partial(observer_named, skills=registry_of(options).skills)
    try:
        server = EmbeddedServer(options.port, find, totals=True)
    except OSError as error:
        raise UsageError(
            f"port {options.port} cannot be served",
            found=str(error),
            remedy="choose another port, or 0 for any",
        ) from error
    print(f"the embedded judge is served at {server.base_url}", flush=True)
    print(f"models: {', '.join(PROFILES)}. OpenAI: /chat/completions; Anthropic: /messages")
    print("Ctrl-C ends it.", flush=True)
    try:
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        print()
    finally:
        server.server_close()
    return 0
