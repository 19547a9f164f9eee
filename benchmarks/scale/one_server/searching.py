"""Stages that search: by vectors (compared with an exact search), by rare and frequent words, and with readers."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pgvector import HalfVector

from benchmarks import made_up, product
from benchmarks.figures import Figure
from benchmarks.scale.one_server import world
from benchmarks.scale.one_server.setting import Meter, Setting
from pgclarify import embedded

_QUESTIONS = 100
_COMPARED = 20
_TOP_K = 10
_DENSE = "select passage_ids from pgclarify_private.dense(%(corpus)s, %(roles)s, %(vector)s::text::halfvec, %(top_k)s)"
_LEXICAL = "select passage_ids from pgclarify_private.lexical(%(corpus)s, %(roles)s, %(question)s, %(top_k)s)"
_HYBRID = """
    select array_agg(passage_id) as passage_ids
    from pgclarify_private.search(
        %(corpus)s, %(roles)s, 'hybrid', %(question)s, %(vector)s::text::halfvec, %(top_k)s
    )
"""
# Adding 0 prevents the use of the approximate index.
_EXACT = """
    select array_agg(nearest.passage_id) as passage_ids
    from (
        select embedding.passage_id
        from pgclarify_private.passage_embedding_{space} as embedding
        where {condition}
        order by (embedding.vector::halfvec({dimensions}) <=> %(vector)s::text::halfvec({dimensions})) + 0
        limit %(top_k)s
    ) as nearest
