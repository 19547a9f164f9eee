"""TCP for the embedded server: its address, and the file that has it."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path

from pgclarify.embedded.private_files import replace
from pgclarify.errors import ConfigurationError, InputError

_FILE = "listen"


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
        if is_bracketed:
            host = host[1:-1]
        elif host == "localhost":
            host = "127.0.0.1"
        try:
            found = ipaddress.ip_address(host)
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

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


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
        replace(file, f"{address}\n", data_dir.stat() if os.geteuid() == 0 else None)
