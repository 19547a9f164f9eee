"""What evaluations read from corpora, workers, runs and the ledger, and what they may not read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import psycopg
import pytest
from psycopg.rows import dict_row

from pgclarify.database.queries import queries
from pgclarify.errors import InputError, NotFound
from pgclarify.evaluated import ServingWorker, TokenAverages, Usage, VerdictAnswer
from pgclarify.vocabulary import Outcome
from tests.integration.by_hand import MODEL, PROMPTS, Connect, Connection, HandWorker, Hire, MakeRole, scalar
from tests.integration.evaluating import DOCUMENTS, carry_out, load, pay, plan, tables_of

REVISION = "select revision from pgclarify.corpus_status where corpus = 'insurance'"
SEARCH: dict[str, str | None] = {"search": "lexical", "reranker": None, "retrieval": "fixed"}


class TestDescribeCorpus:
    async def test_by_its_name(self, connection: Connection, database: str, hire: Hire) -> None:
        load(connection)
        load(connection, "other")
        hire().index_everything()
        async with tables_of(database) as tables:
            found = await tables.describe_corpus("other")

        corpus_id, revision = connection.execute(
            "select corpus.corpus_id, status.revision from pgclarify.corpus_status as status"
            " join pgclarify.corpus on corpus.name = status.corpus where corpus.name = 'other'"
        ).fetchall()[0]
        assert (found.corpus_id, found.name, found.revision, found.embedding_model) == (
            corpus_id,
            "other",
            revision,
            "m",
        )
        assert found.revision > 0
        # Nothing has linked its passages.
        assert found.unlinked == scalar(
            connection, "select passages from pgclarify.corpus_status where corpus = 'other'"
        )
        assert found.unlinked

    async def test_the_only_one_that_may_be_searched(
        self, connection: Connection, database: str, make_role: MakeRole
    ) -> None:
        team = make_role("pgclarify_user", name="team")
        analyst = make_role("pgclarify_user")
        load(connection)
        # An analyst sees this one, and may not search it.
        load(connection, "secret", reader=team, analyst=analyst)
        async with tables_of(database, analyst) as tables:
            assert (await tables.describe_corpus(None)).name == "insurance"
            with pytest.raises(NotFound) as refused:
                await tables.describe_corpus("secret")
            assert "insurance" in (refused.value.detail or "")
        async with tables_of(database, make_role(team)) as tables:
            with pytest.raises(InputError) as unclear:
                await tables.describe_corpus(None)
            assert "insurance, secret" in (unclear.value.detail or "")
            assert (await tables.describe_corpus("secret")).name == "secret"

    async def test_that_of_the_session(self, connection: Connection, database: str) -> None:
        load(connection)
        load(connection, "other")
        async with tables_of(database, options="-c pgclarify.corpus=other") as tables:
            assert (await tables.describe_corpus(None)).name == "other"
            assert (await tables.describe_corpus("insurance")).name == "insurance"

    async def test_what_is_not_there(self, connection: Connection, database: str) -> None:
        async with tables_of(database) as tables:
            for name, kind in (("insurance", NotFound), (None, InputError)):
                with pytest.raises(kind) as refused:
                    await tables.describe_corpus(name)
                assert refused.value.hint
            load(connection)
            with pytest.raises(NotFound) as refused:
                await tables.describe_corpus("insurence")
            assert "insurance" in (refused.value.hint or "")

    async def test_how_often_it_changed_counts_what_one_can_find(
        self, connection: Connection, database: str, hire: Hire, make_role: MakeRole
    ) -> None:
        user, board = make_role("pgclarify_user"), make_role("pgclarify_user", name="board")
        load(connection)
        worker = hire()
        worker.index_everything()
        async with tables_of(database, user) as tables, tables_of(database, board) as boards:
            before = (await tables.describe_corpus(None)).revision
            connection.execute(
                "select pgclarify.add_document('insurance', '4', 'Secret cars.', readers => %s)", [[board]]
            )
            worker.index_everything()
            assert (await tables.describe_corpus(None)).revision == before
            assert (await boards.describe_corpus(None)).revision > before


async def test_serving_workers_are_each_told_once(database: str, connect: Connect, make_role: MakeRole) -> None:
    role = make_role("pgclarify_worker")
    async with tables_of(database, make_role("pgclarify_reader")) as tables:
        assert await tables.serving_workers() == []
        workers = [HandWorker(connect(role), model=model) for model in ("b", "a", "a", "dead")]
        workers[-1].die()

        assert await tables.serving_workers() == [
            ServingWorker("extractive", "a", PROMPTS),
            ServingWorker("extractive", "b", PROMPTS),
        ]


class TestRuns:
    async def test_usage_counts_what_was_paid_for_and_what_was_there(
        self, connection: Connection, connect: Connect, database: str, hire: Hire, make_role: MakeRole
    ) -> None:
        load(connection)
        role = make_role("pgclarify_user")
        user, worker = connect(role), hire()
        run_id = carry_out(user, worker)
        going_on = int(scalar(user, "select pgclarify.submit('clarify', 'trucks')"))
        worker.start(going_on)
        async with tables_of(database, role) as tables:
            usage = await tables.usage([run_id, going_on, 999])
        async with tables_of(database, make_role("pgclarify_user")) as others:
            assert await others.usage([run_id]) == {}

        assert usage == {run_id: Usage(3, 1, 240, 24, 2.0), going_on: Usage()}

    async def test_verdicts_with_what_they_took(
        self, connection: Connection, connect: Connect, database: str, hire: Hire, make_role: MakeRole
    ) -> None:
        load(connection)
        role = make_role("pgclarify_user")
        run_id = carry_out(connect(role), hire())
        async with tables_of(database, role) as tables:
            assert await tables.verdict_answers(run_id) == [
                VerdictAnswer(1, Outcome.GROUNDED, "Cars", "Cars", 100, 10),
                VerdictAnswer(2, Outcome.ABSTAINED, None, None, 100, 10),
                VerdictAnswer(3, Outcome.FAILED, None, None, 0, 0),
            ]
        async with tables_of(database, make_role("pgclarify_user")) as others:
            for other in (run_id, 999):
                with pytest.raises(NotFound) as refused:
                    await others.verdict_answers(other)
                assert str(other) in refused.value.message

    def test_what_a_call_failed_with(
        self, connection: Connection, connect: Connect, hire: Hire, make_role: MakeRole
    ) -> None:
        load(connection)
        user = connect(make_role("pgclarify_user"))
        run_id = carry_out(user, hire())

        def failure() -> str | None:
            with user.cursor(row_factory=dict_row) as cursor:
                given = {"run_id": run_id, "time": "2026-01-01"}
                (row,) = cursor.execute(queries["eval_get_run_facts"].encode(), given)
            return cast("str | None", row["failure"])

        assert failure() is None, "the run has no error_code"
        connection.execute("update pgclarify_private.run set error_code = 'PC013', stop_reason = 'the key is refused'")
        assert failure() is None, "the stop_reason of clarify is of no call"
        connection.execute("update pgclarify_private.verdict set error_code = 'PC013' where outcome = 'failed'")
        assert failure() == "the endpoint is gone"
        connection.execute("update pgclarify_private.verdict set error_code = 'PC015' where outcome = 'failed'")
        connection.execute(
            "insert into pgclarify_private.step (run_id, ordinal, kind, question, outcome, reason)"
            " select %s, ordinal, kind, 'q', 'failed', kind || ' failed'"
            " from unnest(array['direct', 'follow_up', 'conclusion']) with ordinality as one (kind, ordinal)",
            [run_id],
        )
        assert failure() == "follow_up failed"
        connection.execute("delete from pgclarify_private.step where kind <> 'conclusion'")
        assert failure() == "conclusion failed"
        connection.execute(
            "update pgclarify_private.step set outcome = 'not_in_corpus', abstention_code = 'not_answered'"
        )
        assert failure() is None, "the reason of this conclusion is of no call"
        connection.execute("update pgclarify_private.run set operation = 'rewrite'")
        assert failure() == "the key is refused"

    async def test_retrieved_passages_are_those_of_now_that_may_be_read(
        self, connection: Connection, connect: Connect, database: str, hire: Hire, make_role: MakeRole
    ) -> None:
        load(connection)
        # Ids of documents are of a corpus.
        load(connection, "other")
        role = make_role("pgclarify_user")
        worker = hire()
        run_id = carry_out(connect(role), worker)
        ranked = connection.execute(
            "select document_id, passage_id from pgclarify.candidate where run_id = %s order by rank", [run_id]
        ).fetchall()
        async with tables_of(database, role) as tables:
            (found,) = (await tables.rankings(run_id)).values()
            assert [(passage.document_id, passage.passage_id) for passage in found] == ranked
            assert {passage.document_id: passage.content for passage in found} == DOCUMENTS
            assert {(passage.title, passage.start_char) for passage in found} == {("Policy", 0)}

            connection.execute("select pgclarify.remove_document('insurance', '1')")
            connection.execute("select pgclarify.add_document('insurance', '2', %s, readers => '{}')", [DOCUMENTS["2"]])
            worker.index_everything()
            found = (await tables.rankings(run_id))[None]
            assert [passage.document_id for passage in found] == ["3"]
            assert await tables.rankings(999) == {}
            connection.execute("select pgclarify.drop_corpus('insurance')")
            assert await tables.rankings(run_id) == {None: []}
        async with tables_of(database, make_role("pgclarify_user")) as others:
            assert await others.rankings(run_id) == {}

    async def test_a_passage_that_two_steps_found_is_told_for_each_of_them_once(
        self, connection: Connection, connect: Connect, database: str, hire: Hire
    ) -> None:
        load(connection)
        run_id = carry_out(connection, hire())
        connection.execute(
            "with first as (update pgclarify_private.candidate set step_ordinal = 1 returning *)"
            " insert into pgclarify_private.candidate"
            " (run_id, rank, corpus_id, document_id, passage_id, score, origin, step_ordinal)"
            " select run_id, more.rank, corpus_id, document_id, passage_id, score, origin, more.step_ordinal"
            " from first cross join (values (4, 1), (5, 3)) as more (rank, step_ordinal) where first.rank = 2"
        )
        async with tables_of(database) as tables:
            found = await tables.rankings(run_id)
        assert list(found) == [1, 3]
        assert len(found[1]) == len(DOCUMENTS)
        assert found[3] == found[1][1:2]


class TestLedger:
    async def test_averages_tell_of_tokens_alone(
        self, connection: Connection, connect: Connect, database: str, hire: Hire, make_role: MakeRole
    ) -> None:
        load(connection)
        worker = hire()
        pay(worker, None, "verdict", ["a"], (100, 10))
        # Calls with another version of the prompt count, too.
        pay(worker, None, "verdict", ["b", "c"], (101, 20), prompt_version="v2")
        pay(worker, None, "judge_support", ["a"], (50, 5))
        # A call without a reply does not count.
        connection.execute(
            "insert into pgclarify_private.completion (purpose, model, parameters, prompt_version, input_hash)"
            " values ('verdict', %s, '{}', %s, sha256('d'))",
            [MODEL, PROMPTS],
        )
        role = make_role("pgclarify_user")
        async with tables_of(database, role) as tables:
            assert await tables.token_averages(MODEL) == {
                "verdict": TokenAverages(101, 17, 3),
                "judge_support": TokenAverages(50, 5, 1),
            }
            assert await tables.token_averages("other") == {}

    async def test_averages_are_of_the_last_part_of_the_ledger(
        self, connection: Connection, database: str, hire: Hire
    ) -> None:
        load(connection)
        pay(hire(), None, "verdict", ["a"], (100, 10))
        others = (
            "insert into pgclarify_private.completion (purpose, model, parameters, prompt_version, input_hash)"
            " select 'verdict', 'other', '{}', '1', sha256(number::text::bytea)"
            " from generate_series(%s::integer, %s) as number"
        )
        async with tables_of(database) as tables:
            connection.execute(others.encode(), [1, 49_999])
            assert "verdict" in await tables.token_averages(MODEL)
            connection.execute(others.encode(), [50_000, 50_000])
            assert await tables.token_averages(MODEL) == {}

    def test_the_run_of_a_case_is_found_by_its_time(
        self, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        load(connection)
        role = make_role("pgclarify_user")
        connection.execute(
            """
            insert into pgclarify_private.run (
                operation, corpus_id, corpus_name, question, settings, reuse_key, requested_by, requested_by_oid
            )
            select 'clarify', 1, 'insurance', 'Is it number ' || number || '?', '{}', '', rolname, oid
            from generate_series(1, 5000) as number, pg_roles
            where rolname = %s
            """,
            [role],
        )
        connection.execute("analyze pgclarify_private.run")
        asked = {
            **dict.fromkeys(("corpus_id", "corpus_revision", "top_k"), 1),
            **dict.fromkeys(("model", "prompt_version", "search", "reranker", "retrieval", "operation"), "m"),
            "question": "Is it number 7?",
            "questions": [f"Is it number {number}?" for number in range(10)],
            "settings": "{}",
            "since": datetime.now(UTC),
        }
        user = psycopg.ClientCursor(connect(role))
        told = user.execute(f"explain {queries['eval_find_run']}".encode(), asked).fetchall()
        assert "run_created_at_idx" in str(told)

    async def test_what_was_asked_before_is_paid_for(
        self, connection: Connection, connect: Connect, database: str, hire: Hire, make_role: MakeRole
    ) -> None:
        load(connection)
        load(connection, "other")
        role = make_role("pgclarify_user")
        user, worker = connect(role), hire()
        carry_out(user, worker)
        carry_out(user, worker, question="cars now")
        async with tables_of(database, role) as tables:
            # Two verdicts for each question, and the relaxed question. The failed verdict has no reply.
            asked = plan(corpus_revision=scalar(connection, REVISION))
            for questions, top_k, replies in (
                (["cars"], 20, 3),
                (["cars"], 2, 3),
                (["cars"], 1, 2),
                (["cars", "cars now", "trucks"], 20, 6),
                (["cars", "cars"], 20, 3),
                (["Cars"], 20, 0),
                ([], 20, 0),
            ):
                assert await tables.paid_verdicts(asked, questions, search=SEARCH, top_k=top_k) == replies
            for change in (
                {"corpus_id": 2},
                {"corpus_revision": asked.corpus_revision + 1},
                {"model": "other"},
                {"prompt_version": "other"},
            ):
                assert await tables.paid_verdicts(replace(asked, **change), ["cars"], search=SEARCH, top_k=20) == 0
            for other in ({"search": "dense"}, {"reranker": "signal"}, {"retrieval": "adaptive"}):
                # Other passages, so other replies.
                assert await tables.paid_verdicts(asked, ["cars"], search=SEARCH | other, top_k=20) == 0
        async with tables_of(database, make_role("pgclarify_user")) as others:
            # Other roles must not learn that a question was asked.
            assert await others.paid_verdicts(asked, ["cars"], search=SEARCH, top_k=20) == 0

    async def test_what_two_runs_have_in_common_is_counted_once(
        self, connection: Connection, connect: Connect, database: str, hire: Hire
    ) -> None:
        load(connection)
        worker = hire()
        carry_out(connection, worker)
        carry_out(connection, worker)
        async with tables_of(database) as tables:
            asked = plan(corpus_revision=scalar(connection, REVISION))
            assert await tables.paid_verdicts(asked, ["cars"], search=SEARCH, top_k=20) == 3
