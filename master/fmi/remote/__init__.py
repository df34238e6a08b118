"""An FMU in a separate process."""
