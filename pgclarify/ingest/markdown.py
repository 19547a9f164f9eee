"""Reads Markdown as HTML: front matter is metadata, and what other programs replace in a page is no text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from pgclarify.ingest.front_matter import split_front_matter
from pgclarify.ingest.marks import note_mark
from pgclarify.ingest.markup import read_described
from pgclarify.ingest.parsed import Parsed

_TEMPLATE: Final = re.compile(
    # In code they are text.
    r"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    # Tags, values and comments of Liquid, Jinja, Nunjucks, Hugo, Handlebars, MDX …
    r"|\{%.{0,5000}?%\}|\{\{.{0,5000}?\}\}|\{#.{0,5000}?#\}|\{/\*.{0,5000}?\*/\}"
    # … and the attributes of Kramdown and Pandoc, such as {: .note } and {#anchor .class}.
    r"|\{:[^{}\n]*\}|\{[#.][\w.#:=\" -]+\}",
    re.DOTALL,
)
# Where a table of contents is put.
_CONTENTS: Final = re.compile(r"^\s*\[\[?_?TOC_?\]?\]\s*$", re.MULTILINE | re.IGNORECASE)
# The mark of an admonition: `:::note`, `!!! note "Title"`, `??? tip`, and `> [!NOTE]` of GitHub.
_ADMONITION: Final = re.compile(
    r"^[ \t]*(?::{3,}[ \t]*(?:\{[^}\n]*\}|[\w-]+)?|(?:!!!|\?\?\?)\+?[ \t]*[\w-]*|\[![\w-]+\][+-]?)[ \t]*", re.MULTILINE
)
# A paragraph of JavaScript in MDX: `import Tabs from '@theme/Tabs';`. "import contacts from 'Google'" is English.
_NAMES: Final = r"(?:[\w$]+|\{[^{}]*\}|\* as [\w$]+)"
_MODULE: Final = re.compile(
    rf"\A(?:import (?:{_NAMES}(?:, {_NAMES})? from )?"
    r"(?:(['\"])[^'\"\n]+\1;|(['\"])[^'\"\n]*[/@][^'\"\n]*\2)[ \t]*(?:\n|\Z))+"
    r"|\Aexport (?:const [\w$]+ *=|function [\w$]+\(|default (?:function\b|\(|[\w$]+;)).*",
    re.DOTALL,
)
_WIKI_LINK: Final = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]")
_REFERENCE: Final = re.compile(r"\[([^\[\]]+)\]\[([^\[\]]*)\]")
# A fenced block with the name of a directive, as MyST has it.
_DIRECTIVE: Final = re.compile(r"\{([\w:.+-]+)\}")
_CODE: Final = frozenset({"code", "code-block", "code-cell", "sourcecode", "parsed-literal"})
_WITHOUT_TEXT: Final = frozenset(
    {"toctree", "tableofcontents", "contents", "seealso", "image", "include", "raw", "mermaid"}
)
_OPTION: Final = re.compile(r"^:[\w-]+:[^\n]*\n?|\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)
_NOTE: Final = re.compile(r"^\[\^([^\]\s]+)\]:", re.MULTILINE)
_MOST_DEPTH: Final = 5


def read_markdown(text: str) -> Parsed:
    """Read Markdown.

    Args:
        text: The source: CommonMark with tables, and what other programs add to it: front matter, templates,
            admonitions, directives.
    """
    front_matter, text = split_front_matter(text)
    # A note of one word would be the address of a link.
    for name in _NOTE.findall(text):
        text = text.replace(f"[^{name}]:", f"[{name}]").replace(f"[^{name}]", note_mark(name))
    return read_described(_render(text, 0), front_matter)


def _render(text: str, depth: int) -> str:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.core.ruler.after("block", "templates", _remove_templates)
    parser.add_render_rule("fence", _fence)
    return str(parser.render(text, {"depth": depth}))


def _remove_templates(state: StateCore) -> None:
    for before, token in zip([None, *state.tokens], state.tokens, strict=False):
        if token.type == "inline":
            # A paragraph that stands in nothing else.
            if token.level == 1 and before is not None and before.type == "paragraph_open":
                token.content = _MODULE.sub("", token.content)
            token.content = _without_templates(token.content)
            for pattern in (_CONTENTS, _ADMONITION):
                token.content = pattern.sub("", token.content)
            token.content = _WIKI_LINK.sub(r"\1", token.content)
            token.content = _REFERENCE.sub(partial(_text_of, state.env.get("references", {})), token.content).strip()
        elif token.type == "html_block":
            token.content = _without_templates(token.content)


def _without_templates(text: str) -> str:
    return _TEMPLATE.sub(lambda found: found["code"] or "", text)


def _text_of(defined: Mapping[str, object], reference: re.Match[str]) -> str:
    """Return a reference link; only its text if its target is not defined here, because another program knows it."""
    return reference[0] if normalizeReference(reference[2] or reference[1]) in defined else reference[1]


def _fence(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, environment: EnvType) -> str:
    token = tokens[index]
    directive = _DIRECTIVE.match(token.info.strip())
    name = directive[1].lower() if directive else ""
    if name in _WITHOUT_TEXT:
        return ""
    if not name or name in _CODE or environment["depth"] >= _MOST_DEPTH:
        return str(self.fence(tokens, index, options, environment))
    argument = token.info.strip()[len(name) + 2 :].strip()
    return _render(f"{argument}\n\n{_OPTION.sub('', token.content)}", environment["depth"] + 1)
