"""A process without a network, where the system can take it away: in a network namespace of Linux.

What a replay must not need is then not there for anybody: clients below Python's ``socket`` module,
processes that are started, connections of other threads. The process keeps a loopback of its own,
so that a server which it starts itself is reached as ever.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

# Of <sched.h>, <linux/sockios.h> and <net/if.h>.
_NEW_NETWORK: Final = 0x40000000
_NEW_USER: Final = 0x10000000
_SET_FLAGS: Final = 0x8914
_UP: Final = 0x1

# Who the process is, in a namespace of users; without it, it could create no file.
_USERS: Final = Path("/proc/self/uid_map")
_GROUPS: Final = Path("/proc/self/gid_map")
_MAY_SET_GROUPS: Final = Path("/proc/self/setgroups")


def leave_network() -> bool:
    """Take the network from this process and all that it starts; whether that was possible.

    To be called before there is another thread: it would keep its network. Where the process is not
    allowed to (most containers), and on other systems, everything stays as it is.
    """
    return sys.platform == "linux" and (_left_as_root() or _left_as_user())


def _left_as_root() -> bool:
    """With the right to it, no namespace of users is needed, and all files are read as before."""
    if not _unshared(_NEW_NETWORK):
        return False
    _raise_loopback()
    return True


def _left_as_user() -> bool:
    user, group = os.geteuid(), os.getegid()
    maps = (_USERS, _GROUPS, _MAY_SET_GROUPS)
    if not all(os.access(path, os.W_OK) for path in maps) or not _unshared(
        _NEW_USER | _NEW_NETWORK
    ):
        return False
    _MAY_SET_GROUPS.write_text("deny")
    _USERS.write_text(f"{user} {user} 1")
    _GROUPS.write_text(f"{group} {group} 1")
    _raise_loopback()
    return True


def _unshared(namespaces: int) -> bool:
    library = ctypes.CDLL(None, use_errno=True)
    return hasattr(library, "unshare") and library.unshare(namespaces) == 0


def _raise_loopback() -> None:
    import fcntl  # not on Windows

    # Where it stays down, a server of the process's own is out of reach too.
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh22x", b"lo", _UP))
