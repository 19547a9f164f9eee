"""Renders templates: single files without references to anything outside, and those of the page where people ask."""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pgclarify import __version__
from pgclarify.client.remarks import NOT_CURRENT, day
from pgclarify.data.counting import counted
from pgclarify.language.foreign_text import sanitize
from pgclarify.reports import formats


def render(template: str, *, title: str, written_at: datetime, **values: object) -> str:
    """Render a page.

    All text in values is untrusted data. It is escaped, and characters that act without a tag (control characters,
    those that reorder text) are spelled out. Style and script are parts of the package and are inlined. The page's
    policy allows only these two, by their hashes: no connection, image, font, frame or form.

    Args:
        template: A file in the folder templates.
        title: The title of the browser's tab.
        written_at: When the data was read.
        values: The variables of the template.
    """
    style, script = static_file("page.css"), static_file("page.js")
    return (
        environment()
        .get_template(template)
        .render(
            title=title,
            written_at=written_at.astimezone(UTC),
            version=__version__,
            page=None,
            policy="; ".join(
                (
                    "default-src 'none'",
                    f"style-src 'sha256-{_digest(style)}'",
                    f"script-src 'sha256-{_digest(script)}'",
                    "base-uri 'none'",
                    "form-action 'none'",
                )
            ),
            style=Markup(style),  # noqa: S704
            script=Markup(script),  # noqa: S704
            **values,
        )
    )


@cache
def environment() -> Environment:
    """Return the templates. All text that they show is escaped and sanitized.

    Those of parts of a run know by `page` where they are: None in a file.
    """
    environment = Environment(
        loader=PackageLoader("pgclarify.reports"),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name in ("capitalized", "count", "dollars", "figure", "moment", "seconds", "setting", "settings", "shortened"):
        environment.filters[name] = getattr(formats, name)
    environment.filters |= {"counted": counted, "day": day, "web_link": formats.web_link}
    environment.globals["not_current"] = NOT_CURRENT
    return environment


@cache
def static_file(name: str) -> str:
    """Return a file of the folder static."""
    return files("pgclarify.reports").joinpath("static", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def shown(value: object) -> object:
    """Prepare a value for the template: empty for None; text is sanitized."""
    if value is None:
        return ""
    if isinstance(value, str) and not isinstance(value, Markup):
        return sanitize(value, kept="\n\t")
    return value
