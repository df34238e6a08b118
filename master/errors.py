"""The errors of the master. Every message names what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dockfmu.base.errors import FAILED, DockfmuError


class MasterError(DockfmuError):
    """Base of all errors of this package."""


class ArchiveError(MasterError):
    """An archive or an XML document is damaged, or is not safe to open."""


class DescriptionError(MasterError):
    """A model description is missing, invalid, or of a kind that this master does not run."""


class StructureError(MasterError):
    """A system is wrong; `problems` holds one sentence for each mistake."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class FmuError(MasterError):
    """An FMU could not be loaded, or one of its functions failed.

    `instance` is the name in the system, `function` the FMI function, `status` its name ("fmi2Error", ...), `time` the
    time of the run or None before it, `file` the name of the FMU's file, `message` the last message of the FMU itself
    and `category` the category that the FMU gave it.
    """

    exit_status = FAILED

    def __init__(
        self,
        instance: str,
        text: str,
        *,
        function: str = "",
        status: str = "",
        time: float | None = None,
        file: str = "",
        message: str = "",
        category: str = "",
    ) -> None:
        self.instance, self.text, self.function, self.status = instance, text, function, status
        self.time, self.file, self.message, self.category = time, file, message, category
        where = f"{instance}: {text}" + (f" at t = {time:.9g} s" if time is not None else "")
        where += f" ({file})" if file not in where else ""
        super().__init__(where + (f'; the FMU says: "{message}"' if message else ""))

    @property
    def discarded(self) -> bool:
        """Whether the FMU discarded the call: "fmi2Discard", "fmi3Discard"."""
        return self.status.endswith("Discard")

    def fields(self) -> dict[str, Any]:
        """Return the arguments that recreate this error in another process."""
        names = ("instance", "text", "function", "status", "time", "file", "message", "category")
        return {name: getattr(self, name) for name in names}
