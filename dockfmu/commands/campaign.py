"""`dockfmu campaign`: many runs of one system with varied values."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from dockfmu.base.messages import shown
from dockfmu.base.number_text import count_number
from dockfmu.commands.arguments import DONE, CommandError, command, count, name_or_path, path
from dockfmu.commands.streams import say


def add_campaign(commands: Any) -> None:
    """Add the sub-command."""
    campaign = command(commands, "campaign", "run a system many times, on this machine or on a Dask cluster")
    campaign.formatter_class = argparse.RawDescriptionHelpFormatter
    campaign.epilog = (
        "exit status:\n"
        "  0  every run has a row, whatever its outcome\n"
        "  1  ended before: a machine without room, folder or memory, a lost scheduler, a full disk; the message says\n"
        "     which, the rows are kept, and the same command continues\n"
        "  2  the description, an option, the folder or the version of a worker does not fit: nothing was run"
    )
    campaign.add_argument(
        "source",
        type=name_or_path,
        metavar="FILE.toml|DIR",
        help="description of the campaign, or the folder of one to continue (docs/guide/campaigns.md)",
    )
    campaign.add_argument("--runs", type=count, metavar="N", help="number of runs; default: that of the description")
    campaign.add_argument(
        "--workers", type=count, metavar="N", help="processes on this machine; default: one for each core"
    )
    campaign.add_argument(
        "--scheduler", metavar="ADDRESS", help="use the workers of this Dask scheduler, such as tcp://host:8786"
    )
    campaign.add_argument(
        "--memory", default="2GiB", metavar="SIZE", help="memory of each worker on this machine; default: 2GiB"
    )
    campaign.add_argument("--index", type=_index, metavar="K", help="repeat run K, alone and recorded")
    campaign.add_argument("--no-answers", action="store_true", help="leave out answers and report")
    campaign.add_argument("-o", "--output", type=path, metavar="DIR", help="default: build/campaigns/NAME")
    campaign.set_defaults(action=_campaign)


def _index(text: str) -> int:
    number = count_number(text, 10**18 - 1)
    if number is None:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not the number of a run, from 0")
    return number


def _campaign(arguments: argparse.Namespace) -> int:
    try:
        from dockfmu.campaign.campaign import Campaign
        from dockfmu.campaign.runner import NOT_INDEPENDENT
    except ModuleNotFoundError as error:
        raise CommandError(
            f"campaigns need {error.name}, which is not installed: make campaign in a checkout, elsewhere "
            "python -m pip install 'dockfmu[campaign]'"
        ) from error

    source = Path(arguments.source)
    if not source.exists():
        raise CommandError(f"{source}: there is no such campaign file or folder")
    campaign = Campaign(source, arguments.output)
    if arguments.index is not None:
        return _repeat(campaign, arguments.index)
    line = _Line()
    try:
        table = campaign.run(
            arguments.runs,
            workers=arguments.workers,
            scheduler=arguments.scheduler,
            memory_limit=arguments.memory,
            answer=not arguments.no_answers,
            progress=line.show,
        )
    except KeyboardInterrupt:
        line.close()
        say(f"dockfmu: ended; finished runs are kept: dockfmu campaign {campaign.folder} continues")
        raise
    line.close()
    counts = ", ".join(f"{name} {number}" for name, number in table["outcome"].value_counts().items())
    print(f"{campaign.study.name}: {len(table)} runs: {counts}")
    print(f"  {campaign.folder / 'runs.parquet'}")
    lines = (line for cell in table["warnings"].dropna().unique() for line in cell.splitlines())
    for note in dict.fromkeys(line for line in lines if line.startswith(NOT_INDEPENDENT)):
        say(f"warning: {note}")
    if not arguments.no_answers:
        print(f"  {campaign.folder / 'report.html'}")
    return DONE


def _repeat(campaign: Any, index: int) -> int:
    """Repeat one run, compare it with the row of the campaign, and record it."""
    row = campaign.row(index)
    try:
        table = campaign.runs()
        kept = table[table["index"] == index]
    except Exception as error:
        if type(error).__name__ != "DataSetError":
            raise
        kept = ()
    if len(kept):
        before = kept.iloc[0].to_dict()
        compared = [name for name in before if name not in ("wall_s", "worker") and name in row]
        different = [name for name in compared if not _same(before[name], row[name])]
        print(
            f"run {index}: {row['outcome']}; "
            + (f"differs in {', '.join(different)}" if different else "equal to its row")
        )
    else:
        print(f"run {index}: {row['outcome']}")
    recorded = campaign.record(index, progress=lambda text: say(text))
    print(f"  {recorded.folder}")
    return DONE


def _same(one: Any, other: Any) -> bool:
    missing = [value is None or value != value for value in (one, other)]
    return all(missing) if any(missing) else bool(one == other)


class _Line:
    """Progress as one line on a terminal, or as lines a few times a minute."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._width = 0
        self._shown = 0

    def show(self, text: str) -> None:
        """Show a line."""
        if self._terminal:
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width = len(text)
        else:
            self._shown += 1
            if self._shown % 20 == 1 or " of " not in text:
                say(text)

    def close(self) -> None:
        """End the line."""
        if self._terminal and self._width:
            sys.stderr.write("\n")
