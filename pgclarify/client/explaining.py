"""The script of explain. Its docstring is that of the client's method."""

from __future__ import annotations

from typing import Literal

from pgclarify.client.scripts import Script, Session, Statement, to_json


def explain(
    session: Session, /, run_id: int, *, detail: Literal["passages", "batches", "stages"] = "passages"
) -> Script[list[str]]:
    """Explain what a run did: where time and calls were spent, how each passage was found, why the run stopped.

        for line in client.explain(17):
            print(line)

    Args:
        run_id: Any run that you may see, even if it is not over.
        detail: The depth of the tree.

    Returns:
        Lines for a fixed-width font. Texts of corpora, models and users are sanitized in them.

    Raises:
        InputError: If there is no such detail.
        NotFound: If the run does not exist, or you may not see it.
    """
    rows = yield Statement("client_explain", {"run_id": run_id, "options": to_json({"detail": detail}, "an option")})
    return [row["line"] for row in rows]
