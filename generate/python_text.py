"""Pieces of Python, laid out as ruff formats them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

WIDTH = 120
HEAD = "# Written by `make generated` from pgclarify/declared. Do not edit.\n"


def quoted(text: str) -> str:
    """Return a text as a constant."""
    mark = '"'
    if text.count('"') > text.count("'"):
        mark = "'"
    escaped = text.replace("\\", "\\\\")
    escaped = escaped.replace(mark, f"\\{mark}")
    return f"{mark}{escaped}{mark}"


def constant(value: object) -> str:
    """Return a text, a number, None, or a tuple of such as a constant in one line."""
    if isinstance(value, str):
        return quoted(value)
    if not isinstance(value, tuple):
        return repr(value)
    items = ", ".join(map(constant, value))
    if len(value) == 1:
        # A comma makes it a tuple.
        items += ","
    return f"({items})"


def argument(name: str, value: object, indent: str) -> str:
    """Return a line with an argument of a call, or several lines if it is a long text."""
    line = f"{indent}{name}={constant(value)},"
    if not isinstance(value, str) or len(line) <= WIDTH:
        return line
    # Marks, a comma, and the blank at the end of each line but the last.
    room = WIDTH - len(indent) - 4
    start = f"{name}="
    lines = _wrapped(value, room, taken=len(start))
    text = start + "\n".join(lines)
    return textwrap.indent(f"{text},", indent)


def _wrapped(text: str, room: int, *, taken: int) -> list[str]:
    """Return a text as constants that Python joins: one for each line, of which the first has less room."""
    margin = " " * taken
    lines = textwrap.wrap(text, room, initial_indent=margin, break_long_words=False)
    lines[0] = lines[0].removeprefix(margin)
    *before, last = lines
    constants = [quoted(f"{line} ") for line in before]
    constants.append(quoted(last))
    return constants


def in_python(meaning: str) -> str:
    """Return a meaning in the words of Python instead of those of SQL."""
    return re.sub(r"\b[Nn]ull\b", "None", meaning)


def sentence(meaning: str) -> str:
    """Return a meaning as a sentence."""
    capitalized = meaning[:1].upper() + meaning[1:]
    if capitalized.endswith("."):
        return capitalized
    return f"{capitalized}."


def docstring(about: str, indent: str, *, example: str = "", sections: Iterable[tuple[str, Iterable[str]]] = ()) -> str:
    """Return a docstring, with the indentation of its first line.

    Args:
        about: A sentence of one line, and further sentences or paragraphs.
        indent: The white space before each line.
        example: Lines of code.
        sections: Titles, such as Args, each with its entries.
    """
    room = WIDTH - len(indent)
    first, *paragraphs = _paragraphs(about, room)
    parts = [first]
    parts += [textwrap.fill(paragraph, room) for paragraph in paragraphs]
    parts.append(textwrap.indent(example, "    "))
    for title, entries in sections:
        section = _section(title, entries, room)
        parts.append(section)
    text = "\n\n".join(filter(None, parts))
    if text != first:
        # The closing marks have a line of their own.
        text += "\n"
    return textwrap.indent(f'"""{text}"""\n', indent)


def _paragraphs(about: str, room: int) -> list[str]:
    """Return the paragraphs of a docstring, of which the first one fits into its first line.

    Raises:
        ValueError: If the first sentence is too long.
    """
    room_of_first = room - len('"""')
    first, *others = filter(None, about.split("\n\n"))
    if len(first) <= room_of_first:
        return [first, *others]
    sentence, _, rest = first.partition(". ")
    sentence += "."
    fits = len(sentence) <= room_of_first
    if not rest or not fits:
        raise ValueError(f"this sentence is too long for the first line of a docstring: {first}")
    return [sentence, rest, *others]


def _section(title: str, entries: Iterable[str], room: int) -> str:
    """Return a section of a docstring; nothing if it has no entries."""
    layout = textwrap.TextWrapper(room, initial_indent="    ", subsequent_indent="    ")
    if title != "Returns":
        # Entries with a name hang, so that names can be found.
        layout.subsequent_indent = "        "
    filled = map(layout.fill, entries)
    lines = "\n".join(filled)
    if not lines:
        return ""
    return f"{title}:\n{lines}"


def used(code: str, modules: Iterable[tuple[str, Iterable[str]]]) -> str:
    """Return the imports that a piece of code needs.

    Args:
        code: The code.
        modules: Modules in their order, each with the names that it has.
    """
    words = set(re.findall(r"\w+", code))
    statements = ""
    for module, names in modules:
        used_names = words.intersection(names)
        statements += imports(module, used_names)
    return statements


def imports(module: str, names: Iterable[str]) -> str:
    """Return the statement that imports names from a module; nothing if there are none."""
    wanted = sorted(set(names), key=_order_of_import)
    if not wanted:
        return ""
    listed = ", ".join(wanted)
    line = f"from {module} import {listed}"
    if len(line) > WIDTH:
        listed = "".join(f"    {name},\n" for name in wanted)
        line = f"from {module} import (\n{listed})"
    return f"{line}\n"


def _order_of_import(name: str) -> tuple[bool, bool, str]:
    """Return the place of a name: constants, then classes, then functions."""
    is_constant = name.isupper()
    is_class = name[0].isupper()
    return not is_constant, not is_class, name
