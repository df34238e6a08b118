"""The scene of a component, from `scene.toml` beside its kernel, in the form in which the FMU carries it.

The file extends the schema of `dockfmu.base.scene`. `include = [{ file = "../FOLDER/scene.toml" }]` puts the content of
another file before its own. `when = "variable"` leaves out a table, or an included file, unless the component has that
variable (`"not variable"`: if it has). A frame may have another `name` than its table, so that builds can differ in it.
`repeat = "array"` makes a copy for each element of an array or array of groups, with `{k}` as its index from 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dockfmu.base.errors import FAILED
from dockfmu.base.given_files import read_toml
from dockfmu.base.scene import FILE, VERSION, SceneError, check_scene, variables_of
from dockfmu.components.core.component import Component

_PARTS = ("shapes", "devices", "curves", "controls")


class SceneFileError(SceneError):
    """A `scene.toml` cannot be read."""

    exit_status = FAILED


def scene_files(component: Component) -> dict[str, bytes]:
    """Return the scene by its path in the FMU.

    Nothing for a component that has neither a `scene` nor a `scene.toml` beside its declaration.

    Raises SceneError, naming file, place and variable, for a scene with variables that the component does not have.
    """
    file = component.module.with_name("scene.toml")
    scalars = [slot.name for slot in component.record.variables]
    own = getattr(component, "scene", None)
    if own:
        # a scene that follows from a declaration
        scene = {"scene": VERSION, **own}
    elif file.is_file():
        scene = {"scene": VERSION, **_expanded(_read(file, scalars), scalars)}
        scene["shapes"] += component.shapes
    else:
        return {}
    check_scene(scene, variables_of(scalars), f"{component.name}, {file.parent.name}/{file.name}")
    return {FILE: json.dumps(scene, separators=(",", ":"), allow_nan=False).encode()}


def _read(file: Path, names: list[str], within: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Return the content of a file, after the content of the files that it includes."""
    if file in within:
        raise SceneFileError(f"{file}: includes itself")
    try:
        content = read_toml(file)
    except (OSError, ValueError) as error:
        raise SceneFileError(f"{file}: {error}") from error
    merged: dict[str, Any] = {"frames": {}, **{part: [] for part in _PARTS}}
    others = [
        _read((file.parent / other["file"]).resolve(), names, (*within, file))
        for other in content.pop("include", [])
        if _has(other.get("when"), names)
    ]
    for scene in (content, *others):
        # an included file may refer to the frames of this one, not the other way round
        merged["frames"] |= scene.pop("frames", {})
    for scene in (*others, content):
        for part in _PARTS:
            merged[part] += scene.pop(part, [])
        merged |= scene
    return merged


def _expanded(content: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    """Return the scene with its tables chosen by `when` and copied by `repeat`."""

    def rows(given: Iterable[Any]) -> list[Any]:
        made = []
        for row in given:
            if not isinstance(row, dict):
                made.append(row)
                continue
            row = dict(row)
            if not _has(row.pop("when", None), names):
                continue
            array = row.pop("repeat", None)
            for k in range(1, 2 if array is None else _count(array, names) + 1):
                copy = row if array is None else _with_index(row, k)
                made.append({**copy, "items": rows(copy["items"])} if "items" in copy else copy)
        return made

    chosen = {name: frame for name, frame in content["frames"].items() if _has(frame.get("when"), names)}
    frames = {
        frame.get("name", name): {key: v for key, v in frame.items() if key not in ("when", "name")}
        for name, frame in chosen.items()
    }
    for name, frame in list(frames.items()):
        if "repeat" in frame:
            del frames[name]
            array = frame.pop("repeat")
            frames |= {name.format(k=k): _with_index(frame, k) for k in range(1, _count(array, names) + 1)}
    curves = [row.pop("variable") if isinstance(row, dict) else row for row in rows(content["curves"])]
    return {
        **content,
        "frames": frames,
        **{p: rows(content[p]) for p in ("shapes", "devices", "controls")},
        "curves": curves,
    }


def _has(variable: str | None, names: list[str]) -> bool:
    """Return whether there is a variable, array or group of this name; with `not ` before it, whether there is none."""
    if variable is not None and variable.startswith("not "):
        return not _has(variable.removeprefix("not "), names)
    return variable is None or any(re.match(re.escape(variable) + r"($|[.\[])", name) for name in names)


def _count(array: str, names: list[str]) -> int:
    """Return the number of elements of an array. Raises SceneError if there is no such array."""
    element = re.compile(re.escape(array) + r"\[(\d+)")
    found = [int(match[1]) for name in names if (match := element.match(name))]
    if not found:
        raise SceneError(f"repeat = {array!r}: the component has no such array")
    return max(found)


def _with_index(value: Any, k: int) -> Any:
    """Return `value` with `{k}` replaced in all its strings."""
    if value == "{k}":
        return k
    if isinstance(value, str):
        return value.replace("{k}", str(k))
    if isinstance(value, list):
        return [_with_index(part, k) for part in value]
    if isinstance(value, dict):
        return {key: _with_index(part, k) for key, part in value.items()}
    return value
