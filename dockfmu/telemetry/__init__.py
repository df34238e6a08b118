"""Telemetry of a run, as sensors with their own clocks, noise and losses would tell it."""
