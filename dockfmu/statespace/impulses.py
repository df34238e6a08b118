"""The model of inputs and outputs of any FMU or system, from its answers to impulses.

Nothing has to be known of the states: the run is repeated from its start with an input that is higher, then lower, over
one macro step, and half the differences of the outputs afterwards are the Markov parameters of the discrete model. The
eigensystem realisation algorithm (Juang and Pappa, J. Guidance 8 (1985) 620) finds the smallest model that has them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from dockfmu.master.algorithms import Algorithm
from dockfmu.master.run.running import Running
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from dockfmu.statespace.errors import LinearisationError
from dockfmu.statespace.model import NO_CONTINUOUS, StateSpace, continuous, modes

METHOD = "answers to impulses"
RANK = 1e-7
"""Smallest singular value of the Hankel matrix that counts, relative to the largest."""


def by_impulses(
    structure: Structure,
    step: float,
    algorithm: Algorithm,
    at: float,
    start: float,
    inputs: Sequence[str],
    outputs: Sequence[str],
    samples: int,
    size: float,
) -> StateSpace:
    """Return the model of the chosen inputs and outputs from `samples` macro steps after each impulse of `size`."""
    if not inputs or not outputs:
        raise LinearisationError("by='impulses' needs an input and an output at least")
    markov = np.zeros((samples, len(outputs), len(inputs)))
    with CoSimulation(structure, Schedule(step=step, start=start), algorithm).open() as run:
        for k, name in enumerate(inputs):
            up, down = (_answer(run, at, name, sign * size, outputs, samples) for sign in (1.0, -1.0))
            markov[:, :, k] = (up - down) / (2.0 * size)
        reached = at
    scale = np.abs(markov).max(axis=0)
    if not scale.any():
        raise LinearisationError(f"no chosen output answers to an impulse of {size:g} within {samples} macro steps")
    a, b, c, spectrum = _realised(markov)
    names = tuple(f"mode state {k + 1}" for k in range(len(a)))
    # y(t + step) = C x(t) + D u: the first parameter is that of the step with the impulse
    matrices = a, b, c, markov[0]
    rate = continuous(matrices, step)
    notes = [f"{len(a)} states of no physical meaning: what these inputs move and these outputs show"]
    if rate is None:
        notes.append(NO_CONTINUOUS)
        k, m, p = len(a), len(inputs), len(outputs)
        rate = np.full((k, k), np.nan), np.full((k, m), np.nan), np.full((p, k), np.nan), np.full((p, m), np.nan)
    error = np.full(a.shape, spectrum[len(a)] / spectrum[0] if len(a) < len(spectrum) else np.finfo(float).eps)
    return StateSpace(
        name=structure.name,
        time=reached,
        step=step,
        states=names,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        units={name: structure.resolve(name)[1].unit or "1" for name in (*inputs, *outputs)},
        A=rate[0],
        B=rate[1],
        C=rate[2],
        D=rate[3],
        discrete=matrices,
        memory=names,
        error=error,
        modes=modes(a, error, names, step),
        drift=np.zeros(len(a)),
        notes=tuple(notes),
        method=METHOD,
    )


def _answer(run: Running, at: float, name: str, size: float, outputs: Sequence[str], samples: int) -> np.ndarray:
    """Return the outputs at the ends of the macro steps from `at` on, shape (samples, outputs)."""
    run.reset()
    step = run.specification.schedule.step
    if at > run.time:
        run.advance(at)
    (before,) = run.get([name])
    run.set({name: before + size})
    found = []
    for k in range(samples):
        run.advance(at + (k + 1) * step)
        if k == 0:
            run.set({name: before})
        found.append(run.get(outputs))
    return np.array(found, float)


def _realised(markov: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (A, B, C) with C A^(k-1) B = markov[k] for k from 1 on, and the singular values of the Hankel matrix."""
    scale = np.abs(markov[1:]).max(axis=(0, 2), keepdims=True)
    scaled = markov[1:] / np.where(scale > 0.0, scale, 1.0)
    rows = (len(scaled) - 1) // 2
    hankel, shifted = (
        np.block([[scaled[i + j + shift] for j in range(rows)] for i in range(rows)]) for shift in (0, 1)
    )
    left, values, right = scipy.linalg.svd(hankel)
    order = int((values > RANK * values[0]).sum())
    root = np.sqrt(values[:order])
    observe, control = left[:, :order] * root, root[:, None] * right[:order]
    a = (left[:, :order] / root).T @ shifted @ (right[:order].T / root)
    p, m = scaled.shape[1:]
    return a, control[:, :m], observe[:p] * np.where(scale[0] > 0.0, scale[0], 1.0), values
