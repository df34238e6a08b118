"""Steps of variable length that systems declare."""

import json
from pathlib import Path

import pytest

import dockfmu
from dockfmu.declare import declaration
from dockfmu.declare.adaptive import Adaptive
from dockfmu.declare.plan import Plan
from dockfmu.errors import OptionError
from dockfmu.master.errors import StructureError
from dockfmu.master.step_control import PowerBonds, StepDoubling
from dockfmu.options import RunOptions
from dockfmu.prepare import prepare
from tests.dockfmu.command_line import run_system, status_of

pytestmark = pytest.mark.slow

TABLE = {"tolerance": 1e-3, "shortest": 1e-4, "longest": 0.02, "event_step": 1e-3}


def test_ports_become_bonds_of_force_and_velocity():
    adaptive = Adaptive.from_table(
        TABLE | {"bonds": [["mechanism.base", "chaser.port[1]"]], "locate": ["a.b"], "levels": {"a.gap": 0}}
    )
    control = adaptive.control()
    assert isinstance(control.estimate, PowerBonds)
    (bond,) = control.estimate.bonds
    assert bond.efforts[0] == "mechanism.base.force[1]"
    assert bond.flows[5] == "chaser.port[1].angular_velocity[3]"
    assert len(bond.efforts) == len(bond.flows) == 6
    assert control.locate == ("a.b",)
    assert control.levels == {"a.gap": 0.0}
    assert adaptive.control(0.5).estimate.tolerance == 0.5


def test_without_bonds_steps_are_doubled():
    assert Adaptive.from_table(TABLE).control().estimate == StepDoubling(1e-3)


def test_a_plan_carries_it_through_an_ssp():
    plan = declaration.read("atv_probe_cone").plan
    assert plan.adaptive is not None
    assert Plan.from_json(plan.to_json()) == plan


def test_a_system_that_declares_none_refuses(lag):
    system = dockfmu.System("plain")
    system.add("lag", lag)
    with pytest.raises(OptionError, match="declares no table `adaptive`"):
        system.run(stop=1.0, adaptive=0.0)


def test_substeps_are_those_of_an_adaptive_run_alone(lag):
    system = dockfmu.System("sequence")
    system.add("sequence", lag)
    system.plan = Plan(adaptive=Adaptive.from_table(TABLE | {"substeps": {"sequence": 20}}))
    run = prepare(system.structure, system.plan, RunOptions(adaptive=0.0), 1.0, [])
    assert run.schedule.control == system.plan.adaptive.control()
    assert run.system.elements["sequence"].substeps == 20
    assert system.structure.elements["sequence"].substeps == 1
    assert prepare(system.structure, system.plan, RunOptions(), 1.0, []).schedule.control is None
    system.plan = Plan(adaptive=Adaptive.from_table(TABLE | {"substeps": {"sequense": 20}}))
    with pytest.raises(StructureError, match=r"adaptive\.substeps: .*no element 'sequense'; .*did you mean sequence"):
        prepare(system.structure, system.plan, RunOptions(adaptive=0.0), 1.0, [])


def test_patterns_of_located_outputs_that_select_nothing_are_refused(lag):
    system = dockfmu.System("sequence")
    system.add("sequence", lag)
    system.plan = Plan(adaptive=Adaptive.from_table(TABLE | {"locate": ["sequence.hihg*"]}))
    with pytest.raises(StructureError, match=r"no Boolean or Integer output is called sequence\.hihg\*"):
        system.run(stop=1.0, adaptive=0.0)


def test_a_discarded_step_is_retried(lag, tmp_path, capsys):
    system = dockfmu.System("discards")
    system.add("a", lag, {"fail.function": 1, "fail.status": 2, "fail.time": 0.5})
    package = system.write(tmp_path / "discards.ssp")
    run = ("run", package, "-o", tmp_path / "out", "--step", 0.1, "--stop", 1.0, "--no-report")
    found = {}
    for options in ((), ("--retry", 0.01)):
        assert status_of(*run, *options) == 1
        found[options] = json.loads((tmp_path / "out" / "summary.json").read_text())
    plain, retried = found.values()
    assert plain["rejected_steps"] == 0
    assert "retries take one (control=Retry(...), --retry) at t = 0.5 s (Lag.fmu)" in plain["message"]
    # from 0.5 s on all steps are discarded: those of 0.05, 0.025 and 0.0125 s too
    assert retried["rejected_steps"] == 3
    assert "but one of 0.01 s fails too at t = 0.5 s" in retried["message"]
    capsys.readouterr()
    assert status_of(*run, "--retry", 0.01, "--adaptive") == 2
    assert "not allowed with argument --retry" in capsys.readouterr().err


def test_long_steps_of_a_docking(atv, tmp_path):
    """The example makes steps below 1 ms only to reach events: 21 % of the steps, and the same docking.

    Of 69 000 steps 13 000 are of the first 20 s, since the cone of R46 is so deep that slide, hops and recoil last that
    long, and 5 000 of the last 8 s, in which the planes meet and press (R47).
    """
    example = Path(__file__).parents[3] / "docs/examples/atv_long_steps.toml"
    long = run_system(tmp_path, example, "--adaptive", "--no-report")
    assert long.summary["outcome"] == atv.summary["outcome"] == "docked"
    assert long.summary["macro_steps"] < 0.22 * atv.summary["macro_steps"]
    for event in ("capture", "socket_bottom", "docking_start"):
        assert long.time(event) == pytest.approx(atv.time(event), abs=2e-3)
    # the play of the mechanism multiplies differences, so that times drift apart later
    assert long.time("end_of_retraction") == pytest.approx(atv.time("end_of_retraction"), abs=2.0)
    signal = "mechanism.target.force_now[1]"
    assert long.summary["peaks"][signal]["max"] == pytest.approx(atv.summary["peaks"][signal]["max"], rel=1e-3)
    checks = long.summary["audit_checks"].values()
    assert all(check["ok"] for check in checks if check["ok"] is not None)
