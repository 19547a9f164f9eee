"""Serves the page: its socket, its process, and who owns a connection on this machine."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Final

import uvicorn

from pgclarify.embedded import Address
from pgclarify.errors import ConfigurationError
from pgclarify.page.application import application
from pgclarify.page.gate import Network, doors_of
from pgclarify.page.sessions import open_sessions

PORT: Final = 8713
"""The port, if none is chosen: addresses of runs stay valid."""
_ESTABLISHED: Final = "01"
# The kernel's table of TCP connections, by version of IP.
_TABLES: Final = {4: Path("/proc/net/tcp"), 6: Path("/proc/net/tcp6")}


def listen(address: Address | None) -> socket.socket:
    """Open the socket. Without an address it is on loopback, at the usual port or, if that is taken, at any other.

    Raises:
        ConfigurationError: If it cannot listen there.
    """
    chosen = address or Address("127.0.0.1", PORT)
    try:
        return _bound(chosen.host, chosen.port)
    except OSError as error:
        if address is None:
            return _bound("127.0.0.1", 0)
        raise ConfigurationError(
            f"the page cannot listen on {address}",
            detail=f"{error.strerror or error}.",
            hint="Choose another port for --listen, or an address of this machine.",
        ) from None


def _bound(host: str, port: int) -> socket.socket:
    opened = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        # As usual for servers: the port is free although connections of a former page have just ended.
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen(128)
    except OSError:
        opened.close()
        raise
    return opened


async def serve(
    dsn: str,
    opened: socket.socket,
    on_start: Callable[[str], None],
    *,
    role_header: str | None = None,
    proxies: Sequence[Network] | None = None,
) -> None:
    """Serve the page until the process is interrupted.

    Args:
        dsn: Connection string of the database.
        opened: The socket.
        on_start: Called with the login, once the page can be reached.
        role_header: The header with the role of the person; None if all ask as the login.
        proxies: Addresses that may send requests; None for all.

    Raises:
        ServerUnavailable: If the database cannot be reached.
        ConfigurationError: If the login has too many rights to act for others.
    """
    port = opened.getsockname()[1]
    async with open_sessions(dsn, takes_roles=role_header is not None) as (sessions, login):
        doors = doors_of(
            port,
            login["page_url"],
            proxies,
            role_header,
            is_own_user=lambda host, other: is_own_user(host, other, port),
        )
        config = uvicorn.Config(
            application(sessions, doors),
            # The gate trusts addresses of connections only, and no header that names others.
            proxy_headers=False,
            http="h11",
            ws="none",
            lifespan="off",
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
            limit_concurrency=200,
        )
        server = uvicorn.Server(config)
        on_start(login["login"])
        await server.serve(sockets=[opened])


def is_own_user(host: str, port: int, own_port: int) -> bool:
    """Tell whether the user of this process, or root, opened a connection to us from this machine.

    Loopback is open to every user of a machine. Where the kernel does not list connections, all are let in.

    Args:
        host: Address from which the connection comes.
        port: Its port.
        own_port: Our port.
    """
    try:
        lines = _TABLES[ip_address(host).version].read_text().splitlines()[1:]
    except ValueError:
        # A connection that was reset before it was accepted has no address.
        return False
    except OSError:
        return True
    return _is_owned([line.split() for line in lines], f":{port:04X}", f":{own_port:04X}")


def _is_owned(connections: Sequence[Sequence[str]], port: str, own_port: str) -> bool:
    """Read the kernel's table: number, local and remote address, state, three columns, user, and more."""
    # Our socket listens, so a table without our port lists nothing. Our end of a connection tells less: whoever resets
    # theirs takes it off the list, and what they sent before is still read.
    if not any(row[1].endswith(own_port) for row in connections):
        return True
    theirs = [row for row in connections if row[1].endswith(port) and row[2].endswith(own_port)]
    # A connection that its owner has closed is listed as one of root.
    return bool(theirs) and all(row[3] == _ESTABLISHED and int(row[7]) in (os.geteuid(), 0) for row in theirs)
