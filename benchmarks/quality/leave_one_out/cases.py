"""Cases with known answers: questions, each with the passages to read, and what an answer there is worth."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from benchmarks import product
from benchmarks.data_sets import read
from benchmarks.papers.replies import SMALL_MODEL, SMALL_REPLIES, hash_of
from benchmarks.quality.large_model.files import HERE as LARGE
from benchmarks.quality.large_model.files import Asked, passage_texts, read_asked, read_replies, rows_of, with_texts
from benchmarks.quality.large_model.ways import gives, is_known_wrong, verdicts_of
from benchmarks.quality.other_things import companies, held
from benchmarks.quality.real_documents import key_of, letters, questions
from benchmarks.quality.support import as_written
from pgclarify.algorithms.metrics import cover_exact_match
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Completion
from pgclarify.data.verdicts import Reading
from pgclarify.errors import InvalidReply
from pgclarify.language.english.amounts import PlacedAmount, find_amounts
from pgclarify.language.quotes import fold
from pgclarify.language.sentences import split_sentences
from pgclarify.language.words import distinct_words
from pgclarify.prompts.verdict import verdict
from pgclarify.protocols import Embedder
from pgclarify.providers.client import Address
from pgclarify.providers.endpoint import Endpoint

Worth: TypeAlias = Callable[[str], set[int] | None]
"""The known answers that an answer gives, by number; none if it is wrong. None if it is not known what it is worth."""

_Worths: TypeAlias = Mapping[str, tuple[int, Callable[[str, str], set[int] | None]]]
"""By question: how many answers it has, and what an answer from a document is worth."""

_TOP_K: Final = 5
_OTHER_FACTS: Final = 5
_HELD_ORGANISATIONS: Final = ("held", "organisations-held")
_NO_ANSWER: Final = "No answer"
_QUALITY: Final = Path(__file__).parents[1]
_REAL: Final = ("18F/handbook", "mattermost/docs", "CivicActions/guidebook", "darktable-org/dtdocs")
_NAMES: Final = dict(zip(("handbook", "mattermost", "guidebook", "darktable"), _REAL, strict=True))


@dataclass(frozen=True)
class Case:
    """A passage to read for a question.

    Attributes:
        data_set: Where it is from.
        question: The question.
        passage: The passage.
        known: How many known answers the question has.
        worth: What an answer that is read there is worth.
        reading: What somebody read there; None if that is nothing, or if the passage is still to be read.
        answers: The known answers, for `claims`.
    """

    data_set: str
    question: str
    passage: Passage
    known: int
    worth: Worth
    reading: Reading | None = None
    answers: tuple[str, ...] = ()


async def public(data_dir: Path, embedder: Embedder) -> list[Case]:
    """The nearest passages of ambiguous and of office questions, passages of answerable ones, and plain facts."""
    cases: list[Case] = []
    for corpus, worths in (("ramdocs", ramdocs(data_dir)), ("squad2", squad2(data_dir))):
        passages = [
            Passage(row["id"], 1, " ".join(row["text"].split()), title=row["title"].replace("_", " "))
            for row in read(data_dir / f"{corpus}.corpus.jsonl.gz")
        ]
        cases += await _nearest(embedder, corpus, worths, passages)
    for world in (held(), *map(companies, _HELD_ORGANISATIONS)):
        passages = [Passage(one.document_id, 1, one.content, title=one.title) for one in world.documents]
        worths = {one.question: (min(1, len(one.answers)), partial(_told, one.answers)) for one in world.asked}
        cases += await _nearest(embedder, "offices", worths, passages)
    return [*cases, *_answerable(data_dir), *_facts()]


async def _nearest(embedder: Embedder, name: str, worths: _Worths, passages: Sequence[Passage]) -> list[Case]:
    there = await embedder.encode([f"{one.title or ''}\n{one.content}" for one in passages])
    near = await embedder.encode([*worths]) @ there.T
    return [
        Case(name, question, passages[place], known, _at(worth, passages[place].document_id))
        for (question, (known, worth)), similarities in zip(worths.items(), near, strict=True)
        for place in np.argsort(-similarities)[:_TOP_K]
    ]


def _told(known: Sequence[str], document_id: str, answer: str) -> set[int]:
    """As other_things: an answer is right if it contains a known one."""
    return {0} if any(fold(one) in fold(answer) for one in known) else set()


def _at(worth: Callable[[str, str], set[int] | None], document_id: str) -> Worth:
    return partial(worth, document_id)


def ramdocs(data_dir: Path) -> _Worths:
    """An answer that a document with a wrong answer gives counts neither as right nor as wrong."""

    def told(row: Mapping[str, Any], document_id: str, answer: str) -> set[int] | None:
        right = {place for place, known in enumerate(row["answers"]) if cover_exact_match(answer, [known])}
        return None if not right and cover_exact_match(answer, row["wrong_answers"]) else right

    rows = read(data_dir / "ramdocs.questions.jsonl.gz")
    return {row["question"]: (len(row["answers"]), partial(told, row)) for row in rows}


def squad2(data_dir: Path) -> _Worths:
    """An answer is right if it is the known one, in the paragraph that resolves the question."""

    def told(gold: str, known: str, document_id: str, answer: str) -> set[int]:
        return {0} if document_id == gold and cover_exact_match(answer, [known]) else set()

    texts = {row["id"]: row["text"] for row in read(data_dir / "squad2.corpus.jsonl.gz")}
    found = {}
    for row in read(data_dir / "squad2.ambiguous.jsonl.gz"):
        (gold, *_) = row["gold"]
        found[row["question"]] = 1, partial(told, gold, as_written(row["answer"], texts[gold]))
    return found


def _answerable(data_dir: Path) -> Iterator[Case]:
    texts = {row["id"]: row for row in read(data_dir / "squad2.corpus.jsonl.gz")}
    for row in read(data_dir / "squad2.answerable.jsonl.gz"):
        text = texts[row["passage"]]
        passage = Passage(row["passage"], 1, " ".join(text["text"].split()), title=text["title"].replace("_", " "))
        known = [one for one in [row["answer"]] if one not in (None, _NO_ANSWER)]
        yield Case("answerable", row["question"], passage, len(known), _is(*known), answers=tuple(known))


def claims(data_dir: Path) -> list[Case]:
    """What a reader would say that takes something beside the answer for the answer: claims about a passage.

    Each question with an answer has it, with the sentence that has it, which is right. Each question, with or without
    an answer, has those of the question about the same passage that has most words in common, and each answer that is
    an amount is exchanged for the other amounts of its sentence. Both are wrong. The questions of squad2.answerable
    without an answer were written to look like others.
    """
    found: list[Case] = []
    for name, asked in (("squad2", [*_answerable(data_dir)]), ("offices", [*_asked_of_offices()])):
        own: dict[str, list[Case]] = {}
        for case in asked:
            if case.known:
                own.setdefault(case.passage.document_id, []).append(case)
        for case in asked:
            found += _claims(name, case, own.get(case.passage.document_id, []))
    return found


def _asked_of_offices() -> Iterator[Case]:
    """Questions of the held organisations with one answer, each with the document that has it."""
    for world in map(companies, _HELD_ORGANISATIONS):
        for one in world.asked:
            told = [text for text in world.documents if one.answers and fold(one.answers[0]) in fold(text.content)]
            if told and not one.is_open:
                words = distinct_words(one.question)
                text = max(told, key=lambda text: len(words & distinct_words(text.title or "", text.content)))
                passage = Passage(text.document_id, 1, text.content, title=text.title)
                yield Case("", one.question, passage, 1, partial(_told, one.answers, ""), answers=one.answers)


def _claims(name: str, case: Case, about: Sequence[Case]) -> Iterator[Case]:
    words = distinct_words(case.question)
    others = [one for one in about if one.answers != case.answers]
    nearest = sorted(others, key=lambda other: -len(words & distinct_words(other.question)))[:1]
    for one in [case, *nearest] if case.known else nearest:
        answer = one.answers[0]
        holding = [part.text for part in split_sentences(one.passage.content) if fold(answer) in fold(part.text)]
        if not holding:
            continue
        told = distinct_words(one.question)
        quote = max(holding, key=lambda text: len(told & distinct_words(text)))
        yield replace(case, data_set=f"{name}, neighbors", reading=Reading(case.question, answer, quote))
        amounts = find_amounts(quote) if one is case else []
        places = [(amount.value, amount.unit) for amount in amounts if fold(answer) in fold(_text(quote, amount))]
        for amount in amounts if places else []:
            if (amount.value, amount.unit) not in places:
                false = Reading(case.question, _text(quote, amount), quote)
                yield replace(case, data_set=f"{name}, amounts", known=0, reading=false)


def _text(quote: str, amount: PlacedAmount) -> str:
    return quote[amount.start : amount.end]


def _is(*names: str) -> Worth:
    return lambda answer: {0} if cover_exact_match(answer, names) else set()


def _facts() -> Iterator[Case]:
    """Each question about its fact, and about the next ones, where each answer is wrong."""
    facts = [json.loads(line) for line in (_QUALITY / "plain_facts.jsonl").read_text("utf-8").splitlines()]
    for place, one in enumerate(facts):
        yield Case("facts", one["asked"], Passage(one["fact"], 1, one["fact"]), 1, _is(*one["answers"]))
        others = (facts[(place + step) % len(facts)]["fact"] for step in range(1, _OTHER_FACTS + 1))
        for other in others:
            yield Case("facts", one["asked"], Passage(other, 1, other), 1, _is())


def real(dsn: str) -> list[Case]:
    """The passages that runs of `clarify` found in real documents. An answer without a letter is worth nothing known.

    Right is R; wrong are W, and N: true, but not useful. A letter belongs to a document and the hash of an answer.
    """
    known_letters = letters()
    asked = {(row["documents"], row["question"]): row["is_answered_by_documents"] for row in questions()}

    def worth(documents: str, question: str, document_id: str) -> Worth:
        def told(answer: str) -> set[int] | None:
            letter = known_letters.get(key_of(documents, question, document_id, answer))
            return None if letter is None else {0} if letter == "R" else set()

        return told

    cases = []
    for row, passage in _passages(dsn, [*_NAMES]):
        documents, question = _NAMES[row["corpus"]], row["question"]
        known = asked.get((documents, question))
        if known is not None:
            told = worth(documents, question, row["document_id"])
            cases.append(Case("real", question, passage, known, told))
    return cases


def replies(dsn: str, data_dir: Path) -> list[Case]:
    """What language models read, by recorded replies: a large model and a small one.

    Of the large model, the questions of `benchmarks.quality.large_model` that are held, or all others; of the small
    one, ramdocs and squad2, whose passages are those of the corpora in the database.
    """
    return [*_of_large_model(dsn), *asyncio.run(_of_small_model(dsn, data_dir))]


def _of_large_model(dsn: str) -> Iterator[Case]:
    replies = {
        asked: reply for (asked, writer), reply in read_replies(LARGE / "replies.jsonl.gz").items() if writer == "a"
    }
    for asked in with_texts(read_asked(LARGE / "asked.jsonl.gz"), passage_texts(dsn)):
        part = "held" if asked.is_held else "development"
        name = f"{'ramdocs' if asked.documents == 'ramdocs' else 'real'}, large, {part}"
        for passage, result in verdicts_of(asked, "verdict", replies):
            for reading in result.value if isinstance(result.value, tuple) else ():
                yield Case(name, asked.question, passage, len(asked.known), partial(_worth, asked, reading), reading)


def _worth(asked: Asked, reading: Reading, answer: str) -> set[int] | None:
    given = {place for place, known in enumerate(asked.known) if gives(reading, known)}
    # Nobody knows all that real documents answer.
    is_unknown = asked.documents != "ramdocs" or is_known_wrong(answer, asked)
    return None if not given and is_unknown else given


async def _of_small_model(dsn: str, data_dir: Path) -> list[Case]:
    kept = {row["asked"]: row["reply"]["choices"][0]["message"]["content"] for row in rows_of(SMALL_REPLIES)}
    worths = {"ramdocs": ramdocs(data_dir), "squad2": squad2(data_dir)}
    cases = []
    async with Endpoint(Address("http://127.0.0.1:9/v1"), SMALL_MODEL, concurrency=1, timeout=1) as endpoint:
        for corpus, questions in worths.items():
            passages = [*_passages_of(dsn, corpus)]
            for question, (known, worth) in questions.items():
                for passage in passages:
                    call = verdict(question, passage)
                    reply = kept.get(hash_of(endpoint.body(endpoint.request(call))))
                    with suppress(InvalidReply):
                        reading = None if reply is None else call.read(Completion(reply, None, None, 0.0))
                        if isinstance(reading, Reading):
                            told = _at(worth, passage.document_id)
                            cases.append(Case(f"{corpus}, small", question, passage, known, told, reading))
    return cases


def _passages(dsn: str, corpora: Sequence[str]) -> Iterator[tuple[dict[str, Any], Passage]]:
    with product.connect(dsn) as connection:
        for row in connection.execute(_FOUND, [corpora]).fetchall():
            yield (
                row,
                Passage(row["document_id"], row["passage_id"], row["content"], row["title"], row["heading"]),
            )


def _passages_of(dsn: str, corpus: str) -> Iterator[Passage]:
    with product.connect(dsn) as connection:
        for row in connection.execute(_ALL, [corpus]).fetchall():
            yield Passage(**row)


_ALL: Final = """
    select passage.document_id, passage.id as passage_id, passage.content, document.title, passage.heading
    from pgclarify.passage
    inner join pgclarify.corpus using (corpus_id)
    inner join pgclarify.document on document.corpus_id = passage.corpus_id and document.id = passage.document_id
    where corpus.corpus = %s
"""
_FOUND: Final = """
    select distinct on (run.corpus, run.question, candidate.rank)
        run.corpus, run.question, candidate.rank, candidate.document_id, candidate.passage_id,
        passage.content, passage.heading, document.title
    from pgclarify.run
    inner join pgclarify.candidate using (run_id)
    inner join pgclarify.passage
        on passage.corpus_id = candidate.corpus_id and passage.document_id = candidate.document_id
        and passage.id = candidate.passage_id
    inner join pgclarify.document on document.corpus_id = candidate.corpus_id and document.id = candidate.document_id
    where run.operation = 'clarify' and run.corpus = any(%s) and run.status in ('succeeded', 'partial')
    order by run.corpus, run.question, candidate.rank, run.run_id desc
"""
