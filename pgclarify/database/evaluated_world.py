"""Reads corpora, workers, runs and the ledger for evaluations, as the role that evaluates, under row-level security."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, Final

from psycopg.rows import DictRow

from pgclarify.database.errors import translated
from pgclarify.database.evaluation_records import storable
from pgclarify.database.pool import Pool
from pgclarify.database.queries import queries
from pgclarify.errors import InputError, NotFound, PermissionDenied, PgclarifyError, SchemaMismatch
from pgclarify.evaluated import CorpusDescription, EvaluationPlan, ServingWorker, TokenAverages, Usage, VerdictAnswer
from pgclarify.model import Passage
from pgclarify.vocabulary import Outcome

# The same table is in docs/errors.md.
REFUSALS: Final[Mapping[str, type[PgclarifyError]]] = {
    "22": InputError,
    "42501": PermissionDenied,
    "42704": NotFound,
    "3F000": SchemaMismatch,
    "42P01": SchemaMismatch,
    "42703": SchemaMismatch,
    "42883": SchemaMismatch,
}
_MOST_NAMES: Final = 10


class EvaluatedWorld:
    """Reads what an evaluation needs before it begins and after each run, as the role of the pool.

    Args:
        pool: Connections of a role with the rights of pgclarify_reader.
    """

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def describe_corpus(self, name: str | None) -> CorpusDescription:
        """Find a corpus that the caller may search; None means the corpus of the session, or the only one.

        Raises:
            NotFound: If the caller can search no corpus of that name.
            InputError: If no name is given, and the number of corpora is not one.
            DatabaseError: If the server refuses.
        """
        rows = await self.fetch("eval_list_corpora")
        wanted = name if name is not None or not rows else rows[0]["named"]
        found = [row for row in rows if wanted is None or row["name"] == wanted]
        names = [row["name"] for row in rows]
        searchable = f"You can search: {', '.join(names[:_MOST_NAMES])}." if names else "You can search no corpus."
        if len(found) == 1:
            row = found[0]
            return CorpusDescription(
                row["corpus_id"], row["name"], row["revision"], row["embedding_model"], row["unlinked"]
            )
        if wanted is not None:
            near = get_close_matches(wanted, names, n=1)
            raise NotFound(
                f'corpus "{wanted}" does not exist',
                detail=searchable,
                hint=f'Did you mean "{near[0]}"?' if near else "Name one that exists, or load one: pgclarify load.",
            )
        raise InputError("no corpus is named", detail=searchable, hint="Name one, or load one: pgclarify load.")

    async def serving_workers(self) -> list[ServingWorker]:
        """Return provider, model and prompt version of the live workers that serve; equal ones once.

        Raises:
            DatabaseError: If the server refuses.
        """
        return [ServingWorker(**row) for row in await self.fetch("eval_list_serving_workers")]

    async def usage(self, run_ids: Sequence[int]) -> Mapping[int, Usage]:
        """Return the model usage of runs, whether they paid for it or not; only for runs that the caller may see.

        Raises:
            DatabaseError: If the server refuses.
        """
        return {row["run_id"]: read_usage(row) for row in await self.fetch("eval_list_usage", run_ids=list(run_ids))}

    async def verdict_answers(self, run_id: int) -> list[VerdictAnswer]:
        """Return the verdict on each candidate of a run, by rank.

        Raises:
            NotFound: If there is no such run, or the caller may not see it.
            DatabaseError: If the server refuses.
        """
        rows = await self.fetch("eval_list_verdicts", run_id=run_id)
        return [VerdictAnswer(**{**row, "outcome": Outcome(row["outcome"])}) for row in rows]

    async def rankings(self, run_id: int) -> dict[int | None, list[Passage]]:
        """Return the passages that a run retrieved, by rank, with their current contents.

        Passages that are gone, or that the caller may not read, are missing.

        Returns:
            For an investigation, the passages of each step, each once, by step in order; for other operations, all
            under None.

        Raises:
            DatabaseError: If the server refuses.
        """
        candidates = await self.fetch("eval_list_candidates", run_id=run_id)
        if not candidates:
            return {}
        keys = list(dict.fromkeys((row["document_id"], row["passage_id"]) for row in candidates))
        # The corpus is a parameter instead of a join, so that the plan has one partition only.
        rows = await self.fetch(
            "eval_read_passages",
            corpus_id=candidates[0]["corpus_id"],
            document_ids=[document_id for document_id, _ in keys],
            passage_ids=[passage_id for _, passage_id in keys],
        )
        there = {(row["document_id"], row["passage_id"]): Passage(**row) for row in rows}
        found: dict[int | None, dict[Passage, None]] = {}
        for row in candidates:
            of_step = found.setdefault(row["step_ordinal"], {})
            key = (row["document_id"], row["passage_id"])
            if key in there:
                of_step[there[key]] = None
        return {step: list(passages) for step, passages in found.items()}

    async def token_averages(self, model: str) -> Mapping[str, TokenAverages]:
        """Return the average tokens of calls of a model so far, by purpose, for all payers.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await self.fetch("eval_list_token_averages", model=model)
        return {
            row["purpose"]: TokenAverages(row["prompt_tokens"], row["completion_tokens"], row["calls"]) for row in rows
        }

    async def paid_verdicts(
        self, plan: EvaluationPlan, questions: Sequence[str], *, search: Mapping[str, str | None], top_k: int
    ) -> int:
        """Count the replies for exactly these questions that earlier runs left in the ledger.

        Only runs with the plan's model and prompts count, on its corpus at its revision, with the same search, because
        another search shows the model other passages. For each question at most top_k + 1 are counted: a verdict for
        each passage, and the relaxed question. A repeated question counts once.

        Args:
            plan: The plan of the evaluation.
            questions: Its questions.
            search: Its search, reranker and retrieval, as in column run.settings; None for absent ones.
            top_k: Most verdicts of a question.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await self.fetch(
            "eval_count_paid_verdicts",
            corpus_id=plan.corpus_id,
            corpus_revision=plan.corpus_revision,
            model=plan.model,
            prompt_version=plan.prompt_version,
            questions=[storable(question) for question in questions],
            top_k=top_k,
            search=search["search"],
            reranker=search["reranker"],
            retrieval=search["retrieval"],
        )
        return sum(row["replies"] for row in rows)

    async def fetch(self, name: str, /, **parameters: Any) -> list[DictRow]:  # noqa: ANN401 - whatever the statement has
        """Run a named statement in its own transaction and return its rows.

        Raises:
            DatabaseError: If the server refuses; or another PgclarifyError that REFUSALS has for the error.
        """
        with translated(REFUSALS):
            async with self.pool.connection() as connection:
                cursor = await connection.execute(queries[name], parameters)
                return await cursor.fetchall()


def read_usage(row: DictRow) -> Usage:
    """Read usage from a row that has its attributes as columns."""
    return Usage(**{field.name: row[field.name] for field in fields(Usage)})
