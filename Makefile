# `make demo` shows what pgclarify does; `make test` and `make acceptance` check that it does. Each installs what it needs first.
PYTHON ?= python3
VENV ?= .venv
DBT_VENV ?= .venv-dbt
SUPERSET_VENV ?= .venv-superset
BIN := $(VENV)/bin
# The number of processes. Files run in the order of folders, so that slow ones are not last.
PYTEST := $(BIN)/pytest --dist loadfile --no-loadscope-reorder -n
# Tests that run on every supported server, and tests that need dblink, which the package of PostgreSQL 16 lacks.
CORE := $(addprefix tests/integration/test_,documents.py attach.py policies.py access.py)
WITH_DBLINK := $(addprefix tests/integration/test_,caller.py runs.py)

# $(call pip_install,ENVIRONMENT,ARGUMENTS): pip is silent for minutes, so a dot every five seconds says that it works. The
# dots end with the shell that runs pip, also after Ctrl+C.
define pip_install
	$(PYTHON) -m venv $(1)
	@echo "$(1)/bin/python -m pip install $(2): this takes minutes"; \
	(while sleep 5 && kill -0 $$$$ 2> /dev/null; do printf .; done) & \
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check $(2) && echo
endef

# The path of uv, if there is one. It installs pinned packages in a tenth of the time of pip.
UV ?=
# $(call install_pinned,ENVIRONMENT,FILE)
define install_pinned
	$(PYTHON) -m venv $(1)
	$(UV) pip install --quiet --python $(1)/bin/python -r $(2)
endef

# Without compiled files, every process compiles its imports, and pytest rewrites the asserts of all tests each time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check test core-on-16 core-on-17 core-managed test-upgraded acceptance unit lint style types imports sql docs generated reference snapshots system bench dbt dbt-example superset dashboards extension install-extension wheels release install clean help
demo: $(VENV)/.demo ## Install pgclarify, start PostgreSQL, load a corpus and ask
	$(BIN)/pgclarify demo

check: install ## Run all checks that need no server and no SQL
	$(MAKE) --no-print-directory --jobs=2 --output-sync=line types unit style imports

# More processes than cores, because many tests wait for a worker, a lock or a time limit.
test: ## Lint, build the pages, and run all tests of our own code
	$(MAKE) --no-print-directory --jobs=3 --output-sync=target lint docs core-on-16 core-managed
	$(PYTEST) 3 tests/integration tests/migration tests/quality tests/snapshots tests/unit

core-on-16: install
	$(PYTEST) 0 --quiet --server=16 $(CORE)

core-on-17: .postgresql-17 install
	$(PYTEST) 0 --quiet --server=17 $(CORE) $(WITH_DBLINK)

core-managed: install
	$(PYTEST) 0 --quiet --server=managed $(CORE) $(WITH_DBLINK)

test-upgraded: install ## Run the tests of a database on one that was installed by the oldest release, and upgraded
	$(PYTEST) 3 --server=upgraded tests/integration tests/migration tests/snapshots

acceptance: system dbt superset core-on-17 ## Test from outside: command line, browser, wheel, clients (JDBC, PgBouncer, ...), dbt, Superset; the core on 17
	$(PYTEST) 2 tests/clients tests/dbt tests/acceptance

unit: install
	$(PYTEST) 2 --quiet -m "not slow" --hypothesis-profile quick tests/unit

lint: style types imports sql ## Style, types, import order, SQL

style: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

imports: install
	$(BIN)/lint-imports

sql: install
	$(BIN)/sqlfluff lint --nocolor sql pgclarify/database pgclarify/install

docs: install ## Build the pages into site/; open site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --config-file website/mkdocs.yml

generated: install ## Write the files that follow from pgclarify/declared: SQL, the client, commands, columns of dbt
	$(BIN)/python -m generate

reference: generated ## Write docs/reference/, the sources of the dbt package and pgclarify/tables.json from the database; and the dashboard
	$(BIN)/python -m website.reference
	$(BIN)/python -m website.dbt_sources
	$(BIN)/python -m website.tables
	$(BIN)/python -m dashboards.bundle

snapshots: install ## Write the snapshots of tests: the rights of roles, a recorded run, prompts' keys
	$(BIN)/pytest --quiet --update-snapshots tests/snapshots tests/unit/prompts/test_ledger_keys.py

