"""Pictures and films of a run for slides, drawn by the page in a headless Chromium."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import uvicorn

from dockfmu.base.files import WriteError, write_file
from dockfmu.view.address import ViewError, address, cookie_name, listen, new_token
from dockfmu.view.containers import FilmFrame, mp4, webm
from dockfmu.view.headless import BrowserError, Tab, tab
from dockfmu.view.recording import Replay
from dockfmu.view.server import application, configuration

USUAL_S = 15.0
"""Length of a film of a whole run, s."""

MOST_FRAMES = 20_000
CODECS = {".webm": ("vp09.00.51.08", "VP9"), ".mp4": ("avc1.42E034", "H.264")}


@dataclass(frozen=True)
class Shot:
    """Describe what to show, and how.

    Attributes
    ----------
    scene : str
        Element whose contact is shown, or "craft" for all craft; "" for the first scene.
    camera : str
        As `dockfmu.look` of the page takes it: orbit, overview, "aim ELEMENT FRAME", ...
    size : tuple of int
        Width and height in pixels.
    page : bool
        Whether to show the whole page, and not only the scene.
    start, stop : float, optional
        First and last time, s; those of the run by default.
    speed : float, optional
        Seconds of the run in a second of the film; by default a film takes 15 s.
    rate : int
        Frames per second.
    ground : str
        "", "floor" or "stars".
    """

    scene: str = ""
    camera: str = "orbit"
    size: tuple[int, int] = (1280, 720)
    page: bool = False
    start: float | None = None
    stop: float | None = None
    speed: float | None = None
    rate: int = 25
    ground: str = ""


def write_picture(replays: Sequence[Replay], file: Path, shot: Shot) -> Path:
    """Write the picture at the start of the shot, as PNG. Raises ViewError."""
    if file.suffix.lower() != ".png":
        raise ViewError(f"{file}: the name of a picture ends in .png")
    with _shown(replays, shot) as shown:
        shown.evaluate(f"dockfmu.seek({_times(replays[0], shot)[0]!r})")
        return write_file(file, base64.b64decode(shown.picture()))


def write_film(
    replays: Sequence[Replay], file: Path, shot: Shot, progress: Callable[[str], None] = lambda _: None
) -> Path:
    """Write a film: .webm (VP9), .mp4 (H.264), or a folder of PNG files for a name without an ending.

    Raises ViewError, BrowserError where Chromium is missing or cannot encode, WriteError.
    """
    kind = file.suffix.lower()
    if kind not in ("", *CODECS):
        raise ViewError(f"{file}: a film is a .webm, an .mp4, or a folder of PNG files, which has no ending")
    start, stop = _times(replays[0], shot)
    speed = shot.speed or max(stop - start, 1e-9) / USUAL_S
    count = max(2, round((stop - start) / speed * shot.rate) + 1)
    if count > MOST_FRAMES:
        raise ViewError(f"{count} frames; at most {MOST_FRAMES}: raise --speed, or shorten it with --from and --to")
    times = [start + (stop - start) * k / (count - 1) for k in range(count)]
    with _shown(replays, shot) as shown:
        if kind and not shown.evaluate(_begin(CODECS[kind][0], shot)):
            other = "name a .webm, or a folder for PNG files" if kind == ".mp4" else "name a folder for PNG files"
            raise BrowserError(f"this Chromium cannot encode {CODECS[kind][1]}, which {file.name} needs; {other}")
        frames: list[FilmFrame] = []
        for k, time in enumerate(times):
            shown.evaluate(f"dockfmu.seek({time!r})")
            picture = shown.picture()
            if kind:
                frames += _frames(shown.evaluate(f"film.add({json.dumps(picture)}, {k}, {shot.rate})"))
            else:
                _write_frame(file, k, picture)
            if k % shot.rate == 0:
                progress(f"{file}: frame {k + 1} of {count} ({100 * k // count}%)")
        if not kind:
            return file
        rest, decoder = shown.evaluate("film.end()")
        frames += _frames(rest)
    width, height = shot.size
    if kind == ".webm":
        return write_file(file, webm(frames, width, height, shot.rate))
    return write_file(file, mp4(frames, width, height, shot.rate, base64.b64decode(decoder)))


def _begin(codec: str, shot: Shot) -> str:
    width, height = shot.size
    call = f"window.film.begin({codec!r}, {width}, {height}, {shot.rate})"
    return f"(async () => {{ window.film = await import('/page/film.js'); return {call}; }})()"


def _frames(content: Sequence[Sequence[Any]]) -> list[FilmFrame]:
    return [FilmFrame(base64.b64decode(data), bool(key)) for key, _, data in content]


def _write_frame(folder: Path, number: int, picture: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{folder}: cannot be written ({error.strerror or error})") from error
    write_file(folder / f"frame-{number:05d}.png", base64.b64decode(picture))


def _times(replay: Replay, shot: Shot) -> tuple[float, float]:
    """Return the first and last time of a shot within the run. Raises ViewError for an empty span."""
    first, last = float(replay.time[0]), float(replay.time[-1])
    start = first if shot.start is None else shot.start
    stop = last if shot.stop is None else shot.stop
    if not first <= start <= last or not start <= stop or start > last:
        raise ViewError(f"from {start:g} to {stop:g} s: the run is recorded from {first:g} to {last:g} s")
    return start, min(stop, last)


@contextmanager
def _shown(replays: Sequence[Replay], shot: Shot) -> Iterator[Tab]:
    """Serve a recording and yield the page that shows it as the shot says."""
    # VP9 and H.264 halve the resolution of colours
    if any(length % 2 or not 64 <= length <= 4096 for length in shot.size):
        raise ViewError(f"size {shot.size[0]}x{shot.size[1]}: both must be even, from 64 to 4096")
    with listen(0) as listening:
        number, token = listening.getsockname()[1], new_token()
        app = application(replays, replays[0].folder, token, cookie_name(number))
        server = uvicorn.Server(configuration(app))
        serving = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        serving.start()
        try:
            with tab() as shown:
                shown.open(f"{address(number, token)}#{'page' if shot.page else 'picture'}", *shot.size)
                shown.wait("document.querySelector('html[data-settled], html[data-failed]') !== null")
                if not shown.evaluate("'ready' in document.documentElement.dataset"):
                    raise BrowserError(str(shown.evaluate("document.querySelector('main').innerText")))
                _choose(shown, shot)
                yield shown
        finally:
            server.should_exit = True
            serving.join(5.0)


def _choose(shown: Tab, shot: Shot) -> None:
    """Choose scene, camera and ground. Raises ViewError for those that the run does not have."""
    scenes = shown.evaluate("[...document.getElementById('view').options].map(option => option.value)")
    if shot.scene and shot.scene not in scenes:
        raise ViewError(f"there is no scene {shot.scene}; there are {', '.join(scenes)}")
    if shot.scene:
        shown.evaluate(f"dockfmu.view({json.dumps(shot.scene)})")
    cameras = shown.evaluate("[...document.getElementById('camera').options].map(option => option.value)")
    if shot.camera not in cameras:
        raise ViewError(f"there is no camera {shot.camera!r}; there are {', '.join(cameras)}")
    shown.evaluate(f"dockfmu.look({json.dumps(shot.camera)})")
    shown.evaluate(f"dockfmu.show({json.dumps({'ground': shot.ground})})")
    trouble = shown.evaluate("document.getElementById('trouble').textContent")
    if trouble:
        raise BrowserError(str(trouble))
