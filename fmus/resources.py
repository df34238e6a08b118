"""Files of an FMU that fill the tables of its record."""

from __future__ import annotations

import numpy as np

from components.core.component import Component


def resource_files(component: Component) -> dict[str, bytes]:
    """Path in the FMU -> little-endian float64."""
    return {
        f"resources/{place.file}": np.asarray(component.resources[place.file], "<f8").tobytes()
        for place in component.record.resources
    }
