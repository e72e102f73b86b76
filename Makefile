# Toolfold. `make help` says what can be made; everything happens in .venv.

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
# The database of `make run`.
DATA ?= .data
# The first Python on the path that is new enough.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
# The compiler of requirements.lock; nothing else uses it, so it is no part of the lock.
UV := uv==0.13.9
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --no-input

.DEFAULT_GOAL := help
.PHONY: help install viewer run test lint format schema lock pictures bench fuzz soak clean

help: ## List the targets.
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

install: $(INSTALLED) ## Make .venv from the lock, anew when the lock has changed.

$(INSTALLED): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Toolfold needs Python 3.11 or newer: none is on the path." >&2; exit 1; }
	@echo "Making $(VENV) from requirements.lock ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --require-hashes -r requirements.lock
	@TOOLFOLD_SKIP_VIEWER=1 $(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

viewer: $(INSTALLED) ## Build the web viewer, if its sources have changed.
	@$(BIN)/python app/viewer/hatch_build.py

run: $(INSTALLED) ## Serve a generated sample session on 127.0.0.1:7878, with the viewer if Node is there.
	@$(BIN)/python app/viewer/hatch_build.py --if-possible
	@$(BIN)/toolfold sample --data-dir $(DATA)
	@echo "The command toolfold is $(BIN)/toolfold; '. $(BIN)/activate' puts it on your path."
	@$(BIN)/toolfold serve --data-dir $(DATA)

test: $(INSTALLED) ## Run the tests; ARGS="-k name" goes to pytest.
	@$(BIN)/python -m pytest $(ARGS)

lint: $(INSTALLED) ## Run ruff, mypy and import-linter.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(INSTALLED) ## Mend what ruff can mend.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

schema: $(INSTALLED) ## Write schema.graphql from the code.
	$(BIN)/toolfold schema > schema.graphql.new
	mv schema.graphql.new schema.graphql

lock: ## Compile requirements.lock from pyproject.toml; UPGRADE=1 takes newer versions.
	$(PYTHON) -m venv --clear build/lock
	build/lock/bin/python -m pip --disable-pip-version-check --quiet install $(UV)
	build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --group dev \
		--generate-hashes --no-emit-index-url --custom-compile-command "make lock" \
		$(if $(UPGRADE),--upgrade) --output-file requirements.lock pyproject.toml
	rm -r build/lock

pictures: $(INSTALLED) ## Take the README's pictures from the sample session; needs Chromium.
	$(BIN)/python -m tests.viewer.pictures

fuzz: $(INSTALLED) ## Compare the executor with graphql-core's on 20,000 documents.
	$(BIN)/python -m tests.execution.fuzz $(ARGS)

bench: $(INSTALLED) ## Measure, side by side in one run, and write docs/benchmarks.md; ARGS="--quick" only prints.
	$(BIN)/python -m tests.bench $(or $(ARGS),--output docs/benchmarks.md)

soak: $(INSTALLED) ## Keep the promises of docs/reliability.md at full size; ARGS="killing" for one.
	$(BIN)/python -m tests.reliability $(ARGS)

clean: ## Remove all that was made but the database of `make run`, in .data.
	rm -rf $(VENV) build dist app/viewer/dist app/viewer/node_modules .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find app tests -name __pycache__ -type d -prune -exec rm -rf {} +
