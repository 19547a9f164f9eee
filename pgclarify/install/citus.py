"""Where Citus is active, what an install makes stays on the server that it is connected to."""

from __future__ import annotations

from typing import Any

import psycopg


def keep_on_coordinator(cursor: psycopg.Cursor[Any]) -> None:
    """Until the transaction ends, have Citus copy nothing that is made to its nodes.

    Citus would connect to each node as the role that makes an object, and our owner may not log in. Citus copies a role
    of ours once it is needed on a node, as when it is granted to a role that is there. On a server without Citus this
    changes nothing.
    """
    cursor.execute(
        "select set_config('citus.enable_ddl_propagation', 'off', true)"
        " where current_setting('citus.enable_ddl_propagation', true) is not null"
    )
