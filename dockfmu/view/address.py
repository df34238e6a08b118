"""The address at which a page is served: on this machine only, with a token."""

from __future__ import annotations

import secrets
import socket

from dockfmu.base.errors import DockfmuError

HOST = "127.0.0.1"


class ViewError(DockfmuError, RuntimeError):
    """There is nothing to show, or a requested variable is not recorded."""


def listen(port: int) -> socket.socket:
    """Return a socket that listens at a port of this machine, 0 for any. Raises ViewError if the port is taken."""
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise ViewError(f"port {port} cannot be used ({error.strerror}); port 0 chooses a free one") from error
    return listening


def new_token() -> str:
    """Return the token that the address of one server carries."""
    return secrets.token_urlsafe(24)


def cookie_name(port: int) -> str:
    """Return the name of the cookie that holds the token, one per port: ports of a machine share their cookies."""
    return f"dockfmu_{port}"


def address(port: int, token: str) -> str:
    """Return the address to open in the browser."""
    return f"http://{HOST}:{port}/?token={token}"
