"""Scripts about estimates, and what they give. The docstrings are those of the client's methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from pgclarify.client.records import record
from pgclarify.client.scripts import Script, Session, Statement, listed, timed, to_json


@dataclass(frozen=True, slots=True)
class Estimate:
    """What questions would cost.

    Attributes:
        run_id: The run that made the estimate; None if all questions have been answered, so that no run was needed.
        questions: How many questions were given.
        distinct_questions: How many of them are different.
        answered: How many of these an earlier run has answered, so that they need no call.
        sampled: How many of the others were examined. If not all were, the figures are scaled up from these.
        calls: About how many calls would be made and paid for.
        calls_at_most: The upper bound of calls, without those that are repeated because their reply was invalid.
        reused_calls: About how many further calls are needed whose replies are paid for already.
        prompt_tokens: About how many input tokens the calls have.
        completion_tokens: About how many output tokens they have.
        cost_usd: About what they cost in US dollars; None if the model has no price.
        model: The model that would be called; None if no run was needed.
    """

    run_id: int | None
    questions: int
    distinct_questions: int
    answered: int
    sampled: int
    calls: int
    calls_at_most: int
    reused_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Decimal | None
    model: str | None


def estimate(
    session: Session,
    /,
    questions: Sequence[str],
    *,
    corpus: str | None = None,
    top_k: int = 20,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[Estimate]:
    """Estimate what clarify_many or submit_many would cost for these questions. No language model is called.

        expected = client.estimate(["rental cars", "deductible"])
        print(expected.calls, expected.reused_calls, expected.cost_usd)

    Args:
        questions: At least one; each 1 to 10,000 characters.
        corpus: Its name; None means the client's, then the server's (`pgclarify.corpus`, or the only one).
        top_k: Passages to judge, 1 to 1000.
        timeout: Seconds to wait; None waits without limit.
        options: As in clarify; and sample, the most questions to examine (200).

    Raises:
        InputError: If a question, top_k, the timeout or an option cannot be used.
        NotFound: If there is no such corpus.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up.
        RunFailed: If the questions could not be embedded, or the worker does not have a model that is asked for.
    """
    (row,) = yield Statement(
        "client_estimate",
        {
            "questions": listed(questions),
            "corpus": corpus or session.corpus,
            "top_k": top_k,
            "options": to_json(timed(options, timeout), "an option"),
        },
    )
    return record(Estimate, row)
