"""Questions that a statement answers: how they are put together."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pgclarify.llm.extractive.answer_types import AnswerType
from pgclarify.llm.extractive.grammar import (
    AUXILIARIES,
    CONDITIONS,
    FINITE_FORMS,
    PREPOSITIONS,
    Clause,
    ask_for_oneself,
    invert,
    parse_clause,
)
from pgclarify.llm.extractive.terms import word_set, words
from pgclarify.llm.extractive.topics import Topic, lower_first, with_article


@dataclass(frozen=True, slots=True)
class Draft:
    """A question that a sentence answers.

    Attributes:
        question: Without what only the title or heading says; ends with "?".
        answer: Part of the sentence, or "Yes" or "No".
        kind: What the answer is.
    """

    question: str
    answer: str
    kind: AnswerType


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence with what is needed to read it.

    Attributes:
        text: The sentence, its lines joined.
        clause: Its grammar, or None if it is not understood.
        topic: Title and headings around it.
        passage: The whole passage.
        antecedent: The name that an earlier sentence begins with, for "it" and "she"; or "".
    """

    text: str
    clause: Clause | None
    topic: Topic
    passage: str
    antecedent: str = ""


_PRONOUNS = word_set("it he she they its his her their")
_DEMONSTRATIVES = word_set("this that these those")
_VAGUE_NOUNS = word_set("one ones coverage cover policy plan benefit protection insurance section option")
_CUT = re.compile(
    r"[;:()\"“”\u2013—|]|,(?!\d)|\.(?=\s)| (?:unless|but|which|because|while|although|so|including|such as"
    r"|whichever|provided) "
)
SERIES = re.compile(r",[^,.;]{1,80}(?:,| and | or )")
_AND = re.compile(r" and ")


def as_question(question: str) -> str:
    """A capital in front, a question mark behind, and no mark-up between."""
    question = " ".join(question.replace("*", "").replace("`", "").split()).rstrip(" .,;:!?")
    return question[:1].upper() + question[1:] + "?"


def asked(
    statement: Statement, clause: Clause, wh: str, before: str, after: str, answer: str, kind: AnswerType
) -> Draft | None:
    """Put wh-word, verb, subject and what remains of the predicate in the order of a question."""
    verb = clause.verb
    subject = subject_of(statement, clause, verb.base)
    if not subject:
        return None
    auxiliary = verb.auxiliary
    if subject.lower() != clause.subject.lower() and auxiliary == "do":
        auxiliary = "does"
    inverted = invert(auxiliary, subject)
    negation = "not " if verb.is_negated and wh else ""
    rest = negation + ask_for_oneself(f"{verb.base} {before} {after}{condition_of(statement)}".strip())
    return Draft(as_question(f"{wh} {inverted} {rest}"), answer.strip(" .,;"), kind)


def subject_of(statement: Statement, clause: Clause, base: str) -> str:
    """The subject as the question names it, pronouns replaced; "" if nothing tells whom or what they mean."""
    subject = clause.subject
    lowers = subject.lower()
    first, _, rest = lowers.partition(" ")
    if first in _PRONOUNS or (first in _DEMONSTRATIVES and (not rest or rest.split()[-1] in _VAGUE_NOUNS)):
        meant = with_article(statement.topic.name) if statement.topic.is_scheme else statement.antecedent
        if not meant or (rest and first in ("it", "he", "she", "they")):
            return ""
        return f"{meant}'s {subject.partition(' ')[2]}" if rest and first in _PRONOUNS else meant
    if lowers == "we" and base in ("pay", "cover", "reimburse", "provide", "protect") and statement.topic.is_scheme:
        return with_article(statement.topic.name)
    return lower_first(subject, statement.passage)


def condition_of(statement: Statement) -> str:
    """The opening phrase of a sentence, if it limits what is said: " if I cancel early", " after 14 days"."""
    lead = statement.clause.lead if statement.clause else ""
    if not lead or lead.split()[0].lower() not in CONDITIONS | {"after", "before", "for", "during", "within"}:
        return ""
    return " " + lower_first(lead, statement.passage)


def rest_end(text: str, start: int) -> int:
    """Where the predicate stops saying more about the same thing."""
    cut = _CUT.search(text, start)
    end = cut.start() if cut else len(text)
    for match in _AND.finditer(text, start, end):
        following = words(text[match.end() : match.end() + 40])
        goes_elsewhere = any(word.lower in AUXILIARIES or word.lower in FINITE_FORMS for word in following[:2])
        if (
            goes_elsewhere
            or not text[match.end()].isalpha()
            or following[0].lower in (*PREPOSITIONS, "we", "you", "they", "it")
        ):
            end = match.start()
            break
    return start + len(text[start:end].rstrip(" .!?,"))


def is_cut_between(text: str, start: int, end: int) -> bool:
    """Whether another clause begins between the verb and the answer, so that the answer is not the verb's."""
    between = text[start:end]
    return _CUT.search(between) is not None or any(
        word.lower in CONDITIONS or word.lower in ("that", "who", "where", "than") for word in words(between)
    )


def draft_lead(lead: str, answer: str, topic: Topic) -> Draft | None:
    """What a list answers, by the sentence that introduces it: "You need the following documents:"."""
    text = " ".join(lead.split()).rstrip(" :")
    for filler in (" the following", " these", " as follows"):
        text = text.replace(filler, "")
    clause = parse_clause(text)
    if clause is None:
        return None
    statement = Statement(text, clause, topic, lead)
    rest = text[clause.verb.end :].strip()
    if clause.subject.lower() == "the following" and not clause.verb.base:
        negation = "not " if clause.verb.is_negated else ""
        return Draft(as_question(f"what is {negation}{ask_for_oneself(rest)}"), answer, AnswerType.LIST)
    head, _, last = rest.rpartition(" ")
    if last.lower() in ("if", "when", "unless"):
        return None if last == "unless" else asked(statement, clause, "When", head, "", answer, AnswerType.LIST)
    if clause.verb.base and rest and last.lower() not in PREPOSITIONS:
        return asked(statement, clause, f"What {rest}", "", "", answer, AnswerType.LIST)
    if not head or last.lower() in PREPOSITIONS:
        return asked(statement, clause, "What", rest, "", answer, AnswerType.LIST)
    return None
