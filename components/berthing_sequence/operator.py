"""The scripted operator RT: looks at the views, decides, and moves the hand controllers (berthing 6).

Pitch and yaw are read from the overview views, with noise, and offset and roll from the aiming view. There pitch
and yaw times the distance add to the offset, so angles are aligned first. Deflections are proportional to the error,
quantised, zero within a dead zone, and follow a look after the reaction delay. The operator of a list of Steps sees the
miss that each of them is to correct.
"""

from __future__ import annotations

from math import copysign, exp, fabs, floor

from dockfmu.components.berthing_sequence.ports import PHASE, WAITING
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.noise import normal_pair
from dockfmu.components.physics.mechanics.rotation import angles, apply, from_quaternion, load_attitude
from dockfmu.components.physics.mechanics.vector import load, negate

ALIGN_ANGLES = PHASE.codes["ALIGN_ANGLES"]
ALIGN_OFFSET = PHASE.codes["ALIGN_OFFSET"]
APPROACH = PHASE.codes["APPROACH"]


@kernel
def look(m):
    """Update the operator's estimates, running means of the readings of the views, with this look."""
    p = m.parameters.operator
    A = from_quaternion(load_attitude(m.relative.quaternion))
    turned = angles(A)
    across = apply(A, negate(load(m.relative.position)))
    number = int(m.work.looks)
    noise = normal_pair(int(p.seed), number, 0)
    more = normal_pair(int(p.seed), number, 1)
    # the first look is taken without averaging
    share = 1.0
    if number > 0 and p.smoothing > 0.0:
        share = 1.0 - exp(-p.sample_time / p.smoothing)
    seen = m.sight
    seen.angles[0] += share * (turned[0] + p.angle_noise * noise[0] - seen.angles[0])
    seen.angles[1] += share * (turned[1] + p.angle_noise * noise[1] - seen.angles[1])
    seen.angles[2] += share * (turned[2] - seen.angles[2])
    for i in range(2):
        seen.offset[i] += share * (across[i + 1] + p.offset_noise * more[i] - seen.offset[i])
    m.work.looks += 1.0


@kernel
def miss(m, axis):
    """Return the miss along axis 2 or 3 of BI, m, or the angle of PI about axis 4 to 6 against it, rad.

    A scripted operator of Steps reads both as numbers beside the wire-frame view (source 8.4).
    """
    if axis < 4:
        return m.relative.position[axis - 1]
    yaw, pitch, roll = angles(from_quaternion(load_attitude(m.relative.quaternion)))
    return roll if axis == 4 else (yaw if axis == 5 else pitch)


@kernel
def _hand(error, zone, full, quantum, largest):
    """Return the deflection that reduces an error: proportional, quantised, zero within the zone."""
    if fabs(error) <= zone:
        return 0.0
    size = min(largest, fabs(error) / full)
    if quantum > 0.0:
        size = max(quantum, quantum * floor(size / quantum + 0.5))
    return copysign(min(1.0, size), error)


@kernel
def _settled(m, t, within):
    """Return whether the errors have stayed within their zones for the settling time; `within`: they are now."""
    if not within:
        m.work.settled = -1.0
        return False
    if m.work.settled < 0.0:
        m.work.settled = t
    return t - m.work.settled >= m.parameters.operator.settle_time


@kernel
def _enter(m, phase):
    m.phase = phase
    m.work.settled = -1.0


@kernel
def decide(m, t):
    """Set the phase, and queue the deflections of this look until the delay has passed; `t` since the start, s."""
    p = m.parameters.operator
    seen = m.sight
    yaw, pitch, roll = seen.angles[0], seen.angles[1], seen.angles[2]
    angle = max(fabs(yaw), fabs(pitch))
    offset = max(fabs(seen.offset[0]), fabs(seen.offset[1]))
    touched = m.happened.first_contact != 0.0
    if m.phase == APPROACH and not touched:
        if angle > p.angle_return:
            _enter(m, ALIGN_ANGLES)
        elif offset > p.offset_return:
            _enter(m, ALIGN_OFFSET)
    if m.phase == ALIGN_ANGLES:
        if _settled(m, t, angle <= p.angle_zone):
            _enter(m, ALIGN_OFFSET)
    elif m.phase == ALIGN_OFFSET:
        if angle > p.angle_return:
            _enter(m, ALIGN_ANGLES)
        elif _settled(m, t, offset <= p.offset_zone and fabs(roll) <= p.angle_zone):
            _enter(m, APPROACH)
    hand = m.work.hand[int(m.work.looks) % WAITING].deflection
    for i in range(6):
        hand[i] = 0.0
    largest = 1.0
    if m.phase == APPROACH:
        hand[0] = p.approach
        largest = p.correction
    if touched:
        return
    if m.phase != ALIGN_OFFSET:
        # a positive yaw of PI is reduced by turning about -y
        hand[4] = -_hand(yaw, p.angle_zone, p.full_angle, p.quantum, largest)
        hand[5] = -_hand(pitch, p.angle_zone, p.full_angle, p.quantum, largest)
    if m.phase != ALIGN_ANGLES:
        hand[1] = _hand(seen.offset[0], p.offset_zone, p.full_offset, p.quantum, largest)
        hand[2] = _hand(seen.offset[1], p.offset_zone, p.full_offset, p.quantum, largest)
        hand[3] = -_hand(roll, p.angle_zone, p.full_angle, p.quantum, largest)


@kernel
def act(m):
    """Set the deflections that are due: those of the look one delay ago, zero before the first."""
    p = m.parameters.operator
    back = floor(p.delay / p.sample_time + 0.5)
    for i in range(6):
        m.sight.deflection[i] = 0.0
    if m.work.looks > back:
        due = m.work.hand[int(m.work.looks - back) % WAITING].deflection
        for i in range(6):
            m.sight.deflection[i] = due[i]
