"""Outputs of the probe mechanism at the end of a step: links, docking, sensors."""

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.kinematics import set_docking
from dockfmu.components.physics.mechanics.rotation import (
    continued,
    load_matrix,
    load_quaternion,
    quaternion,
    store_quaternion,
)
from dockfmu.components.physics.mechanics.vector import load, store
from dockfmu.components.probe_mechanism.axial import axial_train


@kernel
def _set_links(tree_links, out):
    """Set the outputs of the buffer links from the links of the tree."""
    for j in range(2):
        link = tree_links[j]
        store(load(link.position), out[j].position)
        q = quaternion(load_matrix(link.rotation))
        store_quaternion(continued(q, load_quaternion(out[j].quaternion)), out[j].quaternion)
        store(load(link.velocity), out[j].velocity)
        store(load(link.angular_velocity), out[j].angular_velocity)


@kernel
def set_motion(m):
    """Set kinematic outputs and end-position sensors at the end of the step, where everything is placed."""
    p = m.parameters
    travel = m.axial.travel
    _set_links(m.tree.link, m.link)
    set_docking(m.relative, p.docking_plane_x, m.docking)
    m.nut.angle = axial_train.nut_per_travel(p.axial) * travel
    m.nut.rate = axial_train.nut_per_travel(p.axial) * m.axial.rate
    m.probe.length = p.probe.free_length - travel
    m.sensor.extended = 1.0 if travel <= p.sensor_margin else 0.0
    m.sensor.retracted = 1.0 if m.probe.length <= p.probe.shortest_length + p.sensor_margin else 0.0
    m.sensor.axial_travel = travel
    for i in range(2):
        m.sensor.probe_deflection[i] = m.link[0].position[1 + i]
        m.sensor.housing_angle[i] = m.joint.angle[i]
