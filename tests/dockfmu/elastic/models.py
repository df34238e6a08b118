"""Models of the oracles of flexible 6: the beam of O1, with the hub of O3."""

import numpy as np

BEAM = """
name = "beam"
[nodes]
1 = [0, 0, 0]
21 = ["10m", 0, 0]
[sections.s]
area = 1.0
bending_y = 4e-4
bending_z = 8e-4
torsion = 1.0
polar = 0.01
[materials.m]
modulus = "100 MPa"
shear = 2e4
density = 2.0
[[beams]]
nodes = [1, 21]
section = "s"
material = "m"
elements = 20
"""

HUB = """
[[masses]]
node = 1
mass = "1t"
inertia = [800, 600, 600]
offset = [-1, 0, 0]
"""


def beam(folder, text=BEAM):
    file = folder / "beam.toml"
    file.write_text(text, encoding="utf-8")
    return file


def errors(body):
    """Relative errors of the free frequencies."""
    return np.array([check.value for check in body.checks if check.name.startswith("free frequency")])
