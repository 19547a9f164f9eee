# `make demo` shows what pgclarify does; `make test` checks that it does. Both install what they need first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench install clean help
demo: install ## Install everything, start PostgreSQL, load a corpus and ask
	$(BIN)/pgclarify demo

test: lint ## Lint, then run every test
	$(BIN)/pytest -n 2 --dist loadfile

lint: install ## Style, types, import order, SQL
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/sqlfluff lint --nocolor sql pgclarify/database

bench: install ## Measure speed, as ratios against something run in the same minute
	$(BIN)/python -m tests.benchmark

install: $(VENV)/.installed ## Install pgclarify and its tools into .venv

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[embedded,files,dev]'
	touch $@

clean: ## Remove the environment
	rm -rf $(VENV)

help: ## Show this
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10
