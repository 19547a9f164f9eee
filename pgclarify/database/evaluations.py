"""The tables of evaluations, and what evaluations read of corpora and runs, as the role that evaluates."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any

import psycopg
from psycopg.rows import DictRow

from pgclarify.data.dialogue import TrainedVersion
from pgclarify.data.documents import Passage
from pgclarify.database.binary import reading_binary
from pgclarify.database.errors import CLIENT_REFUSALS, translated
from pgclarify.database.pool import Pool
from pgclarify.database.queries import call, queries
from pgclarify.errors import InputError, NotFound, NotReady
from pgclarify.language.foreign_text import storable


@dataclass(frozen=True, slots=True)
class Corpus:
    """The corpus of an evaluation; its revision is how often the documents that the caller can find have changed."""

    corpus_id: int
    name: str
    revision: int
    embedding_model: str


@dataclass(frozen=True, slots=True)
class Serving:
    """The provider and model of some of the workers that are alive and serve."""

    provider: str
    model: str
    prompt_version: str


@dataclass(frozen=True, slots=True)
class Plan:
    """One method with its options over one data set; see the columns of table eval_run."""

    name: str
    data_set: str
    data_set_hash: bytes
    corpus_id: int
    corpus_name: str
    method: str
    settings: Mapping[str, Any]
    conditions: Mapping[str, Any]
    planned_cases: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A stored evaluation; see the columns of table eval_run. figures is None until it is finished."""

    eval_run_id: int
    name: str
    data_set: str
    data_set_hash: bytes
    corpus_id: int | None
    corpus_name: str
    method: str
    settings: Mapping[str, Any]
    conditions: Mapping[str, Any]
    planned_cases: int
    done_cases: int
    figures: Mapping[str, Mapping[str, Any]] | None
    requested_by: str
    created_at: datetime
    finished_at: datetime | None
    is_own: bool


@dataclass(frozen=True, slots=True)
class EvaluatedCase:
    """A stored case; see the columns of table eval_case."""

    eval_run_id: int
    ordinal: int
    case_id: str
    question: str
    gold: Mapping[str, Any]
    output: Mapping[str, Any]
    run_id: int | None
    status: str
    error: str | None
    figures: Mapping[str, float]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RunUsage:
    """How a run ended, and its usage as if all replies had been paid for now."""

    status: str
    error: str | None
    error_code: str | None
    stop_code: str | None
    stop_reason: str | None
    calls: int
    tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Rated:
    """What somebody says of a reading, or which right answer is missing.

    Attributes:
        question: The question.
        history: What was said before it, oldest first.
        interpretation: The reading; None if the right answer is missing.
        stated: The answer of the reading, or the missing one.
        rating: As in column feedback.rating; None if the right answer is missing.
        document_ids: Documents that the reading cites, best first.
        is_of_part: Whether the question had a filter or named documents, which a case cannot have.
    """

    question: str
    history: Sequence[str]
    interpretation: str | None
    stated: str
    rating: str | None
    document_ids: Sequence[str]
    is_of_part: bool


