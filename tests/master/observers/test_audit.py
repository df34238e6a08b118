"""The audit against a pair of masses whose balance is known in closed form."""

import numpy as np
import pytest

from dockfmu.base.names import vector
from dockfmu.master.errors import StructureError
from dockfmu.master.observers.audit import Audit, Bond
from dockfmu.master.observers.observer import RunContext
from dockfmu.master.result import Result


class Stub:
    """Stand-in for a structure: the audit needs only names."""


def audited(audit, time, table, chunks=3):
    """Feed columns named by `table` through the audit in a few pieces, as a run does."""
    sampling = audit.sampling(Stub())
    values = np.column_stack([table.get(name, np.zeros_like(time)) for name in sampling.variables])
    audit.begin(RunContext(Stub(), {}, {}, time[0], time[-1], time[1] - time[0], "test", lambda: None))
    for piece in np.array_split(np.arange(len(time)), chunks):
        audit.sample(time[piece], values[piece])
    result = Result("test", "test", 1e-3)
    audit.end(result)
    return result.audit


TIME = np.linspace(0.0, 2.0, 2001)
ORBIT = np.array([7500.0, -100.0, 3.0])


def collision(loss=0.0):
    """Return momenta of two bodies that exchange 3 N.s, of which `loss` is missing in the second."""
    passed = 3.0 * np.clip(TIME - 0.5, 0.0, 1.0)
    return {"a.p[1]": 5.0 - passed, "b.p[1]": passed * (1.0 - loss), "b.p[2]": np.full_like(TIME, 100.0)}


def test_momentum_that_is_conserved_shows_no_drift_whatever_its_size():
    found = audited(Audit(momentum=("a.p", "b.p")), TIME, collision())
    assert found["linear_momentum_drift"] < 1e-15


def test_the_drift_is_relative_to_the_largest_value_exchanged():
    found = audited(Audit(momentum=("a.p", "b.p"), angular_momentum=("a.p", "b.p")), TIME, collision(loss=0.01))
    assert found["linear_momentum_drift"] == pytest.approx(0.01, rel=1e-12)
    assert found["angular_momentum_drift"] == pytest.approx(0.01, rel=1e-12)


def test_what_an_instance_will_lose_in_its_next_step_counts_for_the_exchange_alone():
    """A body that responds one step late: 0.2 N.s are under way while the other already has them."""
    table = collision()
    late = {"b.owed[1]": np.where((TIME > 0.7) & (TIME < 1.0), 0.2, 0.0)}
    table["b.p[1]"] = table["b.p[1]"] + late["b.owed[1]"]
    both = {"momentum": ("a.p", "b.p"), "angular_momentum": ("a.p", "b.p"), "own_momentum": ("a.p", "b.p")}
    assert audited(Audit(**both), TIME, table)["linear_momentum_drift"] == pytest.approx(0.2 / 3.0, rel=1e-6)
    found = audited(Audit(**both, owed=("b.owed",), angular_owed=("b.owed",)), TIME, table | late)
    assert found["linear_momentum_drift"] < 1e-15
    assert found["angular_momentum_drift"] < 1e-15
    assert found["mechanism_momentum_drift"] == pytest.approx(0.2 / 3.0, rel=1e-6)


def test_without_exchange_the_momentum_itself_is_the_measure():
    still = {"a.p[1]": np.full_like(TIME, 7.0) + 1e-15 * np.sin(TIME)}
    assert audited(Audit(momentum=("a.p",)), TIME, still)["linear_momentum_drift"] < 1e-15
    assert audited(Audit(momentum=("a.p",)), TIME, {})["linear_momentum_drift"] == 0.0


