"""The rights that revoke_access reports as remaining can be revoked as its hint says."""

from __future__ import annotations

import re

import pytest

from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connection, MakeRole, scalar


@pytest.mark.parametrize("by", ["pgclarify_reader", "pgclarify_user", "a team"])
def test_a_hint_takes_what_it_names(connection: Connection, make_role: MakeRole, by: str) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["claims"])
    guest = make_role(make_role("pgclarify_user", name="team") if by == "a team" else by, name="guest")
    hints: list[str] = []
    connection.add_notice_handler(lambda notice: hints.append(notice.message_hint or ""))

    connection.execute("select pgclarify.revoke_access('claims', %s, 'reader')", [guest])

    (revoking,) = (found[0] for hint in hints if (found := re.search("revoke .* from [^.]*", hint)))
    connection.execute(revoking)
    assert scalar(connection, "select pg_has_role(%s, 'pgclarify_reader', 'usage')", guest) is False
