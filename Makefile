# Everything is set up in ./.venv; a machine needs only python3 with venv, and make.
#
#   make demo                                     a ready workspace in ./demo-workspace
#   make test                                     every test
#   make test PYTEST_ARGS='-m "not slow"'         the fast ones
#   make test PYTEST_PROCESSES=                   all in one process, in order
#   make test PYTHON=python3.12                   with another interpreter (after make clean)
#   make bench BENCH=verdicts ROWS=100000         a quick look at one benchmark; without ROWS it takes a while
#   make soak MINUTES=30 SEED=11                  daemons on both stores under random faults, for so long
#   make lock LOCK_ARGS=--upgrade                 newest versions within the ranges of pyproject.toml

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=
# One more than there are processors, since many tests wait for processes of their own; and not more than pay, since each
# has servers of its own.
PROCESSES := $(shell $(PYTHON) -c 'import os; print(min(4, (os.cpu_count() or 1) + 1))')
PYTEST_PROCESSES ?= --numprocesses $(PROCESSES) --dist worksteal
LOCK_ARGS ?=
DEMO_DIR ?= demo-workspace

PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
INSTALL_LOCKED := $(PIP) install --quiet --require-hashes
INSTALL_PROJECT := $(PIP) install --quiet --no-deps --no-build-isolation --editable .

# --no-config: nothing that one machine is set up with may get into the files.
COMPILE := $(BIN)/uv pip compile pyproject.toml --quiet --no-config --universal --python-version 3.11 \
	--generate-hashes --custom-compile-command 'make lock' $(LOCK_ARGS)

# Of each stamp the time says when the environment last met the files that it depends on.
CREATED := $(VENV)/.created
BASE := $(VENV)/.installed-base
DEV := $(VENV)/.installed-dev

# mkdocs-material prints its end-of-life notice (docs/dependencies.md) on every run without it.
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# `make lint test` means lint, then test; and pip must not run twice at once in one environment.
.NOTPARALLEL:
.PHONY: help demo test lint format docs bench soak soak-stack lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(BASE) ## build and show the demo workspace
	$(BIN)/trivet demo $(DEMO_DIR)

test: $(DEV) ## run every test
	$(BIN)/python -m pytest $(PYTEST_PROCESSES) $(PYTEST_ARGS)

lint: $(DEV) ## check style, format, types, layers and docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/mkdocs build --strict --quiet

format: $(DEV) ## put the code into its one format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(DEV) ## build the documentation into ./site
	$(BIN)/mkdocs build --strict

bench: $(DEV) ## run the benchmarks, or one of them, and write docs/performance.md
	$(BIN)/python -m benchmarks $(if $(BENCH),--bench $(BENCH)) $(if $(ROWS),--rows $(ROWS)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(WRITE),--write)
	$(if $(BENCH),,$(BIN)/python -m benchmarks.ledger)
	$(if $(BENCH),,$(BIN)/python -m benchmarks.planning)
	$(if $(BENCH),,$(BIN)/python -m benchmarks.sustained)

soak: $(DEV) ## do something to the daemons every two seconds, and see that nothing is lost
	$(BIN)/python -m tests.soak $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

soak-stack: $(DEV) ## the same to the parts of a stack: Redis, PostgreSQL, beat and workers
	$(BIN)/python -m tests.soak --stack $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

lock: $(CREATED) ## write requirements/*.txt anew from pyproject.toml
	$(BIN)/python -c 'import uv' 2>/dev/null || $(PIP) install --quiet 'uv>=0.9'
	$(COMPILE) --group build --output-file requirements/base.txt
	$(COMPILE) --group dev --constraints requirements/base.txt --output-file requirements/dev.txt

clean: ## remove the environment, caches and everything built
	rm -rf $(VENV) site build dist $(DEMO_DIR) \
		.pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .grimp_cache
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

$(CREATED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Trivet needs Python 3.11 or later, and '$(PYTHON)' is not one: $$($(PYTHON) --version 2>&1)."; \
		echo "Name another interpreter, for example: make PYTHON=python3.12 $(MAKECMDGOALS)"; \
		exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || { \
		echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu: apt-get install python3-venv"; \
		exit 1; }
	@touch $@

$(BASE): requirements/base.txt pyproject.toml $(CREATED)
	@echo "Installing what Trivet needs into $(VENV) ..."
	@$(INSTALL_LOCKED) --requirement requirements/base.txt
	@$(INSTALL_PROJECT)
	@touch $@

$(DEV): requirements/dev.txt pyproject.toml $(CREATED)
	@echo "Installing what Trivet and its tests need into $(VENV) ..."
	@$(INSTALL_LOCKED) --requirement requirements/dev.txt
	@$(INSTALL_PROJECT)
	@touch $(BASE) $@