# A browser opens reports; PgBouncer and a Java program are clients of the server.
system: ## Install system packages for `make acceptance`: Chromium, PgBouncer, a JDK, PostgreSQL's JDBC driver, mmdebstrap
	@PATH="$$PATH:/usr/sbin"; missing=; \
	has() { for name in "$$@"; do command -v "$$name" > /dev/null && return; done; false; }; \
	has "$$CHROMIUM" chromium chromium-browser google-chrome || missing="$$missing chromium fonts-dejavu-core"; \
	has pgbouncer || missing="$$missing pgbouncer"; \
	has javac || missing="$$missing default-jdk-headless"; \
	has mmdebstrap || missing="$$missing mmdebstrap"; \
	[ -e /usr/share/java/postgresql.jar ] || missing="$$missing libpostgresql-jdbc-java"; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; \
	else \
	    echo "Acceptance tests need programs of the system that are not here. Install them with your system's packages, such as" >&2; \
	    echo "sudo apt-get install --no-install-recommends$$missing" >&2; \
	    echo "The path of another Chromium can be put into CHROMIUM." >&2; \
	    exit 1; \
	fi

# Debian 13 has it with the oldest pgvector that we support. It needs a folder as its root, because other systems have older
# libraries. Containers may refuse devices; then an empty file stands for /dev/null.
.postgresql-17: | system
	rm -rf $@.new
	mmdebstrap --quiet --variant=extract --include=base-files,coreutils,dash,postgresql-17-pgvector trixie $@.new
	mkdir -p $@.new/srv
	[ -e $@.new/dev/null ] || install -m 666 /dev/null $@.new/dev/null
	mv $@.new $@

bench: install ## Measure speed, as ratios to a reference that runs in the same minute
	$(BIN)/python -m benchmarks

dbt: $(DBT_VENV)/.installed ## Install dbt into .venv-dbt

$(DBT_VENV)/.installed: dbt/requirements.txt
	$(if $(UV),$(call install_pinned,$(DBT_VENV),$<),$(call pip_install,$(DBT_VENV),-r $<))
	touch $@

dbt-example: $(VENV)/.demo dbt ## Show the dbt package: searches of an insurer's customers, with their readings
	PGCLARIFY_DBT=$(abspath $(DBT_VENV))/bin/dbt $(BIN)/python dbt/example/run.py

superset: $(SUPERSET_VENV)/.installed ## Install Apache Superset (830 MB) into .venv-superset

$(SUPERSET_VENV)/.installed: dashboards/requirements.txt
	$(if $(UV),$(call install_pinned,$(SUPERSET_VENV),$<),$(call pip_install,$(SUPERSET_VENV),--no-compile -r $<))
	touch $@

dashboards: install superset ## Show the dashboard in Superset, with a made-up year of searches; Ctrl+C stops it
	$(BIN)/python -m dashboards

# pip alone builds them: the tools of `make install` would take minutes and gigabytes.
wheels: $(BIN)/python ## Build the wheels of pgclarify and of the embedding model into dist/
	$(BIN)/python -m pip wheel --quiet --no-deps --disable-pip-version-check --wheel-dir dist ./minilm .

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

release: install wheels ## Write the files of a release into dist/: TAG is v and the version
	$(BIN)/python -m website.release dist $(or $(TAG),$(error Set TAG, such as v0.2.0))

extension: install ## Write the files of CREATE EXTENSION pgclarify into build/extension/
	$(BIN)/pgclarify install-extension --directory build/extension

install-extension: install ## Put them where a server finds them: PG_CONFIG is the path of its pg_config
	$(BIN)/pgclarify install-extension --pg-config $(or $(PG_CONFIG),pg_config)

install: $(VENV)/.dev ## Install pgclarify and its tools into .venv

# Each file names an extra of pyproject.toml. The demo works without PyTorch, which would bring gigabytes of CUDA.
$(VENV)/.demo: EXTRAS = embedded
$(VENV)/.dev: EXTRAS = dev
$(VENV)/.demo $(VENV)/.dev: pyproject.toml constraints.txt minilm/pyproject.toml minilm/hatch_build.py
	$(call pip_install,$(VENV),--no-compile -c constraints.txt ./minilm -e '.[$(EXTRAS)]')
	touch $@

clean: ## Remove the environments
	rm -rf $(VENV) $(DBT_VENV) $(SUPERSET_VENV)

help: ## Show this
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 19
