"""Contact of declared surfaces: pairs, forces, the target port, sensors."""
