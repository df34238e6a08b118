"""Scenes: the look of an instance of an FMU, as data that refer to its variables.

A scene is JSON in an FMU, `resources/scene.json`; docs/guide/view.md describes it. A *quantity* is allowed wherever a
number is: a number, the name of a variable or of a whole array, a list of quantities, `{"sum": [...]}` and
`{"product": [...]}` of quantities, or `{"sin": q}`, `{"cos": q}`, `{"tan": q}` of one.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from dockfmu.base.errors import WRONG, DockfmuError
from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean

FILE = "resources/scene.json"
"""Path of the scene in an FMU."""

VERSION = 1

LONGEST = 1 << 22
"""Largest size of a scene that is read from an FMU, bytes: a wireframe of 1000 points with 60 shapes has 1 MiB."""

DEEPEST = 8
"""Deepest nesting of quantities."""

MOST_TRIANGLES = 50_000
"""Largest number of triangles of a mesh, which a browser without a graphics card still draws."""

PACKED: Mapping[str, tuple[str, int]] = {"floats": ("<f4", 3), "triangles": ("<u4", 3), "pairs": ("<u4", 2)}
"""Number type of the kinds of data in base64, and how many numbers make one point, triangle or edge."""

_SIZES = {"number": 1, "pair": 2, "vector": 3, "quaternion": 4, "matrix": 9}

_LOOK = {"frame": "frame", "label": "text?", "lit": "flags?", "shown": "number?", "style": "style?"}

STYLES = ("line", "thin", "passive")

SHAPES: Mapping[str, Mapping[str, str]] = {
    "revolution": {"x": "array", "r": "array", "count": "number?"},
    "sphere": {"centre": "vector?", "radius": "number"},
    "polyline": {"points": "vectors", "radius": "number?"},
    "rod": {"origin": "vector?", "to_frame": "frame", "to": "vector", "radius": "number?"},
    "box": {"size": "vector", "centre": "vector?"},
    "cylinder": {"radius": "number", "length": "number", "centre": "vector?"},
    "mesh": {"positions": "floats", "indices": "triangles"},
    "wireframe": {"positions": "floats", "edges": "pairs", "deformations": "floats", "coordinates": "amounts"},
    "radial": {"points": "radials", "azimuth": "number?", "count": "number?"},
    "inertia_box": {"mass": "number", "inertia": "matrix", "centre": "vector?"},
    "arrow": {"origin": "vector?", "along": "vector", "value": "number", "scale": "number"},
    "triad": {"length": "number"},
    "point": {"centre": "vector?"},
    "contact": {"active": "number", "position": "vector", "force": "number"},
}
"""The keys of each shape and the kinds of their values, besides those of all shapes; `?` marks an optional key."""

DEVICES = ("bar", "dial", "lamp", "number", "state")

FUNCTIONS = ("sin", "cos", "tan")
"""Functions of one quantity."""

PLACES_OF_DEVICES = ("left", "right", "bottom", "devices")

CONTROLS: Mapping[str, Mapping[str, str]] = {
    "stick": {"axis": "axis", "full": "number"},
    "button": {},
    "choice": {"values": "numbers"},
    "number": {},
}
"""The keys of each control of an operator and the kinds of their values, besides `label` and `variable`."""

AXES = ("x", "y", "z", "roll", "pitch", "yaw")
"""Axes of the hand controllers: translation, rotation."""

Variables = Mapping[str, tuple[str, ...]]
"""Name of a scalar or of a whole array -> its scalars, in the order of memory."""


class SceneError(DockfmuError, ValueError):
    """A scene is invalid; the message names its file, the place in it, and the variable."""

    exit_status = WRONG


def packed(numbers: np.ndarray, dtype: str) -> str:
    """Return numbers of this type as text in base64."""
    return base64.b64encode(np.ascontiguousarray(numbers, dtype).tobytes()).decode()


def unpacked(text: str, dtype: str) -> np.ndarray:
    """Return the numbers of this type in a text in base64. Raises ValueError or TypeError."""
    return np.frombuffer(base64.b64decode(text, validate=True), dtype)


def variables_of(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the scalars of these names, and the arrays that they make up."""
    variables: dict[str, tuple[str, ...]] = {}
    for name in names:
        variables[name] = (name,)
        if name.endswith("]"):
            whole = name.rpartition("[")[0]
            variables[whole] = (*variables.get(whole, ()), name)
    return variables


