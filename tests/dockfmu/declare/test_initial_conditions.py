"""From declared initial conditions to start states of the craft.

Theory: spacecraft section 8: their ports move as requested.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dockfmu.components import probe_mechanism, spacecraft
from dockfmu.components.core.component import Instance
from dockfmu.components.physics.mechanics.rotation import angles, from_quaternion
from dockfmu.components.spacecraft.modes.declared import declared_modes
from dockfmu.declare import declaration
from dockfmu.declare.conditions.initial_conditions import ACROSS, InitialConditions, read_conditions
from dockfmu.declare.conditions.limits import draw, severity, speed_at
from dockfmu.declare.conditions.placement import place_crafts
from dockfmu.declare.declaration import DeclarationError
from dockfmu.declare.settings import read_settings
from dockfmu.declare.toml.tables import Table

pytestmark = pytest.mark.quick

CRAFT = {"parameters.mass": 2e4, "parameters.port[1].position": [5.0, 0.1, -0.2], "parameters.center_of_mass": 0.1}
STATION = {
    "parameters.mass": 4e5,
    "parameters.port[1].position": [-20.0, 0.3, 0.0],
    "parameters.port[1].angles": [0.1, -0.2, 0.3],
}
WANTED = InitialConditions(
    "chaser.port[1]",
    "station.port[1]",
    "mechanism",
    miss=(0.06, -0.04),
    angles=(0.02, -0.03, 0.05),
    velocity=(0.1, 0.01, -0.02),
    angular_velocity=(0.002, 0.001, -0.003),
)
_PROBE = probe_mechanism.component().record.memory().parameters.probe
HEAD = np.array([_PROBE.bearing_distance + _PROBE.free_length, 0.0, 0.0])


def placed(conditions, station=None, **mechanism):
    """Return frame 0 and PU of the craft at their start states, as (position, A, velocity, angular velocity) in I."""
    components = {
        "chaser": spacecraft.component(),
        "station": station or spacecraft.component(),
        "mechanism": probe_mechanism.component(),
    }
    given = {"chaser": CRAFT, "station": STATION, "mechanism": mechanism}
    values = {
        name: dict(item for key, value in start.items() for item in components[name].record.expand(key, value, name))
        for name, start in given.items()
    }
    start = place_crafts(conditions, components, values)
    ports = []
    for name in ("chaser", "station"):
        m = Instance(components[name], **{**values[name], **start.values[name]}).m
        A = np.array(from_quaternion(tuple(m.port[0].quaternion)))
        port = m.port[0]
        ports.append((port.position.copy(), A, A.T @ port.velocity, A.T @ port.angular_velocity, m))
    return ports


def relative(ports):
    """Return the position of frame 0 in PU, rotation PU -> 0, velocity of O_0 in the rotating PU (axes PU)."""
    (r1, A1, v1, _, _), (r2, A2, v2, w2, _) = ports
    return A2 @ (r1 - r2), A1 @ A2.T, A2 @ (v1 - v2 - np.cross(w2, r1 - r2))


def yaw_pitch_roll(A):
    return angles(tuple(map(tuple, A)))


def test_spec04_section_8_case_a():
    ports = placed(WANTED)
    r, A, _ = relative(ports)
    assert (r + A.T @ HEAD)[1:] == pytest.approx(WANTED.miss, abs=1e-12)
    assert yaw_pitch_roll(A) == pytest.approx(WANTED.angles, abs=1e-12)
    body, rest = ports[0][4].rigid, ports[1][4].rigid
    assert body.velocity == pytest.approx(WANTED.velocity, abs=1e-15)
    assert body.angular_velocity == pytest.approx(WANTED.angular_velocity, abs=1e-15)
    assert not rest.velocity.any()
    assert not rest.position.any()
    assert np.array_equal(rest.quaternion, [1.0, 0.0, 0.0, 0.0])


def test_spec04_section_8_case_b_the_craft_with_the_passive_unit_approaches():
    """I is C of the craft with the mechanism; the other one closes along -x; miss and angles are those of PU in 0."""
    ports = placed(replace(WANTED, moving="passive"))
    r, A, seen = relative(ports)
    head = r + A.T @ HEAD
    assert (-A @ head)[1:] == pytest.approx(WANTED.miss, abs=1e-12)
    assert yaw_pitch_roll(A.T) == pytest.approx(WANTED.angles, abs=1e-12)
    rest, body = ports[0][4].rigid, ports[1][4].rigid
    assert body.velocity == pytest.approx((-0.1, 0.01, -0.02), abs=1e-15)
    assert body.angular_velocity == pytest.approx(WANTED.angular_velocity, abs=1e-15)
    assert not rest.velocity.any()
    assert not rest.position.any()
    assert seen[0] > 0.0  # frame 0 moves along +x of PU: the units close


@pytest.mark.parametrize("moving", ["active", "passive"])
def test_spec04_section_8_orbital_rate_turns_both_craft(moving):
    """(4.5.4): the rate asked for is relative to the resting craft, both have the orbit's besides."""
    rate = np.array([0.0, 1.1e-3, 2e-4])
    ports = placed(replace(WANTED, moving=moving, orbital_rate=tuple(rate)))
    move, rest = ports if moving == "active" else ports[::-1]
    A_move = np.array(from_quaternion(tuple(move[4].rigid.quaternion)))
    assert rest[4].rigid.angular_velocity == pytest.approx(rate, abs=1e-16)
    assert move[4].rigid.angular_velocity - A_move @ rate == pytest.approx(WANTED.angular_velocity, abs=1e-15)
    assert np.abs(move[4].rigid.velocity) == pytest.approx(np.abs(WANTED.velocity), abs=1e-15)


