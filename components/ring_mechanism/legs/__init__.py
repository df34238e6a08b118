"""Laws of the legs of a ring: what pushes a rod, damps it and stops it. One module each; `chosen` picks."""
