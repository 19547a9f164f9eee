"""The doctor's findings about roles."""

from __future__ import annotations

import pytest

from pgclarify.cli.doctor import server
from pgclarify.cli.doctor.check import Level


@pytest.mark.parametrize(
    ("usages", "level"),
    [
        (set(), Level.PROBLEM),
        ({"pgclarify_owner"}, Level.OK),
        ({"pgclarify_reader"}, Level.WARNING),
        ({"pgclarify_reader", "pgclarify_user"}, Level.OK),
        ({"pgclarify_reader", "pgclarify_user", "pgclarify_worker"}, Level.OK),
    ],
)
def test_a_role_without_our_roles_is_a_problem_with_a_remedy(usages: set[str], level: Level) -> None:
    check = server.check_memberships("alice", usages)
    assert check.level is level
    assert ("grant" in str(check.remedy)) == (level is not Level.OK)
