"""English grammar that turns a statement into a question: verbs and their forms, subjects, and the speaker.

There is no parser and no model. The plain order is: an opening phrase, a subject, a known verb, the rest. A sentence
in another order is not understood, and the functions say so; the caller then tries another sentence or abstains.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pgclarify.language.english.word_classes import (
    AUXILIARIES,
    CONTRACTED_NEGATIONS,
    DETERMINERS,
    FORMS_OF_DO,
    IRREGULAR_VERBS,
    PREPOSITIONS,
    RARE_PREPOSITIONS,
    SUBORDINATORS,
)
from pgclarify.language.english.words import Word, words
from pgclarify.language.words import word_set

_REGULAR = word_set(
    """accept accrue add allow appear apply appoint approve arrange arrive ask assign avoid award call cancel cap carry
    change charge charter check choose close collect commence complete configure confirm connect consider contact
    contain continue count cover create credit deduct delete deliver demand deny depend deposit design develop
    die disable discover dispute double download earn elect email employ enable enclose end enroll ensure enter
    entitle establish exceed exclude expire extend file fill finish follow form found generate grant guarantee
    handle happen help host ignore improve include increase inform install insure introduce invent issue join
    land last launch limit list live locate lower mail manage measure move name navigate need notify occur offer
    open operate order own perform permit pick play pledge prepare prevent process produce protect provide
    publish purchase qualify raise range reach receive recommend record reduce refund reimburse reinstate reject
    release remain remove renew rent repair replace reply represent request require reserve reset resolve respond
    restart restore return review save schedule select serve settle show sign specify start stay stop store
    submit supply support suspend switch terminate total track transfer travel treat update upgrade upload use
    vary verify visit wait waive want warrant work"""
)
# Statements with these verbs are not understood; "show" has regular forms here.
_UNUSUAL = word_set("choose feel fight grow know say show speak stand teach tell think wear")
_IRREGULAR = {verb: forms for verb, forms in IRREGULAR_VERBS.items() if verb not in _UNUSUAL}
_DOUBLES = word_set("cancel cap permit refer plan stop submit transfer")
FINITE_AUXILIARIES = AUXILIARIES - FORMS_OF_DO - word_set("am be been might")
_PREPOSITIONS = (PREPOSITIONS | RARE_PREPOSITIONS) - word_set(
    "across among around as behind beside down inside like near off out outside throughout up"
)
_LEADS = _PREPOSITIONS | SUBORDINATORS
_DETERMINERS = (DETERMINERS | {"all"}) - word_set("some what which whose")
# Words before a verb that are no subject for a question.
_NO_SUBJECTS = word_set("there here i my what it's not such another both same either neither some others most")
# A subject with one of these words contains a clause, or refers to earlier text.
_NOT_INSIDE = word_set("same such which who that whose where whether because if what how why not be been being")
# "Jewelry, watches and furs", but not "Sadly, watches and furs".
_SERIES = re.compile(r"(?!\w{1,20}ly,)[\w' -]{1,80}(?:, [\w'-]{1,30}){1,4},? (?:and|or) [\w' -]{1,80}")
_NEVER_NOUNS = word_set("get receive earn apply become begin keep need cost pay")
_BEFORE_NOUNS = _DETERMINERS | _PREPOSITIONS | {"and"}
_AFTER_NOUNS = FINITE_AUXILIARIES | {"of"}
_COMMA = re.compile(r",(?!\d)")
# "No. 5" is none.
_REPLY = re.compile(r"(?:yes|no)[.!] (?!\d)", re.IGNORECASE)
_MAX_SUBJECT_WORDS = 10


@dataclass(frozen=True, slots=True)
class Verb:
    """The finite verb of a clause.

    Attributes:
        base: The verb to put after "do", or "" for an auxiliary.
        auxiliary: The word before the subject in a question: is, can, does, did, ...
        is_negated: True for "is not", "cannot", "does not".
        start: Offset in the sentence.
        end: Offset after it, a negation included.
    """

    base: str
    auxiliary: str
    is_negated: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence in plain order.

    Attributes:
        subject: Text of the subject.
        subject_start: Offset of the subject.
        verb: The finite verb.
    """

    subject: str
    subject_start: int
    verb: Verb


