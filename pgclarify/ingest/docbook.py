"""Reads DocBook (versions 4 and 5): its elements become those of HTML with the same meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from html.entities import html5
from typing import TYPE_CHECKING, Final

from pgclarify.ingest.markup import read_html
from pgclarify.ingest.packages import xml_root
from pgclarify.ingest.parsed import Parsed, Unreadable
from pgclarify.language.words import word_set

if TYPE_CHECKING:
    from lxml.etree import _Element

_SECTIONS: Final = word_set(
    "set book part article chapter appendix preface dedication acknowledgements colophon partintro section sect1 sect2"
    " sect3 sect4 sect5 simplesect refentry refsection refsect1 refsect2 refsect3 refsynopsisdiv glossary glossdiv"
    " bibliography bibliodiv topic qandaset qandadiv reference sidebar"
)
SUFFIXES: Final = word_set(".xml .dbk .docbook")
_ROOT: Final = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE\s+[^\[>]*(?:\[.*?\]\s*)?>\s*)*<(?:\w+:)?(\w+)([^>]*)",
    re.DOTALL,
)
_MARKED: Final = re.compile(rb"(?i:docbook)|<(?:\w+:)?(?:bookinfo|articleinfo|simpara|para|sect1)[\s>]")
# These elements of HTML also stand at the root of other files.
_ELSEWHERE: Final = word_set("set book article section reference topic part bibliography")
_ENTITY: Final = re.compile(r"&([A-Za-z_][\w.-]*);")
_DECLARED: Final = re.compile(r"<!ENTITY\s+([\w.-]+)\s+(?:\"([^\"<&]*)\"|'([^'<&]*)')\s*>")
_OF_XML: Final = word_set("amp lt gt quot apos")
_ID: Final = "{http://www.w3.org/XML/1998/namespace}id"
_UNSEEN: Final = word_set(
    "indexterm index toc remark comment revhistory mediaobject inlinemediaobject graphic inlinegraphic titleabbrev"
    " include lot anchor productionset areaspec"
)
# The elements of HTML, and those of DocBook that are the same.
_HTML: Final = {
    "p": "para simpara title attribution screeninfo refpurpose refname",
    "ul": "itemizedlist simplelist calloutlist",
    "li": "listitem step member callout stepalternatives",
    "dl": "variablelist glosslist",
    "dt": "term",
    "dd": "glossdef",
    "pre": "programlisting screen literallayout synopsis address",
    "table": "table informaltable",
    "tr": "row",
    "blockquote": "blockquote epigraph",
    "code": "code literal computeroutput userinput command option",
    "sup": "superscript",
    "sub": "subscript",
    "q": "quote",
    "div": "abstract formalpara example informalexample figure informalfigure note tip warning caution important answer"
    " refnamediv cmdsynopsis highlights msgset glossentry equation bibliomixed biblioentry bibliomset",
}
_TAGS: Final[dict[str, str]] = {}
for _tag, _names in _HTML.items():
    _TAGS.update(dict.fromkeys(_names.split(), _tag))
_KEPT: Final = word_set("thead tbody tfoot tr th td caption h1 h2 h3 h4 h5 h6")
_EMPHASIS: Final = {"bold": "b", "strong": "b", "strikethrough": "s", "strike": "s"}
_NOTES: Final = {"footnote": ("aside", {"role": "doc-footnote"}), "noteref": ("a", {"role": "doc-noteref"})}
_WITHOUT_MEANING: Final = "none"
_NUMERATION: Final = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}


def is_docbook(head: bytes) -> bool:
    """Whether a file that begins so is DocBook, and no other XML."""
    found = _ROOT.match(head)
    name = found[1].decode() if found else ""
    return name in _SECTIONS and (name not in _ELSEWHERE or _MARKED.search(head) is not None)


def read_docbook(data: bytes) -> Parsed:
    """Read DocBook. Files that it includes are not read.

    Raises:
        ImportError: If the extra "files" is not installed.
        Unreadable: If it is other XML.
        ValueError: If it is no XML.
    """
    # An optional extra.
    from lxml import etree

    if not is_docbook(data):
        raise Unreadable("It is XML, but no DocBook.")
    root = xml_root(_without_entities(data))
    for element in root.iter():
        element.tag = etree.QName(element).localname
    pictures = sum(1 for _ in root.iter("imagedata", "graphic"))
    descriptions = {one.tag for one in root.iter() if one.tag.endswith("info")} - {"screeninfo"}
    for description in list(root.iter(*descriptions) if descriptions else ()):
        title = description.find("title")
        if title is not None and description.getparent().find("title") is None:
            description.addprevious(title)
    authors = [_text(author) for author in root.iterfind("*/author")]
    etree.strip_elements(root, *_UNSEEN, *descriptions, with_tail=False)
    title = _text(root.find("title"))
    _write_links(root)
    _write_notes(root)
    _write_headings(root)
    # The parents of an element keep their names until then.
    for element in reversed(list(root.iter())):
        _rename(element)
    etree.strip_tags(root, _WITHOUT_MEANING)
    parsed = read_html(etree.tostring(root, encoding="unicode", method="html"))
    metadata = {"author": ", ".join(authors)} if authors else {}
    unread = {"picture": pictures} if pictures else {}
    return replace(parsed, title=title or None, metadata=metadata, unread=unread)


def _text(element: _Element | None) -> str:
    if element is None:
        return ""
    words = "".join(element.itertext())
    return " ".join(words.split())


def _write_links(root: _Element) -> None:
    """Write the text of links that have none, and what stands between the words of menus and keys."""
    titles = {str(one.get(_ID) or one.get("id")): _text(one.find("title")) for one in root.iter()}
    for link in root.iter("xref", "link", "ulink"):
        if not _text(link):
            addresses = [value for key, value in link.attrib.items() if key.endswith(("}href", "url"))]
            address = "".join(addresses[:1])
            place = link.get("linkend", address.removeprefix("#"))
            link.text = titles.get(place, address)
    for name, separator in (("menuchoice", " > "), ("keycombo", "+")):
        for choice in root.iter(name):
            choice.text = None
            for word in choice:
                word.tail = separator if word.getnext() is not None else None
    for mark in root.iter("trademark"):
        mark.tail = f"\u2122{mark.tail or ''}"


def _write_notes(root: _Element) -> None:
    """Number the notes, and put each below its block."""
    notes = list(enumerate(root.iter("footnote"), start=1))
    numbers: dict[str, str] = {}
    for number, note in notes:
        name = note.get(_ID, note.get("id", ""))
        numbers[name] = str(number)
    for again in root.iter("footnoteref"):
        again.tag = "noteref"
        again.text = numbers.get(again.get("linkend", ""))
    for number, note in reversed(notes):
        block = note
        while block.getparent() is not root and block.getparent().tag not in _SECTIONS:
            block = block.getparent()
        mark = note.makeelement("noteref", {})
        mark.text, mark.tail = str(number), note.tail
        note.text, note.tail = f"[{number}]", None
        note.addprevious(mark)
        block.addnext(note)


def _write_headings(root: _Element) -> None:
    """Make headings of the titles of sections, and of questions."""
    # From the end, because the titles of the sections around a section count.
    for title in reversed(list(root.iter("title", "question"))):
        parent = title.getparent()
        if parent.tag in _SECTIONS or title.tag == "question":
            sections = [one for one in title.iterancestors(*_SECTIONS) if one.find("title") is not None]
            title.tag = f"h{min(len(sections) + (title.tag == 'question'), 6)}"
        elif parent.tag == "table":
            title.tag = "caption"


def _rename(element: _Element) -> None:
    """Make an element that HTML has of one of DocBook."""
    name, role = element.tag, element.get("role")
    parent = element.getparent().tag if element.getparent() is not None else ""
    told: dict[str, str] = {}
    if name == "entry":
        name = "th" if next(element.iterancestors("thead"), None) is not None else "td"
        told = _spans(element)
    elif name in ("orderedlist", "procedure", "substeps"):
        name = "ol"
        told = {"type": _NUMERATION.get(str(element.get("numeration")), "1")}
    elif name in _NOTES:
        name, told = _NOTES[name]
    elif name == "emphasis":
        name = _EMPHASIS.get(str(role), _WITHOUT_MEANING)
    elif name == "listitem" and parent == "varlistentry":
        name = "dd"
    elif name == "glossterm" and parent == "glossentry":
        name = "dt"
    elif name in _SECTIONS:
        name = "div"
    elif name not in _KEPT:
        name = _TAGS.get(name, _WITHOUT_MEANING)
    element.attrib.clear()
    element.attrib.update(told)
    element.tag = name


def _spans(entry: _Element) -> dict[str, str]:
    """Return over how many columns and rows a cell of a table goes."""
    group = next(entry.iterancestors("tgroup", "entrytbl"))
    columns = {one.get("colname", f"col{number}"): number for number, one in enumerate(group.iter("colspec"), start=1)}
    first = columns.get(entry.get("namest"), 0)
    last = columns.get(entry.get("nameend"), first)
    rows = entry.get("morerows", "0")
    return {"colspan": str(last - first + 1), "rowspan": str(int(rows) + 1) if rows.isdecimal() else "1"}


def _without_entities(data: bytes) -> bytes:
    """Write entities as the text that stands for them; of those that another file declares, the name is kept."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        # It declares its encoding, which the parser reads.
        text = data.decode("latin-1")
        return _ENTITY.sub(lambda found: _entity(found[1], {}), text).encode("latin-1", "xmlcharrefreplace")
    declared = {name: one or other for name, one, other in _DECLARED.findall(text)}
    return _ENTITY.sub(lambda found: _entity(found[1], declared), text).encode()


def _entity(name: str, declared: Mapping[str, str]) -> str:
    if name in _OF_XML:
        return f"&{name};"
    return escape(declared.get(name) or html5.get(f"{name};") or f"{{{name}}}")