"""


def search(setting: Setting) -> list[Figure]:
    """Search a corpus whose passages are visible to all roles."""
    questions = _questions(setting)
    found, dense = _timed(setting, _DENSE, questions)
    figures = [*_dense(setting, "dense", questions, found, "true"), *_latency("dense", dense)]
    deep = [question | {"top_k": 100} for question in questions]
    figures += _latency("dense, 100 passages", _timed(setting, _DENSE, deep)[1])
    for kind, asked in _by_words(setting).items():
        figures += _latency(f"words, {kind}", _timed(setting, _LEXICAL, asked)[1])
    return [*figures, *_latency("hybrid", _timed(setting, _HYBRID, questions)[1])]


def visibility(setting: Setting) -> list[Figure]:
    """Search as roles that may read a hundredth, a tenth and all, and as a role that may read only other topics."""
    figures: list[Figure] = []
    by_words = _by_words(setting)
    for role, one_in in world.SHARES.items():
        questions = [question | {"roles": [role]} for question in _questions(setting)]
        figures += _search_as(setting, role, questions, f"document_id::bigint %% {one_in} = 0")
        for kind, asked in by_words.items():
            asked = [question | {"roles": [role]} for question in asked]
            figures += _latency(f"{role}: words, {kind}", _timed(setting, _LEXICAL, asked)[1])
    others = [question | {"roles": [world.DEPARTMENT]} for question in _questions(setting) if not question["is_own"]]
    setting.connection.execute("create temporary table if not exists readable (document_id text primary key)")
    setting.connection.execute("truncate readable")
    mine = [str(n) for n in range(setting.documents) if world.is_of_the_department(world.title_of(n))]
    setting.connection.execute("insert into readable select unnest(%s::text[])", [mine])
    setting.connection.execute("analyze readable")
    condition = "document_id in (select readable.document_id from readable)"
    return [*figures, *_search_as(setting, f"{world.DEPARTMENT}, other topics", others, condition)]


def restart(setting: Setting) -> list[Figure]:
    """Stop the server and start it, and search with nothing in the memory of its own."""
    questions = _questions(setting)
    started = time.perf_counter()
    embedded.stop(setting.folder)
    embedded.start(setting.folder)
    setting.connection = product.connect(setting.dsn)
    answered = time.perf_counter()
    _, timed = _timed(setting, _HYBRID, questions, warm=0)
    return [
        Figure("stopped and started", answered - started, "s"),
        Figure("the first hybrid search then", timed.milliseconds[0], "ms"),
        Figure("100 hybrid searches then, median", statistics.median(timed.milliseconds), "ms"),
    ]


def reindex(setting: Setting) -> list[Figure]:
    """Make the index over vectors again, with the memory that the embedded server gives and with enough memory."""
    figures = []
    for memory in dict.fromkeys(("256MB", setting.build_memory)):
        setting.connection.execute(f"set maintenance_work_mem = '{memory}'".encode())
        meter = Meter(setting.connection)
        setting.connection.execute(f"reindex index {setting.vector_index}".encode())
        figures += [
            Figure(f"CPU of the server with {memory}", 1000 * meter.server / setting.passages, "ms a passage"),
            Figure(f"seconds with {memory}", meter.seconds, "s"),
        ]
    setting.connection.execute("reset maintenance_work_mem")
    return figures


def _search_as(setting: Setting, name: str, questions: list[dict[str, Any]], condition: str) -> list[Figure]:
    found, dense = _timed(setting, _DENSE, questions)
    _, hybrid = _timed(setting, _HYBRID, questions)
    return [
        *_dense(setting, f"{name}: dense", questions, found, condition),
        *_latency(f"{name}: dense", dense),
        *_latency(f"{name}: hybrid", hybrid),
    ]


def _dense(
    setting: Setting, name: str, questions: Sequence[dict[str, Any]], found: Sequence[list[int]], condition: str
) -> list[Figure]:
    """Recall among all passages that meet a condition, and the time of the exact search."""
    exact = _EXACT.format(space=setting.space_id, condition=condition, dimensions=made_up.DIMENSIONS)
    best, timed = _timed(setting, exact, questions[:_COMPARED], warm=0)
    hits = sum(len({*one} & {*other}) for one, other in zip(found, best, strict=False))
    return [
        Figure(f"{name}, recall@{_TOP_K} against exact", hits / sum(map(len, best))),
        Figure(f"{name}, exact search, CPU of the server", timed.cpu, "ms"),
    ]


@dataclass(frozen=True)
class _Timed:
    """Milliseconds of each search, and mean CPU milliseconds of the server for a search."""

    milliseconds: Sequence[float]
    cpu: float


def _latency(name: str, timed: _Timed) -> list[Figure]:
    return [
        Figure(f"{name}, median", statistics.median(timed.milliseconds), "ms"),
        Figure(f"{name}, 95th percentile", statistics.quantiles(timed.milliseconds, n=20)[18], "ms"),
        Figure(f"{name}, CPU of the server", timed.cpu, "ms"),
    ]


def _timed(
    setting: Setting, statement: str, questions: Sequence[dict[str, Any]], *, warm: int = 5
) -> tuple[list[list[int]], _Timed]:
    """The passages that each question finds, and the time. A few questions run before, as a warm-up."""
    found, milliseconds = [], []
    meter = Meter(setting.connection)
    for place, question in enumerate([*questions[:warm], *questions]):
        if place == warm:
            meter.begin()
        started = time.perf_counter()
        (row,) = setting.connection.execute(statement.encode(), question | {"corpus": setting.corpus_id}).fetchall()
        milliseconds.append(1000 * (time.perf_counter() - started))
        found.append(row["passage_ids"] or [])
    return found[warm:], _Timed(milliseconds[warm:], 1000 * meter.server / len(questions))


def _questions(setting: Setting) -> list[dict[str, Any]]:
    """Questions of eight words, with vectors of topics of documents. is_own: of a topic of the department."""
    numbers = np.random.default_rng(71).integers(setting.documents, size=_QUESTIONS).tolist()
    titles = [world.title_of(number) for number in numbers]
    asked = made_up.questions(_QUESTIONS, seed=60)
    vectors = world.vectors([f"{title}\n{question}" for title, question in zip(titles, asked, strict=True)])
    return [
        {
            "vector": HalfVector(vector).to_text(),
            "question": question,
            "top_k": _TOP_K,
            "roles": [],
            "is_own": world.is_of_the_department(title),
        }
        for vector, question, title in zip(vectors, asked, titles, strict=True)
    ]


def _by_words(setting: Setting) -> dict[str, list[dict[str, Any]]]:
    terms = setting.connection.execute(
        "select lexeme, passages from pgclarify_private.term where corpus_id = %s order by passages desc, lexeme",
        [setting.corpus_id],
    ).fetchall()
    lexemes = [term["lexeme"] for term in terms]
    rare = [term["lexeme"] for term in terms if term["passages"] <= 50]
    generator = np.random.default_rng(72)

    def questions(*kinds: tuple[int, Sequence[str]]) -> list[dict[str, Any]]:
        return [
            {
                "question": " ".join(
                    str(word) for count, words in kinds for word in generator.choice(words, count, False)
                ),
                "top_k": _TOP_K,
                "roles": [],
            }
            for _ in range(_QUESTIONS)
        ]

    return {
        "1 of the 50 commonest": questions((1, lexemes[:50])),
        "3 of the 50 commonest": questions((3, lexemes[:50])),
        "10 of the 50 commonest": questions((10, lexemes[:50])),
        "8 of the commonest and 2 usual ones": questions((8, lexemes[:50]), (2, lexemes[50:2000])),
        "3 usual ones": questions((3, lexemes[50:2000])),
        "3 of those in 50 passages or fewer": questions((3, rare or lexemes[-100:])),
    }
