"""The state of a run as data: kept in memory to branch from, or in a file to resume from."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from master import archive
from master.errors import MasterError
from master.files import WriteError, write_whole
from master.fmu import Instance
from master.system import System

FORMAT = 3
_MAGIC = b"dockfmu checkpoint\n"


class CheckpointError(MasterError):
    """A checkpoint cannot be taken, read, or does not fit the system."""


@dataclass(frozen=True)
class Checkpoint:
    """A run at `time`, after `macro_steps` of length `step` from `start` on; `stepping` names the algorithm.

    `states` are the serialised states of the FMUs, by element; `memory` is what the loop itself carries from step to
    step, so that a run that goes on from here is equal to the bit. `fmus` are the SHA-256 of the files: others are
    refused.
    """

    system: str
    stepping: str
    start: float
    time: float
    step: float
    macro_steps: int
    fmus: dict[str, str]
    states: dict[str, bytes] = field(repr=False)
    memory: dict[str, np.ndarray] = field(repr=False)

    def check(self, system: System) -> None:
        """Raises CheckpointError where the system has other elements, or another FMU for one."""
        if set(self.fmus) != set(system.elements):
            raise CheckpointError(
                f"the checkpoint has the elements {', '.join(sorted(self.fmus))}, the system "
                f"{', '.join(sorted(system.elements))}"
            )
        other = [name for name, sha in self.fmus.items() if archive.digest(system.elements[name].file) != sha]
        if other:
            raise CheckpointError(f"the checkpoint was taken with another FMU of {', '.join(other)}")

    def write(self, file: Path) -> Path:
        """Write a file; the old one stays until the new one is whole."""
        head = {k: v for k, v in asdict(self).items() if k not in ("states", "memory")} | {"format": FORMAT}
        content = {"head": np.frombuffer(json.dumps(head).encode(), np.uint8)}
        content |= {f"state/{name}": np.frombuffer(state, np.uint8) for name, state in self.states.items()}
        content |= {f"memory/{name}": values for name, values in self.memory.items()}
        packed = io.BytesIO()
        np.savez(packed, **content)  # type: ignore[arg-type]
        try:
            return write_whole(file, _sealed(packed.getvalue()))
        except WriteError as error:
            raise CheckpointError(str(error)) from error


def _sealed(data: bytes) -> bytes:
    """Data with a digest before it, which shows that it is as it was written."""
    return _MAGIC + hashlib.sha256(data).digest() + data


def _unsealed(data: bytes) -> bytes:
    """The data behind a digest. Raises ValueError where they do not belong together."""
    magic, digest, rest = data[: len(_MAGIC)], data[len(_MAGIC) : len(_MAGIC) + 32], data[len(_MAGIC) + 32 :]
    if magic != _MAGIC:
        raise ValueError("it does not begin as checkpoints do")
    if hashlib.sha256(rest).digest() != digest:
        raise ValueError("it is damaged or cut off")
    return rest


def read_checkpoint(file: Path) -> Checkpoint:
    """A checkpoint from its file. Raises CheckpointError for what is none, or not as it was written."""
    try:
        with np.load(io.BytesIO(_unsealed(file.read_bytes())), allow_pickle=False) as content:
            head = json.loads(content["head"].tobytes())
            if head.pop("format") != FORMAT:
                raise CheckpointError(f"{file}: a checkpoint of another version of this program")
            states = {n.removeprefix("state/"): content[n].tobytes() for n in content if n.startswith("state/")}
            memory = {n.removeprefix("memory/"): content[n] for n in content if n.startswith("memory/")}
        return Checkpoint(**head, states=states, memory=memory)
    except (*archive.DAMAGE, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{file}: not a readable checkpoint ({error})") from error


def check_states(system: System) -> None:
    """Raises CheckpointError that names the elements whose FMUs cannot give their state as bytes."""
    lacking = [name for name in system.elements if not system.description(name).can_serialize_state]
    if lacking:
        raise CheckpointError(f"no checkpoint can be taken: the FMUs of {', '.join(lacking)} cannot serialise a state")


def save_states(instances: Mapping[str, Instance]) -> dict[str, bytes]:
    """The states of all instances. Raises FmuError."""
    found = {}
    for name, instance in instances.items():
        state = instance.get_state()
        try:
            found[name] = instance.serialize(state)
        finally:
            instance.free_state(state)
    return found


def restore_states(instances: Mapping[str, Instance], states: Mapping[str, bytes]) -> None:
    """Bring initialised instances to saved states. Raises FmuError."""
    for name, instance in instances.items():
        state = instance.deserialize(states[name])
        try:
            instance.set_state(state)
        finally:
            instance.free_state(state)


def digests(system: System) -> dict[str, str]:
    """SHA-256 of the FMU of each element."""
    known: dict[Path, str] = {}
    for element in system.elements.values():
        if element.file not in known:
            known[element.file] = archive.digest(element.file)
    return {name: known[element.file] for name, element in system.elements.items()}
