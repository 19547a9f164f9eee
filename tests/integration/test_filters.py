"""Questions of a part of a corpus: filters over metadata, and lists of documents."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import psycopg
import pytest

from tests.integration.linking import link
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, vector_of
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

# Values of one key: dates with a time zone and without, and others.
MIXED: list[Any] = [
    "auto", 5, 2025, False, {"a": 1}, "n/a", "", "12:00:00",
    "2025-06-01", "2025-06-01T09:30:00", "2025-06-01T09:30:00.5+02:00", "2025-06-01 09:00:00-08", "2025-06-01T08:30:00Z"
]  # fmt: skip
# Those without a time zone are in UTC.
ZONE = "case when length(metadata ->> 'mixed') in (10, 19) then 'Z' else '' end"
AT = f"case when metadata ->> 'mixed' ~ '^2025-' then (metadata ->> 'mixed' || {ZONE})::timestamptz end"

# A filter, and the same condition in plain SQL over pgclarify.document.
FILTERS: list[tuple[dict[str, Any], str]] = [
    ({"product": "auto"}, "metadata ->> 'product' = 'auto'"),
    ({"product": ["auto", "home"]}, "metadata ->> 'product' in ('auto', 'home')"),
    ({"product": {"in": ["auto", "boat"]}}, "metadata ->> 'product' in ('auto', 'boat')"),
    ({"product": {"not": "auto"}}, "metadata ->> 'product' is distinct from 'auto'"),
    ({"product": {"not": ["auto", "home"]}}, "coalesce(metadata ->> 'product', '') not in ('auto', 'home')"),
    ({"product": {"exists": True}}, "metadata ? 'product'"),
    ({"product": {"exists": False}}, "not metadata ? 'product'"),
    ({"product": None}, "not metadata ? 'product'"),
    ({"product": {"starts_with": "a"}}, "metadata ->> 'product' like 'a%'"),
    ({"product": []}, "false"),
    ({"year": 2025}, "metadata -> 'year' = '2025'"),
    ({"year": 2025.0}, "metadata -> 'year' = '2025'"),
    ({"year": {">": 2024}}, "(metadata ->> 'year')::numeric > 2024"),
    ({"year": {">=": 2024, "<": 2026}}, "(metadata ->> 'year')::numeric between 2024 and 2025"),
    ({"year": {"<=": 2024.5}}, "(metadata ->> 'year')::numeric <= 2024.5"),
    ({"year": "2025"}, "false"),
    ({"archived": True}, "metadata -> 'archived' = 'true'"),
    ({"archived": {"not": True}}, "coalesce(metadata -> 'archived', 'false') <> 'true'"),
    ({"tags": "red"}, "metadata -> 'tags' ? 'red'"),
    ({"tags": ["red", "blue"]}, "metadata -> 'tags' ?| '{red,blue}'"),
    ({"customer.region": "eu"}, "metadata -> 'customer' ->> 'region' = 'eu'"),
    ({"customer.region": "eu", "year": 2025}, "metadata @> '{\"customer\": {\"region\": \"eu\"}, \"year\": 2025}'"),
    ({"signed": {">=": "2025-06-01"}}, "(metadata ->> 'signed')::timestamp >= '2025-06-01'"),
    ({"signed": {"<": "2025-06-01T12:00:00"}}, "(metadata ->> 'signed')::timestamp < '2025-06-01 12:00'"),
    ({"any": [{"product": "auto"}, {"year": 2024}]}, "metadata ->> 'product' = 'auto' or metadata -> 'year' = '2024'"),
    (
        {"any": [{"product": "auto"}, {"product": "home", "archived": True}], "year": {">": 2023}},
        "(metadata ->> 'product' = 'auto' or metadata @> '{\"product\": \"home\", \"archived\": true}')"
        " and (metadata ->> 'year')::numeric > 2023",
    ),
    ({"title": "Title 3"}, "title = 'Title 3'"),
    ({"title": {"starts_with": "Title 1"}}, "title like 'Title 1%'"),
    ({"uri": {"exists": True}}, "uri is not null"),
    ({"title": ["Title 1", "Title 2"], "year": 2025}, "title ~ 'Title [12]$' and metadata @> '{\"year\": 2025}'"),
    ({"any": [{"title": "Title 3"}, {"year": 2024}]}, "title = 'Title 3' or metadata -> 'year' = '2024'"),
    ({"created_at": {">=": "2020-01-01"}}, "created_at >= '2020-01-01Z'"),
    ({"updated_at": {"<": "2020-01-01T00:00:00+02:00"}}, "updated_at < '2020-01-01 00:00+02'"),
    ({"dated": {">=": "2025-06-01"}}, "dated >= '2025-06-01Z'"),
    ({"dated": {"exists": False}, "year": 2025}, "dated is null and metadata @> '{\"year\": 2025}'"),
    ({"metadata.title": "inner"}, "metadata ->> 'title' = 'inner'"),
    ({'a"b': 1}, "metadata -> 'a\"b' = '1'"),
    ({"a.b%s": "50 %s"}, "metadata ->> 'a.b%s' = '50 %s'"),
    ({"a.b%s": {"starts_with": "50 %s"}}, "metadata ->> 'a.b%s' = '50 %s'"),
    ({"a.b%s": {"not": "50 %s"}}, "coalesce(metadata ->> 'a.b%s', '') <> '50 %s'"),
    ({"a.b%s": {"exists": False}}, "not metadata ? 'a.b%s'"),
    ({"product": "'; drop table pgclarify_private.document; --"}, "false"),
    ({"mixed": {"not": ["auto", 5]}}, "coalesce(metadata -> 'mixed', 'null') not in ('\"auto\"', '5')"),
    ({"mixed": {"not": None}}, "metadata ? 'mixed'"),
    ({"mixed": {"<": "2025-06-02"}}, f"{AT} < '2025-06-02Z'"),
    ({"mixed": {">=": "2025-06-01T10:00:00"}}, f"{AT} >= '2025-06-01 10:00Z'"),
    ({"mixed": {">": "2025-06-01T10:00:00+02:00"}}, f"{AT} > '2025-06-01 08:00Z'"),
    ({}, "true"),
]  # fmt: skip


def metadata_of(place: int) -> dict[str, Any]:
    chance = random.Random(place)  # noqa: S311 - not for secrets
    whole = {
        "product": chance.choice(["auto", "home", "boat"]),
        "year": chance.choice([2023, 2024, 2025, 2026]),
        "archived": chance.choice([True, False]),
        "tags": chance.sample(["red", "blue", "green"], 2),
        "customer": {"region": chance.choice(["eu", "us"])},
        "signed": chance.choice(["2025-05-30", "2025-06-01", "2025-06-01T09:30:00", "2026-01-01"]),
        "title": chance.choice(["inner", "outer"]),
        'a"b': chance.choice([1, 2]),
        "a.b%s": chance.choice(["50 %s", "60 %"]),
        "mixed": MIXED[place % len(MIXED)],
    }
    return {key: value for key, value in whole.items() if chance.random() < 0.8}


@pytest.fixture
def corpus(connection: Connection, make_worker: MakeWorker) -> Connection:
    connection.execute(MAKE_OPEN_CORPUS, ["policies"])
    connection.execute("select pgclarify.alter_corpus('policies', '{\"date_key\": \"signed\"}')")
    for place in range(60):
        connection.execute(
            "select pgclarify.add_document('policies', %s, %s, title => %s, metadata => %s)",
            [f"d{place}", f"Rental cars are paid {place}.", f"Title {place % 13}", json.dumps(metadata_of(place))],
        )
    make_worker().index_everything()
    return connection


def found(connection: Connection, **part: Any) -> set[str]:
    """The documents that a search by words finds, which needs no worker."""
    given = {name: json.dumps(value) if name == "filter" else value for name, value in part.items()}
    named = "".join(f", {name} => %({name})s" for name in given)
    rows = connection.execute(
        "select document_id from pgclarify.search('rental cars', 'policies', 1000, '{\"method\": \"lexical\"}'"  # noqa: S608
        f"{named})".encode(),
        given,
    ).fetchall()
    return {document_id for (document_id,) in rows}


def test_filters_are_conditions(corpus: Connection) -> None:
    for one, condition in FILTERS:
        fitting = corpus.execute(f"select id from pgclarify.document where {condition}".encode())  # noqa: S608
        expected = {document_id for (document_id,) in fitting}
        assert found(corpus, filter=one) == expected, one


def test_metadata_that_a_role_may_not_read_change_nothing(
    corpus: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker
) -> None:
    corpus.execute(
        "select pgclarify.add_document('policies', 'closed', 'Rental cars.', readers => array[current_user]::name[],"
        ' metadata => \'{"signed": "2025-06-01T00:00:00+00:00"}\')'
    )
    make_worker().index_everything()
    user = connect(make_role("pgclarify_user"))
    for operand in ("2025-06-01", "2025-06-01T00:00:00", "2025-06-01T00:00:00Z"):
        one = {"signed": {"<=": operand}}
        assert found(user, filter=one) == found(corpus, filter=one) - {"closed"}, operand


def test_a_list_of_documents_and_a_filter_must_both_hold(corpus: Connection) -> None:
    ids = [f"d{place}" for place in range(20)]
    assert found(corpus, document_ids=[*ids, "no such", ids[0]]) == set(ids)
    assert found(corpus, document_ids=[]) == set()
    assert found(corpus, document_ids=None) == {f"d{place}" for place in range(60)}
    auto = found(corpus, filter={"product": "auto"})
    assert found(corpus, filter={"product": "auto"}, document_ids=ids) == auto & set(ids)


def test_documents_that_do_not_exist_or_are_hidden_make_no_part_larger(corpus: Connection) -> None:
    """A small part is compared one by one, however long its list is."""
    corpus.execute(
        "select pgclarify.add_document('policies', 'closed', 'Rental cars.', readers => array[current_user]::name[])"
    )
    settings = json.dumps(
        {"document_set": "00", "document_ids": ["d1", "d2", "closed", *(f"no such {place}" for place in range(100))]}
    )
    part = corpus.execute("select document_ids, passages from pgclarify_private.part_of(1, '{}', %s, 10)", [settings])
    ids, passages = part.fetchone() or ([], None)
    assert (sorted(ids), passages) == (["d1", "d2"], 2)


def test_a_sub_select_runs_as_the_caller(corpus: Connection, connect: Connect, make_role: MakeRole) -> None:
    role = make_role("pgclarify_user")
    corpus.execute("create table ticket (id text, tenant name)")
    corpus.execute("alter table ticket enable row level security")
    corpus.execute("create policy own on ticket using (tenant = current_user)")
    corpus.execute(f"grant select on ticket to {role}".encode())
    corpus.execute("insert into ticket values ('d1', %s), ('d2', 'somebody')", [role])
    user = connect(role)
    assert found_by_sub_select(user) == {"d1"}


def found_by_sub_select(connection: Connection) -> set[str]:
    rows = connection.execute(
        "select document_id from pgclarify.search('rental cars', 'policies', 1000, '{\"method\": \"lexical\"}',"
        " document_ids => array(select id from ticket))"
    ).fetchall()
    return {document_id for (document_id,) in rows}


WRONG: list[Any] = [
    {"year": {"~": 3}},
    {"year": {">": [1]}},
    {"created_at": "yesterday"},
    {"created_at": {"in": ["2026-01-01"]}},
    {"any": {}},
    {"any": []},
    {"any": ["a"]},
    {"a": {}},
    {"a": [[1]]},
    {"a": {"exists": 1}},
    {"a": {"starts_with": 1}},
    {"a": [0] * 1000},
    json.loads('{"any": [' * 11 + "{}" + "]}" * 11),
    ["a"],
    "a",
]


def test_a_wrong_filter_is_an_error_that_says_what_is_allowed(connection: Connection) -> None:
    connection.execute("select pgclarify.create_corpus('a')")
    for wrong in WRONG:
        with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
            connection.execute("select pgclarify.submit('clarify', 'q', 'a', %s)", [json.dumps({"filter": wrong})])
        assert refused.value.diag.message_hint, wrong
        assert refused.value.diag.column_name == "filter"


def test_elements_of_a_list_of_documents_are_ids(connection: Connection) -> None:
    connection.execute("select pgclarify.create_corpus('a')")
    for wrong in ([["d1"]], [{"id": 1}], [True]):
        with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
            connection.execute(
                "select pgclarify.submit('clarify', 'q', 'a', %s)", [json.dumps({"document_ids": wrong})]
            )
        assert refused.value.diag.column_name == "document_ids"


@pytest.mark.parametrize("values", [[1] * 2000, ["x" * 40000] * 3])
def test_a_filter_that_is_too_long_says_how_long_it_is(corpus: Connection, values: list[object]) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
        found(corpus, filter={"product": values})
    assert re.search(r"\d", str(refused.value.diag.message_detail))


def test_a_key_that_no_document_has_is_told(corpus: Connection) -> None:
    told: list[str] = []
    corpus.add_notice_handler(lambda notice: told.append(str(notice.message_primary)))
    assert found(corpus, filter={"porduct": "auto", "any": [{"year": 2024}, {"yaer": 2024}]}) == set()
    assert ["porduct" in message and "yaer" in message for message in told] == [True]
    told.clear()
    found(corpus, filter={"product": "auto", "title": "x"})
    assert told == []


def test_keys_of_hidden_documents_are_not_told(
    connection: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker
) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["policies"])
    connection.execute(
        "select pgclarify.add_document('policies', 'closed', 'Rental cars.', metadata => '{\"secret\": 1}',"
        " readers => array[current_user]::name[])"
    )
    make_worker().index_everything()
    user = connect(make_role("pgclarify_user"))
    told: list[str] = []
    user.add_notice_handler(lambda notice: told.append(str(notice.message_primary)))
    assert found(user, filter={"secret": 1}) == set()
    assert len(told) == 1


class TestRuns:
    def test_the_part_is_in_the_settings_and_in_the_key_of_reuse(self, corpus: Connection) -> None:
        def settings(part: dict[str, Any]) -> dict[str, Any]:
            run_id = scalar(corpus, "select pgclarify.submit('clarify', 'q', 'policies', %s)", json.dumps(part))
            found: dict[str, Any] = scalar(corpus, "select settings from pgclarify.run where run_id = %s", run_id)
            return found

        assert settings({"filter": {"year": 2025}})["filter"] == {"year": 2025}
        assert "filter" not in settings({"filter": {}})
        one, other = settings({"document_ids": ["b", "a", "b"]}), settings({"document_ids": ["a", "b"]})
        assert one == other
        assert "document_ids" not in one
        keys = corpus.execute("select count(distinct reuse_key) from pgclarify_private.run").fetchone()
        assert keys == (3,)
        assert scalar(corpus, "select array_agg(document_ids) from pgclarify_private.document_set") == [["a", "b"]]

    def test_a_hundred_thousand_ids(self, corpus: Connection) -> None:
        ids = [f"d{place}" for place in range(100_000)]
        assert len(found(corpus, document_ids=ids)) == 60
        scalar(corpus, "select pgclarify.submit('clarify', 'q', 'policies', %s)", json.dumps({"document_ids": ids}))
        assert scalar(corpus, "select cardinality(document_ids) from pgclarify_private.document_set") == 100_000

    @parametrize_in_one_test("method", ["dense", "hybrid", "lexical"])
    def test_a_worker_searches_in_the_part_only(self, corpus: Connection, make_worker: MakeWorker, method: str) -> None:
        expected = found(corpus, filter={"product": "auto"})
        part = {"filter": {"product": "auto"}, "method": method, "top_k": 50}
        run_id = scalar(corpus, "select pgclarify.submit('clarify', 'rental', 'policies', %s)", json.dumps(part))
        worker = make_worker()
        run = worker.start(run_id)
        assert run is not None
        rows = worker.retrieve(run_id, run["attempt"], "rental", vector_of("rental"))
        assert {row["document_id"] for row in rows} == expected

    def test_explain_says_how_large_the_part_is(self, corpus: Connection) -> None:
        part = {"filter": {"year": {">=": 2025}}, "document_ids": ["d1", "d2", "d3"]}
        run_id = scalar(corpus, "select pgclarify.submit('clarify', 'q', 'policies', %s)", json.dumps(part))
        fitting = found(corpus, **part)
        lines = [line for (line,) in corpus.execute("select * from pgclarify.explain(%s)", [run_id])]
        assert f"  Part: {len(fitting)} of 60 passages that you may read" in lines


PRODUCTS = ["auto", "home", None, "auto", "boat"]


def filters_of(products: list[str | None]) -> list[dict[str, str] | None]:
    return [None if product is None else {"product": product} for product in products]


def submit_many(connection: Connection, questions: list[str], **options: Any) -> list[int]:
    submitted = "select pgclarify.submit_many('clarify', %s, 'policies', %s)"
    return list(scalar(connection, submitted, questions, json.dumps(options)))


class TestEachQuestionHasItsFilter:
    def test_equal_pairs_are_asked_once(self, corpus: Connection) -> None:
        questions = ["rental cars", "rental cars", "rental cars", "rental cars", "vans"]
        runs = submit_many(corpus, questions, filters=filters_of(PRODUCTS))

        assert runs[0] == runs[3]
        assert len(set(runs)) == 4
        asked = corpus.execute(
            "select run_id, question, settings -> 'filter' ->> 'product', settings ? 'filters' from pgclarify.run"
        ).fetchall()
        assert {run_id: (question, product, rest) for run_id, question, product, rest in asked} == {
            run_id: (question, product, False)
            for run_id, question, product in zip(runs, questions, PRODUCTS, strict=True)
        }

    def test_each_is_searched_in_its_part(self, corpus: Connection, make_worker: MakeWorker) -> None:
        worker = make_worker()
        for product, run_id in zip(
            PRODUCTS, submit_many(corpus, ["rental cars"] * 5, top_k=100, filters=filters_of(PRODUCTS)), strict=True
        ):
            run = worker.start(run_id)
            if run is None:
                continue
            worker.retrieve(run_id, run["attempt"], "rental cars", vector_of("rental cars"))
            seen = corpus.execute(
                "select distinct document.metadata ->> 'product' from pgclarify.candidate"
                " join pgclarify.document on document.id = candidate.document_id where run_id = %s",
                [run_id],
            ).fetchall()
            assert {one for (one,) in seen} == ({product} if product else {"auto", "home", "boat", None})

    @parametrize_in_one_test(
        "given, told",
        [
            ({"filters": [{"product": "auto"}]}, "Filters: 1. Questions: 2."),
            ({"filters": {"product": "auto"}}, "It is a JSON object."),
            ({"filters": [{"product": {"is": 1}}, None]}, "Its value is"),
            ({"filters": [None, None], "filter": {"product": "auto"}}, "None"),
        ],
    )
    def test_wrong_filters_are_an_error(self, corpus: Connection, given: dict[str, Any], told: str) -> None:
        with pytest.raises(psycopg.Error) as refused:
            submit_many(corpus, ["rental cars", "vans"], **given)
        assert refused.value.sqlstate == "22023"
        assert told in str(refused.value.diag.message_detail)

    def test_one_question_has_no_filters(self, corpus: Connection) -> None:
        with pytest.raises(psycopg.Error) as refused:
            corpus.execute("select pgclarify.submit('clarify', 'vans', 'policies', '{\"filters\": [null]}')")
        assert refused.value.sqlstate == "22023"


def test_neighbors_are_of_the_part(corpus: Connection, make_worker: MakeWorker) -> None:
    link(make_worker())
    passage_id = scalar(corpus, "select id from pgclarify.passage where document_id = 'd0'")
    rows = corpus.execute(
        "select document_id"
        " from pgclarify.neighbors('policies', 'd0', %s, 50, document_ids => array['d3', 'd4', 'd0'])",
        [passage_id],
    ).fetchall()
    assert {document_id for (document_id,) in rows} == {"d3", "d4"}


def test_words_that_are_rare_in_the_corpus_and_absent_from_the_part_hide_nothing(
    connection: Connection, make_worker: MakeWorker
) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["policies"])
    for place in range(60):
        connection.execute(
            "select pgclarify.add_document('policies', %s, %s, metadata => %s)",
            [f"d{place}", "Rental cars. " + "Zebra. " * (place % 2), json.dumps({"even": place % 2 == 0})],
        )
    make_worker().index_everything()
    # As in a corpus in which "rental" is so common that passages are looked up by "zebra" only.
    connection.execute(
        "insert into pgclarify_private.term (corpus_id, lexeme, passages, restricted_passages)"
        " values (1, 'rental', 6000, 0) on conflict (corpus_id, lexeme) do update set passages = excluded.passages"
    )
    part = "pgclarify_private.part_of(1, '{}', '{\"filter\": {\"even\": true}}', 0)"
    ids = scalar(connection, f"select (pgclarify_private.lexical(1, '{{}}', 'zebra rental', 60, {part})).document_ids")
    assert set(ids) == {f"d{place}" for place in range(0, 60, 2)}


@parametrize_in_one_test("one", [{"product": "auto"}, {"title": {"starts_with": "Title 1"}}])
def test_a_large_part_is_searched_like_a_small_one(corpus: Connection, one: dict[str, Any]) -> None:
    roles = "(select pgclarify_private.roles_of('postgres'))"
    settings = json.dumps({"filter": one})
    nearest: dict[int, list[str]] = {}
    for few in (20_000, 0):
        part = f"pgclarify_private.part_of(1, {roles}, %s, {few})"
        dense = f"select (pgclarify_private.dense(1, {roles}, %s::halfvec, 60, {part})).document_ids"
        lexical = f"select (pgclarify_private.lexical(1, {roles}, 'rental cars', 60, {part})).document_ids"
        near = scalar(corpus, dense, str(vector_of("rental")), settings)
        nearest[few] = sorted(near) + sorted(scalar(corpus, lexical, settings))
    assert nearest[0] == nearest[20_000]
    assert set(nearest[0]) == found(corpus, filter=one)
