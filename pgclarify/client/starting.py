"""The script of start. Its docstring is that of the client's method."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from typing import Any, Final

from pgclarify.client import asking, conversing, detecting, estimating, investigating, listing
from pgclarify.client.scripts import Script, Session, Statement, to_json
from pgclarify.errors import InputError

_WAITING: Final[Mapping[str, Callable[..., Generator[Any, Any, Any]]]] = {
    script.__name__: script
    for script in (
        asking.clarify,
        asking.consolidate,
        asking.search,
        investigating.investigate,
        detecting.detect_ambiguity,
        detecting.detect_ambiguity_many,
        detecting.rewrite,
        conversing.clarifying_questions,
        conversing.reply,
        listing.list_answers,
        estimating.estimate,
    )
}
"""Each operation's script that waits."""


def start(session: Session, operation: str, /, *arguments: object, **named: object) -> Script[int]:
    """Start an operation without waiting. Read its rows later, with wait and the method for its results.

    The run is part of the connection's transaction: workers see it once that is committed. If no transaction is open,
    it is committed at once.

        run_id = client.start("list_answers", "Who plays in it?", corpus="films", max_answers=5)
        client.wait([run_id], timeout=None)
        for found in client.answers(run_id):
            print(found.answer)

    Args:
        operation: Name of the method that would wait: clarify, consolidate, search, investigate, detect_ambiguity,
            detect_ambiguity_many (up to 500 questions), rewrite, clarifying_questions, reply, list_answers or estimate.
        arguments: The arguments of that method.
        named: Its named arguments; pass timeout to wait instead.

    Returns:
        The run's id. Read its result with result, search_results, investigation, ambiguity, question_ambiguities,
        rewritten_question, proposed_questions, answers or estimation.

    Raises:
        InputError: If there is no such operation, or an argument cannot be used.
        NotFound: If there is no such corpus.
    """
    if operation not in _WAITING:
        raise InputError(
            "unknown operation", detail=f"It is {operation!r}.", hint=f"Pass one of: {', '.join(sorted(_WAITING))}."
        )
    if "timeout" in named:
        raise InputError("start takes no timeout", hint="Pass it to wait.")
    # The statement that the waiting method would send has the arguments.
    asked = next(_WAITING[operation](session, *arguments, **named))
    given = {name: value for name, value in asked.parameters.items() if name != "timeout"}
    options = json.loads(given["options"])
    options.pop("timeout", None)
    rows = yield Statement(
        "client_start",
        {"operation": operation, "arguments": to_json({**given, "options": options}, "an argument")},
    )
    return int(rows[0]["run_id"])
