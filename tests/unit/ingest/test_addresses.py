"""Addresses: which are opened, what their documents are called, and what of them is never shown."""

from __future__ import annotations

import gzip
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from pgclarify.data.vocabulary import Document
from pgclarify.errors import InputError, MissingReader, UnreadableFile
from pgclarify.ingest import read_documents
from pgclarify.ingest.addresses import Address, Members, location
from pgclarify.ingest.files import all_origins, find_names
from pgclarify.ingest.naming import Name, Naming


@pytest.fixture
def bucket() -> Iterator[MemoryFileSystem]:
    """A store that fsspec opens as memory://."""
    store = MemoryFileSystem()
    yield store
    store.store.clear()
    store.pseudo_dirs[:] = [""]


class Site(BaseHTTPRequestHandler):
    """A site with two files, one of them refused. It does not know ranges, and tells no lengths."""

    def do_GET(self) -> None:
        self.send_response(
            {"/terms.jsonl": 200, "/page.html": 200, "/secret.txt": 403}.get(self.path.split("?")[0], 404)
        )
        self.end_headers()
        if self.command == "GET":
            content = {
                "/terms.jsonl": b'{"id": 1, "text": "Hail is covered."}\n',
                "/page.html": b"<a href='b.txt'>b</a>",
            }
            self.wfile.write(content.get(self.path.split("?")[0], b""))

    do_HEAD = do_GET  # noqa: N815 (the name that the server calls)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """Its address."""
    server = HTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class SlowSite(BaseHTTPRequestHandler):
    """A site that sends a byte from time to time; under /silent it does not even send headers."""

    stopped = threading.Event()

    def do_GET(self) -> None:
        if self.path == "/silent.txt":
            self.stopped.wait()
            return
        self.send_response(200)
        if self.path == "/known.txt":
            self.send_header("Content-Length", "1000000")
        self.end_headers()
        with suppress(OSError):
            while self.command == "GET" and not self.stopped.wait(0.05):
                self.wfile.write(b'{"id": 1, "text": "Hail."}\n' if "jsonl" in self.path else b"x")

    do_HEAD = do_GET  # noqa: N815 (the name that the server calls)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def slow_site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Its address. A file has a second."""
    monkeypatch.setattr("pgclarify.ingest.addresses._SECONDS", 1.0)
    server = ThreadingHTTPServer(("127.0.0.1", 0), SlowSite)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    SlowSite.stopped.set()
    server.shutdown()
    server.server_close()
    SlowSite.stopped.clear()


@pytest.mark.parametrize("name", ["a.txt", "known.txt", "silent.txt", "a.zip", "a.csv", "a.docx"])
def test_a_server_that_drips_is_given_up_and_the_next_file_is_read(slow_site: str, tmp_path: Path, name: str) -> None:
    (tmp_path / "b.txt").write_text("Hail is covered.")
    began = time.monotonic()

    problem, document = read(f"{slow_site}/{name}", f"file://{tmp_path}/b.txt")

    assert time.monotonic() - began < 10
    assert isinstance(problem, UnreadableFile)
    assert "second" in str(problem.detail)
    assert isinstance(document, Document)


def test_lines_that_arrived_before_a_server_was_given_up_are_read_and_it_is_not_waited_for_again(
    slow_site: str,
) -> None:
    address = location(f"{slow_site}/a.jsonl")
    *lines, problem = read_documents([address])
    assert len(lines) > 3
    assert isinstance(problem, UnreadableFile)
    began = time.monotonic()
    assert [type(one) for one in find_names([address])] == [UnreadableFile]
    assert time.monotonic() - began < 0.5


