"""Run benchmarks, each of which prints a table.

python -m benchmarks [NAME ...]        those that are named, or all
python -m benchmarks NAME OPTIONS      one, with its own options
python -m benchmarks.kernels.contact   the same as `python -m benchmarks contact`
"""

from __future__ import annotations

import sys
from importlib import import_module

BENCHMARKS = {
    "kernels": (
        "codegen",
        "contact",
        "contact_ring",
        "elastic_bodies",
        "floating_frame",
        "linkage",
        "manipulator",
        "multibody",
        "multibody_motion",
        "probe_mechanism",
        "small_matrices",
        "spacecraft",
    ),
    "cosimulation": ("macro_step", "masters", "processes", "threads"),
    "coupling": ("algorithms", "base_motion", "contact_interface", "stand", "step_control"),
    "runs": ("checkouts", "command", "micro_steps", "structure", "system", "view"),
    "campaigns": ("campaign", "capture_domain", "expert_sweep", "idss", "ring_starts"),
}
"""Modules with a function `main`, by folder."""

MODULES = {name: f"benchmarks.{folder}.{name}" for folder, names in BENCHMARKS.items() for name in names}


def main() -> int:
    """Run the benchmarks that the command line names, all without a name; words after the names are passed to them."""
    words = sys.argv[1:]
    count = next((k for k, word in enumerate(words) if word not in MODULES), len(words))
    names, options = words[:count], words[count:]
    if options and len(names) != 1:
        print(f"options go to one benchmark, which is named first: {', '.join(MODULES)}", file=sys.stderr)
        return 2
    for name in names or MODULES:
        print(f"\n{name}\n{'=' * len(name)}", flush=True)
        sys.argv = [f"benchmarks {name}", *options]
        import_module(MODULES[name]).main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
