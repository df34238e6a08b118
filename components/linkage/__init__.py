"""Linkages: closed forms of dependent chains, and mechanisms on generated kernels.

`closure`    closed-form joint coordinates of each type of dependent chain (spec/01 9)
`hexapod`    a ring on six struts U C U with differential ball screws (spec/02 7)
`generated`  its kernels, written by `components.codegen`
"""
