"""Parameters that several functions have, as most of them have them."""

from __future__ import annotations

from typing import Final

from pgclarify.declared.forms import Parameter

QUESTION: Final = Parameter("question", "text", "1 to 10,000 characters")
CORPUS: Final = Parameter("corpus", "text", "its name; null means pgclarify.corpus, or the only one", "null")
TOP_K: Final = Parameter("top_k", "integer", "passages to judge, 1 to 1000", "20", json="integer", least=1, most=1000)
HISTORY: Final = Parameter(
    "history", "text[]", "earlier turns, oldest first, one element for each turn", "'{}'", json="array"
)
RUN: Final = Parameter("run_id", "bigint", json="integer", least=1, most=2**63 - 1)
FILTER: Final = Parameter(
    "filter",
    "jsonb",
    'only documents whose metadata fits, such as {"year": {">=": 2025}}; null means all',
    "null",
    json="object",
    since="0.3.0",
)
DOCUMENT_IDS: Final = Parameter(
    "document_ids",
    "text[]",
    "only these documents; null means all, an empty array none",
    "null",
    json="array",
    since="0.3.0",
)
FILTERS: Final = Parameter(
    "filters",
    "jsonb[]",
    "instead of filter, one for each question, null for none; equal questions with equal filters are asked once",
    "null",
    json="array",
    since="0.3.0",
)
# What limits a question to a part of its corpus.
PART: Final = (FILTER, DOCUMENT_IDS)
TIMEOUT: Final = Parameter("timeout", "interval", "how long to wait; null waits without limit", "'60s'")
