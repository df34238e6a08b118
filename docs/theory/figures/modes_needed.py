"""Draw the error of the axial force, as an elastic station's sensors tell it, against the modes of the model."""

from __future__ import annotations

import matplotlib.pyplot as plt
from drawing import ACTIVE, save

ERRORS = {0: 129.46, 12: 6.79, 20: 0.92, 30: 0.27}
"""Normalised mean square error in percent by the number of modes: `tests/dockfmu/reconstruct/test_docking_loads.py`."""


def modes_needed() -> None:
    figure, axes = plt.subplots(figsize=(5.6, 3.2), layout="constrained")
    axes.semilogy(list(ERRORS), list(ERRORS.values()), "o-", color=ACTIVE)
    axes.set(xlabel="modes of the station in the model", ylabel="error of the axial force, %")
    save(figure, "modes_needed")


if __name__ == "__main__":
    modes_needed()
