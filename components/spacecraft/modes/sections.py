"""Loads at sections of a craft by mode acceleration: the constants of its record (flexible 3.2, `ElasticSections`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dockfmu.components.physics.elastic.sections import ElasticSections, centrifugal, rigid_motion, turned_products

FIELDS = ("port", "thruster", "control", "inertia", "spin", "modal")


@dataclass(frozen=True)
class CraftSections:
    """Loads at sections of a craft, force and moment in axes S about the node of each section.

    names : of the sections
    port : (s, ports, 6, 6) load by a unit force or moment, axes S, on each docking port
    thruster : (s, thrusters, 6, 3) by a unit force on each nozzle
    control : (s, 6, 6) by a unit force or moment at the first nozzle
    inertia : (s, 6, 6) by unit accelerations of the centre of mass and angular accelerations
    spin : (s, 6, 6) by products of the angular velocity, axes S
    modal : (s, 6, n) by modal forces less the elastic ones
    """

    names: tuple[str, ...]
    port: np.ndarray
    thruster: np.ndarray
    control: np.ndarray
    inertia: np.ndarray
    spin: np.ndarray
    modal: np.ndarray

    def table(self) -> np.ndarray:
        """Return all numbers in the order of the record's tables: section after section."""
        parts = [
            np.concatenate([np.ravel(getattr(self, name)[s]) for name in FIELDS[:-1]] + [np.ravel(self.modal[s].T)])
            for s in range(len(self.names))
        ]
        return np.concatenate(parts)

    def check(self, n: int) -> None:
        """Raise ValueError unless there are `n` modes and all values are finite."""
        if self.modal.shape[2] != n or not all(np.all(np.isfinite(getattr(self, name))) for name in FIELDS):
            raise ValueError(f"modes: loads at sections are for {self.modal.shape[2]} modes, not {n}, or not finite")


def placed_sections(own: ElasticSections, place: np.ndarray, R: np.ndarray) -> ElasticSections:
    """Return loads with wrenches, accelerations and angular velocity in axes S, those of the craft's centre of mass.

    `R` maps components in E to those in S, `place` is the origin of E in S, from the centre of mass.
    """
    turn = np.kron(np.eye(2), R)
    inertia = np.einsum("ij,sjk,lk->sil", turn, own.inertia, turn)
    spin = np.einsum("ij,sjk,kl->sil", turn, own.spin, turned_products(R.T))
    carried = np.einsum("sik,kl->sil", inertia[:, :, :3], centrifugal(place))
    return ElasticSections(
        names=own.names,
        place=place + own.place @ R.T,
        node=np.einsum("ij,sbjk,lk->sbil", turn, own.node, turn),
        inertia=inertia @ rigid_motion(place),
        spin=spin + carried,
        modal=np.einsum("ij,sjh->sih", turn, own.modal),
        displaced=np.einsum("ij,sjh->sih", turn, own.displaced),
    )


def sections_at(
    own: ElasticSections | None, kept: Sequence[int], ports: Sequence[int | None], thrusters: Sequence[int | None]
) -> CraftSections | None:
    """Return the loads of ports and nozzles at the interface nodes of these indices, None being no node of the body."""
    if own is None or not own.names:
        return None

    def node(index: int | None) -> np.ndarray:
        return np.zeros((len(own.names), 6, 6)) if index is None else own.node[:, index]

    return CraftSections(
        names=own.names,
        port=np.stack([node(index) for index in ports], axis=1),
        thruster=np.stack([node(index)[:, :, :3] for index in thrusters], axis=1),
        control=node(thrusters[0]),
        inertia=own.inertia,
        spin=own.spin,
        modal=own.modal[:, :, list(kept)],
    )


def joined_sections(
    parts: Sequence[CraftSections | None], order: Sequence[int], sizes: Sequence[int]
) -> CraftSections | None:
    """Return the sections of several bodies, whose modes follow each other and are then put into `order`."""
    ends = np.cumsum([0, *sizes])
    found = []
    for k, part in enumerate(parts):
        if part is None:
            continue
        modal = np.zeros((len(part.names), 6, int(ends[-1])))
        modal[:, :, ends[k] : ends[k + 1]] = part.modal
        names = tuple(f"appendage {k + 1} {name}" for name in part.names)
        found.append((names, part, modal[:, :, list(order)]))
    if not found:
        return None
    arrays = {name: np.concatenate([getattr(part, name) for _, part, _ in found]) for name in FIELDS[:-1]}
    return CraftSections(
        names=tuple(name for names, _, _ in found for name in names),
        modal=np.concatenate([modal for _, _, modal in found]),
        **arrays,
    )
