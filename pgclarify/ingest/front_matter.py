"""Front matter: what a text says about itself in YAML or TOML, before it begins."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final

_YAML = re.compile(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\+\+\+[ \t]*\r?\n(.*?)^\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_YAML_KEY: Final = re.compile(r"^[\w.-]+[ \t]*:", re.MULTILINE)


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Split a text into its front matter and the rest.

    Returns:
        The front matter as JSON, dates as ISO texts; empty if there is none, or if it is broken. And the text after it.
    """
    if found := _TOML.match(text):
        return _as_json(_toml(found[1])), text[found.end() :]
    # A text may also begin with a thematic break.
    if (found := _YAML.match(text)) and _YAML_KEY.search(found[1]):
        return _as_json(_yaml(found[1])), text[found.end() :]
    return {}, text


def _toml(source: str) -> object:
    try:
        return tomllib.loads(source)
    except tomllib.TOMLDecodeError:
        return None


def _yaml(source: str) -> object:
    # Slow to import.
    import yaml

    try:
        return yaml.safe_load(source)
    except (yaml.YAMLError, ValueError):
        return None


def _as_json(found: object) -> dict[str, Any]:
    if not isinstance(found, Mapping):
        return {}
    # A key of YAML may be a number or a date. A number may be infinite, and then the document cannot be stored.
    named = {str(key): value for key, value in found.items()}
    try:
        return dict(json.loads(json.dumps(named, default=_plain)))
    except (TypeError, ValueError):
        return {}


def _plain(value: object) -> object:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
