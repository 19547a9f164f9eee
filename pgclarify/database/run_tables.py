"""The tables of one run."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import numpy as np

from pgclarify.data.candidates import Candidate
from pgclarify.data.citations import Result
from pgclarify.data.documents import Passage
from pgclarify.data.estimates import Prospect
from pgclarify.data.interpretations import Interpretation
from pgclarify.data.model_calls import Completion, CompletionKey, CompletionRequest
from pgclarify.data.runs import Run, Stage, as_ended
from pgclarify.data.verdicts import KnownSaying, Reading, Verdict
from pgclarify.data.vocabulary import Outcome, Refusal, RunStatus, StopCode
from pgclarify.database.ledger import LedgerTables, key_of_call
from pgclarify.database.runs import Runs
from pgclarify.database.vectors import vector_text
from pgclarify.errors import DatabaseBusy, RunLost

# How long the end of a run waits for replies that are being stored: sql/ledger/storing_replies.sql, await_replies.
_AWAITED_SECONDS = 1.0

# What table joint_verdict has of a reading.
_SAID = ("interpretation", "answer", "quote", "ordinal", "leans_on")


class RunTables(LedgerTables):
    """The tables of one run of a worker, with the ledger, which records which run paid for what.

    Attributes:
        has_noted: Set while verdicts are noted that are not stored.
        status: How this worker ended the run; None if it did not.
        code: The error code or stop code of that; empty if there is neither.
        may_lack_cost: Whether the run may have ended before its last replies were stored, so that `settle` is needed.
    """

    def __init__(self, runs: Runs, run: Run) -> None:
        super().__init__(runs, run.run_id, attempt=run.attempt)
        # By rank and reading: verdicts that are noted, and those that are being stored.
        self._noted: dict[tuple[int, int], dict[str, Any]] = {}
        self._recording: dict[tuple[int, int], dict[str, Any]] = {}
        self._with_copies: Sequence[Candidate] = ()
        self.has_noted = asyncio.Event()
        self.status: RunStatus | None = None
        self.code = ""
        self.may_lack_cost = False

    def note_sources(self, document_ids: Iterable[str]) -> None:
        """Note that later inputs of the run may repeat text of these documents, which earlier replies have read.

        Replies to later inputs are erased together with any of the documents, even when the run is gone.
        """
        self._sources.update(dict.fromkeys(document_ids))

    async def wait_for_batch(self, run: Run, requests: Sequence[CompletionRequest]) -> None:
        """Leave calls without a reply to a batch of the endpoint, if it has a batch API.

        A run waits for one batch only. When its calls are over, it starts again, finds the replies in the ledger, and
        makes the calls that the batch has not answered.

        Raises:
            RunLost: If the run waits in the queue from now on, or is no longer this worker's.
        """
        if self._runs.batch_body is None or not requests:
            return
        calls = self._calls(requests, [*map(self._runs.batch_body, requests)])
        if await self._runs.fetch_value(run, "wait_for_batch", calls=calls):
            raise RunLost(f"run {run.run_id} waits for a batch")

    def note_verdicts(self, verdicts: Sequence[Verdict]) -> None:
        """Have the verdicts on one candidate stored by the next `record_verdicts`, or when the run ends.

        Args:
            verdicts: One for each reading of its passage, or one without a reading. They replace earlier ones.
        """
        self._noted.update(((one.rank, one.reading_ordinal), _verdict_row(one)) for one in verdicts)
        self.has_noted.set()

    async def record_verdicts(self, run: Run) -> None:
        """Store the verdicts that were noted since the last call. Others see them while the run is not over.

        Raises:
            RunLost: If the run is no longer this worker's.
            DatabaseBusy: If a later attempt may succeed. The verdicts are still noted.
        """
        if self._noted:
            noted = self._recording = self._take_noted()
            try:
                await self._runs.fetch(run, "record_verdicts", verdicts=json.dumps([*noted.values()]))
            except DatabaseBusy:
                self._noted = noted | self._noted
                self.has_noted.set()
                raise
            finally:
                self._recording = {}

    def _take_noted(self) -> dict[tuple[int, int], dict[str, Any]]:
        # They are forgotten even if the database refuses them, because then the run must end without them.
        noted, self._noted = self._noted, {}
        self.has_noted.clear()
        return noted

    def note_copies(self, candidates: Sequence[Candidate]) -> None:
        """Have the copies of candidates stored when the run ends, as by `record_copies`."""
        self._with_copies = candidates

    async def record_results(self, run: Run, results: Sequence[Result]) -> None:
        """Store results of one kind with their citations, in order; those that are there already stay.

        They are durable when this returns, and visible to others while the run is not over. The candidates that they
        cite must be recorded already.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        if results:
            rows = json.dumps([_result_row(result) for result in results])
            await self._runs.fetch(run, "record_results", relation=results[0].relation, results=rows)

    async def verdicts(self, run: Run) -> list[tuple[Passage, Verdict]]:
        """The grounded verdicts of run.parent_run_id, copied into this run, each with its passage.

        The content of a passage that is gone is "".

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        rows = await self._runs.fetch(run, "copy_verdicts")
        return [
            (
                Passage(
                    row["document_id"],
                    row["passage_id"],
                    row["content"],
                    row["title"],
                    row["heading"],
                    dated=row["dated"],
                ),
                Verdict(
                    rank=row["rank"],
                    outcome=Outcome.GROUNDED,
                    interpretation=row["interpretation"],
                    answer=row["answer"],
                    quote=row["quote"],
                    start_char=row["start_char"],
                    end_char=row["end_char"],
                    vector=np.array(json.loads(row["vector"]), dtype=np.float32),
                    completion_id=row["completion_id"],
                    doubt_code=row["doubt_code"] and Refusal(row["doubt_code"]),
                    is_reused=True,
                    score=row["score"],
                    reading_ordinal=row["reading_ordinal"],
                ),
            )
            for row in rows
        ]

    async def known_completions(
        self, run: Run, keys: Sequence[CompletionKey], shown: Sequence[Sequence[str]]
    ) -> list[Completion | None]:
        """Look up inputs in the ledger without leasing them.

        Args:
            run: The run.
            keys: The inputs.
            shown: For each of them, the documents whose passages it shows.

        Returns:
            For each key the reply; None if there is none yet.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        if not keys:
            return []
        calls = [
            {**key_of_call(key), "document_ids": list(document_ids)}
            for key, document_ids in zip(keys, shown, strict=True)
        ]
        rows = await self._runs.fetch(run, "known_completions", calls=json.dumps(calls))
        known: list[Completion | None] = [None] * len(keys)
        for row in rows:
            place = row.pop("ordinal") - 1
            known[place] = Completion(**row)
        return known

    async def known_joint_verdicts(
        self, run: Run, request: CompletionRequest, hashes: Sequence[str]
    ) -> dict[int, KnownSaying]:
        """Look up what earlier replies about several passages say of each.

        Args:
            run: The run.
            request: Any such call: its purpose, model, parameters and prompt version count.
            hashes: For each passage, its `passage_hash`.

        Returns:
            By place in hashes, for those of which something is known that the role of the run may use.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        rows = await self._runs.fetch(
            run, "known_joint_verdicts", call=json.dumps(key_of_call(request.key)), passage_hashes=list(hashes)
        )
        return {
            row["ordinal"] - 1: KnownSaying(
                None
                if row["said"] is None
                else tuple(Reading(**one | {"leans_on": tuple(one["leans_on"])}) for one in row["said"]),
                row["completion_id"],
                Completion("", row["prompt_tokens"], row["completion_tokens"], row["latency_ms"] or 0.0),
                is_own=row["is_own"],
            )
            for row in rows
        }

    async def note_joint_verdicts(
        self, run: Run, completion_id: int, said: Mapping[str, Sequence[Reading] | None]
    ) -> None:
        """Note what a reply about several passages says of each.

        Args:
            run: The run.
            completion_id: The row of the reply.
            said: By `passage_hash`, as in `KnownSaying`.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        verdicts = [
            {
                "passage_hash": passage,
                "said": None
                if readings is None
                else [{name: getattr(one, name) for name in _SAID} for one in readings],
            }
            for passage, readings in said.items()
        ]
        await self._runs.fetch(run, "note_joint_verdicts", completion_id=completion_id, verdicts=json.dumps(verdicts))

    async def record_estimate(self, run: Run, prospect: Prospect) -> None:
        """Store the result of an estimate; it replaces an earlier one.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        await self._runs.fetch(run, "record_estimate", seen=json.dumps(asdict(prospect)))

    async def finish_run(
        self,
        run: Run,
        status: RunStatus,
        interpretations: Sequence[Interpretation],
        error: str | None,
        *,
        error_code: str | None = None,
        stages: Sequence[Stage] = (),
        stop_reason: str | None = None,
        stop_code: StopCode | None = None,
    ) -> None:
        """Write the interpretations, their citations, all that is noted and the end of the run, in one transaction.

        Replies of the run may be being stored meanwhile.

        Args:
            run: The run.
            status: How it ended.
            interpretations: In order.
            error: Why it failed; None unless it did.
            error_code: The SQLSTATE of that error, as by `pgclarify.errors.code_of`; for a partial run, the code of
                its failed calls, if there are any.
            stages: The stages, in order.
            stop_reason: Why it stopped early; None if it did not.
            stop_code: Why there is no result, or only a part of it, if the tables do not show it.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        status, stop_reason, stop_code = as_ended(status, stop_reason, stop_code, self.refusal)
        if self._storing:
            # The end is not sent before them, and the server waits for them, because the run costs what they cost.
            await self._runs.completions.begun()
        # As with verdicts that are noted.
        with_copies, self._with_copies = self._with_copies, ()
        began, storing = time.monotonic(), [*self._storing]
        stopped: str | None = await self._runs.fetch_value(
            run,
            "finish_run",
            status=status.value,
            error=error,
            error_code=error_code,
            budget_id=None if self.refusal is None else self.refusal.budget_id,
            # The end may overtake verdicts that are being stored. Then their statement fails, because the run is over.
            verdicts=json.dumps([*(self._recording | self._take_noted()).values()]),
            interpretations=json.dumps([asdict(interpretation) for interpretation in interpretations]),
            stages=json.dumps([asdict(stage) for stage in stages], default=datetime.isoformat),
            stop_reason=stop_reason,
            stop_code=None if stop_code is None else stop_code.value,
            replies=storing,
            copied_ranks=[candidate.rank for candidate in with_copies],
            copied_texts=[candidate.passage.content for candidate in with_copies],
        )
        self.may_lack_cost = bool(storing) and time.monotonic() - began >= _AWAITED_SECONDS
        # The alert about budgets must find the run also if other calls failed.
        self.status, self.code = status, (stopped if stopped == StopCode.BUDGET else error_code or stopped) or ""


def _verdict_row(verdict: Verdict) -> dict[str, Any]:
    return asdict(verdict) | {"vector": None if verdict.vector is None else vector_text(verdict.vector)}


def _result_row(result: Result) -> dict[str, Any]:
    """Return the columns of a result, with those of a proposed question among them."""
    row: dict[str, Any] = asdict(result)
    proposed: dict[str, Any] = row.pop("proposed", {})
    return proposed | row
