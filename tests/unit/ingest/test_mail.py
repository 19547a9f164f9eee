"""Messages of mail."""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from email.message import EmailMessage
from pathlib import Path
from time import process_time

import pytest

from pgclarify.data.vocabulary import Document
from pgclarify.errors import MissingReader, UnreadableFile
from pgclarify.ingest import read_documents
from pgclarify.ingest.files import find_names
from pgclarify.ingest.mail import read_mail, sent_at
from pgclarify.ingest.naming import Name
from pgclarify.ingest.parsing import member_names, parse
from pgclarify.ingest.quoted import date_in, without_quoted
from tests.unit.ingest.formats import mail
from tests.unit.ingest.outlook_files import outlook_file


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
    return read_mail(bytes(mail)).content.strip()


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
        metadata={
            "from": "Ada <ada@example.org>",
            "to": "b@example.org",
            "date": "Mon, 03 Mar 2025 10:00:00 +0100",
            "subject": "Größe and floods",
        },
        dated=datetime(2025, 3, 3, 9, tzinfo=UTC),
        author="Ada <ada@example.org>",
    )


@pytest.mark.parametrize("header", ["yesterday", "Mon, 30 Feb 2025 10:00:00", ""])
def test_a_message_whose_date_is_none_has_no_date(header: str) -> None:
    assert sent_at({"date": header}) is None


def test_html_is_preferred_to_plain_text_and_that_to_nothing() -> None:
    assert text_of(message("plain", "<p>marked <b>up</b></p>")) == "marked up"
    assert text_of(message("plain", "<p> </p>")).strip() == "plain"
    assert text_of(message(None, "<h1>Hail</h1><p>Covered.</p>")) == "# Hail\n\nCovered."


def test_attachments_are_documents_of_their_own_and_the_others_are_counted(tmp_path: Path) -> None:
    mail = message("See below.")
    mail.add_attachment(b"# Prices", maintype="application", subtype="octet-stream", filename="prices.md")
    mail.add_attachment("A lost key costs 75 euros.", filename="notes.txt")
    mail.add_attachment(message("forwarded", Subject="Rain"))
    mail.add_attachment(b"GIF", maintype="image", subtype="gif", filename="hail.gif")
    (tmp_path / "a.eml").write_bytes(bytes(mail))
    unread: dict[str, Mapping[str, int]] = {}
    documents = list(read_documents([tmp_path], on_unread=unread.__setitem__))
    assert [(one.document_id, one.content.strip()) for one in documents if isinstance(one, Document)] == [
        ("a.eml", "See below."),
        ("a.eml!prices.md", "# Prices"),
        ("a.eml!notes.txt", "A lost key costs 75 euros."),
        ("a.eml!Rain.eml", "forwarded"),
    ]
    assert unread == {"a.eml": {"attachment (.gif)": 1}}
    assert [name.document_id for name in find_names([tmp_path]) if isinstance(name, Name)] == [
        one.document_id for one in documents if isinstance(one, Document)
    ]


def test_an_attachment_has_the_metadata_of_its_message(tmp_path: Path) -> None:
    mail = message("See below.")
    mail.add_attachment("Key.", filename="notes.txt")
    (tmp_path / "a.eml").write_bytes(bytes(mail))
    _, attached = read_documents([tmp_path])
    assert isinstance(attached, Document)
    assert attached.metadata == {"from": "Ada <ada@example.org>", "subject": "Hail"}


def test_a_stub_beside_the_page_is_not_the_text() -> None:
    stub = "This message has a page. Your program does not show it. See https://example.org/mail/1234567890 instead."
    assert text_of(message(stub, "<p>Ink costs 6 dollars.</p>")) == "Ink costs 6 dollars."


def html_of(text: str) -> str:
    """The same message in HTML, with its quotations."""
    lines, depth = [], 0
    for line in text.split("\n"):
        told = line.lstrip("> ")
        now = line[: len(line) - len(told)].count(">")
        lines.append("<blockquote type='cite'>" * (now - depth) + "</blockquote>" * (depth - now))
        lines.append(f"<div>{told.replace('<', '&lt;')}</div>")
        depth = now
    return "".join(lines) + "</blockquote>" * depth


