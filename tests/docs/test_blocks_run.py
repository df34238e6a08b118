"""Every block of the pages that are no guides is run too, in the order of the page, shortened where it would take long.

A page's set-up makes the files that its reader has; SHORTER says what makes it cheap. Nothing is left out.
"""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import dockfmu
from dockfmu.cli import main
from dockfmu.master.errors import MasterError
from tests.dockfmu.view.browser import CHROMIUM, served

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
UDP = """#!{python}
import socket, sys
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(sys.stdin.buffer.read(), (sys.argv[-2], int(sys.argv[-1])))
"""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


STREAM, RECEIVE = free_port(), free_port()

SHORTER = {
    "campaigns": {
        "--workers 2 -o build/atv": "--workers 1 -o build/atv",
        "--runs 2000": "--runs 4",
        "--index 417": "--index 2",
        "runs=1000, workers=2": "runs=4, workers=1",
        "(417)": "(2)",
    },
    "fmus": {"--stop 30 ": "--stop 0.3 ", "--stop 40": "--stop 0.4"},
    "linearise": {
        "--at 20 --count 8": "--at 0.02 --count 2",
        # a whole system is what the first command takes
        '"airlock_era", 20.0, count=8, outputs=["manipulator.relative.position"]': (
            '"build/fmus/Spacecraft.fmu", count=2, outputs=["body.position"]'
        ),
    },
    "live": {
        "dockfmu run atv_probe_cone --realtime": "dockfmu run atv_probe_cone --no-report --stop 0.5 --realtime",
        "5555": STREAM,
        "5556": RECEIVE,
    },
    "interoperability": {
        # tests/fmus builds for the other platforms, which takes minutes
        "dockfmu build --platform linux64,win64,aarch64-linux,darwin64,aarch64-darwin": "dockfmu build Oscillator",
        "dockfmu build --platform linux64,sources": "dockfmu build Oscillator --platform linux64,sources",
        "python -m dockfmu.conformance": "python -m dockfmu.conformance build/fmus/Oscillator.fmu",
        "python -m dockfmu.fmus.crosscheck": "python -m dockfmu.fmus.crosscheck Oscillator",
    },
    "view": {
        "--from 2.5": "--from 0.2 --size 320x180",
        "--from 1.5 --to 5 --speed 0.5 --size 1920x1080": "--from 0.1 --to 0.3 --speed 0.5 --size 320x180",
        "--ground floor": "--ground floor --to 0.2 --speed 1 --size 320x180",
        "dockfmu.seek(2.37)": "dockfmu.seek(0.2)",
    },
}


def run(*words):
    status = main(list(words))
    # a shortened run may end before its outcome is decided
    assert status in ((0, 3) if words[0] == "run" else (0,)), shlex.join(words)


