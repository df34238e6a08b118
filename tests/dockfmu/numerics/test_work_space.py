"""Whole dockings with NaN in the temporaries of an FMU at each call of its kernels, and its constants monitored."""

import h5py
import pytest

from dockfmu.fmus import catalogue
from tests.dockfmu.command_line import run_system
from tests.fmus.native.poisoned import poisoned

pytestmark = pytest.mark.slow

FMUS = {
    ("atv_probe_cone", 10): {"mechanism": "ProbeMechanism"},
    ("atv_probe_cone_external", 3): {"mechanism": "ProbeMechanismExternal", "contact": "ContactProbeCone"},
    ("expert_peripheral_5t", 30): {"mechanism": "PeripheralMechanism"},
    ("central_impact_peripheral_25t_external", 3): {"contact": "ContactRing"},
    ("hydraulic_ring_5t", 5): {"mechanism": "HydraulicRingMechanism"},
    ("airlock_era", 10): {"contact": "ContactAirlock"},
    ("radiator_era", 10): {"contact": "ContactRadiator"},
}
"""Element -> component of the catalogue, by (system, end of the run in s)."""


def rows(run):
    """Return the bytes of all recorded signals by name of the dataset."""
    found = {}

    def keep(name, item):
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiub":
            found[name] = item[()].tobytes()

    with h5py.File(run.folder / "results.h5") as file:
        file.visititems(keep)
    return found


@pytest.mark.parametrize(("system", "stop"), FMUS)
def test_what_is_not_saved_is_written_before_it_is_read(system, stop, tmp_path):
    options = (system, "--stop", stop, "--no-report")
    elements = FMUS[system, stop]
    swaps = []
    for element, name in elements.items():
        component = catalogue.component(name)
        assert sum(span.count for span in component.record.changing) < 0.8 * component.record.state_size
        swaps += ["--swap", f"{element}={poisoned(component, tmp_path / element)}"]
    clean = rows(run_system(tmp_path / "clean", *options))
    assert rows(run_system(tmp_path / "poisoned", *options, *swaps)) == clean
    assert len(clean) > 20
