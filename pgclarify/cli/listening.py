"""TCP of the embedded server in commands: open, close and show it; and URLs for other roles."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import typer

from pgclarify.cli import connection, terminal

if TYPE_CHECKING:
    from pgclarify.config import Settings
    from pgclarify.embedded import Address

_OFF = "off"
# Parameters that other users need: the server and its identity. Keys, certificates and passwords are personal.
_SHARED = frozenset(
    {"host", "hostaddr", "port", "dbname", "sslmode", "sslrootcert", "target_session_attrs", "connect_timeout"}
)


def change(settings: Settings, asked: str) -> None:
    """Open or close the embedded server's TCP, now and for all later starts.

    Args:
        settings: Settings in use.
        asked: HOST:PORT, or off.

    Raises:
        typer.BadParameter: If that is neither, or the server is not ours to configure.
        ServerUnavailable: If it cannot listen there.
    """
    from pgclarify import embedded

    if settings.database_url is not None:
        raise typer.BadParameter(
            "it is for the embedded server; that of PGCLARIFY_DATABASE_URL has its own settings",
            param_hint="--listen",
        )
    address = None if asked == _OFF else parse_address(asked, "--listen")
    if embedded.listen(settings.data_dir, address):
        terminal.notices().print("the server was restarted: its connections have ended, and workers connect again")


def parse_address(asked: str, option: str) -> Address:
    """Read HOST:PORT as an option has it.

    Raises:
        typer.BadParameter: If it is none.
    """
    from pgclarify.embedded import Address
    from pgclarify.errors import InputError

    try:
        return Address.parse(asked)
    except InputError as error:
        raise typer.BadParameter(f"{error.message}. {error.detail} {error.hint}", param_hint=option) from None


def address_of(settings: Settings) -> Address | None:
    """Return the TCP address of the embedded server; None without TCP, or if another server is in use."""
    from pgclarify import embedded

    return None if settings.database_url is not None else embedded.listens_on(settings.data_dir)


def tell(address: Address) -> None:
    """Say where the server listens, who can connect, and what is readable on the network."""
    say = terminal.notices().print
    say(f"the server listens on {address}, for roles with rights from pgclarify.grant_access, with their passwords")
    if not address.is_local:
        say(
            f"there is no encryption on {address}: people who can watch the network can read questions and answers; in"
            " a network that you do not trust, listen on 127.0.0.1 and connect through a tunnel"
        )


def url_for(settings: Settings, role: str) -> str:
    """Return the connection URL of the database in use for another role, without any secrets.

    It uses the embedded server's TCP address if that is open, else its Unix socket.

    Raises:
        ConfigurationError: If the connection string in use cannot be read.
        ServerUnavailable: If the embedded server is not running.
    """
    from psycopg.conninfo import conninfo_to_dict

    parts = {name: str(value) for name, value in conninfo_to_dict(connection.running_dsn(settings)).items()}
    address = address_of(settings)
    if address is not None:
        host = socket.gethostname() if address.is_any else address.host
        parts |= {"host": host, "port": str(address.port)}
        if address.is_any:
            terminal.notices().print(f"{host} is what this machine calls itself; others may know it by another name")
    parts = {name: value for name, value in parts.items() if name in _SHARED}
    place = quote(parts.pop("dbname", ""), safe="")
    host = parts.get("host", "")
    server = ""
    # Several hosts, and folders of sockets, cannot be written before the path.
    if host and not host.startswith(("/", "@")) and "," not in host:
        port = parts.pop("port", "")
        server = (f"[{host}]" if ":" in host else quote(parts["host"], safe="")) + (f":{port}" if port else "")
        del parts["host"]
    return f"postgresql://{quote(role, safe='')}@{server}/{place}" + (f"?{urlencode(parts)}" if parts else "")
