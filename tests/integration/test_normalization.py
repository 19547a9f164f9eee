"""Composed and decomposed words find each other, and marks that nobody sees neither break words nor hide them."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from pgclarify.ingest.folders import LocalFile
from pgclarify.ingest.naming import Naming
from pgclarify.language.normalization import INVISIBLE, normalized
from tests.integration.manual_worker import MakeWorker
from tests.integration.retrieving import add_all, lexical
from tests.sessions import Connection, scalar

pytestmark = pytest.mark.rolled_back


def nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def test_the_server_and_the_worker_normalize_alike(connection: Connection) -> None:
    # What only one of their versions of Unicode knows is left out.
    letters = [chr(point) for point in range(1, 0x110000) if unicodedata.category(chr(point)) not in ("Cs", "Cn", "Co")]
    letters += ["\uf001", "\uf002", "\uf0b7", "\ue000"]
    text = "".join(f"a{letter}\u0301\u0323b {letter}\u200db" for letter in letters)
    assert scalar(connection, "select pgclarify_private.normalized(%s)", text) == normalized(text)


WORDS = {
    "composed": "Die Gebühr für die Säge",
    "decomposed": nfd("Die Gebühr für die Säge"),
    "soft hyphens": "Die Ge\u00adbühr für die Sä\u00adge",
    "zero-width blanks": "Die Ge\u200bbühr für die Sä\ufeffge",
    "marks of direction": "Die \u202aGebühr\u202c für \u2066die\u2069 Säge\u200e",
    "joiners": "Die Ge\u200cbühr für die Sä\u200dge",
}


@pytest.mark.parametrize("asked", [*WORDS.values()], ids=[*WORDS])
def test_words_find_each_other_in_every_form(connection: Connection, make_worker: MakeWorker, asked: str) -> None:
    connection.execute("select pgclarify.create_corpus('insurance', options => '{\"search_config\": \"german\"}')")
    add_all(connection, WORDS)
    make_worker().index_everything()
    assert {found for found, _ in lexical(connection, asked)} == set(WORDS)


def test_ligatures_do_not_hide_words(connection: Connection, make_worker: MakeWorker) -> None:
    connection.execute("select pgclarify.create_corpus('insurance')")
    add_all(
        connection,
        {"letters": "the office floor", "signs": "the o\ufb03ce \ufb02oor", "private": "the office \uf002oor"},
    )
    make_worker().index_everything()
    for asked in ("floor", "\ufb02oor", "\uf002oor"):
        assert len(lexical(connection, asked)) == 3
    assert len(lexical(connection, "office")) == 3


def test_offsets_are_of_what_is_stored(connection: Connection, make_worker: MakeWorker) -> None:
    connection.execute("select pgclarify.create_corpus('insurance')")
    add_all(connection, {"one": f"A {INVISIBLE}reim\u00adbursement. " + nfd("\n\nGröße über allem. ") * 3})
    make_worker().index_everything()
    stored = scalar(connection, "select content from pgclarify.document")
    assert stored == normalized(stored)
    rows = connection.execute("select start_char, end_char, content from pgclarify.passage").fetchall()
    assert len(rows) > 1
    for start, end, content in rows:
        assert stored[start:end] == content


@pytest.mark.parametrize(
    ("added", "named"), [("Größe", nfd("Größe")), (nfd("Größe"), "Größe"), (nfd("Größe"), nfd("Größe"))]
)
def test_an_id_is_found_in_both_forms_and_names_one_document(connection: Connection, added: str, named: str) -> None:
    connection.execute("select pgclarify.create_corpus('insurance')")
    add_all(connection, {added: "first"})
    add_all(connection, {named: "second"})
    for given in (added, named):
        row = connection.execute("select id, content from pgclarify.get_document('insurance', %s)", [given]).fetchone()
        assert row == ("Größe", "second")
    assert scalar(connection, "select pgclarify.remove_document('insurance', %s)", named)
    assert scalar(connection, "select count(*) from pgclarify.document") == 0


@pytest.mark.parametrize("function", ["remove_document", "erase_document"])
def test_a_document_of_an_earlier_version_keeps_its_id_and_is_mended_when_it_is_added_again(
    connection: Connection, make_worker: MakeWorker, function: str
) -> None:
    connection.execute("select pgclarify.create_corpus('insurance')")
    add_all(connection, {"old": "sa\u0308ge"})
    # As 0.2.0 stored it.
    connection.execute(
        "update pgclarify_private.document set id = %(id)s, content = %(content)s,"
        " content_hash = pgclarify_private.content_hash(title, %(content)s)",
        {"id": nfd("Größe"), "content": nfd("Säge")},
    )
    add_all(connection, {"Größe": nfd("Säge")})
    stored = connection.execute("select id, content from pgclarify.document").fetchall()
    assert stored == [(nfd("Größe"), "Säge")]
    assert scalar(connection, f"select pgclarify.{function}('insurance', 'Größe')")


def test_rows_of_attached_tables_keep_their_keys_and_are_found_by_words(
    connection: Connection, make_worker: MakeWorker
) -> None:
    connection.execute("select pgclarify.create_corpus('insurance')")
    connection.execute("create table saws (id text primary key, body text)")
    connection.execute("insert into saws values (%s, %s)", [nfd("Größe"), nfd("Die Säge")])
    connection.execute("select pgclarify.attach_table('insurance', 'saws', 'id', 'body')")
    worker = make_worker()
    worker.follow_everything()
    worker.index_everything()
    assert [found for found, _ in lexical(connection, "Säge")] == [nfd("Größe")]
    joined = "select count(*) from saws inner join pgclarify.document on document.id = saws.id"
    assert scalar(connection, joined) == 1


def test_a_file_whose_name_is_decomposed_has_a_composed_id_and_keeps_its_name(tmp_path: Path) -> None:
    name = Naming(source="letters").of_file(LocalFile(tmp_path / nfd("Größe.txt"), tmp_path))
    assert name.document_id == "Größe.txt"
    assert name.origin == f"letters/{nfd('Größe.txt')}"
