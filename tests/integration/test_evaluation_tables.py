"""Evaluations are started, stored, resumed, finished and found."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from pgclarify.errors import DatabaseError, NotFound, NotReady, PermissionDenied
from pgclarify.evaluated import Case, CitedPassage, Output, PredictedInterpretation, Summary
from pgclarify.model import Passage
from pgclarify.vocabulary import RunStatus
from tests.integration.by_hand import Connection, MakeRole, scalar
from tests.integration.evaluating import CASE, OUTPUT, load, plan, tables_of


@pytest.fixture(autouse=True)
def corpus(connection: Connection) -> None:
    """The data set of all evaluations here."""
    load(connection)


class TestBegin:
    async def test_an_evaluation_is_kept_as_it_was_planned(self, database: str, make_role: MakeRole) -> None:
        role = make_role("pgclarify_user")
        async with tables_of(database, role) as tables:
            begun = await tables.begin(plan())
            found = await tables.find("night")
            await tables.leave(begun.eval_run_id)

        assert (begun.done, begun.is_resumed) == (frozenset(), False)
        assert (found.eval_run_id, found.plan, found.requested_by) == (begun.eval_run_id, plan(), role)
        assert (found.finished_at, found.done_cases) == (None, 0)

    async def test_what_was_cut_off_is_resumed_under_its_new_name(self, database: str, make_role: MakeRole) -> None:
        role = make_role("pgclarify_user")
        async with tables_of(database, role) as tables:
            first = await tables.begin(plan(planned_cases=3))
            for ordinal in (1, 3):
                await tables.record(first.eval_run_id, ordinal, CASE, OUTPUT, {}, None)
            # The server may notice the end of a session late.
            await tables.leave(first.eval_run_id)
        async with tables_of(database, role) as tables:
            # Keys in another order are the same settings.
            settings = {"options": {"search": "lexical"}, "top_k": 5}
            again = await tables.begin(plan(planned_cases=3, name="day", data_set="other.jsonl", settings=settings))
            found = await tables.find("day")
            await tables.leave(again.eval_run_id)

        assert (again.eval_run_id, again.done, again.is_resumed) == (first.eval_run_id, frozenset({1, 3}), True)
        assert (found.eval_run_id, found.done_cases) == (first.eval_run_id, 2)

    @pytest.mark.parametrize(
        "change",
        [
            {"data_set_hash": bytes(31) + b"x"},
            {"corpus_id": 2},
            {"corpus_revision": 4},
            {"embedding_model": "other"},
            {"method": "rac"},
            {"settings": {"top_k": 6, "options": {"search": "lexical"}}},
            {"provider": "extractive"},
            {"model": "other"},
            {"prompt_version": "other"},
            {"judge": "other"},
            {"judge_version": "2"},
            {"version": "0.8"},
            {"planned_cases": 2},
        ],
        ids=lambda change: next(iter(change)),
    )
    async def test_what_is_of_another_kind_is_begun_anew(
        self, connection: Connection, database: str, change: dict[str, Any]
    ) -> None:
        load(connection, "other")
        async with tables_of(database) as tables:
            first = await tables.begin(plan())
            # It does not conflict, even while the first one still runs.
            second = await tables.begin(plan(**change))

            assert second.eval_run_id != first.eval_run_id
            assert not second.is_resumed
            await tables.leave(first.eval_run_id)
            assert (await tables.begin(plan())).eval_run_id == first.eval_run_id

    async def test_what_is_finished_is_begun_anew(self, database: str) -> None:
        async with tables_of(database) as tables:
            first = await tables.begin(plan())
            await tables.record(first.eval_run_id, 1, CASE, OUTPUT, {}, None)
            await tables.finish(first.eval_run_id, {}, {})

            second = await tables.begin(plan())

            assert (second.is_resumed, second.done) == (False, frozenset())

    async def test_the_latest_of_several_is_resumed(self, connection: Connection, database: str) -> None:
        async with tables_of(database) as tables:
            first = await tables.begin(plan())
            await tables.leave(first.eval_run_id)
            connection.execute(
                "insert into pgclarify_private.eval_run overriding system value"
                " select (jsonb_populate_record(eval_run, '{\"eval_run_id\": 77}')).* from pgclarify_private.eval_run"
            )

            assert (await tables.begin(plan())).eval_run_id == 77

    async def test_each_role_has_its_own(self, database: str, make_role: MakeRole) -> None:
        alice, bob = make_role("pgclarify_user", name="alice"), make_role("pgclarify_user", name="bob")
        async with tables_of(database, alice) as hers, tables_of(database, bob) as his, tables_of(database) as any_ones:
            begun = [await tables.begin(plan()) for tables in (hers, his, any_ones)]

            assert not any(one.is_resumed for one in begun)
            for tables, one in zip((hers, his, any_ones), begun, strict=True):
                await tables.leave(one.eval_run_id)
            # A superuser sees all of them, and resumes its own.
            assert (await any_ones.begin(plan())).eval_run_id == begun[2].eval_run_id

    async def test_who_evaluates_is_the_role_that_was_set(self, database: str, make_role: MakeRole) -> None:
        team = make_role("pgclarify_user", name="team")
        members = [make_role(team), make_role(team)]
        async with (
            tables_of(database, members[0], f"-c role={team}") as one,
            tables_of(database, members[1], f"-c role={team}") as other,
        ):
            begun = await one.begin(plan())
            with pytest.raises(NotReady):
                await other.begin(plan())
            await one.leave(begun.eval_run_id)

            assert (await other.begin(plan())).eval_run_id == begun.eval_run_id

    @pytest.mark.wording
    async def test_two_at_once_do_not_write_one(self, connection: Connection, database: str) -> None:
        async with tables_of(database) as one, tables_of(database) as other:
            outcomes = await asyncio.gather(
                *(tables.begin(plan()) for tables in (one, other) * 3), return_exceptions=True
            )

            refused = [outcome for outcome in outcomes if isinstance(outcome, NotReady)]
            assert len(refused) == 5
            assert "already" in str(refused[0])
            assert scalar(connection, "select count(*) from pgclarify.eval_run") == 1

    async def test_what_a_dead_process_held_is_free(self, connection: Connection, database: str) -> None:
        async with tables_of(database) as tables:
            begun = await tables.begin(plan())
            connection.execute(
                "select pg_terminate_backend(pid, 120000) from pg_locks"
                " where locktype = 'advisory' and database ="
                " (select oid from pg_database where datname = current_database())"
            )
            async with tables_of(database) as other:
                again = await other.begin(plan())
                await other.leave(again.eval_run_id)
            # Its session has ended, and a release of its lock afterwards does no harm.
            await tables.leave(begun.eval_run_id)

            assert again.eval_run_id == begun.eval_run_id
            assert (await tables.begin(plan())).eval_run_id == begun.eval_run_id

    async def test_what_fails_holds_nothing(self, database: str) -> None:
        async with tables_of(database) as tables:
            for _ in range(10):
                with pytest.raises(DatabaseError, match="eval_run_method_is_known"):
                    await tables.begin(plan(method="guess"))

    async def test_who_only_reads_may_not_begin(self, database: str, make_role: MakeRole) -> None:
        async with tables_of(database, make_role("pgclarify_reader")) as tables:
            with pytest.raises(PermissionDenied):
                await tables.begin(plan())

    async def test_a_corpus_that_one_does_not_see_is_none_to_evaluate_on(
        self, connection: Connection, database: str, make_role: MakeRole
    ) -> None:
        connection.execute("update pgclarify_private.corpus set reader = null")
        async with tables_of(database, make_role("pgclarify_user")) as tables:
            with pytest.raises(PermissionDenied):
                await tables.begin(plan())


class TestRecord:
    async def test_a_case_comes_back_as_it_was_given(self, database: str) -> None:
        async with tables_of(database) as tables:
            eval_run_id = (await tables.begin(plan())).eval_run_id
            await tables.record(
                eval_run_id, 1, CASE, OUTPUT, {"recall": 1 / 3, "calls": 3.0, "recall@10": 0}, [True, False]
            )
            (case,) = await tables.cases(eval_run_id)
            values = await tables.values(eval_run_id)

        assert (case.ordinal, case.case_id, case.question) == (1, "first", "cars")
        assert (case.status, case.error, case.run_id) == (RunStatus.SUCCEEDED, None, None)
        assert (case.usage, case.seconds) == (OUTPUT.usage, 2.5)
        assert case.values == {"recall": 1 / 3, "calls": 3.0, "recall@10": 0.0}
        assert values == [(1, case.values)]
        assert case.gold == {
            "interpretations": [
                {"interpretation": "Who insures cars?", "answers": ["We", "We do"], "document_ids": ["1"]}
            ],
            "answer_sets": [[["We", "We do"]]],
            "document_ids": ["1", "2"],
            "is_ambiguous": True,
            "rewrites": ["Who insures our cars?"],
            "clarifying_questions": ["Which cars?"],
            "intent": "The insurer.",
            "strata": ["answers=one"],
        }
        assert case.output == {
            "interpretations": [
                {
                    "interpretation": "What is insured?",
                    "answer": "Cars",
                    "support": 1,
                    "is_grounded": True,
                    "citations": [{"document_id": "1", "passage_id": 7, "title": "Policy", "quote": "Cars"}],
                },
                {
                    "interpretation": "What is lost?",
                    "answer": None,
                    "support": 0,
                    "is_grounded": False,
                    "citations": [],
                },
            ],
            "retrieved": [{"document_id": "1", "passage_id": 7}, {"document_id": "2", "passage_id": 8}],
            "probability": 0.75,
            "questions": ["Who insures cars?"],
            "notes": {"relaxed_question": "cars?"},
        }

    async def test_what_nobody_judged_is_not_called_unfounded(self, database: str) -> None:
        async with tables_of(database) as tables:
            eval_run_id = (await tables.begin(plan())).eval_run_id
            await tables.record(eval_run_id, 1, CASE, OUTPUT, {}, None)
            (case,) = await tables.cases(eval_run_id)

        assert [given["is_grounded"] for given in case.output["interpretations"]] == [None, None]

    async def test_a_case_that_gave_nothing_is_kept_too(self, database: str) -> None:
        failed = Output(status=RunStatus.FAILED, error="the endpoint\0 is gone")
        async with tables_of(database) as tables:
            eval_run_id = (await tables.begin(plan())).eval_run_id
            await tables.record(eval_run_id, 1, Case("a", "cars"), failed, {"failed": 1}, [])
            (case,) = await tables.cases(eval_run_id)

        assert (case.status, case.error) == (RunStatus.FAILED, "the endpoint\ufffd is gone")
        assert case.output["interpretations"] == case.gold["interpretations"] == []
        assert case.gold["is_ambiguous"] is None

    async def test_the_first_to_be_kept_stays(self, database: str) -> None:
        async with tables_of(database) as tables:
            eval_run_id = (await tables.begin(plan())).eval_run_id
            await tables.record(eval_run_id, 1, CASE, OUTPUT, {"recall": 1}, None)
            await tables.record(
                eval_run_id, 1, replace(CASE, question="trucks"), OUTPUT, {"recall": 0, "calls": 2}, None
            )
            (case,) = await tables.cases(eval_run_id)

        assert (case.question, case.values) == ("cars", {"recall": 1})

    async def test_what_cannot_be_stored_is_replaced(self, database: str) -> None:
        """Null characters, and halves of surrogate pairs; whole characters beyond the first plane stay."""
        hostile, kept = "a\0b\ud83dc\udc00d\ud83d\ude00", "a\ufffdb\ufffdc\ufffdd\U0001f600"
        passage = Passage(hostile, 1, hostile, hostile)
        given = PredictedInterpretation(hostile, hostile, (CitedPassage(passage, hostile),))
        async with tables_of(database) as tables:
            eval_run_id = (await tables.begin(plan())).eval_run_id
            await tables.record(
                eval_run_id,
                1,
                Case(hostile, hostile, document_ids=(hostile,)),
                Output((given,), (passage,), notes={hostile: [hostile, {"deep": (hostile,)}]}),
                {},
                [True],
            )
            (case,) = await tables.cases(eval_run_id)

        assert (case.case_id, case.question, case.gold["document_ids"]) == (kept, kept, [kept])
        assert case.output["interpretations"][0]["citations"][0]["quote"] == kept
        assert case.output["notes"] == {kept: [kept, {"deep": [kept]}]}

    @pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
    async def test_what_is_no_number_is_refused(self, database: str, number: float) -> None:
        async with tables_of(database) as tables:
            eval_run_id = (await tables.begin(plan())).eval_run_id
            with pytest.raises(ValueError, match="recall"):
                await tables.record(eval_run_id, 1, CASE, OUTPUT, {"recall": number}, None)
            with pytest.raises(ValueError, match="JSON"):
                await tables.record(eval_run_id, 1, CASE, replace(OUTPUT, probability=number), {}, None)
            with pytest.raises(ValueError, match="recall"):
                await tables.finish(eval_run_id, {"recall": Summary(1, number, 1, 1)}, {})

            assert await tables.cases(eval_run_id) == []

    async def test_there_is_a_judgement_for_each_reading(self, database: str) -> None:
        async with tables_of(database) as tables:
            eval_run_id = (await tables.begin(plan())).eval_run_id
            with pytest.raises(ValueError, match="zip"):
                await tables.record(eval_run_id, 1, CASE, OUTPUT, {}, [True])

    async def test_nobody_records_for_others(self, database: str, make_role: MakeRole) -> None:
        async with tables_of(database) as tables, tables_of(database, make_role("pgclarify_user")) as others:
            eval_run_id = (await tables.begin(plan())).eval_run_id
            with pytest.raises(PermissionDenied):
                await others.record(eval_run_id, 1, CASE, OUTPUT, {"recall": 1}, None)
            await tables.record(eval_run_id, 1, CASE, OUTPUT, {}, None)
            with pytest.raises(NotReady):
                await others.finish(eval_run_id, {"recall": Summary(1, None, None, 1)}, {})

            assert await others.cases(eval_run_id) == []
            assert (await tables.find(str(eval_run_id))).finished_at is None


class TestFinish:
    async def test_an_evaluation_without_all_its_cases_is_not_finished(self, database: str) -> None:
        async with tables_of(database) as tables:
            eval_run_id = (await tables.begin(plan(planned_cases=2))).eval_run_id
            await tables.record(eval_run_id, 2, CASE, OUTPUT, {}, None)
            with pytest.raises(NotReady):
                await tables.finish(eval_run_id, {"recall": Summary(1, None, None, 1)}, {})

            assert await tables.summaries([eval_run_id]) == {eval_run_id: {}}

    async def test_its_metrics_are_there_and_it_is_let_go(self, database: str) -> None:
        summaries = {"recall": Summary(0.5, 0.25, 0.75, 1), "grounded_f1": Summary(1 / 3, None, None, 1)}
        async with tables_of(database) as tables, tables_of(database) as others:
            eval_run_id = (await tables.begin(plan())).eval_run_id
            await tables.record(eval_run_id, 1, CASE, OUTPUT, {"recall": 1}, None)
            strata = {"kind=a": {"recall": Summary(0.25, None, None, 1)}, "hops=2": {"recall": Summary(1, 0.5, 1, 9)}}
            await tables.finish(eval_run_id, summaries, strata)

            assert await others.summaries([eval_run_id, 99]) == {eval_run_id: summaries, 99: {}}
            assert await others.strata([eval_run_id, 99]) == {eval_run_id: strata, 99: {}}
            # Those of the case are beside them.
            assert await others.values(eval_run_id) == [(1, {"recall": 1})]
            found = await others.find(str(eval_run_id))
            assert found.finished_at is not None
            assert found.finished_at >= found.created_at
            assert (await others.begin(plan())).eval_run_id != eval_run_id
            with pytest.raises(NotReady):
                await tables.finish(eval_run_id, summaries, {})


class TestFind:
    async def finished(self, database: str, **changes: Any) -> int:
        async with tables_of(database) as tables:
            eval_run_id = (await tables.begin(plan(**changes))).eval_run_id
            await tables.record(eval_run_id, 1, CASE, OUTPUT, {}, None)
            await tables.finish(eval_run_id, {}, {})
            return eval_run_id

    async def test_by_id_or_by_name(self, database: str) -> None:
        first = await self.finished(database)
        # A name that looks like the id of another evaluation.
        named = await self.finished(database, name=str(first))
        other = await self.finished(database, name="2024")
        async with tables_of(database) as tables:
            assert (await tables.find(str(first))).eval_run_id == first
            assert (await tables.find(str(named))).eval_run_id == named
            assert (await tables.find("2024")).eval_run_id == other

    async def test_the_latest_that_is_finished(self, database: str) -> None:
        await self.finished(database)
        finished = await self.finished(database)
        async with tables_of(database) as tables:
            await tables.begin(plan())
            assert (await tables.find("night")).eval_run_id == finished

            # While none is finished, the latest one.
            begun = [await tables.begin(plan(name="day", model=model)) for model in ("a", "b")]
            assert (await tables.find("day")).eval_run_id == begun[1].eval_run_id

    @pytest.mark.parametrize(
        "reference", ["", "no such", "0", "99999999999999999999", "9223372036854775808", "-1", "²"]
    )
    async def test_what_is_not_there(self, database: str, reference: str) -> None:
        await self.finished(database)
        async with tables_of(database) as tables:
            with pytest.raises(NotFound) as refused:
                await tables.find(reference)
        assert refused.value.hint

    async def test_what_is_others_is_not_there(self, database: str, make_role: MakeRole) -> None:
        eval_run_id = await self.finished(database)
        async with tables_of(database, make_role("pgclarify_user")) as tables:
            assert await tables.evaluations(10) == []
            for reference in ("night", str(eval_run_id)):
                with pytest.raises(NotFound):
                    await tables.find(reference)

    async def test_lists_begin_with_the_newest(self, connection: Connection, database: str) -> None:
        ids = [await self.finished(database) for _ in range(3)]
        connection.execute("select pgclarify.drop_corpus('insurance')")
        async with tables_of(database) as tables:
            found = await tables.evaluations(2)

        assert [(one.eval_run_id, one.done_cases) for one in found] == [(ids[2], 1), (ids[1], 1)]
        # The corpus is gone; its name is not.
        assert {(one.plan.corpus_id, one.plan.corpus_name) for one in found} == {(0, "insurance")}

    async def test_cases_come_in_order_however_many(self, database: str) -> None:
        count = 230
        async with tables_of(database) as tables:
            eval_run_id = (await tables.begin(plan(planned_cases=count))).eval_run_id
            for ordinal in range(count, 0, -1):
                await tables.record(eval_run_id, ordinal, CASE, Output(), {"calls": ordinal, "recall": 0}, [])
            cases = await tables.cases(eval_run_id)

            assert [case.ordinal for case in cases] == list(range(1, count + 1))
            assert all(case.values == {"calls": case.ordinal, "recall": 0} for case in cases)
            assert await tables.values(eval_run_id) == [(case.ordinal, case.values) for case in cases]


async def test_every_connection_is_given_back(connection: Connection, database: str) -> None:
    async with tables_of(database) as tables:
        # More than the pool has.
        for number in range(20):
            begun = await tables.begin(plan(model=str(number)))
            await tables.leave(begun.eval_run_id)
            await tables.leave(begun.eval_run_id)

    assert scalar(connection, "select count(*) from pgclarify.eval_run") == 20
