"""Declared systems and their assembly from FMUs: TOML, settings, initial conditions, ports, SSP packages."""
