"""Linear models: discrete over a step, continuous, their modes; written as text, .npz and .mat."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
from scipy.io import savemat

from dockfmu.base.files import atomic_file
from dockfmu.statespace.errors import LinearisationError

FORGOTTEN = 1e-3
"""A mode that shrinks to less than this part within a step is not a state of the continuous model."""


INACCURATE = 1e-9
"""Largest error of the response of a continuous model after one step, relative to its largest number."""

NO_CONTINUOUS = (
    "no continuous model: a multiplier of the step is negative and real, or zero, or its logarithm is inaccurate; "
    "use the discrete one"
)


@dataclass(frozen=True)
class Mode:
    """A mode: its eigenvalue s (1/s) and that of the step, the error of s, and the states that take part most."""

    eigenvalue: complex
    multiplier: complex
    error: float
    states: tuple[str, ...]

    @property
    def frequency(self) -> float:
        """Frequency |s| / 2 pi, Hz."""
        return abs(self.eigenvalue) / (2.0 * np.pi)

    @property
    def damping(self) -> float:
        """Damping ratio -Re s / |s|; negative for a mode that grows, 1 for an integrator."""
        size = abs(self.eigenvalue)
        return -self.eigenvalue.real / size if size > 0.0 else 1.0

    @property
    def kind(self) -> str:
        """Return "grows", "integrates", "undamped" or "decays": what the mode does, within its eigenvalue's error."""
        if abs(self.eigenvalue) <= self.error:
            return "integrates"
        if abs(self.eigenvalue.real) <= self.error:
            return "undamped"
        return "grows" if self.eigenvalue.real > 0.0 else "decays"


@dataclass(frozen=True)
class StateSpace:
    """A linear model x' = A x + B u, y = C x + D u of deviations from an operating point.

    Attributes
    ----------
    name : str
        The system or FMU.
    time, step : float
        Time of the operating point; length of the step over which it was linearised, s.
    states, inputs, outputs : tuple of str
        Full names. A quaternion has three states `rotation[k]`: small rotations about the axes of its frame.
    units : dict of str to str
        Unit of each of them.
    A, B, C, D : ndarray
        The continuous model: inputs held over a step give its states after the step. NaN if there is none; see `notes`.
    discrete : tuple of ndarray
        (A, B, C, D) of x(t + step) = A x(t) + B u, y(t + step) = C x(t) + D u: what was computed, every state that the
        step reads, as `memory` names them.
    memory : tuple of str
        States of `discrete`.
    error : ndarray
        Estimated error of each entry of the discrete A.
    modes : tuple of Mode
        Modes, the fastest growing first.
    drift : ndarray
        Mean rate of each state over the step at the operating point itself: 0 at an equilibrium.
    held : dict of str to str
        What was not varied, and why.
    notes : tuple of str
        What to know about the model.
    method : str
        How the derivatives were computed.
    """

    name: str
    time: float
    step: float
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    units: dict[str, str]
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    discrete: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    memory: tuple[str, ...]
    error: np.ndarray
    modes: tuple[Mode, ...]
    drift: np.ndarray
    held: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    method: str = "differences"

    def content(self) -> dict[str, Any]:
        """Return everything as arrays by name, as the files hold it."""
        discrete = dict(zip(("Ad", "Bd", "Cd", "Dd"), self.discrete, strict=True))
        return {
            "A": self.A, "B": self.B, "C": self.C, "D": self.D, **discrete, "Ad_error": self.error,
            "eigenvalues": np.array([mode.eigenvalue for mode in self.modes], complex),
            "eigenvalue_errors": np.array([mode.error for mode in self.modes]),
            "frequencies": np.array([mode.frequency for mode in self.modes]),
            "damping_ratios": np.array([mode.damping for mode in self.modes]),
            "drift": self.drift, "time": np.array(self.time), "step": np.array(self.step),
            **{key: np.array(getattr(self, key), str) for key in ("states", "inputs", "outputs", "memory", "notes")},
            "units": np.array([self.units.get(name, "1") for name in (*self.states, *self.inputs, *self.outputs)], str),
            "held": np.array([f"{name}: {why}" for name, why in self.held.items()], str),
            "name": np.array(self.name), "method": np.array(self.method),
        }  # fmt: skip

    def write(self, file: Path | str) -> Path:
        """Write a .npz or a .mat (MATLAB 5) file; return its path. Raises LinearisationError for another ending."""
        file = Path(file)
        content = self.content()
        if file.suffix == ".npz":
            with atomic_file(file) as unfinished, unfinished.open("wb") as stream:
                np.savez(stream, **content)
        elif file.suffix == ".mat":
            cells = {key: value.astype(object) if value.dtype.kind == "U" else value for key, value in content.items()}
            with atomic_file(file) as unfinished:
                savemat(unfinished, cells, appendmat=False, oned_as="column")
        else:
            raise LinearisationError(f"{file}: the name of the file must end in .npz or .mat")
        return file


