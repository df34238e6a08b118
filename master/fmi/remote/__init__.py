"""An FMU in a process of its own."""
