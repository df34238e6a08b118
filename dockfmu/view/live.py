"""The server of a live run, in a separate process: `python -m dockfmu.view.live LINK LISTENING`.

Both arguments are sockets that the run has opened. LINK brings what a `Feed` sends, and takes what an `Operator` reads;
LISTENING accepts browsers. Every viewer gets all rows in order, at most WINDOW blocks ahead of what its page has drawn:
a slow page gets larger blocks and delays nobody. One viewer at a time may hold the controls. The process ends when the
run is over and the last viewer has left.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from dockfmu.base.numbers import as_json, finite
from dockfmu.view.address import close_opening, cookie_name
from dockfmu.view.commands import CENTRED, Control, PageMessage, PageMessageError, read_message
from dockfmu.view.live_rows import LiveRows
from dockfmu.view.recording import Replay
from dockfmu.view.server import configuration, guarded

WINDOW = 2
"""Blocks of rows that a page may have without having drawn them."""

BLOCK_BYTES = 8 << 20
"""Largest number of bytes of a block."""

MOST_NEWS = 10_000
"""Most messages that wait for a page: one that sends and never reads must not fill the memory."""

PAUSE_S = 0.015
"""Pause between two blocks, s: a page draws some 60 frames per second."""

DEAD_MAN_S = 0.3
"""Time without a message of the operator after which the hand controllers are centred, s."""

FIRST_VIEWER_S, LAST_VIEWER_S = 30.0, 3.0
"""Time for which the server stays after the run, s: for a browser that is starting, and for a page that reloads."""

LONGEST_LINE = 1 << 26


class Viewer:
    """One page: the columns that it requests, the rows that it has, and the messages that wait for it."""

    def __init__(self, page: WebSocket) -> None:
        self.page = page
        self.names: list[str] = []
        self.wanted: list[str] = []
        """Requested names whose columns have not been sent yet."""
        self.sent = 0
        self.generation = 0
        self.block = self.drawn = 0
        self.news: deque[dict[str, Any]] = deque()
        self.wake = asyncio.Event()

    def tell(self, news: dict[str, Any]) -> None:
        """Send a message as soon as possible; a page that has left `MOST_NEWS` of them unread gets no more."""
        if len(self.news) < MOST_NEWS:
            self.news.append(news)
        self.wake.set()

    async def follow(self, hub: Hub) -> None:
        """Send messages and rows as they come, until the task is cancelled."""
        while True:
            await self.wake.wait()
            self.wake.clear()
            while self.news:
                await self.page.send_text(as_json(self.news.popleft()))
            rows = hub.rows
            if rows is None:
                continue
            if self.generation != rows.generation:
                self.generation, self.sent = rows.generation, 0
                await self.page.send_text('{"restart":true}')
            if self.wanted:
                names, self.wanted = self.wanted, []
                await self.page.send_bytes(_block(rows, names, 0, self.sent, {"columns": names}))
                self.names += names
            if self.names and self.sent < len(rows) and self.block - self.drawn < WINDOW:
                most = max(1, BLOCK_BYTES // (8 * len(self.names)))
                until = min(len(rows), self.sent + most)
                self.block += 1
                first, self.sent = self.sent, until
                head = {"block": self.block, "first": first, "columns": len(self.names)}
                await self.page.send_bytes(_block(rows, self.names, first, until, head))
                await asyncio.sleep(PAUSE_S)
                if until < len(rows):
                    self.wake.set()


def _block(rows: LiveRows, names: list[str], first: int, until: int, head: dict[str, Any]) -> bytes:
    """Return rows as the page reads them: length of the head, head, times, columns, each at a multiple of 8 bytes."""
    text = json.dumps({**head, "rows": until - first}).encode()
    text += b" " * (-(len(text) + 4) % 8)
    parts = [len(text).to_bytes(4, "little"), text, rows.time[first:until].astype("<f8").tobytes()]
    for name in names:
        data = rows[name][first:until].tobytes()
        parts += [data, bytes(-len(data) % 8)]
    return b"".join(parts)


class Hub:
    """The run, its viewers, and the viewer that operates it."""

    def __init__(self, run: asyncio.StreamWriter, about: Mapping[str, Any]) -> None:
        self.folder = Path(about["folder"])
        self.station = bool(about["station"])
        self.rows: LiveRows | None = None
        self.replay: Replay | None = None
        self.begun, self.ended = asyncio.Event(), asyncio.Event()
        self.viewers: set[Viewer] = set()
        self.operator: Viewer | None = None
        self.controls: list[Control] = []
        self.opening: Path | None = None
        """The file that leads the browser here, until it has come."""
        self.seen = False
        """Whether there has been a viewer."""
        self._run = run
        self._file = Path(about["file"])
        self._pace: dict[str, Any] = {"hold": False, "speed": about["speed"]}
        self._events: list[dict[str, Any]] = []
        self._end: dict[str, Any] | None = None
        self._stop: float | None = None
        self._centred: set[str] = set()
        """Sticks and buttons; other inputs keep their values."""
        self._deflected: set[str] = set()
        self._taken: dict[str, float] = {}
        """Choices and numbers that the run has accepted: no row has them while it waits."""
        self._senders: dict[str, Viewer] = {}
        """The viewer that last set each input."""
        self._heard = 0.0

    # --- the run ------------------------------------------------------------------------------------------------------

    async def read(self, reader: asyncio.StreamReader) -> None:
        """Process what the run sends, until it ends."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while line := await reader.readline():
                message = json.loads(line)
                if "rows" in message:
                    await self._add(reader, message["rows"])
                elif "variables" in message:
                    self._begin(message)
                elif "event" in message:
                    self._events.append({"t": message["t"], "name": message["event"]})
                    self._tell_all({"event": self._events[-1]})
                elif "status" in message:
                    self._end = message
                elif "dropped" in message:
                    self._tell_all({"dropped": message["dropped"]})
                elif "taken" in message:
                    self._take(message["taken"])
                elif "refused" in message:
                    self._refused(message)
                elif "opening" in message:
                    self.opening = Path(message["opening"])
        if self._end is None:
            self._end = {"status": "failed", "outcome": "the run ended unexpectedly", "success": False}
        self.operator = None
        self.ended.set()
        self.begun.set()
        self._tell_all({"end": self._ending(), "state": self._state(None)})

    def _take(self, values: Mapping[str, float]) -> None:
        """Send all pages the choices and numbers that the run has accepted."""
        self._taken |= values
        self._tell_all({"taken": dict(values)})

    def _refused(self, message: Mapping[str, str]) -> None:
        """Send all pages the input that the run has withdrawn, and its sender the reason."""
        name = message.get("name")
        if name is None:
            sender = self.operator
        else:
            # an FMU discards a value when the run continues, after it was accepted; another viewer may operate by then
            self._taken.pop(name, None)
            self._tell_all({"withdrawn": name})
            sender = self._senders.get(name)
        if sender is not None:
            sender.tell({"refused": message["refused"]})

    async def _add(self, reader: asyncio.StreamReader, count: int) -> None:
        assert self.rows is not None
        width = len(self.rows.variables)
        numbers = np.frombuffer(await reader.readexactly(8 * count * (1 + width)))
        self.rows.append(numbers[:count], numbers[count:].reshape(count, width))
        for viewer in self.viewers:
            viewer.wake.set()

    def _begin(self, about: Mapping[str, Any]) -> None:
        self.rows = LiveRows(about, self._file)
        self.replay = Replay(self.rows, self.folder, growing=True)
        self.rows.keep_exact(self.replay.doubles)
        self._stop = about["stop"]
        if self.station:
            self.controls = [
                _control(control) for scene in self.replay.scenes.values() for control in scene.get("controls", [])
            ]
            self._centred = {control.variable for control in self.controls if control.kind in CENTRED}
        self.begun.set()

    def description(self) -> dict[str, Any]:
        """Return what the page needs besides rows. Call it after the run has begun."""
        assert self.replay is not None
        elements = self.replay.scenes.items()
        given = [{**control, "element": name} for name, scene in elements for control in scene.get("controls", [])]
        return {
            **self.replay.description(),
            **({"outcome": "running", "standing": ""} if self._end is None else self._ending()),
            "live": True,
            "station": self.station,
            "controls": given if self.station else [],
            "stop": self._stop,
            "events": self._events,
        }

    def _ending(self) -> dict[str, Any]:
        assert self._end is not None
        good = self._end["status"] == "completed" and self._end["success"]
        return {
            "outcome": str(self._end["outcome"]).replace("_", " "),
            "standing": "" if self._end["status"] == "stopped" else "good" if good else "bad",
            "message": self._end.get("message", ""),
        }

    # --- viewers ------------------------------------------------------------------------------------------------------

    async def connected(self, page: WebSocket) -> None:
        """Serve one page until it leaves."""
        await page.accept()
        await self.begun.wait()
        viewer = Viewer(page)
        viewer.generation = 0 if self.rows is None else self.rows.generation
        self.viewers.add(viewer)
        self.seen = True
        self.close_opening()
        viewer.tell({"state": self._state(viewer), "taken": self._taken})
        if self._end is not None:
            viewer.tell({"end": self._ending()})
        following = asyncio.create_task(viewer.follow(self))
        try:
            while True:
                received = await page.receive()
                if received["type"] == "websocket.disconnect":
                    break
                try:
                    self._obey(viewer, read_message(received.get("text") or "", self.controls))
                except PageMessageError as reason:
                    viewer.tell({"refused": str(reason)})
        except WebSocketDisconnect:
            pass
        finally:
            self.viewers.discard(viewer)
            following.cancel()
            if self.operator is viewer:
                self._release()

    def _obey(self, viewer: Viewer, message: PageMessage) -> None:
        """Carry out a message of a page. Raises PageMessageError for what the page may not do."""
        if message.word == "drawn":
            viewer.drawn = min(max(viewer.drawn, message.value), viewer.block)
            viewer.wake.set()
        elif message.word == "names":
            known = self.rows if self.rows is not None else ()
            missing = [name for name in message.value if name not in known]
            if missing:
                raise PageMessageError(f"there is no numeric variable {missing[0]!r}")
            viewer.wanted += [n for n in message.value if n not in viewer.names and n not in viewer.wanted]
            viewer.wake.set()
        elif not self.station or self.ended.is_set():
            raise PageMessageError("this run takes no commands")
        elif message.word == "take":
            if self.operator not in (None, viewer):
                raise PageMessageError("another page has the controls")
            if message.value:
                self.operator = viewer
                self._tell_state()
            else:
                self._release()
        elif self.operator is not viewer:
            raise PageMessageError("take the controls first")
        else:
            self._command(viewer, message)

    def _command(self, viewer: Viewer, message: PageMessage) -> None:
        self._heard = asyncio.get_running_loop().time()
        if message.word == "set":
            self._senders |= dict.fromkeys(message.value, viewer)
            self._set(message.value)
        else:
            self._send({message.word: message.value})
            if message.word in self._pace:
                self._pace[message.word] = message.value
                self._tell_state()

    def _set(self, values: Mapping[str, float]) -> None:
        self._send({"set": dict(values)})
        for name, value in values.items():
            (self._deflected.add if name in self._centred and value else self._deflected.discard)(name)

    def _send(self, command: Mapping[str, Any]) -> None:
        with suppress(OSError):
            self._run.write(json.dumps(command).encode() + b"\n")

    def _release(self) -> None:
        """Release the controls, with sticks centred and buttons up."""
        self.operator = None
        self._centre()
        self._tell_state()

    def _centre(self) -> None:
        if self._deflected:
            self._set(dict.fromkeys(self._deflected, 0.0))

    async def dead_man(self) -> None:
        """Centre the sticks while nothing is heard from the operator."""
        while not self.ended.is_set():
            await asyncio.sleep(DEAD_MAN_S / 3)
            if self._deflected and asyncio.get_running_loop().time() - self._heard > DEAD_MAN_S:
                self._centre()

    def _state(self, viewer: Viewer | None) -> dict[str, Any]:
        operator = "" if self.operator is None else "you" if self.operator is viewer else "other"
        return {**self._pace, "operator": operator}

    def _tell_state(self) -> None:
        for viewer in self.viewers:
            viewer.tell({"state": self._state(viewer)})

    def _tell_all(self, news: dict[str, Any]) -> None:
        for viewer in self.viewers:
            viewer.tell(news)

    def close_opening(self) -> None:
        """Remove the file that leads the browser here."""
        close_opening(self.opening)
        self.opening = None

    async def abandoned(self) -> None:
        """Return when the run is over and no viewer is left."""
        await self.ended.wait()
        patience = FIRST_VIEWER_S
        while patience > 0.0:
            await asyncio.sleep(0.5)
            patience = LAST_VIEWER_S if self.viewers else min(patience, LAST_VIEWER_S if self.seen else patience) - 0.5


