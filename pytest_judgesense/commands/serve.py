"""``judgesense serve``: the embedded judge over HTTP."""

from __future__ import annotations

import argparse
from functools import partial

from pytest_judgesense.commands.options import number, registry_of
from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.simulated.profiles import PROFILES, observer_named
from pytest_judgesense.judges.simulated.server import EmbeddedServer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the port."""
    port = number("port", int, 65535)
    parser.add_argument("--port", type=port, default=8471, help="port (default: 8471; 0: any)")


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