@dataclass(frozen=True)
class Reduced:
    """The part of a discrete model that is not forgotten within a step, in some of its states."""

    chosen: list[int]
    matrices: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    forgotten: int


def reduced(matrices: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], preference: Sequence[float]) -> Reduced:
    """Return the model of the modes that last longer than a step, whose states are a choice of the old ones.

    Modes that are forgotten follow the inputs at once: their static gain goes into D. The states are chosen by
    pivoting; those with a higher `preference` come first.
    """
    a, b, c, d = matrices
    n = len(a)
    if n == 0:
        return Reduced([], matrices, 0)
    schur, vectors, kept = scipy.linalg.schur(
        a, output="real", sort=lambda real, imag: float(np.hypot(real, imag)) >= FORGOTTEN
    )
    if kept == n:
        return Reduced(list(range(n)), matrices, 0)
    fast = schur[kept:, kept:]
    coupling = scipy.linalg.solve_sylvester(schur[:kept, :kept], -fast, -schur[:kept, kept:])
    # z = V1 xs + (V1 X + V2) xf, with xs = V1' z - X V2' z
    v1, v2 = vectors[:, :kept], vectors[:, kept:]
    left, right = v1.T - coupling @ v2.T, v1 @ coupling + v2
    static = np.linalg.solve(np.eye(n - kept) - fast, v2.T @ b)
    weight = np.asarray(preference)[:, None]
    _, _, order = scipy.linalg.qr((weight * v1).T, mode="economic", pivoting=True)
    chosen = sorted(int(k) for k in order[:kept])
    basis = v1[chosen]
    back = np.linalg.inv(basis)
    return Reduced(
        chosen,
        (basis @ schur[:kept, :kept] @ back, basis @ left @ b, c @ v1 @ back, d + c @ right @ static),
        n - kept,
    )


def continuous(
    matrices: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], step: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """Return (A, B, C, D) whose response to held inputs is that of a discrete model; None if no real one exists."""
    a, b, c, d = matrices
    n, m = b.shape
    if n == 0:
        return a, b, c, d
    values = np.linalg.eigvals(a)
    if (np.isreal(values) & (values.real <= 0.0)).any():
        return None
    block = np.zeros((n + m, n + m))
    block[:n, :n], block[:n, n:], block[n:, n:] = a, b, np.eye(m)
    with warnings.catch_warnings():
        # scipy warns from 1e-13 on; the model is judged by its own response below
        warnings.simplefilter("ignore", RuntimeWarning)
        logarithm = scipy.linalg.logm(block)
    if not np.abs(scipy.linalg.expm(logarithm) - block).max() <= INACCURATE * np.abs(block).max():
        return None
    if np.iscomplexobj(logarithm):
        if np.abs(logarithm.imag).max() > 1e-8 * max(np.abs(logarithm.real).max(), 1e-300):
            return None
        logarithm = logarithm.real
    rate = logarithm[:n] / step
    output = np.linalg.solve(a.T, c.T).T
    return rate[:, :n], rate[:, n:], output, d - output @ b


def modes(a: np.ndarray, error: np.ndarray, names: Sequence[str], step: float) -> tuple[Mode, ...]:
    """Return the modes of a discrete model that are not forgotten within a step, the fastest growing first.

    The error of an eigenvalue is that to first order, |w| E |v| / |w v|, and for defective eigenvalues its square root.
    """
    if not len(a):
        return ()
    values, left, right = scipy.linalg.eig(a, left=True, right=True)
    found = []
    for k, multiplier in enumerate(values):
        if abs(multiplier) < FORGOTTEN:
            continue
        w, v = np.abs(left[:, k]), np.abs(right[:, k])
        overlap = abs(np.vdot(left[:, k], right[:, k]))
        # below this an eigenvalue is defective to working precision
        move = float(w @ error @ v) + 4.0 * np.finfo(float).eps * float(w @ np.abs(a) @ v)
        uncertain = min(move / max(overlap, 1e-300), np.sqrt(move))
        part = np.abs(left[:, k].conj() * right[:, k])
        most = [names[int(i)] for i in np.argsort(-part)[:3] if part[i] > 0.1 * part.max()]
        rate = complex(np.log(complex(multiplier))) / step
        found.append(Mode(rate, complex(multiplier), uncertain / (abs(multiplier) * step), tuple(most)))
    return tuple(sorted(found, key=lambda mode: (-round(mode.eigenvalue.real, 9), abs(mode.eigenvalue))))