def read_scene(data: bytes, variables: Variables, where: str) -> dict[str, Any]:
    """Parse and check the scene of an FMU, and return it; see `check_scene`. Raises SceneError."""
    if len(data) > LONGEST:
        raise SceneError(f"{where}: a scene of {len(data)} bytes; at most {LONGEST} are read")
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise SceneError(f"{where}: not JSON ({error})") from error
    check_scene(content, variables, where)
    return dict(content)


def check_scene(content: Any, variables: Variables, where: str) -> None:
    """Raise SceneError unless `content` is a scene of an FMU that has these variables."""
    _Check(variables, where).scene(content)


class _Check:
    """The check of one scene."""

    def __init__(self, variables: Variables, where: str) -> None:
        self.variables, self.where = variables, where
        self.frames: set[str] = set()

    def fail(self, place: str, text: str) -> SceneError:
        return SceneError(f"{self.where}: {place}: {text}")

    def scene(self, content: Any) -> None:
        known = {"scene": None, "frames": None, "view": None, "shapes": None, "devices": None, "curves": None,
                 "controls": None}  # fmt: skip
        self.table(content, "the scene", known)
        if content.get("scene") != VERSION:
            raise self.fail("scene", f"version {shown(content.get('scene'))}; this dockfmu reads version {VERSION}")
        frames = content.get("frames", {})
        if not isinstance(frames, dict):
            raise self.fail("frames", f"{shown(frames)} is not a table")
        for name, frame in frames.items():
            # parents come first, so that there is no cycle
            self.frame(f"frames.{name}", frame)
            self.frames.add(name)
        if "view" in content:
            self.keys("view", content["view"], {"frame": "frame", "through": "through?", "size": "number?"})
        for k, shape in enumerate(self.rows(content, "shapes"), start=1):
            self.shape(f"shapes[{k}]", shape)
        for k, group in enumerate(self.rows(content, "devices"), start=1):
            self.group(f"devices[{k}]", group)
        for k, curve in enumerate(self.rows(content, "curves"), start=1):
            self.value(f"curves[{k}]", curve, "variable")
        for k, control in enumerate(self.rows(content, "controls"), start=1):
            place = f"controls[{k}]"
            kind = control.get("control") if isinstance(control, dict) else None
            if not isinstance(kind, str) or kind not in CONTROLS:
                raise self.fail(place, f"control = {shown(kind)}: must be one of {', '.join(CONTROLS)}")
            rest = {key: value for key, value in control.items() if key != "control"}
            self.keys(f"{place}, {kind}", rest, {"label": "text", "variable": "variable", **CONTROLS[kind]})

    def shape(self, place: str, shape: Any) -> None:
        kind = shape.get("shape") if isinstance(shape, dict) else None
        if not isinstance(kind, str) or kind not in SHAPES:
            raise self.fail(place, f"shape = {shown(kind)}: must be one of {', '.join(SHAPES)}")
        self.keys(f"{place}, {kind}", {**shape, "shape": "line"}, {"shape": "style", **SHAPES[kind], **_LOOK})
        if kind in ("mesh", "wireframe"):
            points = unpacked(shape["positions"], "<f4").size // 3
            corners = unpacked(shape["indices" if kind == "mesh" else "edges"], "<u4")
            if corners.size and corners.max() >= points:
                raise self.fail(place, f"corner {corners.max()} of {points} points")
        if kind == "wireframe":
            shapes = self.size(place, shape["coordinates"], 0)
            if (found := unpacked(shape["deformations"], "<f4").size) != 3 * points * shapes:
                needed = f"{3 * points * shapes} are needed for {points} points and {shapes} coordinates"
                raise self.fail(place, f"{found} numbers of deformations; {needed}")

    def frame(self, place: str, frame: Any) -> None:
        turn = "angles" if isinstance(frame, dict) and "angles" in frame else "quaternion"
        kinds = {"parent": "frame?", "position": "vector?", turn: "vector?" if turn == "angles" else "quaternion?"}
        self.keys(place, frame, {**kinds, "inverse": "switch?", "label": "text?"})

    def group(self, place: str, group: Any) -> None:
        self.table(group, place, {"title": None, "place": None, "items": None})
        self.value(f"{place}.title", group.get("title"), "text")
        if group.get("place", "devices") not in PLACES_OF_DEVICES:
            raise self.fail(f"{place}.place", f"must be one of {', '.join(PLACES_OF_DEVICES)}")
        for k, item in enumerate(self.rows(group, "items", place), start=1):
            kinds = {"device": "device", "label": "text", "variable": "variable", "limits": "pair?"}
            self.keys(f"{place}.items[{k}]", item, kinds)
            if item["device"] == "dial" and "limits" not in item:
                raise self.fail(f"{place}.items[{k}]", "a dial needs limits")

    def rows(self, content: Mapping[str, Any], name: str, place: str = "") -> list[Any]:
        rows = content.get(name, [])
        if not isinstance(rows, list):
            raise self.fail(f"{place}.{name}" if place else name, f"{shown(rows)} is not a list")
        return rows

    def table(self, content: Any, place: str, known: Mapping[str, Any]) -> None:
        if not isinstance(content, dict):
            raise self.fail(place, f"{shown(content)} is not a table")
        for key in content:
            if key not in known:
                raise self.fail(place, f"there is no key {shown(key)}{did_you_mean(str(key), known)}")

    def keys(self, place: str, content: Any, kinds: Mapping[str, str]) -> None:
        """Check a table whose values are of the given kinds, by key."""
        self.table(content, place, kinds)
        for key, kind in kinds.items():
            if key in content:
                self.value(f"{place}.{key}", content[key], kind.rstrip("?"))
            elif not kind.endswith("?"):
                raise self.fail(place, f"needs {key!r}")

    def value(self, place: str, value: Any, kind: str) -> None:
        if kind == "frame":
            if not isinstance(value, str) or value not in self.frames:
                hint = did_you_mean(str(value), self.frames)
                raise self.fail(place, f"there is no frame {shown(value)}{hint} (parents come before their children)")
        elif kind == "numbers":
            if not isinstance(value, list) or not value or not all(type(v) in (int, float) for v in value):
                raise self.fail(place, f"{shown(value)} is not a list of numbers")
        elif kind in ("text", "style", "device", "axis"):
            allowed = {"text": None, "style": STYLES, "device": DEVICES, "axis": AXES}[kind]
            if not isinstance(value, str) or (allowed is not None and value not in allowed):
                raise self.fail(place, f"{shown(value)} is not {' or '.join(allowed) if allowed else 'a string'}")
        elif kind in PACKED:
            self.packed(place, value, kind)
        elif kind == "switch":
            if not isinstance(value, bool):
                raise self.fail(place, f"{shown(value)} is not true or false")
        elif kind == "variable":
            if not isinstance(value, str) or self.size(place, value, 0) != 1:
                raise self.fail(place, f"{shown(value)} is not the name of a scalar variable")
        elif kind == "flags":
            for k, flag in enumerate(value if isinstance(value, list) else [value], start=1):
                self.value(f"{place}[{k}]", flag, "variable")
        elif kind == "through":
            self.keys(place, value, {"frame": "frame", "point": "vector"})
        elif kind in ("vectors", "radials"):
            if not isinstance(value, list) or len(value) < 2:
                raise self.fail(place, "a line needs at least two points")
            for k, point in enumerate(value, start=1):
                size = self.size(f"{place}[{k}]", point, 0)
                if size != 3 and (kind, size) != ("radials", 2):
                    raise self.fail(f"{place}[{k}]", f"the size of a point is 3, not {size}")
        else:
            size = self.size(place, value, 0)
            if kind == "array" and size < 2:
                raise self.fail(place, "needs an array")
            if kind not in ("array", "amounts") and size != _SIZES[kind]:
                raise self.fail(place, f"the size of a {kind} is {_SIZES[kind]}, not {size}")

    def packed(self, place: str, value: Any, kind: str) -> None:
        """Check numbers in base64: points, triangles or edges."""
        dtype, places = PACKED[kind]
        try:
            numbers = unpacked(value, dtype)
        except (TypeError, ValueError) as error:
            raise self.fail(place, f"not numbers in base64 ({error})") from error
        if not numbers.size or numbers.size % places or numbers.size > 9 * MOST_TRIANGLES:
            most = 9 * MOST_TRIANGLES
            raise self.fail(place, f"{numbers.size} numbers; groups of {places}, at most {most} numbers, are needed")
        if not np.isfinite(numbers).all():
            raise self.fail(place, "a number is not finite")

    def size(self, place: str, quantity: Any, depth: int) -> int:
        """Return the number of scalars in a quantity."""
        if depth > DEEPEST:
            raise self.fail(place, "quantities nested too deeply")
        if isinstance(quantity, (int, float)) and not isinstance(quantity, bool) and abs(quantity) < 1e300:
            return 1
        if isinstance(quantity, str):
            if quantity not in self.variables:
                hint = did_you_mean(quantity, self.variables)
                raise self.fail(place, f"the FMU has no variable {quantity!r}{hint}")
            return len(self.variables[quantity])
        if isinstance(quantity, list):
            if not quantity:
                raise self.fail(place, "an empty list")
            return sum(self.size(f"{place}[{k}]", part, depth + 1) for k, part in enumerate(quantity, start=1))
        if isinstance(quantity, dict) and len(quantity) == 1:
            word, parts = next(iter(quantity.items()))
            if word in FUNCTIONS:
                return self.size(f"{place}.{word}", parts, depth + 1)
            if word not in ("sum", "product"):
                raise self.fail(place, f"there is no {shown(word)} of quantities")
            if not isinstance(parts, list) or not parts:
                raise self.fail(place, f"{word} needs a list of quantities")
            sizes = {self.size(f"{place}.{word}[{k}]", p, depth + 1) for k, p in enumerate(parts, start=1)}
            if len(sizes - {1}) > 1:
                raise self.fail(place, f"{word} of unequal sizes {' and '.join(map(str, sorted(sizes)))}")
            return max(sizes)
        raise self.fail(place, f"{shown(quantity)} is not a quantity")


