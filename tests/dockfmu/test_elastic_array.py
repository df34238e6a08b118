"""The named elastic array as users treat a system: a campaign, a check of its FMU, a run that is interrupted."""

import numpy as np
import pytest

import dockfmu
from tests.dockfmu.command_line import run_system, status_of

pytestmark = pytest.mark.slow

SYSTEM, STOP = "elastic_array", 2.0
ENERGY, BENT, STIFFNESS = (
    "craft.elastic.panel1.strain_energy",
    "craft.node.panel4_node2.displacement",
    "craft.parameters.joint.root.angle.stiffness",
)


def alone(values):
    """Return (largest strain energy, last deflection) of a run by itself."""
    run = dockfmu.load(SYSTEM, values).run(stop=STOP, record=[ENERGY, f"{BENT}[1]"], every=1)
    return run[ENERGY].max(), run[f"{BENT}[1]"][-1]


def test_a_campaign_varies_what_bends_the_panels(tmp_path):
    """Each run is the one that the same values give alone, and another spring bends them differently."""
    content = {
        "name": "panels", "system": SYSTEM, "runs": 6, "seed": 3, "run": {"stop": STOP}, "refined": 0.0,
        "vary": [{"name": STIFFNESS, "law": "uniform", "low": 0.05, "high": 0.4}],
        "keep": {"peaks": False},
        "measures": {"energy": {"signal": ENERGY}, "bent": {"signal": f"{BENT}[1]", "kind": "final"}},
    }  # fmt: skip
    campaign = dockfmu.Campaign(content, tmp_path / "out")
    table = campaign.run(workers=2, answer=False).set_index("index")
    assert len(table) == 6
    for k in (0, 5):
        assert (table.loc[k, "energy"], table.loc[k, "bent"]) == alone(campaign.values(k))
    assert table["energy"].max() > 1.1 * table["energy"].min() > 1e-4


def test_its_fmu_is_valid(capsys):
    system = dockfmu.load(SYSTEM)
    assert status_of("validate", system.structure.elements["craft"].file) == 0, capsys.readouterr().out


def test_an_interrupted_run_goes_on_to_the_bit(tmp_path):
    """The state holds the modes of the panels, in the middle of their vibration."""
    whole = run_system(tmp_path / "whole", SYSTEM, "--stop", STOP, "--no-report")
    run_system(tmp_path / "part", SYSTEM, "--stop", 1.0, "--no-report")
    file = tmp_path / "part" / "run.checkpoint"
    rest = run_system(tmp_path / "rest", SYSTEM, "--stop", STOP, "--no-report", "--resume", file)
    at = np.searchsorted(whole.results.time, rest.results.time[1:])
    assert at[-1] == len(whole.results.time) - 1
    for name in whole.results.variables:
        assert np.array_equal(whole.results[name][at], rest.results[name][1:]), name
    assert np.abs(rest.results[BENT]).max() > 1e-7
