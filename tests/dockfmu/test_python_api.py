"""The public Python API: systems in a dozen lines, stepping by hand, values by name, tables."""

import subprocess
import sys
from dataclasses import replace

import fmpy
import numpy as np
import pandas
import pytest

import dockfmu
from dockfmu import FmuError, System
from dockfmu.declare.starts import Starts
from dockfmu.master.errors import MasterError, StructureError
from tests.dockfmu.small_systems import write_pair


@pytest.fixture
def pair(oscillator):
    """Each oscillator is pushed with 0.3 N per metre of the other's displacement."""
    system = System("pair")
    system.add("first", oscillator, {"parameters.initial_position": 1.0})
    system.add("second", oscillator)
    system.connect("first.position", "second.force", factor=0.3, convert_units=False)
    system.connect("second.position", "first.force", factor=0.3, convert_units=False)
    return system


@pytest.fixture
def alone(oscillator):
    system = System("alone")
    system.add("mass", oscillator)
    return system


def test_everything_public_is_there_and_documented():
    for name in dockfmu.__all__:
        assert getattr(dockfmu, name).__doc__, name
    assert set(dockfmu.__all__) <= set(dir(dockfmu))
    assert dockfmu.__version__
    with pytest.raises(AttributeError, match="no attribute 'Sistem'"):
        _ = dockfmu.Sistem


