"""The page in the browser: scenes of a system, the replay of a recording, its server, and its export as one file."""
