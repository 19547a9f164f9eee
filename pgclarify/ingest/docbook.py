"""Reads DocBook (versions 4 and 5): its elements become those of HTML with the same meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from html.entities import html5
from typing import TYPE_CHECKING, Final

from pgclarify.ingest.markup import read_html
from pgclarify.ingest.parsed import Unreadable
from pgclarify.ingest.tree import Tree

if TYPE_CHECKING:
    from lxml.etree import _Element

_SECTIONS: Final = frozenset(
    {
        "set", "book", "part", "article", "chapter", "appendix", "preface", "dedication", "acknowledgements",
        "colophon", "partintro", "section", "sect1", "sect2", "sect3", "sect4", "sect5", "simplesect", "refentry",
        "refsection", "refsect1", "refsect2", "refsect3", "refsynopsisdiv", "glossary", "glossdiv", "bibliography",
        "bibliodiv", "topic", "qandaset", "qandadiv", "reference", "sidebar",
    }
)  # fmt: skip
SUFFIXES: Final = frozenset({".xml", ".dbk", ".docbook"})
_ROOT: Final = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE\s+[^\[>]*(?:\[.*?\]\s*)?>\s*)*<(?:\w+:)?(\w+)([^>]*)",
    re.DOTALL,
)
_MARKED: Final = re.compile(rb"(?i:docbook)|<(?:\w+:)?(?:bookinfo|articleinfo|simpara|para|sect1)[\s>]")
# These elements of HTML also stand at the root of other files.
_ELSEWHERE: Final = frozenset({"set", "book", "article", "section", "reference", "topic", "part", "bibliography"})
_ENTITY: Final = re.compile(r"&([A-Za-z_][\w.-]*);")
_DECLARED: Final = re.compile(r"<!ENTITY\s+([\w.-]+)\s+(?:\"([^\"<&]*)\"|'([^'<&]*)')\s*>")
_OF_XML: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})
_ID: Final = "{http://www.w3.org/XML/1998/namespace}id"
_UNSEEN: Final = frozenset(
    {
        "indexterm", "index", "toc", "remark", "comment", "revhistory", "mediaobject", "inlinemediaobject",
        "graphic", "inlinegraphic", "titleabbrev", "colspec", "spanspec", "include", "lot", "anchor",
        "productionset", "areaspec",
    }
)  # fmt: skip
_TAGS: Final = {
    **dict.fromkeys(("para", "simpara", "caption", "attribution", "screeninfo", "refpurpose", "refname"), "p"),
    **dict.fromkeys(("itemizedlist", "simplelist", "calloutlist"), "ul"),
    **dict.fromkeys(("orderedlist", "procedure", "substeps"), "ol"),
    **dict.fromkeys(("listitem", "step", "member", "callout", "stepalternatives"), "li"),
    **dict.fromkeys(("variablelist", "glosslist"), "dl"),
    **dict.fromkeys(("term", "glossterm"), "dt"),
    **dict.fromkeys(("programlisting", "screen", "literallayout", "synopsis", "address"), "pre"),
    **dict.fromkeys(("table", "informaltable"), "table"),
    **dict.fromkeys(("blockquote", "epigraph"), "blockquote"),
    **dict.fromkeys(("code", "literal", "computeroutput", "userinput", "command", "option"), "code"),
    **{name: name for name in ("thead", "tbody", "tfoot", "tr", "th", "td")},
    "glossdef": "dd", "row": "tr", "superscript": "sup", "subscript": "sub", "quote": "q",
}  # fmt: skip
_NUMERATION: Final = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}
_BLOCKS: Final = frozenset(
    {
        "abstract", "formalpara", "example", "informalexample", "figure", "informalfigure", "note", "tip",
        "warning", "caution", "important", "answer", "refnamediv", "cmdsynopsis", "highlights", "msgset",
        "glossentry", "equation", "bibliomixed", "biblioentry", "bibliomset",
    }
)  # fmt: skip


def is_docbook(head: bytes) -> bool:
    """Whether a file that begins so is DocBook, and no other XML."""
    found = _ROOT.match(head)
    name = found[1].decode() if found else ""
    return name in _SECTIONS and (name not in _ELSEWHERE or _MARKED.search(head) is not None)


def read_docbook(data: bytes) -> Tree:
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
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    converter = _Converter(etree.fromstring(_without_entities(data), parser))
    tree = read_html("".join(converter.section(converter.root, 1)))
    return Tree(converter.title(converter.root) or None, tree.parts, unread=converter.unread)


class _Converter:
    """Writes elements as HTML.

    Args:
        root: Of the file.
    """

    def __init__(self, root: _Element) -> None:
        self.root = root
        titles = {str(one.get(_ID) or one.get("id")): self.title(one) for one in root.iter("{*}*")}
        self._titles = {identifier: title for identifier, title in titles.items() if title}
        self._notes: list[str] = []
        self._number = 0
        pictures = sum(1 for _ in root.iter("{*}imagedata", "{*}graphic"))
        self.unread = {"picture": pictures} if pictures else {}
        self._special: Mapping[str, Callable[[_Element], str]] = {
            "footnote": self._footnote,
            "xref": lambda one: escape(self._titles.get(str(one.get("linkend")), "")),
            "ulink": lambda one: self._inner(one) or escape(str(one.get("url", ""))),
            "link": self._link,
            "emphasis": self._emphasis,
            "menuchoice": lambda one: self._between(one, " &gt; "),
            "keycombo": lambda one: self._between(one, "+"),
            "entry": self._entry,
            "varlistentry": self._inner,
            "trademark": lambda one: f"{self._inner(one)}\u2122",
        }

    def title(self, element: _Element) -> str:
        """Return the title of an element, which may stand in its description; empty if it has none."""
        for child in element:
            if _name(child) == "title":
                return " ".join("".join(child.itertext()).split())
            if _name(child).endswith("info") and (found := self.title(child)):
                return found
        return ""

    def section(self, element: _Element, level: int) -> Iterator[str]:
        """Yield the title of a section, and what is in it."""
        if title := self.title(element):
            yield f"<h{min(level, 6)}>{escape(title)}</h{min(level, 6)}>"
            level += 1
        for child in element:
            name = _name(child)
            if name == "title" or (name.endswith("info") and name != "screeninfo"):
                continue
            if name in _SECTIONS:
                yield from self.section(child, level)
            elif name == "qandaentry":
                for question in child.findall("{*}question"):
                    yield f"<h{min(level, 6)}>{self._inner(question)}</h{min(level, 6)}>"
                yield from map(self._element, child.findall("{*}answer"))
            else:
                yield self._element(child)
            yield from self._notes
            self._notes.clear()

    def _element(self, element: _Element) -> str:
        name = _name(element)
        if name in _UNSEEN or not name or name.endswith("info"):
            return ""
        if name in self._special:
            return self._special[name](element)
        inner = self._inner(element)
        parent = _name(element.getparent())
        if name == "title":
            return f"<caption>{inner}</caption>" if parent == "table" else f"<p>{inner}</p>"
        if name == "listitem" and parent == "varlistentry":
            return f"<dd>{inner}</dd>"
        if name == "glossterm" and parent != "glossentry":
            return inner
        if name in _SECTIONS or name in _BLOCKS:
            return f"<div>{inner}</div>"
        tag = _TAGS.get(name)
        kind = f' type="{_NUMERATION.get(str(element.get("numeration")), "1")}"' if tag == "ol" else ""
        return f"<{tag}{kind}>{inner}</{tag}>" if tag else inner

    def _inner(self, element: _Element) -> str:
        return "".join(
            [escape(element.text or ""), *(f"{self._element(one)}{escape(one.tail or '')}" for one in element)]
        )

    def _between(self, element: _Element, separator: str) -> str:
        return separator.join(map(self._element, element))

    def _footnote(self, element: _Element) -> str:
        self._number += 1
        self._notes.append(f'<aside role="doc-footnote">[{self._number}]{self._inner(element)}</aside>')
        return f'<a role="doc-noteref">{self._number}</a>'

    def _link(self, element: _Element) -> str:
        address = next((value for key, value in element.attrib.items() if str(key).endswith("}href")), "")
        return self._inner(element) or escape(self._titles.get(str(element.get("linkend")), str(address)))

    def _emphasis(self, element: _Element) -> str:
        inner = self._inner(element)
        if element.get("role") in ("strikethrough", "strike"):
            return f"<s>{inner}</s>"
        return f"<b>{inner}</b>" if element.get("role") in ("bold", "strong") else inner

    def _entry(self, element: _Element) -> str:
        tag = "th" if any(_name(one) == "thead" for one in element.iterancestors()) else "td"
        columns = [_name_of_column(one, number) for number, one in enumerate(_columns(element), start=1)]
        first, last = element.get("namest"), element.get("nameend")
        wide = columns.index(last) - columns.index(first) + 1 if first in columns and last in columns else 1
        high = str(element.get("morerows", "0"))
        rows = int(high) + 1 if high.isdecimal() else 1
        return f'<{tag} colspan="{wide}" rowspan="{rows}">{self._inner(element)}</{tag}>'


def _columns(entry: _Element) -> Iterator[_Element]:
    group = next(entry.iterancestors("{*}tgroup", "{*}entrytbl"), None)
    if group is not None:
        yield from group.findall("{*}colspec")


def _name_of_column(column: _Element, number: int) -> str:
    return str(column.get("colname", f"col{number}"))


def _name(element: _Element | None) -> str:
    return str(element.tag).rpartition("}")[2] if element is not None and isinstance(element.tag, str) else ""


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
