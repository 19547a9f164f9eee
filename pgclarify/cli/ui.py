"""The command ui."""

from __future__ import annotations

import asyncio
import os
import sys
import webbrowser
from contextlib import suppress
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated

import typer

from pgclarify.cli import connection, listening, terminal
from pgclarify.embedded import Address
from pgclarify.errors import ConfigurationError

UI_EXAMPLES = terminal.examples(
    "pgclarify ui",
    "pgclarify ui --listen 127.0.0.1:9000 --no-browser",
    "pgclarify ui --listen 10.0.0.5:8713 --role-header X-Forwarded-User --behind 10.0.0.2",
)


def ui(
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="[HOST:]PORT", help="Where; 127.0.0.1:8713 if left out, or another port if that is taken."
        ),
    ] = None,
    role_header: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Each person asks as the role that this header of a proxy names."),
    ] = None,
    behind: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="Address of that proxy, or its network; no other address is answered."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", metavar="", help="Open no browser.")] = False,
) -> None:
    """Ask on a page, see each quote in its document, and say what is right."""
    proxies = None if not behind else [_network(one) for one in behind]
    if (role_header is None) is not (proxies is None):
        raise typer.BadParameter(
            "--role-header and --behind belong together: a header is trusted only from its proxy",
            param_hint="--behind" if proxies is None else "--role-header",
        )
    address = None if listen is None else listening.parse_place(listen, "--listen")
    if address is not None and not address.is_local and proxies is None:
        raise typer.BadParameter(
            "without --role-header, the page is for this machine only, because it asks as its own login",
            param_hint="--listen",
        )
    dsn = connection.checked_dsn(connection.load_settings())
    try:
        from pgclarify.page import serving
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "the page needs a package that is not installed",
            detail=f"It is {error.name}.",
            hint="Run: pip install 'pgclarify[ui]'",
        ) from None
    opened = serving.listen(address)
    host, port = opened.getsockname()[:2]
    url = f"http://{Address(host, port)}"

    def tell(login: str) -> None:
        who = f"as role {login}" if role_header is None else f"for the roles that {role_header} names"
        terminal.results().print(f"The page is at {url}, {who}. Ctrl+C stops it.", soft_wrap=True)
        sys.stdout.flush()
        if not no_browser and proxies is None and _has_desktop():
            webbrowser.open(url)

    with opened, suppress(KeyboardInterrupt):
        asyncio.run(serving.serve(dsn, opened, tell, role_header=role_header, proxies=proxies))


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no IP address or network", param_hint="--behind") from None


def _has_desktop() -> bool:
    """Whether there is a browser with windows: one of the terminal would take the place of the command."""
    return sys.stdout.isatty() and (
        sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    )
