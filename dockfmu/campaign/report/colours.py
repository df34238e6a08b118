"""Colours of charts, in a browser and as pictures."""

FIRST, SECOND, NEUTRAL = "#1f77b4", "#ff7f0e", "#808080"
PALE = "rgba(31, 119, 180, 0.25)"
"""`FIRST`, for areas."""
COLOUR_OF = {"circle": FIRST, "diamond": SECOND, "cross": NEUTRAL}
"""Colours of marks, so that marks differ in two ways."""
