"""Packages without a plan of dockfmu."""

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dockfmu import load
from dockfmu.declare.packages.bundle import ANNOTATION, read_bundle
from dockfmu.declare.plan import Plan
from dockfmu.master.errors import MasterError
from dockfmu.ssp.annotations import OMSIMULATOR, OPEN_SIMULATION_PLATFORM
from dockfmu.ssp.archive import write_ssp
from dockfmu.ssp.from_system import from_system
from dockfmu.ssp.model import Annotation, SspError
from tests.dockfmu.small_systems import PLAN, pair_system


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


@pytest.mark.parametrize("step", ["-1", "0", "nan", "fast"])
def test_a_step_that_is_none_is_refused(oscillator, tmp_path, step):
    content = from_system(pair_system(oscillator))
    content.description.experiment_annotations.append(
        Annotation(OPEN_SIMULATION_PLATFORM, f'<o:a xmlns:o="urn:o" baseStepSize="{step}"></o:a>')
    )
    file = write_ssp(content, tmp_path / "theirs.ssp")
    with pytest.raises(SspError, match=rf"theirs\.ssp: .*the step '{step}' is not a positive number of seconds"):
        read_bundle(file, tmp_path / "unpacked")


def test_another_start_is_told(oscillator, tmp_path):
    content = from_system(pair_system(oscillator), start_time=5.0)
    file = write_ssp(content, tmp_path / "theirs.ssp")
    _, plan, _, notes = read_bundle(file, tmp_path / "unpacked")
    assert plan == Plan()
    assert notes == ["its start time 5 s is ignored: runs begin at 0 s"]
    assert load(file).run(stop=0.1).result.warnings == notes


def test_a_stop_before_the_start_is_refused(oscillator, tmp_path):
    file = write_ssp(from_system(pair_system(oscillator), stop_time=-1.0), tmp_path / "theirs.ssp")
    with pytest.raises(
        SspError, match=r"its default experiment is not the plan of a run.*stop = -1\.0 is not positive"
    ):
        read_bundle(file, tmp_path / "unpacked")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(data=st.data())
@settings(max_examples=300)
def test_no_plan_whatever_gets_past(data):
    """Any annotation gives a plan of the right types or an error that `read_bundle` names."""
    content = json.loads(PLAN.to_json())
    place = content
    while isinstance(place, dict | list) and place:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or data.draw(st.booleans()):
            place[key] = data.draw(JSON)
            break
        place = place[key]
    with contextlib.suppress(AttributeError, KeyError, TypeError, ValueError, MasterError):
        plan = Plan.from_json(json.dumps(content))
        assert plan.step > 0.0
        assert all(isinstance(name, str) for name in (*plan.order, *plan.audited, *plan.supplied))


def test_a_plan_without_end_is_refused(oscillator, tmp_path):
    endless = [Annotation.of_text(ANNOTATION, "[" * 100_000)]
    file = write_ssp(from_system(pair_system(oscillator), annotations=endless), tmp_path / "theirs.ssp")
    with pytest.raises(SspError, match="is not the plan of a run"):
        read_bundle(file, tmp_path / "unpacked")
