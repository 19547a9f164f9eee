"""A user's question, with what it asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pgclarify.language.english.reading.answer_types import TYPED, AnswerType, expected_type, is_question, plain_kinds
from pgclarify.language.english.reading.question_terms import QuestionTerms
from pgclarify.language.english.words import words

_MIN_SPECIFIC_WORDS: Final = 3
_MIN_SPECIFIC_STEMS: Final = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """A user's question and its properties.

    Attributes:
        query: The words of the question.
        subject: Stems of its words that say what the answer is about, without those for its kind: "cost", "year".
        kind: The kind of answer that it asks for.
        is_specific: True for a whole question, which is its own reading. False for a few words, whose reading comes
            from the passage.
    """

    query: QuestionTerms
    subject: frozenset[str]
    kind: AnswerType
    is_specific: bool

    @classmethod
    def read(cls, question: str) -> Asked:
        """Read a user's question."""
        query = QuestionTerms.read(question)
        kind = expected_type(query.text)
        is_whole = is_question(query.text) and len(words(query.text)) >= _MIN_SPECIFIC_WORDS
        names_subject = len(query.stems) >= _MIN_SPECIFIC_STEMS or kind in TYPED
        subject = query.stems - plain_kinds(query.text)
        return cls(query, subject or query.stems, kind, is_whole and names_subject)

    @property
    def as_question(self) -> str:
        """The question with a capital and a question mark."""
        first, rest = self.query.text[0], self.query.text[1:]
        return f"{first.upper()}{rest.rstrip(' ?.!')}?"
