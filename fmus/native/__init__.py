"""Native FMUs: kernels compiled ahead of time, a generic C shim, one compiler (zig) for every platform."""

from pathlib import Path

SHIM = Path(__file__).parent / "shim"
"""Folder of the C sources of the functions of FMI 2.0, the same for every component."""
