"""Who may reach the page: the checks of each request before anything else sees it, and the headers of each response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
OwnUser: TypeAlias = Callable[[str, int], bool]
Network: TypeAlias = IPv4Network | IPv6Network

MOST_BYTES: Final = 500_000
"""Most bytes of a form."""
_FORM: Final = b"application/x-www-form-urlencoded"
_HEADERS: Final = (
    # Style, script and icon are files of ours. Nothing else is loaded, from nowhere, and forms go to us only.
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self';"
        b" form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # With no-referrer, browsers would also leave the origin out of our own forms.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


@dataclass(frozen=True, slots=True)
class Doors:
    """From where, and under which name, the page may be reached.

    Attributes:
        hosts: Host headers that are accepted, in lower case.
        origins: Origins whose forms are accepted: a scheme and one of these hosts.
        is_own_user: Tells whether a connection from this address and port belongs to the user of this process.
        proxies: Addresses that may send requests; None for all, which is safe only if the page listens on loopback.
        role_header: The header with the role of the person, in lower case; None if all ask as the login.
    """

    hosts: frozenset[str]
    origins: frozenset[str]
    is_own_user: OwnUser
    proxies: Sequence[Network] | None = None
    role_header: str | None = None


class Refused(Exception):
    """A request that is not answered.

    Args:
        status: The status of HTTP.
        why: One line for the person.
    """

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


def doors_of(
    port: int,
    page_url: str | None,
    proxies: Sequence[Network] | None = None,
    role_header: str | None = None,
    *,
    is_own_user: OwnUser = lambda _host, _port: True,
) -> Doors:
    """Return the names of loopback, and that of the page's address if it is behind a proxy.

    Args:
        port: The port that it listens on.
        page_url: The address that people use. Without a proxy it opens nothing.
        proxies: As in Doors.
        role_header: As in Doors, in any case.
        is_own_user: As in Doors.
    """
    names = ("127.0.0.1", "localhost", "[::1]")
    hosts = {f"{name}:{port}" for name in names} | (set(names) if port == 80 else set())
    origins = {f"http://{host}" for host in hosts}
    if proxies is not None and page_url:
        parts = urlsplit(page_url.lower())
        hosts.add(parts.netloc)
        origins.add(f"{parts.scheme}://{parts.netloc}")
    header = None if role_header is None else role_header.lower()
    return Doors(frozenset(hosts), frozenset(origins), is_own_user, proxies, header)


def check(scope: Scope, doors: Doors) -> str | None:
    """Check a request, and return the role of the person; None means the login's own.

    Raises:
        Refused: If it is not to be answered.
    """
    host, port = scope.get("client") or ("", 0)
    if doors.proxies is not None and not _is_among(host, doors.proxies):
        raise Refused(403, "This address is not the proxy of the page.")
    if doors.proxies is None and not doors.is_own_user(host, port):
        raise Refused(403, "The page is for the user of this machine who started it.")
    # Without this, a name of another site that leads to 127.0.0.1 could read the page: DNS rebinding.
    name = _only(scope, "host").lower()
    if name not in doors.hosts:
        raise Refused(421, "The page has another name: see what pgclarify ui printed.")
    if _only(scope, "transfer-encoding") and _only(scope, "content-length"):
        # The proxy may see one request where we see two, of which the second one names its role itself.
        raise Refused(400, "The request has two lengths.")
    if scope["method"] not in ("GET", "HEAD", "POST"):
        raise Refused(405, "The page answers GET and POST.")
    if scope["method"] == "POST":
        _check_form(scope, doors, name)
    elif _only(scope, "sec-fetch-site") in ("cross-site", "same-site") and _only(scope, "sec-fetch-mode") != "navigate":
        # It could not read the answer, but measure how long it takes. People follow links to runs from anywhere.
        raise Refused(403, "Another site asked for a part of the page.")
    if doors.role_header is None:
        return None
    role = _only(scope, doors.role_header)
    if not role:
        raise Refused(401, f"The proxy says nobody: it has to send your role as {doors.role_header}.")
    return role


def _check_form(scope: Scope, doors: Doors, name: str) -> None:
    """Refuse forms of other sites. Browsers say where a form is from, and no page can change that."""
    site, origin = _only(scope, "sec-fetch-site"), _only(scope, "origin").lower()
    # Another of our own names is another site: behind a proxy, loopback is the machine of the person.
    is_known = origin in doors.origins and origin.partition("://")[2] == name
    if site not in ("", "same-origin") or (origin and not is_known) or not (site or origin):
        raise Refused(403, "The form was sent by another site.")
    if _only(scope, "content-type").partition(";")[0].strip().lower().encode() != _FORM:
        raise Refused(415, "The page takes forms only.")


def _only(scope: Scope, name: str) -> str:
    """Return the value of a header; empty if there is none.

    Raises:
        Refused: If it is there twice, because the proxy may have read the other one; or if it is no UTF-8.
    """
    found = [value for key, value in scope["headers"] if key.lower() == name.encode()]
    if len(found) > 1:
        raise Refused(400, f"The header {name} was sent twice.")
    try:
        # HTTP has these around a value. Other spaces belong to a name.
        return found[0].decode().strip(" \t") if found else ""
    except UnicodeDecodeError:
        raise Refused(400, f"The header {name} is no UTF-8.") from None


def _is_among(host: str, networks: Sequence[Network]) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return any((mapped or address) in network for network in networks)


class Gate:
    """Checks each request, passes on what may enter, and adds the headers that protect each response.

    Args:
        app: What answers. It finds the role as `scope["state"]["role"]`.
        doors: The checks.
    """

    def __init__(self, app: App, doors: Doors) -> None:
        self._app = app
        self._doors = doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, as ASGI has it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        left = MOST_BYTES
        has_begun = False

        async def receiving() -> MutableMapping[str, Any]:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise Refused(413, "The form is too long.")
            return message

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal has_begun
            has_begun = True
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
            await send(message)

        try:
            scope.setdefault("state", {})["role"] = check(scope, self._doors)
            await self._app(scope, receiving, sending)
        except Refused as refused:
            if has_begun:
                raise
            body = f"{refused.why}\n".encode()
            kinds = [
                (b"content-type", b"text/plain; charset=utf-8"),
                (b"content-length", str(len(body)).encode()),
                # What follows is not read.
                (b"connection", b"close"),
            ]
            await sending({"type": "http.response.start", "status": refused.status, "headers": kinds})
            await sending({"type": "http.response.body", "body": body if scope["method"] != "HEAD" else b""})
