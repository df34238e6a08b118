"""A sequence of docking as a third party might write it with pythonfmu: no thrust, latches armed, nothing else."""

from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Integer, Real

SENSORS = ("extended", "retracted", "first_contact", "socket_bottom", "capture")


class PlainCyclogram(Fmi2Slave):
    def __init__(self, **options):
        super().__init__(**options)
        self.inputs = {}
        self.outputs = {
            "command.motor_voltage[1]": 0.0,
            "command.motor_voltage[2]": 0.0,
            "command.lateral_brakes": False,
            "command.latches_armed": True,
            "command.limiter_release": True,
            "command.push": 0,
            "command.attitude_hold[1]": True,
            "command.attitude_hold[2]": True,
        }
        self.add_input(Real, "docking.plane_gap", 1.0)
        for sensor in SENSORS:
            self.add_input(Boolean, f"sensor.{sensor}", False)
        kinds = {float: Real, bool: Boolean, int: Integer}
        for name, value in self.outputs.items():
            self.register_variable(
                kinds[type(value)](name, causality=Fmi2Causality.output, getter=lambda name=name: self.outputs[name])
            )

    def add_input(self, kind, name, start):
        self.inputs[name] = start
        self.register_variable(
            kind(
                name,
                causality=Fmi2Causality.input,
                getter=lambda: self.inputs[name],
                setter=lambda value: self.inputs.__setitem__(name, value),
            )
        )

    def do_step(self, current_time, step_size):
        return True
