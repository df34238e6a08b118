# `make run`: build the FMUs, run the reference docking, leave results and a report with plots in build/results.
# `make test`: all tests. `make docs`: the documentation as a site, build/docs/index.html.
# Each sets up what it needs in .venv on a machine with Python 3.11 to 3.13.

PYTHON ?= python3
VENV   ?= .venv
# twice the cores: some tests wait for the clock, for a browser or for a worker that is killed
WORKERS ?= 4
# a file is run by one worker, and the files in the order of tests/conftest.py
PARALLEL = -n $(WORKERS) --dist loadfile --no-loadscope-reorder
SYSTEM ?= atv_probe_cone

BIN := $(VENV)/bin

.PHONY: run test test-quick test-fast check docs benchmarks importers clean

run: $(VENV)/.run
	$(BIN)/dockfmu run $(SYSTEM)

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(PARALLEL)

# tiers: seconds (in the interpreter, no compiler, no process), minutes (without whole dockings), and all of them
test-quick: $(VENV)/.dev
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -m quick -p no:cacheprovider

test-fast: $(VENV)/.dev
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow"

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --doctree-dir build/doctrees docs build/docs
	@echo "open build/docs/index.html"

benchmarks: $(VENV)/.dev
	$(BIN)/python -m benchmarks

clean:
	rm -rf build

# importers that others wrote, 1 GB from PyPI: without them the tests that compare results with theirs are skipped
importers: build/importers/.done

build/importers/.done: tests/fmus/importers/requirements.txt
	rm -rf $(@D)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; assert (3, 11) <= sys.version_info < (3, 14), "dockfmu needs Python 3.11 to 3.13"'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .[dev]
	touch $@ $(VENV)/.run
