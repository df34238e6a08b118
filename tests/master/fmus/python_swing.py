"""A pythonfmu slave: a mass on a spring, semi-implicit Euler, which can be made to fail."""

from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real


class Swing(Fmi2Slave):
    def __init__(self, **options):
        super().__init__(**options)
        self.force = 0.0
        self.position = 1.0
        self.velocity = 0.0
        self.stiffness = 4.0
        self.raise_at = 1e300
        self.refuse_at = 1e300
        self.steps = 0
        self.positive = True
        self.register_variable(Real("force", causality=Fmi2Causality.input))
        self.register_variable(Real("position", causality=Fmi2Causality.output))
        self.register_variable(Real("velocity", causality=Fmi2Causality.output))
        self.register_variable(Integer("steps", causality=Fmi2Causality.output))
        self.register_variable(Boolean("positive", causality=Fmi2Causality.output))
        for name in ("stiffness", "raise_at", "refuse_at"):
            self.register_variable(Real(name, causality=Fmi2Causality.parameter, variability=Fmi2Variability.tunable))

    def do_step(self, current_time, step_size):
        if current_time >= self.raise_at:
            raise ValueError("sure that this is wrong")
        if current_time >= self.refuse_at:
            return False
        self.velocity += step_size * (self.force - self.stiffness * self.position)
        self.position += step_size * self.velocity
        self.steps += 1
        self.positive = self.position > 0.0
        return True
