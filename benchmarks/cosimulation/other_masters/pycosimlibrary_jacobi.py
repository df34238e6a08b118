# /// script
# dependencies = ["PyCosimLibrary==0.0.5"]
# ///
"""PyCosimLibrary's Jacobi runner, with the time of its steps alone. It connects Real and Boolean variables only."""

from fmpy.fmi2 import FMU2Slave, fmi2OK
from job import Job, Stopwatch, answer
from PyCosimLibrary.jacobi_runner import JacobiRunner
from PyCosimLibrary.scenario import Connection, CosimScenario, OutputConnection, SignalType, VarType
from slave import instance

TYPES = {"Real": VarType.REAL, "Boolean": VarType.BOOL}


def with_status(slave: FMU2Slave) -> FMU2Slave:
    """Return the slave with the status that doStep of older versions of fmpy returned, which the runner asserts."""
    step = slave.doStep

    def do_step(*arguments, **named):
        step(*arguments, **named)
        return fmi2OK

    slave.doStep = do_step
    return slave


class Timed(JacobiRunner):
    watch, seconds = None, 0.0

    def run_cosim_step(self, time, scenario):
        self.watch = self.watch or Stopwatch()
        super().run_cosim_step(time, scenario)
        self.seconds = self.watch.seconds()


def run(job: Job) -> tuple[float, list[float]]:
    slaves, variables = {}, {}
    for name, file in job.files.items():
        slaves[name], variables[name] = instance(file, name, job.start[name])
    groups = {}
    for c in job.connections:
        if c.type not in TYPES:
            raise NotImplementedError(f"it cannot connect variables of type {c.type}")
        pair = groups.setdefault((c.source, c.target, c.type), ([], []))
        pair[0].append(variables[c.source][c.output].valueReference)
        pair[1].append(variables[c.target][c.input].valueReference)
    connections = [
        Connection(
            value_type=TYPES[kind],
            signal_type=SignalType.CONTINUOUS,
            source_fmu=slaves[source],
            target_fmu=slaves[target],
            source_vr=outputs,
            target_vr=inputs,
        )
        for (source, target, kind), (outputs, inputs) in groups.items()
    ]
    element = job.observed[0][0]
    observed = OutputConnection(
        value_type=VarType.REAL,
        signal_type=SignalType.CONTINUOUS,
        source_fmu=slaves[element],
        source_vr=[variables[element][job.observed[0][1]].valueReference],
    )
    scenario = CosimScenario(
        fmus=list(map(with_status, slaves.values())),
        connections=connections,
        step_size=job.step,
        stop_time=job.stop,
        outputs=[observed],
        # nothing is recorded in between
        print_interval=10.0 * job.stop,
    )
    runner = Timed()
    runner.run_cosim(scenario, None)
    return runner.seconds, [slaves[e].getReal([variables[e][v].valueReference])[0] for e, v in job.observed]


if __name__ == "__main__":
    answer(run)
