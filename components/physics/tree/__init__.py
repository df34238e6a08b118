"""Trees of links: articulated bodies, rigid and elastic, whose joints have any kind, by recursion over records.

`ports`              the record of the links, and of the elastic bodies among them
`articulated`        inertias and wrenches of articulated bodies, as tuples
`links`              motion, inertia and accelerations of all links
`elastic_bodies`     nodes, inertia and forces of the modes of elastic bodies
`elastic_recursion`  the elimination of these modes
`momentum`           exact momentum of a tree
"""
