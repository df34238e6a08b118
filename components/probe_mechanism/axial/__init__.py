"""The axial device of the probe: damper, brakes and drive in one train, with one friction brake or two."""
