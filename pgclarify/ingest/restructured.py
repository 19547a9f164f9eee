"""Reads reStructuredText, which docutils converts to HTML.

Of directives and roles that docutils does not know, such as Sphinx's, the text is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from pgclarify.ingest.markup import read_described
from pgclarify.ingest.parsed import Parsed
from pgclarify.language.words import word_set

if TYPE_CHECKING:
    from docutils import nodes

_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w:+.-]+?)[ \t]?::(?:[ \t]|$)", re.MULTILINE)
# The name of a place, above its title.
_TITLED = re.compile(
    r"^\.\. _([^:\n]+):\s*\n\s*\n(?:([=~^\"'`#*+.:_-])\2{2,}\n)?(\S.*)\n([=~^\"'`#*+.:_-])\4{2,}\s*$", re.MULTILINE
)
_ROLE = re.compile(r":((?:[\w+.-]+:)*[\w+.-]+):`")
# A title before its target, as in :doc:`the guide </guide>`.
_TITLE = re.compile(r"(.*\S)\s*<[^<>]+>", re.DOTALL)
# Links to other pages, files that are not read, and pictures.
_WITHOUT_TEXT: Final = word_set("contents image include index literalinclude meta raw seealso tabularcolumns toctree")
_SETTINGS: Final[dict[str, Any]] = {
    "_disable_config": True,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "file_insertion_enabled": False,
    "halt_level": 5,
    "initial_header_level": 1,
    "raw_enabled": False,
    "report_level": 5,
    "syntax_highlight": "none",
}


class _AnyOption(dict[str, Callable[[str | None], str]]):
    """Options of any name."""

    def __missing__(self, name: str) -> Callable[[str | None], str]:
        return lambda value: value or ""

    def __bool__(self) -> bool:
        return True


def read_restructured(text: str) -> Parsed:
    """Read reStructuredText; the fields at its beginning describe it.

    Args:
        text: The source. No file is read that it names.

    Raises:
        ImportError: If docutils is not installed.
    """
    # Slow to import.
    from docutils import nodes
    from docutils.core import publish_doctree, publish_from_doctree

    titles: dict[str, str] = {}
    for name, _, title, _ in _TITLED.findall(text):
        titles[name.lower()] = title.replace("`", "")
    _register(set(_DIRECTIVE.findall(text)), set(_ROLE.findall(text)), titles)
    tree = publish_doctree(text, settings_overrides=_SETTINGS)
    fields: dict[str, str] = {}
    if tree.children and isinstance(tree.children[0], nodes.field_list):
        for field in tree.children[0].children:
            name, body = (child.astext().strip() for child in field.children)
            if body:
                fields[name] = body
        tree.children.pop(0)
    for unseen in (nodes.system_message, nodes.comment, nodes.image, nodes.substitution_definition, nodes.raw):
        for node in list(tree.findall(unseen)):
            node.parent.remove(node)
    for node in list(tree.findall(nodes.problematic)):
        # A name of a substitution that is defined elsewhere is no text.
        found = node.astext()
        node.parent.replace(node, nodes.Text("" if found.startswith("|") else found))
    # As HTML, each number of a formula would have a line of its own.
    for formula in [*tree.findall(nodes.math), *tree.findall(nodes.math_block)]:
        told = nodes.Text(formula.astext())
        formula.parent.replace(formula, told if isinstance(formula, nodes.math) else nodes.paragraph("", "", told))
    for kind in tree.findall(nodes.classifier):
        kind.insert(0, nodes.Text(" : "))
    for admonition in list(tree.findall(nodes.Admonition)):
        # A word such as "Note" is the rank of a paragraph, and no text.
        for title in list(admonition.findall(nodes.title)):
            title.parent.replace(title, nodes.paragraph("", title.astext()))
        admonition.parent.replace(admonition, nodes.container("", *admonition.children))
    html = publish_from_doctree(tree, writer="html5", settings_overrides={**_SETTINGS, "output_encoding": "unicode"})
    return read_described(str(html), fields)


def _register(directive_names: set[str], role_names: set[str], titles: Mapping[str, str]) -> None:
    """Let docutils accept directives and roles that it does not know; a role may name the title of a section."""
    from docutils import nodes
    from docutils.parsers.rst import Directive, directives, roles
    from docutils.parsers.rst.languages import en

    class Unknown(Directive):  # type: ignore[misc]
        """A directive of another program: its argument and its content. Options are for that program."""

        has_content = True
        optional_arguments = 1
        final_argument_whitespace = True
        option_spec = _AnyOption()

        def run(self) -> list[nodes.Node]:
            argument = " ".join(" ".join(self.arguments).split())
            # This is for other forms of the page, such as PDF.
            is_for_others = self.name == "only" and "html" not in argument
            if is_for_others or self.name.lower() in _WITHOUT_TEXT:
                return []
            found = nodes.container()
            # A single word above nothing is a name, and no text.
            if self.name != "only" and (" " in argument or (argument and self.content)):
                parsed, messages = self.state.inline_text(argument, self.lineno)
                found += nodes.paragraph("", "", *parsed, *messages)
            self.state.nested_parse(self.content, self.content_offset, found)
            return [found]

    def role(
        _name: str, _raw: str, text: str, _line: int, _inliner: object, _options: object = None, _content: object = None
    ) -> tuple[list[nodes.Node], list[nodes.Node]]:
        titled = _TITLE.fullmatch(text)
        return [nodes.Text(titled[1] if titled else titles.get(text.lower(), text).lstrip("~!"))], []

    for name in {name.lower() for name in directive_names}:
        if name not in en.directives or name in _WITHOUT_TEXT:
            directives.register_directive(name, Unknown)
    for name in role_names - en.roles.keys():
        roles.register_local_role(name, role)
