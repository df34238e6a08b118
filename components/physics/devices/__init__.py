"""Devices that docking mechanisms have in common: drive, separation pushers, ports that move inside a step."""
