# `make demo` shows what pgclarify does; `make test` checks that it does. Both install what they need first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench install clean
demo: install ## Install everything, start PostgreSQL, load a corpus and ask
	$(BIN)/pgclarify demo

test: lint ## Lint, then run every test
	$(BIN)/pytest -n 2 tests/unit
	$(BIN)/pytest -n 2 --dist loadgroup tests/migration tests/integration tests/acceptance

lint: install ## Style, types, import order, SQL
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/sqlfluff lint sql pgclarify/database/queries.sql

bench: install ## Measure speed, as ratios against something run in the same minute
	$(BIN)/python -m tests.benchmark

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip -c constraints.txt
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[embedded,files,dev]'
	touch $@

clean: ## Remove the environment
	rm -rf $(VENV)
