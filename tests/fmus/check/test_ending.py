"""FMUs that ask to end the simulation are checked up to there: they are no faulty ones."""

import pytest

from dockfmu.fmus.check import behaviour, instances
from dockfmu.fmus.check.dependencies import check_derivatives
from dockfmu.fmus.check.subject import BEFORE, STEPS, Subject
from dockfmu.master.fmi.instance import Fmu
from tests.master.fmus.habits import ENDS, STATES

pytestmark = pytest.mark.slow


class Ending(Subject):
    """A subject whose FMU asks for the end at 0.5 s."""

    def running(self):
        made = self.instance()
        made.set({"habit": ENDS})
        made.initialize(self.start)
        return made


@pytest.fixture
def subject(habits):
    with Fmu(habits(STATES)) as fmu:
        yield Ending(fmu)


@pytest.mark.parametrize(("step", "taken"), [(0.01, 49), (0.02, 24), (0.05, 9)])
def test_a_request_to_end_is_told_and_bounds_all_checks(subject, step, taken):
    """`Stair` of the Reference FMUs, FMI 2.0 and 3.0, asks for the end after 9 s; it was called not valid."""
    subject.step = step
    (finding,) = behaviour.check_start(subject)
    assert finding.severity == "warning"
    assert f"asks to end the simulation after {taken} steps" in str(finding)
    assert (subject.most, subject.before) == (taken, (taken - 1) // 2)
    for check in (
        behaviour.check_determinism, behaviour.check_state, behaviour.check_step_size, check_derivatives,
        instances.check_threads,
    ):  # fmt: skip
        # its static sum is a fault that is found; none of the checks steps as far as the end
        assert [str(found) for found in check(subject) if "Discard" in str(found)] == [], check


def test_an_fmu_that_ends_at_once_cannot_be_checked(subject):
    subject.step = 0.2
    (finding,) = behaviour.check_start(subject)
    assert "does not run with its start values" in str(finding)


def test_an_fmu_that_goes_on_is_checked_as_far_as_ever(habits):
    with Fmu(habits(STATES)) as fmu:
        subject = Subject(fmu)
        assert [found for found in behaviour.check_start(subject) if "end" in str(found)] == []
        assert (subject.before, subject.steps) == (BEFORE, STEPS)