def _control(given: Mapping[str, Any]) -> Control:
    full = _number(given.get("full", 1.0))
    return Control(given["variable"], given["control"], full, tuple(float(v) for v in given.get("values", ())))


def _number(quantity: Any) -> float:
    """Return the value of a constant quantity; NaN for one with variables."""
    if isinstance(quantity, dict) and "product" in quantity:
        return float(np.prod([_number(part) for part in quantity["product"]]))
    if isinstance(quantity, dict) and "sum" in quantity:
        return float(np.sum([_number(part) for part in quantity["sum"]]))
    return float(quantity) if isinstance(quantity, (int, float)) else float("nan")


def _routes(hub: Hub) -> list[Route | WebSocketRoute]:
    async def description(_: Request) -> Response:
        await hub.begun.wait()
        if hub.replay is None:
            return PlainTextResponse("the run failed before it began; the terminal says why", status_code=503)
        return Response(json.dumps(finite(hub.description()), separators=(",", ":")), media_type="application/json")

    async def time(_: Request) -> Response:
        # a page requests the times before it knows that the run is live; they then come with the rows
        return Response(status_code=204)

    return [Route("/description", description), Route("/time", time), WebSocketRoute("/live", hub.connected)]


async def _serve(link: socket.socket, listening: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=link, limit=LONGEST_LINE)
    about = json.loads(await reader.readline())
    hub = Hub(writer, about)
    cookie = cookie_name(listening.getsockname()[1])
    server = uvicorn.Server(configuration(guarded(_routes(hub), hub.folder, about["token"], cookie)))

    async def end() -> None:
        await hub.abandoned()
        server.should_exit = True

    tasks = [asyncio.create_task(work) for work in (hub.read(reader), hub.dead_man(), end())]
    try:
        await server.serve(sockets=[listening])
    finally:
        hub.close_opening()
        for task in tasks:
            task.cancel()


def main(arguments: list[str]) -> None:
    """Serve the run behind the first socket at the second one; both are given as numbers of open files."""
    link, listening = (socket.socket(fileno=int(number)) for number in arguments)
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(link, listening))


if __name__ == "__main__":
    main(sys.argv[1:])
