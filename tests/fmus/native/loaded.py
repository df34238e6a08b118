"""Object files of kernels run in this process, without the shim and FMI around them."""

import ctypes

import llvmlite.binding as llvm
import numpy as np

from dockfmu.fmus.native.compile import INITIALIZE, STEP


class Loaded:
    """The kernels of an object file for this machine, called through pointers on blocks of float64."""

    def __init__(self, kernels: bytes) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(kernels))
        self._engine.finalize_object()
        pointer, number = ctypes.c_void_p, ctypes.c_double
        self._initialize = ctypes.CFUNCTYPE(ctypes.c_int32, pointer, pointer, pointer)(
            self._engine.get_function_address(INITIALIZE)
        )
        self._step = ctypes.CFUNCTYPE(ctypes.c_int32, pointer, pointer, pointer, number, number)(
            self._engine.get_function_address(STEP)
        )

    def initialize(self, block: np.ndarray) -> int:
        """Run `initialize` on `block`, shape (record.size,); its message code, or -1 for a Python exception."""
        result, exception = ctypes.c_int32(), ctypes.c_void_p()
        status = self._initialize(ctypes.byref(result), ctypes.byref(exception), block.ctypes.data)
        return result.value if status in (0, -2) else -1

    def step(self, block: np.ndarray, t: float, h: float) -> int:
        """Run `step` likewise."""
        result, exception = ctypes.c_int32(), ctypes.c_void_p()
        status = self._step(ctypes.byref(result), ctypes.byref(exception), block.ctypes.data, t, h)
        return result.value if status in (0, -2) else -1
