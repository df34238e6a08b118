"""All benchmarks, one table each: `python -m benchmarks [NAME ...]`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

NOT_A_BENCHMARK = ("__init__", "__main__", "direct", "timing", "page", "inside", "masters")
NAMES = sorted(file.stem for file in Path(__file__).parent.glob("*.py") if file.stem not in NOT_A_BENCHMARK)

chosen = sys.argv[1:] or NAMES
sys.argv[1:] = []  # a benchmark reads only its own options
for name in chosen:
    print(f"\n{name}\n{'=' * len(name)}", flush=True)
    import_module(f"benchmarks.{name}").main()
