"""The check of variables of the environment."""

from __future__ import annotations

from pgclarify.cli.doctor.check import Check, ok, warning
from pgclarify.config import unknown_variables


def check_variables() -> list[Check]:
    """Find variables that look like settings but are not. A misspelt one would have no effect, and no error."""
    return [
        warning(
            "settings",
            f"{name} is no setting, and has no effect",
            "See docs/settings.md." if likest is None else f"Did you mean {likest}?",
        )
        for name, likest in unknown_variables().items()
    ] or [ok("settings", "all variables of pgclarify are known")]
