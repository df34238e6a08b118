# `make run`: build the FMUs, run the reference docking, leave results, plots and a report in build/results.
# `make test`: all tests. Both set up what they need in .venv on a machine with Python 3.11 to 3.13.

PYTHON ?= python3
VENV   ?= .venv
SYSTEM ?= atv_probe_cone

BIN := $(VENV)/bin

.PHONY: run test test-fast check benchmarks clean

run: $(VENV)/.run
	$(BIN)/dockfmu run $(SYSTEM)

test: $(VENV)/.dev build/importers
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-fast: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

benchmarks: $(VENV)/.dev
	$(BIN)/python -m benchmarks

clean:
	rm -rf build

# other importers, for the tests of interoperability; what cannot be installed is skipped there
build/importers: tests/fmus/importers/requirements.txt | $(VENV)/bin/python
	rm -rf $@
	$(PYTHON) -m venv $@
	-$@/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; assert (3, 11) <= sys.version_info < (3, 14), "dockfmu needs Python 3.11 to 3.13"'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .[dev]
	touch $@ $(VENV)/.run
