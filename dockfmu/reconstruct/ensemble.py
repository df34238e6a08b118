"""Ensemble smoother with multiple data assimilation: unknowns from data, by runs of a model alone.

The unknowns are standard normal before the data are seen; laws of other kinds are transformed to that. The data have
independent normal errors. Data are assimilated in steps of shares that add up to one: a step with the share s takes
the errors of the data for 1 / sqrt(s) times as large, and perturbs the data accordingly (Emerick & Reynolds 2013,
doi:10.1016/j.cageo.2012.03.011). In a linear model the members are then draws of the exact posterior, but for what the
size of the ensemble does. The shares are chosen by the misfit (Iglesias & Yang 2021, doi:10.1088/1361-6420/abd29b).

What a step loses because a wide ensemble sees no straight line is lost for good. So the members are refined after that,
as `ensemble_refine` says, and only by that where windows after the first bring more data.

Outputs are split in a part linear in the unknowns, by regression over the members, and a rest, which is what contact
that is not smooth makes of them. The rest counts as an error of the model in that step, with a covariance of half its
sample and half the diagonal of it, because an ensemble has fewer members than there are data. Where members are too few
for a regression, the gain of each unknown on each direction of the outputs is shrunk by what its correlation exceeds
that of chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dockfmu.reconstruct.ensemble_refine import Aim, Archive, Refinement, refinable, search, spread_of
from dockfmu.reconstruct.ensemble_step import (
    FEWEST,
    SPARE,
    EnsembleError,
    drawn_anew,
    perturbations,
    regression,
    share_of,
    update,
)
from dockfmu.reconstruct.ensemble_windows import FEWEST as FEWEST_WINDOWS
from dockfmu.reconstruct.ensemble_windows import given_windows, growing_windows

REFINEMENTS = 25
"""Most steps of the refinement."""
BETWEEN = 10
"""Most steps of the refinement between windows."""
PATIENCE = 2
"""Steps of the refinement in a row that gain less than CONVERGED, after which it ends."""
CONVERGED = 0.3
"""Decrease of the mean objective that a step of the refinement must bring."""
PASSED = 1.0
"""The same between windows, where members that differ from others by as little are told apart by the data to come."""
SURPRISING = 4.0
"""Mean square of the residuals of a block, over spread and noise, above which what is in excess counts as noise."""
MOST_STEPS = 12
"""Steps of a window after which the rest of its data is assimilated at once."""
EXPLAINED = 1.5
"""Mean square of the residuals of the members, over noise, above which runs around the best are drawn."""
HELPED = 0.5
"""Part of the misfit that a search must leave at most, if there is to be another one in a later window."""
DIGITS = 9
"""Decimals of unknowns, which the last bits of a sum do not change: a repeated estimation requests the same runs."""

Forward = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class AssimilationStep:
    """Tell what a step of a smoother did.

    Attributes
    ----------
    window : int
        Number of the window, -1 for the refinement.
    share : float
        Share of the data of the window that the step assimilated; in the refinement, the share of the members that it
        moved.
    total : float
        Share assimilated so far.
    misfit : float
        Mean over the members of the sum of the squared residuals in their deviations, per datum: about 1 if the model
        explains the data.
    absent : int
        Members without outputs, drawn anew from the others after the step.
    until : float
        The latest time of the data so far, NaN where data have no times.
    """

    window: int
    share: float
    total: float
    misfit: float
    absent: int
    until: float = math.nan


@dataclass(frozen=True)
class Posterior:
    """Members after the data: unknowns, shape (members, n), and their outputs, shape (members, data).

    Outputs of members without any are NaN. `prior` and `prior_outputs` are those before the data, `runs` the number of
    members whose outputs were asked for.
    """

    unknowns: np.ndarray
    outputs: np.ndarray
    prior: np.ndarray
    prior_outputs: np.ndarray
    steps: tuple[AssimilationStep, ...] = ()
    runs: int = 0

    @property
    def valid(self) -> np.ndarray:
        """Tell which members have all outputs, shape (members,)."""
        return np.asarray(np.isfinite(self.outputs).all(axis=1))

    @property
    def mean(self) -> np.ndarray:
        """Return the mean of the unknowns, over the members with outputs."""
        return np.asarray(self.unknowns[self.valid].mean(axis=0))

    @property
    def covariance(self) -> np.ndarray:
        """Return the covariance of the unknowns, over the members with outputs."""
        return np.asarray(np.atleast_2d(np.cov(self.unknowns[self.valid].T)))


@dataclass(frozen=True)
class SmootherOptions:
    """Set how a smoother works.

    Attributes
    ----------
    steps : int
        Number of equal shares; 0 chooses them by the misfit.
    most : int
        Most steps of a window if they are chosen.
    refinements : int
        Most steps of the refinement. It needs members enough for a regression.
    localise : bool, optional
        Whether gains are shrunk by their correlations; by default if members are too few for a regression.
    """

    steps: int = 0
    most: int = MOST_STEPS
    refinements: int = REFINEMENTS
    localise: bool | None = None


@dataclass(frozen=True)
class _Surprise:
    """Finds blocks of data that are further from the members than these know."""

    blocks: np.ndarray | None

    def of(self, residuals: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the variance in excess, for residuals of members in deviations of the noise, shape (members, data)."""
        if self.blocks is None:
            return np.zeros(residuals.shape[1])
        _, label = np.unique(self.blocks[mask], return_inverse=True)
        known = 1.0 + residuals.var(axis=0, ddof=1)
        ratio = np.bincount(label, residuals.mean(axis=0) ** 2 / known) / np.bincount(label)
        return np.asarray(known * np.where(ratio > SURPRISING, ratio - 1.0, 0.0)[label])


