"""What this package raises."""

from master.errors import MasterError


class SspError(MasterError):
    """A system structure package is damaged, invalid, or of a kind that is not run."""
