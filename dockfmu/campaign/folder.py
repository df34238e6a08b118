"""The folder of a campaign: its study and system, its rows, and the manifest that identifies it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dockfmu.base.errors import DockfmuError
from dockfmu.base.files import write_file
from dockfmu.base.given_files import read_json
from dockfmu.base.messages import shown
from dockfmu.campaign.cluster.worker import fingerprint
from dockfmu.campaign.dataset import STUDY, DataSet, read_peaks, read_runs
from dockfmu.campaign.description import Study, read_content, read_study
from dockfmu.campaign.runner import check_options, load, variants
from dockfmu.campaign.runner import columns as columns_of
from dockfmu.declare.toml.tables import named_place
from dockfmu.master.checkpoint import digests, identity
from dockfmu.report.files import BUILD

if TYPE_CHECKING:
    import numpy as np
    import pandas

MANIFEST, RUNS, SERIES, ANSWERS = "campaign.json", "runs.parquet", "series", "answers"
FORMAT = 1
FREE = ("runs", "answers", "keep", "refined", "description")
"""Tables of a description that may change between two sessions of a campaign."""


class CampaignError(DockfmuError):
    """A campaign cannot be created or continued."""


class CampaignFolder:
    """A campaign as stored in its folder; see `Campaign` for its arguments and for running it."""

    def __init__(
        self, source: Path | str | Mapping[str, Any], folder: Path | str | None = None, *, where: str = "campaign"
    ) -> None:
        if isinstance(source, Mapping):
            content, base = dict(source), Path()
        elif (Path(source) / MANIFEST).is_file():
            content, base, where = _described(Path(source))
            folder = source if folder is None else folder
        else:
            content, base, where = read_content(Path(source)), Path(source).parent, str(source)
        self.study, self.system = read_study(content, base.absolute(), where)
        self.folder = BUILD / "campaigns" / self.study.name if folder is None else Path(folder)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.study.name} of {self.study.system}: {self.folder}>"

    @property
    def names(self) -> tuple[str, ...]:
        """Full names of the varied variables and choices."""
        return self.study.draws.names

    def values(self, index: int) -> dict[str, Any]:
        """Return the values of run `index`, which depend on the seed and the index alone."""
        return self.study.draws.values(index)

    def runs(self, columns: Sequence[str] | None = None) -> pandas.DataFrame:
        """Return the rows of all runs made so far, in the order of their index."""
        return read_runs(self.folder / RUNS, columns, self.kinds)

    @property
    def kinds(self) -> dict[str, str]:
        """Kinds of the columns of the runs, as in DataSet."""
        return columns_of(self.study, self.system)

    def peaks(self, output: str, part: str = "max") -> np.ndarray:
        """Return the peak of an output in each run: "max" or "min", "t_max" or "t_min" in s."""
        return read_peaks(self.folder / RUNS, output, part)

    def identify(self) -> dict[tuple[str, ...], dict[str, Any]]:
        """Return, for each variant, the digests of its FMUs and one digest of its whole structure.

        Raises OptionError for options of choices that these systems do not accept.
        """
        with named_place(self.study.where):
            loaded = {labels: load(self.study, labels) if labels else self.system for labels in variants(self.study)}
        check_options(self.study, loaded)
        systems = {}
        for labels, system in loaded.items():
            structure = system.structure
            about = json.dumps(identity(structure), sort_keys=True).encode()
            systems[labels] = {"fmus": digests(structure), "all": hashlib.sha256(about).hexdigest()}
        return systems

    def check_manifest(self, known: Mapping[tuple[str, ...], Mapping[str, Any]]) -> None:
        """Raise CampaignError, naming the differences, if the folder has the manifest of another campaign."""
        self._manifest_before(self._manifest_now(known))

    def write_manifest(self, known: Mapping[tuple[str, ...], Mapping[str, Any]]) -> None:
        """Write the manifest, after a check that the folder is not of another campaign. Raises CampaignError."""
        now = self._manifest_now(known)
        before = self._manifest_before(now)
        made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if before is None else before.get("created")
        write_file(self.folder / MANIFEST, json.dumps({**now, "created": made}, indent=1, default=str).encode())

    def _manifest_before(self, now: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the manifest in the folder, None without one. Raises CampaignError if it is of another campaign."""
        file = self.folder / MANIFEST
        before = _manifest(file) if file.is_file() else None
        if before is not None:
            _check_same(self.folder, before, now)
        return before

    def _manifest_now(self, known: Mapping[tuple[str, ...], Mapping[str, Any]]) -> dict[str, Any]:
        """Return what the manifest says of this campaign, but for when it was made."""
        return {
            "format": FORMAT,
            "description": self.study.content,
            "files": str(self.study.folder),
            "systems": {" ".join(labels): dict(system) for labels, system in known.items()},
            "versions": fingerprint(),
        }


def data_set(campaign: CampaignFolder, place: Path = Path(RUNS), more: Mapping[str, str] | None = None) -> DataSet:
    """Return the data set of the runs of a campaign, or of other runs of its study at `place` in its folder.

    The columns `more` follow those of the study; see DataSet.
    """
    study, system = campaign.study, campaign.system
    peaks = tuple(system.structure.select(types=("Real",))) if study.kept.peaks else ()
    metadata = {"campaign": study.name, "versions": json.dumps(fingerprint()), STUDY: _digest(study)}
    return DataSet(campaign.folder / place, campaign.kinds | dict(more or {}), peaks, metadata)


def _digest(study: Study) -> str:
    """Return a digest of what no session of a campaign may change in its description."""
    free = [name for name in FREE if name != "runs" or study.draws.sampling != "latin_hypercube"]
    fixed = {name: value for name, value in study.content.items() if name not in free}
    return hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()


def _manifest(file: Path) -> dict[str, Any]:
    try:
        manifest = read_json(file)
    except (OSError, ValueError) as error:
        raise CampaignError(f"{file}: cannot be read ({error})") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise CampaignError(f"{file}: not the manifest of a campaign of this version of dockfmu")
    for name, kind in {"description": dict, "files": str, "systems": dict, "versions": dict}.items():
        if not isinstance(manifest.get(name), kind):
            raise CampaignError(f"{file}: its entry {name!r} is {shown(manifest.get(name))}")
    return manifest


def _described(folder: Path) -> tuple[dict[str, Any], Path, str]:
    manifest = _manifest(folder / MANIFEST)
    return manifest["description"], Path(manifest["files"]), str(folder / MANIFEST)


def _check_same(folder: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise CampaignError, naming the differences, if a folder is of another campaign than the one to continue."""
    then, given = before["description"], now["description"]
    changed = [key for key in dict.fromkeys([*then, *given]) if key not in FREE and then.get(key) != given.get(key)]
    if then.get("sampling") == "latin_hypercube" and then.get("runs") != given.get("runs"):
        changed.append("runs (a Latin hypercube depends on their number)")
    changed += [
        f"system {name}".rstrip() for name, system in now["systems"].items() if before["systems"].get(name) != system
    ]
    old, new = before["versions"], now["versions"]
    changed += [f"version of {name}" for name, value in new.items() if old.get(name) != value]
    if changed:
        raise CampaignError(
            f"{folder}: belongs to a campaign with another {', another '.join(changed)}; runs of both would be mixed: "
            "choose another folder with -o"
        )
