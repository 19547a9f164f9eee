"""The command load: files of many kinds, the id of a file's document, and which documents it may replace."""

from __future__ import annotations

import json
import socket
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from email.message import EmailMessage
from pathlib import Path
from typing import Any, NoReturn

import psycopg
import pytest

from pgclarify.cli.client import CommandClient
from pgclarify.cli.main import main
from pgclarify.errors import InputError, MissingReader
from pgclarify.ingest.apart import ParsingProcess
from pgclarify.ingest.folders import LINK_OUT
from tests.integration.manual_worker import MAKE_OPEN_CORPUS
from tests.sessions import Connect, Connection, MakeRole, scalar
from tests.unit.ingest.office_files import docx

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def database(installed: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """URL of a database that all tests share."""
    with installed() as dsn:
        yield dsn


@pytest.fixture(autouse=True)
def without_corpora(connection: Connection, make_role: MakeRole) -> Iterator[None]:
    """Drop all corpora after each test, before the roles that own them."""
    yield
    connection.execute("select pgclarify.drop_corpus(corpus) from pgclarify.corpus")


@pytest.fixture
def run(database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs a command on the test's database, in a folder of its own: its exit code, and what it prints."""
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", database)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        return int(caught.value.code or 0), *capsys.readouterr()

    return run


@pytest.fixture
def load(run: Run) -> Callable[..., int]:
    """Loads into corpus "c": the exit code."""

    def load(*arguments: str) -> int:
        return run("load", "c", *arguments, "--no-wait")[0]

    return load


def write(**contents: str) -> None:
    """Files in the working directory: `a__x` is a/x.md."""
    for name, content in contents.items():
        path = Path(f"{name.replace('__', '/')}.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def stored(connection: Connection) -> dict[str, str]:
    return dict(connection.execute("select id, content from pgclarify.document order by id").fetchall())


class TestOneFileIsOneDocument:
    @pytest.mark.parametrize(
        "again",
        ["a/../a", "a/sub/x.md", ".", "link/sub"],
    )
    def test_however_it_or_its_folder_is_named(
        self, load: Callable[..., int], connection: Connection, again: str
    ) -> None:
        write(a__x="One.", a__sub__x="Two.")
        Path("link").symlink_to("a")
        assert load("a") == 0
        write(a__x="One, new.", a__sub__x="Two, new.")

        assert load(again) == 0
        assert {name: content[:3] for name, content in stored(connection).items()} == {"sub/x.md": "Two", "x.md": "One"}
        assert load(str(Path("a").absolute())) == 0

        assert stored(connection) == {"sub/x.md": "Two, new.", "x.md": "One, new."}

    def test_in_two_folders_that_overlap(self, load: Callable[..., int], connection: Connection) -> None:
        write(a__x="One.", a__sub__y="Two.")

        assert [load("a", "a/sub"), load("a", "a/sub"), load("a")] == [0, 0, 0]

        assert stored(connection) == {"sub/y.md": "Two.", "x.md": "One."}

    def test_with_two_ids_in_one_call(self, connection: Connection) -> None:
        connection.execute("select pgclarify.create_corpus('c')")
        call = (
            "select changed, unchanged from pgclarify_private.caller as caller, pgclarify_private.load_documents("
            "caller, 'c', '{a,b,other}', '{Old.,New.,Other.}', '{null,null,null}', '{m:/a,m:/a,m:/other}')"
        )
        assert connection.execute(call).fetchall() == [(2, 0)]
        assert connection.execute(call).fetchall() == [(0, 2)]
        assert stored(connection) == {"a": "New.", "other": "Other."}

    def test_two_links_in_a_folder_are_two_documents(self, load: Callable[..., int], connection: Connection) -> None:
        write(x="One.")
        Path("a").mkdir()
        for name in ("y.md", "z.md"):
            Path("a", name).symlink_to("../x.md")

        assert [load("a", "--follow-links"), load("x.md"), load("a/y.md")] == [0, 0, 0]

        assert list(stored(connection)) == ["x.md", "y.md", "z.md"]

    def test_a_link_out_of_a_folder_is_counted_and_not_loaded(self, run: Run, connection: Connection) -> None:
        write(outside="Not for this corpus.", a__x="One.")
        Path("a", "y.md").symlink_to("../outside.md")

        code, said, _ = run("load", "c", "a", "--no-wait", "--json")

        assert code == 0
        assert json.loads(said)["skipped"] == {LINK_OUT: 1}
        assert stored(connection) == {"x.md": "One."}
        assert LINK_OUT in "".join(run("load", "c", "a", "--no-wait")[1:])

    def test_a_prefix_is_for_new_documents(self, load: Callable[..., int], connection: Connection) -> None:
        write(a__x="One.")
        assert load("a") == 0
        write(a__y="Two.")

        assert load("a", "--prefix", "p/") == 0

        assert list(stored(connection)) == ["p/y.md", "x.md"]


class TestAnotherDocumentIsNotReplaced:
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (["a"], ["b"]),
            (["a/x.md"], ["a/sub"]),
            (["a", "--as", "one"], ["b", "--as", "two"]),
            (["one.jsonl"], ["two.jsonl"]),
        ],
    )
    def test_a_document_of_another_source_is_not_replaced(
        self, run: Run, load: Callable[..., int], connection: Connection, first: list[str], second: list[str]
    ) -> None:
        write(a__x="One.", a__sub__x="Two.", b__x="Three.", b__new="Four.")
        for name in ("one", "two"):
            Path(f"{name}.jsonl").write_text(json.dumps({"id": "x.md", "text": name}))
        assert load(*first) == 0
        before = stored(connection)

        code, _, said = run("load", "c", *second, "--no-wait")

        assert code == 1
        assert "x.md" in said and "--prefix" in said
        assert stored(connection) == before
        assert load(*second, "--prefix", "new/") == 0
        assert stored(connection).items() > before.items()

    def test_a_document_of_a_statement_or_a_table_is_not_replaced(
        self, load: Callable[..., int], connection: Connection
    ) -> None:
        write(a__x="One.")
        connection.execute("select pgclarify.create_corpus('c')")
        connection.execute("select pgclarify.add_document('c', 'x.md', 'By hand.')")
        assert load("a") == 1
        connection.execute("select pgclarify.remove_document('c', 'x.md')")
        connection.execute("create table article (id text primary key, body text)")
        connection.execute("insert into article values ('x.md', 'A row.')")
        source = scalar(connection, "select pgclarify.attach_table('c', 'article', 'id', 'body')")
        (row,) = connection.execute(
            "select source from pgclarify_private.source where source_id = %s", [source]
        ).fetchone() or (None,)
        connection.execute("select pgclarify_private.merge_rows(%s::pgclarify_private.source, array['x.md'])", [row])

        assert load("a") == 1
        assert stored(connection) == {"x.md": "A row."}
        connection.execute("select pgclarify.detach_table('c', 'article')")
        assert load("a") == 1
        assert stored(connection) == {"x.md": "A row."}

    def test_two_files_of_one_id_in_one_load(self, run: Run, load: Callable[..., int], connection: Connection) -> None:
        write(a__x="One.", b__x="Two.")
        for _ in range(2):
            assert load("a", "b") == 1
            assert stored(connection) == {"x.md": "One."}
        assert load("b", "--prefix", "b/") == 0
        assert json.loads(run("load", "c", "a", "b", "--no-wait", "--json")[1])["unchanged"] == 2
        assert stored(connection) == {"b/x.md": "Two.", "x.md": "One."}

    def test_a_statement_replaces_what_it_names_and_then_owns_it(
        self, load: Callable[..., int], connection: Connection
    ) -> None:
        write(a__x="One.")
        assert load("a") == 0
        assert scalar(connection, "select pgclarify.add_document('c', 'x.md', 'By hand.', readers => '{boss}')")
        assert load("a") == 1
        assert stored(connection) == {"x.md": "By hand."}


class TestNamedSources:
    def test_replace_what_was_loaded_under_the_name(self, load: Callable[..., int], connection: Connection) -> None:
        write(old__x="One.", new__x="Two.")
        assert load("old", "--as", "docs") == 0
        assert load("new", "--as", "docs") == 0
        assert stored(connection) == {"x.md": "Two."}

    def test_can_be_a_place_that_is_gone(self, run: Run, load: Callable[..., int], connection: Connection) -> None:
        write(old__x="One.")
        assert load("old") == 0
        Path("old").rename("new")
        write(new__x="Two.")
        place = f"{socket.gethostname()}:{Path('old').absolute()}"
        assert f"x.md comes from {place}/x.md" in " ".join(run("load", "c", "new", "--no-wait")[2].split())

        assert load("new", "--as", place) == 0

        assert stored(connection) == {"x.md": "Two."}


class TestMirror:
    def test_mirror_removes_only_documents_whose_files_are_gone(
        self, run: Run, load: Callable[..., int], connection: Connection
    ) -> None:
        write(a__x="One.", a__sub__y="Two.", ab__z="Three.", other__w="Four.")
        Path("a/r.jsonl").write_text("".join(json.dumps({"id": number, "text": "Text."}) + "\n" for number in (7, 8)))
        assert load("a", "ab", "other") == 0
        connection.execute("select pgclarify.add_document('c', 'by hand', 'Text.')")
        Path("a/sub/y.md").unlink()
        Path("other/w.md").unlink()
        Path("a/r.jsonl").write_text(json.dumps({"id": 8, "text": "Text."}))

        code, _, said = run("load", "c", "a", "--mirror", "--no-wait")
        assert code == 1 and "--yes" in said
        assert all(name in said for name in ("sub/y.md", "#7"))
        assert len(stored(connection)) == 7

        code, told, _ = run("load", "c", "a", "--mirror", "--yes", "--no-wait", "--json")
        assert (code, json.loads(told)["removed"]) == (0, 2)
        assert list(stored(connection)) == ["8", "by hand", "w.md", "x.md", "z.md"]

    def test_an_empty_folder_is_nothing_to_load(self, load: Callable[..., int], connection: Connection) -> None:
        write(a__x="One.")
        assert load("a") == 0
        Path("a/x.md").unlink()
        assert load("a", "--mirror", "--yes") == 1
        assert stored(connection) == {"x.md": "One."}


class TestAtOnce:
    def test_a_file_that_two_find_is_one_document(self, connect: Connect, connection: Connection) -> None:
        """Both sessions find that the file is new, and each has another id for it."""
        connection.execute("select pgclarify.create_corpus('c')")
        with ThreadPoolExecutor() as threads, connect() as first, first.transaction():
            assert put(first, "sub/x.md", "m:/a/sub/x.md") == 1
            second = threads.submit(put, connect(), "x.md", "m:/a/sub/x.md")
            wait_until_blocked(connection)
        assert second.result() == 0
        assert list(stored(connection)) == ["sub/x.md"]

    def test_the_second_of_two_loads_with_one_id_is_refused(self, connect: Connect, connection: Connection) -> None:
        connection.execute("select pgclarify.create_corpus('c')")
        with ThreadPoolExecutor() as threads, connect() as first, first.transaction():
            first.execute("select pgclarify.add_document('c', 'x.md', 'By hand.')")
            second = threads.submit(put, connect(), "x.md", "m:/a/x.md")
            wait_until_blocked(connection)
        with pytest.raises(psycopg.errors.UniqueViolation):
            second.result()
        assert stored(connection) == {"x.md": "By hand."}


def test_only_the_owner_loads_and_sees_what_is_loaded(
    connection: Connection, connect: Connect, make_role: MakeRole
) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["c"])
    stranger = connect(make_role("pgclarify_user"))
    for call in (
        "check_load(caller, 'c', '{x}', '{m:/x}')",
        "load_documents(caller, 'c', '{x}', '{y}', '{null}', '{m:/x}')",
        "loaded_from(caller, 'c', 'm:/', null, 10)",
        "remove_loaded(caller, 'c', '{x}', '{m:/x}')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            stranger.execute(f"select * from pgclarify_private.caller as caller, pgclarify_private.{call}")  # noqa: S608 - ours


def put(connection: Connection, document_id: str, origin: str) -> int:
    """Load one document of a file into corpus "c": how many have changed."""
    return int(
        scalar(
            connection,
            "select changed from pgclarify_private.caller as caller, pgclarify_private.load_documents("
            "caller, 'c', array[%s], '{Text.}', '{null}', array[%s])",
            document_id,
            origin,
        )
    )


def wait_until_blocked(connection: Connection) -> None:
    """Until a session of this database waits for a lock."""
    while not scalar(
        connection,
        "select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')",
    ):
        time.sleep(0.02)


@pytest.fixture
def load_all(run: Run) -> Run:
    """Loads into the corpus "c", without a worker: the exit code, and what is printed on both streams."""
    return lambda *arguments: run("load", "c", "--no-wait", *map(str, arguments))


def corpora(connection: Connection) -> int:
    return int(scalar(connection, "select count(*) from pgclarify.corpus"))


def documents(connection: Connection) -> list[Any]:
    return connection.execute("select id, title, metadata from pgclarify.document order by id").fetchall()


def test_a_row_of_a_table_is_a_document(load_all: Run, connection: Connection, tmp_path: Path) -> None:
    (tmp_path / "faq.csv").write_text("no,question,answer,year\n7,Hail?,Covered.,2024\n8,Flood?,No.,\n")
    columns = ("--field", "id=no", "--field", "content=answer", "--field", "title=question")
    assert load_all("faq.csv", *columns)[0] == 0
    assert documents(connection) == [("7", "Hail?", {"year": "2024"}), ("8", "Flood?", {})]


def test_files_without_a_reader_are_reported_on_one_line_and_are_no_failure(
    load_all: Run, connection: Connection, tmp_path: Path
) -> None:
    for name in ("a.txt", "b.png", "c.png", "d.yaml"):
        (tmp_path / name).write_text("text")
    status, _, said = load_all(tmp_path)
    assert status == 0
    assert [line for line in said.splitlines() if "2 .png, 1 .yaml" in line]
    status, printed, _ = load_all(tmp_path, "--json")
    assert status == 0
    assert json.loads(printed)["skipped"] == {".png": 2, ".yaml": 1}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.png", b"x"),
        ("a.txt", b"\xff"),
        ("a.txt", b""),
        ("a.csv", b"id,body,id\n1,a,2\n"),
        ("a.docx", b"no such file"),
        # The file can be read, but the server refuses its document.
        ("a.jsonl", b'{"id": "%s", "text": "a"}\n' % (b"x" * 1001) * 3),
    ],
)
def test_a_load_of_nothing_fails_and_leaves_no_corpus(
    load_all: Run, connection: Connection, tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    assert load_all(tmp_path)[0] == 1
    assert corpora(connection) == 0


def test_a_refused_document_does_not_stop_the_next_ones(load_all: Run, connection: Connection, tmp_path: Path) -> None:
    rows = [("x" * 1001, "a"), ("1", "b"), ("あ" * 900, "c"), ("2", "d"), ("3", "e")]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"id": key, "text": text}) + "\n" for key, text in rows))
    status, printed, _ = load_all("a.jsonl", "--json")
    assert status == 1
    summary = json.loads(printed)
    assert (summary["created"], summary["changed"], len(summary["problems"])) == (True, 3, 2)
    assert [row[0] for row in documents(connection)] == ["1", "2", "3"]


