"""Packages that carry no plan of ours."""

import pytest
from small_systems import pair_system

from dockfmu.bundle import read_bundle
from dockfmu.plan import Plan
from ssp.model import Annotation
from ssp.packaging import from_system
from ssp.vendors import OMSIMULATOR, OPEN_SIMULATION_PLATFORM
from ssp.write import write_ssp


@pytest.mark.parametrize(
    ("drop", "expected"),
    [((), 0.02), ((OMSIMULATOR,), 0.02), ((OMSIMULATOR, OPEN_SIMULATION_PLATFORM), Plan.step)],
    ids=["both", "libcosim alone", "none"],
)
def test_step_and_stop_are_those_that_the_package_asks_for(oscillator, tmp_path, drop, expected):
    content = from_system(pair_system(oscillator), stop_time=3.0, step=0.02)
    description = content.description
    for annotations in (description.experiment_annotations, description.system.annotations):
        annotations[:] = [annotation for annotation in annotations if annotation.type not in drop]
    _, plan, _, notes = read_bundle(write_ssp(content, tmp_path / "theirs.ssp"), tmp_path / "unpacked")
    assert (plan.step, plan.stop, notes) == (expected, 3.0, [])


def test_a_step_that_is_none_and_another_start_are_told_or_passed_over(oscillator, tmp_path):
    content = from_system(pair_system(oscillator), start_time=5.0)
    content.description.experiment_annotations.append(
        Annotation(OPEN_SIMULATION_PLATFORM, '<o:a xmlns:o="urn:o" baseStepSize="-1"></o:a>')
    )
    _, plan, _, notes = read_bundle(write_ssp(content, tmp_path / "theirs.ssp"), tmp_path / "unpacked")
    assert plan == Plan()
    assert notes == ["its start time 5 s is not taken: runs begin at 0 s"]
