"""Pieces of Python, laid out as ruff formats them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

WIDTH = 120
HEAD = "# Written by `make generated` from pgclarify/declared. Do not edit.\n"


def quoted(text: str) -> str:
    """Return a text as a constant."""
    mark = '"' if text.count('"') <= text.count("'") else "'"
    return mark + text.replace("\\", "\\\\").replace(mark, f"\\{mark}") + mark


def constant(value: object) -> str:
    """Return a text, a number, None, or a tuple of such as a constant in one line."""
    if isinstance(value, tuple):
        return f"({', '.join(map(constant, value))}{',' if len(value) == 1 else ''})"
    return quoted(value) if isinstance(value, str) else repr(value)


def argument(name: str, value: object, indent: str) -> str:
    """Return a line with an argument of a call, or several lines if it is a long text."""
    line = f"{indent}{name}={constant(value)},"
    if not isinstance(value, str) or len(line) <= WIDTH:
        return line
    # The mark and the comma, and the blank that ends each line but the last.
    room = WIDTH - len(indent) - 4
    first, *rest = textwrap.wrap(value, room, initial_indent=" " * (len(name) + 1), break_long_words=False)
    pieces = [first.lstrip(), *rest]
    shown = [quoted(piece + " ") for piece in pieces[:-1]] + [quoted(pieces[-1])]
    return f"{indent}{name}={shown[0]}\n" + "\n".join(f"{indent}{piece}" for piece in shown[1:]) + ","


def in_python(meaning: str) -> str:
    """Return a meaning in the words of Python instead of those of SQL."""
    return re.sub(r"\b[Nn]ull\b", "None", meaning)


def sentence(meaning: str) -> str:
    """Return a meaning as a sentence."""
    return meaning[:1].upper() + meaning[1:] + ("" if meaning.endswith(".") else ".")


def docstring(about: str, indent: str, *, example: str = "", sections: Iterable[tuple[str, Iterable[str]]] = ()) -> str:
    """Return a docstring, with the indentation of its first line.

    Args:
        about: A sentence of one line, and further sentences or paragraphs.
        indent: The white space before each line.
        example: Lines of code.
        sections: Titles, such as Args, each with its entries.
    """
    first, *paragraphs = [paragraph for paragraph in about.split("\n\n") if paragraph]
    room = WIDTH - len(indent)
    if len(first) + 3 > room and ". " in first:
        shorter, rest = first.split(". ", 1)
        first, paragraphs = f"{shorter}.", [rest, *paragraphs]
    if len(first) + 3 > room:
        raise ValueError(f"this sentence is too long for the first line of a docstring: {first}")
    parts = [first, *(textwrap.fill(paragraph, room) for paragraph in paragraphs)]
    parts += [textwrap.indent(example, "    ")] if example else []
    for title, entries in sections:
        # Entries with a name hang, so that names can be found.
        hanging = "    " if title == "Returns" else "        "
        filled = [textwrap.fill(one, room, initial_indent="    ", subsequent_indent=hanging) for one in entries]
        parts += ["\n".join([f"{title}:", *filled])] if filled else []
    end = "" if len(parts) == 1 else "\n"
    return textwrap.indent('"""' + "\n\n".join(parts) + end, indent) + (f'{indent}"""' if end else '"""') + "\n"


def used(code: str, modules: Iterable[tuple[str, Iterable[str]]]) -> str:
    """Return the imports that a piece of code needs.

    Args:
        code: The code.
        modules: Modules in their order, each with the names that it has.
    """
    words = {*re.findall(r"\w+", code)}
    return "".join(imports(module, words.intersection(names)) for module, names in modules)


def imports(module: str, names: Iterable[str]) -> str:
    """Return the statement that imports names from a module; nothing if there are none."""
    wanted = sorted(set(names), key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    if not wanted:
        return ""
    line = f"from {module} import {', '.join(wanted)}\n"
    if len(line) <= WIDTH + 1:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in wanted) + ")\n"
