"""Mechanism dynamics as straight-line kernels: matrix algorithms written once, run with numbers or with symbols.

`graph`      expressions in which equal ones are one node; folding of numbers, 0 and 1 (spec/09 3.6)
`algebra`    3-vectors and small matrices over any scalars, optimising formulas (spec/09 3.4)
`mechanism`  what is declared: bodies, joints, motion of a base
`chain`      dependent chains (spec/01 8; spec/02 6 to 8)
`spatial`    articulated bodies in axes of the base
`emit`       from a graph to the source of kernels (spec/09 3.9)
`products`   the generated modules of this repository
"""