class EvaluationTables:
    """Reads and writes evaluations, and reads their runs, as the role of the pool.

    Every method raises DatabaseError, or another PgclarifyError that CLIENT_REFUSALS has, if the server refuses.

    Args:
        pool: Connections of a role with the rights of pgclarify_user, or of pgclarify_reader to read only.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def corpus(self, name: str | None) -> Corpus:
        """Find a corpus that the caller may search; None means the corpus of the session, or the only one.

        Raises:
            NotFound: If the caller can search no corpus of that name.
            InputError: If no name is given, and the number of corpora is not one.
        """
        rows = await self._fetch("eval_list_corpora")
        wanted = name if name is not None or not rows else rows[0]["named"]
        found = [row for row in rows if wanted is None or row["name"] == wanted]
        names = [row["name"] for row in rows]
        searchable = f"You can search: {', '.join(names[:10])}." if names else "You can search no corpus."
        if len(found) == 1:
            return Corpus(**{one: found[0][one] for one in ("corpus_id", "name", "revision", "embedding_model")})
        if wanted is None:
            raise InputError("no corpus is named", detail=searchable, hint="Name one, or load one: pgclarify load.")
        near = get_close_matches(wanted, names, n=1)
        raise NotFound(
            f'corpus "{wanted}" does not exist',
            detail=searchable,
            hint=f'Did you mean "{near[0]}"?' if near else "Name one that exists, or load one: pgclarify load.",
        )

    async def workers(self) -> list[Serving]:
        """Return provider, model and prompt version of the live workers that serve; equal ones once."""
        return [Serving(**row) for row in await self._fetch("eval_list_serving_workers")]

    async def missing_documents(self, corpus: str, document_ids: Sequence[str]) -> list[str]:
        """Return those of these ids that are of no document in a corpus that the caller may read."""
        rows = await self._fetch("eval_list_missing_documents", corpus=corpus, document_ids=list(document_ids))
        return [row["id"] for row in rows]

    async def begin(self, plan: Plan) -> tuple[int, frozenset[int]]:
        """Begin an evaluation, or go on with the caller's latest unfinished one of the same cases and conditions.

        Returns:
            Its id, and the ordinals of the cases that are judged already.
        """
        columns = {name: getattr(plan, name) for name in Plan.__slots__}
        given = _json(columns | {"data_set_hash": f"\\x{plan.data_set_hash.hex()}"})
        (row,) = await self._fetch("begin_evaluation", plan=given)
        return row["eval_run_id"], frozenset(row["done"])

    async def record(self, eval_run_id: int, judged: Mapping[str, Any]) -> None:
        """Store a case in one short transaction; a stored case is not changed.

        Args:
            eval_run_id: The evaluation.
            judged: The columns of table eval_case. Characters that PostgreSQL cannot store are replaced.
        """
        await self._fetch("record_eval_case", eval_run_id=eval_run_id, judged=_json(judged))

    async def finish(self, eval_run_id: int, figures: Mapping[str, Mapping[str, Any]]) -> None:
        """Finish an evaluation that has all its cases.

        Raises:
            NotReady: If cases are missing, if it is finished, or if the caller may not write it.
        """
        (row,) = await self._fetch("finish_evaluation", eval_run_id=eval_run_id, figures=_json(figures))
        if not row["result"]:
            raise NotReady(
                f"evaluation {eval_run_id} cannot be finished",
                detail="Cases are missing, it is finished already, or it is not yours.",
                hint="See pgclarify eval list.",
            )

    async def remove(self, eval_run_id: int) -> bool:
        """Remove an evaluation of the caller with its cases; return whether there was one."""
        (row,) = await self._fetch("remove_evaluation", eval_run_id=eval_run_id)
        return bool(row["result"])

    async def evaluations(self) -> list[Evaluation]:
        """The evaluations that the caller may see, newest first."""
        rows = await self._fetch("eval_list")
        return [Evaluation(**{name: row[name] for name in Evaluation.__slots__}) for row in rows]

    async def find(self, reference: str) -> Evaluation:
        """Find an evaluation by its id or name; of a name, the caller's own first, then finished ones, then the latest.

        Raises:
            NotFound: If there is none that the caller may see.
        """
        every = await self.evaluations()
        found = [one for one in every if str(one.eval_run_id) == reference] or sorted(
            (one for one in every if one.name == reference),
            key=lambda one: (not one.is_own, one.finished_at is None, -one.eval_run_id),
        )
        if not found:
            raise NotFound(
                f'evaluation "{reference}" does not exist',
                detail="No evaluation has that id or name, or you may not see it.",
                hint="List the evaluations with: pgclarify eval list.",
            )
        return found[0]

    async def cases(self, eval_run_id: int) -> list[EvaluatedCase]:
        """The judged cases of an evaluation, by ordinal."""
        return [EvaluatedCase(**row) for row in await self._fetch("evaluation_cases", eval_run_id=eval_run_id)]

    async def feedback(self, corpus: str | None) -> list[Rated]:
        """What people say of readings of a corpus, or of all, as far as the caller may see it, oldest first."""
        return [Rated(**row) for row in await self._fetch("eval_list_feedback", corpus=corpus)]

    async def usage(self, run_id: int) -> RunUsage:
        """How a run ended, and its calls, tokens and cost.

        Raises:
            NotFound: If there is no such run, or the caller may not see it.
        """
        rows = await self._fetch("eval_usage_of_run", run_id=run_id)
        if not rows:
            raise NotFound(f"run {run_id} does not exist", detail="Or you may not see it.")
        return RunUsage(**rows[0])

    async def price(self, model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return what tokens cost in US dollars; None if the model has no price."""
        (row,) = await self._fetch(
            "eval_price_of_tokens", model=model, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens
        )
        cost: float | None = row["cost_usd"]
        return cost

    async def retrieved(self, run_id: int) -> list[Passage]:
        """Return the passages that a run retrieved, by rank, each once, with their current contents.

        Passages that are gone, or that the caller may not read, are missing.
        """
        candidates = await self._fetch("eval_list_candidates", run_id=run_id)
        if not candidates:
            return []
        keys = list(dict.fromkeys((row["document_id"], row["passage_id"]) for row in candidates))
        # The corpus is a parameter instead of a join, so that the plan has one partition only.
        rows = await self._fetch(
            "eval_read_passages",
            corpus_id=candidates[0]["corpus_id"],
            document_ids=[document_id for document_id, _ in keys],
            passage_ids=[passage_id for _, passage_id in keys],
        )
        there = {(row["document_id"], row["passage_id"]): Passage(**row) for row in rows}
        return [there[key] for key in keys if key in there]

    async def _fetch(self, name: str, /, **parameters: Any) -> list[DictRow]:  # noqa: ANN401 - as the statement has
        """Send the statement of that name, or else call the internal function, which also gets the caller."""
        statement = queries[name].encode() if name in queries else call(name, tuple(parameters), names_caller=True)
        with translated(CLIENT_REFUSALS):
            async with self._pool.connection() as connection:
                cursor = await connection.execute(statement, parameters)
                return await cursor.fetchall()


def _json(value: object) -> str:
    return json.dumps(_storable(value), allow_nan=False, ensure_ascii=False, sort_keys=True)


def _storable(value: Any) -> Any:  # noqa: ANN401 - whatever JSON has
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {_storable(key): _storable(held) for key, held in value.items()}
    return [_storable(held) for held in value] if isinstance(value, list | tuple) else value


def classifier_in_use(connection: psycopg.Connection[DictRow], corpus: str) -> TrainedVersion | None:
    """Return the trained classifier of ambiguity that judges a corpus's questions; None if it is the shipped one."""
    with reading_binary(connection.cursor()) as cursor:
        row = cursor.execute(queries["eval_classifier_in_use"], {"corpus": corpus}).fetchone()
    return None if row is None else TrainedVersion(**row)


def add_trained_classifier(
    connection: psycopg.Connection[DictRow],
    corpus: str,
    trained: Mapping[str, object],
    weights: Sequence[float],
    *,
    is_used: bool,
) -> int:
    """Store a trained classifier of ambiguity for a corpus; return its version."""
    parameters = {"corpus": corpus, "trained": json.dumps(trained), "weights": weights, "is_used": is_used}
    (row,) = connection.execute(queries["eval_add_trained_classifier"], parameters).fetchall()
    return int(row["version"])
