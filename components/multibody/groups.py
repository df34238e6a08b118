"""The record of a model as its kernels take it: groups, and arrays of groups of any length.

The type of an array as a field of a record has its length, that of a slice of it has not. What takes slices is compiled
once for all models; `initialize` and `step` alone know the record.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dockfmu.components.core.inlining import pasted
from dockfmu.components.physics.tree.elastic_bodies import Flex


class Sparse(NamedTuple):
    """Hold plan and work space of the sparse solution of closed chains (`sparse_loops`)."""

    tie: Any
    bond: Any
    below: Any
    island: Any
    end: Any
    panel: Any
    scaled: Any
    value: Any
    mass: Any
    share: Any


class Solver(NamedTuple):
    """Hold the work space in which closed chains are solved (`elimination`), and the elastic bodies in them."""

    matrix: Any
    entry: Any
    front: Any
    carrier: Any
    sparse: Sparse
    flex: Flex


class Touch(NamedTuple):
    """Hold contacts: surfaces and their edges, pairs, contacts, their laws, the list, sums, and the target's loads."""

    surface: Any
    face: Any
    pair: Any
    contact: Any
    kind: Any
    tally: Any
    sums: Any
    load: Any


class Groups(NamedTuple):
    """Hold all that the kernels of the motion work on; `law`, `strength`, `drive_law` and `level` are parameters."""

    base: Any
    target: Any
    gravity: Any
    link: Any
    body: Any
    coordinate: Any
    law: Any
    rotation: Any
    loop: Any
    drive: Any
    drive_law: Any
    spring: Any
    strength: Any
    port: Any
    touch: Touch
    sensor: Any
    level: Any
    condition: Any
    lock: Any
    cut: Any
    row: Any
    solver: Solver
    run: Any
    audit: Any


@pasted
def groups_of(m):
    """Return the groups of a record."""
    p = m.parameters
    flex = Flex(m.flex.body[:], m.flex.mode[:], m.flex.pair[:], m.flex.shape[:], m.flex.factor[:])
    plan = m.closure.sparse
    sparse = Sparse(plan.tie[:], plan.bond[:], plan.below[:], plan.island[:], plan.end[:], plan.panel[:],
                    plan.scaled[:], plan.value[:], plan.mass[:], plan.share[:])  # fmt: skip
    return Groups(
        base=m.base,
        target=m.target,
        gravity=p.gravity[:],
        link=m.link[:],
        body=m.body[:],
        coordinate=m.coordinate[:],
        law=p.coordinate[:],
        rotation=m.rotation[:],
        loop=m.loop[:],
        drive=m.drive[:],
        drive_law=p.drive[:],
        spring=m.spring[:],
        strength=p.spring[:],
        port=m.port[:],
        touch=Touch(m.surface[:], m.face[:], m.pair[:], m.contact[:], m.kind[:], m.tally, m.sums, m.load),
        sensor=m.sensor[:],
        level=p.sensor[:],
        condition=m.condition[:],
        lock=m.lock[:],
        cut=m.cut[:],
        row=m.closure.row[:],
        solver=Solver(m.closure.matrix[:], m.closure.entry[:], m.closure.front[:], m.closure.carrier[:], sparse, flex),
        run=m.run,
        audit=m.audit,
    )
