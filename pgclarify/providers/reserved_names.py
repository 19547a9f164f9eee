"""Names that a model behind an endpoint must not have: by its name, the ledger recognizes the extractive provider."""

from __future__ import annotations

import re


def is_reserved(model: str) -> bool:
    """Tell whether a name is reserved for the extractive provider, which is free and not limited by budgets.

    Users choose the names of rerankers and embedding models. SQL has the same rule in `is_reserved_at_endpoint`.

    Args:
        model: A name at an endpoint, without `endpoint:`.
    """
    return re.fullmatch("extractive(-[0-9]+)?", model.strip()) is not None
