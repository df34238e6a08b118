"""Systems as declared, and their way to connected FMUs: TOML, settings, initial conditions, ports, SSP packages."""
