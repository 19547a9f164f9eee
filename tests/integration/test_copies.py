"""Passages with the same text: judged once, cited all, and counted once; with a worker and a model server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from pgclarify.data.documents import bare_text
from tests.integration.judged_by_amounts import by_amounts, make_corpus
from tests.openai_server import Server
from tests.sessions import Connection, scalar
from tests.workers import Service, until

TOWING = "The towing fee is $90 for a car."
GLASS = "The glass fee is $40 for a windscreen."
KEYS = "The key fee is $15 for a lock."


@pytest.fixture
def make(superuser: Connection, model: Server) -> Iterator[Any]:
    """Make a corpus of documents, each an id with its parameters; it is dropped at the end."""
    model.behavior = by_amounts
    made: list[str] = []

    def make(**documents: dict[str, Any]) -> str:
        name = f"copies {uuid4()}"
        make_corpus(superuser, name, [{"id": one, **given} for one, given in documents.items()])
        made.append(name)
        return name

    yield make
    for name in made:
        superuser.execute("select pgclarify.drop_corpus(%s)", [name])


def ask(
    asker: Connection, corpus: str, question: str = "fee", top_k: int = 20, filter_: object = None, **options: object
) -> dict[str, tuple[Any, ...]]:
    """The readings of a question by their answers: support, documents, and the run."""
    rows = asker.execute(
        "select answer, support, document_ids, run_id from pgclarify.clarify(%s, %s, %s, options => %s, filter => %s)",
        [question, corpus, top_k, json.dumps(options), None if filter_ is None else json.dumps(filter_)],
    ).fetchall()
    return {answer: (support, sorted(document_ids), run_id) for answer, support, document_ids, run_id in rows}


def copies(count: int, content: str = TOWING, **more: Any) -> dict[str, dict[str, Any]]:
    return {f"copy{place:02}": {"content": content, "title": f"Office {place}", **more} for place in range(count)}


def test_copies_under_other_titles_and_headings_are_judged_once_and_cited_all(
    make: Any, asker: Connection, model: Server
) -> None:
    corpus = make(
        **copies(3),
        headed={"content": f"# Fees\n\n## Towing\n\n{TOWING}"},
        other={"content": "The towing fee is $90 for each car."},
        glass={"content": GLASS},
    )
    before = model.calls
    found = ask(asker, corpus)
    documents = ["copy00", "copy01", "copy02", "headed", "other"]
    assert {answer: row[:2] for answer, row in found.items()} == {"$90": (2, documents), "$40": (1, ["glass"])}
    # One for each text.
    assert model.calls - before == 3
    run_id = found["$90"][2]
    quotes = asker.execute(
        "select citation.document_id, citation.quote,"
        " substr(document.content, citation.start_char + 1, citation.end_char - citation.start_char), is_current,"
        " heading, citation.is_medoid from pgclarify.citation inner join pgclarify.document"
        " on document.corpus_id = citation.corpus_id and document.id = citation.document_id"
        " where run_id = %s and answer = '$90' order by rank",
        [run_id],
    ).fetchall()
    assert [row[5] for row in quotes] == [True, *[False] * 4]
    assert all(quote == there and is_current for _, quote, there, is_current, *_ in quotes)
    assert [row[4] for row in quotes if row[0] == "headed"] == ["Fees > Towing"]
    counts = asker.execute("select candidates, verdicts from pgclarify.run where run_id = %s", [run_id]).fetchone()
    assert counts == (3, 3)


def test_copies_do_not_fill_top_k(make: Any, asker: Connection, model: Server) -> None:
    corpus = make(**copies(30), glass={"content": GLASS}, keys={"content": KEYS})
    for options in ({"method": "lexical"}, {"method": "dense"}, {}, {"retrieval": "adaptive"}):
        model.behavior = by_amounts
        found = ask(asker, corpus, "towing fee", top_k=3, **options)
        assert {answer: (support, len(ids)) for answer, (support, ids, _) in found.items()} == {
            "$90": (1, 30), "$40": (1, 1), "$15": (1, 1)
        }, options  # fmt: skip


def test_support_of_one_text_is_one_for_every_option(make: Any, asker: Connection) -> None:
    corpus = make(**copies(3), glass={"content": GLASS}, also={"content": "The glass fee is $40 for each windscreen."})
    assert list(ask(asker, corpus, singletons="drop")) == ["$40"]
    run_id = ask(asker, corpus)["$90"][2]
    again = asker.execute(
        "select answer, support, cardinality(document_ids) from pgclarify.consolidate(%s) order by 1", [run_id]
    ).fetchall()
    assert again == [("$40", 2, 2), ("$90", 1, 3)]


def test_a_filter_and_a_list_hold_for_copies(make: Any, asker: Connection) -> None:
    corpus = make(
        **copies(3, metadata={"year": 2025}),
        new={"content": TOWING, "metadata": {"year": 2026}},
        newer={"content": TOWING, "metadata": {"year": 2026}},
    )
    assert ask(asker, corpus, filter_={"year": 2026})["$90"][:2] == (1, ["new", "newer"])
    listed = asker.execute(
        "select document_ids from pgclarify.clarify('fee', %s, document_ids => array['new', 'copy01'])", [corpus]
    ).fetchall()
    assert [sorted(ids) for (ids,) in listed] == [["copy01", "new"]]


def test_no_citation_is_of_a_document_that_the_reader_may_not_read(
    make: Any, asker: Connection, superuser: Connection, service: Service
) -> None:
    corpus = make(
        **copies(2),
        hidden={"content": TOWING, "readers": ["pgclarify_worker"]},
        mine={"content": TOWING, "readers": [service.asker]},
    )
    found = ask(asker, corpus)["$90"]
    assert found[:2] == (1, ["copy00", "copy01", "mine"])
    # A copy that is closed later is shown no longer, and the reading stays as long as the judged document is open.
    judged = scalar(
        superuser,
        "select document_id from pgclarify_private.citation where run_id = %s and is_medoid",
        found[2],
    )
    closing = "select pgclarify.add_document(%s, %s, %s, readers => '{pgclarify_worker}', title => %s)"
    shown = "select document_ids from pgclarify.result(%s)"
    (other, *_) = (one for one in ("copy00", "copy01") if one != judged)
    superuser.execute(closing, [corpus, other, TOWING, f"Office {int(other[-1])}"])
    assert sorted(scalar(asker, shown, found[2])) == sorted({*found[1]} - {other})
    cited = "select count(*) from pgclarify.citation where run_id = %s and document_id = %s and title is not null"
    assert scalar(asker, cited, found[2], other) == 0
    # Title and headings of the judged passage may be in the reading.
    superuser.execute(closing, [corpus, judged, TOWING, None])
    assert asker.execute(shown, [found[2]]).fetchall() == []


def test_a_fence_holds_for_copies(make: Any, asker: Connection, superuser: Connection, service: Service) -> None:
    corpus = make(
        **copies(2, metadata={"tenant": "other"}),
        mine={"content": TOWING, "metadata": {"tenant": "ours"}},
        also={"content": TOWING, "metadata": {"tenant": "ours"}},
    )
    superuser.execute("select pgclarify.revoke_access(%s, 'pgclarify_reader')", [corpus])
    grant = 'select pgclarify.grant_access(%s, %s, filter => \'{"tenant": "ours"}\')'
    superuser.execute(grant, [corpus, service.asker])
    found = ask(asker, corpus)["$90"]
    assert found[:2] == (1, ["also", "mine"])
    ids = scalar(
        superuser, "select array_agg(document_id) from pgclarify_private.candidate where run_id = %s", found[2]
    )
    assert sorted(ids) == ["also", "mine"]


def test_erasing_the_judged_document_erases_what_was_read_from_it(
    make: Any, asker: Connection, superuser: Connection
) -> None:
    corpus = make(**copies(3), other={"content": "The towing fee is $90 for each car."})
    run_id = ask(asker, corpus)["$90"][2]
    proofs = "select document_id from pgclarify_private.citation where run_id = %s order by rank"
    shown = "select support, document_ids from pgclarify.result(%s)"
    by_rank = [one for (one,) in superuser.execute(proofs, [run_id])]
    (judged,) = {one for one in by_rank[:2] if one != "other"}
    last = by_rank[-1]
    superuser.execute("select pgclarify.erase_document(%s, %s)", [corpus, last])
    assert [(one, sorted(ids)) for one, ids in asker.execute(shown, [run_id])] == [(2, sorted({*by_rank} - {last}))]
    superuser.execute("select pgclarify.erase_document(%s, %s)", [corpus, judged])
    assert asker.execute(shown, [run_id]).fetchall() == [(1, ["other"])]


def test_explain_tells_which_passage_was_judged_for_a_copy(make: Any, asker: Connection) -> None:
    corpus = make(**copies(2), glass={"content": GLASS})
    run_id = ask(asker, corpus)["$90"][2]
    lines = [line for (line,) in asker.execute('select pgclarify.explain(%s, \'{"detail": "passages"}\')', [run_id])]
    copied = scalar(asker, "select copy_of from pgclarify.candidate where run_id = %s and copy_of is not null", run_id)
    assert sum(f"the text of #{copied}" in line for line in lines) == 1


def test_lists_and_reformulations_cite_copies_too(make: Any, asker: Connection) -> None:
    corpus = make(**copies(2), glass={"content": GLASS})
    listed = asker.execute("select answer, document_ids from pgclarify.list_answers('fee', %s)", [corpus]).fetchall()
    assert {answer: sorted(ids) for answer, ids in listed} == {"$90": ["copy00", "copy01"], "$40": ["glass"]}


def test_a_search_lists_all_copies(make: Any, asker: Connection, superuser: Connection) -> None:
    corpus = make(**copies(5), glass={"content": GLASS})
    until(lambda: scalar(superuser, "select linked = passages from pgclarify.corpus where corpus = %s", corpus), 60)
    for options in ({}, {"retrieval": "adaptive"}, {"reranker": "signal"}):
        found = asker.execute(
            "select document_id from pgclarify.search('towing fee', %s, 5, %s)", [corpus, json.dumps(options)]
        ).fetchall()
        assert sorted(one for (one,) in found) == [*copies(5)], options


def test_the_newest_copy_dates_a_reading(make: Any, asker: Connection) -> None:
    corpus = make(
        old={"content": "The deductible is $500 for each claim.", "dated": "2019-01-01Z"},
        newest={"content": "The deductible is $500 for each claim.", "dated": "2026-01-01Z"},
        newer={"content": "The deductible is $700 for any claim.", "dated": "2025-01-01Z"},
    )
    for call in (
        "pgclarify.clarify('deductible', %s)",
        "pgclarify.consolidate((select max(run_id) from pgclarify.run where corpus = %s))",
    ):
        rows = asker.execute(f"select answer, extract(year from dated) from {call}".encode(), [corpus]).fetchall()  # noqa: S608
        assert rows == [("$500", 2026), ("$700", 2025)]


HEADED = [
    "Text.", "# Fees", "# Fees\n", "# Fees\n\nText.", "## A\n### B\n\n Text.\n", "Fees\n====\nText.",
    "Fees\n---\n\n# B\nText.", "#no heading\nText.", "Text.\n# Later\n", "\n\n# A\r\nText.\r\n", "a\n--\nText.",
    "####### seven\nText.", " ", "# A\n\n \n", "A\n-----",
]  # fmt: skip


def test_both_languages_find_the_same_text(superuser: Connection) -> None:
    expression = scalar(superuser, "select pgclarify_private.bare_text_sql('content')")
    found = superuser.execute(f"select {expression} from unnest(%s::text[]) as content".encode(), [HEADED]).fetchall()  # noqa: S608
    assert [text for (text,) in found] == [bare_text(one) for one in HEADED]
    assert bare_text(HEADED[3]) == bare_text(HEADED[4]) == bare_text(HEADED[5]) == bare_text(HEADED[6]) == "Text."


def test_an_index_finds_copies(superuser: Connection) -> None:
    corpus_id = scalar(superuser, "select corpus_id from pgclarify.corpus limit 1")
    superuser.execute("set enable_seqscan = off")
    text_hash = scalar(superuser, "select pgclarify_private.text_hash_sql('passage.content')")
    plan = superuser.execute(
        f"explain select from pgclarify_private.passage_{corpus_id} as passage where {text_hash} = 1".encode()
    ).fetchall()
    assert any("hashtextextended" in line and "Index" in line for (line,) in plan)