@pytest.mark.parametrize("is_html", [False, True])
@pytest.mark.parametrize(
    ("text", "own", "unknown", "quoted"),
    [
        ("> It costs 50.\nThat is wrong.\n\n> It opens at 7.\nNo, at 8.", "That is wrong.\n\nNo, at 8.", 2, []),
        ("Agreed.\n\n> We pay $5.\n>\n> Until May.\n\n>> We pay $4.", "Agreed.", 2, []),
        (
            "It is 75 now.\n\nOn Mon, Nov 2, 2026 at 11:30 PM Bo <b@shed.example> wrote:\n> It is 60.\n>\n"
            "> On 1 October 2026, Cy <c@shed.example> wrote:\n>> It is 45.",
            "It is 75 now.",
            0,
            [("b@shed.example", "2026-11-02", "It is 60."), ("c@shed.example", "2026-10-01", "It is 45.")],
        ),
        (
            "Jetzt 75.\n\nAm 02.11.2026 um 23:30 schrieb Bo:\n> Es kostet 60.",
            "Jetzt 75.",
            0,
            [("", "2026-11-02", "Es kostet 60.")],
        ),
    ],
)
def test_what_a_message_quotes_is_of_another_sender_and_date(
    tmp_path: Path, text: str, own: str, unknown: int, quoted: list[tuple[str, str, str]], *, is_html: bool
) -> None:
    mail = message(None, html_of(text)) if is_html else message(text)
    mail["Date"] = "Tue, 03 Nov 2026 10:00:00 +0000"
    (tmp_path / "a.eml").write_bytes(bytes(mail))
    first, *others = (one for one in read_documents([tmp_path]) if isinstance(one, Document))
    assert first.content.strip() == own
    assert first.unread.get("quoted text", 0) == unknown
    assert [
        (one.metadata.get("from", ""), one.dated.isoformat()[:10] if one.dated else "", one.content.strip())
        for one in others
    ] == quoted
    names = [name.document_id for name in find_names([tmp_path]) if isinstance(name, Name)]
    assert names == [first.document_id, *(one.document_id for one in others)]


@pytest.mark.parametrize(
    "head",
    [
        "-----Original Message-----\nFrom: Bo <b@shed.example>\nSent: Monday, November 2, 2026 11:30 PM\nTo: c\n\n",
        "______________________________\nVon: Bo <b@shed.example>\nGesendet: Montag, 2. November 2026 23:30\nAn: c\n\n",
        "---------- Forwarded message ---------\nFrom: Bo <b@shed.example>\nDate: Mon, 2 Nov 2026\nSubject: x\n\n",
        "On Mon, 2 Nov 2026 at 23:30, Bo <b@shed.example> wrote:\n\n",
    ],
)
def test_an_older_message_below_is_of_its_own_sender_and_date(tmp_path: Path, head: str) -> None:
    (tmp_path / "a.eml").write_bytes(bytes(message(f"It is 75 now.\n\n{head}It is 60.\n")))
    own, older = (one for one in read_documents([tmp_path]) if isinstance(one, Document))
    assert (own.content.strip(), own.dated) == ("It is 75 now.", None)
    assert older.content.strip() == "It is 60."
    assert older.dated is not None and older.dated.isoformat().startswith("2026-11-02")
    assert older.metadata["from"] == "b@shed.example"


def test_a_message_that_only_quotes_and_lines_like_quotes_are_read() -> None:
    assert text_of(message("> It costs 50.\n")) == "It costs 50."
    assert text_of(message("Note:\n\nFrom: the harbour\n")) == "Note:\n\nFrom: the harbour"


@pytest.mark.parametrize(
    ("kind", "body", "read"),
    [
        ("flowed; delsp=yes", "It costs 40 dol \nlars an hour.\n", "It costs 40 dollars an hour."),
        ("flowed", "It costs 40 \ndollars.\nNext.\n", "It costs 40 dollars.\nNext."),
        ("fixed", "It costs 40 \ndollars.\n", "It costs 40 \ndollars."),
    ],
)
def test_flowed_lines_are_joined(kind: str, body: str, read: str) -> None:
    data = f"Subject: a\r\nContent-Type: text/plain; charset=utf-8; format={kind}\r\n\r\n{body}".encode()
    assert read_mail(data).content.strip() == read


def test_an_alternative_with_more_text_is_read() -> None:
    mail = message("Ink costs extra.", "<p>Ink costs extra.</p><p>It costs 6 dollars for a cartridge.</p>")
    assert "6 dollars" in text_of(mail)


def test_an_inline_text_with_a_name_is_the_text() -> None:
    mail = message("Until 18:30.")
    mail["Content-Disposition"] = 'inline; filename="body.txt"'
    assert text_of(mail) == "Until 18:30."


@pytest.mark.parametrize(
    ("charset", "body", "expected"),
    [
        ("iso-8859-1", b"caf\xe9", "café"),
        ("windows-1252", b"\x80 5", "€ 5"),
        ("no-such-charset", b"caf\xe9 hail", "café hail"),
        ("utf-8", b"a\x00b", "a�b"),
    ],
)
def test_text_in_any_charset_can_be_stored(charset: str, body: bytes, expected: str) -> None:
    head = f"Subject: =?{charset}?q?=00?=\r\nContent-Type: text/plain; charset={charset}\r\n".encode()
    parsed = read_mail(head + b"Content-Transfer-Encoding: 8bit\r\n\r\n" + body)
    assert parsed.content == expected
    assert "\x00" not in (parsed.title or "")


def attachment_alone() -> bytes:
    mail = message()
    mail.add_attachment(b"GIF", maintype="image", subtype="gif", filename="hail.gif")
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


