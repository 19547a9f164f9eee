"""Formats of numbers, times and foreign text, for pages and terminals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from urllib.parse import urlsplit

NOTHING = "–"  # noqa: RUF001 (an en dash is what tables show where there is nothing)


def count(value: float | None) -> str:
    """A whole number with thousands separators."""
    return NOTHING if value is None else f"{value:,.0f}"


def dollars(amount: Decimal) -> str:
    """An amount of US dollars: in cents if it is at least a dollar, else with two significant digits."""
    if amount == 0 or amount >= 1:
        return f"${amount:,.2f}"
    # The first digit that is not zero, and one more.
    places = max(2, 1 - amount.adjusted())
    return f"${amount:,.{places}f}"


def figure(value: float | None) -> str:
    """A number that may be a share: three significant digits."""
    if value is None:
        return NOTHING
    size = abs(value)
    if size == 0 or size >= 1000:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}"


def seconds(value: float | None) -> str:
    """A duration, given in seconds."""
    if value is None:
        return NOTHING
    if value < 1:
        return f"{value * 1000:,.0f} ms"
    if value < 120:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes:,} min {rest} s"


def moment(value: datetime | None) -> str:
    """A time, to the second, with its zone."""
    if value is None:
        return NOTHING
    return value.strftime("%Y-%m-%d %H:%M:%S %Z").strip()


def shortened(text: str, most: int) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    beginning = line[: most - 1].rstrip()
    return f"{beginning}…"


def capitalized(message: str) -> str:
    """Capitalize the first word, unless it is our own name, or no word, such as an address or pg_config."""
    first, _, _ = message.partition(" ")
    if first == "pgclarify" or not first.isalpha():
        return message
    return message[0].upper() + message[1:]


def web_link(uri: str | None) -> str | None:
    """Return a URI if a browser can follow it safely: http and https alone. Else None."""
    if uri is None or not uri.isprintable() or " " in uri:
        return None
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    return uri if parts.scheme in ("http", "https") and parts.netloc else None


def setting(value: object) -> str:
    """The value of a setting: text unchanged, everything else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def settings(values: Mapping[str, object]) -> str:
    """Settings on one line."""
    pairs = [f"{name}={setting(value)}" for name, value in sorted(values.items())]
    return ", ".join(pairs)
