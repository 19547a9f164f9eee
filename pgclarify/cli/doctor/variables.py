"""The check of variables of the environment."""

from __future__ import annotations

from pathlib import Path

from pgclarify.cli.doctor.check import Check, ok, warning
from pgclarify.config import ENV_FILE, foreign_variables, unknown_variables


def check_variables() -> list[Check]:
    """Find variables that look like settings but are not: a misspelt one would have no effect, and no error.

    And keys or addresses that are here by chance, because the folder is that of another program, with a file .env.
    """
    unknown = [
        warning(
            "settings",
            f"{name} is no setting, and has no effect",
            "See docs/settings.md." if likest is None else f"Did you mean {likest}?",
        )
        for name, likest in unknown_variables().items()
    ]
    if foreign := foreign_variables():
        unknown.append(
            warning(
                "settings",
                f"{Path(ENV_FILE).resolve()} sets {', '.join(foreign)}, and nothing that is only for pgclarify",
                "If it is another program's file, work in another folder. If not, set PGCLARIFY_LLM_MODEL there, too.",
            )
        )
    return unknown or [ok("settings", "all variables of pgclarify are known")]
