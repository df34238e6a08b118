"""Ports of the network at which a run listens."""

from __future__ import annotations

import socket

from master.errors import MasterError


def listen(kind: socket.SocketKind, host: str, port: int, what: str) -> socket.socket:
    """A socket at `port` of `host` (0: any that is free) that never blocks.

    Raises MasterError that says for `what` the port cannot be had.
    """
    found = socket.socket(socket.AF_INET, kind)
    try:
        if kind == socket.SOCK_STREAM:
            # connections of an earlier run that linger keep nobody out
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        if kind == socket.SOCK_STREAM:
            found.listen()
    except OSError as error:
        found.close()
        raise MasterError(f"{what}: port {port} of {host} cannot be had ({error.strerror})") from error
    found.setblocking(False)
    return found
