"""Addresses of TCP: their notation, whether they belong to this machine, and where one is stored."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgclarify.embedded import Address, access, listening
from pgclarify.errors import ConfigurationError, InputError


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:5433", "127.0.0.1", 5433),
        ("localhost:1", "127.0.0.1", 1),
        ("0.0.0.0:65535", "0.0.0.0", 65535),  # noqa: S104
        ("[::1]:5433", "::1", 5433),
        ("[0:0::0]:5433", "::", 5433),
    ],
)
def test_address_is_a_host_and_a_port(text: str, host: str, port: int) -> None:
    address = Address.parse(text)
    assert (address.host, address.port) == (host, port)
    assert Address.parse(str(address)) == address


@pytest.mark.parametrize(
    "text",
    [
        "5433",
        "127.0.0.1",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "127.0.0.1:+1",
        "127.0.0.1:٣٣٣٣",
        "::1:5433",
        "[127.0.0.1]:5433",
        "db.example:5433",
        "127.0.0.1 -c x=y:5433",
    ],
)
def test_a_text_that_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        Address.parse(text)


@pytest.mark.parametrize(
    ("text", "is_local"),
    [
        ("127.0.0.1:1", True),
        ("127.9.9.9:1", True),
        ("[::1]:1", True),
        ("0.0.0.0:1", False),
        ("[::]:1", False),
        ("192.0.2.1:1", False),
    ],
)
def test_an_address_tells_who_can_reach_it(text: str, is_local: bool) -> None:
    assert Address.parse(text).is_local is is_local


@pytest.mark.parametrize(("text", "networks"), [("127.0.0.1:1", {"0.0.0.0/0"}), ("[::1]:1", {"::/0"})])
def test_passwords_open_the_family_that_was_asked_for(text: str, networks: set[str]) -> None:
    rules = access.rules(Address.parse(text))
    assert set(re.findall(r"^host\s.*?(\S+)\s+scram-sha-256$", rules, re.M)) == networks


@pytest.mark.parametrize("address", [None, Address("127.0.0.1", 1)])
def test_no_rule_trusts_anybody(address: Address | None) -> None:
    methods = {line.split()[3 if line.startswith("local") else 4] for line in access.rules(address).splitlines()[1:]}
    assert methods <= {"peer", "scram-sha-256", "reject"}


def test_people_are_known_by_name() -> None:
    assert access.people({0, 2**31}).splitlines()[1:] == ['pgclarify  "root"  postgres']


def test_a_stored_address_is_found_again(tmp_path: Path) -> None:
    address = Address.parse("[::1]:5433")
    assert listening.kept(tmp_path) is None
    listening.keep(tmp_path, address)
    assert listening.kept(tmp_path) == address
    listening.keep(tmp_path, None)
    listening.keep(tmp_path, None)
    assert listening.kept(tmp_path) is None


@pytest.mark.parametrize("content", [b"somewhere\n", b"\xff\xfe"])
def test_a_stored_address_that_is_broken_is_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "listen").write_bytes(content)
    with pytest.raises(ConfigurationError):
        listening.kept(tmp_path)
