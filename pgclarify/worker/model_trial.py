"""Makes the trial of the worker's language model, once for all workers of that model, while it does its other work."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from datetime import timedelta
from typing import Final

from pgclarify.data.runs import Tally
from pgclarify.data.vocabulary import Purpose
from pgclarify.database.ledger import LedgerTables
from pgclarify.database.pool import fetch, fetch_value
from pgclarify.database.runs import Runs
from pgclarify.errors import CompletionError, DatabaseError
from pgclarify.operations.model_trial.trial import try_model
from pgclarify.prompts.versions import version_of, with_effort
from pgclarify.worker.language_models import LanguageModels

_logger = logging.getLogger(__name__)

# An endpoint may be down for some minutes, and a budget may be raised.
_PAUSE: Final = timedelta(minutes=10)


class ModelTrial:
    """The trial of one model at one endpoint.

    Args:
        runs: The worker's connections, and the ledger of its calls.
        models: The models of the worker.
    """

    def __init__(self, runs: Runs, models: LanguageModels) -> None:
        self._runs = runs
        self._models = models

    async def enter(self) -> None:
        """Note which model this worker has, so that its trial counts for runs. Without a language model, do nothing."""
        if self._models.chat is not None and self._models.endpoint is not None:
            await fetch(
                self._runs.pool,
                "enter_model_trial",
                worker_id=self._runs.worker_id,
                endpoint=self._models.endpoint,
                model=self._models.chat.model,
                prompt_version=with_effort(version_of(Purpose.JOINT_VERDICTS), self._models.reasoning_effort),
            )

    async def carry_on(self) -> None:
        """Make the trial, unless it is over, another worker makes it, or it has failed a short time ago.

        Raises:
            DatabaseError: If the server refuses.
        """
        chat, endpoint, pool, worker_id = (
            self._models.chat,
            self._models.endpoint,
            self._runs.pool,
            self._runs.worker_id,
        )
        if chat is None or endpoint is None or not await fetch_value(pool, "claim_model_trial", worker_id=worker_id):
            return
        _logger.info("trying how many passages %s reads in one call", chat.model)
        tally = Tally()
        try:
            passages_per_call, counted = await try_model(LedgerTables(self._runs, None), chat, endpoint, tally)
        except DatabaseError:
            raise
        except Exception as error:
            reason = error.message if isinstance(error, CompletionError) else "it has failed"
            await fetch(pool, "postpone_model_trial", worker_id=worker_id, error=reason, pause=_PAUSE, **_used(tally))
            if not isinstance(error, CompletionError):
                raise
            _logger.warning("%s reads one passage a call, because its trial has failed: %s", chat.model, reason)
            return
        used = _used(tally)
        await fetch(
            pool,
            "end_model_trial",
            worker_id=worker_id,
            passages_per_call=passages_per_call,
            measured=json.dumps([asdict(one) for one in counted]),
            **used,
        )
        _logger.info(
            "passages that %s reads in one call: %d (trial of %d calls)", chat.model, passages_per_call, used["calls"]
        )


def _used(tally: Tally) -> dict[str, int]:
    """Return what a trial has used, with the replies that an earlier attempt at it paid for."""
    return {
        "calls": tally.calls + tally.reused_calls,
        "prompt_tokens": tally.prompt_tokens + tally.reused_prompt_tokens,
        "completion_tokens": tally.completion_tokens + tally.reused_completion_tokens,
    }
