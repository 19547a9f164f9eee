"""A model that reads the first sentence with an amount of dollars, and a corpus for one test."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import psycopg

from tests.openai_server import Chat, Reply, by_rules
from tests.workers import wait_until_searchable

_AMOUNT = re.compile(r"[^\n.]*?(\$\d+)[^.]*\.")


def by_amounts(chat: Chat) -> Reply:
    """Read that the deductible of a thing is an amount; a passage without an amount answers nothing."""
    passage = chat.passage
    if chat.purpose != "verdict" or passage is None:
        return by_rules(chat)
    found = _AMOUNT.search(passage)
    reading = (
        {"interpretation": None, "answer": None, "quote": None}
        if found is None
        else {
            "interpretation": f"What is {found[0].strip().partition(' is ')[0].lower()}?",
            "answer": found[1],
            "quote": found[0].strip(),
        }
    )
    return Reply(json.dumps(reading))


def make_corpus(connection: psycopg.Connection[Any], name: str, documents: Sequence[dict[str, Any]]) -> None:
    """Make a corpus that all may search, and wait until it is. documents: parameters of add_document."""
    connection.execute('select pgclarify.create_corpus(%s, options => \'{"reader": "pgclarify_reader"}\')', [name])
    with connection.transaction():
        for document in documents:
            connection.execute(
                "select pgclarify.add_document(%(corpus)s, %(id)s, %(content)s, %(title)s, metadata => %(metadata)s,"
                " readers => %(readers)s, dated => %(dated)s)",
                {
                    "corpus": name, "title": None, "readers": None, "dated": None,
                    **document, "metadata": json.dumps(document.get("metadata", {})),
                },
            )  # fmt: skip
    wait_until_searchable(connection, name)
