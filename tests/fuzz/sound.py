"""A sound run, from which the fuzz tests craft others."""

from __future__ import annotations

from pathlib import Path

from dockfmu.cli import main
from dockfmu.report.files import CHECKPOINT
from tests.dockfmu.small_systems import write_pair


def sound_run(folder: Path) -> Path:
    """Run two coupled oscillators with results and a checkpoint in `folder`; return the folder."""
    import dockfmu

    folder.mkdir(parents=True)
    bundle = write_pair(dockfmu.build("Oscillator"), folder)
    assert main(["run", str(bundle), "-o", str(folder), "--json"]) == 0
    with dockfmu.System.load(bundle).simulate() as simulation:
        simulation.advance(0.5)
        simulation.save(folder / CHECKPOINT)
    return folder
