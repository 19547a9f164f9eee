"""The script of explain. Its docstring is that of the client's method."""

from __future__ import annotations

from typing import Literal

from pgclarify.client.scripts import Script, Session, Statement, to_json


def explain(
    session: Session, /, run_id: int, *, detail: Literal["passages", "batches", "stages"] = "passages"
) -> Script[list[str]]:
    """Tell what a run did: where time and calls went, how each passage was reached, why it stopped.

        for line in client.explain(17):
            print(line)

    Args:
        run_id: Any run that you may see, also one that goes on.
        detail: How far down the tree goes.

    Returns:
        Lines, to be printed in a font of fixed width. What corpora, models and users wrote is sanitized in them.

    Raises:
        InputError: If there is no such detail.
        NotFound: If there is no such run, or none that you may see.
    """
    rows = yield Statement("client_explain", {"run_id": run_id, "options": to_json({"detail": detail}, "an option")})
    return [row["line"] for row in rows]
