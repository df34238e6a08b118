"""Loads restored from telemetry: what a docking did to the structure.

Files, one subject each:

telemetry.py
    `Telemetry`: what was read, on the true time scale, and what a run would have told instead.
reading.py, columns.py
    `read_telemetry(file)`: FILE.toml and the files of its frames (CSV, Parquet, HDF5) to a `Telemetry`.
craft.py, known_loads.py, assembly.py
    Linear models of craft, rigid and modal; loads that are known; the model of all readings over time.
kalman.py, unbiased.py
    Joint input-state estimation: augmented Kalman filter with smoother; minimum-variance unbiased filter.
settings.py, observability.py, regularity.py, direct.py, peaks.py
    The direct method: what is asked, what can be told, how rough the input may be, the wrench, its peaks with bands.
classical.py
    The designers' method: initial conditions from strokes and the times of contact sensors.
checks.py, spent.py
    Residuals and columns that are wrong; life spent, with its band.
reconstruction.py, result.py, page.py
    All of it from a file; the result, its files and report.html.
model_problem.py, unknowns.py, readings_runner.py, chosen_data.py
    By the model: what is asked of which runs, the unknowns, the readings of a run, the data that count.
ensemble.py, ensemble_step.py, ensemble_windows.py, by_model.py
    The ensemble smoother; the estimate as a campaign of runs.
model_error.py, model_findings.py, model_result.py, model_page.py
    What the model cannot explain; what the estimate says, its files and report.html.

The interface for estimation by the model
-----------------------------------------
FILE.toml has `system`, `[values]` (start values laid over the system), `folder` of the telemetry, and either `sensors`,
the file of the frames as for `dockfmu telemetry`, or these `[[frame]]` themselves with their `epoch`; `window`, begin
and end in s; and a table of its own for each method (`[direct]`, `[classical]`, `[ensemble]`), which that method reads.

    telemetry = read_telemetry(Path("FILE.toml"))

`Telemetry` is flat: n readings, each one number, ordered by frame, signal, time.

    telemetry.system             str, name or path of the system
    telemetry.settings           dict of start values
    telemetry.signals            tuple of SignalReadings: frame, sensor (unit, noise, ...), slice into the arrays
    telemetry.time               (n,) time at which the value shown was true: clock and delay corrected, s
    telemetry.values             (n,) readings in the unit of their signal
    telemetry.sigma              (n,) standard deviation: noise and quantum, same unit
    telemetry.mask               (n,) bool: usable (not lost, not saturated, not a duplicate)
    telemetry.events             tuple of EventReading(name, frame, after, by), s on the true time scale
    telemetry.notes              list of str: gaps, duplicates, clocks that run back, saturation, epochs
    telemetry.table              Table of FILE.toml, for the method's own entries

    telemetry.predict(run, shift=0.0)          (n,) what sensors would tell of a run without noise, NaN outside it;
                                               `run` is Results or anything with time, variables, [name], unit(name),
                                               variability(name); a run's time t is true time t + shift
    telemetry.predict_events(times, shift=0.0) (events,) times of events of a run (name -> times, or pairs) that belong
                                               to `telemetry.events`, NaN where the run has none
    telemetry.with_errors({"frame.column": {"bias": .., "scale": ..}, "frame": {"clock_offset": .., "delay": ..}})
                                               a copy whose sensors have other errors, to estimate them too
    telemetry.within(begin, end)               a copy of the readings and events in a window of true time
"""
