"""A simulated user who wants one thing: how much better the search gets with each turn of being asked back.

python -m benchmarks.simulated_user DATA_DIR --base-url URL --model NAME [--users 20] [--replies FILE]

DATA_DIR has qulac.jsonl.gz. The documents are the facets of all topics; each user types a topic's query and holds one
of its facets, which is the one relevant document. In form select the model gives five reformulations a turn, and the
user takes the one whose embedding is nearest to the facet (a cooperative user, as in Erbacher et al., 2022). In form
respond the model asks one question, the user (the same model, shown the facet) answers it, and the question is
reformulated. nDCG@10 of hybrid search by pgclarify.search with the question as it is after each of three turns.

Source: AT-CoT, §4.2 and §6.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import math
import os
import statistics
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from psycopg.types.json import Jsonb
from pydantic import SecretStr
from rich.console import Console
from rich.table import Table

from benchmarks import product
from benchmarks.clarifying_questions import sample
from benchmarks.figures import mean_of, step
from benchmarks.ingest import MODEL
from benchmarks.kept_replies import KeptReplies
from benchmarks.lexical_quality import read
from pgclarify.dialogue import MOST_TURNS, Form, PromptScheme, Turn
from pgclarify.embedding import load_embedder
from pgclarify.model_calls import CompletionRequest, Message
from pgclarify.prompts.clarifying_questions import clarifying_questions
from pgclarify.prompts.fencing import line
from pgclarify.prompts.rewriting import reformulation
from pgclarify.protocols import Embedder
from pgclarify.providers.chat_model import ChatModel
from pgclarify.providers.endpoint import Endpoint

_CORPUS: Final = "facets"
_DEPTH: Final = 10
_CHOICES: Final = 5
_REPLY_SYSTEM: Final = """\
You play somebody who is looking for something. You get what this person wants, and a question that a search system \
asks. Reply as this person would, in at most ten words: say yes or no where that is asked, and tell what is wanted as \
far as the question asks for it. Never ask anything yourself."""


@dataclass(frozen=True)
class User:
    """Who types the query and wants the facet; key names the facet's document."""

    query: str
    facet: str
    key: str


@dataclass(frozen=True)
class Conversation:
    """The question before the first turn and after each."""

    user: User
    form: Form
    questions: list[str]


class _Simulation:
    """Leads conversations, one call at a time."""

    def __init__(self, endpoint: Endpoint, embedder: Embedder, replies: Path | None) -> None:
        self._embedder = embedder
        self._model = endpoint.model
        self.kept = KeptReplies(ChatModel(endpoint), replies)

    async def converse(self, user: User, form: Form) -> Conversation:
        """Three turns, without a rule to stop."""
        questions, turns, history = [user.query], list[Turn](), [user.query]
        for _ in range(MOST_TURNS):
            count = _CHOICES if form is Form.SELECT else 1
            proposed, _ = await self.kept.ask(
                # What is asked about stands in the history already.
                clarifying_questions(questions[-1], history[:-1], scheme=PromptScheme.AT_COT, form=form, count=count)
            )
            if proposed is None:
                # A turn that fails leaves the question as it was.
                questions.append(questions[-1])
                continue
            if form is Form.SELECT:
                choices = [one.reformulation for one in proposed if one.reformulation]
                questions.append(await self._nearest(choices, user.facet))
                history.append(questions[-1])
                continue
            asked = proposed[0].clarifying_question or ""
            reply = (await self.kept.complete(self._reply_request(user, asked))).reply.strip()
            turns.append(Turn((asked,), reply))
            question, _ = await self.kept.ask(reformulation(user.query, turns))
            questions.append(question or questions[-1])
            history += [asked, reply, questions[-1]]
        return Conversation(user, form, questions)

    def _reply_request(self, user: User, asked: str) -> CompletionRequest:
        text = f"{line('Wanted', user.facet)}\n{line('Typed', user.query)}\n{line('The system asks', asked)}"
        return CompletionRequest(
            purpose="simulated reply",
            model=self._model,
            parameters={"temperature": 0, "max_tokens": 40},
            prompt_version="1",
            messages=(Message("system", _REPLY_SYSTEM), Message("user", text)),
        )

    async def _nearest(self, choices: Sequence[str], facet: str) -> str:
        vectors = await self._embedder.encode([facet, *choices])
        return choices[int((vectors[1:] @ vectors[0]).argmax())]


