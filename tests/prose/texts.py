"""What people read in a file, and the rest of it.

People read comments, docstrings, messages, help, log lines, COMMENT ON and pages.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass, field
from pathlib import PurePath

from tests import scrambled

# Keywords whose values are shown to people: help of commands, descriptions of settings, COMMENT ON of schema/.
_SHOWN = {"help", "short_help", "epilog", "description", "comment"}
_LEVELS = {"debug", "info", "warning", "error", "exception"}
# Comments that tools read. They must stay as they are.
_DIRECTIVE = re.compile(r"(?:#|--) *(?:noqa|type: ignore|fmt:|ruff:|name: |sqlfluff:).*")
# Texts of these modules go to language models, and keys of replies in the ledger are made of them. Docstrings are not.
_PROMPTS = PurePath("pgclarify/prompts")


@dataclass
class Texts:
    """What people read in a file, and the rest of it.

    Attributes:
        read: Lines, from 1, with the text that begins there.
        rest: The file without these texts: equal before and after a change of prose alone.
    """

    rest: str
    read: list[tuple[int, str]] = field(default_factory=list)


def texts(path: str, content: str) -> Texts:
    """Take a file apart: Python, SQL or Markdown.

    Raises:
        SyntaxError: If it is Python that cannot be parsed.
    """
    kind = PurePath(path).suffix
    if kind == ".py":
        return _python(path, content)
    return _sql(content) if kind == ".sql" else _markdown(content)


class _Shown(scrambled.Wording):
    """Removes from a syntax tree what is shown to people.

    Args:
        is_prompt: Whether the texts go to language models; then only docstrings are removed.
    """

    def __init__(self, *, is_prompt: bool) -> None:
        super().__init__(scrambled.kinds_of_error())
        self._is_prompt = is_prompt
        self.read: list[tuple[int, str]] = []

    def texts_of(self, call: ast.Call) -> list[ast.expr]:
        shown = [keyword.value for keyword in call.keywords if keyword.arg in _SHOWN]
        is_log = isinstance(call.func, ast.Attribute) and call.func.attr in _LEVELS
        return [*super().texts_of(call), *shown, *(call.args[:1] if is_log else ())]

    def replace(self, text: ast.expr) -> None:
        if self._is_prompt:
            return
        specs = {id(node.format_spec) for node in ast.walk(text) if isinstance(node, ast.FormattedValue)}
        for node in ast.walk(text):
            if isinstance(node, ast.JoinedStr) and id(node) not in specs:
                said = [part.value for part in node.values if isinstance(part, ast.Constant)]
                self.read.append((node.lineno, "…".join(map(str, said))))
                node.values = [part for part in node.values if not isinstance(part, ast.Constant)]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and scrambled.is_prose(node.value):
                self.read.append((node.lineno, node.value))
                node.value = ""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:  # noqa: N802 - the name that ast calls
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            self.read.append((node.lineno, node.value.value))
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)


def _python(path: str, content: str) -> Texts:
    shown = _Shown(is_prompt=PurePath(path).is_relative_to(_PROMPTS))
    tree = shown.visit(ast.parse(content))
    comments = [
        (token.start[0], token.start[1], token.string)
        for token in tokenize.generate_tokens(io.StringIO(content).readline)
        if token.type == tokenize.COMMENT
    ]
    directives = [found[0] for *_, comment in comments if (found := _DIRECTIVE.search(comment))]
    bodies = re.sub(r"^ *pass\n", "", ast.unparse(tree) + "\n", flags=re.MULTILINE)
    return Texts("\n".join([bodies, *directives]), sorted([*shown.read, *_joined(comments, "#")]))


def _sql(content: str) -> Texts:
    tokens = scrambled.sql_tokens(content)
    shown = dict(scrambled.messages(tokens))
    rest, read, comments = list[str](), list[tuple[int, str]](), list[tuple[int, int, str]]()
    words, line, column, begin, is_on = list[str](), 1, 0, 0, False
    for place, (kind, given) in enumerate(tokens):
        if kind == "comment":
            comments.append((line, column, given))
            rest.extend(_DIRECTIVE.findall(given))
        elif kind == "string" and (place in shown or is_on):
            read.append((line, given[1:-1].replace("''", "'")))
            rest.extend(["''", *scrambled.placeholders(given, is_format=shown.get(place, False))])
        elif kind != "space":
            words.append(given.lower())
            rest.append(given)
            # Literals on lines that follow one another are one text.
            is_on = words[:2] == ["comment", "on"] and words[-1] == "is"
            if given == ";":
                if words[:2] == ["comment", "on"]:
                    del rest[begin:]
                words, begin = [], len(rest)
        line, column = line + given.count("\n"), len(given) - given.rfind("\n") - 1 + column * ("\n" not in given)
    return Texts("\n".join(rest), sorted([*read, *_joined(comments, "--")]))


def _markdown(content: str) -> Texts:
    blank = re.sub(r"^```.*?^```|<!--.*?-->", lambda found: "\n" * found[0].count("\n"), content, flags=re.M | re.S)
    read, line = list[tuple[int, str]](), 1
    for paragraph in re.split(r"(\n(?:\s*\n|(?=\s*(?:[-*|#>]|\d+\.) )))", blank):
        if re.search(r"\w", paragraph) and not paragraph.lstrip().startswith(("|", "#")):
            read.append((line, paragraph))
        line += paragraph.count("\n")
    return Texts(content, read)


def _joined(comments: list[tuple[int, int, str]], sign: str) -> list[tuple[int, str]]:
    """Comments on lines that follow one another, at one column, as one text."""
    blocks, before = list[tuple[int, str]](), (-1, 0)
    for line, column, comment in comments:
        if _DIRECTIVE.match(comment):
            continue
        text = comment.strip("/*").removeprefix(sign).strip()
        if (line - 1, column) == before:
            blocks[-1] = (blocks[-1][0], f"{blocks[-1][1]} {text}")
        else:
            blocks.append((line, text))
        before = (line, column)
    return blocks
