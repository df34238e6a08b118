"""FMI functions of an FMU through ctypes, each returning its status: to call them in any order, with anything."""

import ctypes
import zipfile
from pathlib import Path

from lxml import etree

OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)

_LOGGER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)


class Callbacks(ctypes.Structure):
    _fields_ = (
        ("logger", _LOGGER),
        ("allocate", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
        ("finished", ctypes.c_void_p),
        ("environment", ctypes.c_void_p),
    )


class Library:
    """An unpacked FMU: `library.variables[name]` is (value reference, FMI type)."""

    def __init__(self, fmu: Path, folder: Path) -> None:
        with zipfile.ZipFile(fmu) as archive:
            archive.extractall(folder)
        self.folder = folder
        self.root = etree.parse(folder / "modelDescription.xml").getroot()
        self.guid = self.root.get("guid")
        self.identifier = self.root.find("CoSimulation").get("modelIdentifier")
        self.variables = {
            scalar.get("name"): (int(scalar.get("valueReference")), scalar[0].tag)
            for scalar in self.root.iterfind("ModelVariables/ScalarVariable")
        }
        self.dll = ctypes.CDLL(str(folder / "binaries" / "linux64" / f"{self.identifier}.so"))
        self.dll.fmi2Instantiate.restype = ctypes.c_void_p
        self.dll.fmi2GetVersion.restype = ctypes.c_char_p
        self.dll.fmi2GetTypesPlatform.restype = ctypes.c_char_p

    def raw_instance(self, callbacks, name=b"one", guid=None, kind=1, resources=None, logging=True):
        """The component pointer, or None."""
        location = (self.folder / "resources").as_uri().encode() if resources is None else resources
        return self.dll.fmi2Instantiate(
            name, kind, self.guid.encode() if guid is None else guid, location, callbacks, 0, int(logging)
        )

    def instance(self, **values) -> "Instance":
        """An instance in the state "instantiated", with start values of variables by name."""
        made = Instance(self)
        made.set(**values)
        return made

    def running(self, **values) -> "Instance":
        """An instance after initialisation at t = 0."""
        made = self.instance(**values)
        assert made.setup() == OK, made.messages
        assert made("EnterInitializationMode") == OK, made.messages
        assert made("ExitInitializationMode") == OK, made.messages
        return made


class Instance:
    """Call FMI functions by name without `fmi2`: `instance("DoStep", 0.0, 1e-3)` -> status."""

    def __init__(self, library: Library, logging: bool = True, **arguments) -> None:
        self.library = library
        self.log: list[tuple[int, str, str]] = []
        self.callbacks = Callbacks(_LOGGER(self._write), None, None, None, None)
        self.component = library.raw_instance(ctypes.byref(self.callbacks), logging=logging, **arguments)
        self.c = ctypes.c_void_p(self.component)

    def _write(self, environment, name, status, category, message) -> None:
        self.log.append((status, category.decode(), message.decode()))

    @property
    def messages(self) -> str:
        return "\n".join(text for _, _, text in self.log)

    @property
    def last(self) -> str:
        return self.log[-1][2]

    def __call__(self, function: str, *arguments) -> int:
        converted = [ctypes.c_double(a) if isinstance(a, float) else a for a in arguments]
        return getattr(self.library.dll, f"fmi2{function}")(self.c, *converted)

    def setup(self, start=0.0, stop=None) -> int:
        return self("SetupExperiment", 0, 0.0, start, int(stop is not None), 0.0 if stop is None else stop)

    def step(self, t: float, h: float) -> int:
        return self("DoStep", float(t), float(h), 1)

    def references(self, *names: str):
        return (ctypes.c_uint * len(names))(*(self.library.variables[name][0] for name in names))

    def try_set(self, name: str, value) -> int:
        kind = {"Enumeration": "Integer"}.get(self.library.variables[name][1], self.library.variables[name][1])
        block = (ctypes.c_double if kind == "Real" else ctypes.c_int)(value)
        return self(f"Set{kind}", self.references(name), ctypes.c_size_t(1), ctypes.byref(block))

    def set(self, **values) -> None:
        """Keywords are names with `__` for the dots."""
        for name, value in values.items():
            assert self.try_set(name.replace("__", "."), value) == OK, self.messages

    def set_checked(self, name: str, value) -> None:
        """Set a variable of any type from a float."""
        kind = self.library.variables[name][1]
        assert self.try_set(name, value if kind == "Real" else int(value)) == OK, self.messages

    def get_all(self, names) -> list[float]:
        return [float(self.get(name)) for name in names]

    def get(self, name: str):
        kind = {"Enumeration": "Integer"}.get(self.library.variables[name][1], self.library.variables[name][1])
        block = (ctypes.c_double if kind == "Real" else ctypes.c_int)()
        status = self(f"Get{kind}", self.references(name), ctypes.c_size_t(1), ctypes.byref(block))
        assert status == OK, self.messages
        return block.value

    def save(self) -> ctypes.c_void_p:
        state = ctypes.c_void_p()
        assert self("GetFMUstate", ctypes.byref(state)) == OK
        return state

    def serialize(self, state) -> bytes:
        size = ctypes.c_size_t()
        assert self("SerializedFMUstateSize", state, ctypes.byref(size)) == OK
        block = ctypes.create_string_buffer(size.value)
        assert self("SerializeFMUstate", state, block, size) == OK
        return block.raw

    def free(self) -> None:
        self.library.dll.fmi2FreeInstance(self.c)
