"""Estimates, compared with the real calls: a real worker, and a model server that counts its calls."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql
from psycopg.rows import dict_row

from pgclarify import connect
from pgclarify.cli.main import main
from tests.openai_server import HALF_JSON, MODEL, Chat, Reply, Server, by_rules
from tests.sessions import Connection, scalar
from tests.workers import DOCUMENTS, Service, as_role

TOP_K = 6


@dataclass(frozen=True)
class Estimate:
    """The columns of estimate that tests read."""

    answered: int
    sampled: int
    calls: int
    calls_at_most: int
    reused_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Decimal | None


def row_of(connection: Connection, questions: list[str], *, top_k: int = TOP_K, **options: object) -> dict[str, Any]:
    with connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute(
            "select * from pgclarify.estimate(%s, top_k => %s, options => %s)", [questions, top_k, json.dumps(options)]
        )
        (row,) = cursor.fetchall()
    return row


def estimate(connection: Connection, questions: list[str], *, top_k: int = TOP_K, **options: object) -> Estimate:
    row = row_of(connection, questions, top_k=top_k, **options)
    return Estimate(**{name: row[name] for name in Estimate.__dataclass_fields__})


def clarify_many(connection: Connection, questions: list[str], *, top_k: int = TOP_K, **options: object) -> None:
    connection.execute(
        "select * from pgclarify.clarify_many(%s, top_k => %s, options => %s)", [questions, top_k, json.dumps(options)]
    )


def of(topic: str, count: int = 3) -> list[str]:
    """Questions that no other test asks."""
    return [f"What about {topic} {number}?" for number in range(count)]


def let_read(superuser: Connection, document_id: str, readers: list[str] | None) -> None:
    superuser.execute(
        """
        select pgclarify.add_document('rental', id, content, title => title, readers => %s::name[])
        from pgclarify.document where id = %s
        """,
        [readers, document_id],
    )


class TestWhatItSays:
    def test_is_what_happens(self, asker: Connection, model: Server) -> None:
        questions = of("fuel")
        before = model.calls
        first = estimate(asker, [*questions, *questions])
        assert model.calls == before, "an estimate calls no model"
        # For each question a verdict on each passage.
        assert (first.calls, first.calls_at_most, first.reused_calls) == (3 * TOP_K, 3 * TOP_K, 0)

        clarify_many(asker, questions)
        assert model.calls - before == first.calls

        after = model.calls
        assert estimate(asker, questions) == Estimate(3, 0, 0, 0, 0, 0, 0, Decimal(0))
        # The same question with other settings reads the same passages.
        again = estimate(asker, questions, singletons="drop")
        assert (again.calls, again.calls_at_most, again.reused_calls) == (0, 0, first.calls)
        assert model.calls == after

    def test_is_what_happens_if_a_call_reads_several_passages(
        self, asker: Connection, superuser: Connection, model: Server
    ) -> None:
        questions = of("a call with several", 4)
        before = model.calls
        first = row_of(asker, questions, top_k=9, passages_per_call=4)
        # For each question two calls about four passages, and one about the last.
        assert (first["calls"], first["reused_calls"]) == (4 * 3, 0)
        # A joint reply may leave each of its passages open.
        assert first["calls_at_most"] == 4 * (3 + 9)
        clarify_many(asker, questions, top_k=9, passages_per_call=4)
        assert model.calls - before == first["calls"]

        paid = "select sum(prompt_tokens), sum(completion_tokens) from pgclarify.run where question = any(%s)"
        ((prompt_tokens, _),) = superuser.execute(paid, [questions]).fetchall()
        assert first["prompt_tokens"] == pytest.approx(int(prompt_tokens), rel=0.15)
        asker.execute("set pgclarify.reuse_runs = off")
        again = estimate(asker, questions, top_k=9, passages_per_call=4)
        assert (again.calls, again.reused_calls) == (0, first["calls"])

        # Larger calls have more tokens than those in the ledger.
        others = of("a call with more", 4)
        larger = row_of(asker, others, top_k=12, passages_per_call=12)
        assert larger["calls"] == 4
        clarify_many(asker, others, top_k=12, passages_per_call=12)
        ((prompt_tokens, completion_tokens),) = superuser.execute(paid, [others]).fetchall()
        assert larger["prompt_tokens"] == pytest.approx(int(prompt_tokens), rel=0.15)
        assert larger["completion_tokens"] == pytest.approx(int(completion_tokens), rel=0.3)
        assert model.calls - before == first["calls"] + larger["calls"]

    @pytest.mark.parametrize("relax", [False, True])
    def test_is_exact_where_it_is_known_what_is_searched_for(
        self, asker: Connection, model: Server, *, relax: bool
    ) -> None:
        questions = of(f"tolls {relax}")
        first = estimate(asker, questions, top_k=2, relax=relax)
        assert first.calls == 3 * (2 + relax)
        clarify_many(asker, questions, top_k=2, relax=relax)
        wider = estimate(asker, questions, top_k=9, relax=relax)
        assert wider.calls == wider.calls_at_most < 3 * 9
        before = model.calls
        clarify_many(asker, questions, top_k=9, relax=relax)
        assert model.calls - before == wider.calls

    @pytest.mark.parametrize(
        ("topic", "options"),
        [
            ("fuel, by its words", {"method": "lexical"}),
            ("signal", {"reranker": "signal"}),
            ("model", {"reranker": "model"}),
            ("max_passages", {"max_passages": 2}),
            ("adaptive", {"retrieval": "adaptive", "max_passages": 10}),
            ("asking back", {"ask_back": "when_vague"}),
            ("joint calls of batches", {"passages_per_call": 4, "retrieval": "adaptive", "max_passages": 10}),
            ("both", {"ask_back": "when_vague", "reranker": "model", "retrieval": "adaptive"}),
        ],
    )
    def test_is_bounded_whatever_is_asked(
        self, asker: Connection, model: Server, topic: str, options: dict[str, Any]
    ) -> None:
        questions = of(topic, 2)
        before = model.calls
        first = estimate(asker, questions, **options)
        assert model.calls == before
        assert 0 < first.calls <= first.calls_at_most

        clarify_many(asker, questions, **options)
        assert 0 < model.calls - before <= first.calls_at_most

        # All its calls are paid for. Rankings and routes are not predicted.
        asker.execute("set pgclarify.reuse_runs = off")
        after = estimate(asker, questions, **options)
        assert after.reused_calls >= 2
        if not {"retrieval", "reranker", "ask_back"} & options.keys():
            assert (after.calls, after.reused_calls) == (0, model.calls - before)

    def test_counts_what_is_asked_again(self, asker: Connection, model: Server) -> None:
        questions = of("half a reply", 1)

        def behave(chat: Chat) -> Reply:
            return HALF_JSON if chat.purpose == "verdict" else by_rules(chat)

        model.behavior = behave
        clarify_many(asker, questions, top_k=2)
        model.behavior = by_rules
        # Two verdicts, each called twice, and all calls were paid for. None could be read, so a run asks once more.
        after = estimate(asker, questions, top_k=2)
        assert (after.calls, after.reused_calls) == (2, 4)

    def test_has_tokens_and_money(self, asker: Connection, superuser: Connection, model: Server) -> None:
        questions = of("money")
        unknown = estimate(asker, questions, singletons="drop")
        assert unknown.cost_usd is None
        superuser.execute("insert into pgclarify_private.model_price values (%s, 2, 10)", [MODEL])
        known = row_of(asker, questions)
        assert known["cost_usd"] == (known["prompt_tokens"] * 2 + known["completion_tokens"] * 10) / Decimal(1_000_000)
        assert known["model"] == MODEL

        clarify_many(asker, questions)
        paid = "select sum({}) from pgclarify.run where question = any(%s)"
        sums = {
            name: scalar(superuser, paid.format(name), questions)
            for name in ("prompt_tokens", "completion_tokens", "cost_usd")
        }
        assert known["prompt_tokens"] == pytest.approx(int(sums["prompt_tokens"]), rel=0.2)
        assert known["completion_tokens"] == pytest.approx(int(sums["completion_tokens"]), rel=0.5)
        assert float(known["cost_usd"]) == pytest.approx(float(sums["cost_usd"]), rel=0.3)
        own = "select completions, cost_usd from pgclarify.run where run_id = %s"
        assert superuser.execute(own, [known["run_id"]]).fetchone() == (0, 0)
        superuser.execute("delete from pgclarify_private.model_price where model = %s", [MODEL])


class TestManyQuestions:
    def test_some_are_looked_at_and_stand_for_all(
        self, asker: Connection, superuser: Connection, model: Server
    ) -> None:
        questions = of("crowds", 220)
        clarify_many(asker, questions[:10])
        row = row_of(asker, questions)
        assert {name: row[name] for name in ("questions", "distinct_questions", "answered", "sampled")} == {
            "questions": 220, "distinct_questions": 220, "answered": 10, "sampled": 200,
        }  # fmt: skip
        assert (row["calls"], row["calls_at_most"]) == (210 * TOP_K, 210 * TOP_K)
        again = row_of(asker, questions[::-1])
        assert {**again, "run_id": row["run_id"]} == row, "a random sample, but always the same"
        asked = "select jsonb_array_length(question::jsonb) from pgclarify_private.run where run_id = %s"
        assert scalar(superuser, asked, row["run_id"]) == 200
        told = "select question from pgclarify.run where run_id = %s"
        assert scalar(asker, told, row["run_id"]) == "220 questions"


class TestWhoAsks:
    def test_counts_what_that_role_may_read(
        self, service: Service, superuser: Connection, admin: Connection, model: Server
    ) -> None:
        other = sql.Identifier(f"{service.asker}_few")
        admin.execute(sql.SQL("create role {} login in role pgclarify_user").format(other))
        hidden = [str(document_id) for document_id in list(DOCUMENTS)[:9]]
        try:
            for document_id in hidden:
                let_read(superuser, document_id, [service.asker])
            questions = of("readers", 1)
            with (
                closing(service.connect(f"{service.asker}_few")) as few,
                closing(service.connect(service.asker)) as many,
            ):
                assert estimate(few, questions, top_k=12).calls == 3
                assert estimate(many, questions, top_k=12).calls == 12
                row = row_of(few, questions)
                assert scalar(many, "select count(*) from pgclarify.estimate where run_id = %s", row["run_id"]) == 0
                assert scalar(few, "select calls from pgclarify.estimate where run_id = %s", row["run_id"]) == 3
        finally:
            for document_id in hidden:
                let_read(superuser, document_id, None)
            admin.execute(sql.SQL("drop role {}").format(other))


def test_an_estimate_works_in_a_serializable_transaction(asker: Connection) -> None:
    questions = of("isolation", 1)
    with asker.transaction():
        asker.execute("set transaction isolation level serializable")
        assert estimate(asker, questions).calls == TOP_K


def test_explain_shows_an_estimate(asker: Connection) -> None:
    row = row_of(asker, of("explaining", 1), singletons="drop")
    told = [line for (line,) in asker.execute("select pgclarify.explain(%s)", [row["run_id"]])]
    assert told[0].startswith(f"estimate in rental: 1 question  (run {row['run_id']}, succeeded, ")
    assert any("checking" in line for line in told)
    assert any("1 question, 6 passages" in line for line in told)
    assert any("singletons=drop" in line and "answered" not in line for line in told)
    assert told[-1].startswith("  Result: select * from pgclarify.estimate where run_id = ")


class TestElsewhere:
    def test_the_command_and_the_client_say_the_same(
        self,
        service: Service,
        model: Server,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        tmp_path: Path,
    ) -> None:
        dsn = as_role(service.dsn, service.asker)
        monkeypatch.setenv("PGCLARIFY_DATABASE_URL", dsn)
        file = tmp_path / "searches.txt"
        file.write_text("".join(f"{question}\n" for question in of("searches", 4)))

        with connect(dsn) as client:
            found = client.estimate(of("searches", 4), top_k=3)
        assert (found.questions, found.calls, found.model) == (4, 4 * 3, MODEL)
        before = model.calls
        with pytest.raises(SystemExit) as done:
            main(["estimate", "--file", str(file), "-k", "3", "--json"])
        assert done.value.code == 0
        printed = json.loads(capsys.readouterr().out)
        assert {**printed, "run_id": found.run_id} == asdict(found)

        with pytest.raises(SystemExit) as done:
            options = [part for pair in ("method=dense", "ask_back=when_vague", "threshold=1") for part in ("-o", pair)]
            main(["estimate", *of("searches", 4), "-k", "3", *options])
        assert done.value.code == 0
        out = capsys.readouterr().out
        # No question counts as ambiguous, so one call may be enough for each.
        columns = dict(line.split(maxsplit=1) for line in out.splitlines() if len(line.split()) > 1)
        assert (columns["calls"].strip(), columns["calls_at_most"].strip()) == ("4", "16")
        assert "pgclarify explain" in out
        assert model.calls == before
