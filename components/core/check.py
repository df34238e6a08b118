"""Checks of port inputs and of parameters."""

from math import fabs, isfinite, sqrt

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel

NOT_FINITE = 1
QUATERNION = 2


def messages(ports: str) -> dict[int, Message]:
    """Return the messages of `check_port`; `ports` says which index is which port."""
    return {
        NOT_FINITE: Message(f"an input of port {{status.index:.0f}} ({ports}) is not finite"),
        QUATERNION: Message(
            f"the quaternion of port {{status.index:.0f}} ({ports}) has norm {{status.value:.6g}}, not 1: "
            "set it, or connect it"
        ),
    }


# a quaternion with a norm between these is normalised; any other is refused: it was never set, or it is damaged
LEAST_NORM = 1e-6
LARGEST_NORM = 1e6


@kernel
def norm_of_quaternion(q):
    """Return the norm of an array of four."""
    return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])


@kernel
def is_attitude(norm):
    """Return whether a quaternion of this norm represents an attitude; False for NaN."""
    return LEAST_NORM < norm < LARGEST_NORM


@kernel
def check_port(port, index, status):
    """Return 0 if pose and twist of a port are finite and its quaternion represents an attitude, else a code.

    The quaternion need not be of unit norm: `rotation.load_attitude` normalises it when it is read.
    """
    norm = norm_of_quaternion(port.quaternion)
    total = norm
    for i in range(3):
        total += port.position[i] + port.velocity[i] + port.angular_velocity[i]
    if not isfinite(total):
        return fail(status, NOT_FINITE, total, index)
    if not is_attitude(norm):
        return fail(status, QUATERNION, norm, index)
    return 0


@kernel
def check_ports(first, second, status):
    """Return 0, or the code of the first of two ports, 1 and 2, that `check_port` refuses."""
    code = check_port(first, 1, status)
    return code if code else check_port(second, 2, status)


@kernel
def check_acceleration(port, index, status):
    """Return 0 if the accelerations of a port are finite, else a code."""
    total = 0.0
    for i in range(3):
        total += port.acceleration[i] + port.angular_acceleration[i]
    if not isfinite(total):
        return fail(status, NOT_FINITE, total, index)
    return 0


@kernel
def check_accelerations(first, second, status):
    """Return 0, or the code of the first of two ports, 1 and 2, whose accelerations are not finite."""
    code = check_acceleration(first, 1, status)
    return code if code else check_acceleration(second, 2, status)


@kernel
def first_not_rising(a):
    """Return the index, from 1, of the first element that is not above the one before it; 0 if all rise."""
    for i in range(1, len(a)):
        if not a[i] > a[i - 1]:
            return i + 1
    return 0


@kernel
def is_unit(a):
    """Return whether an array of three is a unit vector, to 1e-6."""
    return fabs(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] - 1.0) < 2e-6
