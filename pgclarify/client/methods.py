# Written by `make generated` from pgclarify/declared. Do not edit.
"""The methods of both clients that ask."""

from __future__ import annotations

from pgclarify.client import operations
from pgclarify.client.executing import AsyncExecutor, Executor, async_method, method


class Methods(Executor):
    """The methods of Client that ask."""

    clarify = method(operations.clarify)
    consolidate = method(operations.consolidate)
    search = method(operations.search)
    investigate = method(operations.investigate)
    detect_ambiguity = method(operations.detect_ambiguity)
    rewrite = method(operations.rewrite)
    clarifying_questions = method(operations.clarifying_questions)
    reply = method(operations.reply)
    list_answers = method(operations.list_answers)
    estimate = method(operations.estimate)
    clarify_many = method(operations.clarify_many)


class AsyncMethods(AsyncExecutor):
    """The methods of AsyncClient that ask."""

    clarify = async_method(operations.clarify)
    consolidate = async_method(operations.consolidate)
    search = async_method(operations.search)
    investigate = async_method(operations.investigate)
    detect_ambiguity = async_method(operations.detect_ambiguity)
    rewrite = async_method(operations.rewrite)
    clarifying_questions = async_method(operations.clarifying_questions)
    reply = async_method(operations.reply)
    list_answers = async_method(operations.list_answers)
    estimate = async_method(operations.estimate)
    clarify_many = async_method(operations.clarify_many)