def _third(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    return base[:-1] + "ies" if base.endswith("y") and base[-2] not in "aeiou" else base + "s"


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + (base[-1] if base in _DOUBLES else "") + "ed"


def _forms() -> dict[str, tuple[str, str]]:
    """Map each finite form to its base and to the auxiliary of its question."""
    forms: dict[str, tuple[str, str]] = {}
    for base in sorted(_REGULAR | _IRREGULAR.keys()):
        past = _IRREGULAR[base][0] if base in _IRREGULAR else _past(base)
        forms[past] = (base, "did")
        forms[base] = (base, "do")
        forms[_third(base)] = (base, "does")
    forms["canceled"] = ("cancel", "did")
    return forms


FINITE_FORMS = _forms()
PARTICIPLES = frozenset([*(_past(base) for base in _REGULAR), *(pair[1] for pair in _IRREGULAR.values()), "canceled"])


def form_of(lower: str) -> str:
    """Return the auxiliary of a question with a finite form: "did" for "left"; "" if the word is no such form."""
    _, auxiliary = FINITE_FORMS.get(lower, ("", ""))
    return auxiliary


def is_base_verb(lower: str) -> bool:
    """Return whether a word is a verb in the form after "to" or of a command."""
    return lower in FINITE_FORMS and FINITE_FORMS[lower][0] == lower


def parse_clause(sentence: str) -> Clause | None:
    """Find the subject and the verb of a sentence in plain order.

    Returns:
        The clause; None for a sentence in another order.
    """
    found = words(sentence)
    for index in range(1, min(len(found), _MAX_SUBJECT_WORDS + 1)):
        verb = _verb_at(sentence, found, index)
        if verb:
            subject = sentence[found[0].start : found[index - 1].end]
            return Clause(subject, found[0].start, verb) if _is_subject(subject, found[:index]) else None
    return None


def _verb_at(sentence: str, found: Sequence[Word], index: int) -> Verb | None:
    """Return the finite verb at a position, if there is one."""
    word, before = found[index], found[index - 1].lower
    after = found[index + 1].lower if index + 1 < len(found) else ""
    if word.lower in CONTRACTED_NEGATIONS or word.lower in FORMS_OF_DO:
        auxiliary = CONTRACTED_NEGATIONS.get(word.lower, word.lower)
        is_negated = word.lower in CONTRACTED_NEGATIONS or after == "not"
        position = index + (2 if word.lower not in CONTRACTED_NEGATIONS and after == "not" else 1)
        end = found[position - 1].end
        if auxiliary not in FORMS_OF_DO:
            return Verb("", auxiliary, is_negated, word.start, end)
        if position < len(found) and is_base_verb(found[position].lower):
            return Verb(found[position].lower, auxiliary, is_negated, word.start, found[position].end)
        return None
    # Compared with its capitals, because "May" is a month. In "theresa may began" it is a name.
    if word.text in FINITE_AUXILIARIES and not (word.text == "may" and form_of(after) == "did"):
        return Verb("", word.lower, after == "not", word.start, found[index + 1].end if after == "not" else word.end)
    # Within a sentence only names have capitals: "Halvorsen Body Works guarantees paint".
    form = None if word.is_capitalized else FINITE_FORMS.get(word.lower)
    is_noun = before in _BEFORE_NOUNS or after in _AFTER_NOUNS
    if form is None or is_noun:
        return None
    base, auxiliary = form
    # "Small repairs take two days": if another verb follows, this word is a noun.
    following = form_of(after)
    if auxiliary == "does" and following == "do" and found[0].lower not in _DETERMINERS:
        return None
    # A bare form is a verb only after a subject in the plural: "you pay", "claims take".
    if auxiliary == "do" and not (
        before in ("you", "we", "they")
        or (before.endswith("s") and not before.endswith("ss"))
        # "Homes with a valve get": the plural stands earlier.
        or (word.lower in _NEVER_NOUNS and found[0].lower.endswith("s") and found[1].lower in _PREPOSITIONS)
    ):
        return None
    # "Claims filed after May are ...": a participle that describes the subject; the finite verb follows.
    if auxiliary == "did" and any(one.text in FINITE_AUXILIARIES for one in found[index + 1 : index + 7]):
        return None
    return Verb(base, auxiliary, False, word.start, word.end)


def _is_subject(subject: str, found: Sequence[Word]) -> bool:
    if any(mark in subject for mark in ';:()"“”|\n') or _REPLY.match(subject):
        return False
    if _COMMA.search(subject) and not _SERIES.fullmatch(subject):
        return False
    lowers = [word.lower for word in found]
    if lowers[0] in _LEADS or lowers[0] in _NO_SUBJECTS:
        return False
    return _NOT_INSIDE.isdisjoint(lowers[1:])
