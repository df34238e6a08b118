"""Cost of the page in the browser (opening, frames per second, memory), and of a live view for a run.

`python -m benchmarks view FOLDER` replays the run in FOLDER in a headless Chromium that renders in software.
`python -m benchmarks view --live SYSTEM` runs a system with and without `--view` in turn and compares the CPU time of
the run's process; it also counts the CPU time for sending rows within it, which is meaningful on a busy machine too.
`python -m benchmarks view --operate SYSTEM` flies a system and measures the time from a key press to the moved picture.
Times in the browser are meaningful on a quiet machine only: the load is printed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dockfmu.commands.arguments import DONE, NO_SUCCESS

OPENINGS, ROUNDS = 5, 3
PLAYED_S = 4.0
PRESSES = 200

PRESS = """async ({presses, variable}) => {
  // the bar of the stick is drawn with its recorded value: the row in which the key acts has come back from the run
  const bar = () => dockfmu.drawn().devices.find(item => item.variable === variable).value;
  const picture = () => new Promise(resolve => requestAnimationFrame(resolve));
  const key = type => document.body.dispatchEvent(new KeyboardEvent(type, {code: 'KeyW', bubbles: true}));
  const full = await (async () => { key('keydown'); while (!bar()) await picture(); return bar(); })();
  const found = [], first = performance.now();
  let pictures = 0;
  for (let k = 0; k < presses; k++) {
    const wanted = k % 2 ? full : 0, began = performance.now();
    key(k % 2 ? 'keydown' : 'keyup');
    do { await picture(); pictures++; } while (bar() !== wanted);
    found.push(performance.now() - began);
    // at any phase of the rows and pictures
    const pause = performance.now() + 40 + 60 * Math.random();
    while (performance.now() < pause) { await picture(); pictures++; }
  }
  return [found.sort((a, b) => a - b), pictures / (performance.now() - first) * 1e3]; }"""
"""Presses a key repeatedly; gives the times in ms to the frame that shows it, and the frames per second meanwhile."""


SEEKS = """async camera => {
  await dockfmu.look(camera);
  await new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  // a pixel is read back, so that the picture has been drawn
  const drawn = [...document.querySelectorAll('canvas')].map(one => one.getContext('webgl2')).find(one => one);
  const pixel = new Uint8Array(4), found = [];
  for (let k = 0; k < 200; k++) {
    const began = performance.now();
    dockfmu.seek(Math.random() * dockfmu.duration);
    if (camera === 'orbit') drawn.readPixels(0, 0, 1, 1, drawn.RGBA, drawn.UNSIGNED_BYTE, pixel);
    found.push(performance.now() - began);
  }
  return found.sort((a, b) => a - b); }"""
"""Seeks at random; gives the times in ms to the frame."""

OPENED = """window.opened = {};
new MutationObserver(() => {
  const known = document.documentElement?.dataset ?? {};
  for (const name of ['ready', 'settled']) if (name in known) opened[name] ??= performance.now();
}).observe(document, {attributes: true, subtree: true, childList: true});"""
"""Notes when the first picture is drawn, and when the scene in three dimensions is: asking would wait for both."""


def chromium(play: Any) -> Any:
    """Return a headless Chromium of the system."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    return play.chromium.launch(executable_path=found, headless=True)


