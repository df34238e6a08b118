"""The master: couples FMI 2.0 co-simulation FMUs of any origin. README.md shows how it is put together."""
