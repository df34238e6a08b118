"""Analysis of a declared multibody system, in numpy, by formulations that are independent of the kernels of its FMU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.base.names import did_you_mean
from dockfmu.components.multibody.analysis.contact_forces import add_contacts, contact_forces
from dockfmu.components.multibody.analysis.deformation import body_jacobian, mass_properties, settled, weighed
from dockfmu.components.multibody.analysis.devices import DeviceLoads, device_loads
from dockfmu.components.multibody.analysis.elements import coordinate_index, element_loads, rate_index, stored_energy
from dockfmu.components.multibody.analysis.inertia import check_inertia
from dockfmu.components.multibody.analysis.loads_in_joints import joint_loads
from dockfmu.components.multibody.analysis.picture import draw
from dockfmu.components.multibody.analysis.results import (
    ContactForce,
    Freedoms,
    JointLoad,
    MassProperties,
    MultibodyEnergy,
    MultibodyState,
    TargetMotion,
    Vibration,
)
from dockfmu.components.multibody.analysis.vibrations import vibrations
from dockfmu.components.multibody.declaration import read_model
from dockfmu.components.multibody.model import BASE, Model
from dockfmu.components.multibody.model.elastic import elastic_parts
from dockfmu.components.multibody.model.parts import COORDINATES, RATES
from dockfmu.components.multibody.reference.algebra import cross
from dockfmu.components.multibody.reference.from_model import flexible_system, massless_frames
from dockfmu.components.multibody.reference.graph_method import GraphEquations, Loads, equations
from dockfmu.components.multibody.reference.impulse import ClosureError, closed_positions, closed_rates, tangent
from dockfmu.components.multibody.reference.kinematics import TreeMotion, follow
from dockfmu.components.multibody.reference.loops import (
    LoopRank,
    LoopSolution,
    closed_tree,
    cut_rows,
    loop_rank,
    natural_lengths,
)
from dockfmu.components.multibody.reference.rank import metric, null_rows, scaled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEARBY = 1e-2
"""Largest change of a rate's coordinate, rad or m, to a pose that tells whether another one is singular."""


class UnknownNameError(DockfmuError, KeyError):
    """A multibody system has no body, port, coordinate or rate of this name."""

    def __str__(self) -> str:
        return str(self.args[0])


