"""The server of the page: on this machine only, and only for holders of the token in its address."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from dockfmu.base.number_text import strict_json
from dockfmu.base.numbers import finite
from dockfmu.report.files import REPORT
from dockfmu.view.address import HOST, OPEN, ViewError, address, cookie_name, listen, new_token
from dockfmu.view.recording import THREE, Replay

PAGE = Path(__file__).parent / "page"
LONGEST = 1 << 20
"""Largest number of bytes of a request, enough for the names of all variables of a large system."""

MOST_STRANGERS = 64
"""Largest number of connections that have not shown the token."""

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_REPORT = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


def _origin(connection: HTTPConnection) -> str:
    """Return the origin of the page itself; the host in it has been checked."""
    return f"http://{connection.headers.get('host', '')}"


class Visitors:
    """Connections that have not shown the token: of more than MOST_STRANGERS, the oldest is closed.

    Any user of this machine can open connections; without a bound they would take all files that a process may open,
    and nobody else could come in. Those that have shown the token are not counted.
    """

    def __init__(self) -> None:
        self._strangers: dict[tuple[str, int] | None, asyncio.Transport] = {}

    def came(self, client: tuple[str, int] | None, transport: asyncio.Transport) -> None:
        """Count a new connection, and make room for it."""
        self._strangers = {name: old for name, old in self._strangers.items() if not old.is_closing()}
        while len(self._strangers) >= MOST_STRANGERS:
            self._strangers.pop(next(iter(self._strangers))).abort()
        self._strangers[client] = transport

    def known(self, client: tuple[str, int] | None) -> None:
        """Take a connection for one that has shown the token."""
        self._strangers.pop(client, None)


class _Guard:
    """Middleware that refuses requests without the token: in the address the first time, in a cookie after that."""

    def __init__(self, app: ASGIApp, token: str, cookie: str, visitors: Visitors) -> None:
        self.app, self.token, self.cookie, self.visitors = app, token, cookie, visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope, receive)
        if request.headers.get("origin", _origin(request)) != _origin(request):
            # browsers do not send the cookie from a foreign origin; this refuses those that would
            refusal = PlainTextResponse("requests of a foreign origin are refused", status_code=403)
            await refusal(scope, receive, guarded)
        elif request.url.path == "/" and self._is_token(request.query_params.get("token", "")):
            # remove the token from the address, so that it does not stay in the history
            answer: Response = RedirectResponse("/", status_code=303)
            answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict")
            await answer(scope, receive, guarded)
        elif request.url.path == OPEN and self._is_token(request.query_params.get("token", "")):
            answer = HTMLResponse('<!DOCTYPE html><meta http-equiv="refresh" content="0; url=/">')
            answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict")
            await answer(scope, receive, guarded)
        elif self._is_token(request.cookies.get(self.cookie, "")):
            self.visitors.known(scope.get("client"))
            await self.app(scope, receive, guarded)
        else:
            refusal = PlainTextResponse("open the address that dockfmu view has printed", status_code=403)
            await refusal(scope, receive, guarded)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Accept sockets only from the page's own origin: browsers let any page open sockets to any address."""
        connection = HTTPConnection(scope)
        own = connection.headers.get("origin") == _origin(connection)
        if own and self._is_token(connection.cookies.get(self.cookie, "")):
            self.visitors.known(scope.get("client"))
            await self.app(scope, receive, send)
        else:
            # closed before it is accepted: the browser sees a 403
            await send({"type": "websocket.close", "code": 1008})

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())


def application(replays: Sequence[Replay], folder: Path, token: str, cookie: str) -> Starlette:
    """Return the application that serves recordings, and the report in `folder`, to holders of the token.

    The second recording, if there is one, is drawn beneath the first.
    """
    return guarded(
        [
            *_routes(replays[0], "", {"other": len(replays) > 1}),
            *(route for other in replays[1:] for route in _routes(other, "/other", {})),
        ],
        folder,
        token,
        cookie,
    )


