"""Archives: each member is a document of its own."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from pgclarify.data.vocabulary import Document
from pgclarify.errors import UnreadableFile
from pgclarify.ingest import archives, read_documents
from pgclarify.ingest.files import find_names
from pgclarify.ingest.naming import Name
from tests.unit.ingest.office_files import docx


def packed(**members: bytes) -> bytes:
    """A ZIP archive: `a__x_md` is a/x.md."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), data)
    return stream.getvalue()


def read(folder: Path, name: str, data: bytes) -> tuple[list[Document | UnreadableFile], Mapping[str, int]]:
    (folder / name).write_bytes(data)
    unread: dict[str, Mapping[str, int]] = {}
    return list(read_documents([folder / name], on_unread=unread.__setitem__)), unread.get(name, {})


def test_members_also_of_archives_in_it_are_documents(tmp_path: Path) -> None:
    inner = packed(deep_md=b"# Deep")
    data = packed(rules__parking_md=b"# Parking", lease_docx=docx(), more_zip=inner, logo_png=b"PNG")
    documents, unread = read(tmp_path, "folder.zip", data)
    assert [(one.document_id, one.title) for one in documents if isinstance(one, Document)] == [
        ("folder.zip!rules/parking.md", "Parking"),
        ("folder.zip!lease.docx", "Travel policy"),
        ("folder.zip!more.zip!deep.md", "Deep"),
    ]
    assert unread == {"member (.png)": 1}
    # The archive itself has no text, but whoever loads it plans with its name, too.
    names = [name.document_id for name in find_names([tmp_path]) if isinstance(name, Name)]
    assert names == ["folder.zip", *(one.document_id for one in documents if isinstance(one, Document))]


def test_a_tar_file_is_read(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        member = tarfile.TarInfo("a/b.txt")
        member.size = 4
        archive.addfile(member, io.BytesIO(b"Hail"))
        link = tarfile.TarInfo("a/c.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    (document,), _ = read(tmp_path, "folder.tar.gz", stream.getvalue())
    assert isinstance(document, Document)
    assert (document.document_id, document.content) == ("folder.tar.gz!a/b.txt", "Hail")


def test_paths_out_of_the_archive_and_encrypted_members_are_counted(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("../../etc/evil.md", "# Evil")
        archive.writestr("secret.md", "# Secret")
        archive.writestr("open.md", "# Open")
    data = bytearray(stream.getvalue())
    # The flag of encryption, in the directory at the end.
    data[data.index(b"secret.md", data.index(b"PK\x01\x02")) - 38] |= 1
    documents, unread = read(tmp_path, "a.zip", bytes(data))
    assert [one.document_id for one in documents if isinstance(one, Document)] == ["a.zip!open.md"]
    assert unread == {"member with a path out of the archive": 1, "encrypted member": 1}


@pytest.mark.parametrize("data", [b"PK", b"no archive", packed(logo_png=b"PNG")])
def test_an_archive_without_text_is_a_problem(tmp_path: Path, data: bytes) -> None:
    (problem,), _ = read(tmp_path, "a.zip", data)
    assert isinstance(problem, UnreadableFile)


def test_a_bomb_of_archives_is_read_up_to_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_MOST_MEMBER_BYTES", 1000)
    monkeypatch.setattr(archives, "_MOST_BYTES", 2500)
    data = packed(bomb_txt=b"x" * 2000, **{f"m{number}_txt": b"x" * 600 for number in range(4)})
    unread: Counter[str] = Counter()
    # Of a member that is too large, no more is read than the most that a member may have, and a byte.
    assert [member.path for member in archives.members(data, ".zip", unread)] == ["m0.txt", "m1.txt", "m2.txt"]
    assert unread == {"too large member": 1, "member of a too large archive": 1}
