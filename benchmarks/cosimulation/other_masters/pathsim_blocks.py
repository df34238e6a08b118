# /// script
# dependencies = ["pathsim-fmi==0.1.1"]
# ///
"""PathSim with an FMU in each block; a step of the simulation is a macro step."""

from job import Job, Stopwatch, answer
from pathsim import Connection, Simulation
from pathsim_fmi import CoSimulationFMU


def run(job: Job) -> tuple[float, list[float]]:
    blocks = {
        name: CoSimulationFMU(file, instance_name=name, start_values=dict(job.start[name]), dt=job.step)
        for name, file in job.files.items()
    }
    connections = [Connection(blocks[c.source][c.output], blocks[c.target][c.input]) for c in job.connections]
    simulation = Simulation(list(blocks.values()), connections, dt=job.step, log=False)
    watch = Stopwatch()
    simulation.run(job.stop)
    seconds = watch.seconds()
    return seconds, [float(blocks[e].outputs[v]) for e, v in job.observed]


if __name__ == "__main__":
    answer(run)
