"""What a relaxed question finds that the question itself does not: recall@20.

python -m benchmarks.quality.relaxed URL DATA_DIR [CORPUS=DOCUMENTS …]

In the database of URL, corpora ramdocs, squad2 and musique were loaded from DATA_DIR, and each CORPUS from the public
repository DOCUMENTS. Relaxed questions are recorded replies: of the large model (benchmarks.quality.large_model) and of
the small one (benchmarks/papers/replies.jsonl.gz, for ramdocs and squad2). "Expanded" calls no model: the question is
searched once more together with the titles of its first three passages, and both rankings are joined. Each row says how
many questions have a relaxed one, the share of what is known in the first 20 passages of the question itself, and what
the other search adds; for real documents, known are readings, and a passage has one if it has all its parts.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from rich.table import Table

from benchmarks import product
from benchmarks.data_sets import read
from benchmarks.figures import mean_of, show_tables
from benchmarks.papers.replies import SMALL_MODEL, SMALL_REPLIES
from benchmarks.papers.replies import hash_of as hash_of_request
from benchmarks.quality.large_model.files import (
    HERE,
    ONLY_RELAXED,
    Asked,
    hash_of,
    read_asked,
    read_replies,
    rows_of,
)
from pgclarify.algorithms.fusion import fuse
from pgclarify.data.model_calls import Completion, ModelCall
from pgclarify.errors import InvalidReply
from pgclarify.prompts.relaxation import relaxation
from pgclarify.providers.client import Address
from pgclarify.providers.endpoint import Endpoint

_TOP_K: Final = 20
_TITLES: Final = 3
_SEARCH: Final = """
    select document_id, passage_id, title, content from pgclarify.search(%s, corpus => %s, top_k => %s) order by rank
"""

Row: TypeAlias = dict[str, str]
Share: TypeAlias = Callable[[Sequence[Row]], float]
"""Of the passages that were found, the share of what is known that they have."""


@dataclass(frozen=True)
class Question:
    """A question of a corpus.

    Attributes:
        corpus: Its name.
        text: The question.
        share: Judges passages.
    """

    corpus: str
    text: str
    share: Share


def _of_documents(golds: Sequence[str]) -> Share:
    return lambda rows: len({row["document_id"] for row in rows} & {*golds}) / len({*golds})


def _of_readings(asked: Asked) -> Share:
    def share(rows: Sequence[Row]) -> float:
        texts = [row["content"].casefold() for row in rows]
        has = [
            any(all(any(choice in text for choice in part) for part in known.parts) for text in texts)
            for known in asked.known
        ]
        return sum(has) / len(has)

    return share


def _questions(data_dir: Path, corpora: dict[str, str]) -> list[Question]:
    ramdocs = {row["question"]: row for row in read(data_dir / "ramdocs.questions.jsonl.gz")}
    found = []
    for one in read_asked(HERE / "asked.jsonl.gz"):
        if one.documents == "ramdocs":
            golds = [each["id"] for each in ramdocs[one.question]["documents"] if each["type"] == "correct"]
            found.append(Question("ramdocs", one.question, _of_documents(golds)))
        elif one.documents in corpora and one.known:
            found.append(Question(corpora[one.documents], one.question, _of_readings(one)))
    for corpus, file in (("squad2", "squad2.ambiguous"), ("musique", "musique.questions")):
        rows = [*read(data_dir / f"{file}.jsonl.gz")][:ONLY_RELAXED]
        found += [Question(corpus, row["question"], _of_documents(row["gold"])) for row in rows]
    return found


def _read(call: ModelCall[str], reply: str) -> str | None:
    with suppress(InvalidReply):
        return call.read(Completion(reply, None, None, 0.0))
    return None


async def _relaxed(texts: Sequence[str]) -> dict[str, dict[str, str]]:
    """The relaxed questions by model and question."""
    large = {asked: reply for (asked, _), reply in read_replies(HERE / "replies.jsonl.gz").items()}
    small = {row["asked"]: row["reply"]["choices"][0]["message"]["content"] for row in rows_of(SMALL_REPLIES)}
    found: dict[str, dict[str, str]] = {"large model": {}, "small model": {}}
    async with Endpoint(Address("http://127.0.0.1:9/v1"), SMALL_MODEL, concurrency=1, timeout=1) as endpoint:
        for text in texts:
            call = relaxation(text)
            replies = large.get(hash_of(call)), small.get(hash_of_request(endpoint.body(endpoint.request(call))))
            for relaxed, reply in zip(found.values(), replies, strict=True):
                query = None if reply is None else _read(call, reply)
                if query is not None:
                    relaxed[text] = query
    return found


def _expanded(search: Callable[[str, str], list[Row]], one: Question, rows: Sequence[Row]) -> list[Row]:
    titles = dict.fromkeys(row["title"] for row in rows[:_TITLES] if row["title"])
    others = search(one.corpus, " ".join([one.text, *titles]))
    known = {(row["document_id"], row["passage_id"]): row for row in (*rows, *others)}
    joined = fuse(*([(row["document_id"], row["passage_id"]) for row in some] for some in (rows, others)))
    return [known[key] for key in joined[:_TOP_K]]


def main() -> None:
    """Read the command line, search, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("corpora", nargs="*", metavar="CORPUS=DOCUMENTS")
    given = parser.parse_args()
    corpora = {documents: corpus for corpus, _, documents in (one.partition("=") for one in given.corpora)}
    questions = _questions(given.data_dir, corpora)
    relaxed = asyncio.run(_relaxed([one.text for one in questions]))
    shares: dict[str, list[tuple[Question, float, float]]] = {name: [] for name in (*relaxed, "expanded")}
    with product.connect(given.url) as connection:

        def search(corpus: str, text: str) -> list[Row]:
            return [dict(row) for row in connection.execute(_SEARCH, [text, corpus, _TOP_K]).fetchall()]

        for one in questions:
            rows = search(one.corpus, one.text)
            before = one.share(rows)
            for name, queries in relaxed.items():
                if one.text in queries:
                    after = one.share(search(one.corpus, queries[one.text]))
                    shares[name].append((one, before, after))
            shares["expanded"].append((one, before, one.share(_expanded(search, one, rows))))
    table = Table("search", "corpus", "questions", "recall@20 of the question", "difference", title="Relaxed questions")
    for name, found in shares.items():
        for corpus in dict.fromkeys(one.corpus for one, _, _ in found):
            own = [(before, after) for one, before, after in found if one.corpus == corpus]
            table.add_row(
                name,
                corpus,
                str(len(own)),
                mean_of([before for before, _ in own], ".3f"),
                mean_of([after - before for before, after in own], "+.3f"),
            )
    show_tables(table, width=160, prompts=("relaxation",))


if __name__ == "__main__":
    main()
