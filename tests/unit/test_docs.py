"""What the pages say about commands, settings and each other."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import typer
import yaml
from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from pgclarify.cli.deferred import DeferredCommand
from pgclarify.cli.main import all_commands
from pgclarify.config import Settings
from tests.pages import CHECKOUT, PAGES, anchors, blocks, tables

SETTINGS_PAGE = CHECKOUT / "docs" / "settings.md"
WORDS_BETWEEN_COMMANDS = {"&&", "||", "|", ";"}
# The default folder depends on the user and the system.
DEFAULTS_IN_WORDS = {"PGCLARIFY_DATA_DIR": "the user's data folder"}
# Variables of the shell, of Docker Compose, for debugging and for tests.
OTHER_VARIABLES = {
    "PATH",
    "POSTGRES_PASSWORD",
    "PGCLARIFY_DEBUG",
    "PGCLARIFY_DBT_PACKAGE",
    "PGCLARIFY_TEST_CLUSTER_URL",
    "OPENAI_ORG_ID",
    "OPENAI_CUSTOM_HEADERS",
    "OPENAI_PROJECT_ID",
}


def name(page: Path) -> str:
    return str(page.relative_to(CHECKOUT))


def variable(field: str, info: FieldInfo) -> str:
    """The environment variable of a setting."""
    alias = info.validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"PGCLARIFY_{field.upper()}"


VARIABLES = {variable(field, info): info for field, info in Settings.model_fields.items()}


def test_every_setting_is_on_its_page() -> None:
    told = {row[0]: (row[1], row[2]) for row in tables(SETTINGS_PAGE, "variable")["Settings"]}

    known = {
        name: (
            DEFAULTS_IN_WORDS.get(name, "" if info.default is None else str(info.default)),
            info.description,
        )
        for name, info in VARIABLES.items()
    }
    assert told == known


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_variables_that_a_page_names_exist(page: Path) -> None:
    named = set(re.findall(r"\b(?:PGCLARIFY|OPENAI)_[A-Z_]+\b", page.read_text()))
    assert named <= VARIABLES.keys() | OTHER_VARIABLES


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


def test_pages_that_code_names_are_there() -> None:
    files = [CHECKOUT / "docker-compose.yml", CHECKOUT / "Dockerfile"]
    for folder in ("pgclarify", "sql", "migrations", "dbt", "website"):
        files += [file for file in (CHECKOUT / folder).rglob("*") if file.suffix in {".py", ".sql", ".yml", ".md"}]
    named = {page for file in files for page in re.findall(r"\bdocs/[\w/-]+\.md\b", file.read_text())}
    assert len(named) > 10
    assert {page for page in named if not (CHECKOUT / page).exists()} == set()


def test_errors_that_functions_raise_are_on_their_page() -> None:
    rows = tables(CHECKOUT / "docs" / "errors.md", "SQLSTATE")["Errors"]
    told = {code for row in rows for code in re.findall(r"\b[0-9A-Z]{5}\b", row[0])}
    # Only functions for workers raise the first; other functions of ours catch the others.
    internal = {"22000", "PC000", "PC098", "PC099"}

    scripts = "".join(file.read_text() for file in (CHECKOUT / "sql").rglob("*.sql"))
    names = set(re.findall(r"errcode = '(\w+)'", scripts))
    codes = {sqlstate_of(name) for name in names}
    assert len(codes) > 20
    assert codes - internal <= told


def sqlstate_of(name: str) -> str:
    """The code of an error that a function raises by its name or code."""
    condition = getattr(psycopg.errors, name.title().replace("_", ""), None)
    return name if condition is None else str(condition.sqlstate)


def test_every_page_is_in_the_index() -> None:
    index = CHECKOUT / "docs" / "README.md"
    linked = {(index.parent / target).resolve() for target in re.findall(r"\]\(([^)#\s]+)\)", index.read_text())}
    assert set((CHECKOUT / "docs").glob("**/*.md")) - {index} <= linked


def commands(page: Path) -> Iterator[list[str]]:
    """The commands of a page's shell blocks, without variables set before them; arguments as the shell passes them."""
    for block in blocks(page, "sh"):
        for line in block.code.splitlines():
            # A command inside quotes is checked as a command, too.
            for part in (line, *re.findall(r"\$\(([^)]*)\)", line)):
                words: list[str] = []
                lexer = shlex.shlex(part, posix=True, punctuation_chars=";|&")
                lexer.whitespace_split = True
                for word in (*lexer, ";"):
                    if word not in WORDS_BETWEEN_COMMANDS:
                        words.append(word)
                        continue
                    while words and re.match(r"\w+=", words[0]):
                        words.pop(0)
                    if words:
                        yield words
                    words = []


def check_ours(arguments: list[str]) -> None:
    """Check a command of pgclarify: it exists, and takes these options and arguments."""
    command: Any = all_commands()
    while isinstance(command, typer.core.TyperGroup):
        assert arguments, "a command is missing"
        word, *arguments = arguments
        assert word in command.commands, word
        command = command.commands[word]
        if isinstance(command, DeferredCommand):
            command = command.command
    # Parsed as usual, except that files need not exist.
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    if not command.context_settings.get("ignore_unknown_options"):
        options = {word.partition("=")[0] for word in arguments if word.startswith("-")}
        assert options <= known, arguments
    # A configuration file is only named here, and read later.
    existing = [os.devnull if re.match(r"[~/.]|(?!.*\.toml$).*[/.*]", word) else word for word in arguments]
    command.make_context(command.name, existing).close()


def check(words: list[str]) -> None:
    """Check a command of ours, of make or of pip. Other lines are run by the tests of the pages, where they can be."""
    match words:
        case ["pgclarify", *arguments]:
            check_ours(arguments)
        case ["make", target]:
            assert re.search(rf"^{target}:", (CHECKOUT / "Makefile").read_text(), re.M)
        case ["pip", "install", *_, package] if asked := re.fullmatch(r"pgclarify\[([\w,]+)\]", package):
            extras = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            assert set(asked[1].split(",")) <= extras.keys()
        case ["uvx", *options]:
            assert "pgclarify[embedded]" in options
            check_ours(options[options.index("pgclarify") + 1 :])
        case ["docker", "compose", "run", *rest]:
            services = yaml.safe_load((CHECKOUT / "docker-compose.yml").read_text())["services"]
            first, *_ = (place for place, word in enumerate(rest) if word in services)
            check_ours(rest[first + 1 :])


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")], ids=name)
def test_commands_that_a_page_shows_exist(page: Path) -> None:
    for words in commands(page):
        check(words)


def test_the_status_names_the_version_of_the_checkout() -> None:
    version = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"]
    status = (CHECKOUT / "README.md").read_text().partition("## Status")[2]
    assert version in status