@pytest.mark.parametrize("rate", [(0.0, 0.0, 0.0), (0.0, 1.1e-3, 2e-4)])
def test_spec04_section_8_velocity_of_the_port_seen_in_the_turning_unit(rate):
    """port_relative: O_0 approaches as asked, whatever the orbit turns; cm_inertial differs by omega x r, 0.02 m/s."""
    asked = replace(WANTED, velocity_point="port_relative", orbital_rate=rate)
    _, _, seen = relative(placed(asked))
    assert seen == pytest.approx(WANTED.velocity, abs=1e-14)
    _, _, other = relative(placed(replace(asked, velocity_point="cm_inertial")))
    assert 0.005 < np.linalg.norm(other - seen) < 0.05


def test_spec04_section_8_modes_that_vibrate_at_the_start_displace_the_port():
    """q(0) of the station (plume impingement): the head touches the unit where the modes have moved it to."""
    modes = declared_modes("station_beam")
    moved = np.zeros(len(modes.frequency))
    moved[:3] = (20.0, -10.0, 5.0)
    station = spacecraft.component(replace(modes, initial_coordinate=moved))
    still = placed(WANTED, spacecraft.component(modes))
    ports = placed(WANTED, station)
    assert np.linalg.norm(ports[1][0] - still[1][0]) > 0.01
    r, A, _ = relative(ports)
    assert (r + A.T @ HEAD)[1:] == pytest.approx(WANTED.miss, abs=1e-12)
    assert yaw_pitch_roll(A) == pytest.approx(WANTED.angles, abs=1e-12)
    assert r == pytest.approx(relative(still)[0], abs=1e-12)


LIMITS = {
    "miss": (0.34,) * 2,
    "angles": (np.radians(7.0),) * 3,
    "velocity": (0.35, 0.1, 0.1),
    "angular_velocity": (np.radians(1.0),) * 3,
}


def test_spec04_section_8_severity():
    """All eleven at their limits give R1 = sqrt(11) = 3.32 and R2 = 11; half of one gives 0.5 and 0.5.

    The closing speed counts from the nominal one (ruling R60), which lies below its limit.
    """
    extreme = InitialConditions("a", "b", "c", **LIMITS, limits=LIMITS, nominal_speed=0.1)
    found = severity(extreme)
    assert (found.root_sum_square, found.sum) == pytest.approx((np.sqrt(11.0), 11.0))
    found = severity(InitialConditions("a", "b", "c", velocity=(0.0, -0.05, 0.0), limits=LIMITS))
    assert (found.root_sum_square, found.sum, found.worst[0]) == (pytest.approx(0.5), pytest.approx(0.5), "velocity[2]")
    assert severity(WANTED) is None


