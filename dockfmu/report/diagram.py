"""The diagram of a system by its name or from an .ssp."""

from __future__ import annotations

from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from dockfmu.base.files import atomic_file
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.declare.packages.unbuilt import opened
from dockfmu.ssp.archive import is_package, read_package
from dockfmu.ssp.diagram import draw
from dockfmu.ssp.from_system import from_system
from dockfmu.ssp.layout import arrange


def save(figure: Figure, file: Path) -> None:
    """Write the figure; text in an SVG stays text, and the same diagram gives the same bytes."""
    undated = {"Date": None} if file.suffix == ".svg" else None
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "dockfmu"}), atomic_file(file) as unfinished:
        figure.savefig(unfinished, metadata=undated)


def diagram(name: str) -> tuple[Figure, str]:
    """Return (figure, name of the system), with the geometry of the .ssp, or that of `ssp/layout.py` if it has none.

    Raises any error of reading the system.
    """
    with TemporaryFolder("diagram") as folder:
        if is_package(name):
            system = read_package(name, folder).description.system
            if not any(element.geometry for element in system.elements):
                system = arrange(system)
        else:
            with opened(name) as (declared, _):
                system = from_system(declared).description.system
        return draw(system), system.name
