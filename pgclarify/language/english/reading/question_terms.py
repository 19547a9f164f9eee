"""What a question asks for, in words."""

from __future__ import annotations

from dataclasses import dataclass

from pgclarify.language.english.stems import stem
from pgclarify.language.english.word_classes import SYNONYMS
from pgclarify.language.english.words import words

_SYNONYMS = tuple(frozenset(map(stem, group)) for group in SYNONYMS)


def with_synonyms(stems: frozenset[str]) -> frozenset[str]:
    """Return stems, and those of the words that mean the same."""
    return stems.union(*(group for group in _SYNONYMS if not group.isdisjoint(stems)))


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The words of a question, computed once for all sentences of a passage.

    Attributes:
        text: The question, with each run of white space as one space.
        stems: Stems of its words that carry meaning.
    """

    text: str
    stems: frozenset[str]

    @property
    def bare(self) -> str:
        """The question without marks at its ends."""
        return self.text.strip(" ?.!")

    @classmethod
    def read(cls, question: str) -> QuestionTerms:
        """Read a question."""
        text = " ".join(question.split())
        found = words(text)
        # "Long" in "how long" is part of the answer's kind, and no topic.
        content = [
            word
            for before, word in zip([None, *found], found, strict=False)
            if word.is_content and not (before and before.lower == "how")
        ]
        return cls(text, frozenset(word.stem for word in content or found))
