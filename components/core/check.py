"""Checks of what comes in through ports."""

from math import fabs, isfinite

from components.core.component import Message, fail
from components.core.kernel import kernel

NOT_FINITE = 1
QUATERNION = 2


def messages(ports: str) -> dict[int, Message]:
    """Messages of `check_port`; `ports` says which index is which port."""
    return {
        NOT_FINITE: Message(f"an input of port {{status.index:.0f}} ({ports}) is not finite"),
        QUATERNION: Message(f"the quaternion of port {{status.index:.0f}} ({ports}) has norm {{status.value:.6g}}"),
    }


@kernel
def check_port(port, index, status):
    """0 if pose and twist of a port are finite and its quaternion is one of unit norm within 0.1 %, else a code."""
    q = port.quaternion
    square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    total = square
    for i in range(3):
        total += port.position[i] + port.velocity[i] + port.angular_velocity[i]
    if not isfinite(total):
        return fail(status, NOT_FINITE, total, index)
    if fabs(square - 1.0) > 1e-3:
        return fail(status, QUATERNION, square, index)
    return 0


@kernel
def check_acceleration(port, index, status):
    """0 if the accelerations of a port are finite, else a code."""
    total = 0.0
    for i in range(3):
        total += port.acceleration[i] + port.angular_acceleration[i]
    if not isfinite(total):
        return fail(status, NOT_FINITE, total, index)
    return 0
