"""What the scripts beside this file share: variables that are the elements of numpy arrays."""

import numpy as np
from pythonfmu import Boolean, Fmi2Slave, Integer, Real


class ArraySlave(Fmi2Slave):
    def add(self, name, array, causality, kind=Real, **rest):
        """Register the elements of an array as variables of a type, counted from 1."""
        native = {Real: float, Integer: int, Boolean: bool}[kind]
        for place in np.ndindex(array.shape):
            subscript = f"[{','.join(str(i + 1) for i in place)}]" if place else ""
            self.register_variable(
                kind(
                    name + subscript,
                    causality=causality,
                    getter=lambda place=place: native(array[place]),
                    setter=lambda value, place=place: array.__setitem__(place, value),
                    **rest,
                )
            )
