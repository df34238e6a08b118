"""A sound run, from which the fuzz tests craft others."""

from __future__ import annotations

from pathlib import Path

from dockfmu.cli import main
from tests.dockfmu.small_systems import write_pair


def sound_run(folder: Path) -> Path:
    """Run two coupled oscillators with results and a checkpoint in `folder`; return the folder."""
    import dockfmu

    folder.mkdir(parents=True)
    bundle = write_pair(dockfmu.build("Oscillator"), folder)
    status = main(["run", str(bundle), "-o", str(folder), "--set", "first.parameters.initial_position=0.9"])
    assert status == 0
    bundle.unlink()
    return folder
