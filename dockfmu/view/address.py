"""The address at which a page is served: on this machine only, with a token."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from pathlib import Path

from dockfmu.base.errors import DockfmuError
from dockfmu.base.temporary import folder_for_others, remove_given

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


OPEN = "/open"
"""Path that answers with a page of its own instead of a redirection.

A browser that comes from a file, which is another site, sends the cookie only from there on.
"""

_OPENER = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>dockfmu</title>
<meta http-equiv="refresh" content="0; url={address}"></head><body><a href="{address}">dockfmu</a></body></html>
"""


def open_in_browser(page: str) -> Path:
    """Open the address of a page in the browser, and return the file that leads there.

    The arguments of a process are visible to all users of a machine: the browser gets a file that only this user can
    read, and not the address with its token. Raises ViewError if the file cannot be written.
    """
    try:
        file = folder_for_others("page") / "dockfmu.html"
        file.write_text(_OPENER.format(address=page.replace("/?", f"{OPEN}?")), encoding="utf-8")
    except OSError as error:
        raise ViewError(f"the browser cannot be opened ({error.strerror}); --no-browser opens none") from error
    webbrowser.open(file.as_uri())
    return file


def close_opening(file: Path | None) -> None:
    """Remove the file of `open_in_browser`, if there is one."""
    if file is not None:
        remove_given(file.parent)