@dataclass
class _State:
    """The members at work, and what they are told of."""

    unknowns: np.ndarray
    outputs: np.ndarray
    archive: Archive
    forward: Forward
    time: np.ndarray
    """Times of the data, shape (data,)."""
    until: Callable[[float], None]
    steps: list[AssimilationStep] = field(default_factory=list)

    def ask(self, until: float) -> None:
        """Ask for outputs at data up to a time alone from now on."""
        self.until(until if until < self.time.max() else math.inf)

    def reach(self, until: float) -> None:
        """Have the outputs of the members at data up to a time."""
        short = np.isnan(self.outputs[:, self.time <= until]).any(axis=1)
        if short.any():
            self.ask(until)
            told = np.asarray(self.forward(self.unknowns[short]), float)
            self.outputs = self.outputs.copy()
            self.outputs[short] = told
            self.archive.add(self.unknowns[short], told)

    def move(self, members: np.ndarray) -> None:
        """Move the members, and make their runs."""
        self.unknowns, self.outputs = members, np.asarray(self.forward(members), float)
        self.archive.add(self.unknowns, self.outputs)


def smooth(
    prior: np.ndarray,
    forward: Forward,
    data: np.ndarray,
    deviation: np.ndarray,
    *,
    seed: int = 0,
    windows: Sequence[np.ndarray] = (),
    time: np.ndarray | None = None,
    blocks: np.ndarray | None = None,
    options: SmootherOptions = SmootherOptions(),
    until: Callable[[float], None] = lambda until: None,
    told: Callable[[AssimilationStep], None] = lambda step: None,
) -> Posterior:
    """Return members that have assimilated data.

    Parameters
    ----------
    prior : ndarray, shape (members, n)
        Draws of the unknowns before the data, standard normal.
    forward : callable
        Returns the outputs of members, shape (members, data); a member without an output has NaN in its place.
    data, deviation : ndarray, shape (data,)
        The data, and the standard deviations of their errors.
    seed : int
        Seed of all perturbations.
    windows : sequence of ndarray
        Masks of the data that are assimilated one after the other, each to the end; by default all at once. Members
        need outputs in the present window and those before it alone.
    time : ndarray, shape (data,), optional
        Times of the data. Without windows, these then grow as `growing_windows` says.
    blocks : ndarray of int, shape (data,), optional
        Numbers of blocks of neighbouring data. Where the data of a block are further from the mean of the members than
        spread and noise explain, what is in excess counts as noise: an impact that no member has yet, or a fault of
        the model, does not pull the members to where they do not belong.
    until : callable
        Called with the time up to which `forward` has to have outputs from then on, infinite for all of them; at first
        all are asked for. A member may lack what is later.
    told : callable
        Called after each step.

    Raises
    ------
    EnsembleError
        for data that do not fit each other, and if fewer members than half have outputs
    """
    random = np.random.default_rng(seed)
    members = np.array(prior, float)
    _check(members, data, deviation)
    masks = given_windows(windows, len(data))
    before = np.asarray(forward(members), float)
    times = np.zeros(len(data)) if time is None else np.asarray(time, float)
    state = _State(members, before, Archive(members, before), forward, times, until)
    surprise = _Surprise(None if blocks is None else np.asarray(blocks))
    needed = np.zeros(len(data), bool)
    # centred draws of the prior, so that the mean is that of the prior itself
    aim = Aim(data, deviation, needed, members - members.mean(axis=0), perturbations(len(members), len(data), random))

    def note(step: AssimilationStep) -> None:
        until = math.nan if time is None else float(time[needed].max())
        state.steps.append(replace(step, until=until))
        told(state.steps[-1])

    grown = iter(masks) if len(windows) or time is None else growing_windows(state, times, deviation)
    refined = hopeful = options.refinements > 0 and refinable(members)
    for number, mask in enumerate(grown):
        needed = needed | mask
        if time is not None:
            state.reach(times[needed].max())
            # the next window grows by what the members tell of it; and an event may come later in them than in the data
            state.ask(times[needed].max() + np.ptp(times) / FEWEST_WINDOWS)
        wide = spread_of(state.unknowns)
        if not (number and refined):
            _assimilate(state, data, deviation, (number, mask, needed), surprise, random, options, note)
        if refined:
            now = replace(aim, needed=needed)
            _arrive(state, now, surprise, options.refinements, note)
            if hopeful and now.misfit(state.outputs) > EXPLAINED:
                missed = now.misfit(state.outputs)
                search(now, state.archive, state.forward, wide, random, DIGITS)
                _arrive(state, now, surprise, options.refinements, note)
                hopeful = now.misfit(state.outputs) < max(EXPLAINED, HELPED * missed)
    return Posterior(state.unknowns, state.outputs, members, before, tuple(state.steps), len(state.archive.unknowns))


