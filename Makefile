# `make run`: build the FMUs, run the reference docking, and write results and a report with plots to build/results.
# `make test`: run all tests. `make docs`: build the documentation as a site, build/docs/index.html. `make dist`: wheel
# and sdist in build/dist.
# Each target installs what it needs in .venv; this takes Python 3.11 to 3.13.

PYTHON ?= python3
VENV   ?= .venv
# twice the cores of a two-core machine: some tests wait for the clock, for a browser or for a worker that is killed
WORKERS ?= 4
# each file runs on one worker; tests/conftest.py orders the files
PARALLEL = -n $(WORKERS) --dist loadfile --no-loadscope-reorder
SYSTEM ?= atv_probe_cone
# versions of Python that are on the PATH, for `make pythons`
OTHERS ?= $(foreach version,3.11 3.12 3.13,$(shell python$(version) -V > /dev/null 2>&1 && echo $(version)))

BIN := $(VENV)/bin

# $(call install,WHAT): install dockfmu from this checkout, with extras such as .[dev]
define install
$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable $(1) || { \
	echo "packages are missing. If pip's lines above tell of the network: PIP_INDEX_URL names another registry," \
	"HTTPS_PROXY a proxy. Then give the same command again; what is downloaded is kept." >&2; exit 1; }
endef

.PHONY: run campaign test test-quick test-fast check layout docs gallery dist benchmarks importers pythons clean

run: $(VENV)/.run
	$(BIN)/dockfmu run $(SYSTEM)

# the packages that campaigns need; then: .venv/bin/dockfmu campaign docs/examples/atv_campaign.toml
campaign: $(VENV)/.campaign

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(PARALLEL)

# three tiers: test-quick takes seconds (interpreter only: no compiler, no processes), test-fast two to three minutes (no
# whole dockings, nothing that computes for more than a second), test runs everything
test-quick: $(VENV)/.dev
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -m quick -p no:cacheprovider

test-fast: $(VENV)/.dev
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow"

check: $(VENV)/.dev layout
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	cd build/layout && $(CURDIR)/$(BIN)/lint-imports ../../pyproject.toml

# links to the packages, below one root as in a wheel, for tools that read the sources without running them
layout:
	rm -rf build/layout
	mkdir -p build/layout/dockfmu
	ln -s $(foreach part,base components fmus master ssp $(wildcard dockfmu/*),../../../$(part)) build/layout/dockfmu/

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --doctree-dir build/doctrees docs build/docs
	@echo "open build/docs/index.html"

# pictures of the systems that have none yet, from their runs, in a headless Chromium; minutes of compiling the first time
gallery: $(VENV)/.dev
	$(BIN)/python docs/images/gallery.py

dist: $(VENV)/.dev
	rm -rf build/dist
	$(BIN)/python -m build --outdir build/dist
	$(BIN)/python -m twine check --strict build/dist/*

benchmarks: $(VENV)/.dev
	$(BIN)/python -m benchmarks

clean:
	rm -rf build

# third-party importers, 1 GB from PyPI: without them the tests that compare results with theirs are skipped
importers: build/importers/.done

build/importers/.done: tests/fmus/importers/requirements.txt
	rm -rf $(@D)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

# environments of other versions of Python that are installed: without them the test that compares bits is skipped
pythons: $(foreach version,$(OTHERS),build/pythons/$(version)/.done)

build/pythons/%/.done: pyproject.toml
	rm -rf $(@D)
	python$* -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check .
	touch $@

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; assert (3, 11) <= sys.version_info < (3, 14), "dockfmu needs Python 3.11 to 3.13"'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	@echo "installing packages in $(VENV): 290 MB to download, 1.2 GB on disk"
	@$(call install,.)
	touch $@

$(VENV)/.campaign: pyproject.toml | $(VENV)/bin/python
	@echo "installing packages in $(VENV): 370 MB to download, 1.5 GB on disk"
	@$(call install,.[campaign])
	touch $@ $(VENV)/.run

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@echo "installing packages in $(VENV): 680 MB to download, 2.9 GB on disk"
	@$(call install,.[dev])
	touch $@ $(VENV)/.run
