"""The part of the record that elastic bodies add, and its start values: the data of their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dockfmu.components.core.field import Field, Group, constants, local, output, private
from dockfmu.components.multibody.link_data import Links
from dockfmu.components.multibody.model.elastic import ElasticPart, elastic_parts, node_name
from dockfmu.components.multibody.model.parts import Model
from dockfmu.components.physics.tree.ports import elastic_group

RESOLVED = 0.5
"""rad: what the highest kept mode turns in the longest micro-step."""
UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""The upper triangle of a symmetric 3x3 matrix, by rows."""


def elastic_labels(model: Model) -> list[str]:
    """Return the names of the elastic bodies."""
    return [part.body.name for part in elastic_parts(model)]


def node_labels(model: Model) -> list[str]:
    """Return the names of their nodes that are used, body by body."""
    return [node_name(part.body.name, _number(part.body, node)) for part in elastic_parts(model) for node in part.nodes]


def mode_labels(model: Model) -> list[str]:
    """Return BODY.modeK of all modes, body by body."""
    return [
        f"{part.body.name}.mode{k}"
        for part in elastic_parts(model)
        for k in range(1, len(_elastic(part.body).frequency) + 1)
    ]


def _elastic(body: Any) -> Any:
    return body.elastic


def _number(body: Any, node: int) -> int:
    return int(_elastic(body).nodes[node])


def elastic_fields(name: str) -> tuple[Field, ...]:
    """Return the outputs of an elastic body."""
    return (
        output("strain_energy", "J", f"of the modes of {name}"),
        output("modal_energy", "J", f"of the modes of {name}: strain and kinetic energy relative to its frame"),
    )


def deflection_fields(name: str) -> tuple[Field, ...]:
    """Return the outputs of an interface node."""
    return (
        output("displacement", "m", f"of {name} by the deformation, axes of the frame of its body", shape=3),
        output("rotation", "rad", "likewise, rotation vector", shape=3),
        output("rate", "m/s", "of the displacement", shape=3),
        private("link", "1", "index of its link, or of the frame that it carries"),
    )


def modal_fields(name: str) -> tuple[Field, ...]:
    """Return what is shown of a mode."""
    return (
        local("coordinate", "1", f"{name}: modal coordinate, m kg^(1/2)"),
        local("rate", "1/s", "its rate"),
        private("link", "1", "index of its link"),
    )


def section_labels(model: Model) -> list[str]:
    """Return BODY.SECTION of all sections whose loads are known, body by body."""
    return [
        f"{part.body.name}.{name}"
        for part in elastic_parts(model)
        if _elastic(part.body).sections is not None
        for name in _elastic(part.body).sections.names
    ]


def section_fields(name: str) -> tuple[Field, ...]:
    """Return the load at a section."""
    body = name.partition(".")[0]
    return (
        output("force", "N", f"at {name}: the part beyond acts on that of the node, axes of {body}", shape=3),
        output("torque", "N.m", "likewise, about the node of the section", shape=3),
    )


def _section_groups(model: Model) -> tuple[Group, ...]:
    cut = [part for part in elastic_parts(model) if _elastic(part.body).sections is not None]
    counts = [len(_elastic(part.body).sections.names) for part in cut]
    nodes = sum(count * len(part.nodes) for count, part in zip(counts, cut, strict=True))
    modes = sum(count * len(_elastic(part.body).frequency) for count, part in zip(counts, cut, strict=True))
    return (
        constants(
            Group(
                "section",
                private("body", "1", "index of its body"),
                private("first_node", "1", "index of the first of its nodes"),
                private("nodes", "1", "number of the nodes that are used"),
                private("first_mode", "1", "index of the first of its modes"),
                private("inertia", "1", "load by minus the acceleration of E (SI)", shape=(6, 6)),
                private("spin", "1", "load by minus the products of the angular velocity (SI)", shape=(6, 6)),
                count=max(1, sum(counts)),
            )
        ),
        constants(
            Group(
                "section_node",
                private("link", "1", "index of its link, or of the frame that it carries"),
                private("load", "1", "load by the wrench on the node (SI)", shape=(6, 6)),
                count=max(1, nodes),
            )
        ),
        constants(
            Group(
                "section_mode",
                private("load", "1", "load by minus the acceleration and damping of a mode (SI)", shape=6),
                count=max(1, modes),
            )
        ),
    )


def flex_group(model: Model) -> Group:
    """Return the constants and the work space of the elastic bodies of a model (`elastic_bodies`)."""
    sizes = [len(_elastic(part.body).frequency) for part in elastic_parts(model)]
    shapes = sum(size * len(part.nodes) for size, part in zip(sizes, elastic_parts(model), strict=True))
    return elastic_group(sizes, shapes, _section_groups(model))


