"""What people see is what is read: each kind of content, in each format that has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgclarify.data.vocabulary import Document
from pgclarify.ingest import read_documents
from pgclarify.ingest.parsing import parse
from tests.unit.ingest.formats import FROM_HTML, epub, read
from tests.unit.ingest.kinds import NOTES, RUBY, RUNS, TWO_HEADERS

HTML_FORMATS = sorted(FROM_HTML)


@pytest.mark.parametrize("suffix", HTML_FORMATS)
@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('14<a href="#f" role="doc-noteref">1</a> euros', "14¹ euros"),
        ('14<a href="#f" epub:type="noteref">2</a> euros', "14² euros"),
        ('14<a href="#f" epub:type="noteref">a</a> euros', "14[a] euros"),
        ('14<a href="#f" class="footnote-ref">3</a> euros', "14³ euros"),
        ('3<a class="reference internal" href="#r2">2</a> hours', "3² hours"),
        ('14<sup><a href="#f">1</a></sup> euros', "14¹ euros"),
        ('14<sup class="reference"><a href="#f">[1]</a></sup> euros', "14[1] euros"),
        ('10<span class="sup">3</span> kg', "10^3 kg"),
        ('12<span style="vertical-align: super; font-size: smaller">2</span> km', "12^2 km"),
        ('H<span style="vertical-align:sub">2</span>O', "H₂O"),
        ('14<span style="vertical-align: 4pt">1</span> euros', "14^1 euros"),
        ('14<small style="position:relative; top:-.4em">1</small> euros', "14^1 euros"),
        ('14<em class="sup">1</em> euros', "14^1 euros"),
        ('see section <a class="reference internal" href="#s2">2</a>', "see section 2"),
    ],
)
def test_marks_beside_numbers_are_no_part_of_them(suffix: str, html: str, text: str) -> None:
    assert read(FROM_HTML[suffix](f"<p>{html}</p>"), suffix) == text


@pytest.mark.parametrize("suffix", [".html", ".epub"])
def test_marks_that_a_style_raises_are_no_part_of_a_number(suffix: str) -> None:
    css, text = "a.y, .x1 { font-size: 9px; vertical-align: 0.4em }", '<p>12<span class="x1">2</span> km</p>'
    data = epub(text, css) if suffix == ".epub" else f"<style>{css}</style>{text}".encode()
    assert read(data, suffix) == "12^2 km"


@pytest.mark.parametrize("suffix", HTML_FORMATS)
@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<ol type="a" start="3"><li>One</li><li>Two</li></ol>', "c. One\nd. Two"),
        ('<ol type="I"><li>One</li><li value="4">Two</li></ol>', "I. One\nIV. Two"),
        ('<ol class="upperroman"><li>One</li></ol>', "I. One"),
        ('<ol style="list-style-type: lower-alpha"><li>One</li></ol>', "a. One"),
        ('<p>Free<span class="mw-cite-backlink"><b><a href="#a">^</a></b></span></p>', "Free"),
        ("<ul><li>One<ul><li>Two</li></ul></li></ul>", "* One\n  + Two"),
        ("<dl><dt>Fee</dt><dd>Ten.</dd></dl>", "Fee\n:   Ten."),
        ("<header>Fees</header><main>Ten</main>", "Fees\n\nTen"),
        ('<aside role="doc-footnote"><a role="doc-backlink" href="#a">1</a><p>Free.</p></aside>', "1 Free."),
        ('<div epub:type="footnote">1<p>Free.</p></div>', "1 Free."),
        ("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"),
    ],
)
def test_blocks_stay_apart(suffix: str, html: str, text: str) -> None:
    assert read(FROM_HTML[suffix](html), suffix) == text


def docbook(body: str) -> str:
    return read(f'<chapter xmlns="http://docbook.org/ns/docbook">{body}</chapter>'.encode(), ".xml")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "<title>Fees</title><section><title>Hail</title><para>Ten &euro;.</para></section>",
            "# Fees\n\n## Hail\n\nTen €.",
        ),
        (
            "<para>14<footnote><para>Children free.</para></footnote> euros.</para><section><para>x</para></section>",
            "14¹ euros.\n\n[1] Children free.\n\nx",
        ),
        ("<para>10<superscript>3</superscript> kg<indexterm><primary>load</primary></indexterm></para>", "10^3 kg"),
        ("<itemizedlist><listitem><para>One</para></listitem></itemizedlist>", "* One"),
        ("<orderedlist numeration='loweralpha'><listitem><para>One</para></listitem></orderedlist>", "a. One"),
        (
            "<variablelist><varlistentry><term>Fee</term><listitem><para>Ten.</para></listitem></varlistentry>"
            "</variablelist>",
            "Fee\n:   Ten.",
        ),
        (
            "<table><title>Prices</title><tgroup cols='3'><colspec colname='a'/><colspec colname='b'/>"
            "<colspec colname='c'/><thead><row><entry morerows='1'>Boat</entry><entry namest='b' nameend='c'>Summer"
            "</entry></row><row><entry>Day</entry><entry>Week</entry></row></thead><tbody><row><entry>Skiff</entry>"
            "<entry>3</entry><entry>7</entry></row></tbody></tgroup></table>",
            "Prices\nBoat: Skiff; Summer Day: 3; Summer Week: 7",
        ),
        ("<programlisting>run\n  it</programlisting>", "```\nrun\n  it\n```"),
        ("<note><title>Careful</title><para>Ask first.</para></note>", "Careful\n\nAsk first."),
        (
            "<para>See <xref linkend='s'/>.</para><section xml:id='s'><title>Hail</title></section>",
            "See Hail.\n\n# Hail",
        ),
        (
            "<qandaset><qandaentry><question><para>How much?</para></question><answer><para>Ten.</para></answer>"
            "</qandaentry></qandaset>",
            "# How much?\n\nTen.",
        ),
        (
            "<para>Open <menuchoice><guimenu>File</guimenu><guimenuitem>Save</guimenuitem></menuchoice>.</para>",
            "Open File > Save.",
        ),
        (
            "<para>3<footnote xml:id='f'><para>x</para></footnote> or 4<footnoteref linkend='f'/></para>",
            "3¹ or 4¹\n\n[1] x",
        ),
        ("<para>The &product; costs &unknown;.</para>", "The {product} costs {unknown}."),
    ],
)
def test_docbook_is_read_as_people_see_it(body: str, text: str) -> None:
    assert docbook(body) == text


def test_docbook_of_version_4_has_a_title_entities_and_pictures() -> None:
    data = (
        b'<?xml version="1.0"?>\n<!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "docbookx.dtd" [\n'
        b'<!ENTITY product "Shed">\n]>\n<book><bookinfo><title>The &product;</title>'
        b"<author><firstname>Ann</firstname> <surname>Lee</surname></author></bookinfo><chapter>"
        b"<title>Fees</title><para>Ten.</para><mediaobject><imageobject><imagedata fileref='a.png'/></imageobject>"
        b"</mediaobject></chapter></book>"
    )
    (parsed,) = parse(data, ".xml", "a.xml")
    assert (parsed.title, parsed.content) == ("The Shed", "# The Shed\n\n## Fees\n\nTen.")
    assert parsed.metadata == {"author": "Ann Lee"}
    assert parsed.unread == {"picture": 1}


def test_other_xml_is_skipped_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<chapter><title>Fees</title><para>Ten.</para></chapter>")
    (tmp_path / "pom.xml").write_text("<project><name>Shed</name></project>")
    (tmp_path / "b.xml").write_text('<article dtd-version="1.2"><front/></article>')
    skipped: list[str] = []
    (document,) = read_documents([tmp_path], on_skip=skipped.append)
    assert isinstance(document, Document)
    assert (document.document_id, document.title) == ("a.xml", "Fees")
    assert skipped == [".xml", ".xml"]


@pytest.mark.parametrize("suffix", HTML_FORMATS)
@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<b>Student Membership</b> Dues $20 per year", "Student Membership\n\nDues $20 per year"),
        ("<b>How much?</b> It costs ten.", "How much?\n\nIt costs ten."),
        ("<b>Late fees</b> $20 a day", "Late fees\n\n$20 a day"),
        ("<b>All members</b> pay ten.", "All members pay ten."),
        ("<b>Note:</b> Ten.", "Note: Ten."),
        ("<b>so that</b> I can pay", "so that I can pay"),
        ("<b>Fill it?</b> - Adds ten.", "Fill it? - Adds ten."),
        ("<b>Family Membership</b><br>ten", "Family Membership\n\nten"),
        ("<b>All of it</b>", "All of it"),
    ],
)
def test_bold_words_that_begin_a_paragraph_are_its_title(suffix: str, html: str, text: str) -> None:
    assert read(FROM_HTML[suffix](f"<p>{html}</p>"), suffix) == text
    item = read(FROM_HTML[suffix](f"<ul><li>{html}</li></ul>"), suffix)
    assert item.removeprefix("* ").replace("\n  ", "\n") == text


@pytest.mark.parametrize(("data", "suffix"), [("o\ue0a1ce", ".txt"), ("# o\ue0a1ce", ".md"), ("<p>o\ue0a1ce", ".html")])
def test_letters_that_only_a_font_knows_are_counted(data: str, suffix: str) -> None:
    (parsed,) = parse(data.encode(), suffix, f"a{suffix}")
    assert parsed.unread == {"unreadable letter": 1}


LOOKS = [
    ("raised", [("10", ""), ("3", "raised"), (" kg", "")], "10^3 kg"),
    ("bold", [("Student Membership", "bold"), (" Dues $20 per year", "")], "Student Membership\n\nDues $20 per year"),
    ("struck", [("Dogs are ", ""), ("not ", "struck"), ("free", "")], "Dogs are free"),
    ("hidden", [("Dogs are ", ""), ("not ", "hidden"), ("free", "")], "Dogs are free"),
]


@pytest.mark.parametrize(
    ("suffix", "runs", "text"),
    [
        pytest.param(suffix, runs, text, id=f"{look}{suffix}")
        for suffix, (_, looks) in RUNS.items()
        for look, runs, text in LOOKS
        if look in looks
    ],
)
def test_looks_of_words_are_read_as_people_see_them(suffix: str, runs: list[tuple[str, str]], text: str) -> None:
    make, _ = RUNS[suffix]
    assert read(make(runs), suffix).removeprefix("## Title\n\n") == text


@pytest.mark.parametrize("suffix", TWO_HEADERS)
def test_two_rows_of_header_name_the_columns(suffix: str) -> None:
    (parsed,) = parse(TWO_HEADERS[suffix], suffix, f"a{suffix}")
    assert parsed.content.removesuffix("\n\n---") == "Boat: Skiff; Summer Day: 3; Summer Week: 7"
    assert parsed.unread == {}


@pytest.mark.parametrize("suffix", NOTES)
def test_a_note_stands_apart_from_the_number_before_its_mark(suffix: str) -> None:
    told = read(NOTES[suffix], suffix)
    assert told.replace("¹", "[1]") == "14[1] euros\n\n[1] Free."


@pytest.mark.parametrize("suffix", RUBY)
def test_pronunciation_is_no_part_of_a_number(suffix: str) -> None:
    assert read(RUBY[suffix], suffix) == "3 days"
