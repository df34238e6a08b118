"""Campaign folders changed at random, and everything that reads them.

    python -m tests.fuzz.campaigns FIRST COUNT

tries the seeds from FIRST on and prints a line for each one that ends in anything but a result or an error of dockfmu.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import NoReturn

import pyarrow as pa
import pyarrow.parquet as pq

from dockfmu.base.errors import DockfmuError
from dockfmu.campaign.answers.questions import answer_all
from dockfmu.campaign.campaign import Campaign
from dockfmu.campaign.report.page import write_campaign_report
from tests.fuzz.checkpoints import _change_json
from tests.fuzz.recordings import place_of
from tests.fuzz.seeds import try_seeds

DESCRIPTION = {
    "name": "fuzz", "runs": 12, "seed": 3, "refined": 0.0, "run": {"stop": "0.5 s"}, "keep": {"peaks": True},
    "vary": [
        {"name": "first.parameters.initial_position", "law": "uniform", "low": 0.5, "high": 1.0},
        {"name": "fault", "law": "choice", "options": [{"label": "<!--<script>"}, {"label": "\x1b[2J"}]},
    ],
    "measures": {"reach": {"signal": "second.position", "kind": "max"}},
}  # fmt: skip


def sound_campaign(bundle: Path, folder: Path) -> Path:
    """Make the runs of a small campaign in this process; return its folder."""
    from dockfmu.campaign.folder import data_set

    campaign = Campaign({**DESCRIPTION, "system": str(bundle)}, folder)
    with data_set(campaign) as data:
        campaign.write_manifest(campaign.identify())
        for index in range(12):
            data.add(campaign.row(index))
        data.flush()
    return folder


class _NoCluster:
    """In place of a cluster: the questions of the sound campaign need no further runs."""

    def run(self, *_arguments: object, **_options: object) -> NoReturn:
        raise DockfmuError("no further runs here")


def _change_column(table: pa.Table, rng: random.Random) -> pa.Table:
    k = rng.randrange(table.num_columns)
    field, n = table.schema.field(k), table.num_rows
    column = rng.choice(
        [
            pa.array([None] * n),
            pa.array(["x"] * n),
            pa.array([-1] * n),
            pa.array([2**62] * n),
            pa.array([0] * n),
            pa.array([float("nan")] * n),
            pa.array([[1.0]] * n),
            pa.array([b"\xff"] * n),
            pa.array(["\x1b[2J"] * n),
            pa.array([[]] * n, pa.list_(pa.float64())),
            pa.array([True] * n),
            pa.array([float("inf")] * n),
        ]
    )
    if rng.random() < 0.25:
        return table.remove_column(k)
    return table.set_column(k, field.name, column)


def craft(folder: Path, seed: int) -> str:
    """Change the manifest or a part of the runs in one or two places; return what was changed."""
    rng = random.Random(seed)
    done = []
    for _ in range(rng.choice([1, 1, 2])):
        manifest = folder / "campaign.json"
        part = rng.choice(sorted((folder / "runs.parquet").glob("*.parquet")))
        kind = rng.random()
        if kind < 0.45:
            try:
                content = _change_json(json.loads(manifest.read_text(encoding="utf-8")), rng)
                manifest.write_text(json.dumps(content), encoding="utf-8")
            except (ValueError, IndexError, TypeError):
                continue
            done.append("manifest")
        elif kind < 0.55:
            file = rng.choice([manifest, part])
            if not file.is_file():
                continue
            data = bytearray(file.read_bytes())
            for _ in range(rng.choice([1, 5])):
                data[int(rng.random() * len(data))] = rng.randrange(256)
            file.write_bytes(data[: rng.choice([len(data), len(data) // 2, 0])])
            done.append(f"bytes of {file.name[:8]}")
        elif kind < 0.9:
            if not part.is_file():
                continue
            try:
                table = _change_column(pq.read_table(part), rng)
            except (pa.ArrowException, OSError):
                continue
            pq.write_table(table, part)
            done.append("a column")
        elif kind < 0.95:
            if part.is_file():
                shutil.copy(part, part.with_name("part-copy.parquet"))
            done.append("a part twice")
        elif part.is_file():
            part.unlink()
            part.mkdir()
            done.append("a folder for a part")
    return ", ".join(done)


def trial(sound: Path, folder: Path, seed: int) -> tuple[list[str], str]:
    """Craft a campaign folder from that of `sound`, and read it. Return the failures, and what was changed."""
    shutil.copytree(sound, folder)
    changed = craft(folder, seed)
    failures: list[str] = []

    def runs() -> None:
        Campaign(folder).runs()

    def peaks() -> None:
        Campaign(folder).peaks("second.position")

    def report() -> None:
        campaign = Campaign(folder)
        write_campaign_report(campaign, answer_all(campaign, _NoCluster(), lambda text: None))
        text = (folder / "report.html").read_text(encoding="utf-8")
        if "<!--<script>" in text:
            failures.append("report: a label of a choice is not escaped")

    for read in (runs, peaks, report):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read()
        except DockfmuError as error:
            if not str(error):
                failures.append(f"{read.__name__}: an error without words")
        except Exception as error:
            failures.append(f"{read.__name__}: {type(error).__name__}: {str(error)[:90]} ({place_of(error)})")
    return failures, changed


def run(first: int, count: int) -> int:
    """Try seeds; print what fails and a summary; return the number of seeds that failed."""
    from tests.fuzz.sound import sound_run

    with tempfile.TemporaryDirectory() as scratch:
        bundle = sound_run(Path(scratch) / "sound") / "pair.ssp"
        sound = sound_campaign(bundle, Path(scratch) / "campaign")
        return try_seeds(first, count, scratch, lambda folder, seed: trial(sound, folder, seed))


if __name__ == "__main__":
    sys.exit(bool(run(int(sys.argv[1]), int(sys.argv[2]))))
