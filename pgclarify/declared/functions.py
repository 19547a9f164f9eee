"""All public functions, and the rows that they return."""

from __future__ import annotations

from typing import Final

from pgclarify.declared.clarify import CLARIFY_MANY
from pgclarify.declared.corpora import CORPORA, DOCUMENTS, TABLES
from pgclarify.declared.feedback import FEEDBACK
from pgclarify.declared.forms import Rows
from pgclarify.declared.operations import OPERATIONS
from pgclarify.declared.rules_and_budgets import RULES_AND_BUDGETS
from pgclarify.declared.runs import RUNS
from pgclarify.declared.search import NEIGHBORS

FUNCTIONS: Final = (
    *(operation.function for operation in OPERATIONS.values()),
    CLARIFY_MANY,
    NEIGHBORS,
    *RUNS,
    FEEDBACK,
    *CORPORA,
    *DOCUMENTS,
    *TABLES,
    *RULES_AND_BUDGETS,
)
"""In the order of the file that creates them."""
ROW_TYPES: Final = tuple(
    dict.fromkeys(one.returns for one in FUNCTIONS if isinstance(one.returns, Rows) and not one.returns.is_view)
)
RESULT_VIEWS: Final = tuple(dict.fromkeys(one.view for one in OPERATIONS.values() if isinstance(one.view, Rows)))
