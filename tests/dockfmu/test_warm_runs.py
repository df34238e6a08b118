"""Simulations that users reset are bitwise equal to systems loaded again with the same settings."""

import dataclasses

import pytest

import dockfmu

IMPACT = "central_impact_20t"
CHANGES = [
    {"initial_conditions.velocity[1]": 0.12, "initial_conditions.miss[2]": "2cm"},
    {"chaser.parameters.mass": "18t"},
    {"initial_conditions.pitch": 0.01, "mechanism.parameters.probe.free_length": 0.62},
    {"initial_conditions.seed": 7, "chaser.parameters.initial.velocity[2]": 0.004},
]
SHORT = {"stop": 1.5, "record": ["mechanism.target.force_now", "chaser.body.position"]}


def found(outcome):
    result = dataclasses.replace(outcome.result, wall_s=0.0, initialise_s=0.0, error=None)
    values = [outcome[name].tobytes() for name in SHORT["record"]]
    return dataclasses.asdict(result), outcome.time.tobytes(), values


@pytest.fixture(scope="module")
def system():
    return dockfmu.load(IMPACT)


@pytest.mark.slow
def test_reset_is_loading_with_these_settings(system):
    with system.simulate(**SHORT) as simulation:
        warm = []
        for change in CHANGES:
            simulation.reset(change)
            simulation.advance()
            warm.append(found(simulation.finish()))
        simulation.reset()
        simulation.advance()
        plain = found(simulation.finish())
    assert plain == found(system.run(**SHORT))
    for change, reset in zip(CHANGES, warm, strict=True):
        assert reset == found(dockfmu.load(IMPACT, change).run(**SHORT)), change
    assert len({str(entry) for entry in warm}) == len(CHANGES)


@pytest.mark.slow
def test_reset_after_runs_that_failed(system):
    """After an exceeded model limit or an input that an FMU refuses none is loaded again; results are bitwise equal."""
    fast = {"initial_conditions.velocity[1]": 1.0}
    fresh = found(system.run(**SHORT))
    with dockfmu.load(IMPACT, fast).simulate(**SHORT) as simulation:
        with pytest.raises(dockfmu.FmuError, match="exceeds its limit"):
            simulation.advance()
        too_fast = found(simulation.finish())
    with system.simulate(**SHORT) as simulation:
        loaded = {name: instance.fmu for name, instance in simulation._running.instances.items()}
        for _ in range(2):
            simulation.reset(fast)
            with pytest.raises(dockfmu.FmuError, match="exceeds its limit"):
                simulation.advance()
            assert found(simulation.finish()) == too_fast
            simulation.reset()
            simulation.advance(0.4)
            with pytest.raises(dockfmu.FmuError, match="not finite"):
                simulation._running.instances["chaser"].set({"control.force[1]": float("nan")})
            simulation.reset()
            simulation.advance()
            assert found(simulation.finish()) == fresh
        assert {name: instance.fmu for name, instance in simulation._running.instances.items()} == loaded


@pytest.mark.slow
def test_a_refused_value_changes_nothing(system):
    fresh = found(system.run(**SHORT))
    with system.simulate(**SHORT) as simulation:
        simulation.advance(0.4)
        with pytest.raises(dockfmu.StructureError, match=r"force\[1\] = nan: must be a finite number$"):
            simulation.set({"chaser.control.force[2]": 5.0, "chaser.control.force[1]": float("nan")})
        assert simulation["chaser.control.force[2]"] == 0.0
        simulation.advance()
        assert found(simulation.finish()) == fresh


def test_the_outcome_stays_when_the_simulation_goes_on(oscillator):
    system = dockfmu.System("one")
    system.add("mass", oscillator)
    with system.simulate(step=0.01, stop=1.0) as simulation:
        outcomes = []
        for start in (0.1, 0.2):
            simulation.reset({"mass.parameters.initial_position": start})
            simulation.advance()
            outcomes.append(simulation.finish())
    for start, outcome in zip((0.1, 0.2), outcomes, strict=True):
        assert outcome["mass.position"][0] == start
        assert len(outcome.time) == 101
        assert outcome.result.macro_steps == 100


def test_wrong_values_are_named_and_the_next_run_is_sound(oscillator):
    system = dockfmu.System("one")
    system.add("mass", oscillator)
    with system.simulate(step=0.01, stop=1.0) as simulation:
        with pytest.raises(dockfmu.StructureError, match="mass"):
            simulation.reset({"mass.parameters.mas": 1.0})
        with pytest.raises(dockfmu.StructureError, match=r"parameters\.mass"):
            simulation.reset({"mass.parameters.mass": -1.0})
        with pytest.raises(dockfmu.DeclarationError, match="initial_conditions"):
            simulation.reset({"initial_conditions.miss": [0.0, 0.0]})
        simulation.reset({"mass.parameters.mass": "2kg"})
        simulation.advance()
        outcome = simulation.finish()
    system.set({"mass.parameters.mass": 2.0})
    assert outcome["mass.position"].tobytes() == system.run(step=0.01, stop=1.0)["mass.position"].tobytes()