def test_severity_names_the_nearest_condition_in_words():
    rolled = replace(WANTED, limits=LIMITS, angles=(0.0, 0.0, 0.1), nominal_speed=WANTED.velocity[0])
    assert severity(rolled).worst[0] == "angles[3]"
    assert str(severity(rolled)).endswith("most roll with 82%")


def test_ruling_R60_a_centred_approach_at_the_nominal_speed_has_no_severity():
    centred = InitialConditions("a", "b", "c", velocity=(0.07, 0.0, 0.0), limits=LIMITS, nominal_speed=0.07)
    assert (severity(centred).root_sum_square, severity(centred).sum) == (0.0, 0.0)
    # deviations over the distance to the limit on their side, 0 and 0.35 m/s
    for speed, share in ((0.035, 0.5), (0.0, 1.0), (0.21, 0.5), (0.35, 1.0), (0.49, 1.5)):
        found = severity(replace(centred, velocity=(speed, 0.0, 0.0)))
        assert (found.root_sum_square, found.worst) == (pytest.approx(share), ("velocity[1]", pytest.approx(share)))
        again = replace(centred, velocity=(speed_at(centred, share), 0.0, 0.0))
        assert severity(again).sum == pytest.approx(share)
    # nothing is faster than a nominal speed at the limit; no craft approaches backwards
    fastest = replace(centred, velocity=(0.35, 0.0, 0.0), nominal_speed=0.35)
    assert severity(fastest).sum == 0.0
    assert severity(replace(fastest, velocity=(0.36, 0.0, 0.0))).sum == np.inf
    assert speed_at(fastest, 0.5) == pytest.approx(0.175)
    assert speed_at(replace(centred, slowest=0.06), -0.5) == pytest.approx(0.065)
    assert speed_at(centred, -1.5) == pytest.approx(0.07 + 1.5 * 0.28)


def test_ruling_R60_the_declared_speed_stays_the_nominal_one():
    """Severity of the same system at another speed, and with a seed: deviations are those from the declared speed."""
    declared = declaration.read("atv_probe_cone").initial_conditions
    assert declared.nominal_speed == declared.velocity[0] == 0.07
    faster = declaration.read("atv_probe_cone").with_conditions({"velocity[1]": 0.14}).initial_conditions
    added = severity(faster).root_sum_square ** 2 - severity(declared).root_sum_square ** 2
    assert added == pytest.approx((0.07 / (declared.limits["velocity"][0] - 0.07)) ** 2)


SUMS = ("miss", "angles", "velocity", "angular_velocity")
ROUND = replace(WANTED, limits=LIMITS | {"angles": LIMITS["angles"]}, vector_sums=SUMS, nominal_speed=0.1)


def test_ruling_R60_vector_sums_count_once():
    """Miss, yaw and pitch, lateral velocity, lateral rates: the resultant over its limit; roll and its rate alone."""
    found = severity(
        replace(
            ROUND, miss=(0.3, 0.4), angles=(0.0, 0.0, 0.0), velocity=(0.1, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0)
        )
    )
    assert (found.root_sum_square, found.sum) == pytest.approx((0.5 / 0.34, 0.5 / 0.34))
    assert found.worst == ("miss", pytest.approx(0.5 / 0.34))
    tilted = severity(
        replace(
            ROUND,
            miss=(0.0, 0.0),
            angles=(0.03, -0.04, 0.02),
            velocity=(0.1, 0.03, -0.04),
            angular_velocity=(0.001, 0.0, 0.0),
        )
    )
    shares = [0.05 / np.radians(7.0), 0.02 / np.radians(7.0), 0.05 / 0.1, 0.001 / np.radians(1.0)]
    assert (tilted.root_sum_square, tilted.sum) == pytest.approx((np.linalg.norm(shares), sum(shares)))


