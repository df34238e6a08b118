"""The parts of the master that are written in C, compiled at first use."""
