"""The doctor's findings about versions, roles and refusals."""

from __future__ import annotations

import pytest

from pgclarify.cli.doctor import server
from pgclarify.cli.doctor.check import Level


def test_without_dblink_there_is_a_way_round() -> None:
    assert server.check_dblink("1.2", "1.2").level is Level.OK
    for available, remedy in (("1.2", "pgclarify init"), (None, "contrib")):
        check = server.check_dblink(None, available)
        assert check.level is Level.WARNING
        assert "submit" in check.finding
        assert remedy in str(check.remedy)


@pytest.mark.parametrize(
    ("detail", "remedy"),
    [
        (
            'FATAL:  no pg_hba.conf entry for host "127.0.0.1", user "pgclarify_loopback", database "app"',
            "host app pgclarify_loopback 127.0.0.1/32 scram-sha-256",
        ),
        (
            'FATAL:  no pg_hba.conf entry for host "[local]", user "pgclarify_loopback", database "app"',
            "local app pgclarify_loopback scram-sha-256",
        ),
        (
            'connection on socket "/run/.s.PGSQL.5432" failed: FATAL:  Peer authentication failed for user "x"',
            "local app pgclarify_loopback scram-sha-256",
        ),
        (
            'FATAL:  password authentication failed for user "pgclarify_loopback"',
            "alter role pgclarify_loopback password",
        ),
        ("Non-superusers must provide a password in the connection string.", "pgclarify init"),
        ("fe_sendauth: no password supplied", "alter role pgclarify_loopback password"),
        ('FATAL:  role "pgclarify_loopback" does not exist', "pgclarify init"),
        ('connection to server at "localhost", port 5432 failed: Connection refused', "set host"),
    ],
)
def test_every_refusal_of_the_loopback_has_its_remedy(detail: str, remedy: str) -> None:
    assert remedy in server.loopback_remedy(detail, "app")


@pytest.mark.parametrize(
    ("usages", "level"),
    [
        (set(), Level.PROBLEM),
        ({"pgclarify_reader"}, Level.WARNING),
        ({"pgclarify_reader", "pgclarify_user"}, Level.OK),
        ({"pgclarify_reader", "pgclarify_user", "pgclarify_worker"}, Level.OK),
    ],
)
def test_a_role_without_our_roles_is_a_problem_with_a_remedy(usages: set[str], level: Level) -> None:
    check = server.check_memberships("alice", usages)
    assert check.level is level
    assert ("grant" in str(check.remedy)) == (level is not Level.OK)
