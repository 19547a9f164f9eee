"""What makes two English texts with the same words opposite: a negation, or an upper instead of a lower limit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pgclarify.language.english.numbers import CARDINALS, MONTHS, TENS
from pgclarify.language.english.stems import singular
from pgclarify.language.english.word_classes import EXCLUSIONS, NEGATIONS, STOP_WORDS
from pgclarify.language.english.words import plain_words

_CONTRACTION: Final = re.compile(r"\b[^\W\d_]+n['\u2019]t\b|\bcannot\b", re.IGNORECASE)
_ALWAYS_NEGATES: Final = (NEGATIONS - {"no", "not"}) | EXCLUSIONS | {"nothing", "non", "excluding"}
# "No. 5" and "Symphony No 5" are numbers, "no 24-hour service" is none. "Not only" negates nothing.
_NEGATION: Final = re.compile(
    r"\b(?:no(?!\.\s?\d)(?!(?<=\w\s(?-i:No))\s?\d)|not(?!\s(?:only|just|merely)\b)"
    rf"|{'|'.join(sorted(_ALWAYS_NEGATES, reverse=True))})\b",
    re.IGNORECASE,
)
# The commas in "No theft, loss or hail is covered" and "After May 1, the fee is not refunded" end no clause.
_START: Final = re.compile(
    r"^(?:(?:no|neither)\s)?(?!(?:yes|no),)\w+(?:,\s\w+)+,?\s(?:and|or|nor)\s"
    r"|^(?:after|at|before|during|from|in|on|since|until|within)\s[^,.;:]+,",
    re.IGNORECASE,
)
# "Not many miles from Lion Head" is about a place near Lion Head.
_NEGATED: Final = 3
# In "free without a permit", only the permit is negated.
_CLAUSE_END: Final = re.compile(
    r"[,;:!?](?=\s|$)|\.(?=\s\D|$)|[()]|\s[-\u2013\u2014]\s|\bbut\b|\b(?=(?:without|except|excluding|unless)\b)",
    re.IGNORECASE,
)
# At most three words are between a limit and its number: "over the age of 18".
_BEFORE_NUMBER: Final = rf"(?=\s(?:[^\W\d]+\s){{0,3}}[^\w\s]?(?:\d|(?:{'|'.join((*CARDINALS, *TENS, *MONTHS))})\b))"
# "Under the policy" is no limit, "under 30 days" is one. "No more than 30" is an upper limit.
_LIMIT: Final = re.compile(
    rf"""
    (?: \b (?P<no>not?) \s )?
    \b (?:
      (?P<lower> (?:more|greater|longer|later|older|higher|larger) \s than | at \s least | after
        | (?:over|above|beyond|exceeding|since) {_BEFORE_NUMBER} )
    | (?P<upper> (?:less|fewer|shorter|earlier|sooner|younger|lower|smaller) \s than | at \s most | before
        | (?:under|below|within|until|till|up \s to) {_BEFORE_NUMBER} )
    ) \b (?P<number> {_BEFORE_NUMBER} )?
    | \b (?P<and> or | and ) \s (?: (?P<and_more> more|longer|later|older|higher|over|above ) | under|below|less|fewer
        |shorter|earlier|younger|lower ) \b
    | \b (?: (?P<more> more ) | less | fewer ) \b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FUNCTION_WORDS: Final = frozenset(map(singular, STOP_WORDS))


@dataclass(frozen=True, slots=True)
class Sense:
    """What a text negates and limits.

    Attributes:
        negated: The words that a negation applies to, folded, without a plural s.
        affirmed: The other words of clauses without a negation, in the same form.
        of_numbers: "lower" and "upper", the limits of its numbers and dates.
        of_others: The same for other limits: "within 30 days after the trip" has an upper and a lower one.
    """

    negated: frozenset[str]
    affirmed: frozenset[str]
    of_numbers: frozenset[str]
    of_others: frozenset[str]

    def is_opposite(self, other: Sense, shared: frozenset[str]) -> bool:
        """Tell whether a text denies what another one says.

        Either one negates a shared word that the other affirms, or one has a lower limit and the other an upper one.
        With both, they say the same: "valid until 2020" and "not valid after 2020".

        Args:
            other: The sense of the other text.
            shared: The words that both texts have.
        """
        is_negated = not shared.isdisjoint(self.negated & other.affirmed | other.negated & self.affirmed)
        is_limited = bool(shared) and (
            _are_opposite(self.of_numbers, other.of_numbers) or _are_opposite(self.of_others, other.of_others)
        )
        return is_negated != is_limited


# The verdicts of a run share their question, and both sides of a check their clauses.
@lru_cache(maxsize=256)
def sense_of(text: str) -> Sense:
    """Find what a text negates and limits, in time linear in its length.

    Args:
        text: As `spell_negations` returns it.
    """
    of_numbers, of_others = set[str](), set[str]()
    for match in _LIMIT.finditer(text):
        is_lower = any(match[name] for name in ("lower", "and_more", "more")) != bool(match["no"])
        # "Five or more" has its number before it.
        is_of_number = match["number"] is not None or bool(match["and"])
        (of_numbers if is_of_number else of_others).add("lower" if is_lower else "upper")
    one_clause = _START.sub(lambda match: match[0].replace(",", ""), text)
    # Without its commas, a text may have more limits.
    has_limits = of_numbers or of_others or one_clause != text
    claimed = _LIMIT.sub(" ", one_clause) if has_limits else one_clause
    return Sense(*_claims(claimed), frozenset(of_numbers), frozenset(of_others))


def spell_negations(text: str) -> str:
    """Write "not" for "isn't", "cannot" and the like, and one blank for any white space."""
    return " ".join(_CONTRACTION.sub("not", text).split())


def split_clauses(text: str) -> list[str]:
    """Split a text, as `spell_negations` returns it, into the parts that a negation does not cross."""
    return _CLAUSE_END.split(text)


def _claims(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Find the words that are negated, and those that are affirmed.

    A negation applies to the first words after it in its clause, or else to the last before it. If another clause
    affirms one of these, the negation applies to the words that only its clause has, if there are any: to "loss" in
    "theft is covered, loss is not covered".
    """
    affirmed, negated = set[str](), set[str]()
    around = list[tuple[list[str], list[str]]]()
    for clause in split_clauses(text):
        negation = _NEGATION.search(clause)
        if negation is None:
            affirmed.update(_singulars(clause))
        else:
            around.append((_singulars(clause[: negation.start()]), _singulars(clause[negation.end() :])))
    known = affirmed | _FUNCTION_WORDS
    for before, after in around:
        scope = set(after[:_NEGATED] or before[-_NEGATED:])
        if not (scope & affirmed) <= _FUNCTION_WORDS:
            scope = set(before) - known or set(after) - known or scope
        negated |= scope
    return frozenset(negated), frozenset(affirmed - negated)


def _singulars(text: str) -> list[str]:
    return [singular(word.casefold()) for word in plain_words(text)]


def _are_opposite(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one) == len(other) == 1 and one != other