def test_ruling_R60_draws_respect_vector_sums():
    """4000 draws: uniform in the disc of a vector sum, everything else as without; no share is above 1."""
    seeds = range(4000)
    found = [draw(ROUND, seed) for seed in seeds]
    for name, (one, other) in ACROSS.items():
        radius = np.array([np.hypot(getattr(c, name)[one], getattr(c, name)[other]) for c in found])
        radius /= LIMITS[name][one]
        azimuth = [np.arctan2(getattr(c, name)[other], getattr(c, name)[one]) % (2.0 * np.pi) for c in found]
        assert radius.max() <= 1.0
        assert stats.kstest(radius**2, stats.uniform.cdf).pvalue > 1e-4, name
        assert stats.kstest(np.array(azimuth) / (2.0 * np.pi), stats.uniform.cdf).pvalue > 1e-4, name
    roll = np.array([c.angles[2] for c in found]) / LIMITS["angles"][2]
    assert stats.kstest(roll, stats.truncnorm(-3.0, 3.0, scale=1.0 / 3.0).cdf).pvalue > 1e-4
    assert all(c.angles[2] == draw(LIMITED_CONDITIONS, k).angles[2] for k, c in zip(range(50), found, strict=False))
    assert max(severity(c).worst[1] for c in found) <= 1.0


def test_ruling_R60_what_the_guide_says_of_the_draws_is_true():
    """docs/guide/systems.md: without vector sums half of the draws have R1 below 1; R2 is 2.6 on average."""
    found = [severity(draw(LIMITED_CONDITIONS, seed)) for seed in range(4000)]
    r1, r2 = (np.array([getattr(one, name) for one in found]) for name in ("root_sum_square", "sum"))
    # of a normal number with a deviation of 1/3: mean magnitude 0.266, mean square 0.108, the cut at 1 counted; the
    # closing speed's is a half of that on average, because there is more room to faster speeds
    assert (r1 < 1.0).mean() == pytest.approx(0.48, abs=0.04)
    assert r2.mean() == pytest.approx(10.0 * 0.264, abs=0.1)
    assert (r2 < 1.0).mean() < 0.005
    assert r1.max() < np.sqrt(11.0)


LIMITED_CONDITIONS = replace(WANTED, limits=LIMITS)
MISS_OF_SEED_7 = (0.03604006060355028, 0.14278497517194547)


def drawn_shares(seeds) -> np.ndarray:
    """Return deviations of the eleven parameters over their limits (of the closing speed over its range), by seed."""
    rows = []
    for seed in seeds:
        found = draw(LIMITED_CONDITIONS, seed)
        closing = (found.velocity[0] - WANTED.velocity[0]) / min(WANTED.velocity[0], 0.35 - WANTED.velocity[0])
        values = [
            value / limit
            for name in ("miss", "angles", "velocity", "angular_velocity")
            for value, limit in zip(getattr(found, name), LIMITS[name], strict=True)
        ]
        values[5] = closing
        rows.append(values)
    return np.array(rows)


def test_spec04_section_8_draws_are_normal_and_within_their_limits():
    """Against the normal distribution, cut off at three sigma: mean, spread, tails, independence; 4000 draws."""
    shares = drawn_shares(range(4000))
    assert np.abs(shares).max() <= 1.0
    for column in shares.T:
        assert stats.kstest(column, stats.truncnorm(-3.0, 3.0, scale=1.0 / 3.0).cdf).pvalue > 1e-4
    correlation = np.corrcoef(shares.T) - np.eye(11)
    assert np.abs(correlation).max() < 5.0 / np.sqrt(len(shares))
    # "R < 1 in flight statistics": the sum of eleven squares of a third of a normal number
    assert (np.linalg.norm(shares, axis=1) < 1.0).mean() == pytest.approx(stats.chi2(11).cdf(9.0), abs=0.06)


