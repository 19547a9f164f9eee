"""TCP for the embedded server: at which address it listens, and where that is kept."""

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
    """Where a server listens on TCP.

    Attributes:
        host: An IP address, version 4 or 6; 0.0.0.0 and :: are all of this machine's.
        port: 1 to 65535.
    """

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read HOST:PORT, as in 127.0.0.1:5433 and [::1]:5433; localhost is 127.0.0.1.

        Raises:
            InputError: If it is none.
        """
        host, _, port = text.rpartition(":")
        if not (port.isascii() and port.isdigit() and 0 < int(port) <= 65535):
            raise InputError(
                f"{text!r} is no HOST:PORT",
                detail="A port is a number from 1 to 65535.",
                hint="Write 127.0.0.1:5433, say, or [::1]:5433.",
            )
        is_bracketed = host.startswith("[") and host.endswith("]")
        try:
            found = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host[1:-1] if is_bracketed else host)
        except ValueError:
            found = None
        if found is None or (found.version == 6) is not is_bracketed:
            raise InputError(
                f"{text!r} is no HOST:PORT",
                detail="HOST is an IP address of this machine, one of version 6 in brackets, or localhost.",
                hint="127.0.0.1 is for this machine alone, 0.0.0.0 every address of version 4, [::] of version 6.",
            )
        return cls(str(found), int(port))

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        return ipaddress.ip_address(self.host).is_loopback

    @property
    def is_any(self) -> bool:
        """Whether it stands for all addresses of this machine."""
        return ipaddress.ip_address(self.host).is_unspecified

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def check_free(address: Address, *, is_port_ours: bool = False) -> None:
    """Make sure that the server will be able to listen there.

    Args:
        address: Where.
        is_port_ours: True if the server that is to be restarted holds the port.

    Raises:
        ConfigurationError: If somebody else does, the address is not this machine's, or the port takes special rights.
    """
    # Root may open any port, but the server never runs as root.
    least = int(_LEAST_OPEN_PORT.read_text()) if _LEAST_OPEN_PORT.exists() else 0
    if address.port < least:
        raise _refusal(address, errno.EACCES, f"Ports below {least} are for processes of the system")
    try:
        ((family, _, _, _, name), *_) = socket.getaddrinfo(
            address.host, 0 if is_port_ours else address.port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
        )
        with socket.socket(family) as probe:
            # As PostgreSQL does, or a port that was in use a minute ago would count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            probe.bind(name)
    except OSError as error:
        raise _refusal(address, error.errno, error.strerror or str(error)) from error


def _refusal(address: Address, code: int | None, reason: str) -> ConfigurationError:
    hints = {
        errno.EADDRINUSE: "Choose another port, or stop whatever listens there.",
        errno.EADDRNOTAVAIL: "Name an address of this machine; 127.0.0.1 is for this machine alone.",
        errno.EACCES: "Choose a higher port, such as 5433.",
    }
    return ConfigurationError(
        f"the embedded server cannot listen on {address}",
        detail=f"{reason}.",
        hint=hints.get(code or 0, "Choose another address, or give TCP up: pgclarify up --listen off"),
    )


def kept(data_dir: Path) -> Address | None:
    """The address that the server listens on whenever it is started; None is no TCP.

    Raises:
        ConfigurationError: If what is written there is none.
    """
    file = data_dir / _FILE
    try:
        return Address.parse(file.read_text().strip())
    except FileNotFoundError:
        return None
    except (InputError, ValueError) as error:
        raise ConfigurationError(
            "the address that the embedded server is to listen on cannot be read",
            detail=f"{file}: {error}.",
            hint="Set it anew: pgclarify up --listen HOST:PORT, or off.",
        ) from error


def keep(data_dir: Path, address: Address | None) -> None:
    """Write it down for all later starts."""
    file = data_dir / _FILE
    if address is None:
        file.unlink(missing_ok=True)
    else:
        file.write_text(f"{address}\n")
