"""The tables of evaluations, written and read as the role that evaluates, under row-level security."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Final

import psycopg
from psycopg.rows import DictRow

from pgclarify.database.errors import translated
from pgclarify.database.evaluated_world import REFUSALS, EvaluatedWorld, read_usage
from pgclarify.database.evaluation_records import case_json, plan_json, storable
from pgclarify.database.pool import Pool
from pgclarify.database.queries import queries
from pgclarify.errors import NotFound, NotReady
from pgclarify.evaluated import Begun, Case, EvaluatedCase, Evaluation, EvaluationPlan, Output, Summary
from pgclarify.vocabulary import RunStatus

_LARGEST_ID: Final = 2**63 - 1
# How many cases are fetched at once, each with its method's output.
_CASES_AT_ONCE: Final = 100


class EvaluationTables(EvaluatedWorld):
    """Reads and writes evaluations, and reads their runs, as the role of the pool.

    A connection of its own holds each running evaluation until it is finished or left. Its session has an advisory
    lock, so that the evaluation of a process that died is free at once.

    Args:
        pool: Connections of a role with the rights of pgclarify_user, or of pgclarify_reader to read only.
    """

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        self._held: dict[int, psycopg.AsyncConnection[DictRow]] = {}

    async def begin(self, plan: EvaluationPlan) -> Begun:
        """Begin an evaluation, or continue the caller's latest unfinished one of this kind.

        An evaluation of another kind (see EvaluationPlan.kind) is not continued, because its cases would not be
        comparable. Beginning again is cheap, because paid replies are in the ledger. It also begins again if the caller
        may not know the corpus's revision, and so cannot tell whether it is the same. The name may differ: the
        evaluation then gets the new one.

        It is locked until `finish` or `leave`, so that two processes never execute the same evaluation.

        Raises:
            NotReady: If another process is executing an evaluation of this kind for the same role.
            PermissionDenied: If the role may not evaluate.
            DatabaseError: If the server refuses.
        """
        with translated(REFUSALS):
            connection = await self.pool.getconn()
            try:
                begun = await _begin(connection, plan)
            except BaseException:
                await self._give_back(connection)
                raise
        self._held[begun.eval_run_id] = connection
        return begun

    async def leave(self, eval_run_id: int) -> None:
        """Release an evaluation, finished or not; does nothing if it is not held here."""
        if eval_run_id not in self._held:
            return
        await self._give_back(self._held.pop(eval_run_id))

    async def _give_back(self, connection: psycopg.AsyncConnection[DictRow]) -> None:
        try:
            # Not left to the end of the session, which the server may notice late.
            await connection.execute(queries["eval_unlock"])
        except BaseException as error:
            # Then the lock ends with the session.
            await connection.close()
            if not isinstance(error, psycopg.Error):
                raise
        finally:
            await self.pool.putconn(connection)

    async def record(
        self,
        eval_run_id: int,
        ordinal: int,
        case: Case,
        output: Output,
        values: Mapping[str, float],
        supported: Sequence[bool] | None,
    ) -> None:
        """Store a case with its metrics, in one short transaction; a stored case is not changed.

        Characters that PostgreSQL cannot store are replaced by U+FFFD.

        Args:
            eval_run_id: The evaluation.
            ordinal: Its place in the data set, from 1.
            case: The case.
            output: The method's output.
            values: Its metrics by name.
            supported: Whether each reading is grounded; None if that was not judged.

        Raises:
            ValueError: If a number is not finite, or the numbers of judgements and readings differ.
            DatabaseError: If the server refuses.
        """
        for metric, value in values.items():
            if not math.isfinite(value):
                raise ValueError(f"metric {metric} of case {ordinal} is {value}")
        await self.fetch(
            "eval_record", eval_run_id=eval_run_id, cases=case_json(ordinal, case, output, values, supported)
        )

    async def done(self, plan: EvaluationPlan) -> int:
        """Count the judged cases of the evaluation that `begin` would continue; 0 if it would begin a new one.

        Raises:
            DatabaseError: If the server refuses.
        """
        found = await self.fetch("eval_list_unfinished", data_set_hash=plan.data_set_hash)
        eval_run_id = _of_its_kind(plan, found)
        if eval_run_id is None:
            return 0
        (row,) = await self.fetch("eval_count_done", eval_run_ids=[eval_run_id])
        done: int = row["done"]
        return done

    async def finished(self, plan: EvaluationPlan) -> int | None:
        """Find the latest finished evaluation of the same kind that the caller made; None if there is none.

        Raises:
            DatabaseError: If the server refuses.
        """
        return _of_its_kind(plan, await self.fetch("eval_list_finished", data_set_hash=plan.data_set_hash))

    async def count_missing_documents(self, corpus_id: int, document_ids: Sequence[str]) -> int:
        """Count the ids that belong to no document of the corpus that the caller may see.

        Raises:
            DatabaseError: If the server refuses.
        """
        (row,) = await self.fetch(
            "eval_count_missing_documents", corpus_id=corpus_id, document_ids=[storable(one) for one in document_ids]
        )
        missing: int = row["missing"]
        return missing

    async def coverage(self, eval_run_id: int) -> tuple[float, int]:
        """Return the sum of answer_coverage over the judged cases, and the number of cases that have it.

        Raises:
            DatabaseError: If the server refuses.
        """
        (row,) = await self.fetch("eval_get_coverage", eval_run_id=eval_run_id)
        return row["total"], row["cases"]

    async def values(self, eval_run_id: int) -> list[tuple[int, Mapping[str, float]]]:
        """Return the metrics of each judged case, by ordinal.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await self.fetch("eval_list_values", eval_run_id=eval_run_id)
        return [(row["ordinal"], _values(row)) for row in rows]

    async def finish(
        self, eval_run_id: int, summaries: Mapping[str, Summary], strata: Mapping[str, Mapping[str, Summary]]
    ) -> None:
        """Finish an evaluation that has all its cases, store the metrics of all together, and release it.

        Args:
            eval_run_id: The evaluation.
            summaries: The metrics of all cases together, by name.
            strata: The metrics of each stratum, by stratum and name.

        Raises:
            ValueError: If a number is not finite.
            NotReady: If cases are missing, if it is finished, or if the caller may not write it.
            DatabaseError: If the server refuses.
        """
        rows = [
            {"stratum": stratum, "metric": metric} | asdict(summary)
            for stratum, several in ((None, summaries), *strata.items())
            for metric, summary in several.items()
        ]
        for row in rows:
            if not all(math.isfinite(row[number] or 0) for number in ("value", "low", "high")):
                raise ValueError(f"metric {row['metric']} is {row}")
        given = json.dumps(rows)
        (ended,) = await self.fetch("eval_finish", eval_run_id=eval_run_id, metrics=given)
        if not ended["is_finished"]:
            raise NotReady(
                f"evaluation {eval_run_id} cannot be finished",
                detail="Cases are missing, it is finished already, or it is not yours.",
                hint="See pgclarify eval list.",
            )
        await self.leave(eval_run_id)

    async def find(self, reference: str) -> Evaluation:
        """Find an evaluation by its id, or by its name.

        Of a name, the caller's own come first, then finished ones, then the latest.

        Raises:
            NotFound: If there is none that the caller may see.
            DatabaseError: If the server refuses.
        """
        number = int(reference) if re.fullmatch("[0-9]{1,19}", reference) else None
        eval_run_id = number if number is not None and number <= _LARGEST_ID else None
        rows = await self.fetch("eval_find", eval_run_id=eval_run_id, name=storable(reference))
        if not rows:
            raise NotFound(
                f'evaluation "{reference}" does not exist',
                detail="No evaluation has that id or name, or you may not see it.",
                hint="List the evaluations with: pgclarify eval list.",
            )
        return _evaluation(rows[0])

    async def newer_unfinished(self, eval_run_id: int) -> int | None:
        """Return the latest unfinished evaluation of the same name and role that began later; None if there is none.

        Raises:
            DatabaseError: If the server refuses.
        """
        (row,) = await self.fetch("eval_find_newer_unfinished", eval_run_id=eval_run_id)
        newer: int | None = row["eval_run_id"]
        return newer

    async def evaluations(self, limit: int) -> list[Evaluation]:
        """The latest evaluations that the caller may see, newest first.

        Raises:
            DatabaseError: If the server refuses.
        """
        return [_evaluation(row) for row in await self.fetch("eval_list", limit=limit)]

    async def summaries(self, eval_run_ids: Sequence[int]) -> Mapping[int, Mapping[str, Summary]]:
        """Return the metrics of all cases together, by evaluation and name; an evaluation without any is missing.

        Raises:
            DatabaseError: If the server refuses.
        """
        found: dict[int, dict[str, Summary]] = {eval_run_id: {} for eval_run_id in eval_run_ids}
        for row in await self.fetch("eval_list_summaries", eval_run_ids=list(eval_run_ids)):
            found[row["eval_run_id"]][row["metric"]] = _summary(row)
        return found

    async def strata(self, eval_run_ids: Sequence[int]) -> Mapping[int, Mapping[str, Mapping[str, Summary]]]:
        """The metrics of the cases of each stratum together, by evaluation, stratum and name.

        An evaluation that is not finished has none.

        Raises:
            DatabaseError: If the server refuses.
        """
        found: dict[int, dict[str, dict[str, Summary]]] = {eval_run_id: {} for eval_run_id in eval_run_ids}
        for row in await self.fetch("eval_list_strata", eval_run_ids=list(eval_run_ids)):
            found[row["eval_run_id"]].setdefault(row["stratum"], {})[row["metric"]] = _summary(row)
        return found

    async def answers_by_call(self, eval_run_id: int) -> list[tuple[Mapping[str, Any], Sequence[Any]]]:
        """Return for each case, by ordinal, the known answers, and the calls and tokens before each found answer.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await self.fetch("eval_list_answers_by_call", eval_run_id=eval_run_id)
        return [(row["gold"], row["steps"] or ()) for row in rows]

    async def cases(
        self, eval_run_id: int, ordinals: Sequence[int] | None = None, *, has_output: bool = True
    ) -> list[EvaluatedCase]:
        """The cases of an evaluation, by ordinal.

        Args:
            eval_run_id: The evaluation.
            ordinals: The cases; None means all.
            has_output: Whether to read the method's output, which is most of a case; without it, it is empty.

        Raises:
            DatabaseError: If the server refuses.
        """
        found: list[EvaluatedCase] = []
        wanted = {
            "eval_run_id": eval_run_id,
            "ordinals": None if ordinals is None else list(ordinals),
            "has_output": has_output,
        }
        with translated(REFUSALS):
            # A server-side cursor, so that the rows are not in memory twice.
            async with (
                self.pool.connection() as connection,
                connection.transaction(),
                connection.cursor(name="eval_cases") as cursor,
            ):
                await cursor.execute(queries["eval_list_cases"], wanted)
                while rows := await cursor.fetchmany(_CASES_AT_ONCE):
                    found += [_evaluated_case(row) for row in rows]
        return found


async def _begin(connection: psycopg.AsyncConnection[DictRow], plan: EvaluationPlan) -> Begun:
    (row,) = await (await connection.execute(queries["eval_lock"], {"kind": plan.kind})).fetchall()
    if not row["is_locked"]:
        raise NotReady(
            "this evaluation is already running",
            detail="Another process evaluates the same cases with the same method and settings, as the same role.",
            hint="Wait until it is finished, or stop it; the same command then continues it.",
        )
    hashed = {"data_set_hash": plan.data_set_hash}
    unfinished = await (await connection.execute(queries["eval_list_unfinished"], hashed)).fetchall()
    if (eval_run_id := _of_its_kind(plan, unfinished)) is not None:
        resumed = {"eval_run_id": eval_run_id, "name": plan.name}
        (row,) = await (await connection.execute(queries["eval_resume"], resumed)).fetchall()
        return Begun(eval_run_id, frozenset(row["done"]), is_resumed=True)
    begun = {"plan": plan_json(plan)}
    (row,) = await (await connection.execute(queries["eval_begin"], begun)).fetchall()
    return Begun(row["eval_run_id"], frozenset(), is_resumed=False)


def _of_its_kind(plan: EvaluationPlan, found: Sequence[DictRow]) -> int | None:
    """Return the first of these evaluations that is of the same kind; None if there is none."""
    return next((row["eval_run_id"] for row in found if _plan(row).kind == plan.kind), None)


def _plan(row: DictRow) -> EvaluationPlan:
    columns = {field.name: row[field.name] for field in fields(EvaluationPlan)}
    return EvaluationPlan(**{**columns, "corpus_id": row["corpus_id"] or 0})


def _evaluation(row: DictRow) -> Evaluation:
    return Evaluation(
        eval_run_id=row["eval_run_id"],
        plan=_plan(row),
        requested_by=row["requested_by"],
        created_at=row["created_at"],
        finished_at=row["finished_at"],
        done_cases=row["done_cases"],
    )


def _evaluated_case(row: DictRow) -> EvaluatedCase:
    return EvaluatedCase(
        ordinal=row["ordinal"],
        case_id=row["case_id"],
        question=row["question"],
        gold=row["gold"],
        output=row["output"],
        run_id=row["run_id"],
        status=RunStatus(row["status"]),
        error=row["error"],
        usage=read_usage(row),
        seconds=row["seconds"],
        values=_values(row),
    )


def _summary(row: DictRow) -> Summary:
    return Summary(row["value"], row["low"], row["high"], row["cases"])


def _values(row: DictRow) -> dict[str, float]:
    return dict(zip(row["metrics"], row["values"], strict=True))
