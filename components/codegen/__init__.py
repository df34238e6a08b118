"""Mechanism dynamics as straight-line kernels: matrix algorithms written once, run with numbers or with symbols.

`graph`      expressions, with equal ones shared as one node; folding of numbers, 0 and 1 (symbolic 3.6)
`algebra`    3-vectors and small matrices over any scalars, optimising formulas (symbolic 3.4)
`mechanism`  declarations: bodies, joints, motion of a base
`catalogue`  chains, trees and arms of the source as declarations
`chain`      dependent chains: constraints, inertia, forces, reduction (kinematics 8; dynamics 6 to 8)
`legs`       a free node body on such chains: the peripheral mechanism, hexapods (dynamics 7, 8, 11)
`tree`       articulated bodies in body axes (dynamics 9)
`kane`       Kane's form of a tree, from partial twists of its heavy bodies
`emit`       from a graph to the source of kernels (symbolic 3.9)
`counts`     operation counts of all algorithms, generated and in full
`products`   the generated modules of this repository
"""