def longest_step(model: Model, usual: float, shortest: float) -> float:
    """Return the longest micro-step by default: the modes that a reduction keeps have at most half a radian in it.

    Residual shapes, which only make the statics exact, do not count.
    """
    kept = [
        float(frequency)
        for part in elastic_parts(model)
        for frequency, static in zip(_elastic(part.body).frequency, _elastic(part.body).residual, strict=True)
        if not static
    ]
    return min(usual, max(RESOLVED / max(kept), shortest)) if kept else usual


def run_counts(model: Model) -> tuple[Field, ...]:
    """Return the numbers of elastic bodies and of their nodes."""
    return (
        private("elastic", "1", "number of elastic bodies", float(len(elastic_labels(model)))),
        private("deflections", "1", "number of their nodes that are used", float(len(node_labels(model)))),
        private("modes", "1", "number of their modes", float(len(mode_labels(model)))),
        private("sections", "1", "number of their sections", float(len(section_labels(model)))),
    )


def lay_out_elastic(model: Model, made: Links, put: Callable[[str, Any], None]) -> None:
    """Put the start values of the elastic bodies."""
    modes = pairs = shapes = 0
    labels = iter(mode_labels(model))
    for k, part in enumerate(elastic_parts(model), start=1):
        elastic = _elastic(part.body)
        own, count = elastic.invariants, len(elastic.frequency)
        frame = made.bodies[part.body.name].link
        _put_group(
            put,
            f"flex.body[{k}]",
            {"frame": frame, "modes": frame + 1, "count": count, "first_mode": modes, "first_pair": pairs,
             "factor": pairs, "settled": float(part.body.settled), "moment": own.static_moment,
             "place": elastic.place[part.inner],
             "inertia": _upper(own.inertia)},
        )  # fmt: skip
        for j in range(count):
            _put_group(
                put,
                f"flex.mode[{modes + j + 1}]",
                {"frequency": elastic.frequency[j], "damping": elastic.damping[j],
                 "translation": own.translation[:, j], "rotation": own.rotation[:, j],
                 "slope": _upper(own.inertia_slope[j])},
            )  # fmt: skip
            put(f"mode.{next(labels)}.link", frame + 1 + j)
            put(f"link[{frame + 2 + j}].flex", k - 1)
            for i in range(count):
                where = f"flex.pair[{pairs + j * count + i + 1}]"
                put(f"{where}.gyration", own.gyration[j, :, i])
                put(f"{where}.curvature", _upper(own.inertia_curvature[j, i]))
        for node in part.nodes:
            name = node_name(part.body.name, _number(part.body, node))
            link = _node_link(part, node, made)
            put(f"node.{name}.link", link)
            put(f"link[{link + 1}].flex", k - 1)
            put(f"link[{link + 1}].first_shape", shapes)
            for j in range(count):
                put(f"flex.shape[{shapes + j + 1}].value", elastic.shape[node, :, j])
            shapes += count
        modes, pairs = modes + count, pairs + count * count
    _lay_out_sections(model, made, put)


def _node_link(part: ElasticPart, node: int, made: Links) -> int:
    """Return the index of the link of a node, or of the frame that it carries."""
    body = part.body.name
    return made.bodies[body if node == part.inner else node_name(body, _number(part.body, node))].link


def _lay_out_sections(model: Model, made: Links, put: Callable[[str, Any], None]) -> None:
    sections = nodes = modes = 0
    for k, part in enumerate(elastic_parts(model)):
        elastic = _elastic(part.body)
        own = elastic.sections
        if own is None:
            continue
        for s in range(len(own.names)):
            _put_group(
                put,
                f"flex.section[{sections + 1}]",
                {"body": k, "first_node": nodes, "nodes": len(part.nodes), "first_mode": modes,
                 "inertia": own.inertia[s], "spin": own.spin[s]},
            )  # fmt: skip
            for node in part.nodes:
                link = _node_link(part, node, made)
                _put_group(put, f"flex.section_node[{nodes + 1}]", {"link": link, "load": own.node[s, node]})
                nodes += 1
            for j in range(len(elastic.frequency)):
                # static shapes have no inertia: they follow their loads
                load = np.zeros(6) if elastic.residual[j] else own.modal[s, :, j]
                put(f"flex.section_mode[{modes + 1}].load", load)
                modes += 1
            sections += 1


def _put_group(put: Callable[[str, Any], None], name: str, values: Mapping[str, Any]) -> None:
    for field, value in values.items():
        put(f"{name}.{field}", value)


def _upper(matrix: np.ndarray) -> list[float]:
    return [float(0.5 * (matrix[i, j] + matrix[j, i])) for i, j in UPPER]
