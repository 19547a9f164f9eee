"""Names that no model behind an endpoint may have: the ledger knows the extractive provider by its name."""

from __future__ import annotations

import re


def is_reserved(model: str) -> bool:
    """Tell whether a name belongs to the extractive provider, which is free and which no budget limits.

    Users choose the names of rerankers and embedding models. SQL has the same rule in `is_reserved_at_endpoint`.

    Args:
        model: A name at an endpoint, without `endpoint:`.
    """
    return re.fullmatch("extractive(-[0-9]+)?", model.strip()) is not None
