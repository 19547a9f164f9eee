"""Replaces the wording of our messages by random tokens. Tests that pass with them do not depend on the wording.

With SCRAMBLED_WORDING set, each literal of a MESSAGE, DETAIL or HINT is replaced: in sql/ during the install, and in
Python, at the places where exceptions are made, when a module of pgclarify is imported. Placeholders and literals that
are not prose, like ", ", stay. Python processes that tests start do the same.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from itertools import pairwise
from pathlib import Path
from types import CodeType, ModuleType

VARIABLE = "SCRAMBLED_WORDING"
_PACKAGE = Path(__file__).parents[1] / "pgclarify"
# Each Python with this folder on its path runs its sitecustomize.py.
SITE = Path(__file__).with_name("scrambling")
# The form of the random tokens.
TOKEN = re.compile(r"\bw[0-9a-f]{10}\b")
_TEXTS = {"message", "detail", "hint"}
_OPTIONS = _TEXTS | {"errcode", "column", "constraint", "datatype", "table", "schema"}
_LEVELS = {"exception", "warning", "notice", "info", "log", "debug"}
# Variables and functions whose texts become a MESSAGE, DETAIL or HINT.
_VARIABLES = {"v_error", "v_detail", "v_hint", "v_message", "v_wanted"}
_FUNCTIONS = {
    *("reading_hint", "list_runs", "refusal", "stop_codes", "failure", "attach_table", "index_hint", "mixed_owners"),
    *("table_problems", "column_problems", "access_problems", "ownership_problems", "code_problems"),
    *("source_fault", "trigger_fault", "collision"),
}
# Arguments of PostgreSQL functions, which are not prose.
_ARGUMENTS = {"usage with grant option"}
# A literal after one of these is compared, so it is not prose.
_COMPARING = {"->", "->>", "#>>", "~", "!~", "=", "<>", "like", "when", "in", "?", "@>", ":="}
_TOKEN = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?\*/)|(?P<string>[eE]?'(?:[^']|'')*')|(?P<word>\$?\w+\$?)|(?P<space>\s+)"
    r"|(?P<sign>->>|->|#>>|!~|:=|<>|@>|.)",
    re.DOTALL,
)
# Placeholders of format(), also inside a function body that format() makes; and placeholders of RAISE.
_PLACEHOLDER = re.compile(r"%%?(?:\d+\$)?[sIL]")
_RAISED_PLACEHOLDER = re.compile(r"%%?(?:\d+\$[sIL])?")


def is_on() -> bool:
    """Whether this process scrambles messages."""
    return bool(os.environ.get(VARIABLE))


def token(text: str, place: object) -> str:
    """A random word: a different one at each place and in each test run."""
    return "w" + hashlib.sha256(f"{os.environ.get(VARIABLE)} {place} {text}".encode()).hexdigest()[:10]


def is_prose(text: str) -> bool:
    """Whether a literal is prose: neither JSON nor a separator."""
    if text.strip("'") in _ARGUMENTS or text.strip("' \n").startswith("{"):
        return False
    return re.search(r"[A-Za-z]{2,}", _PLACEHOLDER.sub("", text)) is not None and (" " in text or text.endswith("."))


def scramble_sql(name: str, text: str) -> str:
    """Replace the wording of the errors that a file of sql/ raises."""
    tokens = sql_tokens(text)
    for place, is_format in list(messages(tokens)):
        kind, given = tokens[place]
        kept = placeholders(given, is_format=is_format)
        tokens[place] = (kind, "'" + " ".join([token(given, (name, place)), *kept]) + "'")
    return "".join(given for _, given in tokens)


def sql_tokens(text: str) -> list[tuple[str | None, str]]:
    """Kinds and texts of the tokens of SQL; joined, the texts are the SQL again."""
    return [(match.lastgroup, match[0]) for match in _TOKEN.finditer(text)]


def placeholders(literal: str, *, is_format: bool) -> list[str]:
    """The placeholders of a literal. is_format: those of RAISE, not of format()."""
    return (_RAISED_PLACEHOLDER if is_format else _PLACEHOLDER).findall(literal)


def messages(tokens: list[tuple[str | None, str]]) -> Iterator[tuple[int, bool]]:
    """Places of the literals with the wording of a message, and whether each is the format of a RAISE."""
    done = set[int]()
    # Formats of RAISE first, since they have placeholders of their own.
    for region, is_format in sorted(_regions(tokens), key=lambda found: not found[1]):
        for place in region:
            kind, given = tokens[place]
            if (
                place not in done
                and kind == "string"
                and (is_format or is_prose(given[:-1]))
                and not _is_compared(tokens, place, region)
            ):
                done.add(place)
                yield place, is_format


def _is_compared(tokens: list[tuple[str | None, str]], place: int, region: range) -> bool:
    """Whether a literal is an operand of a comparison, so not prose."""
    before = [at for at in range(region.start, place) if tokens[at][0] not in ("space", "comment")]
    words = [tokens[at][1].lower() for at in before[-2:]]
    return (bool(words) and words[-1] in _COMPARING) or words == ["in", "("]


def _regions(tokens: list[tuple[str | None, str]]) -> Iterator[tuple[range, bool]]:
    """Where the texts of messages are, and whether each is the format of a RAISE."""
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
        # The arguments for its placeholders.
        yield range(words[0] + 1, next((at for at in words if tokens[at][1].lower() == "using"), end)), False
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


class Wording(ast.NodeTransformer):
    """Finds the texts of exceptions: at the place of their making, and where the names used there are assigned.

    Args:
        kinds: Names of the exceptions.
    """

    def __init__(self, kinds: set[str]) -> None:
        self._kinds = kinds
        # Names that become texts, in the module and in the enclosing function.
        self._names = [set[str]()]

    def visit_Module(self, node: ast.Module) -> ast.AST:
        self._names[0] = {name for name in self._names_in(node) if name.isupper()}
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._visit_function(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        for text in self.texts_of(node):
            self.replace(text)
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        # Also for functions that return an exception, and for Python's own exceptions.
        if isinstance(node.exc, ast.Call):
            for text in node.exc.args:
                self.replace(text)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self._assign(node.targets, node.value)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self._assign([node.target], node.value)
        return self.generic_visit(node)

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self._names.append(self._names_in(node))
        self.generic_visit(node)
        self._names.pop()
        return node

    def texts_of(self, call: ast.Call) -> list[ast.expr]:
        """The arguments of a call that are a MESSAGE, DETAIL or HINT."""
        is_super = isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"
        options = [keyword.value for keyword in call.keywords if keyword.arg in _TEXTS]
        is_made = is_super or (isinstance(call.func, ast.Name) and call.func.id in self._kinds)
        return [*call.args[:1], *options] if is_made else options

    def _names_in(self, node: ast.AST) -> set[str]:
        calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
        texts = [text for call in calls for text in self.texts_of(call)]
        return {name.id for text in texts for name in ast.walk(text) if isinstance(name, ast.Name)}

    def _assign(self, targets: list[ast.expr], value: ast.expr | None) -> None:
        if value is not None and any(isinstance(name, ast.Name) and name.id in self._names[-1] for name in targets):
            self.replace(value)

    def replace(self, text: ast.expr) -> None:
        """Replace the wording in an expression that becomes part of a message."""
        raise NotImplementedError


class _Scrambling(Wording):
    """Replaces the wording by random words."""

    def __init__(self, module: str, kinds: set[str]) -> None:
        super().__init__(kinds)
        self._module = module

    def replace(self, text: ast.expr) -> None:
        for node in ast.walk(text):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and is_prose(node.value):
                node.value = f" {token(node.value, (self._module, node.lineno))} "


@functools.cache
def kinds_of_error() -> set[str]:
    """Names of all our exceptions."""
    bases = dict[str, str]()
    for path in _PACKAGE.rglob("*.py"):
        bases.update(re.findall(r"^class (\w+)\((\w+)\):", path.read_text(encoding="utf-8"), re.MULTILINE))
    kinds = {"PgclarifyError"}
    while more := {name for name, base in bases.items() if base in kinds} - kinds:
        kinds |= more
    return kinds


def scramble() -> None:
    """Scramble all modules that are imported and all SQL that is installed from now on."""
    if hasattr(SourceFileLoader, VARIABLE):
        # sitecustomize.py has already done it.
        return
    kinds = kinds_of_error()
    usual: Callable[[SourceFileLoader, str], CodeType | None] = SourceFileLoader.get_code
    usually: Callable[[SourceFileLoader, ModuleType], None] = SourceFileLoader.exec_module

    def get_code(self: SourceFileLoader, name: str) -> CodeType | None:
        if not name.startswith("pgclarify."):
            return usual(self, name)
        path = self.get_filename(name)
        tree = _Scrambling(name, kinds).visit(ast.parse(self.get_data(path), path))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    def exec_module(self: SourceFileLoader, module: ModuleType) -> None:
        usually(self, module)
        if module.__name__ == "pgclarify.install.shipped":
            usual_files = vars(module)["sql_files"]
            vars(module)["sql_files"] = lambda: [(name, scramble_sql(name, text)) for name, text in usual_files()]

    for name, value in {VARIABLE: True, "get_code": get_code, "exec_module": exec_module}.items():
        setattr(SourceFileLoader, name, value)
    if str(SITE) not in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        # Python processes that this process starts do the same.
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(SITE), os.environ.get("PYTHONPATH", "")]))
