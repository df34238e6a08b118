"""An oscillator as a third party might write it with pythonfmu: the same ports, no units, no audit, and it prints."""

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class PlainOscillator(Fmi2Slave):
    def __init__(self, **options):
        super().__init__(**options)
        self.force = 0.0
        self.position = 0.0
        self.velocity = 0.0
        self.mass = 1.0
        self.nan_at = 1e300
        self.register_variable(Real("force", causality=Fmi2Causality.input))
        self.register_variable(Real("position", causality=Fmi2Causality.output))
        for name in ("mass", "nan_at"):
            self.register_variable(
                Real(
                    f"parameters.{name}",
                    causality=Fmi2Causality.parameter,
                    variability=Fmi2Variability.tunable,
                    getter=lambda name=name: getattr(self, name),
                    setter=lambda value, name=name: setattr(self, name, value),
                )
            )

    def exit_initialization_mode(self):
        print("a line of a library on standard output")

    def do_step(self, current_time, step_size):
        self.velocity += step_size * (self.force - self.position) / self.mass
        self.position += step_size * self.velocity
        if current_time >= self.nan_at:
            self.position = float("nan")
        return True
