"""Contact of docking surfaces: pairs of primitives, the force law, and the assembled docking units."""
