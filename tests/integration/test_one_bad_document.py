"""A document that cannot be stored stops no other: it is named, the others are stored, and what was stored is said."""

from __future__ import annotations

import io
import json
import os
import tarfile
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NoReturn

import psycopg
import pytest

import pgclarify
from pgclarify.cli.client import CommandClient
from pgclarify.cli.main import main
from pgclarify.client import storing
from pgclarify.data import limits
from pgclarify.data.vocabulary import Document
from pgclarify.errors import DatabaseError, InputError, ServerUnavailable
from tests.sessions import Connection

Load = Callable[..., tuple[int, dict[str, Any], str]]
COMPOSED, DECOMPOSED = (unicodedata.normalize(form, "Gebühr") for form in ("NFC", "NFD"))


@pytest.fixture(scope="module")
def database(installed: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """URL of a database that all tests share."""
    with installed() as dsn:
        yield dsn


@pytest.fixture
def load(
    database: str,
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Iterator[Load]:
    """Loads the folder "f" into corpus "c": the exit code, the summary, and what else is printed."""
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", database)
    monkeypatch.chdir(tmp_path)
    Path("f").mkdir()

    def load(*options: str) -> tuple[int, dict[str, Any], str]:
        with pytest.raises(SystemExit) as caught:
            main(["load", "c", "f", "--no-wait", "--json", *options])
        printed, said = capsys.readouterr()
        return int(caught.value.code or 0), json.loads(printed or "{}"), said

    yield load
    connection.execute("select pgclarify.drop_corpus(corpus) from pgclarify.corpus")


def stored(connection: Connection) -> dict[str, str]:
    return dict(connection.execute("select id, content from pgclarify.document order by id").fetchall())


def named(summary: dict[str, Any]) -> list[str]:
    """What could not be loaded."""
    return sorted(message for messages in summary["problems"].values() for message in messages)


def put(name: str, content: str | bytes) -> None:
    path = Path("f", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


# Of a line in JSON lines; each is beyond one limit.
BAD_LINES: dict[str, str | dict[str, Any]] = {
    "metadata": {"metadata": {"a": "x" * 1_000_000}},
    "numbers in metadata, which only the server counts": {"metadata": {"a": list(range(200_000))}},
    "a key of metadata": {"metadata": {"x" * 1_000_001: 1}},
    "a number beyond a float": '{"id": "bad", "text": "b", "metadata": {"a": 1e999}}',
    "a number below a float": '{"id": "bad", "text": "b", "metadata": {"a": [-1e999]}}',
    "a number with too many digits": '{"id": "bad", "text": "b", "metadata": {"a": %s}}' % ("9" * 5000),
    "depth": {"metadata": deep(900)},
    "more depth": '{"id": "bad", "text": "b", "metadata": %s}' % ('{"a":' * 50_000 + "1" + "}" * 50_000),
    "NUL in metadata": {"metadata": {"a": ["\0"]}},
    "half a surrogate pair in metadata": '{"id": "bad", "text": "b", "metadata": {"a": "\\ud800"}}',
    "URI": {"uri": "https://shop.example/" + "x" * 10_000},
    "NUL in the URI": {"uri": "\0"},
    "title": {"title": "\0"},
    "id": {"id": "x" * 1001},
    "bytes of the id": {"id": "あ" * 900},
    "text that nobody sees": {"text": "\u200b\u00ad"},
    "a date too early": {"dated": "0001-01-01"},
    "a date too late": {"dated": "9999-12-31"},
    "a date that is too late in UTC": {"dated": "9998-12-31T23:00:00-05:00"},
    "a reader without a name": {"readers": [""]},
    "a reader whose name PostgreSQL would cut": {"readers": ["x" * 64]},
    "NUL in a reader": {"readers": ["\0"]},
    "readers": {"readers": ["r"] * 1001},
}


class TestALineThatCannotBeStored:
    def test_is_named_and_the_others_are_loaded(self, load: Load, connection: Connection) -> None:
        good = [json.dumps({"id": f"{number}", "text": "a"}) for number in range(len(BAD_LINES) + 1)]
        bad = [
            line if isinstance(line, str) else json.dumps({"id": "bad", "text": "b"} | line)
            for line in BAD_LINES.values()
        ]
        # A good line stands before and after each bad one.
        put("a.jsonl", "\n".join(chain.from_iterable(zip_longest(good, bad, fillvalue=""))))
        put("z.md", "Last.")

        code, summary, _ = load()

        assert code == 1
        assert stored(connection) == {f"{number}": "a" for number in range(len(good))} | {"z.md": "Last."}
        assert (summary["changed"], summary["created"]) == (len(good) + 1, True)
        problems = " ".join(named(summary))
        missed = [
            name
            for number, name in enumerate(BAD_LINES)
            if f"line {2 * number + 2} of {Path('f/a.jsonl')}" not in problems
        ]
        assert missed == []
        assert len(named(summary)) == len(bad)

    def test_keeps_its_old_version_and_the_rest_is_mirrored(self, load: Load, connection: Connection) -> None:
        lines = [{"id": key, "text": f"{key}."} for key in ("gone", "long", "undated", "other")]
        put("a.jsonl", "\n".join(map(json.dumps, lines)))
        put("gone.md", "Gone.")
        assert load()[0] == 0
        lines[1] = {"id": "long", "text": "New.", "uri": "x" * 10_001}
        lines[2] = {"id": "undated", "text": "New.", "dated": "soon"}
        lines[3] = {"id": "other", "text": "New."}
        put("a.jsonl", "\n".join(map(json.dumps, lines[1:])))
        Path("f/gone.md").unlink()

        code, summary, _ = load("--mirror", "--yes")

        assert (code, summary["changed"], summary["removed"], len(named(summary))) == (1, 1, 2, 2)
        assert stored(connection) == {"long": "long.", "other": "New.", "undated": "undated."}

    def test_keeps_all_of_its_file_if_its_id_is_unknown(self, load: Load, connection: Connection) -> None:
        put("a.jsonl", '{"id": "1", "text": "a"}\n{"id": "2", "text": "b"}')
        put("gone.md", "Gone.")
        assert load()[0] == 0
        put("a.jsonl", '{"id": "1", "text": "a"}\n{"id": "2"')
        Path("f/gone.md").unlink()

        code, summary, _ = load("--mirror", "--yes")

        assert (code, summary["removed"], summary["kept"]) == (1, 1, 1)
        assert list(stored(connection)) == ["1", "2"]


def test_front_matter_that_cannot_be_stored_stops_no_other_file(load: Load, connection: Connection) -> None:
    for name, matter in {
        "long": f"a: {'x' * 1_000_000}",
        "infinite": "a: .inf",
        "beyond a float": "a: 1.0e+999",
        "nul": r'a: "\0"',
    }.items():
        put(f"{name}.md", f"---\n{matter}\n---\nText.\n")
    put("toml.md", "+++\na = inf\n+++\nText.\n")
    put("z.md", "---\na: 1\n---\nGood.\n")

    code, summary, _ = load()

    assert code == 1
    assert stored(connection) == {"z.md": "Good."}
    assert len(named(summary)) == 5
    assert all(any(f"{name}.md" in one for one in named(summary)) for name in ("long", "infinite", "nul", "toml"))


def test_a_row_that_cannot_be_stored_stops_no_other_row(load: Load, connection: Connection) -> None:
    put("a.csv", f"id,note,url\n1,a,\n2,{'x' * 1_100_000},\n3,c,{'u' * 10_001}\n4,d,\n")

    code, summary, _ = load()

    assert code == 1
    assert list(stored(connection)) == ["1", "4"]
    assert [one.split(" of ")[0] for one in named(summary)] == ["line 3", "line 4"]


def test_a_document_that_only_the_server_refuses_is_found_in_its_batch(
    load: Load, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.execute(
        "alter table pgclarify_private.document add constraint no_hail check (content not like '%hail%') not valid"
    )
    put("a.jsonl", "\n".join(json.dumps({"id": key, "text": "hail" if key % 7 == 0 else "a"}) for key in range(50)))
    try:
        code, summary, _ = load()
    finally:
        connection.execute("alter table pgclarify_private.document drop constraint no_hail")

    assert (code, summary["changed"]) == (1, 42)
    assert len(stored(connection)) == 42
    assert named(summary)[0].startswith("line 1 of ")
    assert len(named(summary)) == 8


def test_what_was_stored_before_the_server_is_gone_is_said(
    load: Load, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = CommandClient.load
    monkeypatch.setattr(storing, "_BATCH_DOCUMENTS", 2)

    def load_first(client: CommandClient, batch: Any) -> Any:
        if batch[0].document_id != "0":
            raise ServerUnavailable("no connection")
        return sent(client, batch)

    monkeypatch.setattr(CommandClient, "load", load_first)
    put("a.jsonl", "\n".join(json.dumps({"id": str(key), "text": "a"}) for key in range(5)))

    code, summary, said = load()

    assert (code, summary["changed"]) == (1, 2)
    assert "no connection" in said.lower()
    assert list(stored(connection)) == ["0", "1"]


class TestNamesThatDifferOnlyInTheirUnicodeForm:
    @staticmethod
    def check(load: Load, connection: Connection, first: str) -> None:
        """The first in order is loaded, and the second is named. It stays so until a prefix gives it another id."""
        for options in ((), (), ("--mirror", "--yes")):
            code, summary, _ = load(*options)
            assert code == 1
            assert len(named(summary)) == 1
            assert stored(connection) == {first: "First.", "z.md": "Last."}
        assert load("--prefix", "new/")[0] == 0
        assert stored(connection) == {first: "First.", f"new/{first}": "Second.", "z.md": "Last."}
        assert load("--mirror", "--yes")[0] == 0
        assert len(stored(connection)) == 3

    def test_members_of_an_archive(self, load: Load, connection: Connection) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(f"{COMPOSED}.md", "First.")
            archive.writestr(f"{DECOMPOSED}.md", "Second.")
        put("a.zip", packed.getvalue())
        put("z.md", "Last.")
        self.check(load, connection, f"a.zip!{COMPOSED}.md")

    def test_files_of_a_folder(self, load: Load, connection: Connection) -> None:
        # In order of their names.
        put(f"{DECOMPOSED}.md", "First.")
        put(f"{COMPOSED}.md", "Second.")
        put("z.md", "Last.")
        self.check(load, connection, f"{COMPOSED}.md")

    def test_ids_of_lines(self, load: Load, connection: Connection) -> None:
        put(
            "a.jsonl",
            "".join(
                f'{{"id": "{one}", "text": "{text}"}}\n'
                for one, text in ((COMPOSED, "First."), (DECOMPOSED, "Second."))
            ),
        )
        put("z.md", "Last.")
        self.check(load, connection, COMPOSED)

    def test_the_one_that_was_loaded_before_stays(self, load: Load, connection: Connection) -> None:
        put(f"{COMPOSED}.md", "First.")
        put("z.md", "Last.")
        assert load()[0] == 0
        put(f"{DECOMPOSED}.md", "Second.")
        self.check(load, connection, f"{COMPOSED}.md")


def test_a_member_whose_name_is_no_text_stops_no_other(load: Load, connection: Connection) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT, encoding="latin-1") as archive:
        for name in ("Gebühr.md", "open.md"):
            member = tarfile.TarInfo(name)
            member.size = 5
            archive.addfile(member, io.BytesIO(b"Text."))
    put("a.tar", packed.getvalue())
    assert load()[0] == 0
    assert len(stored(connection)) == 2


@pytest.mark.parametrize("options", [(), ("--as", "docs.")])
def test_a_folder_that_cannot_be_listed_keeps_its_documents_and_the_rest_is_mirrored(
    load: Load, connection: Connection, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    for name in ("closed/a.md", "b.md", "gone.md"):
        put(name, "Text.")
    assert load(*options)[0] == 0
    Path("f/gone.md").unlink()
    scan = os.scandir

    def refuse(path: str) -> NoReturn:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.scandir", lambda path: refuse(path) if str(path).endswith("closed") else scan(path))

    code, summary, _ = load("--mirror", "--yes", *options)

    assert (code, summary["removed"], summary["kept"]) == (1, 1, 1)
    assert list(stored(connection)) == ["b.md", "closed/a.md"]
    # Those of the schema are read, too, to tell its version.
    here = Path.cwd()
    monkeypatch.setattr(
        "os.scandir", lambda path: refuse(path) if here in Path(path).absolute().parents else scan(path)
    )
    code, summary, _ = load("--mirror", "--yes", *options)
    assert (code, summary["removed"], summary["kept"]) == (1, 0, 2)


# The most that a document may have; and one more.
AT_THE_LIMIT = {
    "id": (Document("x" * limits.MOST_ID_CHARS, "a"), Document("x" * (limits.MOST_ID_CHARS + 1), "a")),
    "bytes of the id": (Document("あ" * 866, "a"), Document("あ" * 867, "a")),
    "an id in another form": (Document("u\u0308" * limits.MOST_ID_CHARS, "a"), Document("\u0958" * 600, "a")),
    "no id": (Document("x", "a"), Document("", "a")),
    "content": (Document("x", "a" * limits.MOST_CONTENT_CHARS), Document("x", "a" * (limits.MOST_CONTENT_CHARS + 1))),
    "content in another form": (Document("x", "u\u0308" * 5_000_001), Document("x", "\u0958" * 5_000_001)),
    "visible content": (Document("x", "\u00a0"), Document("x", "\ufeff\v")),
    "URI": (Document("x", "a", uri="u" * limits.MOST_URI_CHARS), Document("x", "a", uri="u" * 10_001)),
    "origin": (Document("x", "a", origin="o" * limits.MOST_ORIGIN_BYTES), Document("y", "a", origin="o" * 2601)),
    "readers": (Document("x", "a", readers=("r",) * limits.MOST_READERS), Document("x", "a", readers=("r",) * 1001)),
    "date": (Document("x", "a", dated=limits.FIRST_DATE), Document("x", "a", dated=limits.LAST_DATE.replace(second=1))),
}


@pytest.mark.parametrize(("most", "more"), AT_THE_LIMIT.values(), ids=AT_THE_LIMIT.keys())
def test_client_and_server_have_the_same_limits(
    load: Load, database: str, connection: Connection, monkeypatch: pytest.MonkeyPatch, most: Document, more: Document
) -> None:
    with pgclarify.connect(database, corpus="c") as client:
        client.create_corpus("c")
        assert client.add_documents([most]) == 1
        with pytest.raises(InputError) as refused:
            client.add_documents([more])
        monkeypatch.setattr("pgclarify.client.documents.checked", lambda document: document)
        with pytest.raises((InputError, DatabaseError)) as by_server:
            client.add_documents([more])
    assert "cannot be stored" in refused.value.message
    assert by_server.value.is_about_data
    assert isinstance(by_server.value.__cause__, psycopg.Error)


def test_metadata_have_at_least_as_many_bytes_as_the_client_counts(connection: Connection) -> None:
    for value in (
        {},
        {"a": None, "b": True, "c": 0, "d": 12345678901234567890, "e": 1e-300, "f": -0.5},
        {"a": {"b": [{}, [], [[]], {"c": "ü"}]}, "d": ["x", "yy", 'z"\n'], "": ""},
    ):
        (size,) = connection.execute("select pg_column_size(%s::jsonb)", [json.dumps(value)]).fetchone() or (0,)
        assert storing._least_bytes(value) <= size
