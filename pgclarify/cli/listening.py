"""TCP of the embedded server in commands: open, close and show it."""

from __future__ import annotations

import typer

from pgclarify import embedded
from pgclarify.cli import terminal
from pgclarify.config import Settings
from pgclarify.embedded import Address
from pgclarify.errors import InputError

_OFF = "off"


def change(settings: Settings, asked: str) -> None:
    """Open or close the embedded server's TCP, now and for all later starts.

    Args:
        settings: Settings in use.
        asked: HOST:PORT, or off.

    Raises:
        typer.BadParameter: If that is neither, or the server is not ours to configure.
        ServerUnavailable: If it cannot listen there.
    """
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
    try:
        return Address.parse(asked)
    except InputError as error:
        raise typer.BadParameter(f"{error.message}. {error.detail} {error.hint}", param_hint=option) from None


def parse_place(asked: str, option: str) -> Address:
    """Read [HOST:]PORT as an option has it: a port alone is served to this machine only. Errors as of parse_address."""
    return parse_address(f"127.0.0.1:{asked}" if asked.isdecimal() else asked, option)


def address_of(settings: Settings) -> Address | None:
    """Return the TCP address of the embedded server; None without TCP, or if another server is in use."""
    return None if settings.database_url is not None else embedded.listens_on(settings.data_dir)


def tell(address: Address) -> None:
    """Say where the server listens, who can connect, and what is readable on the network."""
    say = terminal.notices().print
    say(
        f"the server listens on {address}: postgresql://ROLE@HOST:{address.port}/pgclarify, for members of"
        " pgclarify_reader, pgclarify_user and pgclarify_worker, with their passwords"
    )
    if not address.is_local:
        say(
            f"there is no encryption on {address}: people who can watch the network can read questions and answers; in"
            " a network that you do not trust, listen on 127.0.0.1 and connect through a tunnel"
        )