def test_errors_of_the_dynamics_are_relative_to_at_least_the_momentum_of_the_approach():
    """The same collision cut off when 0.03 N.s of 3 are exchanged: errors of 0.01 N.s, and one of a percent."""
    table = collision() | {"b.apart[1]": np.where(TIME > 0.5, 0.01, 0.0)}
    table["a.own[1]"] = table["a.p[1]"] - np.where(TIME > 0.505, 0.01, 0.0)
    early = TIME <= 0.51
    cut = {name: values[early] for name, values in table.items()}
    lines = {"momentum": ("a.p", "b.p"), "own_momentum": ("a.own", "b.p"), "impulse_errors": ("b.apart",)}
    alone = audited(Audit(**lines), TIME[early], cut)
    assert alone["mechanism_momentum_drift"] == pytest.approx(0.01 / 0.04, rel=0.35)
    assert alone["base_impulse_error"] == pytest.approx(0.01 / 0.03, rel=1e-6)
    known = audited(Audit(**lines, reference_momentum=(3.0, 60.0)), TIME[early], cut)
    assert known["mechanism_momentum_drift"] == pytest.approx(0.01 / 3.0, rel=1e-6)
    assert known["base_impulse_error"] == pytest.approx(0.01 / 3.0, rel=1e-6)
    assert known["linear_momentum_drift"] == alone["linear_momentum_drift"]
    # nothing changes where more is exchanged
    whole = audited(Audit(**lines, reference_momentum=(2.0, 60.0)), TIME, table)
    assert whole["base_impulse_error"] == pytest.approx(0.01 / 3.0, rel=1e-6)


def test_where_nothing_moves_rounding_is_no_error():
    """An arm at rest in its brakes: 1e-24 J of rounding, not balanced."""
    noise = 1e-24 * np.abs(np.sin(TIME))
    rest = {"a.T": noise, "a.V": 0.0 * noise, "a.Q": 7.0 * noise, "a.W": 0.0 * noise, "a.p[1]": 1e-15 * noise}
    audit = Audit(momentum=("a.p",), stored=("a.T", "a.V"), dissipated=("a.Q",), supplied=("a.W",))
    assert max(audited(audit, TIME, rest).values()) < 1e-11


def test_own_momenta_and_impulse_errors():
    """Instances report their own momenta, of which the larger counts, and the error of their impulses."""
    own = {name.replace(".p", ".own"): value for name, value in collision(loss=0.02).items()}
    apart = {"b.apart[2]": -0.06 * TIME / 2.0}
    audit = Audit(
        momentum=("a.p", "b.p"),
        angular_momentum=("a.p", "b.p"),
        own_momentum=("a.own", "b.own"),
        own_angular_momentum=("a.p", "b.p"),
        impulse_errors=("b.apart",),
    )
    found = audited(audit, TIME, collision() | own | apart)
    assert found["linear_momentum_drift"] < 1e-15
    assert found["mechanism_momentum_drift"] == pytest.approx(0.02, rel=1e-12)
    assert found["base_impulse_error"] == pytest.approx(0.06 / 3.0, rel=1e-12)
    assert "base_impulse_error" not in audited(Audit(momentum=("a.p",)), TIME, collision())
    turned = {"b.turned[2]": 0.09 * TIME / 2.0}
    audit = Audit(
        momentum=("a.p", "b.p"),
        angular_momentum=("a.p", "b.p"),
        impulse_errors=("b.apart",),
        angular_impulse_errors=("b.turned",),
    )
    found = audited(audit, TIME, collision() | apart | turned)
    assert found["base_impulse_error"] == pytest.approx(0.09 / 3.0, rel=1e-12), "the larger counts"


def energies(gap=0.0):
    """Return energies of an oscillator with a motor and a brake, of which `gap` J are missing."""
    work, heat = 4.0 * TIME, 1.5 * TIME
    kinetic = 10.0 + np.cos(20.0 * TIME) ** 2
    potential = work - heat + np.sin(20.0 * TIME) ** 2
    return {"a.T": kinetic, "a.V": potential - gap * TIME / TIME[-1], "a.Q": heat, "a.W": work}


