# Everything runs in a virtual environment of its own; only Python (3.11 or newer) and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NCVIS := .venv-ncvis
NCVIS_PYTHON ?= $(abspath $(NCVIS))/bin/python

.PHONY: demo test test-quick lint verifytypes quality optimizer bench profile reproduce clean

demo: $(VENV)/ready
	$(BIN)/dtsne demo demo-output

test: lint
	$(BIN)/python -m pytest

test-quick: lint
	$(BIN)/python -m pytest -m "not slow"

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/count_any.py

# How much of the public interface is typed, as a type checker of a user sees it.
verifytypes: $(VENV)/ready
	$(BIN)/python tools/verify_types.py

# The tables of docs/quality.md and docs/optimiser.md.
quality: $(VENV)/ready
	$(BIN)/python benchmarks/quality.py --densmap

optimizer: $(VENV)/ready
	$(BIN)/python benchmarks/optimizer.py

# docs/benchmarks: speed beside the peers. It takes long, and wants the machine for itself.
bench: $(VENV)/bench-ready
	$(BIN)/python benchmarks/speed.py

# What bounds each phase, beside what the machine can do: docs/benchmarks/profile.md.
profile: $(VENV)/ready
	$(BIN)/python benchmarks/roofline.py

# The paper's comparison: reproduction/report.html. What is done is kept; `make reproduce` goes on.
reproduce: $(VENV)/bench-ready $(NCVIS)/ready
	NCVIS_PYTHON=$(NCVIS_PYTHON) PYTHONPATH=benchmarks $(BIN)/python -m reproduce $(ARGS)

$(VENV)/ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dtsne needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

$(VENV)/bench-ready: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	touch $@

# A peer of the comparison that builds beside an older numpy only. Without it the rest still runs.
$(NCVIS)/ready:
	$(PYTHON) -m venv $(NCVIS)
	( $(NCVIS)/bin/python -m pip install --quiet "numpy<2" "cython<3.1" pybind11 scipy setuptools wheel \
	  && $(NCVIS)/bin/python -m pip install --quiet --no-build-isolation ncvis==1.5.13 && touch $@ ) \
	  || echo "NCVis could not be built; the report will say that it is missing"

clean:
	rm -rf $(VENV) $(NCVIS) demo-output reproduction dist build
