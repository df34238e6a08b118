"""Steps of variable length as systems declare them."""

import pytest

from dockfmu import declaration
from dockfmu.adaptive import Adaptive
from dockfmu.plan import Plan
from dockfmu.run import Request, RequestError, _control
from master.step_control import PowerBonds, StepDoubling
from master.system import System

TABLE = {"tolerance": 1e-3, "shortest": 1e-4, "longest": 0.02, "event_step": 1e-3}


def test_ports_become_bonds_of_force_and_velocity():
    adaptive = Adaptive.from_table(TABLE | {"bonds": [["mechanism.base", "chaser.port[1]"]], "locate": ["a.b"]})
    control = adaptive.control()
    assert isinstance(control.estimate, PowerBonds)
    (bond,) = control.estimate.bonds
    assert bond.efforts[0] == "mechanism.base.force[1]"
    assert bond.flows[5] == "chaser.port[1].angular_velocity[3]"
    assert len(bond.efforts) == len(bond.flows) == 6
    assert control.locate == ("a.b",)
    assert adaptive.control(0.5).estimate.tolerance == 0.5


def test_without_bonds_steps_are_doubled():
    assert Adaptive.from_table(TABLE).control().estimate == StepDoubling(1e-3)


def test_a_plan_carries_it_through_an_ssp():
    plan = declaration.read("atv_probe_cone").plan
    assert plan.adaptive is not None
    assert Plan.from_json(plan.to_json()) == plan


def test_a_system_that_declares_none_refuses():
    with pytest.raises(RequestError, match="declares no table `adaptive`"):
        _control(System("x"), Plan(), Request("x", adaptive=0.0))
    assert _control(System("x"), Plan(), Request("x")) is None


def test_elements_get_their_substeps():
    system = System("x")
    system.add("sequence", "x.fmu")
    plan = Plan(adaptive=Adaptive.from_table(TABLE | {"substeps": {"sequence": 20, "other": 3}}))
    assert _control(system, plan, Request("x", adaptive=0.0)) == plan.adaptive.control()
    assert system.elements["sequence"].substeps == 20
