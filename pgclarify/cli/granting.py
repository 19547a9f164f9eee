"""The commands grant and revoke: who may read, ask or analyze a corpus."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import connection, terminal
from pgclarify.errors import InputError, NotFound

if TYPE_CHECKING:
    from psycopg.errors import Diagnostic

    from pgclarify.config import Settings

GRANT_EXAMPLES = terminal.examples(
    "pgclarify corpus grant ann --user insurance",
    "pgclarify corpus grant dashboard --analyst insurance claims --create",
    "pgclarify corpus grant ann --reader insurance --dry-run",
    "pgclarify corpus grant pgclarify_user --user insurance",
)
REVOKE_EXAMPLES = terminal.examples("pgclarify corpus revoke ann --analyst insurance")
# PostgreSQL truncates longer names without an error.
_MOST_NAME_BYTES = 63

_FOR_ALL = ("pgclarify_user", "pgclarify_reader")

Role = Annotated[
    str,
    typer.Argument(
        metavar="ROLE",
        help="A login, or a group of logins; or pgclarify_user or pgclarify_reader, for all that may ask or read.",
    ),
]
Corpora = Annotated[list[str], typer.Argument(metavar="CORPUS...", help="Names of corpora that you own.")]
AsReader = Annotated[
    bool, typer.Option("--reader", metavar="", help="May read views and the corpus's documents; may start nothing.")
]
AsUser = Annotated[bool, typer.Option("--user", metavar="", help="May ask, and may read all that --reader allows.")]
AsAnalyst = Annotated[bool, typer.Option("--analyst", metavar="", help="Sees the runs of all roles on the corpus.")]
DryRun = Annotated[bool, typer.Option("--dry-run", metavar="", help="Print the SQL, and change nothing.")]
AsJson = Annotated[bool, typer.Option("--json", metavar="", help="One JSON object: what was done.")]


def grant(
    role: Role,
    corpora: Corpora,
    reader: AsReader = False,
    user: AsUser = False,
    analyst: AsAnalyst = False,
    create: Annotated[
        bool,
        typer.Option(
            "--create",
            metavar="",
            help="Make the login if it is missing. Its password is typed, or is PGCLARIFY_ROLE_PASSWORD, or a line of"
            " standard input.",
        ),
    ] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Let a role read, ask or analyze a corpus. Prints the SQL statements of it.

    A new corpus is closed: only its owner can read and ask it. A grant on one
    corpus opens no other. pgclarify_user as ROLE opens it to all that may ask.
    """
    from pgclarify.install.inspecting import existing_roles

    access = _access(reader=reader, user=user, analyst=analyst)
    _check_name(role)
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        is_missing = not existing_roles(database, [role])
        if is_missing and not create:
            raise NotFound(
                f"there is no role {role!r}", hint="Check its name, or create a login of that name with: --create"
            )
        password = _read_password(settings, role) if is_missing and not dry_run else None
        with _deciding(database, dry_run=dry_run):
            statements = [_create(database, role, password)] if is_missing else []
            for corpus in corpora:
                statements += connection.client_of(database, corpus).grant_access(role, access)
    say = terminal.notices().print
    if create and not is_missing:
        say(f"role {role} is there already, and keeps its password")
    if dry_run and is_missing:
        say(f"give it a password with psql: \\password {role}")
    _report(role, statements, is_created=is_missing, dry_run=dry_run, as_json=as_json)
    if not as_json and not dry_run and role not in _FOR_ALL:
        say(f"{role} connects with: pgclarify dsn --role {role}")


def revoke(
    role: Role,
    corpora: Corpora,
    reader: AsReader = False,
    user: AsUser = False,
    analyst: AsAnalyst = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Revoke what grant has granted on a corpus. Prints the SQL statements of it."""
    access = _access(reader=reader, user=user, analyst=analyst)
    _check_name(role)
    statements: list[str] = []
    with (
        connection.connect(connection.running_dsn(connection.load_settings())) as database,
        _deciding(database, dry_run=dry_run),
    ):
        for corpus in corpora:
            statements += connection.client_of(database, corpus).revoke_access(role, access)
    _report(role, statements, is_created=False, dry_run=dry_run, as_json=as_json)


def _access(**flags: bool) -> str:
    given = [name for name, is_given in flags.items() if is_given]
    if len(given) != 1:
        raise typer.BadParameter("give exactly one of --reader, --user and --analyst")
    return given[0]


def _check_name(role: str) -> None:
    if not 0 < len(role.encode()) <= _MOST_NAME_BYTES:
        raise typer.BadParameter(f"a role's name has 1 to {_MOST_NAME_BYTES} bytes", param_hint="ROLE")


@contextmanager
def _deciding(database: connection.Database, *, dry_run: bool) -> Iterator[None]:
    """One transaction, all or nothing. Notices of the server are passed on after the commit."""
    from pgclarify.cli.rendering import printable
    from pgclarify.install.citus import keep_on_coordinator

    remarks: list[str] = []

    def remark(notice: Diagnostic) -> None:
        advice = f" ({notice.message_hint})" if notice.message_hint else ""
        remarks.append(f"{notice.message_primary}{advice}")

    database.add_notice_handler(remark)
    with database.transaction(force_rollback=dry_run):
        with database.cursor() as cursor:
            keep_on_coordinator(cursor)
        yield
    for text in remarks:
        terminal.notices().print(printable(text))


def _read_password(settings: Settings, role: str) -> str:
    """Return a password for a new role: from the settings, typed twice, or from a line of standard input."""
    if settings.role_password is not None:
        password = settings.role_password.get_secret_value()
    elif sys.stdin.isatty():
        password = typer.prompt(f"Password of {role}", hide_input=True, confirmation_prompt=True, err=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise InputError(
            "a new role needs a password",
            hint="Type one, set PGCLARIFY_ROLE_PASSWORD, or send it as a line of standard input.",
        )
    return password


def _create(database: connection.Database, role: str, password: str | None) -> str:
    """Create a login. The server gets a verifier instead of the password, which it might log.

    Returns:
        The statement without the password.
    """
    from psycopg import sql

    statement = sql.SQL("create role {} login").format(sql.Identifier(role))
    if password is None:
        database.execute(statement)
    else:
        verifier = database.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
        database.execute(statement + sql.SQL(" password {}").format(sql.Literal(verifier.decode())))
    return statement.as_string(database)


def _report(role: str, statements: list[str], *, is_created: bool, dry_run: bool, as_json: bool) -> None:
    if as_json:
        done = {"role": role, "created": is_created and not dry_run, "dry_run": dry_run, "statements": statements}
        terminal.print_json(done)
        return
    from pgclarify.language.foreign_text import sanitize

    for statement in statements:
        terminal.results().print(f"{sanitize(statement)};", soft_wrap=True)
    if not statements:
        terminal.notices().print("there is nothing to do")
    elif dry_run:
        terminal.notices().print("this was a dry run: nothing has changed")