def test_the_energy_balance_closes_and_its_gap_is_relative_to_the_reference():
    names = {"kinetic": ("a.T",), "stored": ("a.V",), "dissipated": ("a.Q",), "supplied": ("a.W",)}
    assert audited(Audit(**names), TIME, energies())["energy_residual"] < 1e-14
    found = audited(Audit(**names, reference_energy=20.0), TIME, energies(gap=0.5))
    assert found["energy_residual"] == pytest.approx(0.025, rel=1e-12)
    # without a reference: the energy exchanged, here the range of the potential energy
    exchanged = np.ptp(energies(gap=0.5)["a.V"])
    assert exchanged > np.ptp(energies()["a.T"])
    found = audited(Audit(**names), TIME, energies(gap=0.5))
    assert found["energy_residual"] == pytest.approx(0.5 / exchanged, rel=1e-12)


def swinging(velocity, gap):
    """Return energies and momenta of two bodies of 2 and 3 kg that hand 5 J on without loss, of which `gap` J lack.

    Both move with a common velocity besides, m/s.
    """
    handed = 2.5 * (1.0 - np.cos(20.0 * TIME))
    table = {"a.T": 5.0 - handed, "b.T": handed - gap * TIME / TIME[-1]}
    for name, mass in (("a", 2.0), ("b", 3.0)):
        own = np.sqrt(2.0 * mass * np.maximum(table[f"{name}.T"], 0.0))
        table[f"{name}.T"] = table[f"{name}.T"] + velocity * own + 0.5 * mass * velocity**2
        table[f"{name}.p[1]"] = own + mass * velocity
    return table


@pytest.mark.parametrize("velocity", [0.0, 30.0])
def test_energies_that_bodies_hand_on_without_loss_are_exchanged_too(velocity):
    """Regression: their sum changes by errors alone, to which the residual was relative: 1 for any error."""
    moving = {"f.v[1]": velocity, "f.v[2]": 0.0, "f.v[3]": 0.0, "f.q[1]": 1.0}
    table = swinging(velocity, 1e-3) | {name: value + 0.0 * TIME for name, value in moving.items()}
    audit = Audit(kinetic=("a.T", "b.T"), momentum=("a.p", "b.p"), frame=("f.v", "f.q"))
    assert audited(audit, TIME, table)["energy_residual"] == pytest.approx(1e-3 / (0.1 * 5.0), rel=0.01)


def parting(velocity, loss):
    """Return energies, momenta and motion of two bodies of 7 t and 400 t that a spring of 9 J parts, losing a part.

    Both have a velocity in common, in I, and a thruster that has pushed the lighter one with 50 N for a second.
    """
    masses, extent = (7e3, 4e5), np.clip(TIME, 0.0, 1.0)
    given = 9.0 * extent**2
    impulse = np.sqrt(2.0 * (1.0 - loss) * given / (1.0 / masses[0] + 1.0 / masses[1]))
    pushed = 50.0 * np.clip(TIME - 1.0, 0.0, 0.5)
    momenta = [np.outer(np.ones_like(TIME), mass * velocity) for mass in masses]
    momenta[0][:, 0] -= impulse - pushed
    momenta[1][:, 0] += impulse
    table = {"spring.V": 9.0 - given, "a.W": np.cumsum(np.diff(pushed, prepend=0.0) * _middle(momenta[0][:, 0]) / 7e3)}
    # the axes of b are turned by 120 degrees about (1, 1, 1): x, y, z of I are its y, z, x
    axes = velocity[[1, 2, 0]] if velocity.any() else velocity
    for k in range(3):
        table |= {f"b.v[{k + 1}]": np.full_like(TIME, axes[k]), f"a.J[{k + 1}]": pushed * (k == 0)}
    for k in range(4):
        table[f"b.q[{k + 1}]"] = np.full_like(TIME, 0.5)
    for name, mass, momentum in zip("ab", masses, momenta, strict=True):
        table[f"{name}.T"] = (momentum**2).sum(axis=1) / (2.0 * mass)
        table |= {f"{name}.p[{k + 1}]": momentum[:, k] for k in range(3)}
    return table


