"""The page in the browser: scenes of a system, what replays a recording, its server, and one file to pass on."""
