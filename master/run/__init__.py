"""One run of a system: instances, initial values, steps, end."""
