"""Arms for the tests: instances from the component's sets, and their links again in plain numpy and in Pinocchio."""

from __future__ import annotations

import numpy as np

from dockfmu.components.core.component import Instance
from dockfmu.components.manipulator import links
from dockfmu.fmus import catalogue

REF = (0.0, 0.5, -0.6, 1.6, -1.0, -0.4, 0.3)
COMPONENT = catalogue.component("Manipulator")
SETS = {entry.name: entry for entry in COMPONENT.parameter_sets}
ARMS = ("SSRMS", "ERA")
H = 1e-3


def instance(*names, **values):
    """An arm at the start; without names the reference case of manipulator 10."""
    chosen = [SETS[name] for name in (names or ("SSRMS", "MIM-1", "REF-SSRMS"))]
    return Instance(COMPONENT, *chosen, **values)


def run(arm, seconds, h=H, watch=None, start=0.0):
    """Step an arm; rows of what `watch(m)` returns after each step."""
    rows = []
    for k in range(round(seconds / h)):
        arm.step(start + k * h, h)
        if watch:
            rows.append(watch(arm.m))
    return np.array(rows)


def energy(m):
    """Return what must stay zero, J, but for the kinetic energy of the start."""
    a = m.audit
    works = a.work_motors + a.work_interface + a.work_thrust + a.work_base + a.work_stiffness_update
    return a.kinetic_energy + a.stored_energy + a.dissipated_energy - works


def axis_turn(axis, angle):
    """alpha of conventions 2: components before the turn to those after it; axis 1, 2, 3."""
    c, s = np.cos(angle), np.sin(angle)
    return {
        1: np.array([[1, 0, 0], [0, c, s], [0, -s, c]]),
        2: np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]),
        3: np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]),
    }[int(axis)]


def reaches(m):
    """l_0 to l_N, as the parameters' segments add up."""
    p = m.parameters.segment
    used = np.asarray(p.kind)[:, :, None] != 1.0
    return (np.asarray(p.length) * used).sum(axis=1)


def forward(m, q):
    """(E from R, R -> E) of the chain."""
    l = reaches(m)  # noqa: E741
    turn, place = np.eye(3), l[0].copy()
    for k, angle in enumerate(q):
        turn = axis_turn(m.parameters.link.axis[k], angle) @ turn
        place = place + turn.T @ l[k + 1]
    return place, turn


def pinocchio_model(m, floating=False):
    """The links of an arm, without gravity; `floating` puts a free massless root before them."""
    import pinocchio

    model = pinocchio.Model()
    model.gravity.setZero()
    parent = 0
    if floating:
        parent = model.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), "root")
    l = reaches(m)  # noqa: E741
    joints = {1: pinocchio.JointModelRX, 2: pinocchio.JointModelRY, 3: pinocchio.JointModelRZ}
    p = m.parameters.link
    for k in range(len(p.axis)):
        parent = model.addJoint(parent, joints[int(p.axis[k])](), pinocchio.SE3(np.eye(3), l[k]), f"joint{k + 1}")
        body = pinocchio.Inertia(float(p.mass[k]), np.array(p.center_of_mass[k]), np.array(p.inertia[k]))
        model.appendBodyToJoint(parent, body, pinocchio.SE3.Identity())
    return model


def place(m, q, rates=None):
    """Put the links of a record at these angles and rates of the joints."""
    for k, angle in enumerate(q):
        m.drive[k].input_angle = m.parameters.gear.ratio[k] * angle
        m.drive[k].input_rate = m.parameters.gear.ratio[k] * (0.0 if rates is None else rates[k])
    links.place(m)


def load_links(m, wrench, torques, armatures):
    """Set a wrench on the last link about its joint, and torques and armatures of the joints."""
    for k in range(7):
        m.arm[k + 1].drive_torque = torques[k]
        m.drive[k].armature = armatures[k]
    for i in range(3):
        m.arm[7].force[i] += wrench[i]
        m.arm[7].torque[i] += wrench[3 + i]
