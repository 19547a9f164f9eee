# `make demo` shows what pgclarify does; `make test` checks that it does. Both install what they need first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint browser bench install clean help
demo: install ## Install everything, start PostgreSQL, load a corpus and ask
	$(BIN)/pgclarify demo

test: lint browser ## Lint, then run every test
	$(BIN)/pytest -n 2 --dist loadfile

lint: install ## Style, types, import order, SQL
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/sqlfluff lint --nocolor sql pgclarify/database

browser: ## Install a Chromium for the tests of reports, unless there is one
	@for name in "$$CHROMIUM" chromium chromium-browser google-chrome; do \
	    command -v "$$name" > /dev/null && exit 0; \
	done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	        apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; \
	else \
	    echo "The tests of reports drive a Chromium, and there is none. Install it with your system's packages, such as" >&2; \
	    echo "sudo apt-get install chromium, or put the path of one into CHROMIUM." >&2; \
	    exit 1; \
	fi

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
