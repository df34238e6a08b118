"""Cost of whole runs and commands."""
