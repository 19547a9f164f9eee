"""Names that a model behind an endpoint must not have: by its name, the ledger recognizes the extractive provider."""

from __future__ import annotations

import re

from pgclarify.errors import PgclarifyError


def check_name(model: str, error: type[PgclarifyError], hint: str = "Rename the model at its endpoint.") -> None:
    """Raise an error if a name is reserved for the extractive provider, which is free and not limited by budgets.

    Users choose the names of rerankers and embedding models. SQL has the same rule in `is_reserved_at_endpoint`.

    Args:
        model: A name at an endpoint, without `endpoint:`.
        error: The error to raise.
        hint: What to do.
    """
    if re.fullmatch("extractive(-[0-9]+)?", model.strip()):
        raise error(
            f"a model behind an endpoint must not have the name {model}",
            detail="This name is reserved for the extractive provider, which costs nothing.",
            hint=hint,
        )