def test_the_time_between_reads_does_not_count(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgclarify.ingest.addresses._SECONDS", 0.5)
    documents = read_documents([location(f"{site}/terms.jsonl")])
    assert isinstance(next(documents), Document)
    time.sleep(0.6)
    assert list(documents) == []


def read(*addresses: str, **options: Any) -> list[Document | UnreadableFile]:
    return list(read_documents([location(one) for one in addresses], **options))


def names(found: list[Document | UnreadableFile]) -> list[tuple[str, str | None]]:
    return [(one.document_id, one.origin) for one in found if isinstance(one, Document)]


def test_a_folder_at_an_address_is_read_like_a_folder(bucket: MemoryFileSystem) -> None:
    for name in ("b.txt", "a/z.md", "a/.hidden.txt", ".git/c.txt", "picture.png", "empty.md"):
        bucket.pipe(f"/docs/{name}", b"" if name == "empty.md" else b"Hail is covered.")
    bucket.pipe("/docs/r.jsonl.gz", gzip.compress(b'{"id": 7, "text": "line"}'))
    bucket.pipe("/docs2/other.txt", b"Not below the folder.")
    skipped: Counter[str] = Counter()

    found = read("memory://docs/", on_skip=lambda kind: skipped.update([kind]))

    assert names(found) == [
        ("b.txt", "memory://docs/b.txt"),
        ("7", "memory://docs/r.jsonl.gz#7"),
        ("a/z.md", "memory://docs/a/z.md"),
    ]
    assert skipped == {".png": 1, "empty file": 1}
    assert [one.origin for one in find_names([Address("memory://docs")]) if isinstance(one, Name)] == [
        origin for _, origin in names(found)
    ]


def test_one_file_has_one_origin_with_and_without_its_folder(bucket: MemoryFileSystem) -> None:
    bucket.pipe("/docs/sub/b.txt", b"Hail is covered.")
    found = read("memory://docs", "memory://docs/sub/", "memory://docs/sub/b.txt")
    assert names(found) == [("sub/b.txt", "memory://docs/sub/b.txt")]


def test_a_mirror_covers_a_folder_but_no_single_file(bucket: MemoryFileSystem) -> None:
    bucket.pipe("/docs/b.txt", b"Hail is covered.")
    bucket.pipe("/docs/r.jsonl", b"")
    assert all_origins(Address("memory://docs"), Naming()) == "memory://docs/"
    assert all_origins(Address("memory://docs/r.jsonl"), Naming()) == "memory://docs/r.jsonl#"
    assert all_origins(Address("memory://docs/b.txt"), Naming()) is None


@pytest.mark.parametrize("error", [PermissionError("no"), ValueError("broken ?sig=s3cret")])
def test_a_folder_that_cannot_be_listed_is_a_problem_and_not_empty(
    bucket: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    bucket.pipe("/docs/a.txt", b"Hail is covered.")
    bucket.pipe("/docs/sub/b.txt", b"Storm is covered.")
    listed = MemoryFileSystem.ls

    def ls(self: MemoryFileSystem, path: str, detail: bool = True, **kwargs: Any) -> Any:
        if path.endswith("sub"):
            raise error
        return listed(self, path, detail=detail, **kwargs)

    monkeypatch.setattr(MemoryFileSystem, "ls", ls)
    document, problem = read("memory://docs")
    assert isinstance(document, Document)
    assert isinstance(problem, UnreadableFile)
    assert "s3cret" not in str(problem.detail)


def test_members_of_an_archive_can_be_named(bucket: MemoryFileSystem, tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("rules/parking.md", "rules.md", "prices.md"):
            archive.writestr(name, name)
    bucket.pipe("/all.zip", path.read_bytes())

    assert names(read("zip://rules::memory://all.zip")) == [
        ("all.zip!rules/parking.md", "memory://all.zip#rules/parking.md")
    ]
    assert [one.document_id for one in find_names([location(f"zip://rules.md::{path}")]) if isinstance(one, Name)] == [
        "all.zip!rules.md"
    ]
    assert location(f"zip://::{path}") == path
    (problem,) = read(f"zip://nothing::{path}")
    assert isinstance(problem, UnreadableFile)


def test_members_of_an_archive_have_its_limits(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/zeros.txt", bytes(101_000_000))
        archive.writestr("a/b.txt", "Hail is covered.")
    unread: Counter[str] = Counter()
    found = read(f"zip://a::{path}", on_unread=lambda _, kinds: unread.update(kinds))
    assert [document_id for document_id, _ in names(found)] == ["bomb.zip!a/b.txt"]
    assert unread == {"too large member": 1}


def test_a_path_that_exists_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("s3:/bucket/a.txt")
    path.parent.mkdir(parents=True)
    path.write_text("text")
    assert location("s3://bucket/a.txt") == path
    assert location(f"file://{path.absolute()}") == path.absolute()
    with pytest.raises(FileNotFoundError):
        location("nothing.txt")


@pytest.mark.parametrize(
    "text",
    ["unknown://x", "reference://x.json", "zip://a.txt", "zip://a::memory://b.txt", "memory://a::memory://b"],
)
def test_what_leads_to_other_addresses_or_is_unknown_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        location(text)


def test_a_missing_package_is_named() -> None:
    with patch.dict("sys.modules", {"paramiko": None}), pytest.raises(MissingReader) as refused:
        location("sftp://host/a.txt")
    assert "paramiko" in str(refused.value.detail)


@pytest.mark.parametrize("password", ["s3cret", "a@s3cret", "[s3cret"])
def test_a_password_is_refused_and_not_shown(password: str) -> None:
    with pytest.raises(InputError) as refused:
        location(f"sftp://ann:{password}@host/a.txt")
    assert "s3cret" not in f"{refused.value.message}{refused.value.detail}{refused.value.hint}"


def test_a_file_of_the_web_is_one_file_without_its_query(site: str) -> None:
    found = read(f"{site}/terms.jsonl?sig={'s3cret' * 100}", f"{site}/page.html?sig=s3cret")
    assert names(found) == [("1", f"{site}/terms.jsonl#1"), ("page.html", f"{site}/page.html")]
    assert [one.uri for one in found if isinstance(one, Document)] == [None, f"{site}/page.html"]


@pytest.mark.parametrize(
    ("name", "detail"), [("nothing.txt", "There is nothing."), ("secret.txt", "Access is refused.")]
)
def test_what_is_missing_or_refused_is_a_problem(site: str, name: str, detail: str) -> None:
    (problem,) = read(f"{site}/{name}?sig=s3cret")
    assert isinstance(problem, UnreadableFile)
    assert problem.detail == detail
    assert "s3cret" not in problem.message


def test_a_stream_that_breaks_off_is_a_problem_of_its_file(bucket: MemoryFileSystem) -> None:
    bucket.pipe("/docs/a.txt", b"Hail is covered.")
    with patch("fsspec.implementations.memory.MemoryFile.read", side_effect=ValueError("?sig=s3cret")):
        (problem,) = read("memory://docs/a.txt")
    assert isinstance(problem, UnreadableFile)
    assert "s3cret" not in str(problem.detail)


def test_members_are_compared_by_value(tmp_path: Path) -> None:
    (tmp_path / "a.zip").touch()
    assert location(f"zip://b/::{tmp_path}/a.zip") == Members(tmp_path / "a.zip", "b")