@contextmanager
def in_background(words):
    """Run a command of dockfmu in another process, which must end by itself."""
    process = subprocess.Popen([sys.executable, "-m", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        yield process
        _, said = process.communicate(timeout=120)
        assert process.returncode in (0, 3), said.decode()
    finally:
        process.kill()


def oscillator_system():
    system = dockfmu.System("docking")
    system.add("craft", dockfmu.build("Oscillator"))
    return system


def campaigns():
    """Copy the example, with runs of a third of a second and fewer of them."""
    text = (ROOT / "docs" / "examples" / "atv_campaign.toml").read_text(encoding="utf-8")
    for long, short in (('"15 s"', '"0.3 s"'), ("runs = 1000", "runs = 3"), ("cells = 4", "cells = 2"),
                        ("divisions = 2", "divisions = 1"), ("refined = 0.01", "refined = 0.0")):  # fmt: skip
        assert long in text
        text = text.replace(long, short)
    Path("docs/examples").mkdir(parents=True)
    Path("docs/examples/atv_campaign.toml").write_text(text, encoding="utf-8")


def fmus():
    oscillator_system().write("docking.ssp")
    return {"system": oscillator_system()}


def linearise():
    run("build", "Spacecraft")


def live():
    return {}


def interoperability():
    run("build", "Spacecraft")


def view():
    run("run", "atv_probe_cone", "--stop", "0.3", "--no-report")
    run("run", "mim1_ssrms_nrt74", "--stop", "0.2", "--no-report")


SETUP = {function.__name__: function for function in (campaigns, fmus, linearise, live, interoperability, view)}


def blocks(page):
    """Yield the language and the content of each block of a page, shortened."""
    text = (ROOT / "docs" / "guide" / f"{page}.md").read_text(encoding="utf-8")
    for long, short in SHORTER[page].items():
        assert long in text, long
        text = text.replace(long, short)
    for match in BLOCK.finditer(text):
        yield match[1], match[2]


def commands(content):
    """Yield the words of each command of a shell block, `python -m dockfmu` as dockfmu."""
    for line in content.replace("\\\n", " ").splitlines():
        if line.partition(" #")[0].strip():
            yield line


def in_shell(line, folder):
    """Run a line as a shell does, with the programs that a reader may have: python, and nc for a datagram."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    if shutil.which("nc") is None:
        (tools / "nc").write_text(UDP.format(python=sys.executable))
        (tools / "nc").chmod(0o755)
    path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", [page for page in SETUP if page not in ("live", "view")])
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch, capfd):
    if page == "campaigns":
        pytest.importorskip("pandas", reason="pip install dockfmu[campaign]")
    monkeypatch.chdir(tmp_path)
    names = {"dockfmu": dockfmu, **(SETUP[page]() or {})}
    done = 0
    for language, content in blocks(page):
        if language == "python":
            exec(compile(content, page, "exec"), names)
        elif language == "sh":
            for line in commands(content):
                words = shlex.split(line, comments=True)
                if words[0] == "dockfmu":
                    run(*words[1:])
                else:
                    in_shell(line, tmp_path)
        else:
            assert language == "text", f"a block of {language} that nothing runs"
            continue
        done += 1
    assert done >= 2


def test_the_blocks_of_the_page_on_live_runs_run(tmp_path, monkeypatch, capfd):
    """A stream is read, and a datagram sent, while the command before it runs."""
    monkeypatch.chdir(tmp_path)
    kinds = [(language, content) for language, content in blocks("live") if language in ("sh", "python")]
    assert [language for language, _ in kinds] == ["sh", "sh", "python", "sh"]
    for line in commands(kinds[0][1]):
        run(*shlex.split(line, comments=True)[1:])
    (stream,) = commands(kinds[1][1])
    with in_background(shlex.split(stream)):
        read = threading.Event()

        def subscribe():
            while not read.is_set():
                try:
                    exec(compile(kinds[2][1], "live", "exec"), {})
                    read.set()
                except MasterError:
                    read.wait(0.1)  # the port is not open yet

        thread = threading.Thread(target=subscribe, daemon=True)
        thread.start()
        thread.join(120)
    assert read.is_set()
    rows = capfd.readouterr().out.splitlines()
    assert len([line for line in rows if re.fullmatch(r"[\d.e-]+ [\d.e-]+", line)]) > 5, rows[-5:]
    receive, send = commands(kinds[3][1])
    with in_background(shlex.split(receive)) as process:
        while process.poll() is None:
            in_shell(send, tmp_path)
            time.sleep(0.2)
    summary = json.loads((tmp_path / "build" / "results" / "atv_probe_cone" / "summary.json").read_text())
    assert summary["network"]["datagrams"] > summary["network"]["datagrams_refused"]


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH")
def test_the_blocks_of_the_page_on_the_view_run(tmp_path, monkeypatch, capfd):
    pytest.importorskip("playwright", reason="pip install dockfmu[dev]")
    monkeypatch.chdir(tmp_path)
    view()
    first, *more = [(language, content) for language, content in blocks("view")]
    (show,) = commands(first[1])
    with served(*shlex.split(show)[2:]) as address:
        for language, content in more:
            if language == "python":
                assert content.count("http://127.0.0.1:40123/?token=...") == 1
                shown = content.replace("http://127.0.0.1:40123/?token=...", address).replace(
                    "/usr/bin/chromium", CHROMIUM
                )
                exec(compile(shown, "view", "exec"), {})
            elif language == "sh":
                for line in commands(content):
                    run(*shlex.split(line, comments=True)[1:])
    for name in ("impact.png", "impact.mp4", "berthing.webm", "docking.html", "docking.glb"):
        assert (tmp_path / name).stat().st_size > 1000
