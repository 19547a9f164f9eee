"""TCP for the embedded server: its address, and the file that has it."""

from __future__ import annotations

import errno
import ipaddress
import socket
from dataclasses import dataclass
from pathlib import Path

from pgclarify.errors import ConfigurationError, InputError

_FILE = "listen"
_LEAST_OPEN_PORT = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")


@dataclass(frozen=True, slots=True)
class Address:
    """A TCP address of a server.

    Attributes:
        host: An IP address, version 4 or 6; 0.0.0.0 and :: mean all addresses of this machine.
        port: 1 to 65535.
    """

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read HOST:PORT, as in 127.0.0.1:5433 and [::1]:5433; localhost is 127.0.0.1.

        Raises:
            InputError: If the text is not of this form.
        """
        host, _, port = text.rpartition(":")
        if not (port.isascii() and port.isdigit() and 0 < int(port) <= 65535):
            raise InputError(
                f"{text!r} is no HOST:PORT",
                detail="A port is a number from 1 to 65535.",
                hint="Write, for example, 127.0.0.1:5433 or [::1]:5433.",
            )
        is_bracketed = host.startswith("[") and host.endswith("]")
        try:
            found = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host[1:-1] if is_bracketed else host)
        except ValueError:
            found = None
        if found is None or (found.version == 6) is not is_bracketed:
            raise InputError(
                f"{text!r} is no HOST:PORT",
                detail="HOST is localhost or an IP address of this machine, in brackets if it is of version 6.",
                hint="127.0.0.1 means this machine only, 0.0.0.0 all addresses of version 4, [::] all of version 6.",
            )
        return cls(str(found), int(port))

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return ipaddress.ip_address(self.host).is_loopback

    @property
    def is_any(self) -> bool:
        """Whether it means all addresses of this machine."""
        return ipaddress.ip_address(self.host).is_unspecified

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def check_free(address: Address, *, is_port_ours: bool = False) -> None:
    """Check that the server will be able to listen at an address.

    Args:
        address: The address.
        is_port_ours: True if the port is held by the server that is to be restarted.

    Raises:
        ConfigurationError: If another program holds the port, the address is not this machine's, or the port needs
            special rights.
    """
    # Root may open any port, but the server does not run as root.
    least = int(_LEAST_OPEN_PORT.read_text()) if _LEAST_OPEN_PORT.exists() else 0
    if address.port < least:
        raise _refusal(address, errno.EACCES, f"Ports below {least} are reserved for the system")
    try:
        ((family, _, _, _, name), *_) = socket.getaddrinfo(
            address.host, 0 if is_port_ours else address.port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
        )
        with socket.socket(family) as probe:
            # As PostgreSQL does; otherwise a port that was in use a minute ago would count as used.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            probe.bind(name)
    except OSError as error:
        raise _refusal(address, error.errno, error.strerror or str(error)) from error


def _refusal(address: Address, code: int | None, reason: str) -> ConfigurationError:
    hints = {
        errno.EADDRINUSE: "Choose another port, or stop the program that listens there.",
        errno.EADDRNOTAVAIL: "Name an address of this machine; 127.0.0.1 means this machine only.",
        errno.EACCES: "Choose a higher port, such as 5433.",
    }
    return ConfigurationError(
        f"the embedded server cannot listen on {address}",
        detail=f"{reason}.",
        hint=hints.get(code or 0, "Choose another address, or close TCP: pgclarify up --listen off"),
    )


def kept(data_dir: Path) -> Address | None:
    """Return the TCP address that the server uses at every start; None without TCP.

    Raises:
        ConfigurationError: If the stored text is not an address.
    """
    file = data_dir / _FILE
    try:
        return Address.parse(file.read_text().strip())
    except FileNotFoundError:
        return None
    except (InputError, ValueError) as error:
        raise ConfigurationError(
            "the stored address of the embedded server is invalid",
            detail=f"{file}: {error}.",
            hint="Set it again: pgclarify up --listen HOST:PORT, or off.",
        ) from error


def keep(data_dir: Path, address: Address | None) -> None:
    """Store the address for all later starts."""
    file = data_dir / _FILE
    if address is None:
        file.unlink(missing_ok=True)
    else:
        file.write_text(f"{address}\n")
