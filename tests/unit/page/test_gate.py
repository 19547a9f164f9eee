"""Who may reach the page."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

import pytest

from pgclarify.page.gate import Doors, Refused, check, doors_of
from pgclarify.page.serving import _is_owned, is_own_user
from tests.unit.page.asked import FORM, HERE, PORT, FakeDatabase, client, database

PROXY = ip_network("10.0.0.2")


def status(headers: dict[str, str] | list[tuple[str, str]], *, method: str = "GET", path: str = "/") -> int:
    browser = client(database())
    data = {"question": "rental cars"} if method == "POST" else None
    return browser.request(method, path, headers=headers, data=data).status_code


class TestNames:
    @pytest.mark.parametrize("name", ["127.0.0.1:8713", "localhost:8713", "LOCALHOST:8713", "[::1]:8713"])
    def test_loopback_is_answered(self, name: str) -> None:
        assert status({"host": name}) == 200

    @pytest.mark.parametrize(
        "name",
        [
            "evil.example:8713",
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost.:8713",
            "localhost.evil.example:8713",
            "0.0.0.0:8713",
        ],
    )
    @pytest.mark.parametrize("path", ["/", "/run/42", "/static/page.css", "/nothing"])
    def test_another_name_is_refused(self, name: str, path: str) -> None:
        assert status({"host": name}, path=path) == 421

    def test_the_address_of_the_page_counts_behind_a_proxy_only(self) -> None:
        url = "https://Ask.example.com"
        assert "ask.example.com" not in doors_of(PORT, url).hosts
        doors = doors_of(PORT, url, [PROXY], "X-Role")
        assert "ask.example.com" in doors.hosts
        assert "https://ask.example.com" in doors.origins
        assert "http://ask.example.com" not in doors.origins


class TestOtherSites:
    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_they_lead_here_and_load_nothing(self, site: str) -> None:
        assert status({"sec-fetch-site": site, "sec-fetch-mode": "navigate"}, path="/run/42") == 200
        # So that they cannot measure which runs there are.
        for mode in ("no-cors", "cors", ""):
            for path in ("/run/42", "/static/page.js"):
                assert status({"sec-fetch-site": site, "sec-fetch-mode": mode}, path=path) == 403

    def test_the_page_loads_its_parts(self) -> None:
        assert status({"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}, path="/run/42?part=progress") == 204
        assert status({"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}) == 200


class TestForms:
    def test_a_form_of_the_page_is_taken(self) -> None:
        assert status(FORM, method="POST", path="/ask") == 303
        # A browser that is older, or sends it over plain HTTP.
        assert status({"origin": HERE}, method="POST", path="/ask") == 303
        assert status({"sec-fetch-site": "same-origin"}, method="POST", path="/ask") == 303

    def test_a_form_has_the_origin_of_the_name_that_it_is_sent_to(self) -> None:
        # Behind a proxy, loopback is the machine of the person, where something else may listen.
        doors = doors_of(PORT, "http://ask.example.com", [PROXY], "X-Role")
        for host, origin, answer in (
            ("ask.example.com", HERE, 403),
            ("ask.example.com", "http://ask.example.com", 303),
            (f"127.0.0.1:{PORT}", "http://ask.example.com", 403),
        ):
            fake = FakeDatabase(database().rows, roles={"alice"})
            browser = client(fake, doors, client=("10.0.0.2", 40000))
            headers = {"host": host, "origin": origin, "x-role": "alice"}
            assert browser.post("/ask", headers=headers, data={"question": "rental cars"}).status_code == answer

    @pytest.mark.parametrize(
        "headers",
        [
            {},
            {"origin": "null"},
            {"origin": "https://evil.example"},
            {"origin": "http://127.0.0.1:9999"},
            {"origin": "https://127.0.0.1:8713"},
            {"origin": HERE, "sec-fetch-site": "cross-site"},
            {"origin": HERE, "sec-fetch-site": "same-site"},
            {"origin": HERE, "sec-fetch-site": "none"},
            {"origin": "https://evil.example", "sec-fetch-site": "same-origin"},
        ],
    )
    @pytest.mark.parametrize("path", ["/ask", "/estimate", "/run/42/cancel", "/run/42/feedback"])
    def test_a_form_of_another_site_stores_nothing(self, headers: dict[str, str], path: str) -> None:
        fake = database()
        answer = client(fake).post(path, headers=headers, data={"question": "rental cars"})
        assert answer.status_code == 403
        assert fake.sent == []

    def test_only_forms_are_read(self) -> None:
        browser = client(database())
        assert browser.post("/ask", headers=FORM, json={"question": "rental cars"}).status_code == 415
        assert browser.post("/ask", headers=FORM, data={"question": "x" * 600_000}).status_code == 413

    @pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
    def test_other_methods_are_refused(self, method: str) -> None:
        assert client(database()).request(method, "/").status_code == 405


class TestRoles:
    """Behind a proxy, each person has a role."""

    @staticmethod
    def ask(headers: Any, fake: FakeDatabase | None = None, host: str = "10.0.0.2") -> int:
        doors = doors_of(PORT, None, [PROXY], "X-Role")
        fake = fake or FakeDatabase(database().rows, roles={"alice", "bob"})
        return client(fake, doors, client=(host, 40000)).get("/", headers=headers).status_code

    def test_the_role_of_the_header_asks(self) -> None:
        fake = FakeDatabase(database().rows, roles={"alice", "bob"})
        assert self.ask({"x-role": "bob"}, fake) == 200
        assert {role for role, *_ in fake.sent} == {"bob"}

    def test_a_header_that_is_missing_or_doubled_names_no_one(self) -> None:
        assert self.ask({}) == 401
        assert self.ask({"x-role": ""}) == 401
        assert self.ask([("x-role", "alice"), ("x-role", "bob")]) == 400
        assert self.ask([("X-Role", "alice"), ("x-role", "alice")]) == 400
        assert self.ask({"x-role": "alice, bob"}) == 403
        assert self.ask({"x_role": "alice"}) == 401
        scope = {
            "method": "GET",
            "client": ("10.0.0.2", 1),
            "headers": [(b"host", b"localhost:8713"), (b"x-role", b"\xff")],
        }
        with pytest.raises(Refused):
            check(scope, doors_of(PORT, None, [PROXY], "X-Role"))

    def test_a_name_is_not_made_another_by_taking_spaces_off(self) -> None:
        # Who may choose a name could else choose one that looks like another's.
        for space in ("\u00a0", "\u3000", "\u2028", "\x85"):
            assert self.ask([("x-role", f"alice{space}".encode())]) == 403

    def test_a_request_with_two_lengths_is_the_last_of_its_connection(self) -> None:
        headers = {"x-role": "alice", "transfer-encoding": "chunked", "content-length": "0"}
        doors = doors_of(PORT, None, [PROXY], "X-Role")
        fake = FakeDatabase(database().rows, roles={"alice"})
        answer = client(fake, doors, client=("10.0.0.2", 40000)).get("/", headers=headers)
        assert answer.status_code == 400
        assert answer.headers["connection"] == "close"
        assert fake.sent == []

    @pytest.mark.parametrize("host", ["10.0.0.3", "127.0.0.1", "::1", "testclient", "::ffff:10.0.0.3"])
    def test_only_the_proxy_is_answered(self, host: str) -> None:
        headers = {"x-role": "alice", "x-forwarded-for": "10.0.0.2", "forwarded": "for=10.0.0.2"}
        assert self.ask(headers, host=host) == 403

    def test_a_proxy_of_version_4_on_a_socket_of_version_6_is_known(self) -> None:
        assert self.ask({"x-role": "alice"}, host="::ffff:10.0.0.2") == 200

    def test_without_a_proxy_the_header_means_nothing(self) -> None:
        fake = database()
        assert client(fake).get("/", headers={"x-role": "bob"}).status_code == 200
        assert {role for role, *_ in fake.sent} == {None}


class TestOtherUsersOfTheMachine:
    # Number, local and remote address, state, queues, timer, retransmits, user.
    MINE = ("1:", "0100007F:2209", "0100007F:9C40", "01", "0", "0", "0", "0")

    def test_they_are_refused(self) -> None:
        doors = Doors(frozenset({"127.0.0.1:8713"}), frozenset(), is_own_user=lambda _host, _port: False)
        assert client(database(), doors).get("/").status_code == 403

    @pytest.mark.parametrize(
        ("state", "user", "is_owned"),
        # A connection that was closed belongs to root, whoever opened it.
        [("01", "0", True), ("01", "65534", False), ("06", "0", False), ("05", "0", False)],
    )
    def test_a_connection_has_the_user_who_opened_it(self, state: str, user: str, is_owned: bool) -> None:
        theirs = ["2:", "0100007F:9C40", "0100007F:2209", state, "0", "0", "0", user]
        assert _is_owned([self.MINE, theirs], ":9C40", ":2209") is is_owned

    def test_a_connection_that_is_gone_has_none(self) -> None:
        assert not _is_owned([self.MINE], ":9C40", ":2209")

    def test_a_connection_that_was_reset_has_none(self) -> None:
        # Both ends are off the list, but what was sent before is still read. Our socket goes on listening.
        listening = ["0:", "0100007F:2209", "00000000:0000", "0A", "0", "0", "0", "0"]
        assert not _is_owned([listening], ":9C40", ":2209")
        assert not is_own_user("", 0, 8713)

    def test_a_system_that_lists_no_connections_lets_all_in(self) -> None:
        assert _is_owned([], ":9C40", ":2209")


@pytest.mark.parametrize("path", ["/", "/run/42", "/static/page.js", "/nothing", "/run/x"])
def test_every_answer_is_protected(path: str) -> None:
    headers = client(database()).get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    # With no-referrer, a browser would send our own forms with the origin null.
    assert headers["referrer-policy"] == "same-origin"
    if not path.startswith("/static"):
        assert headers["cache-control"] == "no-store" or headers["content-type"].startswith("text/plain")
