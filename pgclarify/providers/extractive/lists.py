"""Builds readings from lists of steps and from table rows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pgclarify.language.sentences import Kind
from pgclarify.language.words import content_stems, word_set, words
from pgclarify.providers.extractive.answer_types import TYPED, AnswerType
from pgclarify.providers.extractive.drafts import Draft, as_question
from pgclarify.providers.extractive.evidence import Evidence
from pgclarify.providers.extractive.grammar import ask_for_oneself, base_of_gerund, is_base_verb
from pgclarify.providers.extractive.phrases import plain_text, read_label
from pgclarify.providers.extractive.spans import find_spans
from pgclarify.providers.extractive.topics import Topic, lower_first

_TO_DO = re.compile(r"\b(?:how to|steps to|to) ([a-z]{3,12}(?: [^,.;:]{2,60})?)", re.IGNORECASE)
# These names of columns say nothing about their cells.
_NO_COLUMN = word_set(
    "description meaning means note notes comment comments remark remarks type read text value details"
)
_CELL_END = re.compile(r"(?<!\\)\|")
_MARKED = re.compile(r"^`([^`]*)`$")
_ELSEWHERE = ("as in ", "see ", "same as ")
_LEAST_TOLD = 3
_MEASURES = (AnswerType.AMOUNT, AnswerType.PERCENTAGE, AnswerType.DURATION, AnswerType.DATE)


def draft_steps(evidence: Evidence, topic: Topic) -> Draft | None:
    """Return the question that a list of steps answers: "How do I file a claim?".

    The introduction or the heading of the list names the task.
    """
    # "Use these as a baseline:" introduces no steps of the heading's task.
    to_do = _TO_DO.match(evidence.lead)
    task = _verb_and_rest(to_do[1]) if to_do else "" if evidence.lead else _heading_task(topic.name)
    if not task or not (evidence.kind is Kind.STEP or _are_commands(evidence.items)):
        return None
    answer = "; ".join(" ".join(item.split()).rstrip(" .;,") for item in evidence.items)
    return Draft(as_question(f"how do I {ask_for_oneself(task)}"), answer, AnswerType.STEPS)


def _heading_task(heading: str) -> str:
    """Return the task that a heading names; "" for "If you have to stay at home"."""
    first = words(heading)[:1]
    is_task = bool(first) and (first[0].lower in ("how", "steps", "to") or not _TO_DO.search(heading))
    return _task(heading) if is_task else ""


def _task(phrase: str) -> str:
    """Return the task of a phrase: "cancel my policy" of "To cancel your policy" or "Canceling your policy"."""
    phrase = phrase.strip(" :?#*")
    match = _TO_DO.search(phrase)
    if match:
        return _verb_and_rest(match[1])
    found = words(phrase)
    # "Name-based hosts" names no task.
    if not 0 < len(found) <= 7 or phrase.startswith("-", found[0].end):
        return ""
    base = base_of_gerund(found[0].lower)
    rest = (
        phrase[found[0].end :].lower() if not any(word.is_capitalized for word in found[1:]) else phrase[found[0].end :]
    )
    if base:
        return base + rest
    return found[0].lower + rest if is_base_verb(found[0].lower) and len(found) > 1 else ""


def _verb_and_rest(task: str) -> str:
    """Return the task, if it begins with a known verb."""
    return task if is_base_verb(task.split()[0].lower()) else ""


def _are_commands(items: tuple[str, ...]) -> bool:
    first = [words(item)[0].lower for item in items if words(item)]
    return sum(is_base_verb(lower) for lower in first) * 2 > len(first)


def find_cell(
    question: str, stems: frozenset[str], kind: AnswerType, pieces: Iterable[Evidence], topic: Topic
) -> tuple[Evidence, str] | None:
    """Find the one cell, or value behind a label, that a whole question names by row, column, title and headings.

    Args:
        question: "How much is a consultation for a cat?"
        stems: Stems of the words of the question that say what the answer is about.
        kind: The kind of its answer.
        pieces: All pieces of the passage.
        topic: Title and headings of the passage.

    Returns:
        The piece and the cell; None if the question names no cell, or two of them equally well.
    """
    asked = {word.lower for word in words(question)}
    found: list[tuple[tuple[int, int], Evidence, str]] = []
    for piece in pieces:
        above = topic.under(piece.lead if piece.kind is Kind.LINE else "").stems
        if piece.header:
            # "The ticket for an adult": the first column has a name, too.
            above |= content_stems(_cells(piece.header)[0])
        for label, column, value in _named_values(piece):
            named = content_stems(label)
            is_named = bool(named & stems - above) and stems <= named | above | content_stems(column)
            if is_named and (kind not in TYPED or find_spans(value, kind)):
                beside = {word.lower for word in words(f"{label} {column}")}
                found.append(((len(beside & asked), -len(beside - asked)), piece, value))
    best = max((one[0] for one in found), default=None)
    fitting = [one for one in found if one[0] == best]
    return fitting[0][1:] if len(fitting) == 1 else None


def _named_values(piece: Evidence) -> list[tuple[str, str, str]]:
    """Return the label, the name of the column, and the text of each cell of a row; or one label with its value."""
    if piece.items:
        return []
    if not piece.header:
        labeled = read_label(piece, plain_text(piece.text))
        return [(labeled[0], "", labeled[1])] if labeled else []
    names, cells = _cells(piece.header), _cells(piece.text)
    # An unescaped "|" is part of a cell, and no name is known to belong to its cell.
    rest = [*zip(names, cells, strict=False)][1:] if len(cells) <= len(names) else []
    return [(cells[0], name, cell) for name, cell in rest]


def draft_row(evidence: Evidence) -> list[Draft]:
    """Return one draft for each cell of a table row: "rental cars: daily limit"."""
    drafts = []
    for first, name, cell in _named_values(evidence):
        # A number alone says nothing, because its unit may only be clear from the whole table.
        if not (name and first) or not any(character.isalpha() or character in "$€£¥%" for character in cell):
            continue
        kind = next((kind for kind in _MEASURES if find_spans(cell, kind)), AnswerType.CLAUSE)
        is_named = any(word.is_content and word.lower not in _NO_COLUMN for word in words(name))
        if (not is_named and len(cell.split()) < _LEAST_TOLD) or cell.lower().startswith(_ELSEWHERE):
            continue
        label = lower_first(first, "")
        phrase = f"{label}: {name.lower()}" if is_named else label
        drafts.append(Draft(phrase.replace("`", ""), cell, kind, is_phrase=True))
    return drafts


def _cells(row: str) -> list[str]:
    cells = _CELL_END.split(row.strip().removeprefix("|"))
    if not cells[-1].strip():
        del cells[-1]
    return [_MARKED.sub(r"\1", plain_text(cell.replace(r"\|", "|")).strip(" *")) for cell in cells]
