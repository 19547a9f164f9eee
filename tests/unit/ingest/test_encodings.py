"""Files in other encodings than UTF-8 are read and counted as guessed, or refused with the name that is likely."""

# ruff: noqa: RUF001

from __future__ import annotations

import gzip
import io

import pytest

from pgclarify.data.vocabulary import Document
from pgclarify.errors import UnreadableFile
from pgclarify.ingest.parsing import parse
from pgclarify.ingest.records import FieldMapping
from pgclarify.ingest.tables import read_table_stream

RUSSIAN = "Аренда лодки стоит 40 рублей в час. Собаки бесплатно."
TEXTS = [
    (RUSSIAN, "cp1251"),
    (RUSSIAN, "koi8-r"),
    (RUSSIAN, "iso8859-5"),
    (RUSSIAN, "utf-16-le"),
    ("租船每小時四十元，狗免費。請在櫃檯付款。", "big5"),
    ("租船每小时四十元，狗免费。请在柜台付款。", "gb18030"),
    ("ボートは一時間四十ドルです。犬は無料です。", "shift_jis"),
    ("ボートは一時間四十ドルです。犬は無料です。", "euc_jp"),
    ("배 대여료는 한 시간에 40 달러입니다.", "euc_kr"),
    ("Η βάρκα κοστίζει 40 ευρώ την ώρα", "cp1253"),
    ("The boat costs 40 dollars.", "utf-16-le"),
    ("The boat costs 40 dollars.", "utf-16-be"),
    ("Café: 4 € für das Stück", "cp1252"),
]


@pytest.mark.parametrize("suffix", [".txt", ".md", ".rst", ".adoc", ".html", ".csv"])
@pytest.mark.parametrize(("text", "encoding"), TEXTS)
def test_a_text_is_read_and_counted_as_guessed(suffix: str, text: str, encoding: str) -> None:
    content = f"<p>{text}</p>" if suffix == ".html" else f"Text,Number\n{text},7\n" if suffix == ".csv" else text
    (parsed,) = parse(content.encode(encoding), suffix, f"a{suffix}")
    assert text in parsed.content
    assert [kind.split(" (")[0] for kind in parsed.unread] == ["guessed encoding"]


@pytest.mark.parametrize(("text", "encoding"), TEXTS)
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_table_is_read_and_counted_as_guessed(text: str, encoding: str, is_packed: bool) -> None:
    data = f"id,text\n1,{text}\n".encode(encoding)
    stream = gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(data))) if is_packed else io.BytesIO(data)
    (row,) = read_table_stream(stream, "a.csv", FieldMapping())  # type: ignore[arg-type]
    assert isinstance(row, Document)
    assert row.content == text
    assert row.unread


@pytest.mark.parametrize(
    ("text", "encoding", "named"),
    [
        ("Łódź kosztuje 40 złotych za godzinę", "cp1250", "WINDOWS-1250"),
        ("Schließfächer kosten 5 Euro. Für Gäste gilt: Größe zählt nicht.", "mac_roman", "MACINTOSH"),
        ("Schließfächer kosten 5 Euro. Für Gäste gilt: Größe zählt nicht.", "cp850", "CP437"),
    ],
)
def test_an_encoding_that_is_only_likely_is_named(text: str, encoding: str, named: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        parse(text.encode(encoding), ".txt", "a.txt")
    assert f"-f {named} " in str(caught.value.hint)


@pytest.mark.parametrize(
    "data", [b"\x00\xff\xfe binary", b"\x89PNG\r\n\x1a\n" + bytes(100), bytes(range(256)), b"a\0b"]
)
def test_a_binary_file_is_no_text(data: bytes) -> None:
    with pytest.raises(UnreadableFile) as caught:
        parse(data, ".txt", "a.txt")
    assert "iconv" not in str(caught.value.hint)


def test_a_page_with_a_wrong_declaration_is_read() -> None:
    page = f"<meta charset='utf-8'><p>{RUSSIAN}</p>".encode("cp1251")
    (parsed,) = parse(page, ".html", "a.html")
    assert parsed.content == RUSSIAN
    almost = f"<meta charset='utf-8'><p>{RUSSIAN}".encode() + b"\xff</p>"
    (parsed,) = parse(almost, ".html", "a.html")
    assert parsed.content == f"{RUSSIAN}\ufffd"