def map_quantities(content: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a checked scene with `change` applied to each number and name in its quantities.

    Lists, sums, products and functions are kept around what `change` returns.
    """

    def mapped(quantity: Any) -> Any:
        if isinstance(quantity, list):
            return [mapped(part) for part in quantity]
        if isinstance(quantity, dict):
            return {word: mapped(parts) for word, parts in quantity.items()}
        return change(quantity)

    def table(content: Mapping[str, Any], plain: Iterable[str]) -> dict[str, Any]:
        return {key: value if key in plain else mapped(value) for key, value in content.items()}

    scene = dict(content)
    frames = content.get("frames", {})
    scene["frames"] = {name: table(frame, ("parent", "label", "inverse")) for name, frame in frames.items()}
    if "view" in content:
        scene["view"] = table(content["view"], ("frame", "through"))
        if "through" in content["view"]:
            scene["view"]["through"] = table(content["view"]["through"], ("frame",))
    plain = ("shape", "frame", "to_frame", "label", "style", "positions", "indices", "edges", "deformations")
    scene["shapes"] = [table(shape, plain) for shape in content.get("shapes", [])]
    scene["devices"] = [
        {**group, "items": [table(item, ("device", "label")) for item in group.get("items", [])]}
        for group in content.get("devices", [])
    ]
    scene["curves"] = [mapped(curve) for curve in content.get("curves", [])]
    commanded = ("control", "label", "variable", "axis", "values")
    scene["controls"] = [table(control, commanded) for control in content.get("controls", [])]
    return scene