def replay(folder: Path) -> None:
    """Print how a replay of a run opens and plays."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "dockfmu", "view", str(folder), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as play:
        try:
            assert server.stdout is not None
            address = re.search(r"http://\S+", server.stdout.readline())
            assert address is not None
            browser, ready, settled = chromium(play), [], []
            for _ in range(OPENINGS):
                context = browser.new_context(viewport={"width": 1280, "height": 720})
                context.add_init_script(OPENED)
                page = context.new_page()
                page.goto(address[0])
                page.wait_for_selector("html[data-settled]", state="attached", timeout=120_000)
                answered = page.evaluate("performance.getEntriesByType('navigation')[0].responseStart")
                ready.append((page.evaluate("opened.ready") - answered) / 1e3)
                settled.append((page.evaluate("opened.settled") - answered) / 1e3)
            rows = page.evaluate("[dockfmu.duration, dockfmu.rows(dockfmu.curves[0])[0].length]")
            print(f"run of {rows[0]:.0f} s, {rows[1]} rows")
            print(f"picture after the server's answer: {', '.join(f'{t:.2f}' for t in ready)} s")
            print(f"with three dimensions: {', '.join(f'{t:.2f}' for t in settled)} s")
            for camera, name in (("side", "2-D"), ("orbit", "with 3-D")):
                page.evaluate("camera => dockfmu.look(camera)", camera)
                for speed in (1, 10):
                    page.evaluate("speed => { dockfmu.seek(0); dockfmu.play(speed); }", speed)
                    page.wait_for_timeout(1000 * PLAYED_S)
                    print(f"{name}, {speed:2d} times real time: {page.evaluate('dockfmu.fps')} pictures/s")
                page.evaluate("dockfmu.pause()")
            for camera, name in (("side", ""), ("orbit", ", with the 3-D picture")):
                steps = page.evaluate(SEEKS, camera)
                print(f"seek to anywhere{name}: median {statistics.median(steps):.1f} ms, 99 % {steps[197]:.1f} ms")
            heap = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
            print(f"JavaScript heap as Chromium reports it: {heap:.0f} MB")
            browser.close()
        finally:
            server.terminate()


def run(system: str, folder: str, *options: str) -> float:
    """Return the CPU time of the process of a run, s."""
    command = [sys.executable, "-m", "dockfmu", "run", system, "-o", folder, "--no-report", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if (ended := os.waitstatus_to_exitcode(status)) not in (DONE, NO_SUCCESS):
        raise SystemExit(f"{' '.join(command)}: status {ended}")
    return usage.ru_utime + usage.ru_stime


def sending(system: str, stop: float, folder: str) -> tuple[float, float]:
    """Return the CPU time of a run with a live view in this process, s, and the part of it for sending rows."""
    from dockfmu.master.observers.feed import Feed
    from dockfmu.system import System
    from dockfmu.watch.live import Live

    spent = []

    def timed(function: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: Any) -> None:
            began = time.thread_time()
            function(*arguments)
            spent.append(time.thread_time() - began)

        return call

    Feed.sample, Feed._send = timed(Feed.sample), timed(Feed._send)  # type: ignore[method-assign]
    loaded, began = System.load(system), time.process_time()
    loaded.record(folder, stop=stop, live=Live(view=0), report=False)
    return time.process_time() - began, sum(spent)


def live(system: str, stop: str) -> None:
    """Print the cost of a live view: the same run without and with it, in turn."""
    without, viewed = [], []
    with tempfile.TemporaryDirectory(prefix="dockfmu-view-") as folder:
        for _ in range(ROUNDS):
            without.append(run(system, folder, "--stop", stop))
            viewed.append(run(system, folder, "--stop", stop, "--view", "--no-browser"))
            time.sleep(4.0)
        whole, sent = sending(system, float(stop), folder)
    more = statistics.median(b - a for a, b in zip(without, viewed, strict=True))
    usual = statistics.median(without)
    print(f"{system} to {stop} s: {usual:.2f} s of CPU, with --view {more:+.2f} s ({100 * more / usual:+.1f} %)")
    print(f"sending rows within it: {sent:.3f} of {whole:.2f} s ({100 * sent / whole:.1f} %)")


def operate(system: str) -> None:
    """Print the times from an operator's key to the moved picture."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory(prefix="dockfmu-view-") as folder, sync_playwright() as play:
        command = [sys.executable, "-m", "dockfmu", "run", *system.split(), "-o", folder, "--no-report"]
        command += ["--view", "--realtime", "--no-browser"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                address = next(found[0] for line in process.stderr if (found := re.search(r"http://127\S+", line)))
                # a pipe that nobody reads would fill up, and the run would wait
                threading.Thread(target=process.stderr.read, daemon=True).start()
                browser = chromium(play)
                page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
                page.goto(address)
                page.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
                page.click("#take")
                # no wait_for_function: the page forbids evaluating strings as code
                while not page.evaluate("dockfmu.station.state().mine"):
                    page.wait_for_timeout(50)
                sticks = "dockfmu.drawn().devices.filter(item => item.title.endsWith('Hand controllers'))"
                variable = page.evaluate(f"{sticks}[0].variable")
                times, pictures = page.evaluate(PRESS, {"presses": PRESSES, "variable": variable})
                print(f"{system}: {PRESSES} keys, {pictures:.0f} pictures/s; from the key to the picture that shows it")
                worst, late = times[-1], sum(t > 100.0 for t in times)
                print(
                    f"median {statistics.median(times):.0f} ms, 99 % {times[int(0.99 * PRESSES)]:.0f} ms, "
                    f"worst {worst:.0f} ms; {late} above 100 ms"
                )
                page.evaluate("dockfmu.station.end()")
                browser.close()
                process.wait(60.0)
            finally:
                process.terminate()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="a folder of results")
    parser.add_argument("--live", metavar="SYSTEM", help="compare runs of a system with and without --view")
    parser.add_argument("--operate", metavar="SYSTEM", help="fly a system, given with its options")
    parser.add_argument("--stop", default="100", help="end of these runs, s; default: 100")
    chosen = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    if chosen.folder is not None:
        replay(chosen.folder)
    if chosen.live is not None:
        live(chosen.live, chosen.stop)
    if chosen.operate is not None:
        operate(chosen.operate)


if __name__ == "__main__":
    main()
