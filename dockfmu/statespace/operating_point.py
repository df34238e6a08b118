"""A system at an operating point: run it there, and repeat the next step from states that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from types import TracebackType

import numpy as np

from dockfmu.master.algorithms import Algorithm, Jacobi
from dockfmu.master.checkpoint import Checkpoint
from dockfmu.master.errors import FmuError
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from dockfmu.statespace.errors import LinearisationError
from dockfmu.statespace.memory import Place, SavedState, read_layout

_LOOP = ("y_real", "start", "slope", "rates.start", "rates.u_integral")
"""Arrays of the memory of the loop that hold physical values."""


@dataclass(frozen=True)
class Block:
    """A part of the memory vector: the float64 of an element, or an array of the loop; from `first` on."""

    owner: str
    layout: SavedState | None
    names: tuple[str, ...]
    first: int

    @property
    def part(self) -> slice:
        """Return the place of the block in the memory vector."""
        return slice(self.first, self.first + len(self.names))


class OperatingPoint:
    """A system at a time, with everything that it remembers as one vector of numbers.

    Attributes
    ----------
    time, step : float
        The time, and the length of the macro step that `after` takes, s.
    names : list of str
        Full name of each number of the memory; those of the loop begin with `coupling.`.
    places : list of Place or None
        What the FMU says about a number; None for numbers of the loop.
    memory : ndarray
        The memory at `time`.
    """

    def __init__(self, structure: Structure, step: float, algorithm: Algorithm, at: float, start: float = 0.0) -> None:
        """Run the system to `at`, s. Raises LinearisationError if an FMU does not publish its state."""
        self.structure, self.step, self.algorithm = structure, step, algorithm
        self._stack = ExitStack()
        self._layouts = {name: _layout(structure, name) for name in structure.elements}
        self._run = CoSimulation(structure, Schedule(step=step, start=start), algorithm).open()
        self._stack.enter_context(self._run)
        try:
            if at > start:
                self._run.advance(at)
            self._take(self._run.save())
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> OperatingPoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def time(self) -> float:
        """The time of the operating point, s."""
        return self.checkpoint.time

    def start_from(self, memory: np.ndarray) -> None:
        """Make another memory the operating point."""
        self._take(self._with(memory))

    def _take(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self.blocks: list[Block] = []
        self.names: list[str] = []
        self.places: list[Place | None] = []
        for element, layout in self._layouts.items():
            names = tuple(f"{element}.{place.name}" for place in layout.places)
            self._add(Block(element, layout, names, len(self.names)), layout.places)
        for key in _LOOP:
            values = checkpoint.memory[key]
            size = values.size
            outputs = checkpoint.memory["outputs"].tolist()
            labels = outputs if values.shape == (len(outputs),) else [f"{key}[{i + 1}]" for i in range(size)]
            prefix = "coupling" if key == "y_real" else f"coupling.{key}"
            self._add(Block(key, None, tuple(f"{prefix}.{label}" for label in labels), len(self.names)), None)
        self.memory = self._read(checkpoint)

    def _add(self, block: Block, places: Sequence[Place] | None) -> None:
        self.blocks.append(block)
        self.names += block.names
        self.places += places or [None] * len(block.names)

    def _read(self, checkpoint: Checkpoint) -> np.ndarray:
        parts = [
            checkpoint.memory[block.owner].ravel()
            if block.layout is None
            else block.layout.read(checkpoint.states[block.owner])
            for block in self.blocks
        ]
        return np.concatenate(parts)

    def _with(self, memory: np.ndarray) -> Checkpoint:
        """Return the checkpoint with another memory."""
        states, loop = dict(self.checkpoint.states), dict(self.checkpoint.memory)
        for block in self.blocks:
            values = memory[block.part]
            if np.array_equal(values, self.memory[block.part]):
                continue
            if block.layout is None:
                loop[block.owner] = values.reshape(loop[block.owner].shape)
            else:
                states[block.owner] = block.layout.write(states[block.owner], values)
        return replace(self.checkpoint, states=states, memory=loop)

    def after(self, memory: np.ndarray, count: float = 1) -> np.ndarray | None:
        """Return the memory `count` macro steps, or a part of one, after another memory; None if an FMU refuses."""
        try:
            self._run.rewind(self._with(memory))
            self._run.advance(self.time + count * self.step)
            return self._read(self._run.save())
        except FmuError:
            if any(instance.dead for instance in self._run.instances.values()):
                raise
            return None

    def derivative(
        self, element: str, unknowns: Sequence[str], knowns: Sequence[str], direction: np.ndarray
    ) -> list[float]:
        """Return the derivatives of variables of an element along a direction of inputs that its last step used."""
        instance = self._run.instances[element]
        rows, columns = (
            np.array([instance.variable(name).reference for name in names], np.uint32) for names in (unknowns, knowns)
        )
        along, found = np.array(direction, float), np.zeros(len(rows))
        instance.call(
            "fmi2GetDirectionalDerivative",
            rows.ctypes.data,
            len(rows),
            columns.ctypes.data,
            len(columns),
            along.ctypes.data,
            found.ctypes.data,
        )
        return [float(value) for value in found]

    def read(self, element: str, names: Sequence[str]) -> list[float]:
        """Return present values of variables of an element."""
        return [float(value) for value in self._run.instances[element].get(list(names))]


@contextmanager
def single(point: OperatingPoint, name: str) -> Iterator[OperatingPoint]:
    """Yield the operating point of one element of a system, with the inputs that its next step takes there.

    Its step is the macro step divided by the substeps of the element.
    """
    element = point.structure.elements[name]
    block = next(block for block in point.blocks if block.layout is not None and block.owner == name)
    after = point.after(point.memory)
    assert after is not None, "the step was taken before"
    memory = point.memory[block.part].copy()
    for index, place in enumerate(point.places[block.part]):
        if place is not None and place.causality == "input":
            memory[index] = after[block.first + index]
    alone = Structure(f"{point.structure.name}.{name}")
    alone.add(name, element.file, element.start, process=element.process, timeout=element.timeout)
    alone.keeps = point.structure.keeps
    with OperatingPoint(alone, point.step / element.substeps, Jacobi(), point.time, point.time) as part:
        whole = part.memory.copy()
        whole[: len(memory)] = memory
        part.start_from(whole)
        yield part


def _layout(structure: Structure, element: str) -> SavedState:
    """Return the layout of the states of an element. Raises LinearisationError that names the FMU."""
    file = structure.elements[element].file
    description = structure.description(element)
    if not (description.can_get_and_set_state and description.can_serialize_state):
        raise LinearisationError(
            f"{element}: {file.name} cannot save and restore its state (canGetAndSetFMUstate, canSerializeFMUstate): "
            "no state can be varied; by='impulses' finds a model of its inputs and outputs"
        )
    layout = read_layout(file)
    if layout is None:
        raise LinearisationError(
            f"{element}: {file.name} does not say what its saved state holds (resources/saved_state.csv, which native "
            "FMUs of dockfmu have): no state can be varied; by='impulses' finds a model of its inputs and outputs"
        )
    return layout
