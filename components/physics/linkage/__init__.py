"""Linkages: closed forms of dependent chains, and mechanisms on generated kernels.

`closure`    closed-form joint coordinates of each type of dependent chain (kinematics 9)
`hexapod`    a ring on six legs: struts U C U with differential ball screws, or cranks (dynamics 7)
`gear_tree`  shafts that join the nuts of the struts by differentials (ring-mechanisms D6b)
`cranks`     cranks with rods R U S, the legs of the Hunt platform (kinematics 9.4)
`generated`  the kernels of the legs and the ring, written by `dockfmu.components.codegen`
"""