def joined(loss):
    """Return b, 3 kg at 10 m/s, and c, 2 kg, in orbit, which a lock joins at 1 s, losing 60 J, `loss` of it not told.

    b has stopped as beside a base that does not yield, and learns in the next step that c has got only 12 of 30 N.s.
    """
    at, known = (np.arange(len(TIME)) >= row for row in (1000, 1001))
    table = {"b.Q": np.where(known, 60.0 * (1.0 - loss), np.where(at, 150.0 - 60.0 * loss, 0.0))}
    table |= {"b.L": np.where(known, -90.0, 0.0), "b.W": np.where(known, 54.0 + 18.0 * ORBIT[0], 0.0)}
    table |= {"b.J[1]": np.where(known, 18.0, 0.0), "c.q[1]": np.ones_like(TIME)}
    speeds = {"b": np.where(known, 6.0, np.where(at, 0.0, 10.0)), "c": np.where(at, 6.0, 0.0)}
    for name, mass in (("b", 3.0), ("c", 2.0)):
        v = ORBIT + np.outer(speeds[name], [1.0, 0.0, 0.0])
        table[f"{name}.T"] = 0.5 * mass * (v**2).sum(axis=1)
        table |= {f"{name}.p[{k + 1}]": mass * v[:, k] for k in range(3)} | {
            f"{name}.v[{k + 1}]": v[:, k] for k in range(3)
        }
    return table


@pytest.mark.parametrize("chunks", [1, 7, 1001])
def test_what_a_step_leaves_open_counts_for_its_end(chunks):
    names = {"momentum": ("b.p", "c.p"), "kinetic": ("b.T", "c.T"), "dissipated": ("b.Q",), "frame": ("c.v", "c.q")}
    late = {"late": ("b.W",), "late_losses": ("b.L",), "late_momentum": ("b.J",)}
    # for one step 90 J of loss are told too much, and 54 J of motion too little
    assert audited(Audit(**names), TIME, joined(0.0), chunks)["energy_residual"] > 0.3
    assert audited(Audit(**names, **late), TIME, joined(0.0), chunks)["energy_residual"] < 1e-6
    found = audited(Audit(**names, **late), TIME, joined(0.02), chunks)
    assert found["energy_residual"] == pytest.approx(0.02, rel=1e-4)
    # of the last row nothing is known, but that it is a number
    cut = {name: values[:1001] for name, values in joined(0.0).items()}
    assert audited(Audit(**names, **late), TIME[:1001], cut, chunks)["energy_residual"] < 1e-6
    cut["b.Q"][-1] = np.nan
    assert np.isnan(audited(Audit(**names, **late), TIME[:1001], cut, chunks)["energy_residual"])


def _middle(values):
    return 0.5 * (values + np.concatenate([values[:1], values[:-1]]))


@pytest.mark.parametrize("velocity", [(0.0, 0.0, 0.0), (7500.0, -100.0, 3.0)])
@pytest.mark.parametrize("loss", [0.0, 0.01])
def test_a_loss_is_seen_whatever_velocity_the_bodies_have_in_common(velocity, loss):
    """Let 0.09 J vanish of 9 that a spring gives; the kinetic energies of a common velocity are 1e13 J.

    Their roundings and those of the products of momentum and velocity, 2e-3 J each, are 1e-3 of what is exchanged.
    """
    names = {
        "momentum": ("a.p", "b.p"), "impulse": ("a.J",), "kinetic": ("a.T", "b.T"), "stored": ("spring.V",),
        "supplied": ("a.W",), "frame": ("b.v", "b.q"),
    }  # fmt: skip
    table = parting(np.array(velocity), loss)
    assert audited(Audit(**names), TIME, table)["energy_residual"] == pytest.approx(loss, abs=2e-3)
    without = {name: value for name, value in names.items() if name != "frame"}
    if loss and any(velocity):
        # the range of the energies of an orbit hides it
        assert audited(Audit(**without), TIME, table)["energy_residual"] < 0.1 * loss