def test_the_import_loads_nothing_that_is_slow():
    code = (
        "import sys, dockfmu; print([m for m in ('numba', 'numpy', 'h5py', 'matplotlib', 'lxml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_new_system_of_a_declared_name_is_empty_and_says_so():
    with pytest.raises(dockfmu.StructureError, match=r"no elements: .*System\.load\('atv_probe_cone'\)"):
        dockfmu.System("atv_probe_cone").run(stop=1.0)


def test_a_run_gives_arrays(pair):
    outcome = pair.run(step=0.01, stop=2.0)
    assert outcome.status == "completed"
    assert repr(outcome) == "<pair: completed at 2 s, 201 rows>"
    assert outcome.time.shape == outcome["first.position"].shape == (201,)
    assert outcome["first.position"][0] == 1.0
    assert outcome.unit("first.position") == "m"
    assert "second.velocity" in outcome.variables
    assert outcome.result.peaks["first.position"]["max"] == outcome["first.position"].max()
    assert "completed" in outcome._repr_html_()


def test_stepping_by_hand_is_the_run(pair):
    outcome = pair.run(step=0.01, stop=1.0)
    with pair.simulate(step=0.01) as simulation:
        for _ in range(100):
            simulation.step()
        assert simulation.time == pytest.approx(1.0, rel=1e-12)
        assert simulation["second.position"] == outcome["second.position"][-1]
    assert np.array_equal(simulation.outcome["first.velocity"], outcome["first.velocity"])


@pytest.mark.slow
def test_inputs_are_set_by_name_between_steps(alone):
    """A controller in Python brakes the mass; it is explicit, with the values of the last step."""
    alone.set({"mass.parameters.initial_position": 0.5})
    with alone.simulate(step=0.01, record=["mass.position", "mass.velocity"]) as simulation:
        while simulation.time < 60.0 - 1e-9:
            simulation["mass.force"] = -2.0 * simulation["mass.velocity"]
            simulation.step()
    free = alone.run(step=0.01, stop=60.0)
    assert abs(simulation.outcome["mass.position"][-100:]).max() < 0.1 * abs(free["mass.position"][-100:]).max()
    assert simulation.outcome.variables == ("mass.position", "mass.velocity")
    with pytest.raises(KeyError, match=r"not recorded: mass\.energy|not recorded"):
        _ = simulation.outcome["mass.audit.kinetic_energy"]


def test_what_does_not_fit_is_refused_with_the_reason(pair, alone):
    with pytest.raises(StructureError, match="did you mean position"):
        pair.connect("first.positoin", "second.force")
    with pytest.raises(StructureError, match="no element 'third'"):
        pair.set({"third.parameters.mass": 1.0})
    with pair.simulate(step=0.1) as simulation:
        with pytest.raises(StructureError, match="it is connected to"):
            simulation["first.force"] = 1.0
        with pytest.raises(ValueError, match="no stop time"):
            simulation.advance()
        with pytest.raises(StructureError, match=r"first is an element; name a variable of it, first\.VARIABLE"):
            _ = simulation["first"]


def test_a_simulation_that_has_not_begun_or_is_over_says_so(alone, tmp_path):
    simulation = alone.simulate(step=0.1)
    attempts = (
        simulation.step,
        simulation.branch,
        lambda: simulation["mass.position"],
        lambda: simulation.set({"mass.force": 1.0}),
        lambda: simulation.save(tmp_path / "c"),
    )
    for attempt in attempts:
        with pytest.raises(MasterError, match="the simulation of alone has not begun: enter it with `with`"):
            attempt()
    with simulation:
        simulation.step()
    for attempt in (*attempts, simulation.__enter__):
        with pytest.raises(MasterError, match="the simulation of alone is over"):
            attempt()
    assert simulation.finished
    assert simulation.outcome.status == "completed"


def test_elements_have_rates_of_their_own(lag):
    system = System("rates")
    system.add("fast", lag, substeps=4)
    system.add("slow", lag, every=5)
    outcome = system.run(step=0.1, stop=1.0, record=["fast.count", "slow.count"])
    assert (outcome["fast.count"][-1], outcome["slow.count"][-1]) == (40, 2)


def test_arrays_go_by_one_name(lag12):
    """Twelve channels: connected, set, read and recorded as vectors."""
    system = System("vector")
    system.add("source", lag12, {"gain": 2.0})
    system.add("sink", lag12)
    system.connect("source.y", "sink.u", factor=3.0)
    assert len(system.structure.connections) == 12
    with system.simulate(step=0.1, record=["source.y", "sink.y"]) as simulation:
        simulation["source.u"] = np.arange(12.0)
        simulation.step()
        assert np.allclose(simulation["source.y"], 0.2 * np.arange(12.0), rtol=1e-15)
        assert np.allclose(simulation["sink.u"], 0.6 * np.arange(12.0), rtol=1e-15)
        simulation["source.u"] = 1.0
        assert simulation["source.u"].tolist() == [1.0] * 12
        with pytest.raises(ValueError, match=r"source\.u = \[1\.0, 2\.0\]: does not have the shape \(12,\)"):
            simulation["source.u"] = [1.0, 2.0]
    outcome = simulation.outcome
    assert outcome["sink.y"].shape == (2, 12)
    assert [name in outcome for name in ("sink.y", "sink.y[3]", "sink.u", "sink.z")] == [True, True, False, False]
    assert outcome.unit("sink.y") == "m"
    with pytest.raises(StructureError, match="shape"):
        system.connect("source.y", "sink.u[1]")


def test_a_failure_raises_or_comes_back(lag):
    system = System("bad")
    system.add("a", lag, {"fail.function": 1, "fail.status": 3, "fail.time": 0.45})
    with pytest.raises(FmuError, match="fmi2DoStep"):
        system.run(step=0.1, stop=1.0)
    outcome = system.run(step=0.1, stop=1.0, check=False)
    assert (outcome.status, len(outcome.time)) == ("failed", 6)
    assert "fmi2DoStep" in outcome.result.message


def test_events_are_named_by_who_watches(pair):
    pair.watch("far", "second.position", "above", 0.1)
    outcome = pair.run(step=0.01, stop=2.0)
    time, position = outcome.time, outcome["second.position"]
    assert outcome.events == {"far": time[np.argmax(position > 0.1)]}


def test_an_ssp_there_and_back(pair, oscillator, tmp_path):
    file = pair.write(tmp_path / "pair.ssp")
    again = dockfmu.load(file, {"second.parameters.initial_position": 0.25})
    assert again.run(step=0.01, stop=0.1).result.warnings == []
    assert repr(again) == "<System pair: first, second; 2 connections>"
    assert again.run(step=0.01, stop=0.1)["second.position"][0] == 0.25
    planned = dockfmu.load(write_pair(oscillator, tmp_path))
    outcome = planned.run()
    assert "pushed_far" in outcome.events
    assert outcome.result.audit["energy_residual"] < 0.1


def test_components_and_systems_are_listed_and_built(tmp_path):
    assert dockfmu.list_components()[0] == "Oscillator"
    assert "central_impact_20t" in dockfmu.list_systems()
    file = dockfmu.build("Oscillator", tmp_path)
    assert file == tmp_path / "Oscillator.fmu"
    assert fmpy.read_model_description(str(file)).modelName == "Oscillator"


def test_a_table_of_pandas(pair):
    names = ["second.position", "first.position"]
    outcome = pair.run(step=0.01, stop=1.0)
    frame = outcome.to_pandas(names)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == names
    assert np.array_equal(frame.index, outcome.time)
    for name in names:
        assert np.array_equal(frame[name], outcome[name])
    assert not np.array_equal(frame[names[0]], frame[names[1]])


def test_branches_and_checkpoints_go_on_from_a_common_beginning(alone, tmp_path):
    names = ["mass.position"]
    with alone.simulate(step=0.01, record=names) as simulation:
        simulation.advance(1.0)
        simulation.save(tmp_path / "one.checkpoint")
        pushed, still = simulation.branch({"mass.force": 2.0}), simulation.branch()
        simulation.advance(2.0)
    ends = []
    for branch in (pushed, still, alone.simulate(step=0.01, record=names, resume=tmp_path / "one.checkpoint")):
        with branch:
            branch.advance(2.0)
            ends.append(branch["mass.position"])
        assert branch.outcome.time[0] == pytest.approx(1.0)
    expected = simulation.outcome["mass.position"][-1]
    assert ends[1] == ends[2] == expected
    assert ends[0] != expected


def test_a_branch_has_the_events_of_its_plan(alone):
    alone.watch("half", "mass.position", "below", 0.5)
    alone.watch("back", "mass.position", "above", 0.5)
    with alone.simulate(step=0.01) as simulation:
        simulation.advance(1.5)
        branch = simulation.branch({"mass.force": 20.0})
    with branch:
        branch.advance(4.0)
    assert branch.outcome.events == {"half": pytest.approx(1.5), "back": pytest.approx(1.6, abs=0.2)}


def test_a_copy_with_other_values_leaves_the_system_as_it_is(alone):
    alone.set({"mass.parameters.initial_position": 0.5})
    near = alone.with_values({"mass.parameters.initial_position": 0.25})
    heavy = near.with_values({"mass.parameters.mass": 4.0})
    options = dockfmu.RunOptions(step=0.01, stop=1.0, record=("mass.position",))
    positions = [system.run(options)["mass.position"] for system in (alone, near, heavy)]
    assert [position[0] for position in positions] == [0.5, 0.25, 0.25]
    assert positions[2][-1] > positions[1][-1]
    with heavy.simulate(options) as simulation:
        simulation.reset({"mass.parameters.stiffness": 0.0})
        simulation.advance()
        assert simulation.outcome["mass.position"].tolist() == pytest.approx([0.25] * 101)
    with pytest.raises(StructureError, match="mess"):
        alone.with_values({"mass.parameters.mess": 1.0})


def test_the_audit_of_a_branch_is_relative_to_the_energy_of_its_run(alone, monkeypatch):
    alone.plan = replace(alone.plan, audited=("mass",), approach_energy=2.0)
    placed = Starts.of

    def place_anew(starts, base, values):
        return replace(placed(starts, base, values), approach_energy=5.0 if values else None)

    monkeypatch.setattr(Starts, "of", place_anew)
    with alone.simulate(step=0.01, stop=1.0) as simulation:
        for values, energy in (({}, 2.0), ({"mass.parameters.mass": 3.0}, 5.0), ({}, 2.0)):
            simulation.reset(values)
            simulation.advance(0.1)
            (audit,) = simulation.branch()._audits
            assert audit.reference_energy == energy
