"""Text of AsciiDoc within a paragraph, as HTML: formats, links, notes, and what is not seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape, unescape
from typing import Final

BUILT_IN: Final = {"amp": "&", "apos": "'", "gt": ">", "lt": "<", "nbsp": " ", "quot": '"', "sp": " ", "vbar": "|"}
BUILT_IN.update(asterisk="*", backslash="\\", cpp="C++", empty="", plus="+")
_VALUE = re.compile(r"(?<!\\)\{([A-Za-z0-9_][\w-]*)\}")
# Of what stands in these, nothing is replaced.
_LITERAL = re.compile(
    r"(?P<code>`\+(?P<exact>.+?)\+`|``(?P<any>.+?)``|(?<![\w\"'])`(?P<word>\S|\S.*?\S)`(?![\w\"']))"
    r"|\+\+\+(?P<html>.+?)\+\+\+|(?<!\w)(?P<sign>\+{1,2}|\$\$)(?P<passed>\S|\S.*?\S)(?P=sign)(?!\w)"
    r"|\b(?:latexmath|pass|stem|asciimath):(?:[\w,]+)?\[(?P<macro>.*?)\]",
    re.DOTALL,
)
# The patterns take time that is quadratic in the length of a text with marks that do not end, so it is cut.
_PART = re.compile(r".{1,3000}\Z|.{1,3000}\n|.{1,3000}\s|.{1,3000}", re.DOTALL)
_KEPT = re.compile("\x0e(\\d+)\x0f")
_SIGNS: Final = str.maketrans("", "", "\x0e\x0f")
_FOOTNOTE = re.compile(
    r"footnote(?:ref:\[(?P<ref>[\w-]+)(?:,(?P<told>{text}))?\]|:(?P<name>[\w-]+)?\[(?P<text>{text})\])".format(
        text=r"(?:[^\[\]]|\[[^\[\]]*\])*+"
    )
)
_LINK = re.compile(
    r"(?:\b(?:link|mailto|xref):(?:\+\+)?|(?=\b(?:https?|ftp|irc)://|\{[\w-]+\}))([^\s\[\]]+?)(?:\+\+)?\[([^\]]*)\]"
)
_REFERENCE = re.compile(r"&lt;&lt;([^,&]+?)(?:,(.+?))?&gt;&gt;", re.DOTALL)
# Of a link: the mark that opens a new window, and attributes.
_AFTER_TEXT = re.compile(r"\^?(?:,\s*[\w-]+=.*)?$", re.DOTALL)
# Pictures, terms of the index, and anchors.
_UNSEEN = re.compile(
    r"\b(?:image|icon)::?[^\s:\[](?:[^\[\n]*[^\s\[])?\[[^\]]*\]"
    r"|\(\(\(.*?\)\)\)|\bindexterm:\[[^\]]*\]|\[\[[\w:.-]+(?:,[^\]]*)?\]\]|\banchor:\S+?\[[^\]]*\]",
    re.DOTALL,
)
# What is replaced in other text, in this order: terms of the index that are seen, …
_REPLACED: Final = tuple(
    (re.compile(pattern, re.DOTALL), replacement)
    for pattern, replacement in (
        (r"\(\(([^()]+)\)\)", r"\1"),
        (r"\bindexterm2:\[([^\]]*)\]", r"\1"),
        (r"\b(?:btn|kbd):\[([^\]]*)\]", r"\1"),
        (r"\bmenu:([^\s\[]+)\[\]", r"\1"),
        (r"\bmenu:([^\s\[]+)\[([^\]]*)\]", r"\1 &gt; \2"),
        (r"([\"'])`(?=\S)(.+?)`\1", r"\1\2\1"),
        (r"(?<=\w)`'|`(?='\w)", "'"),
        # … formats, with or without a role …
        (r"\[[\w.%#-]*(?:line-through|strike)[\w.%#-]*\](#{1,2})(?=\S)(.+?)\1", r"<s>\2</s>"),
        (r"\[[\w.%#-]+\](?=[#*_^~])", ""),
        (r"\\?\^([^\s^]+)\^", r"<sup>\1</sup>"),
        (r"\\?~([^\s~]+)~", r"<sub>\1</sub>"),
        (r"(?<!\\)\*\*(?=\S)(.+?)\*\*", r"<b>\1</b>"),
        (r"(?<![\w\\;:*])\*(?=[^\s*])(.*?[^\s*])\*(?![\w*])|(?<![\w\\;:*])\*([^\s*])\*(?![\w*])", r"<b>\1\2</b>"),
        (r"(?<!\\)__(?=\S)(.+?)__", r"<i>\1</i>"),
        (r"(?<![\w\\;:])_(\S|\S.*?\S)_(?!\w)", r"<i>\1</i>"),
        (r"(?<![\w\\&;:#])##?([^\s#]|[^\s#].*?\S)##?(?!\w)", r"\1"),
        # … breaks, and what keeps a sign from being a mark.
        (r" \+(?:\n|\Z)", "<br>"),
        (r"\\(?=[*_`#^~{\[<:\"'+&]|https?:|\w+:)", ""),
    )
)


class Inline:
    """Writes text, and remembers its notes.

    Args:
        titles: The titles of sections by their ids.
    """

    def __init__(self, titles: Mapping[str, str]) -> None:
        self.values = dict(BUILT_IN)
        self._titles = titles
        self._notes: list[str] = []
        self._numbers: dict[str, int] = {}

    def html(self, text: str) -> str:
        """Return a text as people see it."""
        return "".join(self._html(part[0]) for part in _PART.finditer(self.with_values(text)))

    def _html(self, text: str) -> str:
        kept: list[str] = []

        def keep(html: str) -> str:
            kept.append(html)
            return f"\x0e{len(kept) - 1}\x0f"

        def keep_literal(found: re.Match[str]) -> str:
            if found["html"]:
                return keep(found["html"])
            told = next(filter(None, found.group("exact", "any", "word", "passed", "macro")), "")
            told = escape(unescape(told))
            return keep(f"<code>{told}</code>" if found["code"] else told)

        text = escape(unescape(_LITERAL.sub(keep_literal, text.translate(_SIGNS))), quote=False)

        def written(text: str) -> str:
            text = _LINK.sub(lambda link: keep(self._text_of_link(link)), text)
            text = _REFERENCE.sub(lambda found: found[2] or self._words_of(found[1]), text)
            for pattern, replacement in _REPLACED:
                text = pattern.sub(replacement, text)
            while _KEPT.search(text):
                text = _KEPT.sub(lambda found: kept[int(found[1])], text)
            return text.replace("\n", " ")

        return written(_FOOTNOTE.sub(lambda note: self._noted(note, written), _UNSEEN.sub("", text)))

    def with_values(self, text: str) -> str:
        """Replace the names of attributes that have a value here."""
        return _VALUE.sub(lambda found: self.values.get(found[1].lower(), found[0]), text)

    def told_notes(self) -> str:
        """Return the notes that were not told. Their numbers go on."""
        told = "".join(f"<p>[{number}] {note}</p>" for number, note in enumerate(self._notes, start=1) if note)
        self._notes = [""] * len(self._notes)
        return told

    def _noted(self, note: re.Match[str], written: Callable[[str], str]) -> str:
        name = note["name"] or note["ref"]
        text = note["text"] or note["told"]
        if text:
            self._notes.append(" ".join(written(text).split()))
            if name:
                self._numbers[name] = len(self._notes)
        number = self._numbers.get(name) if name else len(self._notes)
        return f'<a role="doc-noteref">{number}</a>' if number else ""

    def _text_of_link(self, link: re.Match[str]) -> str:
        target = link[1]
        text = _AFTER_TEXT.sub("", link[2].strip()).strip(' "')
        return text or (target if "://" in target or "@" in target else self._words_of(target))

    def _words_of(self, target: str) -> str:
        """Name a place by its title, its anchor or its file: that is what a reader without the other file can know."""
        file, _, anchor = target.partition("#")
        title = self._titles.get(anchor or file)
        name = re.split("[/:]", anchor or file)[-1]
        return title or re.sub(r"[-_]+", " ", name.removesuffix(".adoc")).strip()
