"""Builds questions that a sum in a statement answers: "How much does the plan pay for a taxi?"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pgclarify.language.words import word_set, words
from pgclarify.providers.extractive.answer_types import AnswerType
from pgclarify.providers.extractive.drafts import (
    Draft,
    ParsedSentence,
    as_question,
    asked,
    condition_of,
    is_cut_between,
    rest_end,
)
from pgclarify.providers.extractive.grammar import AUXILIARIES, CONDITIONS, PARTICIPLES, PREPOSITIONS, Clause
from pgclarify.providers.extractive.spans import Span, find_spans

# A sum answers the question only after one of these prepositions.
_BEFORE_SUMS = ("", "to", "for", "at", "by", "of", "from")
# If one of these words follows a sum, the sum belongs to no noun.
_NO_NOUNS = PREPOSITIONS | CONDITIONS | AUXILIARIES | frozenset(["and", "or", "that", "each", "a", "an", "the", "per"])
_PARTICLES = frozenset(["down", "up", "out", "only", "back", "me", "you", "us"])
# Texts between the sums of a series or a range.
_JOINS = (", ", " or ", ", or ", " and ", ", and ", " to ")
_SERIES_REST = re.compile(r"(?:, [\w -]{1,30}){1,3},? (?:and|or) [\w-]{1,30}")
# "A cancellation fee of $35", up to the sum.
_NOUN_OF = re.compile(r"(?:a|an|the|our) ((?:[a-z][a-z-]+ ){1,3})of (?=\S)", re.IGNORECASE)
# "To both" means something that was said before.
_MEANT = word_set("all any both each either it its that their them these this those")
_FREE = re.compile(r"free of charge|at no ", re.IGNORECASE)


def draft_amounts(statement: ParsedSentence) -> Iterator[Draft]:
    """Read "The plan pays $40 a day for a car." answers "How much does the plan pay for a car?"."""
    clause = statement.clause
    if clause is None or clause.verb.is_negated:
        return
    for span in find_spans(statement.text, AnswerType.AMOUNT):
        if span.start >= clause.verb.end and not is_cut_between(statement.text, clause.verb.end, span.start):
            draft = _amount(statement, clause, span)
            if draft:
                yield draft
    draft = _applying_amount(statement, clause)
    if draft:
        yield draft


def _applying_amount(statement: ParsedSentence, clause: Clause) -> Draft | None:
    """Read "A fee of $35 applies to late returns." answers "How much is the fee for late returns?"."""
    noun = _NOUN_OF.match(clause.subject)
    start = clause.subject_start + noun.end() if noun else -1
    span = next((one for one in find_spans(statement.text, AnswerType.AMOUNT) if one.start == start), None)
    end = clause.subject_start + len(clause.subject)
    # "A fee of $35 applied" tells of one case.
    is_rule = (clause.verb.base, clause.verb.auxiliary) == ("apply", "does")
    if noun is None or span is None or span.end != end or not is_rule:
        return None
    rest = statement.text[clause.verb.end : rest_end(statement.text, clause.verb.end)].strip()
    if rest and (not rest.startswith("to ") or rest.split()[1].lower() in _MEANT):
        return None
    whose = f" for {rest.removeprefix('to ')}" if rest else ""
    question = as_question(f"How much is the {noun[1].strip()}{whose}{condition_of(statement)}")
    return Draft(question, statement.text[span.start : span.end], AnswerType.AMOUNT)


def _amount(statement: ParsedSentence, clause: Clause, span: Span) -> Draft | None:
    """Return the question that one sum after the verb answers."""
    text = statement.text
    before, preposition = _without_preposition(text[clause.verb.end : span.start].strip())
    answer_end = _alternatives_end(text, span)
    end = rest_end(text, answer_end)
    series = _SERIES_REST.match(text, end)
    after = text[answer_end : series.end() if series else end].strip()
    # "Once a year or in parts" continues. "More than" something is no sum by itself.
    is_compared = after.lower().startswith(("or ", "and ", "more ", "less ")) or "than" in after.lower().split()[:3]
    is_of_noun = text[: span.start].endswith((" a ", " an ")) and _has_noun(text[span.end :])
    # "Bochs is another free program" has no price. In "a deductible of $250" the sum belongs to the noun. "Gross $2
    # here and $3 there" has two sums.
    is_free = bool(before) and text[span.start : span.end].lower() == "free"
    is_other = (preposition in ("of", "from") and before) or find_spans(before, AnswerType.AMOUNT)
    if is_compared or is_of_noun or is_free or is_other or preposition not in _BEFORE_SUMS:
        return None
    is_passive = not clause.verb.base and bool(words(before)) and words(before)[0].lower in PARTICIPLES
    is_bounded = text[span.start :].lower().startswith("up to ")
    # The preposition is the last word before the sum.
    start = len(text[: span.start].rstrip()) - len(preposition) if preposition == "from" else span.start
    wh = "How much"
    if preposition == "by":
        wh = "By how much"
    elif is_passive and _FREE.match(text, span.start):
        wh = "At what cost"
    elif (is_passive and is_bounded) or (before and clause.verb.base and not _is_particle(before)):
        # "Covers damage up to $500": "how much" would ask about the damage.
        if not is_bounded:
            return None
        wh = "Up to what amount"
    return asked(statement, clause, wh, before, _without_measure(after), text[start:answer_end], AnswerType.AMOUNT)


def _has_noun(after: str) -> bool:
    """Return whether a noun follows a sum directly: " fee", "-fee"."""
    found = words(after[:40])[:1]
    return bool(found) and after[: found[0].start] in (" ", "-") and found[0].lower not in _NO_NOUNS


def _alternatives_end(text: str, span: Span) -> int:
    """Return the end of a series of sums: "$20, $30 or $40"."""
    end = span.end
    for other in find_spans(text, span.kind):
        if other.start > end and text[end : other.start] in _JOINS:
            end = other.end
    return end


def _without_measure(after: str) -> str:
    """Remove a second measure from the end: "for a car for at most 30 days" asks about a car."""
    spans = [span for kind in (AnswerType.DURATION, AnswerType.AMOUNT) for span in find_spans(after, kind)]
    last = next((span for span in spans if span.end == len(after)), None)
    if last is None:
        return after
    head, preposition = _without_preposition(after[: last.start].strip())
    return head if preposition in ("for", "up to", "to") else after


def _is_particle(before: str) -> bool:
    """Return whether the text between verb and sum is no object: "pays for taxis up to $20", "goes down by $50"."""
    first = words(before)[0].lower if words(before) else ""
    return first in PREPOSITIONS or first in _PARTICLES


def _without_preposition(before: str) -> tuple[str, str]:
    """Split off the preposition before the answer: ("be filed", "within")."""
    head, _, last = before.rpartition(" ")
    if last.lower() in PREPOSITIONS:
        return head, last.lower()
    return before, ""
