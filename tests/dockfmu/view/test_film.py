"""Pictures and films for slides: the page in a headless Chromium, and the files as a browser plays them."""

import base64
import io
from types import SimpleNamespace

import numpy as np
import pytest

from dockfmu.cli import main
from dockfmu.system import System
from dockfmu.view.headless import BrowserError, chromium

PLAYED = """async ([kind, data]) => { const video = document.createElement('video');
    const wait = name => new Promise((resolve, reject) => {
      video.addEventListener(name, resolve, {once: true});
      video.onerror = () => reject(new Error(video.error.message)); });
    video.muted = true; video.src = `data:${kind};base64,${data}`;
    await wait('loadeddata'); video.currentTime = 0.3; await wait('seeked');
    const canvas = Object.assign(document.createElement('canvas'), {width: 320, height: 180});
    const context = canvas.getContext('2d'); context.drawImage(video, 0, 0);
    const pixels = [...context.getImageData(0, 0, 320, 180).data];
    return [video.duration, video.videoWidth, video.videoHeight, pixels]; }"""


def test_a_missing_browser_is_named_with_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BrowserError, match="apt-get install chromium"):
        chromium()
    monkeypatch.setenv("DOCKFMU_CHROMIUM", "/nowhere")
    with pytest.raises(BrowserError, match="DOCKFMU_CHROMIUM=/nowhere cannot be run"):
        chromium()


@pytest.mark.slow
def test_pictures_and_films_show_the_run_at_their_times(central_impact, browser, tmp_path, capsys):
    from PIL import Image

    folder = str(central_impact.folder)
    shot = ["--size", "320x180", "--from", "1.9", "--fps", "10"]
    assert main(["view", folder, "--picture", str(tmp_path / "p.png"), *shot]) == 0
    picture = np.asarray(Image.open(tmp_path / "p.png").convert("RGB"), float)
    assert picture.shape == (180, 320, 3)
    assert picture.std() > 15
    page = browser.new_page()
    for name, kind in (("film.webm", "video/webm"), ("film.mp4", "video/mp4")):
        more = ["--to", "2.3", "--speed", "1", "--film", str(tmp_path / name)]
        assert main(["view", folder, *shot, *more]) == 0
        data = base64.b64encode((tmp_path / name).read_bytes()).decode()
        duration, width, height, pixels = page.evaluate(PLAYED, [kind, data])
        # 0.4 s of the run at real time and 10 frames a second: both ends have a frame
        assert duration == pytest.approx(0.5, abs=0.02)
        assert (width, height) == (320, 180)
        shown = np.array(pixels, float).reshape(180, 320, 4)[..., :3]
        # the frame at 0.3 s of the film is the run at 2.2 s
        assert main(["view", folder, "--picture", str(tmp_path / "q.png"), "--size", "320x180", "--from", "2.2"]) == 0
        wanted = np.asarray(Image.open(io.BytesIO((tmp_path / "q.png").read_bytes())).convert("RGB"), float)
        assert np.abs(shown - wanted).mean() < 6.0
        assert np.abs(shown - wanted).mean() < 0.7 * np.abs(picture - wanted).mean() + 4.0
    # a name without an ending is a folder of frames, for any program that makes films: 0.2 s are three frames
    assert main(["view", folder, *shot, "--to", "2.1", "--speed", "1", "--film", str(tmp_path / "frames")]) == 0
    frames = sorted((tmp_path / "frames").iterdir())
    assert [frame.name for frame in frames] == [f"frame-{k:05d}.png" for k in range(3)]
    first, *_, last = (np.asarray(Image.open(frame).convert("RGB"), float) for frame in frames)
    assert first.shape == (180, 320, 3)
    assert np.abs(first - picture).mean() < 1.0 < np.abs(first - last).max()
    capsys.readouterr()
    for wrong, says in (
        (["--film", str(tmp_path / "film.avi")], "a film is a .webm, an .mp4, or a folder"),
        (["--picture", str(tmp_path / "p.png"), "--from", "1e4"], "the run is recorded from"),
        (["--picture", str(tmp_path / "p.png"), "--camera", "aim nobody x"], "there is no camera 'aim nobody x'"),
        (["--picture", str(tmp_path / "p.png"), "--size", "321x180"], "both must be even"),
    ):
        assert main(["view", folder, *wrong]) != 0
        assert says in capsys.readouterr().err


def test_a_package_whose_first_step_fails_is_not_shown_and_the_reason_is_told(pair, monkeypatch, tmp_path, capsys):
    """A full temporary directory, for example, where the recording is then missing or damaged."""
    failed = SimpleNamespace(summary={"status": "failed", "message": "No space left on device"})
    monkeypatch.setattr(System, "record", lambda *_, **__: failed)
    assert main(["view", str(pair), "--picture", str(tmp_path / "p.png")]) == 2
    assert "pair.ssp: its first step failed: No space left on device" in capsys.readouterr().err
