"""Scripts about estimates, and what they give. The docstrings are those of the client's methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from pgclarify.client.records import record
from pgclarify.client.scripts import Script, Session, Statement, listed, timed, to_json


@dataclass(frozen=True, slots=True)
class Estimate:
    """What questions would take of the language model.

    Attributes:
        run_id: The run that looked; None if all questions have been answered, and nobody had to.
        questions: How many were given.
        distinct_questions: How many different ones.
        answered: How many of these would be served from an earlier run, with no call.
        sampled: How many of the others were looked at; if not all of them, the figures are scaled up from these.
        calls: About how many calls would be made and paid for.
        calls_at_most: No more than that many, but for replies that do not fit and are asked for once more.
        reused_calls: About how many further calls need not be made: their replies are paid for.
        prompt_tokens: About how many input tokens the calls have.
        completion_tokens: About how many output tokens they have.
        cost_usd: About what they cost in US dollars; None if the model has no price.
        model: The model that would be asked; None if nobody had to look.
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
    """Ask what clarify_many or submit_many of questions would take. No language model is called.

        expected = client.estimate(["rental cars", "deductible"])
        print(expected.calls, expected.reused_calls, expected.cost_usd)

    Args:
        questions: At least one; each 1 to 10,000 characters.
        corpus: Its name; None means the client's, then the server's (`pgclarify.corpus`, or the only one).
        top_k: Passages to judge, 1 to 1000.
        timeout: Seconds to wait; None means without end.
        options: As of clarify; and sample, how many different questions are looked at, at most (200).

    Raises:
        InputError: If a question, top_k, the timeout or an option cannot be used.
        NotFound: If there is no such corpus.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up.
        RunFailed: If the questions could not be embedded, or a model is wanted that the worker does not have.
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


def estimation(session: Session, /, run_id: int) -> Script[Estimate]:
    """Read what estimate came to.

    Args:
        run_id: From start, or any run of estimate that you may see.

    Returns:
        As estimate.

    Raises:
        NotFound: If there is no such run, or none that you may see.
        NotReady: If it is not over, or of another operation.
        RunFailed: If it failed or was cancelled.
    """
    (row,) = yield Statement("client_estimation", {"run_id": run_id})
    return record(Estimate, row)
