"""The code of a partial run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pgclarify.errors import (
    BudgetSpent,
    EmbeddingError,
    EndpointFailed,
    EndpointUnavailable,
    InvalidReply,
    PgclarifyError,
    PriceMissing,
    RequestRefused,
)
from pgclarify.operations.context import code_of_failures


@pytest.mark.parametrize(
    ("errors", "worst"),
    [
        ([], None),
        ([BudgetSpent, PriceMissing], None),
        ([BudgetSpent, InvalidReply], InvalidReply),
        ([InvalidReply, EmbeddingError, RequestRefused], InvalidReply),
        ([InvalidReply, RequestRefused, EndpointFailed], EndpointFailed),
        ([EndpointFailed, InvalidReply, EndpointUnavailable], EndpointUnavailable),
    ],
)
def test_an_outage_comes_first_and_a_budget_never(
    errors: Sequence[type[PgclarifyError]], worst: type[PgclarifyError] | None
) -> None:
    assert code_of_failures([error.sqlstate for error in errors]) == (None if worst is None else worst.sqlstate)