def test_a_corpus_is_created_with_its_first_documents(
    load_all: Run, connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise InputError("it cannot be stored")

    monkeypatch.setattr(CommandClient, "load", refuse)
    (tmp_path / "a.txt").write_text("text")
    assert load_all("a.txt")[0] == 1
    assert corpora(connection) == 0


def test_a_missing_reader_does_not_end_the_load_and_fails_it(
    load_all: Run, connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_reader(*_: object) -> NoReturn:
        raise MissingReader("cannot read it", detail="Reading HTML needs a package.", hint="Install it.")

    monkeypatch.setattr(ParsingProcess, "parse", without_reader)
    for name in ("a.html", "b.txt", "c.html"):
        (tmp_path / name).write_text("text")
    status, printed, _ = load_all(tmp_path, "--json")
    assert status == 1
    assert json.loads(printed)["problems"] == {"Reading HTML needs a package. Install it.": ["cannot read it"] * 2}
    assert [row[0] for row in documents(connection)] == ["b.txt"]
    assert "Install it." in load_all(tmp_path)[2]


def test_a_row_knows_its_table_again_and_goes_with_it(load_all: Run, connection: Connection, tmp_path: Path) -> None:
    table = tmp_path / "a" / "faq.csv"
    table.parent.mkdir()
    table.write_text("id,text\n1,One.\n2,Two.\n")
    assert load_all("a")[0] == 0
    table.write_text("id,text\n1,One.\n")
    assert load_all("a/faq.csv", "--mirror", "--yes")[0] == 0
    assert [row[0] for row in documents(connection)] == ["1"]
    (tmp_path / "other.csv").write_text("id,text\n1,Other.\n")
    assert load_all("other.csv")[0] == 1
    assert load_all("other.csv", "--prefix", "other/")[0] == 0
    assert [row[0] for row in documents(connection)] == ["1", "other/1"]


@pytest.mark.parametrize(
    ("name", "good", "bad", "document_id"),
    [
        ("b.docx", docx(), b"no such file", "b.docx"),
        ("b.txt", b"Text.", b"\xff", "b.txt"),
        ("b.csv", b"id,text\n7,a\n", b"id,body,id\n", "7"),
        ("b.eml", b"Subject: Prices\n\nText.", b"\0", "b.eml"),
    ],
)
def test_a_mirror_keeps_what_cannot_be_read_and_removes_what_is_gone(
    load_all: Run, connection: Connection, tmp_path: Path, name: str, good: bytes, bad: bytes, document_id: str
) -> None:
    for other in ("x.md", "y.md"):
        (tmp_path / other).write_text("text")
    (tmp_path / name).write_bytes(good)
    assert load_all(".")[0] == 0
    (tmp_path / "x.md").unlink()
    (tmp_path / name).write_bytes(bad)
    (tmp_path / ".hidden.docx").write_bytes(b"no such file")
    assert load_all(".", "--mirror", "--yes")[0] == 1
    assert [row[0] for row in documents(connection)] == [document_id, "y.md"]
    (tmp_path / name).unlink()
    assert load_all(".", "--mirror", "--yes")[0] == 0
    assert [row[0] for row in documents(connection)] == ["y.md"]


def test_attachments_and_members_go_with_their_file(load_all: Run, connection: Connection, tmp_path: Path) -> None:
    mail = EmailMessage()
    mail["Subject"] = "Prices"
    mail.set_content("See below.")
    mail.add_attachment("An e-bike costs 42 euros.", filename="prices.txt")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x/rules.md", "# Rules")
        archive.writestr("x/logo.png", "PNG")
    (tmp_path / "b.eml").write_bytes(bytes(mail))
    status, printed, _ = load_all(".", "--json")
    assert (status, json.loads(printed)["not_read"]) == (0, {"a.zip": {"member (.png)": 1}})
    assert [row[0] for row in documents(connection)] == ["a.zip!x/rules.md", "b.eml", "b.eml!prices.txt"]
    assert load_all(".", "--mirror", "--yes")[0] == 0
    assert [row[0] for row in documents(connection)] == ["a.zip!x/rules.md", "b.eml", "b.eml!prices.txt"]
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("y.md", "# Other")
    (tmp_path / "b.eml").unlink()
    assert load_all(".", "--mirror", "--yes")[0] == 0
    assert [row[0] for row in documents(connection)] == ["a.zip!y.md"]


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """The URL of a stub of S3."""
    # Here, because each process of a test run imports this file.
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


class TestABucketIsLoadedLikeAFolder:
    @pytest.fixture
    def bucket(self, service: str, monkeypatch: pytest.MonkeyPatch) -> Any:
        """The client of S3, with an empty bucket called handbook."""
        for name, value in {
            "AWS_ENDPOINT_URL": service,
            "AWS_ACCESS_KEY_ID": "id",
            "AWS_SECRET_ACCESS_KEY": "s3cret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            monkeypatch.setenv(name, value)
        import boto3

        client = boto3.client("s3")
        client.create_bucket(Bucket="handbook")
        for one in client.list_objects_v2(Bucket="handbook").get("Contents", []):
            client.delete_object(Bucket="handbook", Key=one["Key"])
        return client

    def test_and_kept_in_step(self, bucket: Any, run: Run, connection: Connection) -> None:
        for name in ("rules/parking.md", "rules/old/hail.md", "rules/prices.jsonl", "rulesets.md"):
            bucket.put_object(Bucket="handbook", Key=name, Body=b'{"id": "p1", "text": "It costs 5 euros."}')

        assert run("load", "c", "s3://handbook/rules/", "--no-wait")[0] == 0
        assert list(stored(connection)) == ["old/hail.md", "p1", "parking.md"]

        bucket.delete_object(Bucket="handbook", Key="rules/old/hail.md")
        bucket.put_object(Bucket="handbook", Key="rules/new.md", Body=b"New.")
        mirrored = run("load", "c", "s3://handbook/rules", "--mirror", "--yes", "--no-wait")

        assert mirrored[0] == 0
        assert list(stored(connection)) == ["new.md", "p1", "parking.md"]
        origins = connection.execute("select origin from pgclarify.document order by id").fetchall()
        assert origins[0] == ("s3://handbook/rules/new.md",)
        assert "s3cret" not in "".join(mirrored[1:])

    def test_and_removes_nothing_if_it_cannot_be_listed(
        self, bucket: Any, run: Run, connection: Connection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bucket.put_object(Bucket="handbook", Key="rules/parking.md", Body=b"No parking.")
        assert run("load", "c", "s3://handbook/rules", "--no-wait")[0] == 0
        bucket.delete_object(Bucket="handbook", Key="rules/parking.md")

        missing = run("load", "c", "s3://handbook/rules", "--mirror", "--yes", "--no-wait")
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        unreachable = run("load", "c", "s3://handbook/rules", "--mirror", "--yes", "--no-wait")

        for code, _, said in (missing, unreachable):
            assert code != 0
            assert "Traceback" not in said
        assert list(stored(connection)) == ["parking.md"]


class TestCommandsOfCorpora:
    def test_list_remove_and_drop(self, run: Run, load: Callable[..., int], connection: Connection) -> None:
        write(a__x="---\nauthor: Ada\n---\nOne.", a__y="Two.", b="Three.")
        assert load(".", "--base-url", "https://example.org/w") == 0
        assert (
            scalar(connection, "select uri from pgclarify.document where id = 'a/x.md'")
            == "https://example.org/w/a/x.md"
        )

        code, out, _ = run("corpus", "list", "--json")
        assert (code, json.loads(out)["corpus"], json.loads(out)["documents"]) == (0, "c", 3)
        code, out, _ = run("corpus", "documents", "c", "--starts-with", "a/", "--json")
        found = [json.loads(line) for line in out.splitlines()]
        assert [(one["id"], one["author"]) for one in found] == [("a/x.md", "Ada"), ("a/y.md", None)]
        assert "a/x.md" in run("corpus", "documents", "c")[1]

        assert run("corpus", "remove", "c", "a/x.md")[0] == 1
        assert run("corpus", "remove", "c", "a/x.md", "--yes")[0] == 0
        assert run("corpus", "remove", "c", "a/x.md", "b.md", "--yes")[0] == 1
        assert list(stored(connection)) == ["a/y.md"]

        assert run("corpus", "drop", "c")[0] == 1
        assert run("corpus", "drop", "c", "--yes")[0] == 0
        assert run("corpus", "documents", "c")[0] == 1
        assert run("corpus", "list")[0] == 0
