"""Messages of mail."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest

from pgclarify.data.vocabulary import Document
from pgclarify.errors import MissingReader, UnreadableFile
from pgclarify.ingest import read_documents
from pgclarify.ingest.mail import read_mail, sent_at
from pgclarify.ingest.parsing import parse


def message(text: str | None = None, html: str | None = None, **headers: str) -> EmailMessage:
    mail = EmailMessage()
    for name, value in ({"From": "Ada <ada@example.org>", "Subject": "Hail"} | headers).items():
        mail[name] = value
    if text is not None:
        mail.set_content(text)
    if html is not None and text is not None:
        mail.add_alternative(html, subtype="html")
    elif html is not None:
        mail.set_content(html, subtype="html")
    return mail


def text_of(mail: EmailMessage) -> str:
    return read_mail(bytes(mail), "a.eml")[1].strip()


def test_a_message_has_its_subject_as_title_and_who_wrote_when_as_metadata(tmp_path: Path) -> None:
    mail = message(
        "Hail is covered.\n", Subject="Größe and floods", To="b@example.org", Date="Mon, 3 Mar 2025 10:00:00 +0100"
    )
    (tmp_path / "a.eml").write_bytes(bytes(mail))
    (document,) = read_documents([tmp_path])
    assert isinstance(document, Document)
    assert replace(document, origin=None) == Document(
        "a.eml",
        "Hail is covered.\n",
        title="Größe and floods",
        metadata={"from": "Ada <ada@example.org>", "to": "b@example.org", "date": "Mon, 03 Mar 2025 10:00:00 +0100"},
        dated=datetime(2025, 3, 3, 9, tzinfo=UTC),
    )


@pytest.mark.parametrize("header", ["yesterday", "Mon, 30 Feb 2025 10:00:00", ""])
def test_a_message_whose_date_is_none_has_no_date(header: str) -> None:
    assert sent_at({"date": header}) is None


def test_plain_text_is_preferred_to_html_and_html_to_nothing() -> None:
    assert text_of(message("plain", "<p>marked up</p>")) == "plain"
    assert text_of(message(" \n", "<p>marked <b>up</b></p>")) == "marked up"
    assert text_of(message(None, "<h1>Hail</h1><p>Covered.</p>")) == "# Hail\n\nCovered."


def test_attachments_are_named_and_counted_and_not_read(tmp_path: Path) -> None:
    mail = message("See below.")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="policy.pdf")
    mail.add_attachment("secret text", filename="notes.txt")
    mail.add_attachment(message("forwarded"))
    (tmp_path / "a.eml").write_bytes(bytes(mail))
    skipped: list[str] = []
    (document,) = read_documents([tmp_path], on_skip=skipped.append)
    assert isinstance(document, Document)
    assert document.content.strip() == "See below."
    assert document.metadata["attachments"] == ["policy.pdf", "notes.txt", "message/rfc822"]
    assert skipped == ["attachment"] * 3


@pytest.mark.parametrize(
    ("charset", "body", "expected"),
    [
        ("iso-8859-1", b"caf\xe9", "café"),
        ("windows-1252", b"\x80 5", "€ 5"),
        ("no-such-charset", b"caf\xe9 hail", "caf� hail"),
        ("utf-8", b"a\x00b", "a�b"),
    ],
)
def test_text_in_any_charset_can_be_stored(charset: str, body: bytes, expected: str) -> None:
    head = f"Subject: =?{charset}?q?=00?=\r\nContent-Type: text/plain; charset={charset}\r\n".encode()
    title, content, _ = read_mail(head + b"Content-Transfer-Encoding: 8bit\r\n\r\n" + body, "a.eml")
    assert content == expected
    assert "\x00" not in (title or "")


def attachment_alone() -> bytes:
    mail = message()
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="policy.pdf")
    return bytes(mail)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\xff\xfe binary",
        b"A text without headers.\n\nNothing else.",
        bytes(message("")),
        attachment_alone(),
        b"Subject: deep\n"
        + b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (level, level) for level in range(3000)),
    ],
)
def test_a_mail_file_without_message_or_text_is_a_problem(data: bytes) -> None:
    with pytest.raises(UnreadableFile):
        parse(data, ".eml", "a.eml")


def test_html_alone_needs_the_extra_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "markdownify", None)
    assert text_of(message("plain", "<p>marked up</p>")) == "plain"
    with pytest.raises(MissingReader):
        parse(bytes(message(None, "<p>marked up</p>")), ".eml", "a.eml")


def test_all_texts_of_a_message_are_read() -> None:
    mail = message("Before the picture.")
    mail.make_mixed()
    mail.add_attachment(b"GIF", maintype="image", subtype="gif", disposition="inline", filename="hail.gif")
    mail.add_attachment("After it.", disposition="inline")
    assert text_of(mail) == "Before the picture.\n\nAfter it."
