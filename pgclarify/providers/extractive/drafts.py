"""Builds questions that a statement answers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pgclarify.language.words import word_set, words
from pgclarify.providers.extractive.answer_types import AnswerType
from pgclarify.providers.extractive.grammar import (
    AUXILIARIES,
    CONDITIONS,
    FINITE_FORMS,
    PARTICIPLES,
    PREPOSITIONS,
    Clause,
    ask_for_oneself,
    invert,
    is_base_verb,
)
from pgclarify.providers.extractive.topics import Topic, lower_first, with_article


@dataclass(frozen=True, slots=True)
class Draft:
    """A question that a sentence answers.

    Attributes:
        question: The question without words of title and heading; ends with "?".
        answer: Part of the sentence, or "Yes" or "No".
        kind: The kind of the answer.
        is_found: True if the passage itself asks the question.
        is_phrase: True for a phrase instead of a question: "rental cars: daily limit".
    """

    question: str
    answer: str
    kind: AnswerType
    is_found: bool = False
    is_phrase: bool = False


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence with its grammar and context.

    Attributes:
        text: The sentence, its lines joined.
        clause: The grammar of the sentence, or None if it is not understood.
        topic: Title and headings around it.
        passage: The whole passage.
        antecedent: The noun that "it", "she" and "they" stand for here, as a question names it; or "".
    """

    text: str
    clause: Clause | None
    topic: Topic
    passage: str
    antecedent: str = ""


_PRONOUNS = word_set("it he she they its his her their")
_DEMONSTRATIVES = word_set("this that these those")
_SCHEMES_DO = word_set("pay cover reimburse provide protect insure replace refund")
_PEOPLE_DO = word_set(
    """approve appoint ask buy choose cover drive handle insure lead live manage meet offer own pay play provide
    refund run sell sign write"""
)
# A mass noun at the start of a sentence has a capital too.
_ABSTRACT = ("ing", "ment", "tion", "sion", "ance", "ence", "ity", "age", "ness", "ship", "sm", "ry")
_VAGUE_NOUNS = word_set(
    "one ones coverage cover policy plan benefit protection insurance section option endorsement membership program"
)
_CUT = re.compile(
    r"[;:()\"“”\u2013—|]| - |,(?!\d)|\.(?=\s)| (?:unless|but|which|because|although|so|including|such as"
    r"|whichever|provided) "
)
SERIES = re.compile(r",[^,.;]{1,80}(?:,| and | or )")
_AND = re.compile(r" and ")
_LIMITS = word_set("after before for from during since until within with without")


def as_question(question: str) -> str:
    """Return the text with a capital first letter, a question mark at the end, and no markup."""
    question = " ".join(question.replace("*", "").replace("`", "").split()).rstrip(" .,;:!?")
    question = question.removesuffix(" as well").removesuffix(" too")
    return question[:1].upper() + question[1:] + "?"


def asked(
    statement: ParsedSentence, clause: Clause, wh: str, before: str, after: str, answer: str, kind: AnswerType
) -> Draft | None:
    """Put the wh-word, verb, subject and the rest of the predicate in the order of a question."""
    verb = clause.verb
    subject = subject_of(statement, clause, verb.base)
    if not subject:
        return None
    auxiliary = verb.auxiliary
    # "We pay" becomes "the policy pays". "They" stands for a plural, so its verb stays.
    if subject.lower() != clause.subject.lower() != "they" and auxiliary == "do":
        auxiliary = "does"
    # "A reranker has two outputs" would ask "Has a reranker two outputs?"
    following = words(f"{before} {after}")[:1]
    if auxiliary in ("has", "have", "had") and not (following and following[0].lower in PARTICIPLES | {"been"}):
        return None
    inverted = invert(auxiliary, subject)
    rest = ask_for_oneself(f"{verb.base} {before} {after}{condition_of(statement)}".strip())
    return Draft(as_question(f"{wh} {inverted} {rest}"), answer.strip(" .,;"), kind)


def subject_of(statement: ParsedSentence, clause: Clause, base: str) -> str:
    """Return the subject with its pronouns replaced, as the question names it; "" if their nouns are unknown."""
    subject = clause.subject
    lowers = subject.lower()
    first, _, rest = lowers.partition(" ")
    scheme = with_article(statement.topic.scheme)
    if first in _PRONOUNS:
        meant = statement.antecedent
        if not meant or (rest and first in ("it", "he", "she", "they")):
            return ""
        return f"{meant}'s {subject.partition(' ')[2]}" if rest else meant
    if first in _DEMONSTRATIVES:
        # "This" alone means the whole text before it, and a question cannot name that.
        return scheme if rest and rest.split()[-1] in _VAGUE_NOUNS else ""
    if lowers == "we" and base in _SCHEMES_DO and scheme:
        return scheme
    return subject if _is_name(clause) else lower_first(subject, statement.passage)


def _is_name(clause: Clause) -> bool:
    """Return whether a sentence begins with a person's name: a single word with a verb, "Alice was", "Alice signs".

    In the present tense, mass nouns are subjects too ("Payment is due", "Fuel costs extra").
    """
    found = words(clause.subject)
    is_bare = len(found) == 1 and found[0].is_content and found[0].is_capitalized
    verb = clause.verb
    happened = verb.auxiliary in ("was", "did", "had") or (verb.auxiliary == "does" and verb.base in _PEOPLE_DO)
    # "Premiums rose": in the past tense, the verb does not show that the noun is a plural. "Rent was": a word that can
    # be a verb is no name.
    is_noun = (found[0].lower.endswith("s") and verb.auxiliary == "did") or is_base_verb(found[0].lower)
    return is_bare and happened and not is_noun and not found[0].lower.endswith(_ABSTRACT)


def condition_of(statement: ParsedSentence) -> str:
    """Return the opening phrase of a sentence, if it limits the statement: " if I cancel early", " after 14 days"."""
    lead = statement.clause.lead if statement.clause else ""
    if not lead or lead.split()[0].lower() not in CONDITIONS | _LIMITS:
        return ""
    return " " + lower_first(lead, statement.passage)


def rest_end(text: str, start: int) -> int:
    """Return the offset where the predicate stops describing the same thing."""
    cut = _CUT.search(text, start)
    end = cut.start() if cut else len(text)
    for match in _AND.finditer(text, start, end):
        following = words(text[match.end() : match.end() + 40])
        if (
            _goes_elsewhere(text, match.end())
            or not text[match.end()].isalpha()
            or text.startswith(("up to ", "at most ", "at least "), match.end())
            or following[0].lower in (*PREPOSITIONS, "we", "you", "they", "it")
        ):
            end = match.start()
            break
    rest = text[start:end].rstrip(" .!?,")
    # "to the account from which they came"
    if text[end:].startswith(" which ") and rest.rpartition(" ")[2].lower() in PREPOSITIONS:
        rest = rest.rpartition(" ")[0]
    return start + len(rest)


def _goes_elsewhere(text: str, start: int) -> bool:
    """Return whether a verb follows, so that another statement begins there."""
    following = words(text[start : start + 40])[:2]
    return any(word.lower in AUXILIARIES or word.lower in FINITE_FORMS for word in following)


def is_cut_between(text: str, start: int, end: int) -> bool:
    """Return whether another clause begins between the verb and the answer, so that they do not belong together."""
    between = text[start:end]
    if _CUT.search(between) or any(_goes_elsewhere(between, match.end()) for match in _AND.finditer(between)):
        return True
    return any(
        word.lower in CONDITIONS or word.lower in ("that", "who", "where", "while", "than") for word in words(between)
    )
