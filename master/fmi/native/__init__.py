"""The parts of the master that are C, compiled at first use."""
