"""SSP packages of declared systems: their assembly from FMUs, kept packages, systems without FMUs."""
