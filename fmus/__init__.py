"""The exporter: components to .fmu files."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dockfmu.fmus.package import build as build


def __getattr__(name: str) -> Any:
    # the catalogue can be read without importing the build tools
    if name == "build":
        from dockfmu.fmus.package import build

        return build
    raise AttributeError(f"module 'dockfmu.fmus' has no attribute {name!r}")
