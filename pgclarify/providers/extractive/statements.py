"""Builds questions that a statement answers, in the few forms that are nearly always right."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from pgclarify.language.words import word_set, words
from pgclarify.providers.extractive.amounts import draft_amounts
from pgclarify.providers.extractive.answer_types import AnswerType
from pgclarify.providers.extractive.drafts import (
    SERIES,
    Draft,
    ParsedSentence,
    as_question,
    asked,
    is_cut_between,
    rest_end,
    subject_of,
)
from pgclarify.providers.extractive.evidence import Evidence
from pgclarify.providers.extractive.grammar import (
    PARTICIPLES,
    PREPOSITIONS,
    Clause,
    ask_for_oneself,
    is_base_verb,
    parse_clause,
)
from pgclarify.providers.extractive.readable import is_cut, is_reference
from pgclarify.providers.extractive.spans import clause_end, find_spans
from pgclarify.providers.extractive.topics import Topic, is_scheme, lower_first, with_article

_OBJECT_VERBS = word_set("cover insure include exclude require need offer provide contain protect")
_STATES = word_set(
    """covered included excluded required allowed permitted refunded reimbursed insured available eligible
    deductible responsible entitled refundable transferable mandatory optional liable valid waived prohibited"""
)
_LASTING = frozenset(["last", "take"])
_DEFINING = re.compile(r"(?:an?|the|any|one of|when|what|how|[a-z]{3,20} (?:that|which|who))\s", re.IGNORECASE)
_TO_DO = re.compile(r"To ([a-z]{3,12}) ([^,.;:]{2,80}), (?=\w)")
_BY_DOING = re.compile(r"\b(?:by|through|via) (?:[a-z]{3,12}ing|calling|phone|mail|email|post|our|the app)\b")
_EXCEPTION = re.compile(r"\W{0,3}(?:unless|except|but|provided|if|when|while|only|until)\b", re.IGNORECASE)
_MEANT_BEFORE = word_set("it they he she this that one ones them both")
_OBJECT_PRONOUNS = word_set("it them him these those")
_MEANT = re.compile(r"\bthis (?:if|when|by|for|to|in|unless|\w{2,20}ly)\b")
_NEVER_LAST = word_set("and or but the a an its their his her our your my")
_MOST_BEFORE_OPEN = 3
_MAX_QUESTION_WORDS = 24
_LEAST_CONDITION = 3


def draft_readings(evidence: Evidence, topic: Topic, passage: str) -> Iterator[Draft]:
    """Yield all questions that a sentence answers, the most informative first; none if it is not understood."""
    text = " ".join(evidence.text.replace("**", "").split())
    clause = parse_clause(text)
    # "If it succeeds, ...", "Without one, ...": a question could not say what "it" and "one" mean.
    if clause and _means_before(clause.lead):
        clause = None
    if clause and _is_one_case(text, clause):
        return
    statement = ParsedSentence(text, clause, topic, passage, _antecedent(evidence, topic, passage))
    for attempt in _ATTEMPTS:
        for draft in attempt(statement):
            is_short = len(draft.question.split()) <= _MAX_QUESTION_WORDS
            is_open = _is_open(draft.question) or draft.answer.endswith((" this", " that"))
            # "If it matches two, and the option is set, ..." continues the condition.
            is_open = is_open or draft.answer.startswith(("and ", "but "))
            is_whole = not (_is_unfinished(draft.question) or is_cut(draft.question) or is_cut(draft.answer))
            if draft.answer and is_short and is_whole and not is_open:
                yield draft


def _means_before(lead: str) -> bool:
    """Return whether an opening phrase refers to earlier text: "If it succeeds", "After that", "Without one"."""
    found = words(lead)
    for index, word in enumerate(found):
        # "After an accident that you caused" does not.
        is_relative = word.lower == "that" and index > 0 and found[index - 1].is_content
        if word.lower in _MEANT_BEFORE and not is_relative:
            return True
    return False


def _is_one_case(text: str, clause: Clause) -> bool:
    """Return whether a sentence is about the case of one person, as in a letter: "You canceled on 2 April".

    A sentence about something that did not happen counts too: "The money should have reached you within 14 days".
    """
    if clause.subject.lower() == "you" and clause.verb.auxiliary in ("did", "were", "had"):
        return True
    is_wish = clause.verb.auxiliary in ("should", "would", "could")
    return is_wish and text.startswith(" have ", clause.verb.end)


def _is_open(question: str) -> bool:
    """Return whether a question has an "it" or "that" without a noun before it that this word could stand for."""
    found = words(question)
    if (found and found[-1].lower in ("this", "that")) or _MEANT.search(question):
        return True
    position = next((index for index, word in enumerate(found) if word.lower in _OBJECT_PRONOUNS), None)
    return position is not None and sum(word.is_content for word in found[:position]) < _MOST_BEFORE_OPEN


def _is_unfinished(question: str) -> bool:
    """Return whether a question ends with a word that needs another word after it."""
    found = words(question)
    return bool(found) and found[-1].lower in _NEVER_LAST


def _antecedent(evidence: Evidence, topic: Topic, passage: str) -> str:
    """Return the noun that a pronoun at the start of a sentence stands for: the subject of the sentence before.

    Without a sentence before, it is the policy or plan in the heading. If that sentence begins with a pronoun or is not
    understood, it is the name at the start of an earlier sentence.
    """
    if not evidence.before:
        is_meant = is_scheme(topic.name) and not evidence.text.startswith("The")
        return with_article(topic.name) if is_meant else evidence.antecedent
    clause = parse_clause(" ".join(evidence.before.split()))
    if clause is None or clause.subject.lower() in ("it", "he", "she", "they"):
        return evidence.antecedent
    first = words(clause.subject)[0].lower
    is_plural = clause.verb.auxiliary in ("do", "are", "were", "have")
    if first in ("we", "you", "this", "that", "these", "those") or is_plural != evidence.text.startswith("The"):
        return ""
    return lower_first(clause.subject, passage)


def _steps(statement: ParsedSentence) -> Iterator[Draft]:
    """Read "To cancel your policy, call us." answers "How do I cancel my policy?"."""
    match = _TO_DO.match(statement.text)
    if match and is_base_verb(match[1]):
        answer = statement.text[match.end() :].rstrip(" .")
        # "To create and drop, and to list roles": the tasks continue after the comma.
        clause = parse_clause(answer)
        if clause is None or clause.lead or is_reference(answer):
            return
        yield Draft(as_question(ask_for_oneself(f"how do I {match[1]} {match[2]}")), answer, AnswerType.STEPS)


def _durations(statement: ParsedSentence) -> Iterator[Draft]:
    """Read "Small repairs take two days." answers "How long do small repairs take?"."""
    clause = statement.clause
    # "Take five minutes to read this" is a command.
    if clause is None or clause.verb.is_negated or clause.verb.start == clause.subject_start:
        return
    text, start = statement.text, clause.verb.end
    span = next((one for one in find_spans(text, AnswerType.DURATION) if one.start >= start), None)
    if span is None or clause.verb.auxiliary == "did":
        return
    # "No repair takes two days" says nothing of any repair.
    if clause.subject.split()[0].lower() in ("no", "none", "few", "hardly", "neither"):
        return
    before = text[start : span.start].strip().removesuffix("for").strip()
    after = text[span.end : rest_end(text, span.end)].strip()
    # "Takes a week longer", "takes two days of work": the time is not the whole answer.
    is_whole = f"{clause.verb.base}{before}" in _LASTING and (not after or after.startswith("to "))
    # In "It takes a day to reply", "it" stands for no noun.
    if is_whole and not (after and clause.subject.lower() == "it"):
        answer = text[span.start : span.end]
        draft = asked(statement, clause, "How long", before, after, answer, AnswerType.DURATION)
        if draft:
            yield draft


def _definition(statement: ParsedSentence) -> Iterator[Draft]:
    """Read "A deductible is the amount you pay first." answers "What is a deductible?"."""
    clause = statement.clause
    if clause is None or clause.verb.is_negated or clause.lead:
        return
    verb = clause.verb
    after = statement.text[verb.end :].lstrip()
    means = verb.base == "mean" or (verb.base == "refer" and after.startswith("to "))
    is_a = verb.auxiliary in ("is", "are") and not verb.base and _DEFINING.match(after)
    subject = subject_of(statement, clause, "")
    is_thing = subject and ask_for_oneself(subject) != "I" and len(subject.split()) <= 6
    # "Making backups is a duty" and "The third part of the output is the largest" are no definitions.
    is_thing = is_thing and not subject.split()[0].endswith("ing") and PREPOSITIONS.isdisjoint(subject.lower().split())
    if not (means or is_a) or not is_thing:
        return
    start = statement.text.index(after, verb.end)
    end = clause_end(statement.text, start)
    # "Water that rises from the sea, a river or the street" must not be cut at its comma.
    answer = statement.text[start:].rstrip(" .") if SERIES.match(statement.text, end) else statement.text[start:end]
    # "A car is a loss if it cannot be repaired" does not say what a car is.
    says_what = " if " not in answer and not answer.startswith("the same ")
    if len(answer.split()) >= 3 and says_what:
        plural = verb.auxiliary in ("are", "do")
        yield Draft(
            as_question(f"What {'are' if plural else 'is'} {ask_for_oneself(subject)}"), answer, AnswerType.DEFINITION
        )


def _conditions(statement: ParsedSentence) -> Iterator[Draft]:
    """Read "If you cancel early, we keep the fee." answers "What happens if I cancel early?"."""
    clause = statement.clause
    if clause is None or not clause.lead:
        return
    first = clause.lead.split()[0].lower()
    said = clause.lead.split()
    # "When using it", "if allocated with new" and "if in doubt" have no subject, and "such a one" was named before.
    is_clause = len(said) > _LEAST_CONDITION and not said[1].endswith(("ing", "ed")) and "such" not in said
    # A command after the condition is no event.
    is_clause = is_clause and not (clause.subject == "you" and clause.verb.start == clause.subject_start)
    # After a colon, the answer is in the text that follows.
    if first in ("if", "when", "once") and is_clause and not statement.text.endswith(":"):
        lead = clause.lead[0].lower() + clause.lead[1:]
        answer = statement.text[clause.subject_start :].rstrip(" .")
        yield Draft(as_question(f"What happens {ask_for_oneself(lead)}"), answer, AnswerType.CLAUSE)


def _by_doing(statement: ParsedSentence) -> Iterator[Draft]:
    """Read "You can check it by calling us." answers "How can I check it?"."""
    clause = statement.clause
    match = _BY_DOING.search(statement.text, clause.verb.end) if clause and not clause.verb.is_negated else None
    if clause is None or match is None or is_cut_between(statement.text, clause.verb.end, match.start()):
        return
    before = statement.text[clause.verb.end : match.start()].strip()
    end = clause_end(statement.text, match.end())
    # "By specifying the git-clone(1) --depth switch" does not end at the bracket. "By specifying" continues in code.
    is_whole = statement.text[end : end + 1] in (".", ";", "!")
    # "Can only be stopped by" names no way, and "cancel it by calling us" no duty.
    is_asked = bool(before or clause.verb.base) and not before.startswith("only ")
    if is_whole and is_asked and clause.verb.start != clause.subject_start:
        answer = statement.text[match.start() : end]
        draft = asked(statement, clause, "How", before, "", answer, AnswerType.STEPS)
        if draft:
            yield draft


def _yes_or_no(statement: ParsedSentence) -> Iterator[Draft]:
    """Read "Floods are not covered." answers "Are floods covered?" with "No"."""
    clause = statement.clause
    # "An array detailing the usages" and "did" are past participles more often than verbs.
    if clause is None or clause.verb.auxiliary == "did":
        return
    verb = clause.verb
    after = words(statement.text[verb.end :])
    says_state = not verb.base and bool({word.lower for word in after[:2]} & _STATES)
    pays_for = verb.base == "pay" and bool(after) and after[0].lower == "for"
    # "It may be canceled" is a permission; "a complaint may be about anything" is not.
    is_passive = len(after) > 1 and (after[1].lower in PARTICIPLES or after[1].lower.endswith("ed"))
    is_possibility = bool(after) and after[0].lower == "be" and not is_passive
    says_permission = verb.auxiliary in ("can", "may", "must", "should") and not verb.base and bool(after)
    says_permission = says_permission and not is_possibility
    if not (says_state or says_permission or verb.base in _OBJECT_VERBS | {"apply", "extend"} or pays_for):
        return
    end = rest_end(statement.text, verb.end)
    # Without the exception in the sentence, "yes" or "no" would be wrong.
    if SERIES.match(statement.text, end) or _EXCEPTION.match(statement.text, end):
        return
    # "You must not" answers "may I?", and not "must I?". "You should not" forbids nothing.
    if verb.is_negated and verb.auxiliary == "must":
        clause = replace(clause, verb=replace(verb, auxiliary="may"))
    draft = asked(
        statement,
        clause,
        "",
        statement.text[verb.end : end].strip(),
        "",
        "No" if verb.is_negated else "Yes",
        AnswerType.YES_NO,
    )
    if draft:
        yield draft


_ATTEMPTS: tuple[Callable[[ParsedSentence], Iterator[Draft]], ...] = (
    _steps, draft_amounts, _durations, _definition, _by_doing, _conditions, _yes_or_no,
)  # fmt: skip
