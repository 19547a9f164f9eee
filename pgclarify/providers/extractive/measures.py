"""Questions that sums, shares, times, numbers and places in a statement answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pgclarify.language.words import Word, word_set, words
from pgclarify.providers.extractive.answer_types import AnswerType
from pgclarify.providers.extractive.drafts import (
    Draft,
    ParsedSentence,
    as_question,
    asked,
    condition_of,
    is_cut_between,
    rest_end,
    subject_of,
)
from pgclarify.providers.extractive.grammar import (
    AUXILIARIES,
    CONDITIONS,
    FINITE_FORMS,
    PARTICIPLES,
    PREPOSITIONS,
    Clause,
    ask_for_oneself,
    is_report,
)
from pgclarify.providers.extractive.spans import Span, find_spans

_MEASURED = (
    AnswerType.AMOUNT, AnswerType.PERCENTAGE, AnswerType.DURATION, AnswerType.FREQUENCY, AnswerType.DATE,
    AnswerType.COUNT,
)  # fmt: skip
_WH = {
    AnswerType.AMOUNT: "How much", AnswerType.DURATION: "How long", AnswerType.FREQUENCY: "How often",
    AnswerType.DATE: "When",
}  # fmt: skip
# With which preposition before it a measure answers the question; any, where nothing is listed.
_PREPOSITIONS_BEFORE = {
    AnswerType.AMOUNT: ("", "to", "for", "at", "by", "of", "from"), AnswerType.COUNT: ("", "with", "for", "on", "to"),
    AnswerType.PERCENTAGE: ("", "by", "of", "to", "at", "for"),
}  # fmt: skip
# Prepositions that belong to the answer: "within 30 days", "by 1 March".
_SPOKEN_WITH = {
    AnswerType.DURATION: ("within", "in", "after", "before", "for", "from"),
    AnswerType.DATE: ("by", "until", "from", "since", "after", "before"),
    AnswerType.AMOUNT: ("from",),
}
# These begin what follows a measure only when no noun does.
_NO_NOUNS = PREPOSITIONS | CONDITIONS | AUXILIARIES | word_set("and or that each a an the not you we they it")
_GETTING = word_set("get receive pay cost carry earn")
# What stands between the measures of a series or a range.
_JOINS = (", ", " or ", ", or ", " and ", ", and ", " to ", " until ")
_LASTING = word_set("wait take last")
_PERIODS = word_set("period term time wait delay notice limit guarantee warranty")
_NO_ATTRIBUTES = word_set(
    """last next same more less later early ago total old long before maximum minimum deep high wide tall away
    lower higher larger smaller cheaper greater better worse today yesterday tomorrow instead together abroad away
    online back down alone each apart"""
)
_POINTS_IN_TIME = word_set("after before from of prior following in")
_SERIES_REST = re.compile(r"(?:, [\w -]{1,30}){1,3},? (?:and|or) [\w-]{1,30}")
_OF_THE_NOUN = (AnswerType.DURATION, AnswerType.DATE, AnswerType.COUNT)
_OF_NOUNS = (AnswerType.AMOUNT, AnswerType.PERCENTAGE)
_FREE = re.compile(r"free of charge|at no ", re.IGNORECASE)
_VAGUE = word_set("it them both their its his her this that these those")


def draft_measures(statement: ParsedSentence) -> Iterator[Draft]:
    """Read "The plan pays $40 a day for a car." answers "How much does the plan pay for a car?"."""
    clause = statement.clause
    if clause is None or clause.verb.is_negated:
        return
    for kind in _MEASURED:
        for span in find_spans(statement.text, kind):
            if span.start < clause.verb.end:
                continue
            if is_cut_between(statement.text, clause.verb.end, span.start):
                continue
            draft = _measure(statement, clause, span)
            if draft:
                yield draft


def _measure(statement: ParsedSentence, clause: Clause, span: Span) -> Draft | None:
    """The question that one measure after the verb answers."""
    text = statement.text
    before, preposition = _without_preposition(text[clause.verb.end : span.start].strip())
    answer_end = _alternatives_end(text, span)
    end = rest_end(text, answer_end)
    series = _SERIES_REST.match(text, end)
    end = series.end() if series else end
    after = text[answer_end:end].strip()
    # "Once a year or in parts", "within one year of our answer".
    if after.startswith("or ") or (span.kind is AnswerType.DURATION and after.startswith("of ")):
        answer_end, after = end, ""
    is_copula = _is_be(clause) and not before
    # "Bochs is another free program" has no price.
    if before and text[span.start : span.end].lower() == "free":
        return None
    # "Forest Acres is a city in South Carolina" tells what it is; "where is Forest Acres a city?" asks nobody.
    if (
        _is_be(clause)
        and span.kind in _OF_THE_NOUN
        and f"{before} ".lower().startswith(("a ", "an ", "the ", "one of ", "any ", "every ", "each "))
    ):
        return None
    is_passive = not clause.verb.base and bool(words(before)) and words(before)[0].lower in PARTICIPLES
    wh = _WH.get(span.kind, "")
    start = text.rindex(preposition, 0, span.start) if preposition in _SPOKEN_WITH.get(span.kind, ()) else span.start
    # "12 percent lower than before", but "10 percent for cars that are driven less than 7,500 miles".
    if "than" in after.lower().split()[:3] or (
        span.kind in _PREPOSITIONS_BEFORE and preposition not in _PREPOSITIONS_BEFORE[span.kind]
    ):
        return None
    if text[: span.start].endswith((" a ", " an ")) and _noun_after(text, span.end):
        return None
    # "After the storm of 1 June", "covered with a deductible of $250": the measure is the noun's, not the verb's.
    if preposition == "of" and (span.kind is AnswerType.DATE or (before and span.kind in _OF_NOUNS)):
        return None
    if after.lower().startswith(("more ", "less ")):
        return None
    # "Every day at midnight", "from 23 August to 29 August": the answer goes on.
    if span.kind in (AnswerType.FREQUENCY, AnswerType.DATE) and after.lower().startswith(("at ", "to ", "until ")):
        return None
    match span.kind:
        case AnswerType.AMOUNT | AnswerType.PERCENTAGE if preposition == "by":
            wh = "By how much"
        case AnswerType.AMOUNT if preposition == "from" and before:
            return None
        case AnswerType.AMOUNT if is_passive and _FREE.match(text, span.start):
            wh = "At what cost"
        case AnswerType.AMOUNT if is_passive and text[span.start :].startswith("up to "):
            wh = "Up to what amount"
        case AnswerType.AMOUNT if before and clause.verb.base and not _is_particle(before):
            # "covers damage up to $500": "how much" would ask for the damage.
            if not text[span.start :].lower().startswith("up to "):
                return None
            wh = "Up to what amount"
        case AnswerType.DURATION:
            if text[span.start : span.end].endswith("notice"):
                wh = "How much notice"
            elif preposition in ("within", "in"):
                wh = "Within what time" if clause.verb.auxiliary in ("can", "may") else "How soon"
            elif clause.verb.base not in _LASTING and (
                preposition in ("after", "before", "from")
                # "For three days after the loss" tells how long.
                or (preposition != "for" and after.split(" ", 1)[0].lower() in _POINTS_IN_TIME)
            ):
                return asked(statement, clause, "When", before, "", text[start:end], span.kind)
            elif preposition == "of" or (is_copula and after):
                return None
        case AnswerType.PERCENTAGE if after.startswith("of "):
            whole, after = _first_phrase(after)
            wh = f"What percentage {whole}"
        case AnswerType.PERCENTAGE if is_copula and after.split(" ", 1)[0] in ("lower", "higher", "cheaper"):
            comparative, _, after = after.partition(" ")
            wh = f"How much {comparative}"
        case AnswerType.PERCENTAGE:
            wh = "What" if is_copula else "What percentage"
        case AnswerType.COUNT:
            noun = _noun_after(text, span.end)
            # "The four that it used last" are no four in all.
            if text[: span.start].lower().endswith((" the ", " its ", " their ", " these ")):
                return None
            # "Serve one purpose" does not count purposes.
            if text[span.start : span.end].lower() == "one":
                return None
            if not noun or is_copula or (preposition and (before or not clause.verb.base)):
                return None
            # "get a car after a breakdown more than 100 miles from home": they do not get miles.
            if any(word.lower in PREPOSITIONS for word in words(before)):
                return None
            before = before or preposition
            wh, after = f"How many {noun[0]}", text[noun[1] : rest_end(text, noun[1])].strip()
            if noun[0].endswith(" old"):
                wh, answer_end = "How old", noun[1]
    return asked(statement, clause, wh, before, _without_measure(after), text[start:answer_end], span.kind)


def _is_be(clause: Clause) -> bool:
    return not clause.verb.base and clause.verb.auxiliary in ("is", "are", "was", "were")


def _alternatives_end(text: str, span: Span) -> int:
    """Where a series of measures ends: "once a year, every three months or every month"."""
    end = span.end
    for other in find_spans(text, span.kind):
        if other.start > end and text[end : other.start] in _JOINS:
            end = other.end
    return end


def _without_measure(after: str) -> str:
    """Take a second measure off the end: "for a car for at most 30 days" asks about a car."""
    spans = [span for kind in (AnswerType.DURATION, AnswerType.AMOUNT) for span in find_spans(after, kind)]
    last = next((span for span in spans if span.end == len(after)), None)
    if last is None:
        return after
    head, preposition = _without_preposition(after[: last.start].strip())
    return head if preposition in ("for", "up to", "to") else after


def _is_particle(before: str) -> bool:
    """Whether what stands between verb and sum is no object: "pays for taxis up to $20", "goes down by $50"."""
    first = words(before)[0].lower if words(before) else ""
    return first in PREPOSITIONS or first in ("down", "up", "out", "only", "back", "me", "you", "us")


def _without_preposition(before: str) -> tuple[str, str]:
    """Take the small word off that leads to the answer: ("be filed", "within")."""
    head, _, last = before.rpartition(" ")
    if last.lower() in PREPOSITIONS:
        return head, last.lower()
    return before, ""


def _first_phrase(text: str) -> tuple[str, str]:
    """Split "of repair costs after the deductible" before its second preposition."""
    following = next((word for word in words(text)[1:] if word.lower in PREPOSITIONS - {"of"}), None)
    return (text[: following.start].strip(), text[following.start :]) if following else (text, "")


def draft_attributes(statement: ParsedSentence) -> Iterator[Draft]:
    """Read "A 14-day waiting period applies to thefts." answers "How long is the waiting period for thefts?"."""
    # "A refund of $318 was sent": what one case was tells nothing of others.
    was = statement.clause is not None and statement.clause.verb.auxiliary in ("did", "was", "were")
    if was or is_report(statement.text):
        return
    wh = {AnswerType.AMOUNT: "How much", AnswerType.DURATION: "How long", AnswerType.PERCENTAGE: "How large"}
    for kind in wh:
        for span in find_spans(statement.text, kind):
            measure = statement.text[span.start : span.end]
            # "A free license" has no price, and "immediately breaking" nothing takes no time.
            if measure.isalpha() or _FREE.match(measure):
                continue
            before = words(statement.text[: span.start])
            if before and before[-1].lower == "of":
                noun = _noun_before(before[:-1], span.end)
                # "A fee of $35" is that much; "a trip of one week" is only one among others.
                if noun and kind is AnswerType.DURATION and words(noun[0])[-1].lower not in _PERIODS:
                    continue
            else:
                noun = _noun_after(statement.text, span.end)
            if not noun or (before and before[-1].lower == "per"):
                continue
            rest = _owner(statement, span) or _attribute_rest(statement.text, noun[1])
            if rest is None:
                continue
            question = f"{wh[kind]} is the {noun[0]}{rest}{condition_of(statement)}"
            yield Draft(as_question(ask_for_oneself(question)), statement.text[span.start : span.end], kind)


def _noun_before(before: list[Word], end: int) -> tuple[str, int] | None:
    """The noun phrase of "a cancellation fee of $35"; with where the measure ends."""
    taken: list[Word] = []
    for word in reversed(before[-4:]):
        if word.lower in ("a", "an", "the", "our"):
            return (" ".join(one.text for one in taken), end) if taken else None
        if not word.is_content or word.is_capitalized:
            return None
        taken.insert(0, word)
    return None


def _noun_after(text: str, start: int) -> tuple[str, int] | None:
    """The noun phrase that directly follows a measure: "deductible", "waiting period"; with where it ends."""
    taken: list[Word] = []
    for word in words(text[start : start + 60]):
        gap = text[start + (taken[-1].end if taken else 0) : start + word.start]
        if (
            gap not in (" ", "-")
            or word.lower in _NO_NOUNS
            or (taken and word.lower in FINITE_FORMS)
            or word.is_capitalized
            or not word.is_content
        ):
            break
        taken.append(word)
        if len(taken) == 3:
            break
    if not taken or any(word.text.isdigit() for word in taken) or taken[-1].lower.endswith(("ly", "ing")):
        return None
    # "Three drive-in centers" are no three drives.
    if text[start + taken[-1].end :].startswith("-"):
        return None
    is_verb = FINITE_FORMS.get(taken[0].lower, ("", ""))[1] == "does"
    if is_verb or taken[0].lower in _NO_ATTRIBUTES or taken[-1].lower == "ago":
        return None
    return text[start + taken[0].start : start + taken[-1].end], start + taken[-1].end


def _owner(statement: ParsedSentence, span: Span) -> str:
    """Whom or what an attribute belongs to: " for young drivers" of "Young drivers get a 10% discount"."""
    clause = statement.clause
    if clause is None or clause.verb.base not in _GETTING or not clause.verb.end <= span.start:
        return ""
    subject = subject_of(statement, clause, clause.verb.base)
    return f" for {subject}" if subject and subject.lower() not in ("you", "we") else ""


def _attribute_rest(text: str, start: int) -> str | None:
    """What the attribute is for: " for late returns"; None if that is something which was named before."""
    match = re.match(
        r"\s(?:(?:also |always )?(?:applies|apply|applied) to|is (?:charged|added|given|granted) for|for|on)\s",
        text[start : start + 40],
    )
    if not match:
        return ""
    end = rest_end(text, start + match.end())
    series = _SERIES_REST.match(text, end)
    end = series.end() if series else end
    rest = text[start + match.end() : end]
    # "On both", "on their premium": whose, a question would have to say.
    return None if words(rest)[0].lower in _VAGUE else f" for {rest}"