def test_html_needs_the_extra_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bs4", None)
    assert text_of(message("marked up")) == "marked up"
    with pytest.raises(MissingReader):
        parse(bytes(message(None, "<p>marked up</p>")), ".eml", "a.eml")


def test_all_texts_of_a_message_are_read() -> None:
    mail = message("Before the picture.")
    mail.make_mixed()
    mail.add_attachment(b"GIF", maintype="image", subtype="gif", disposition="inline", filename="hail.gif")
    mail.add_attachment("After it.", disposition="inline")
    assert text_of(mail) == "Before the picture.\n\nAfter it."


def test_a_message_of_outlook_is_read_like_mail() -> None:
    forwarded = {"__substg1.0_0037001F": "Old prices", "__substg1.0_1000001F": "An e-bike cost 31 euros."}
    sent = struct.pack("<HHIQ", 0x40, 0x39, 0, 116_444_736_000_000_000)
    data = outlook_file(
        {
            "__substg1.0_0037001F": "Prices",
            "__substg1.0_0C1A001F": "Ada",
            "__substg1.0_5D01001F": "ada@example.org",
            "__substg1.0_1000001F": "See below.\r\n\r\nAda",
            "__properties_version1.0": bytes(32) + sent,
            "__attach_version1.0_#00000000": {
                "__substg1.0_3707001F": "prices.txt",
                "__substg1.0_37010102": b"An e-bike costs 42 euros.",
            },
            "__attach_version1.0_#00000002": {"__substg1.0_3704001E": b"logo.png", "__substg1.0_37010102": b"PNG"},
            "__attach_version1.0_#00000003": {"__substg1.0_3701000D": forwarded},
        }
    )
    own, *others = parse(data, ".msg", "a.msg")
    assert (own.title, own.content) == ("Prices", "See below.\n\nAda")
    assert own.metadata == {
        "from": "Ada <ada@example.org>",
        "date": "Thu, 01 Jan 1970 00:00:00 +0000",
        "subject": "Prices",
        "attachments": ["prices.txt", "logo.png", "Old prices.eml"],
    }
    assert own.unread == {"attachment (.png)": 1}
    assert [(one.member, one.content.strip()) for one in others] == [
        ("prices.txt", "An e-bike costs 42 euros."),
        ("Old prices.eml", "An e-bike cost 31 euros."),
    ]
    assert member_names(data, ".msg", "a.msg") == ["prices.txt", "Old prices.eml"]


def test_a_message_of_outlook_may_have_only_html() -> None:
    data = outlook_file({"__substg1.0_0037001F": "Hail", "__substg1.0_10130102": b"<p>Hail is <b>covered</b>.</p>"})
    (parsed,) = parse(data, ".msg", "a.msg")
    assert parsed.content == "Hail is covered."


@pytest.mark.parametrize("data", [b"", b"Subject: x", outlook_file({"__substg1.0_0037001F": "Empty"})])
def test_a_broken_or_empty_message_of_outlook_is_a_problem(data: bytes) -> None:
    with pytest.raises(UnreadableFile):
        parse(data, ".msg", "a.msg")


@pytest.mark.parametrize(
    "head",
    [
        "De : Bo <bo@x.org>\nEnvoyé : lundi 2 février 2026 09:12\nÀ : Ann\nObjet : Sauna\n\nIt is 50.",
        "-----Bo <bo@x.org> schrieb: -----\nAn: Ann\nVon: Bo <bo@x.org>\nDatum: 02.02.2026\n\nIt is 50.",
        "Am 02.02.26 um 09:12 schrieb Bo <bo@x.org>:\n> It is 50.",
        "Le 02/02/2026 à 09:12, Bo <bo@x.org> a écrit :\n> It is 50.",
        "2026年2月2日(月) 9:12 Bo <bo@x.org>:\n\n> It is 50.",
        "pon., 2 lut 2026 o 09:12 Bo <bo@x.org> napisał(a):\n\n> It is 50.",
    ],
)
def test_programs_of_any_language_say_whom_they_quote(head: str) -> None:
    own, quoted = parse(mail(text=f"It is 75.\n\n{head}\n"), ".eml", "a.eml")
    assert (own.content.strip(), quoted.content.strip()) == ("It is 75.", "It is 50.")
    assert (quoted.metadata["from"], quoted.metadata["date"][:16]) == ("bo@x.org", "Mon, 02 Feb 2026")


def test_a_date_that_may_be_of_two_days_is_none() -> None:
    assert date_in("On 3/2/2026") is None
    assert date_in("On 3/25/2026") == date(2026, 3, 25)


def test_a_long_message_takes_time_that_grows_with_its_lines() -> None:
    def seconds(lines: int) -> float:
        began = process_time()
        without_quoted("A line.\n" * lines)
        return process_time() - began

    assert seconds(6_000) < 10 * max(seconds(1_500), 0.01)
