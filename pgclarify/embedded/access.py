"""Access rules of the embedded server: pg_hba.conf and pg_ident.conf, written at each start.

Peer authentication makes the owner of the data the superuser. Every other role needs a password, on the Unix socket and
on TCP. The server connects to itself as pgclarify_loopback. Functions cannot use such a connection as another role,
because they do not have that role's password.
"""

from __future__ import annotations

import os
import pwd
from contextlib import suppress
from pathlib import Path

from pgclarify.embedded.listening import Address
from pgclarify.embedded.private_files import replace
from pgclarify.embedded.programs import Account

SUPERUSER = "postgres"
RULES, PEOPLE = "pgclarify_hba.conf", "pgclarify_ident.conf"
_HEAD = "# Written by pgclarify at each start of the server; changes are lost.\n"
# The server's superuser and its own roles cannot connect over TCP, even if they are members of these groups. Roles that
# may look, ask or work can, with a password. No rule here can exclude other superusers who are members. So grants
# refuse to make a superuser a member, and the doctor reports those that are.
_OF_TCP = """\
host  all,replication  {superuser},+pgclarify_owner,pgclarify_loopback  all  reject
host  pgclarify  +pgclarify_reader,+pgclarify_worker  {network}  scram-sha-256
host  all,replication  all  all  reject
"""
_OF_SOCKET = """\
local  all,replication  {superuser}  peer map=pgclarify
local  all,replication  all  scram-sha-256
"""


def write(cluster: Path, address: Address | None, account: Account | None) -> dict[str, str]:
    """Write both files. The owner of the data directory is the superuser.

    Args:
        cluster: The folder for the files, in the data directory.
        address: The TCP address of the server; None without TCP.
        account: The owner of the files; None for the current user.

    Returns:
        The settings that name the files.
    """
    owner = cluster.stat() if account else None
    replace(cluster / RULES, rules(address), owner)
    replace(cluster / PEOPLE, people({os.geteuid(), cluster.parent.stat().st_uid, 0}), owner)
    return {"hba_file": str(cluster / RULES), "ident_file": str(cluster / PEOPLE)}


def rules(address: Address | None) -> str:
    """Return the text of pg_hba.conf for a server with this TCP address."""
    text = _HEAD
    if address is not None:
        text += _OF_TCP.format(superuser=SUPERUSER, network="::/0" if ":" in address.host else "0.0.0.0/0")
    return text + _OF_SOCKET.format(superuser=SUPERUSER)


def people(user_ids: set[int]) -> str:
    """Return the text of pg_ident.conf: these system users may be the superuser.

    The server knows users by name, so a user without a name cannot connect.
    """
    lines = []
    for user_id in sorted(user_ids):
        with suppress(KeyError):
            lines.append(f'pgclarify  "{pwd.getpwuid(user_id).pw_name}"  {SUPERUSER}\n')
    return _HEAD + "".join(lines)
