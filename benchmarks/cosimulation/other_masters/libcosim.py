# /// script
# dependencies = ["libcosimpy==0.0.6"]
# ///
"""libcosim through libcosimpy, from the same package as ours."""

from job import Job, Stopwatch, answer
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
from libcosimpy.CosimObserver import CosimObserver


def run(job: Job) -> tuple[float, list[float]]:
    log_output_level(CosimLogLevel.WARNING)
    execution = CosimExecution.from_ssp_file(job.ssp, round(job.step * 1e9))
    # the observer takes time: it is added for the last step only
    execution.step(1)
    watch = Stopwatch()
    execution.step(job.steps - 2)
    seconds = watch.seconds()
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer)
    execution.step(1)
    values = []
    for element, variable in job.observed:
        slave = execution.slave_index_from_instance_name(element)
        infos = execution.slave_variables(slave)
        reference = next(i.reference for i in infos if i.name.decode() == variable)
        values.append(observer.last_real_values(slave, [reference])[0])
    return seconds * job.steps / (job.steps - 2), values


if __name__ == "__main__":
    answer(run)