def test_the_work_over_a_bond_is_mean_effort_times_mean_flow():
    # v = sin t over the run, and the mean of f = cos t over each step: the work is the integral of their product
    velocity = np.sin(TIME)
    force = np.zeros_like(TIME)
    force[1:] = np.diff(np.sin(TIME)) / np.diff(TIME)
    audit = Audit(bonds=(Bond("port", vector("a.force", 1), vector("b.velocity", 1)),))
    audited(audit, TIME, {"a.force[1]": force, "b.velocity[1]": velocity}, chunks=7)
    assert audit.bonds_work["port"] == pytest.approx(0.5 * np.sin(2.0) ** 2, rel=1e-12)


def test_a_bond_of_unequal_sides_is_refused():
    with pytest.raises(StructureError, match="bond port: as many efforts as flows"):
        Audit(bonds=(Bond("port", vector("a.f"), vector("b.v", 2)),)).sampling(Stub())


def test_series_show_the_errors_over_time():
    audit = Audit(momentum=("a.p", "b.p"), keep_series=True)
    audited(audit, TIME, collision(loss=0.01))
    assert audit.largest["linear_momentum"] == pytest.approx(0.03, rel=1e-12)
    assert np.array_equal(audit.series["time"], TIME)
    assert audit.series["linear_momentum"][-1] == pytest.approx(0.03, rel=1e-12)


@pytest.mark.parametrize("name", ["a.p[1]", "b.p[2]", "a.own[3]", "a.error[1]", "a.V"])
@pytest.mark.parametrize("row", [0, 1234, 2000])
def test_a_balance_of_what_is_not_a_number_is_no_small_number(name, row):
    table = {
        **collision(),
        "a.own[3]": np.zeros_like(TIME),
        "a.error[1]": np.zeros_like(TIME),
        "a.V": np.ones_like(TIME),
    }
    table[name] = table[name].copy()
    table[name][row] = np.nan
    audit = Audit(
        momentum=("a.p", "b.p"),
        own_momentum=("a.p", "a.own"),
        own_angular_momentum=("b.p",),
        impulse=("b.p",),
        impulse_errors=("a.error",),
        stored=("a.V",),
    )
    lines = {
        "a.p[1]": "linear_momentum_drift", "b.p[2]": "linear_momentum_drift", "a.own[3]": "mechanism_momentum_drift",
        "a.error[1]": "base_impulse_error", "a.V": "energy_residual",
    }  # fmt: skip
    assert np.isnan(audited(audit, TIME, table)[lines[name]])


@pytest.mark.parametrize("place", [0.0, 1000.0])
def test_an_error_of_momentum_counts_once_wherever_the_origin_is(place):
    """0.03 N s are missing for a while at a port: an angular momentum of 30 N m s about an origin 1 km away."""
    passed = 3.0 * np.clip(TIME - 0.5, 0.0, 1.0)
    owed = np.where((TIME > 1.0) & (TIME < 1.2), 0.03, 0.0)
    # forces along y at x = place + 2, the port; besides a couple about z
    couple = 5.0 * np.clip(TIME, 0.0, 1.0)
    table = {"a.p[2]": -passed, "b.p[2]": passed - owed, "port[1]": np.full_like(TIME, place + 2.0)}
    table |= {"a.L[3]": -(place + 2.0) * passed - couple, "b.L[3]": (place + 2.0) * (passed - owed) + couple}
    lines = {"own_momentum": ("a.p", "b.p"), "own_angular_momentum": ("a.L", "b.L")}
    found = audited(Audit(**lines, own_pole="port"), TIME, table)
    assert found["mechanism_momentum_drift"] == pytest.approx(0.03 / 3.0, rel=1e-9)
    # a couple that is missing is seen
    table["b.L[3]"] = table["b.L[3]"] - 0.1 * couple
    found = audited(Audit(**lines, own_pole="port"), TIME, table)
    assert found["mechanism_momentum_drift"] == pytest.approx(0.1, rel=1e-9)
