"""The data sets for tables of papers: files in a folder, as published or in the form that evaluations read.

A data set NAME has NAME.questions.jsonl, as `eval run` reads it, and NAME.corpus.jsonl, with one document per line: id,
text and title. Some data sets are also recognized by their own files and fields.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, Final, TypeAlias

from pgclarify.errors import InputError, NotFound
from pgclarify.evaluated import Case
from pgclarify.evaluation.data_sets import DataSet, Record, Selection, read_data_set, read_records
from pgclarify.evaluation.papers.tables import Part
from pgclarify.evaluation.simulated_user import intent_of
from pgclarify.vocabulary import Document

_SUFFIXES: Final = (".jsonl", ".jsonl.gz")
_CORPUS_PREFIX: Final = "paper-"
# An evaluation needs a corpus, even if its methods do not search.
_NO_DOCUMENTS: Final = Document("none", "The questions of this data set are asked without any documents.")
# In "No, I mean the boat.", the intent follows the first words. "Yes." alone confirms the clarifying question.
_ASSENT: Final = re.compile(r"^(?:yes|no|yeah|nope)\b[\s,.:;-]*(?:i mean(?:t)?\b[\s,.:;-]*)?", re.IGNORECASE)
_FEWEST_WORDS: Final = 3
# Approximate length of the passages that longer documents are cut into.
_PASSAGE_CHARS: Final = 1_000

Convert: TypeAlias = Callable[[Record], Record | None]


@dataclass(frozen=True, slots=True)
class Source:
    """Describes how to read a data set.

    Attributes:
        questions: The file with its questions, without its suffix.
        documents: The file with its documents, without its suffix; None if it has none.
        corpus: The name of the corpus for its documents.
        fields: Names of fields by the part of a case, if they differ from the usual names.
        convert: Converts a line to a case; returns None to skip the line.
        as_document: Converts a line to a document.
        needs_documents: Whether cases need the texts of documents.
        note: A note on figures from this data set; None if there is none.
    """

    questions: str
    documents: str | None
    corpus: str
    fields: Mapping[str, str] = field(default_factory=dict)
    convert: Convert | None = None
    as_document: Callable[[Record], Document] = field(default_factory=lambda: _document)
    needs_documents: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True)
class PaperData:
    """A data set that was found.

    Attributes:
        data_set: Its cases.
        corpus: Name of the corpus to ask.
        documents: Reads its documents, each once.
        document_count: Number of documents; 0 if it has none of its own.
        passage_chars: Approximate length of its passages; 0 if it has no documents.
        note: The note of its Source.
    """

    data_set: DataSet
    corpus: str
    documents: Callable[[], Iterator[Document]]
    document_count: int
    passage_chars: float
    note: str | None


def source_of(name: str) -> Source:
    """Return how to read a data set of that name: as a known data set, or else from the usual files."""
    return SOURCES.get(name) or Source(f"{name}.questions", f"{name}.corpus", name)


def find_data(folder: Path, names: Sequence[str], *, selection: Selection) -> PaperData:
    """Read the first of these data sets that has its questions in a folder.

    Args:
        folder: The folder of the files.
        names: Names of data sets, in order.
        selection: The cases to ask.

    Raises:
        NotFound: If the folder has none of them.
        UnreadableFile: If a file cannot be read to its end.
        InputError: If a line is no case, or no document.
    """
    for name in names:
        source = source_of(name)
        path = _path(folder, source.questions)
        if path is not None:
            return _read(folder, name, source, path, selection)
    files = ", or ".join(_told(source_of(name)) for name in names)
    raise NotFound(
        "no data set for it is there",
        detail=f"The folder {folder} has none of these files: {files}.",
        hint="Put one there, or bring your own as NAME.questions.jsonl and NAME.corpus.jsonl: --data-set NAME.",
    )


def check_parts(data: PaperData, needs: Sequence[Part], *, searches: bool) -> None:
    """Check that a data set has the parts that a table needs.

    Args:
        data: The data set.
        needs: Parts that some cases must have; intents are needed in all cases.
        searches: Whether the table searches documents.

    Raises:
        InputError: If a part or the documents are missing.
    """
    name = data.data_set.name
    if searches and not data.document_count:
        raise InputError(
            f"the data set {name} has no documents to search",
            hint=f"Put {name}.corpus.jsonl beside it: id, text and title a line.",
        )
    for part in needs:
        has = [_HAS[part](case) for case in data.data_set.cases]
        if not any(has) or (part is Part.INTENT and not all(has)):
            raise InputError(
                f"the data set {name} does not say what the table needs",
                detail=f"Of {has.count(False):,} of its {len(has):,} questions it has no {part}.",
                hint=f"Give each line the field {part}, or name another data set with --data-set.",
            )


_HAS: Final[Mapping[Part, Callable[[Case], bool]]] = {
    Part.ANSWERS: lambda case: bool(case.known_answers),
    Part.DOCUMENTS: lambda case: bool(case.document_ids),
    Part.LABEL: lambda case: case.is_ambiguous is not None,
    Part.HISTORY: lambda case: bool(case.history),
    Part.INTENT: lambda case: intent_of(case) is not None,
    Part.QUESTIONS: lambda case: bool(case.clarifying_questions),
}


def _read(folder: Path, name: str, source: Source, path: Path, selection: Selection) -> PaperData:
    documents = _documents(folder, source)
    convert = source.convert
    if source.needs_documents:
        texts = {one.document_id: one.content for one in documents()}
        convert = partial(_with_passage, texts=texts)
    data_set = read_data_set(
        path, fields=source.fields, selection=selection, name=name, convert=_checked(convert, name)
    )
    lengths = [min(len(one.content), _PASSAGE_CHARS) for one in documents()]
    has_own = source.documents is not None and _path(folder, source.documents) is not None
    return PaperData(
        data_set,
        _CORPUS_PREFIX + source.corpus,
        documents,
        len(lengths) if has_own else 0,
        fmean(lengths) if has_own and lengths else 0.0,
        source.note,
    )


def _documents(folder: Path, source: Source) -> Callable[[], Iterator[Document]]:
    path = None if source.documents is None else _path(folder, source.documents)
    if path is None:
        return lambda: iter([_NO_DOCUMENTS])

    def read() -> Iterator[Document]:
        seen: set[str] = set()
        for record in read_records(path):
            try:
                document = source.as_document(record)
            except (KeyError, TypeError, AttributeError):
                raise InputError(
                    f"a line of {path.name} is no document",
                    detail=f"It has the fields {', '.join(map(str, record))}.",
                    hint='Write one a line: {"id": "…", "title": "…", "text": "…"}.',
                ) from None
            if document.document_id not in seen:
                seen.add(document.document_id)
                yield document

    return read


def _checked(convert: Convert | None, name: str) -> Convert | None:
    """Wrap a conversion so that it raises ValueError for a line without the fields of the data set."""
    if convert is None:
        return None

    def checked(record: Record) -> Record | None:
        try:
            return convert(record)
        except (KeyError, TypeError, AttributeError, IndexError):
            raise ValueError(f"It lacks fields of {name}.") from None

    return checked


def _path(folder: Path, stem: str) -> Path | None:
    return next((path for suffix in _SUFFIXES if (path := folder / f"{stem}{suffix}").is_file()), None)


def _told(source: Source) -> str:
    """Return the file names of a data set for an error message."""
    files = dict.fromkeys((source.questions, *([source.documents] if source.documents else [])))
    return " with ".join(f"{stem}.jsonl(.gz)" for stem in files)


def _document(record: Record) -> Document:
    text = record["text"] if record.get("text") is not None else record["content"]
    title = record.get("title")
    if not isinstance(text, str) or not isinstance(title, str | None):
        raise TypeError("a text is expected")
    return Document(str(record["id"]), text, title or None)


def _of_abg_coqa(record: Record) -> dict[str, Any]:
    """Make a case of the last question of a conversation about a story, with its label."""
    asked_back = record["clarification_turn"].get("question")
    return _in_conversation(record) | {
        "is_ambiguous": record["ambiguity"] == "ambiguous",
        **({"clarifying_questions": [asked_back]} if asked_back else {}),
    }


def _of_users(record: Record) -> dict[str, Any] | None:
    """Make a case of an ambiguous question with the intent that the person stated; None without an intent."""
    answers = record["clarification_turn"].get("answers", [])
    wanted = (_ASSENT.sub("", answer["clr_ans"]) for answer in answers)
    told = next((text for text in wanted if len(text.split()) >= _FEWEST_WORDS), None)
    return None if told is None else _in_conversation(record) | {"intent": told}


def _in_conversation(record: Record) -> dict[str, Any]:
    return {
        "id": record["id"],
        "question": record["target_turn"]["question"],
        "history": [text for turn in record["history_turns"] for text in (turn["question"], turn["answer"])],
        "documents": [story_id(record)],
    }


def _story(record: Record) -> Document:
    return Document(story_id(record), record["story"])


def story_id(record: Record) -> str:
    """Return the id of a story. Several conversations may be about one story."""
    return hashlib.sha256(record["story"].encode()).hexdigest()[:16]


def _with_passage(record: Record, texts: Mapping[str, str]) -> dict[str, Any]:
    """Make a case of an under-specified question. Its intent is the passage that it was asked about."""
    return {
        "id": record["id"],
        "question": record["question"],
        "documents": record["gold"],
        "answers": [record["answer"]],
        "intent": texts[record["gold"][0]],
    }


def _of_clamber(record: Record) -> dict[str, Any]:
    """Make a case of a question with its label and kind. The context follows the question."""
    asked_back = record["clarifying_question"].strip()
    return {
        "question": "\n".join(part for part in (record["question"], record["context"]) if part.strip()),
        "is_ambiguous": bool(record["require_clarification"]),
        "kind": record["category"],
        **({"clarifying_questions": [asked_back]} if asked_back else {}),
    }


def _of_qulac(record: Record) -> dict[str, Any]:
    """Make a case of a query with the clarifying questions of people."""
    return {
        "id": record["topic_id"],
        "question": record["query"],
        "kind": record["type"],
        "clarifying_questions": [text for text in record["clarifying_questions"] if text.strip()],
    }


_SEEN: Final = (
    "the classifier that ships was trained on the labels of this data set, so the rows that use the classifier are no "
    "test of it"
)
_LEANING: Final = (
    "its questions lean on the conversation before them, which a search without clarification and turn 0 do not see; "
    "later turns see it"
)
_SQUAD: Final = (
    "a user has the whole passage in mind that it wants, so replies may repeat its words: figures of conversations "
    "are a bound from above"
)

SOURCES: Final[Mapping[str, Source]] = {
    "ambignq": Source("ambignq.questions", "ambignq.corpus", "ambignq", {"answers": "single_answers"}),
    "squad2": Source("squad2.ambiguous", "squad2.corpus", "squad2", needs_documents=True, note=_SQUAD),
    "abg-coqa": Source("abg-coqa", "abg-coqa", "abg-coqa", convert=_of_abg_coqa, as_document=_story, note=_SEEN),
    "abg-coqa-users": Source("abg-coqa", "abg-coqa", "abg-coqa", convert=_of_users, as_document=_story, note=_LEANING),
    "clamber": Source("clamber", None, "clamber", convert=_of_clamber, note=_SEEN),
    "qulac": Source("qulac", None, "qulac", convert=_of_qulac),
}
"""Data sets with files and fields of their own, by name."""
