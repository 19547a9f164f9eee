"""Who may connect to the embedded server: its pg_hba.conf and pg_ident.conf, written at each start.

Peer authentication lets the person who owns the data be the superuser; every other role proves a password, on the Unix
socket as well as on TCP. The server connects to itself as pgclarify_loopback, and it cannot get further like that: it
asks each role for a password that its functions do not have.
"""

from __future__ import annotations

import os
import pwd
from contextlib import suppress
from pathlib import Path

from pgclarify.embedded.listening import Address
from pgclarify.embedded.programs import Account

SUPERUSER = "postgres"
RULES, PEOPLE = "pgclarify_hba.conf", "pgclarify_ident.conf"
_HEAD = "# Written by pgclarify at each start of the server; changes are lost.\n"
# The server's superuser and its own roles stay outside, whatever else they are members of. Whoever may look, ask or
# work comes in, with a password. No line tells other superusers from such members: grants refuse to make them that, and
# the doctor finds those that are.
_OF_TCP = """\
host  all,replication  {superuser},+pgclarify_owner,pgclarify_loopback  all  reject
host  pgclarify  +pgclarify_reader,+pgclarify_worker  {network}  scram-sha-256
host  all,replication  all  all  reject
"""
_OF_SOCKET = """\
local  all,replication  {superuser}  peer map=pgclarify
local  all,replication  all  scram-sha-256
"""


def write(data_dir: Path, cluster: Path, address: Address | None, account: Account | None) -> dict[str, str]:
    """Write both files.

    Args:
        data_dir: Whose owner is the person.
        cluster: Where they go.
        address: Where the server listens on TCP; None if it does not.
        account: Whom they belong to; None is whoever we are.

    Returns:
        The settings that name them.
    """
    _replace(cluster / RULES, rules(address), account)
    _replace(cluster / PEOPLE, people({os.geteuid(), data_dir.stat().st_uid, 0}), account)
    return {"hba_file": str(cluster / RULES), "ident_file": str(cluster / PEOPLE)}


def rules(address: Address | None) -> str:
    """The text of pg_hba.conf for a server that listens there."""
    text = _HEAD
    if address is not None:
        text += _OF_TCP.format(superuser=SUPERUSER, network="::/0" if ":" in address.host else "0.0.0.0/0")
    return text + _OF_SOCKET.format(superuser=SUPERUSER)


def people(user_ids: set[int]) -> str:
    """The text of pg_ident.conf: these users of the system may be the superuser.

    The server knows a user by name, and one without a name not at all.
    """
    lines = []
    for user_id in sorted(user_ids):
        with suppress(KeyError):
            lines.append(f'pgclarify  "{pwd.getpwuid(user_id).pw_name}"  {SUPERUSER}\n')
    return _HEAD + "".join(lines)


def _replace(file: Path, text: str, account: Account | None) -> None:
    file.unlink(missing_ok=True)
    file.touch(mode=0o600)
    file.write_text(text)
    if account:
        os.chown(file, account.uid, account.gid)