def test_a_seed_gives_the_same_conditions_everywhere():
    """Compare with stored draws, which detect a version of numpy or scipy that draws differently."""
    found = draw(LIMITED_CONDITIONS, 7)
    assert draw(LIMITED_CONDITIONS, 7) == found != draw(LIMITED_CONDITIONS, 8)
    assert found.miss == pytest.approx(MISS_OF_SEED_7, rel=1e-14)


def test_a_seed_by_file_and_by_setting(tmp_path):
    file = tmp_path / "drawn.toml"
    file.write_text('extends = "soyuz_probe_cone"\nname = "drawn"\n[initial_conditions]\nseed = 3\n', "utf-8")
    by_file = declaration.read(str(file)).initial_conditions
    soyuz = declaration.read("soyuz_probe_cone")
    assert soyuz.with_conditions({"seed": "3"}).initial_conditions == by_file != soyuz.initial_conditions
    # what is set beside it takes precedence, whatever the order
    mixed = soyuz.with_conditions({"miss": [0.01, 0.02], "seed": 3}).initial_conditions
    assert mixed == replace(by_file, miss=(0.01, 0.02))


@pytest.mark.parametrize("seed", [-1, 1.5, True, "x", "1.5", None])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(DeclarationError, match="must be a non-negative integer"):
        declaration.read("soyuz_probe_cone").with_conditions({"seed": seed})


def test_draws_need_limits():
    bare = replace(declaration.read("soyuz_probe_cone"), initial_conditions=WANTED)
    with pytest.raises(DeclarationError, match=r"declares no initial_conditions\.limits"):
        bare.with_conditions({"seed": 1})
    with pytest.raises(DeclarationError, match=r"must lie between 0 and 0\.35 m/s"):
        draw(replace(LIMITED_CONDITIONS, velocity=(0.4, 0.0, 0.0)), 1)


def test_a_parameter_file_holds_conditions(tmp_path):
    file = tmp_path / "misses.ssv"
    file.write_text(
        '<ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" '
        'name="mine"><ssv:Parameters><ssv:Parameter name="initial_conditions.miss[2]"><ssv:Real value="8" unit="cm"/>'
        '</ssv:Parameter><ssv:Parameter name="initial_conditions.yaw"><ssv:Real value="0.02"/></ssv:Parameter>'
        "</ssv:Parameters></ssv:ParameterSet>"
    )
    settings, conditions = read_settings({"initial_conditions.yaw": "1deg", "chaser.parameters.mass": "7t"}, [file])
    assert not settings.sets[0].parameters
    assert settings.values == {"chaser.parameters.mass": "7t"}
    given = declaration.read("soyuz_probe_cone").with_conditions(conditions).initial_conditions
    assert given.miss == (0.10, pytest.approx(0.08))
    assert given.angles[0] == pytest.approx(np.radians(1.0))