def _assimilate(
    state: _State,
    data: np.ndarray,
    deviation: np.ndarray,
    window: tuple[int, np.ndarray, np.ndarray],
    surprise: _Surprise,
    random: np.random.Generator,
    options: SmootherOptions,
    told: Callable[[AssimilationStep], None],
) -> None:
    """Assimilate the data of a window to the end."""
    number, mask, needed = window
    total, taken = 0.0, 0
    while total < 1.0:
        valid = np.isfinite(state.outputs[:, needed]).all(axis=1)
        absent = int((~valid).sum())
        if valid.sum() < max(FEWEST, len(valid) / 2):
            raise EnsembleError(
                f"{absent} of {len(valid)} members have no outputs for the data of window {number + 1}: the prior or "
                "the model does not reach them"
            )
        residuals = (data - state.outputs[valid])[:, mask] / deviation[mask]
        mean_square = float(np.mean(residuals**2))
        excess = surprise.of(residuals, mask)
        if valid.sum() - 1 - state.unknowns.shape[1] >= SPARE:
            # what is not linear is noise to this step
            residuals = residuals / np.sqrt(regression(state.unknowns[valid], residuals)[1] + excess)
        misfits = 0.5 * np.sum(residuals**2, axis=1)
        last = 1.0 - total
        share = 1.0 / options.steps if options.steps else share_of(misfits, int(mask.sum()), last)
        taken += 1
        if taken >= (options.steps or options.most) or share > last:
            share = last
        updated = update(
            state.unknowns[valid], state.outputs[valid][:, mask], data[mask], deviation[mask], share, random,
            localise=options.localise, excess=excess,
        )  # fmt: skip
        members = np.empty_like(state.unknowns)
        members[valid] = updated
        if absent:
            members[~valid] = drawn_anew(updated, absent, random)
        total = 1.0 if share == last else total + share
        state.move(np.round(members, DIGITS))
        told(AssimilationStep(number, share, total, mean_square, absent))


def _arrive(state: _State, aim: Aim, surprise: _Surprise, most: int, told: Callable[[AssimilationStep], None]) -> None:
    """Refine the members; strictly, too, if they do not explain the data then.

    What no member explains counts for little at first, so that it does not lead all astray; but where it goes on to,
    members would drift to where they explain even less.
    """
    _refine(state, aim, surprise, most, told, strict=False)
    if aim.misfit(state.outputs) > EXPLAINED:
        _refine(state, aim, surprise, most, told, strict=True)


def _refine(
    state: _State, aim: Aim, surprise: _Surprise, most: int, told: Callable[[AssimilationStep], None], *, strict: bool
) -> None:
    """Move each member to the most probable point for its draw of the prior and its perturbed data.

    Between windows, too, until they have arrived: members that explain the data in a wrong place, and agree there, are
    lost to the windows after it.
    """
    refinement = Refinement(aim, (state.unknowns, state.outputs), state.archive, state.forward, DIGITS)
    vain = 0
    last = bool(aim.needed.all())
    for _ in range(most if last else min(most, BETWEEN)):
        step = refinement.step(lambda residuals: surprise.of(residuals, aim.needed), strict=strict)
        if step is None:
            return
        state.unknowns, state.outputs = refinement.unknowns, refinement.outputs
        told(AssimilationStep(-1, step.moved, 1.0, aim.misfit(state.outputs), step.absent))
        vain = vain + 1 if step.gained < (CONVERGED if last else PASSED) else 0
        if vain == PATIENCE:
            return


def _check(members: np.ndarray, data: np.ndarray, deviation: np.ndarray) -> None:
    if members.ndim != 2 or len(members) < FEWEST:
        raise EnsembleError(f"members of shape {members.shape}: at least {FEWEST} rows of unknowns are needed")
    if data.shape != deviation.shape or data.ndim != 1 or not len(data):
        raise EnsembleError(f"data of shape {data.shape} need as many deviations, not {deviation.shape}")
    if not (np.isfinite(data).all() and (deviation > 0.0).all() and np.isfinite(deviation).all()):
        raise EnsembleError("data must be finite, and their deviations positive")
