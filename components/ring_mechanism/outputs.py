"""Outputs of a ring mechanism at the end of a step: ring, legs, sensors, docking."""

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.kinematics import set_docking
from dockfmu.components.physics.ring_on_legs import platform
from dockfmu.components.ring_mechanism.legs import chosen as legs


@kernel
def set_motion(m):
    """Set the outputs of motion, with everything placed at the end of the step."""
    platform.set_ring(m)
    legs.set_strokes(m)
    legs.set_outputs(m)
    set_docking(m.relative, m.parameters.docking_plane_x, m.docking)
