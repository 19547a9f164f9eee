"""Small corpora in languages other than English: ten documents each, and questions about them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).with_name("data") / "languages"


@dataclass(frozen=True)
class Document:
    """A document of one passage."""

    id: str
    title: str
    content: str


@dataclass(frozen=True)
class Asked:
    """A question that one document answers.

    Attributes:
        question: As a user asks it.
        document: The id of the document.
        answer: In the language of the document, as a model may write it.
        quote: The proof of the answer as a model may write it: other quotation marks, other blanks, half-width digits.
        false_quote: A quote that is not in the document.
    """

    question: str
    document: str
    answer: str
    quote: str
    false_quote: str


@dataclass(frozen=True)
class Corpus:
    """Documents in one language.

    Attributes:
        language: Its English name, in small letters.
        search_config: The text search configuration that fits it best.
    """

    language: str
    search_config: str
    documents: tuple[Document, ...]
    questions: tuple[Asked, ...]

    def document(self, document_id: str) -> Document:
        """The document with an id."""
        return next(one for one in self.documents if one.id == document_id)


def _read(path: Path) -> Corpus:
    read = json.loads(path.read_text(encoding="utf-8"))
    return Corpus(
        path.stem,
        read["search_config"],
        tuple(Document(**one) for one in read["documents"]),
        tuple(Asked(**one) for one in read["questions"]),
    )


CORPORA: Final = {path.stem: _read(path) for path in sorted(_FOLDER.glob("*.json"))}