def guarded(routes: Sequence[BaseRoute], folder: Path, token: str, cookie: str) -> Starlette:
    """Return an application of these routes and those of every page, for holders of the token only."""
    visitors = Visitors()

    def refused(_: Request, error: Exception) -> Response:
        return PlainTextResponse(str(error), status_code=400)

    def left(_: Request, error: Exception) -> Response:
        # the client broke its request off: nobody reads this
        return Response(status_code=400)

    async def page(_: Request) -> Response:
        return FileResponse(PAGE / "index.html")

    async def three(_: Request) -> Response:
        if THREE is None:
            return PlainTextResponse("jupyter-threejs-sage is not installed", status_code=404)
        return FileResponse(THREE)

    async def report(_: Request) -> Response:
        file = folder / REPORT
        if not file.is_file():
            return PlainTextResponse("there is no report; dockfmu report makes one", status_code=404)
        return FileResponse(file, headers={"Content-Security-Policy": _REPORT})

    app = Starlette(
        routes=[
            Route("/", page),
            *routes,
            Route("/three.js", three),
            Route("/report.html", report),
            Mount("/page", StaticFiles(directory=PAGE)),
        ],
        exception_handlers={ViewError: refused, ClientDisconnect: left},
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"]),
            Middleware(_Guard, token=token, cookie=cookie, visitors=visitors),
        ],
    )
    app.state.visitors = visitors
    return app


def _routes(replay: Replay, place: str, more: Mapping[str, Any]) -> list[Route]:
    """Return the routes of one recording, below `place`; `more` is added to its description."""
    described = json.dumps(finite({**replay.description(), **more}), separators=(",", ":"))

    async def description(_: Request) -> Response:
        return Response(described, media_type="application/json")

    async def time(_: Request) -> Response:
        return Response(replay.time.astype("<f8").tobytes(), media_type="application/octet-stream")

    async def columns(request: Request) -> Response:
        names = _names(await _body(request))

        return Response(await run_in_threadpool(replay.packed, names), media_type="application/octet-stream")

    return [
        Route(f"{place}/description", description),
        Route(f"{place}/time", time),
        Route(f"{place}/columns", columns, methods=["POST"]),
    ]


async def _body(request: Request) -> bytes:
    """Return the body of a request. Raises ViewError if it is too long."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST:
            raise ViewError(f"a request of more than {LONGEST} bytes")
    return bytes(body)


def _names(body: bytes) -> list[str]:
    try:
        names = strict_json(body)
    except (ValueError, RecursionError) as error:
        raise ViewError(f"not JSON: {error}") from error
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ViewError("a list of names is needed")
    return names


def serve(replays: Sequence[Replay], folder: Path, port: int, ready: Callable[[str], None]) -> None:
    """Serve a recording, with a second one drawn beneath it if there is one, until Ctrl-C.

    `ready` is called with the address once it can be opened. Raises ViewError if the port is taken.
    """
    with listen(port) as listening:
        number, token = listening.getsockname()[1], new_token()
        app = application(replays, folder, token, cookie_name(number))
        for replay in replays:
            Thread(target=replay.read_ahead, daemon=True).start()
        # the socket is already listening: a browser that comes early waits
        ready(address(number, token))
        uvicorn.Server(configuration(app)).run(sockets=[listening])


def configuration(app: Starlette) -> uvicorn.Config:
    """Return the server's configuration: quiet, and without compression, which only costs time on one machine."""
    visitors: Visitors = app.state.visitors

    class BoundedConnection(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            visitors.came(self.client, transport)

    return uvicorn.Config(
        app,
        http=BoundedConnection,
        # as many are accepted before the first of them is counted
        backlog=MOST_STRANGERS,
        log_level="error",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
        ws_per_message_deflate=False,
        ws_max_size=LONGEST,
    )
