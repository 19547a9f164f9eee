"""The checks before an evaluation asks anything, without the packaged embedding model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pgclarify.errors import ConfigurationError, ModelNotFound
from pgclarify.evaluated import Case, CorpusDescription, Output, ServingWorker
from pgclarify.evaluation import opening
from pgclarify.evaluation.asking import Asking
from pgclarify.evaluation.baselines import Asked
from pgclarify.evaluation.configurations import EXTRACTIVE, Configuration
from pgclarify.evaluation.opening import Bench
from pgclarify.protocols import Retriever

CASE = Case("1", "Where was she born?", rewrites=("Where was Ida Holm born?",))
BARE = Case("2", "Where was she born?")


class NoModel:
    """The embedding models of a machine that has none."""

    tally = None

    async def get(self, model: str) -> None:
        raise ModelNotFound("the embedding model cannot be loaded")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    @asynccontextmanager
    async def open_none(_: object) -> AsyncIterator[NoModel]:
        yield NoModel()

    async def accept(*_: object) -> None:
        """The server accepts the options."""

    monkeypatch.setattr(opening, "open_embedders", open_none)
    monkeypatch.setattr(opening, "check_settings", accept)
    unused: Any = SimpleNamespace()
    asking = cast("Asking", SimpleNamespace(client=None, corpus=CorpusDescription(1, "docs", 3, "m")))
    serving = ServingWorker(EXTRACTIVE, "rules", "1")
    return Bench(asking, unused, serving, "asker", unused, "", unused, AsyncExitStack())


@pytest.mark.parametrize("method", ["rewrite", "clarifying_questions"])
async def test_a_missing_model_is_found_before_anything_is_asked(bench: Bench, method: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        await bench.check(Configuration(method, method), [BARE, CASE])
    assert caught.value.hint


class Searching:
    """A client whose searches and clarifying questions return nothing; the options of both are recorded."""

    def __init__(self) -> None:
        self.searched: list[str] = []
        self.checked: list[str] = []

    async def search(self, question: str, *, method: str, **_: object) -> list[Any]:
        self.searched.append(method)
        return []

    async def clarifying_questions(self, question: str, history: object, *, search: str, **_: object) -> list[Any]:
        self.checked.append(search)
        return []

    async def now(self) -> None:
        """Return the time of the call, which is not used."""

    async def find(self, *_: object, **__: object) -> None:
        """Find no run."""


async def test_the_search_of_the_check_is_not_what_is_measured(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    async def asked(_: Bench, retriever: Retriever) -> Asked:
        unused: Any = None
        return Asked(unused, unused, retriever, unused)

    monkeypatch.setattr(Bench, "_asked", asked)
    client = Searching()
    server = cast("Any", client)
    bench.asking = Asking(server, server, server, server, bench.corpus, datetime(2026, 3, 1, tzinfo=UTC))
    user = Configuration("user", "simulated_user", settings={"search": "lexical"})
    method = await bench.method(user, [CASE])
    await method.answer(CASE)
    assert (client.searched, client.checked) == (["hybrid"], ["lexical"])


async def test_what_compares_no_texts_takes_no_model(bench: Bench) -> None:
    rewriting = Configuration("rewrite", "rewrite")
    await bench.check(rewriting, [BARE])
    assert await bench.compare_texts(rewriting, BARE, Output(questions=("Where was she born?",))) == {}