def users_of(rows: Sequence[dict[str, Any]], count: int) -> list[User]:
    """One facet of each topic, by hash."""
    return [
        User(row["query"], _plain(row["facets"][key]), f"{row['topic_id']}/{key}")
        for row in sample(rows, count)
        for key in [min(row["facets"], key=lambda key: hashlib.sha256(f"{row['topic_id']} {key}".encode()).digest())]
    ]


def _plain(facet: str) -> str:
    return facet.replace("\\", "")


async def converse(
    rows: Sequence[dict[str, Any]], endpoint: Endpoint, count: int, replies: Path | None, *, verbose: bool
) -> list[Conversation]:
    """Lead all conversations, in both forms."""
    embedder = await asyncio.to_thread(load_embedder, MODEL)
    simulation = _Simulation(endpoint, embedder, replies)
    conversations = []
    for form in Form:
        for user in users_of(rows, count):
            conversations.append(await simulation.converse(user, form))
            if verbose:
                print(form, "|", user.facet, "|", conversations[-1].questions, flush=True)
    print(f"{simulation.kept.failures} replies could not be read at first, {simulation.kept.lost} at all")
    return conversations


def ndcg(rows: Sequence[dict[str, Any]], conversations: Sequence[Conversation]) -> dict[Form, list[list[float]]]:
    """Search with every question: by form, for each user the nDCG@10 before the first turn and after each."""
    with product.database() as dsn, _extractive_worker(dsn), product.connect(dsn) as connection:
        with step("loading the facets"):
            connection.execute("select pgclarify.create_corpus(%s)", [_CORPUS])
            for row in rows:
                for key, facet in row["facets"].items():
                    connection.execute(
                        "select pgclarify.add_document(%s, %s, %s)",
                        [_CORPUS, f"{row['topic_id']}/{key}", _plain(facet)],
                    )
            while connection.execute("select pending from pgclarify.corpus_status").fetchall()[0]["pending"]:
                time.sleep(0.2)
        scores: dict[Form, list[list[float]]] = {form: [] for form in Form}
        with step("searching"):
            for conversation in conversations:
                scores[conversation.form].append(
                    [_ndcg(connection, question, conversation.user.key) for question in conversation.questions]
                )
        return scores


def _ndcg(connection: product.Connection, question: str, key: str) -> float:
    """With one relevant document: 1 / log2(rank + 1), 0 beyond the tenth."""
    found = connection.execute(
        "select rank from pgclarify.search(%s, corpus => %s, top_k => %s, options => %s) where document_id = %s",
        [question, _CORPUS, _DEPTH, Jsonb({"method": "hybrid"}), key],
    ).fetchall()
    return 1 / math.log2(found[0]["rank"] + 1) if found else 0.0


def _extractive_worker(dsn: str) -> AbstractContextManager[object]:
    environment = os.environ | {"PGCLARIFY_DATABASE_URL": dsn, "PGCLARIFY_LLM_PROVIDER": "extractive"}
    return product.running_worker(dsn, environment)


def show(scores: dict[Form, list[list[float]]]) -> None:
    """Print the table; gains are over the turn before, paired by user, with 95 % of a bootstrap."""
    table = Table("form", "turn", "nDCG@10", "gain over the turn before", "gain over no turn", "better, worse")
    for form, rows in scores.items():
        for turn in range(MOST_TURNS + 1):
            now = [row[turn] for row in rows]
            cells = ["", "", ""]
            if turn:
                gains = [row[turn] - row[turn - 1] for row in rows]
                better, worse = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
                cells = [
                    mean_of(gains, "+.3f"),
                    mean_of([row[turn] - row[0] for row in rows], "+.3f"),
                    f"{better}, {worse}",
                ]
            table.add_row(str(form), str(turn), f"{statistics.fmean(now):.3f}", *cells)
    Console(width=140).print(table)


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--replies", type=Path, help="file of JSON lines that replies are kept in")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    rows = list(read(given.data_dir / "qulac.jsonl.gz"))
    async with Endpoint(
        model=given.model, base_url=given.base_url, api_key=SecretStr("none"), concurrency=1, timeout=600
    ) as endpoint:
        conversations = await converse(rows, endpoint, given.users, given.replies, verbose=given.verbose)
    show(await asyncio.to_thread(ndcg, rows, conversations))


if __name__ == "__main__":
    asyncio.run(_main())