class Multibody:
    """A multibody system for analysis: what an engineer checks before a run.

    All methods take a state, that of the declaration if none is given. The base is at rest. Forces are gravity, the
    laws of the joints (springs, dampers, stops, hysteresis on its first loading; not friction), the drives with the
    commands of the declaration or others (not their dry friction and brakes), and springs between points. Contacts
    count where they are given: `contact_forces` finds them. Rotors of drives add inertia to their coordinates. Modes of
    elastic bodies are coordinates and rates, "BODY.mode1", behind those of the joints. Vectors are in axes of the base.

    Examples
    --------
    >>> wing = dockfmu.Multibody.load("wing.toml")                                             # doctest: +SKIP
    >>> print(wing.freedoms())                                                                 # doctest: +SKIP
    2 degrees of freedom, 0 constraints of rank 0
    >>> open_wing = wing.state({"root.angle": 0.0, "hinge.angle": 0.0})                        # doctest: +SKIP
    >>> wing.vibrations(open_wing).frequencies                                                 # doctest: +SKIP
    """

    def __init__(self, model: Model) -> None:
        self._elastic = elastic_parts(massless_frames(model))
        self.model = massless_frames(model)
        self.system = flexible_system(self.model)

    @classmethod
    def load(cls, file: str | PathLike[str]) -> Multibody:
        """Return the system that a TOML file declares. Raises ModelError with all mistakes in the file."""
        return cls(read_model(Path(file)).model)

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Return the names of the coordinates, "joint.coordinate", in the order of `MultibodyState.q`."""
        own = tuple(f"{joint.name}.{name}" for joint in self.model.tree for name in COORDINATES[joint.kind])
        return own + self._modes

    @cached_property
    def rates(self) -> tuple[str, ...]:
        """Return the names of the rates in the order of `MultibodyState.u`."""
        return tuple(f"{joint.name}.{name}" for joint in self.model.tree for name in RATES[joint.kind]) + self._modes

    @cached_property
    def _modes(self) -> tuple[str, ...]:
        parts = zip(self._elastic, self.system.flexible, strict=True)
        return tuple(f"{one.body.name}.mode{k}" for one, part in parts for k in range(1, part.count + 1))

    @cached_property
    def start(self) -> MultibodyState:
        """Return the state of the declaration, with its loops closed."""
        return self.state()

    def state(
        self,
        coordinates: Mapping[str, float] | None = None,
        rates: Mapping[str, float] | None = None,
        time: float = 0.0,
        rotors: Mapping[str, tuple[float, float]] | None = None,
    ) -> MultibodyState:
        """Return a state: that of the declaration with some coordinates and rates given, by their names.

        Prescribed coordinates have their values at `time`, and locked ones no rate. Loops are closed by the coordinates
        that are not given.
        Elastic bodies are undeformed, or in static equilibrium where the declaration says so and none of their modes is
        given. `rotors` has (angle, rate) of rotors behind elastic gearboxes, by the names of their drives and in units
        of their coordinates; others turn with their joints.

        Raises
        ------
        UnknownNameError
            If there is no such coordinate or rate.
        ClosureError
            If the loops cannot be closed, with the joint that stays open and by how much.
        StaticStartError
            If no deflection holds the loads, where a static start is declared.
        SingularPoseError
            If joints of a closed system move something without inertia. Forward dynamics, reactions and vibrations
            raise it in any system.
        """
        starts = [joint.start for joint in self.model.tree]
        still = (0.0,) * len(self._modes)
        q = np.array([*(value for positions, _ in starts for value in positions), *still])
        u = np.array([*(value for _, values in starts for value in values), *still])
        u[self._locked()] = 0.0
        moving = self._prescribed(time)
        for name, value in (coordinates or {}).items():
            q[_place(name, self.coordinates, "coordinate")] = value
        for name, value in (rates or {}).items():
            u[_place(name, self.rates, "rate")] = value
        for (place, rate), (value, speed, _) in moving.items():
            q[place], u[rate] = value, speed
        q = self._unit_quaternions(q)
        elastic = tuple(drive.name for drive in self.model.drives if drive.gear_stiffness > 0.0)
        for name in rotors or ():
            _place(name, elastic, "drive with an elastic gearbox")
        turning = dict(rotors or {})
        held = {rate for _, rate in moving} | set(self._locked())
        fixed = sorted(self._rates_of(coordinates or ()) | held)
        kept = {_place(name, self.rates, "rate") for name in rates or ()}

        def joined(q: np.ndarray) -> MultibodyState:
            given = MultibodyState(q, u, time, turning)
            if not self.model.cuts:
                return given
            self._equations(self._motion(given), given, fixed)
            q = closed_positions(self.system, q, fixed, time, tolerance=1e-12)
            return MultibodyState(q, closed_rates(self.system, q, u, sorted(kept | held), time), time, turning)

        def solved(state: MultibodyState, inertias: Mapping[int, float], closing: float) -> np.ndarray:
            motion = self._motion(state)
            tree = equations(motion, self._loads(motion, state))
            others = set(range(self.system.rates - len(self._modes), len(u))) - set(inertias)
            added = np.array([inertias.get(rate, 0.0) for rate in range(len(u))])
            sluggish = replace(tree, A=tree.A + np.diag(added))
            return closed_tree(
                motion, sluggish, self._held(state.time) | dict.fromkeys(others, 0.0), (closing, 0.0)
            ).udot

        wanted = [
            part.body.settled and not any(name.startswith(f"{part.body.name}.mode") for name in coordinates or ())
            for part in self._elastic
        ]
        return settled(self.system, joined(q), wanted, solved, joined)

    def mass_properties(self, state: MultibodyState | None = None) -> MassProperties:
        """Return mass, centre of mass and inertia of the whole system in a pose, deformed as it is."""
        return mass_properties(self._motion(state))

    def freedoms(self, state: MultibodyState | None = None) -> Freedoms:
        """Return the degrees of freedom at a pose, with the rank of all constraints and redundant ones named."""
        motion = self._motion(state)
        held = sorted(self._held(motion.t))
        tree = self._equations(motion, state, held if self.model.cuts else None)
        rows = cut_rows(motion, tree)
        report = loop_rank(motion, tree.A, rows, held)
        every = np.vstack((rows.H[report.kept], np.eye(self.system.rates)[held]))
        rank, _ = null_rows(scaled(every)) if len(every) else (0, None)
        every_row = np.bincount(rows.cut, minlength=len(self.system.cuts))
        redundant = {
            cut.name: (dropped, int(count))
            for cut, dropped, count in zip(self.system.cuts, report.dropped, every_row, strict=False)
            if dropped
        }
        return Freedoms(
            self.system.rates - rank,
            len(rows.g) + len(held),
            rank,
            report.joints,
            self._singular(motion, report),
            redundant,
        )

    def mass_matrix(self, state: MultibodyState | None = None) -> np.ndarray:
        """Return the mass matrix of the rates of the tree and the modes, with rotors that turn with them."""
        return self._equations(self._motion(state), state).A

    def forward_dynamics(
        self,
        state: MultibodyState | None = None,
        drives: Mapping[str, float] | None = None,
        commands: Mapping[str, float] | None = None,
        contacts: Sequence[ContactForce] = (),
    ) -> np.ndarray:
        """Return the accelerations of the rates, with loops closed, under all forces.

        Parameters
        ----------
        drives : mapping of str to float, optional
            Forces along rates, by their names, beside those of the model.
        commands : mapping of str to float, optional
            Commands of the model's drives, by their names; those of the declaration for the others.
        contacts : sequence of ContactForce, optional
            Forces of contacts beside those of the model, see `contact_forces`.

        Raises
        ------
        UnknownNameError
            If there is no such rate or drive.

        Examples
        --------
        >>> wing.forward_dynamics(wing.start, drives={"root.angle": 3.0})                      # doctest: +SKIP
        >>> probe.forward_dynamics(contacts=probe.contact_forces(target=target))               # doctest: +SKIP
        """
        return self._solved(self._motion(state), state, drives, commands, contacts=contacts).udot

    def contact_forces(
        self, state: MultibodyState | None = None, target: TargetMotion | None = None
    ) -> tuple[ContactForce, ...]:
        """Return the pairs of declared surfaces that touch in a state, with depth, place and force.

        Parameters
        ----------
        target : TargetMotion, optional
            The unit that a mechanism meets; by default at rest in the frame of the base.

        Examples
        --------
        >>> target = dockfmu.TargetMotion(position=(0.2, 0.0, 0.0))                            # doctest: +SKIP
        >>> [(one.surfaces, one.depth, one.force) for one in probe.contact_forces(target=target)]  # doctest: +SKIP
        """
        return contact_forces(self.model, self._motion(state), target or TargetMotion())

    def rotor_accelerations(
        self, state: MultibodyState | None = None, commands: Mapping[str, float] | None = None
    ) -> dict[str, float]:
        """Return the accelerations of the rotors behind elastic gearboxes, in units of their coordinates, by drive."""
        return self._devices(self._motion(state), state, commands).rotors

    def inverse_dynamics(self, accelerations: Sequence[float], state: MultibodyState | None = None) -> np.ndarray:
        """Return the drives along the rates that give these accelerations, beside all forces of the model.

        In a system with closed loops they are those with the cut joints free of load.
        """
        tree = self._equations(self._motion(state), state)
        return tree.A @ np.asarray(accelerations, dtype=float) - tree.B

    def jacobian(
        self, place: str, state: MultibodyState | None = None, point: Sequence[float] = (0.0, 0.0, 0.0)
    ) -> np.ndarray:
        """Return the 6 x n matrix from rates to the twist [angular velocity; velocity] of a point.

        Parameters
        ----------
        place : str
            A body or a port.
        point : sequence of float, optional
            Of a body: the point in its frame, m; of an elastic one it moves with the nearest interface node. Of a port
            it is the port's.

        Raises
        ------
        UnknownNameError
            If there is no such body or port.
        """
        body, arm = self._point(place, point)
        motion = self._motion(state)
        tree = self._equations(motion, state)
        if body == 0:
            return np.zeros((6, self.system.rates))
        for k, part in enumerate(self.system.flexible):
            if part.body == body:
                return body_jacobian(self._elastic[k].body, k, arm, motion, tree)
        turning = -tree.P[:, body - 1]
        return np.hstack((turning, tree.D[:, body - 1] + cross(turning, (motion.A[body] @ arm)[None]))).T

    def reactions(
        self,
        state: MultibodyState | None = None,
        drives: Mapping[str, float] | None = None,
        commands: Mapping[str, float] | None = None,
        contacts: Sequence[ContactForce] = (),
    ) -> dict[str, JointLoad]:
        """Return the load of every joint under all forces, by the names of the joints; see `forward_dynamics`.

        Components that redundant constraints leave undetermined are NaN; `freedoms` names the joints.

        Examples
        --------
        >>> wing.reactions()["root"].force                                                     # doctest: +SKIP
        """
        motion = self._motion(state)
        self._equations(motion, state, self._held(motion.t))
        return joint_loads(motion, self._loads(motion, state, drives, commands, contacts), self._held(motion.t))

    def energy(self, state: MultibodyState | None = None) -> MultibodyEnergy:
        """Return the energies of motion, gravity and springs, with those of rotors, gears, hysteresis and strain."""
        motion = self._motion(state)
        devices = self._devices(motion, state)
        gravity, springs = stored_energy(self.model, motion)
        return MultibodyEnergy(motion.energy() + devices.kinetic, gravity, springs + devices.stored)

    def vibrations(self, state: MultibodyState | None = None) -> Vibration:
        """Return natural frequencies and modes of small motions about a pose, at rest."""
        pose = self.start if state is None else state
        elastic = [drive for drive in self.model.drives if drive.gear_stiffness > 0.0]
        resting = [
            pose.rotors.get(one.name, (pose.q[coordinate_index(self.model, one.joint, one.coordinate)], 0.0))[0]
            for one in elastic
        ]
        weights = np.array([one.ratio**2 * one.inertia for one in elastic])

        def accelerations(
            q: np.ndarray, u: np.ndarray, angles: np.ndarray, rates: np.ndarray
        ) -> tuple[np.ndarray, np.ndarray]:
            turning = {one.name: (float(a), float(r)) for one, a, r in zip(elastic, angles, rates, strict=True)}
            moved = replace(pose, q=q, u=u, rotors=turning)
            motion = self._motion(moved)
            rotors = self._devices(motion, moved).rotors
            return self._solved(motion, moved, still=True).udot, np.array([rotors[one.name] for one in elastic])

        held = sorted(self._held(pose.time))
        tree = self._equations(self._motion(replace(pose, u=np.zeros_like(pose.u))), pose, held)
        return vibrations(self.system, pose.q, held, accelerations, tree, np.array(resting), weights)

    def positions(self, state: MultibodyState | None = None) -> dict[str, np.ndarray]:
        """Return the centres of mass of the bodies, m."""
        motion = self._motion(state)
        _, r, _ = weighed(motion)
        return {body.name: r[k] for k, body in enumerate(self.model.bodies) if body.node is None}

    def picture(self, state: MultibodyState | None = None) -> Figure:
        """Return a drawing of a pose, a figure of matplotlib: `.savefig("wing.png")`."""
        return draw(self.model, self._motion(state))

    def _singular(self, motion: TreeMotion, report: LoopRank) -> bool:
        """Return whether poses nearby have more independent constraints."""
        if not report.redundant:
            return False
        held = sorted(self._held(motion.t))
        tree = self._equations(motion, None)
        rows = cut_rows(motion, tree)
        free = tangent(metric(tree.A, held), rows.H, natural_lengths(motion, rows))
        random = np.random.default_rng(0)
        step = free @ random.normal(size=free.shape[1])
        step *= NEARBY / max(float(np.abs(step).max(initial=0.0)), NEARBY)
        try:
            q = closed_positions(self.system, self.system.moved(motion.q, step), t=motion.t)
        except ClosureError:
            return True
        near = follow(self.system, q, np.zeros(self.system.rates), motion.t)
        tree = self._equations(near, None)
        return loop_rank(near, tree.A, cut_rows(near, tree), held).freedoms < report.freedoms

    def _motion(self, state: MultibodyState | None) -> TreeMotion:
        state = self.start if state is None else state
        return follow(self.system, state.q, state.u, state.time)

    def _devices(
        self, motion: TreeMotion, state: MultibodyState | None, commands: Mapping[str, float] | None = None
    ) -> DeviceLoads:
        known = tuple(drive.name for drive in self.model.drives)
        for name in commands or ():
            _place(name, known, "drive")
        return device_loads(self.model, motion, {} if state is None else state.rotors, commands or {})

    def _loads(
        self,
        motion: TreeMotion,
        state: MultibodyState | None,
        drives: Mapping[str, float] | None = None,
        commands: Mapping[str, float] | None = None,
        contacts: Sequence[ContactForce] = (),
    ) -> Loads:
        given, devices = element_loads(self.model, motion), self._devices(motion, state, commands)
        add_contacts(motion, self.model, contacts, given.F, given.L)
        tau = given.tau + devices.tau
        for name, value in (drives or {}).items():
            tau[_place(name, self.rates, "rate")] += value
        return replace(given, tau=tau, inertia=devices.inertia)

    def _equations(
        self, motion: TreeMotion, state: MultibodyState | None, held: Iterable[int] | None = None
    ) -> GraphEquations:
        """Return the equations of the tree. Raises SingularPoseError if rates that are not `held` feel no inertia."""
        tree = equations(motion, self._loads(motion, state))
        if held is not None:
            check_inertia(tree.A, held, self.rates)
        return tree

    def _solved(
        self,
        motion: TreeMotion,
        state: MultibodyState | None,
        drives: Mapping[str, float] | None = None,
        commands: Mapping[str, float] | None = None,
        still: bool = False,
        contacts: Sequence[ContactForce] = (),
    ) -> LoopSolution:
        held = self._held(motion.t)
        tree = equations(motion, self._loads(motion, state, drives, commands, contacts))
        check_inertia(tree.A, held, self.rates)
        return closed_tree(motion, tree, dict.fromkeys(held, 0.0) if still else held)

    def _prescribed(self, time: float) -> dict[tuple[int, int], tuple[float, float, float]]:
        """Return (value, rate, acceleration) of prescribed coordinates by their indices among coordinates and rates."""
        found = {}
        for joint, here, rates in zip(
            self.model.tree, self.system.position_slices, self.system.rate_slices, strict=True
        ):
            for k, motion in joint.motions.items():
                found[here.start + k, rates.start + k] = motion.at(time)
        return found

    def _locked(self) -> list[int]:
        kinds = {joint.name: joint.kind for joint in self.model.tree}
        found: list[int] = []
        for lock in self.model.locks:
            if lock.closed:
                first = rate_index(self.model, lock.joint, lock.coordinate)
                whole = kinds[lock.joint] in ("spherical", "free")
                found += range(first, first + (len(RATES[kinds[lock.joint]]) if whole else 1))
        return found

    def _held(self, time: float) -> dict[int, float]:
        """Return the accelerations of the rates that are prescribed or locked."""
        held = dict.fromkeys(self._locked(), 0.0)
        return held | {rate: acceleration for (_, rate), (_, _, acceleration) in self._prescribed(time).items()}

    def _unit_quaternions(self, q: np.ndarray) -> np.ndarray:
        for joint, here in zip(self.model.tree, self.system.position_slices, strict=True):
            if joint.kind in ("spherical", "free"):
                part = slice(here.stop - 4, here.stop)
                q[part] = q[part] / np.linalg.norm(q[part])
        return q

    def _rates_of(self, names: Iterable[str]) -> set[int]:
        """Return the rates that would change the coordinates named; of a quaternion all three."""
        found: set[int] = set()
        for name in names:
            if name in self._modes:
                found.add(self.rates.index(name))
                continue
            joint, coordinate = name.rsplit(".", 1)
            for candidate, rates in zip(self.model.tree, self.system.rate_slices, strict=True):
                if candidate.name == joint:
                    turning = coordinate.startswith("quaternion")
                    every = range(rates.stop - 3, rates.stop)
                    found |= set(every) if turning else {rates.start + RATES[candidate.kind].index(coordinate)}
        return found

    def _point(self, place: str, point: Sequence[float]) -> tuple[int, np.ndarray]:
        """Return (index of the body, arm from its centre of mass in its axes) of a body or a port."""
        number = {BASE: 0, **{body.name: k for k, body in enumerate(self.model.bodies, 1)}}
        known = [BASE, *(body.name for body in self.model.bodies if body.node is None)]
        ports = {port.name: port for port in self.model.ports}
        if place in ports:
            place, point = ports[place].body, ports[place].point
        if place not in number:
            raise UnknownNameError(f"no body or port {place}{did_you_mean(place, [*known, *ports])}")
        body = number[place]
        center = self.model.bodies[body - 1].center if body else (0.0, 0.0, 0.0)
        return body, np.asarray(point, dtype=float) - np.array(center)


def _place(name: str, names: tuple[str, ...], what: str) -> int:
    if name not in names:
        raise UnknownNameError(f"no {what} {name}{did_you_mean(name, names)}")
    return names.index(name)
