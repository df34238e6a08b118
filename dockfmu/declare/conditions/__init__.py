"""Initial conditions of two craft: their values and limits, and the placement that follows from them."""
