"""The ledger of a structure: the life that all its dockings have spent, in a JSON file, each recording once."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dockfmu.base.errors import FAILED, DockfmuError
from dockfmu.base.files import write_file
from dockfmu.base.given_files import read_json
from dockfmu.base.locks import Lock
from dockfmu.base.numbers import finite
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.life.spent import SectionLife

_ENTRIES = ("recording", "system", "outcome", "file", "added", "sections")


class LedgerError(DockfmuError, ValueError):
    """A ledger cannot be read, or does not fit the sections."""

    exit_status = FAILED


@dataclass(frozen=True)
class Docking:
    """One recording in a ledger, and the damage that it did to each section by its name."""

    recording: str
    system: str
    outcome: str
    file: str
    added: str
    damage: dict[str, float]


@dataclass
class Ledger:
    """The dockings that a structure has had. `digests` are those of the data of its sections, by their names."""

    file: Path
    digests: dict[str, str] = field(default_factory=dict)
    dockings: list[Docking] = field(default_factory=list)

    def total(self, section: str) -> float:
        """Return the share of a section's life that is spent: 1 is all of it."""
        return math.fsum(docking.damage.get(section, 0.0) for docking in self.dockings)

    def add(self, about: dict[str, Any], file: Path, lives: Sequence[SectionLife]) -> bool:
        """Add a recording with the attributes `about`; return False if the ledger has it already, and is unchanged.

        Raises LedgerError where the data of a section differ from those that the ledger was begun with.
        """
        for life in lives:
            name, digest = life.section.name, life.section.digest
            if self.digests.setdefault(name, digest) != digest:
                raise LedgerError(
                    f"{self.file}: was begun with other data of the section {name}; count all its recordings "
                    "again with a new ledger"
                )
        recording = str(about.get("recording", ""))
        if not recording:
            raise LedgerError(f"{file}: names no recording, by which a ledger knows that it has it")
        if any(docking.recording == recording for docking in self.dockings):
            return False
        self.dockings.append(
            Docking(
                recording,
                str(about.get("system", "")),
                str(about.get("outcome", "")),
                str(file),
                datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
                {life.section.name: life.damage for life in lives},
            )
        )
        return True


def enter(file: Path, about: dict[str, Any], source: Path, lives: Sequence[SectionLife]) -> tuple[Ledger, bool]:
    """Add a recording to the ledger in a file, which is made if it is missing; return it, and whether it is new there.

    One process at a time writes a ledger. Raises LedgerError, LockedError and WriteError.
    """
    lock = Lock(file.with_name(f"{file.name}.lock"), str(file))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        lock.take()
    except OSError as error:
        raise LedgerError(f"{file}: cannot be written ({error.strerror})") from error
    try:
        ledger = read_ledger(file) if file.exists() else Ledger(file)
        added = ledger.add(about, source, lives)
        write_file(file, (json.dumps(_content(ledger), indent=1) + "\n").encode())
    finally:
        lock.release()
    return ledger, added


def read_ledger(file: Path) -> Ledger:
    """Read a ledger. Raises LedgerError, which names the entry, for a file that is none."""
    try:
        content = read_json(file)
        table = Table(content, str(file), ("sections", "dockings"))
        digests = {name: table.table("sections").text(name) for name in table.table("sections").content}
        return Ledger(file, digests, [_docking(row) for row in table.rows("dockings", _ENTRIES)])
    except LedgerError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise LedgerError(f"{file}: not a ledger of dockings: {reason}") from error


def _docking(row: Table) -> Docking:
    damage = row.table("sections")
    # null: the section broke
    values = {name: damage.number(name, math.inf) for name in damage.content}
    if wrong := [name for name, value in values.items() if value < 0.0]:
        raise DeclarationError(f"{damage.where}: {wrong[0]} = {values[wrong[0]]:g}: damage is not negative")
    return Docking(
        row.text("recording"), row.text("system"), row.text("outcome"), row.text("file"), row.text("added"), values
    )


def _content(ledger: Ledger) -> dict[str, Any]:
    return {
        "sections": ledger.digests,
        "dockings": [
            {
                "recording": docking.recording,
                "system": docking.system,
                "outcome": docking.outcome,
                "file": docking.file,
                "added": docking.added,
                "sections": finite(docking.damage),
            }
            for docking in ledger.dockings
        ],
    }