def test_everything_of_section_8_is_declared(tmp_path):
    file = tmp_path / "b.toml"
    file.write_text(
        """
        extends = "atv_probe_cone"
        name = "b"
        [initial_conditions]
        moving = "passive"
        velocity_point = "port_relative"
        orbital_rate = { value = [0.0, 0.065, 0.0], unit = "deg/s", source = "circular orbit of 92 min" }
        [initial_conditions.limits]
        miss = { value = 0.34, unit = "m", source = "assumed, spacecraft section 8" }
        angles = { value = 7.0, unit = "deg", source = "assumed, spacecraft section 8" }
        velocity = { value = [0.35, 0.1, 0.1], unit = "m/s", source = "assumed, spacecraft section 8" }
        angular_velocity = { value = 1.0, unit = "deg/s", source = "assumed, spacecraft section 8" }
        """,
        "utf-8",
    )
    given = declaration.read(str(file)).initial_conditions
    assert (given.moving, given.velocity_point) == ("passive", "port_relative")
    assert given.orbital_rate == pytest.approx((0.0, 1.1345e-3, 0.0), rel=1e-4)
    assert given.limits["miss"] == (0.34, 0.34)
    assert severity(given).root_sum_square < 1.0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('moving = "both"', "initial_conditions: moving = 'both': must be active or passive"),
        ('velocity_point = "port"', "must be cm_inertial or port_relative"),
        (
            "limits = { miss = { value = -0.3, unit = 'm', source = 'x' } }",
            "miss: give one positive number, or 2 of them",
        ),
        (
            "limits = { velocity = { value = [0.35, 0.1, 0.2], unit = 'm/s', source = 'x', vector_sum = true } }",
            "velocity: vector_sum = true needs one limit for elements 2 and 3, not 0.1 and 0.2",
        ),
        ("limits = { miss = { value = 0.3, unit = 'm', source = 'x', vector_sum = 1 } }", "must be true or false"),
        ("limits = { slowest = { value = 0.5, unit = 'm/s', source = 'x' } }", "slowest: give one speed between 0 and"),
        ("limits = { mis = { value = 0.3, unit = 'm', source = 'x' } }", "there is no entry 'mis' here"),
    ],
)
def test_wrong_conditions_are_named_with_their_file(tmp_path, line, message):
    file = tmp_path / "wrong.toml"
    file.write_text(f'extends = "atv_probe_cone"\nname = "wrong"\n[initial_conditions]\n{line}\n', "utf-8")
    with pytest.raises(DeclarationError, match=message) as caught:
        declaration.read(str(file))
    assert "wrong.toml" in str(caught.value)


def test_a_compressed_probe_touches_where_its_head_is():
    """The centre of the head is at the same place with the probe free or compressed by 30 mm."""
    r, A, _ = relative(placed(WANTED))
    nearer, turned, _ = relative(placed(WANTED, **{"parameters.initial_travel": 0.03}))
    assert turned == pytest.approx(A, abs=1e-12)
    # first contact is found to 1e-9 m
    assert nearer + A.T @ (HEAD - [0.03, 0.0, 0.0]) == pytest.approx(r + A.T @ HEAD, abs=1e-8)


def test_limits_are_of_all_eleven():
    places = {"active": "a.port[1]", "target": "b.port[1]", "mechanism": "m"}
    some = {"miss": {"value": 0.3, "unit": "m", "source": "x"}}
    table = Table({"initial_conditions": {**places, "limits": some}}, "file.toml", ("initial_conditions",))
    with pytest.raises(DeclarationError, match=r"file\.toml, initial_conditions, limits: lacks angles"):
        read_conditions(table)


def test_docked_craft_have_their_docking_planes_on_each_other():
    """`start = "docked"`: the plane of frame 0 lies in that of PU, with miss, angles and gap about it."""
    wanted = replace(WANTED, start="docked", miss=(0.0, 0.0), angles=(0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0))
    for gap in (0.0, 0.03):
        plane = probe_mechanism.component().record.memory().parameters.docking_plane_x
        r, A, _ = relative(placed(replace(wanted, start_gap=gap)))
        assert r == pytest.approx([-plane - gap, 0.0, 0.0], abs=2e-6)
        assert pytest.approx(np.eye(3), abs=1e-12) == A


@pytest.mark.parametrize("craft", ["atv", "soyuz"])
def test_ruling_R60_draws_of_probes_lie_within_what_their_limits_document(craft):
    """Limits of a component are documented as those of a vector: 0.34 m from the axis, 0.1 m/s across, at least."""
    given = declaration.read(f"{craft}_probe_cone").initial_conditions
    drawn = [draw(given, seed) for seed in range(1, 301)]
    assert max(np.hypot(*one.miss) for one in drawn) < 0.34
    assert max(np.hypot(*one.velocity[1:]) for one in drawn) < 0.1
    assert max(abs(angle) for one in drawn for angle in one.angles) <= np.radians(7.0)
    assert max(abs(rate) for one in drawn for rate in one.angular_velocity) <= np.radians(1.0)
    speeds = [one.velocity[0] for one in drawn]
    assert given.slowest <= min(speeds)
    assert max(speeds) <= 0.35
    shares = [severity(one) for one in drawn]
    assert all(share.root_sum_square <= share.sum <= 11.0 for share in shares)
