# Two commands do everything: `make build` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SABER_HOME ?= data
# Processes that run the tests; a file's tests stay together.
WORKERS ?= 2
export SABER_HOME

.PHONY: build test lint lock bench clean environment
.DEFAULT_GOAL := build

environment: $(VENV)/.installed

$(VENV)/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed; name one: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@echo "installing the environment into $(VENV): some minutes, once"; \
	begun=$$(date +%s); \
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV); \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . && \
	echo "environment ready in $$(( $$(date +%s) - begun )) s"
	@touch $@

build: environment
	@$(BIN)/saber build $(if $(CORPUS),--corpus $(CORPUS)) $(if $(ONTOLOGY),--ontology "$(ONTOLOGY)")

test: environment
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

lint: environment
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/sqlfmt --check --line-length 118 models macros
	@$(BIN)/sqlfluff lint models --disable-progress-bar --nocolor

# Resolve pyproject.toml anew and pin what came out.
lock:
	@rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	@.venv-lock/bin/python -m pip install --quiet -e ".[dev]"
	@{ sed -n 1p requirements.lock; .venv-lock/bin/python -m pip freeze --all --exclude-editable | grep -vE '^(pip|wheel)=='; } > requirements.lock.new
	@mv requirements.lock.new requirements.lock && rm -rf .venv-lock

bench: environment
	@$(BIN)/python -m bench $(BENCH_ARGS)

# Built things only: landed rows stay (`saber purge --yes` deletes them).
clean:
	rm -rf target logs build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
	rm -rf "$(SABER_HOME)/warehouse.duckdb" "$(SABER_HOME)/warehouse.duckdb.wal" "$(SABER_HOME)/snapshot.duckdb" "$(SABER_HOME)/marts" "$(SABER_HOME)/built.json"
