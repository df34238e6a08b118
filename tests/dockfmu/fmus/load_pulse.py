"""A mechanism that only tells the load of its interface: a pulse of known height, start and length."""

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class LoadPulse(Fmi2Slave):
    def __init__(self, **options):
        super().__init__(**options)
        self.compression = 0.0
        self.height = 1.0
        self.begin = 0.0
        self.length = 0.0
        self.register_variable(
            Real("load.compression", causality=Fmi2Causality.output, getter=lambda: self.compression)
        )
        for name in ("height", "begin", "length"):
            self.register_variable(
                Real(
                    f"parameters.{name}",
                    causality=Fmi2Causality.parameter,
                    variability=Fmi2Variability.tunable,
                    getter=lambda name=name: getattr(self, name),
                    setter=lambda value, name=name: setattr(self, name, value),
                )
            )

    def do_step(self, current_time, step_size):
        # the largest load in the step; the margin is that of rounded times
        overlaps = self.begin < current_time + step_size - 1e-9 and current_time < self.begin + self.length - 1e-9
        self.compression = self.height if overlaps else 0.0
        return True
