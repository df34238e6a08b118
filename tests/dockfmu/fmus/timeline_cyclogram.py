"""A sequence of docking as a third party might write it: the times of events, and commands as functions of them.

After central-docking 6.2 with its time limits as constants, for a docking in which nothing fails.
"""

from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Integer, Real

SENSORS = ("extended", "retracted", "first_contact", "socket_bottom", "capture")
PUSH, BRAKES_FROM, BRAKES_TO, DRIVE, GAP = 10.0, 2.0, 32.0, 35.0, 0.01


class TimelineCyclogram(Fmi2Slave):
    def __init__(self, **options):
        super().__init__(**options)
        self.seen = {}
        self.sensor = dict.fromkeys(SENSORS, False)
        self.gap = 1.0
        self.command = {
            "motor_voltage[1]": 0.0, "motor_voltage[2]": 0.0, "lateral_brakes": False, "latches_armed": True,
            "limiter_release": True, "push": 0, "attitude_hold[1]": False, "attitude_hold[2]": False,
        }  # fmt: skip
        self.finished = False
        self.register_variable(
            Real("docking.plane_gap", causality=Fmi2Causality.input, getter=lambda: self.gap, setter=self.set_gap)
        )
        for name in SENSORS:
            self.register_variable(
                Boolean(
                    f"sensor.{name}",
                    causality=Fmi2Causality.input,
                    getter=lambda name=name: self.sensor[name],
                    setter=lambda value, name=name: self.sensor.__setitem__(name, value),
                )
            )
        for name, value in self.command.items():
            kind = {float: Real, bool: Boolean, int: Integer}[type(value)]
            self.register_variable(
                kind(
                    f"command.{name}",
                    causality=Fmi2Causality.output,
                    getter=lambda name=name: self.command[name],
                )
            )
        self.register_variable(Boolean("finished", causality=Fmi2Causality.output))

    def set_gap(self, value):
        self.gap = value

    def do_step(self, current_time, step_size):
        t, sensor, seen, command = current_time + 1e-9, self.sensor, self.seen, self.command
        for event, happens in (
            ("contact", sensor["first_contact"]),
            ("capture", "contact" in seen and sensor["capture"]),
            ("bottom", "contact" in seen and sensor["socket_bottom"]),
            ("start", "capture" in seen and sensor["socket_bottom"]),
        ):
            if happens:
                seen.setdefault(event, current_time)

        def since(event):
            return t - seen[event] if event in seen else -1.0

        self.finished = self.finished or (since("start") >= DRIVE and (self.gap <= GAP or sensor["retracted"]))
        command["push"] = int(0.0 <= since("contact") < PUSH and "bottom" not in seen)
        command["lateral_brakes"] = BRAKES_FROM <= since("start") < BRAKES_TO
        voltage = 27.0 if since("start") >= DRIVE and not self.finished else 0.0
        command["motor_voltage[1]"] = command["motor_voltage[2]"] = voltage
        return True
