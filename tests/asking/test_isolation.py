"""A process that leaves the network: what it reaches, and what it can still do."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

# Prints whether it is cut off, whether it reaches the port that it is given, as itself and from a
# process that it starts, and a server of its own; it writes a file beside.
CODE = """
import json, os, socket, subprocess, sys
from pytest_judgesense.asking.isolation import leave_network

is_cut_off = leave_network()

def reaches(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0

child = "import socket, sys; sys.exit(socket.socket().connect_ex(('127.0.0.1', int(sys.argv[1]))))"
with socket.create_server(("127.0.0.1", 0)) as own:
    reached = [
        reaches(int(sys.argv[1])),
        subprocess.run([sys.executable, "-c", child, sys.argv[1]]).returncode == 0,
        reaches(own.getsockname()[1]),
    ]
with open("written", "x") as file:
    file.write(str(os.geteuid()))
print(json.dumps([is_cut_off, reached]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="namespaces are of Linux")
def test_a_process_without_a_network_reaches_what_it_has_started_alone(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        command = [sys.executable, "-c", CODE, port]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, text=True)
    is_cut_off, reached = json.loads(ended.stdout)
    # Where the system does not allow it, as in most containers, everything is as before.
    assert reached == [not is_cut_off, not is_cut_off, True]
    written = tmp_path / "written"
    assert written.read_text() == str(os.geteuid())
    assert written.stat().st_uid == os.geteuid()
