"""Network ports that a run listens on."""

from __future__ import annotations

import socket

from master.errors import MasterError


def listen(kind: socket.SocketKind, host: str, port: int, what: str) -> socket.socket:
    """Return a non-blocking socket at `port` of `host` (0: any free one).

    Raises MasterError for a port that is not available; `what` begins its message.
    """
    found = socket.socket(socket.AF_INET, kind)
    try:
        if kind == socket.SOCK_STREAM:
            # connections of an earlier run may linger
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        if kind == socket.SOCK_STREAM:
            found.listen()
    except OSError as error:
        found.close()
        raise MasterError(f"{what}: port {port} of {host} is not available ({error.strerror})") from error
    found.setblocking(False)
    return found
