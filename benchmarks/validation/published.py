"""Published results of a docking with each variant (Yaskevich 2020, chapter 6), compared with ours.

Numbers and features are those that central-docking has taken from the text, sections 8 and 9.6; the curves themselves
are lost. A feature has a function that returns (measured value, whether it is as published): None in place of the
latter if the source gives no limit; no pair at all if the build lacks the device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.validation.docking import Docking

Found = tuple[str, bool | None]

PULL = -300.0
"""Force with which the latches pull, N."""
NONE = "\N{EN DASH}"
"""Text of an empty cell."""


@dataclass(frozen=True)
class Feature:
    """A published number or feature of a curve.

    Attributes
    ----------
    place : str
        Section or figure of the source.
    text : str
        What the source says.
    measure : callable
        Docking -> (what was found, whether it is as published).
    """

    place: str
    text: str
    measure: Callable[[Docking], Found | None]


def _contact_lost(docking: Docking) -> Found:
    rows = docking.window(docking.events["first_contact"], docking.events["socket_bottom"])
    touching = docking["mechanism.sensor.first_contact"][rows] > 0.0
    losses = int((np.diff(touching.astype(int)) < 0).sum())
    return f"{losses} times", losses > 0


def _start(docking: Docking) -> Found:
    after = docking.events["docking_start"] - docking.events["first_contact"]
    return f"{after:.1f} s", 1.5 <= after <= 4.5


def _push_ends(docking: Docking) -> Found:
    bottom = docking.events["socket_bottom"]
    push = docking["cyclogram.command.push"] != 0.0
    last = float(docking.time[np.flatnonzero(push)[-1]])
    return f"{1e3 * (last - bottom):.0f} ms later", 0.0 <= last - bottom < 0.1


def _resistance(docking: Docking) -> tuple[int, int, int]:
    """Return the rows of the bottom, of the largest travel in the next 5 s, and of the first pull of the latches."""
    bottom = docking.events["socket_bottom"]
    first, last = docking.window(bottom, bottom + 5.0)[[0, -1]]
    turn = first + int(np.argmax(docking["mechanism.sensor.axial_travel"][first:last]))
    pull = turn + int(np.argmax(docking.push[turn:] < PULL))
    return int(first), turn, pull


def _recoil(docking: Docking) -> Found:
    first, turn, pull = _resistance(docking)
    travel = docking["mechanism.sensor.axial_travel"]
    level = 0.5 * travel[turn]
    loading = docking.push[first + int(np.argmax(travel[first:turn] >= level))]
    back = np.flatnonzero(travel[turn:pull] <= level)
    if not len(back):
        return "does not return to half the travel", None
    unloading = docking.push[turn + back[0]]
    return f"ratio {unloading / loading:.2f} at half the travel", bool(unloading < loading)


def _friction_brake(docking: Docking) -> Found:
    slip = float(np.abs(docking["mechanism.axial.brake_slip"]).max())
    return ("slips" if slip else "holds"), slip > 0.0


def _latch_pulse(docking: Docking) -> Found:
    bottom = docking.events["socket_bottom"]
    rows = docking.window(bottom, bottom + 10.0)
    peak = rows[np.argmin(docking.push[rows])]
    return f"{-docking.push[peak] / 1e3:.2f} kN at {docking.time[peak]:.1f} s", None


def _latch_time(docking: Docking) -> Found:
    bottom = docking.events["socket_bottom"]
    rows = docking.window(bottom, bottom + 10.0)
    t = float(docking.time[rows[np.argmin(docking.push[rows])]])
    return f"{t:.1f} s", 4.0 <= t <= 8.0


def _asymmetric(docking: Docking) -> Found:
    bottom = docking.events["socket_bottom"]
    rows = docking.window(bottom + 1.0, bottom + 4.0)
    peak = rows[np.argmin(docking.push[rows])]
    half = 0.5 * docking.push[peak]
    rise = docking.time[peak] - docking.time[rows[np.argmax(docking.push[rows] < half)]]
    fall = docking.time[peak + int(np.argmax(docking.push[peak:] > half))] - docking.time[peak]
    return f"rise {rise:.3f} s, fall {fall:.3f} s", bool(abs(rise - fall) > 0.05 * (rise + fall))


def _second_hit(docking: Docking) -> Found:
    bottom = docking.events["socket_bottom"]
    one, other = docking.window(bottom, bottom + 2.0), docking.window(bottom + 4.0, bottom + 7.0)
    first, second = docking.push[one].max(), docking.push[other].max()
    return f"{second / first:.2f} of the first", bool(0.0 < second < first)


def _limiter_contacts(docking: Docking) -> Found:
    count = docking.contacts("mechanism.flag.limiter_contact", 38.0)
    return f"{count}", count == 2


def _drive_on(docking: Docking) -> Found:
    return f"{docking.events['drive_on']:.1f} s", abs(docking.events["drive_on"] - 38.0) < 2.0


def _rollers(docking: Docking) -> Found | None:
    touching = docking["mechanism.flag.roller_contact"] > 0.0
    after = touching.any(axis=1) & (docking.time > docking.events["drive_on"])
    if not after.any():
        return None
    first = float(docking.time[np.argmax(after)])
    return f"{first:.0f} s", first > 220.0


def _rollers_at_once(docking: Docking) -> Found:
    """Count by flags, which hold for a macro step, and by the micro-steps in which three bore at once."""
    most = int((docking["mechanism.flag.roller_contact"] > 0.0).sum(axis=1).max())
    jammed = int(docking["mechanism.validity.three_rollers"][-1])
    return (f"{most}, three in {jammed} micro-steps" if jammed else f"{most}"), jammed == 0


def _early_rollers(docking: Docking) -> Found | None:
    """Return how long rollers touch before the drive retracts the probe."""
    touching = docking["mechanism.flag.roller_contact"] > 0.0
    drive_on = docking.events.get("drive_on", np.inf)
    early = touching.any(axis=1) & (docking.time < drive_on)
    if not early.any():
        return "none", True
    first = float(docking.time[np.argmax(early)])
    seconds = float(early[:-1] @ np.diff(docking.time))
    return f"for {seconds:.2f} s from {first:.1f} s, {int(touching[early].sum(axis=1).max())} at once", False


def _early_planes(docking: Docking) -> Found:
    """Return how long, and how deep, the docking planes overlap before the drive retracts the probe."""
    count = int(docking["mechanism.validity.early_plane_contact"][-1])
    if count == 0:
        return "none", True
    before = docking.time < docking.events.get("drive_on", np.inf)
    seconds = float((before & (docking["mechanism.flag.plane_contact"] > 0.0))[:-1] @ np.diff(docking.time))
    return (
        f"for {seconds:.2f} s, gap of the middles {1e3 * docking['mechanism.docking.plane_gap'][before].min():.0f} mm",
        False,
    )


def _duration(docking: Docking) -> Found:
    end = docking.events["end_of_retraction"] / 60.0
    return f"{end:.1f} min", 5.0 <= end <= 7.0


def _end_gap(docking: Docking) -> Found:
    gap = float(docking["mechanism.docking.plane_gap"][-1])
    return f"{1e3 * gap:.1f} mm", 9.0e-3 < gap < 10.5e-3


def _largest_push(docking: Docking) -> Found:
    return f"{docking.push.max() / 1e3:.2f} kN", None


def _pulses(docking: Docking) -> Found:
    forces = [force for _, force in docking.pulses(60.0)]
    return (f"{len(forces)}, up to {max(forces) / 1e3:.1f} kN" if forces else "none"), None


def _strong_pulses(docking: Docking) -> Found:
    return f"{sum(force > 1e3 for _, force in docking.pulses(60.0))}", None


def _first_brake(docking: Docking) -> Found | None:
    """Only a build with FrB1 has its loss in the audit."""
    if "mechanism.audit.dissipated_first_brake" not in docking.energies:
        return None
    return f"{1e3 * docking['mechanism.axial.stroke'].max():.0f} mm", None


def _re_cocked(docking: Docking) -> Found | None:
    """Return when the stroke of FrB1 falls to zero while the nut stands and the gap stays."""
    if "mechanism.audit.dissipated_first_brake" not in docking.energies:
        return None
    stroke = docking["mechanism.axial.stroke"]
    late = docking.time > docking.events["drive_on"]
    falling = np.flatnonzero(late & (stroke > 0.01 * stroke[late][0]) & (stroke < 0.99 * stroke[late][0]))
    if not len(falling):
        return "no stroke was left", None
    begin, end = falling[[0, -1]]
    gap = docking["mechanism.docking.plane_gap"][[begin, end]]
    restored = (
        f"{docking.time[begin]:.0f} to {docking.time[end]:.0f} s, gap {1e3 * gap[0]:.1f} to {1e3 * gap[1]:.1f} mm"
    )
    return restored, bool(stroke[-1] == 0.0)


def _tilt(docking: Docking) -> Found:
    return f"{np.degrees(docking.tilt.max()):.1f}°", None


def _limiter_before_capture(docking: Docking) -> Found:
    """Return when the limiter touches the cone first, as seen from the capture."""
    touching = docking["mechanism.flag.limiter_contact"] > 0.0
    if not touching.any():
        return "never", True
    after = float(docking.time[np.argmax(touching)]) - docking.events["capture"]
    return f"{abs(after):.2f} s {'after' if after >= 0.0 else 'before'}", after >= 0.0


def _full_contact(docking: Docking) -> Found | None:
    """Return from when on the limiter is held behind its forward position until the end."""
    travel = docking["mechanism.limiter.travel"]
    if travel[-1] < 1e-3:
        return None
    return f"{docking.time[np.flatnonzero(travel < 1e-3)[-1]]:.0f} s", None


def _swing_at_end(docking: Docking) -> Found:
    """Return the largest change of the angle between the docking axes in the last 20 s."""
    last = docking.tilt[docking.time > docking.time[-1] - 20.0]
    return f"{np.degrees(np.ptp(last)):.2f}°", None


def _limiter_stands(docking: Docking) -> Found | None:
    """Return how far a movable limiter goes while the stroke of FrB1 is restored."""
    travel, stroke = docking["mechanism.limiter.travel"], docking["mechanism.axial.stroke"]
    if travel[-1] < 1e-3:
        return None
    late = docking.time > docking.events["drive_on"]
    falling = late & (stroke > 0.01 * stroke[late][0]) & (stroke < 0.99 * stroke[late][0])
    if not falling.any():
        return "no stroke was left", None
    return f"{1e3 * np.ptp(travel[falling]):.1f} mm", None


MEASURES: dict[str, Callable[[Docking], Found | None]] = {
    "early rollers": _early_rollers,
    "rollers at once": _rollers_at_once,
    "early planes": _early_planes,
}
"""What tells whether the data of a mechanism fit its borders (ruling R46, R47)."""

EXISTING = (
    Feature(
        "6.2, fig. 6.2.2", "contact is lost after the first touch, before the head enters the socket", _contact_lost
    ),
    Feature("6.2, fig. 6.2.2", "the push ends when the head touches the bottom of the socket", _push_ends),
    Feature("6.2", "docking starts about 3 s after first contact", _start),
    Feature("6.2, fig. 6.2.2", "the friction brake slips once the spring is compressed", _friction_brake),
    Feature("6.2, fig. 6.2.2", "the force is smaller in recoil than in compression", _recoil),
    Feature("6.2, fig. 6.2.4", "the latches strike their stops in the 6th second", _latch_time),
    Feature("6.2, fig. 6.2.3", "hysteresis makes the pulse of the latches asymmetric", _asymmetric),
    Feature("6.2, fig. 6.2.2", "the second strike on the bottom is weaker", _second_hit),
    Feature("6.2, fig. 6.2.4", "the limiter touches the cone twice before 38 s", _limiter_contacts),
    Feature("6.2, fig. 6.2.4", "the drive starts at 38 s", _drive_on),
    Feature("6.2, fig. 6.2.4", "rollers touch the cone after 220 s", _rollers),
    Feature("6.2", "no more than two rollers touch at once", MEASURES["rollers at once"]),
    Feature("6.1, 6.2", "stowed rollers touch nothing before the retraction", MEASURES["early rollers"]),
    Feature("6.1, 6.5", "the docking planes are apart until the end of the retraction", MEASURES["early planes"]),
    Feature("6.1, 4.1", "the whole docking takes 5 to 7 minutes", _duration),
)
"""What the source says of the docking of an ATV with the existing mechanism (section 6.2)."""

COMPARED = (
    Feature("6.4", "largest push; smaller with two friction brakes", _largest_push),
    Feature("6.4", "pulse of the latches; much smaller with two friction brakes", _latch_pulse),
    Feature("6.4", "pulses of the limiter above 0.3 kN in the first minute; V1 a series, V2 and V3 few", _pulses),
    Feature("6.4", "pulses above 1 kN; V2 and V3 at most a small one", _strong_pulses),
    Feature("6.5", "largest angle between the docking axes; V3 1.5 times smaller", _tilt),
    Feature("6.5", "first contact of the limiter, relative to capture; V3 not before it", _limiter_before_capture),
    Feature("6.4", "stroke of FrB1, largest", _first_brake),
    Feature(
        "6.4, 6.5",
        "the pushers restore the stroke of FrB1 while nut and gap stand still; V3 from 185 to 204 s",
        _re_cocked,
    ),
    Feature("6.5", "travel of the limiter during this time; V3 none", _limiter_stands),
    Feature("6.5", "the limiter lies fully on the cone until the end; V3 from 80 s", _full_contact),
    Feature("6.5", "swing of the docking axes in the last 20 s; V3 none", _swing_at_end),
    Feature("6.5", "first contact of the rollers; V3 none", _rollers),
    Feature("6.2", "rollers that touch at once; at most two", MEASURES["rollers at once"]),
    Feature("6.1, 6.2", "rollers in contact before the retraction; none", MEASURES["early rollers"]),
    Feature("6.1, 6.5", "docking planes that overlap before the retraction; none", MEASURES["early planes"]),
    Feature("6.5", "gap of the docking planes at the end; V3 10 mm", _end_gap),
    Feature("6.1, 4.1", "duration; 5 to 7 minutes", _duration),
)
"""What the source says of the three variants on equal initial conditions (sections 6.4 and 6.5)."""


def existing_table(docking: Docking) -> list[str]:
    """Return the statements of the source on the existing mechanism beside our results, as lines of Markdown."""
    lines = ["| section | published | dockfmu | agrees |", "|---|---|---|---|"]
    for feature in EXISTING:
        found = feature.measure(docking)
        text, holds = found if found is not None else (NONE, None)
        verdict = "" if holds is None else "yes" if holds else "**no**"
        lines.append(f"| {feature.place} | {feature.text} | {text} | {verdict} |")
    return lines


def comparison_table(dockings: Sequence[Docking]) -> list[str]:
    """Return the source's statements on the variants beside our results on equal initial conditions, in Markdown."""
    lines = ["| section | published | " + " | ".join(f"`{docking.name}`" for docking in dockings) + " |"]
    lines.append("|---" * (2 + len(dockings)) + "|")
    for feature in COMPARED:
        cells = [found[0] if (found := feature.measure(docking)) else NONE for docking in dockings]
        lines.append(f"| {feature.place} | {feature.text} | {' | '.join(cells)} |")
    return lines
