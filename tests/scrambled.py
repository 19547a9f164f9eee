"""Random tokens in the place of the wording of our messages: what passes with them does not depend on it.

With SCRAMBLED_WORDING set, each literal of a MESSAGE, DETAIL or HINT is replaced: in sql/ when it is
installed, and in Python, where an exception is made, when a module of pgclarify is imported. Placeholders and what is
no prose, such as ", ", stay. Commands that tests start as processes of their own keep their wording.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from itertools import pairwise
from pathlib import Path
from types import CodeType

VARIABLE = "SCRAMBLED_WORDING"
_PACKAGE = Path(__file__).parents[1] / "pgclarify"
_TEXTS = {"message", "detail", "hint"}
_OPTIONS = _TEXTS | {"errcode", "column", "constraint", "datatype", "table", "schema"}
_LEVELS = {"exception", "warning", "notice", "info", "log", "debug"}
# Variables and functions whose texts become one of them.
_VARIABLES = {"v_error", "v_detail", "v_hint", "v_message"}
_FUNCTIONS = {"reading_hint", "list_runs", "refusal", "stop_codes", "failure"}
# A literal after one of these is compared, and no text.
_COMPARING = {"->", "->>", "#>>", "~", "!~", "=", "<>", "like", "when", "in", "?", "@>", ":="}
_TOKEN = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?\*/)|(?P<string>[eE]?'(?:[^']|'')*')|(?P<word>\$?\w+\$?)|(?P<space>\s+)"
    r"|(?P<sign>->>|->|#>>|!~|:=|<>|@>|.)",
    re.DOTALL,
)
# Of format(), also in the text of a function that is made by it; and of RAISE, likewise.
_PLACEHOLDER = re.compile(r"%%?(?:\d+\$)?[sIL]")
_RAISED_PLACEHOLDER = re.compile(r"%%?(?:\d+\$[sIL])?")


def is_on() -> bool:
    """Whether this process scrambles."""
    return bool(os.environ.get(VARIABLE))


def token(text: str, place: object) -> str:
    """A word in the place of a text: another one at every place, and in every run of the tests."""
    return "w" + hashlib.sha256(f"{os.environ.get(VARIABLE)} {place} {text}".encode()).hexdigest()[:10]


def is_prose(text: str) -> bool:
    """Whether a literal says something, and does not only hold values apart."""
    return re.search(r"[A-Za-z]{2,}", _PLACEHOLDER.sub("", text)) is not None and (" " in text or text.endswith("."))


def scramble_sql(name: str, text: str) -> str:
    """Replace the wording of what a file of sql/ raises."""
    tokens = [(match.lastgroup, match[0]) for match in _TOKEN.finditer(text)]
    for region, is_format in _regions(tokens):
        for place in region:
            kind, given = tokens[place]
            if kind != "string" or not (is_format or is_prose(given[:-1])) or _is_compared(tokens, place, region):
                continue
            kept = (_RAISED_PLACEHOLDER if is_format else _PLACEHOLDER).findall(given)
            tokens[place] = (kind, "'" + " ".join([token(given, (name, place)), *kept]) + "'")
    return "".join(given for _, given in tokens)


def _is_compared(tokens: list[tuple[str | None, str]], place: int, region: range) -> bool:
    """Whether a literal is what something is compared with, and no text."""
    before = [at for at in range(region.start, place) if tokens[at][0] not in ("space", "comment")]
    words = [tokens[at][1].lower() for at in before[-2:]]
    return (bool(words) and words[-1] in _COMPARING) or words == ["in", "("]


def _regions(tokens: list[tuple[str | None, str]]) -> Iterator[tuple[range, bool]]:
    """Where texts of messages stand, and whether that is the format of a RAISE."""
    for place, (kind, given) in enumerate(tokens):
        word = given.lower()
        if kind == "word" and word == "raise" and _following(tokens, place) is not None:
            yield from _raised(tokens, place)
        elif kind == "word" and word in _VARIABLES:
            after = _following(tokens, place)
            if after is not None and tokens[after][1] == ":=":
                yield range(after + 1, _end(tokens, place)), False
        elif kind == "word" and word in _FUNCTIONS and _is_made(tokens, place):
            # Up to its comment.
            end = next(at for at in range(place, len(tokens)) if tokens[at][1].lower() == "comment")
            yield range(place, end), False


def _is_made(tokens: list[tuple[str | None, str]], place: int) -> bool:
    words = [given.lower() for kind, given in tokens[max(place - 8, 0) : place] if kind == "word"]
    return words[-3:] == ["replace", "function", "pgclarify_private"]


def _raised(tokens: list[tuple[str | None, str]], place: int) -> Iterator[tuple[range, bool]]:
    end = _end(tokens, place)
    words = [at for at in range(place + 1, end) if tokens[at][0] not in ("space", "comment")]
    if words and tokens[words[0]][1].lower() in _LEVELS:
        words = words[1:]
    if words and tokens[words[0]][0] == "string":
        yield range(words[0], words[0] + 1), True
    depth, starts = 0, list[tuple[int, str]]()
    for at, following in pairwise([*words, end]):
        sign = tokens[at][1].lower()
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and sign in _OPTIONS and following < end and tokens[following][1] == "=":
            starts.append((following + 1, sign))
    for (start, option), (stop, _) in pairwise([*starts, (end, "")]):
        if option in _TEXTS:
            yield range(start, stop), False


def _following(tokens: list[tuple[str | None, str]], place: int) -> int | None:
    return next((at for at in range(place + 1, len(tokens)) if tokens[at][0] not in ("space", "comment")), None)


def _end(tokens: list[tuple[str | None, str]], place: int) -> int:
    """The semicolon that ends a statement."""
    return next(at for at in range(place, len(tokens)) if tokens[at] == ("sign", ";"))


class _Scrambling(ast.NodeTransformer):
    """Replaces the texts of exceptions where they are made."""

    def __init__(self, module: str, kinds: set[str]) -> None:
        self._module = module
        self._kinds = kinds
        self._is_text = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        is_super = isinstance(node.func, ast.Attribute) and node.func.attr == "__init__"
        if is_super or (isinstance(node.func, ast.Name) and node.func.id in self._kinds):
            self._is_text = True
            node.args[:1] = [self.visit(argument) for argument in node.args[:1]]
            for keyword in node.keywords:
                if keyword.arg in _TEXTS:
                    keyword.value = self.visit(keyword.value)
            self._is_text = False
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if self._is_text and isinstance(node.value, str) and is_prose(node.value):
            return ast.copy_location(ast.Constant(f" {token(node.value, (self._module, node.lineno))} "), node)
        return node


def _kinds() -> set[str]:
    """Names of our exceptions, wherever they are made."""
    bases = dict[str, str]()
    for path in _PACKAGE.rglob("*.py"):
        bases.update(re.findall(r"^class (\w+)\((\w+)\):", path.read_text(encoding="utf-8"), re.MULTILINE))
    kinds = {"PgclarifyError"}
    while more := {name for name, base in bases.items() if base in kinds} - kinds:
        kinds |= more
    return kinds


def scramble() -> None:
    """Scramble from now on what is imported and installed."""
    kinds = _kinds()
    usual: Callable[[SourceFileLoader, str], CodeType | None] = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, name: str) -> CodeType | None:
        if not name.startswith("pgclarify."):
            return usual(self, name)
        path = self.get_filename(name)
        tree = _Scrambling(name, kinds).visit(ast.parse(self.get_data(path), path))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
    from pgclarify.install import functions
    from pgclarify.install.shipped import sql_files as usual_files

    def sql_files() -> list[tuple[str, str]]:
        return [(name, scramble_sql(name, text)) for name, text in usual_files()]

    vars(functions)["sql_files"] = sql_files
